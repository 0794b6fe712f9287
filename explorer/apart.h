// Explores the parts of a program (clusters of a grid) apart where they share nothing, so that the number of executions is
// the sum of theirs and not the product.
//
// Why that is sound. Parts meet in global memory only. Let groups of parts partition the program, and let each group be
// explored whole while no other part runs. If no byte that one group writes in any of these executions is read or written
// by another, then no execution of the program has a step that behaves otherwise than in its group's own exploration:
// the first such step would have to read a byte that another group wrote. Hence each execution of the program is an
// interleaving of one execution a group, and it is in violation exactly if one of these is.
//
// How. One execution of the whole program tells which parts meet for certain; these form a group. Groups whose
// footprints turn out to conflict are joined and explored again. What a group shows is believed only if a run of the whole
// program, the group first, shows it too; if not, and wherever final memory differs from what is expected, the whole
// program is explored instead.
#pragma once

#include "explorer/explore.h"

namespace warpcheck {

// For programs of more than one part.
ExploreResult explore_apart(const Program& program, const ExploreOptions& options);

}  // namespace warpcheck
