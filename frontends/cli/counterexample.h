// Counterexample files (race-1.json): what it takes to run one schedule again and to tell it in the same words.
// Format: docs/formats.md. Paths inside are relative to the file's folder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "explorer/explore.h"
#include "frontends/cli/kernel.h"
#include "frontends/cli/options.h"

namespace warpcheck::cli {

struct Counterexample {
  Request request;                 // paths as seen from the working directory
  std::string kernel, launch_hash, ptx_hash;
  Finding finding;                 // steps and ids of its sites belong to no machine
  bool strict_run = false, violation = true;
  uint64_t execution = 0, executions = 0;
  uint64_t max_executions = 0, max_steps = 0;
  double max_seconds = 0;
  Schedule schedule;
  std::vector<std::string> names;  // of the schedule's agents, a step each; for readers of the file
};

// Writes it to `folder` as <kind>-<n>.json, with the first n whose file is missing, or is an earlier one of the same
// kernel and launch that `taken` does not name. Returns the path and adds it to `taken`. Throws InputError.
std::string write_counterexample(const Counterexample& counterexample, const std::string& folder,
                                 std::vector<std::string>& taken);

// Throws InputError, one line, when the file is missing or no counterexample.
Counterexample read_counterexample(const std::string& path);

}  // namespace warpcheck::cli
