// Parts of a search that stand alone, and the states that they hang from. Plain data: steps are named by agent keys, so
// that tasks travel between machines, threads and processes. What an agent offers at a step is found by running it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "explorer/schedule.h"

namespace warpcheck {

// A state whose branches have been handed out: it belongs to nobody, and whoever finds a race that is to be reversed
// there looks at what has been handed out, and adds to it (docs/explorer.md, "Tasks").
struct FrozenState {
  // A step that was explored from here or above, is being explored, or is some task's.
  struct Taken {
    Choice step;
    bool inherited = false;  // it was a sleeper that the task which froze the state had not explored itself
  };

  std::shared_ptr<FrozenState> above;  // null: this is the initial state
  Choice step;                         // from there to here
  uint32_t depth = 0;                  // steps from the initial state
  bool foreign = false;                // another process owns it: reversals are reported to it
  uint64_t id = 0;                     // in files

  // Guarded by the frontier's lock, but for the count. Only grows.
  std::vector<Taken> taken;
  std::atomic<uint32_t> count{0};
};

// A branch of a tree of steps, in preorder: those of depth k+1 that follow one of depth k lie below it.
struct GuideStep {
  uint32_t depth = 0;
  Choice step;
};
using Guide = std::vector<GuideStep>;

// All executions that begin with the steps to `state` and `step` and are not equivalent to one in which a sleeper comes
// first. A task that has been worked on has open frames below its root: `guide` then holds what is left to explore from
// the root, and its first branches, `open` of them, lead to the frame to go on from.
struct Task {
  struct Sleeper {
    uint32_t frame = 0;  // in which it fell asleep
    Choice step;
  };

  std::shared_ptr<FrozenState> state;  // null: the whole search, without `step`
  Choice step;
  uint32_t origin = 0;  // sleepers that fell asleep in frames above this one are inherited
  std::vector<Sleeper> sleepers;  // in ascending order of frames
  Guide guide;
  uint32_t open = 0;
  bool begun = false;  // it was worked on: its root's step is no new event
};

// The steps from the initial state.
Schedule path_to(const FrozenState* state);

}  // namespace warpcheck
