#include "explorer/reversals.h"

#include "model/dependence.h"

namespace warpcheck {

void Reversals::clear() {
  list_.clear();
  roots_.clear();
}

void Reversals::add(EventIndex later, AgentId agent, std::span<const EventIndex> roots, EventIndex floor) {
  if (roots.front() < floor) return;
  list_.push_back({later, agent, static_cast<uint32_t>(roots_.size()), static_cast<uint32_t>(roots.size())});
  roots_.insert(roots_.end(), roots.begin(), roots.end());
}

void Reversals::add_found(EventIndex later, AgentId agent, EventIndex floor) {
  for (size_t i = 0; i < waits_.found(); ++i) add(later, agent, waits_.roots(i), floor);
}

void Reversals::add_last(const Execution& execution, EventIndex floor) {
  const EventIndex last = execution.size() - 1;
  const Event& event = execution[last];
  if (may_block(event.op)) {
    if (!reversible(event.op)) return;
    waits_.find(execution, last, event.op);
    add_found(last, event.agent, floor);
    return;
  }
  for (const EventIndex& race : execution.races_of_last()) add(last, event.agent, {&race, 1}, floor);
}

void Reversals::add_blocked(const Execution& execution, AgentId agent, const Operation& op, EventIndex floor) {
  if (!may_block(op) || !reversible(op)) return;
  waits_.find_blocked(execution, agent, op);
  add_found(kNoEvent, agent, floor);
}

void Reversals::truncate(EventIndex size) {
  while (!list_.empty() && list_.back().later >= size) {
    roots_.resize(list_.back().roots_begin);
    list_.pop_back();
  }
}

void Reversals::drop_blocked() { truncate(kNoEvent); }

void Reversals::raise(EventIndex floor) {
  filter([&](const Reversal& reversal) { return roots_[reversal.roots_begin] >= floor; });
}

}  // namespace warpcheck
