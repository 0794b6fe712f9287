// Compares what the reductions find in one kernel with what full enumeration finds.
#pragma once

#include <string>

#include "tests/oracle/data_kernel.h"

namespace warpcheck::oracle {

struct Comparison {
  std::string complaint;       // "" if all agree
  bool skipped = false;        // full enumeration is too large
  bool raced = false;          // some execution has an error-level race: then only verdicts and first races must agree
  uint64_t interleavings = 0;  // of full enumeration
  uint64_t traces = 0;
};

// Optimal, source and sleep against none: the same traces with the same findings and final state each.
Comparison compare_reductions(const DataKernel& kernel, uint64_t max_interleavings);

// Plain accesses and moments of copies as steps of the search against the normal mode: the same verdict in both
// readings.
Comparison compare_plain_steps(const DataKernel& kernel, uint64_t max_executions);

// The smallest kernel, by taking operations and threads away, that still yields a complaint.
DataKernel shrink(DataKernel kernel, Comparison (*compare)(const DataKernel&, uint64_t), uint64_t bound);

}  // namespace warpcheck::oracle
