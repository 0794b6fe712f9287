#include "explorer/execution.h"

#include <algorithm>

#include "model/check.h"
#include "model/dependence.h"

namespace warpcheck {

void Execution::clear() {
  while (size() > 0) pop();
  std::fill(agents_.begin(), agents_.end(), AgentEntry{});
}

void Execution::bear(AgentId agent) {
  if (index(agent) >= agents_.size()) widen(index(agent) + size_t{1});
  AgentEntry& entry = agents_[index(agent)];
  if (entry.events > 0) rebirths_.push_back({size() - 1, agent, entry.previous});
  entry.previous = size() == 0 ? kNoEvent : size() - 1;
}

EventIndex Execution::last_of(AgentId agent) const {
  return index(agent) < agents_.size() ? agents_[index(agent)].previous : kNoEvent;
}

std::span<const EventIndex> Execution::on(ObjectId object) const {
  if (object == kNoObject || index(object) >= objects_.size()) return {};
  return objects_[index(object)];
}

void Execution::widen(size_t agents) {
  agents_.resize(agents);
  if (agents <= stride_) return;
  const size_t stride = std::max(agents, stride_ * 2);
  std::vector<uint32_t> wider(events_.size() * stride, 0);
  for (size_t i = 0; i < events_.size(); ++i) {
    std::copy_n(clocks_.begin() + static_cast<ptrdiff_t>(i * stride_), stride_,
                wider.begin() + static_cast<ptrdiff_t>(i * stride));
  }
  clocks_.swap(wider);
  stride_ = stride;
}

void Execution::join(EventIndex into, EventIndex from) {
  uint32_t* to = clocks_.data() + size_t{into} * stride_;
  const uint32_t* source = clocks_.data() + size_t{from} * stride_;
  for (size_t a = 0; a < stride_; ++a) to[a] = std::max(to[a], source[a]);
}

void Execution::push(const Event& event) {
  CHECK(index(event.agent) < agents_.size());
  const EventIndex i = size();
  AgentEntry& agent = agents_[index(event.agent)];
  const EventIndex previous = agent.previous;
  CHECK(event.ordinal == agent.events);
  events_.push_back(event);
  links_.push_back(previous);
  clocks_.resize(events_.size() * stride_, 0);
  if (previous != kNoEvent) join(i, previous);
  races_.clear();
  if (event.op.object != kNoObject) order_after_object(i);
  clocks_[size_t{i} * stride_ + index(event.agent)] = event.ordinal + 1;
  agent = {i, event.ordinal + 1};
}

// Walks the object's events backward. One that is not in the past yet when it is met, and is dependent, has no event
// between it and event i: whatever lay between would have been met, and joined, before.
void Execution::order_after_object(EventIndex i) {
  const Event& event = events_[i];
  const size_t object = index(event.op.object);
  if (object >= objects_.size()) objects_.resize(object + 1);
  std::vector<EventIndex>& others = objects_[object];
  for (size_t k = others.size(); k-- > 0;) {
    const EventIndex j = others[k];
    if (!happens_before(j, i)) {
      if (events_[j].agent == event.agent || !dependent(events_[j], event)) continue;
      races_.push_back(j);
      join(i, j);
    }
    if (dominates(events_[j], event)) break;
  }
  others.push_back(i);
}

void Execution::pop() {
  const EventIndex i = size() - 1;
  const Event& event = events_[i];
  if (event.op.object != kNoObject) objects_[index(event.op.object)].pop_back();
  for (; !rebirths_.empty() && rebirths_.back().by == i; rebirths_.pop_back()) {
    agents_[index(rebirths_.back().agent)].previous = rebirths_.back().previous;
  }
  agents_[index(event.agent)] = {links_[i], event.ordinal};
  events_.pop_back();
  links_.pop_back();
  clocks_.resize(events_.size() * stride_);
}

}  // namespace warpcheck
