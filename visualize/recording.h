// A recorded counterexample as plain data: one run's events, the finding that it shows, and the names to tell it with.
// Reports and graphs are made from nothing else.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/finding.h"
#include "model/machine.h"

namespace warpcheck {

struct Recording {
  std::string kernel;
  Finding finding;
  std::vector<RecordedEvent> events;
  std::vector<std::string> agents;  // names by AgentId
  std::vector<Site> sites;          // by SiteId; those that no event and no site of the finding names may be empty
};

// Takes names from `program`, and from `machine` as it is at the end of the recorded run.
Recording make_recording(const Program& program, const Machine& machine, std::vector<RecordedEvent> events,
                         Finding finding);

}  // namespace warpcheck
