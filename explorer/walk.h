// Random walks: executions whose steps are drawn, for programs that are too large to explore. What they find is real; that
// they find nothing proves nothing.
//
// Plain walks draw among the enabled agents at each step. PCT (Burckhardt, Kothari, Musuvathi, Nagarakatte: "A randomized
// scheduler with probabilistic guarantees of finding bugs", ASPLOS 2010) draws a priority for each agent and lets the
// highest run; at depth - 1 random steps the running agent falls below all others. A bug that takes `depth` ordered steps is
// found by a walk with probability of at least 1 / (agents * steps^(depth - 1)).
#pragma once

#include "explorer/explore.h"
#include "explorer/tally.h"

namespace warpcheck {

// options.walks of them, by options.seed; with options.pct_depth by PCT.
void walk(const Program& program, const ExploreOptions& options, Tally& tally);

}  // namespace warpcheck
