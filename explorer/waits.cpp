#include "explorer/waits.h"

#include <algorithm>

#include "model/dependence.h"

namespace warpcheck {

namespace {

// Parts of an execution that one wait may try. Beyond it the search is incomplete, and says so.
constexpr size_t kMaxParts = 4096;
constexpr size_t kMaxStates = 1024;

bool on_barrier(const Operation& op) { return op.kind == OpKind::kWaitPhase || op.kind == OpKind::kWaitParity; }

bool overlap(const Operation& a, const Operation& b) {
  return a.begin < b.begin + b.size && b.begin < a.begin + a.size;
}

// May leaving out `event` change whether `op` is enabled?
bool matters(const Event& event, const Operation& op) {
  switch (event.effect) {
    case Effect::kNothing:
    case Effect::kRead:
    case Effect::kWait:
      return false;
    case Effect::kWrite:
    case Effect::kReduce:
      return on_barrier(op) || overlap(event.op, op);
    case Effect::kStep:
      return op.kind != OpKind::kWaitPhase || event.phase == op.operand;
  }
  return true;
}

}  // namespace

void WaitReversals::find(const Execution& execution, EventIndex last, const Operation& op) {
  const EventIndex base = execution.before_in_program(last);
  find_among(execution, base, last, op, execution[last].agent);
  if (execution[last].effect == Effect::kWait) return;
  for (const EventIndex& race : execution.races_of_last()) {  // reads before a wait that writes
    if (execution[race].effect == Effect::kRead) record({&race, 1});
  }
}

void WaitReversals::find_blocked(const Execution& execution, AgentId agent, const Operation& op) {
  find_among(execution, execution.last_of(agent), execution.size(), op, agent);
}

void WaitReversals::find_among(const Execution& execution, EventIndex base, EventIndex end, const Operation& op,
                               AgentId agent) {
  execution_ = &execution;
  op_ = op;
  agent_ = agent;
  end_ = end;
  found_count_ = 0;
  collect_candidates(base);
  if (on_barrier(op)) {
    find_on_barrier();
  } else {
    find_on_word();
  }
}

void WaitReversals::collect_candidates(EventIndex base) {
  candidates_.clear();
  for (EventIndex i : execution_->on(op_.object)) {
    if (i >= end_) break;
    if (base != kNoEvent && execution_->happens_before(i, base)) continue;
    if (matters((*execution_)[i], op_)) candidates_.push_back(i);
  }
}

void WaitReversals::find_on_barrier() {
  for (size_t k = candidates_.size(); k-- > 0;) {
    const std::span<const EventIndex> root(&candidates_[k], 1);
    if (!found_covers(root) && leaves_enabled(root)) record(root);
  }
}

// Level by level: a level holds the parts that lack a certain number of candidates, so larger parts are seen first.
void WaitReversals::find_on_word() {
  level_count_ = next_count_ = 0;
  slot(level_, level_count_).clear();
  size_t parts = 0;
  for (bool tested = false; level_count_ > 0;) {
    next_count_ = 0;
    for (size_t i = 0; i < level_count_; ++i) {
      if (found_covers(level_[i])) continue;
      if (!level_[i].empty() && leaves_enabled(level_[i])) {
        record(level_[i]);
      } else {
        expand(level_[i]);
      }
    }
    parts += next_count_;
    if (parts > kMaxParts) {
      gave_up_ = true;
      return;
    }
    if (next_count_ > 1 && !tested) {
      if (!ever_enabled()) return;
      tested = true;
    }
    level_.swap(next_);
    level_count_ = next_count_;
  }
}

// Adds to the next level each part that lacks one candidate more than that of `roots`.
void WaitReversals::expand(const Roots& roots) {
  for (size_t k = candidates_.size(); k-- > 0;) {
    const EventIndex m = candidates_[k];
    if (left_out(roots, m)) continue;
    const bool maximal = std::none_of(candidates_.begin() + static_cast<ptrdiff_t>(k) + 1, candidates_.end(), [&](EventIndex j) {
      return !left_out(roots, j) && execution_->happens_before(m, j);
    });
    if (!maximal) continue;
    Roots& wider = slot(next_, next_count_);
    wider.clear();
    for (EventIndex root : roots) {
      if (!execution_->happens_before(m, root)) wider.push_back(root);
    }
    wider.insert(std::lower_bound(wider.begin(), wider.end(), m), m);
    const auto end = next_.begin() + static_cast<ptrdiff_t>(next_count_) - 1;
    if (std::find(next_.begin(), end, wider) != end) --next_count_;
  }
}

bool WaitReversals::left_out(std::span<const EventIndex> roots, EventIndex i) const {
  return std::any_of(roots.begin(), roots.end(), [&](EventIndex root) { return execution_->happens_before(root, i); });
}

// The part of `roots` lies inside a found one.
bool WaitReversals::found_covers(std::span<const EventIndex> roots) const {
  for (size_t i = 0; i < found_count_; ++i) {
    if (std::all_of(found_[i].begin(), found_[i].end(), [&](EventIndex root) { return left_out(roots, root); })) return true;
  }
  return false;
}

// Without `roots` and what depends on them, is the wait enabled, and ordered with each of the roots?
bool WaitReversals::leaves_enabled(std::span<const EventIndex> roots) const {
  const Execution& execution = *execution_;
  ObjectState state = execution[roots.front()].before;
  const std::span<const EventIndex> all = execution.on(op_.object);
  for (auto i = std::upper_bound(all.begin(), all.end(), roots.front()); i != all.end() && *i < end_; ++i) {
    if (!left_out(roots, *i)) state = evaluate(execution[*i].op, state).after;
  }
  const Outcome outcome = evaluate(op_, state);
  if (!outcome.enabled) return false;
  const Event wait = predicted(agent_, op_, state, outcome);
  return std::all_of(roots.begin(), roots.end(), [&](EventIndex root) { return dependent(wait, execution[root].op); });
}

// Tries every subset of the object's events in their order, closed or not: if the wait is enabled after none of them, it
// is enabled after no part. May say yes in vain.
bool WaitReversals::ever_enabled() {
  states_.assign(1, (*execution_)[candidates_.front()].before);
  const std::span<const EventIndex> all = execution_->on(op_.object);
  for (auto i = std::lower_bound(all.begin(), all.end(), candidates_.front()); i != all.end() && *i < end_; ++i) {
    for (size_t k = states_.size(); k-- > 0;) {
      const ObjectState after = evaluate((*execution_)[*i].op, states_[k]).after;
      if (std::find(states_.begin(), states_.end(), after) == states_.end()) states_.push_back(after);
    }
    if (states_.size() > kMaxStates) return true;
  }
  return std::any_of(states_.begin(), states_.end(),
                     [&](const ObjectState& state) { return evaluate(op_, state).enabled; });
}

void WaitReversals::record(std::span<const EventIndex> roots) { slot(found_, found_count_).assign(roots.begin(), roots.end()); }

WaitReversals::Roots& WaitReversals::slot(std::vector<Roots>& list, size_t& count) {
  if (count == list.size()) list.emplace_back();
  return list[count++];
}

}  // namespace warpcheck
