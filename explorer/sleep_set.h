// Sleep sets along an execution, one a frame (the state before each event).
//
// A sleeper is a step, an agent's pending operation with one choice, that was explored from this frame or one above:
// executions that begin with it, up to equivalence, have been seen (Godefroid; "Source sets", section 3). It wakes when
// an event happens that is dependent with the operation. An agent sleeps soundly when all its choices are asleep.
//
// Invariants:
// (1) The sleepers of all frames lie in one array, the last frame's at its end.
// (2) is_asleep answers for the last frame.
// (3) The sleepers of one agent in one frame have the same operation and different choices.
//
// `since` says in which frame the agent fell asleep. Sleepers that fell asleep above a task's origin are *inherited* and
// reject less than a task's own (docs/explorer.md, "Tasks").
// Not thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/operation.h"

namespace warpcheck {

struct Sleeper {
  AgentId agent = kNoAgent;
  uint16_t choice = 0;
  uint32_t since = 0;  // frame in which it fell asleep
  Operation op;
};

class SleepSets {
 public:
  void clear();

  // A new last frame, whose sleepers are those of the frame before that are independent of `event`.
  void push(const Event& event);
  void pop();

  // The step falls asleep in the last frame.
  void add(AgentId agent, uint16_t choice, uint32_t since, const Operation& op);

  bool is_asleep(AgentId agent, uint16_t choice) const;

  uint32_t frames() const { return static_cast<uint32_t>(begins_.size()); }
  std::span<const Sleeper> at(uint32_t frame) const;

  // How many choices of the agent sleep in a frame, and fell asleep in frame `since` or below.
  uint32_t choices_asleep(uint32_t frame, AgentId agent, uint32_t since) const;

 private:
  void mark(AgentId agent);

  std::vector<Sleeper> sleepers_;
  std::vector<uint32_t> begins_ = {0};  // first sleeper of each frame
  std::vector<uint64_t> stamps_;        // by agent: equal to stamp_ if a choice of it sleeps in the last frame
  uint64_t stamp_ = 1;
};

}  // namespace warpcheck
