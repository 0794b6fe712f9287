// Runs the tasks of a search on several OS threads. The one home of TBB.
//
// Each OS thread that takes part makes one machine and keeps it; tasks travel, machines do not. A search gives parts of
// its task away while fewer tasks are known than there are workers twice over.
#pragma once

#include "explorer/explore.h"
#include "explorer/tally.h"

namespace warpcheck {

unsigned available_workers();

void explore_with_workers(const Program& program, const ExploreOptions& options, Tally& tally, unsigned workers);

}  // namespace warpcheck
