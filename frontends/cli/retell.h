// Runs a counterexample's schedule with recording on, for its report and its graph.
#pragma once

#include "frontends/cli/counterexample.h"
#include "visualize/recording.h"

namespace warpcheck::cli {

struct Retelling {
  Recording recording;
  std::vector<std::string> names;  // of the schedule's agents, a step each
};

// Throws InputError when the schedule does not run or does not show the finding.
Retelling retell(const Kernel& kernel, const Schedule& schedule, const Finding& finding);

// What can be told of a finding without its run.
Recording bare_recording(const Kernel& kernel, const Finding& finding);

}  // namespace warpcheck::cli
