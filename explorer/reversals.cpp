#include "explorer/reversals.h"

#include "model/dependence.h"

namespace warpcheck {

void Reversals::clear() {
  list_.clear();
  roots_.clear();
}

void Reversals::add(EventIndex later, AgentId agent, std::span<const EventIndex> roots) {
  list_.push_back({later, agent, static_cast<uint32_t>(roots_.size()), static_cast<uint32_t>(roots.size())});
  roots_.insert(roots_.end(), roots.begin(), roots.end());
}

void Reversals::add_found(EventIndex later, AgentId agent) {
  for (size_t i = 0; i < waits_.found(); ++i) add(later, agent, waits_.roots(i));
}

void Reversals::add_last(const Execution& execution) {
  const EventIndex last = execution.size() - 1;
  const Event& event = execution[last];
  if (may_block(event.op)) {
    if (!reversible(event.op)) return;
    waits_.find(execution, last, event.op);
    add_found(last, event.agent);
    return;
  }
  for (const EventIndex& race : execution.races_of_last()) add(last, event.agent, {&race, 1});
}

void Reversals::add_blocked(const Execution& execution, AgentId agent, const Operation& op) {
  if (!may_block(op) || !reversible(op)) return;
  waits_.find_blocked(execution, agent, op);
  add_found(kNoEvent, agent);
}

void Reversals::truncate(EventIndex size) {
  while (!list_.empty() && list_.back().later >= size) {
    roots_.resize(list_.back().roots_begin);
    list_.pop_back();
  }
}

void Reversals::drop_blocked() { truncate(kNoEvent); }

}  // namespace warpcheck
