// Runs the tasks of a frontier on several OS threads. The one home of TBB.
//
// Each OS thread that takes part makes one machine and keeps it; tasks travel, machines do not. The others start when
// the first task is given away.
#pragma once

#include "explorer/explore.h"
#include "explorer/frontier.h"
#include "explorer/tally.h"

namespace warpcheck {

unsigned available_workers();

void explore_with_workers(const Program& program, const ExploreOptions& options, Tally& tally, Frontier& frontier,
                          unsigned workers);

}  // namespace warpcheck
