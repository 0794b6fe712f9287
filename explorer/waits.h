// Where a wait could have happened earlier.
//
// A wait is enabled by what came before on its object, and may be disabled again by what came later. So it is not enough
// to reverse it against the last write: we look for the largest parts of the execution, closed under happens-before and
// containing the past of the waiting agent, after which the wait is enabled and is ordered with what was left out.
// A part is given by the antichain of its roots, the earliest events left out. Where writes commute (reductions), each
// subset of them that is closed upward is a candidate, for conditions need not be monotone. A smaller part below a
// found one is not looked for: the execution that the found one leads to will ask for it.
//
// For barriers one root is enough: leaving out any step of a phase leaves out all later phases, and whether a wait on a
// barrier is enabled depends on the number of completed phases.
//
// Not thread-safe; no allocation once warm, on objects whose writes are totally ordered.
#pragma once

#include <span>
#include <vector>

#include "explorer/execution.h"

namespace warpcheck {

class WaitReversals {
 public:
  // For event `last`, the last of the execution, whose operation is `op`.
  void find(const Execution& execution, EventIndex last, const Operation& op);

  // For an agent that is blocked at the end of the execution.
  void find_blocked(const Execution& execution, AgentId agent, const Operation& op);

  size_t found() const { return found_count_; }
  std::span<const EventIndex> roots(size_t i) const { return found_[i]; }

  // Too many parts in some search so far.
  bool gave_up() const { return gave_up_; }

 private:
  using Roots = std::vector<EventIndex>;

  void find_among(const Execution& execution, EventIndex base, EventIndex end, const Operation& op, AgentId agent);
  void collect_candidates(EventIndex base);
  void find_on_barrier();
  void find_on_word();
  void expand(const Roots& roots);
  bool found_covers(std::span<const EventIndex> roots) const;
  bool leaves_enabled(std::span<const EventIndex> roots) const;
  bool ever_enabled();
  bool left_out(std::span<const EventIndex> roots, EventIndex i) const;
  void record(std::span<const EventIndex> roots);
  Roots& slot(std::vector<Roots>& list, size_t& count);

  const Execution* execution_ = nullptr;
  Operation op_;
  AgentId agent_ = kNoAgent;
  EventIndex end_ = 0;                   // only events before it count
  std::vector<EventIndex> candidates_;   // events on the object that may change whether the wait is enabled
  std::vector<Roots> level_, next_, found_;
  size_t level_count_ = 0, next_count_ = 0, found_count_ = 0;
  std::vector<ObjectState> states_;
  bool gave_up_ = false;
};

}  // namespace warpcheck
