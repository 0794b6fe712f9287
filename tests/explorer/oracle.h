// Every reduction against full enumeration, on one program.
#pragma once

#include <optional>
#include <string>

#include "tests/explorer/random_program.h"

namespace warpcheck::toy {

struct OracleOptions {
  uint64_t max_executions = 20'000;  // of the full enumeration; larger programs are skipped
  unsigned workers = 2;
  bool laws = true;                  // each trace has as many executions as linearizations
};

struct OracleStatistics {
  uint64_t programs = 0, skipped = 0, executions = 0, traces = 0, source_blocked = 0, sleep_blocked = 0, tasks_blocked = 0,
           workers_blocked = 0;
};

// What is wrong, if anything.
std::optional<std::string> disagreement(const RandomProgram& program, const OracleOptions& options,
                                        OracleStatistics* statistics = nullptr);

// The smallest program found that still disagrees.
RandomProgram shrink(RandomProgram program, const OracleOptions& options);

}  // namespace warpcheck::toy
