// The reversals that an execution asks for: for each event e' (or wait still blocked at the end), sets of earlier events
// without which e' could have happened, ordered differently ("Source sets", section 4.1: reversible races; for waits
// docs/explorer.md).
//
// A reversal is an antichain of *roots*, events on the object of e': leave out the roots and all that happens after one,
// then do e'. For an operation without a condition each root is alone and races with e' directly. Invariants:
// (1) Reversals are in ascending order of `later`; those of waits blocked at the end come last.
// (2) Roots are ascending; none is in the past of what precedes e' in program order.
//
// A reversal is *settled* when no continuation of the execution can make it be judged differently; settled ones are
// dropped. Not thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "explorer/execution.h"
#include "explorer/waits.h"

namespace warpcheck {

struct Reversal {
  EventIndex later = kNoEvent;  // e', or kNoEvent for a wait still blocked
  AgentId agent = kNoAgent;
  uint32_t roots_begin = 0, roots_count = 0;
};

class Reversals {
 public:
  void clear();

  // Adds those of the execution's last event.
  void add_last(const Execution& execution);

  // Adds those of an agent that is blocked at the end.
  void add_blocked(const Execution& execution, AgentId agent, const Operation& op);

  // The execution has shrunk to `size` events.
  void truncate(EventIndex size);

  // Those of blocked waits hold for this end only.
  void drop_blocked();

  size_t size() const { return list_.size(); }
  const Reversal& operator[](size_t i) const { return list_[i]; }
  std::span<const EventIndex> roots(const Reversal& reversal) const {
    return std::span(roots_).subspan(reversal.roots_begin, reversal.roots_count);
  }

  // Keeps the reversals for which keep(reversal) says so, in order.
  template <class Keep>
  void filter(Keep keep) {
    size_t kept = 0;
    uint32_t roots = 0;
    for (size_t i = 0; i < list_.size(); ++i) {
      Reversal reversal = list_[i];
      if (!keep(reversal)) continue;
      for (uint32_t k = 0; k < reversal.roots_count; ++k) roots_[roots + k] = roots_[reversal.roots_begin + k];
      reversal.roots_begin = roots;
      roots += reversal.roots_count;
      list_[kept++] = reversal;
    }
    list_.resize(kept);
    roots_.resize(roots);
  }

  // Whether some condition had too many states to try, so that reversals may be missing.
  bool gave_up() const { return waits_.gave_up(); }

 private:
  void add(EventIndex later, AgentId agent, std::span<const EventIndex> roots);
  void add_found(EventIndex later, AgentId agent);

  std::vector<Reversal> list_;
  std::vector<EventIndex> roots_;
  WaitReversals waits_;
};

}  // namespace warpcheck
