#include "explorer/sequence.h"

#include <algorithm>

#include "model/check.h"
#include "model/dependence.h"

namespace warpcheck {

void Sequence::begin(const Execution& execution, std::span<const EventIndex> roots, AgentId agent, const Operation& op) {
  execution_ = &execution;
  roots_ = roots;
  reversed_agent_ = agent;
  reversed_last_ = false;
  reversed_changed_ = false;
  chooses_ = false;
  reversed_.agent = agent;
  reversed_.op = op;
  steps_.clear();
  folds_.clear();
  made_count_ = 0;
}

void Sequence::build(const Execution& execution, std::span<const EventIndex> roots, EventIndex later) {
  const Event& event = execution[later];
  begin(execution, roots, event.agent, event.op);
  reversed_.choice = event.choice;
  reversed_.ordinal = event.ordinal;
  add_kept(roots.front(), later, false);
  CHECK(add_reversed(event));
  const size_t suffix = steps_.size();
  add_kept(later + 1, execution.size(), true);
  if (!suffix_conflicts(suffix)) return;
  begin(execution, roots, event.agent, event.op);
  reversed_last_ = true;
  add_kept(roots.front(), later, false);
  const size_t kept = steps_.size();
  add_kept(later + 1, execution.size(), true);
  if (add_reversed(event)) return;
  begin(execution, roots, event.agent, event.op);
  reversed_last_ = true;
  add_kept(roots.front(), later, false);
  CHECK(steps_.size() == kept && add_reversed(event));
}

void Sequence::build_blocked(const Execution& execution, std::span<const EventIndex> roots, AgentId agent,
                             const Operation& op, uint16_t choice) {
  begin(execution, roots, agent, op);
  reversed_.choice = choice;
  reversed_.ordinal = 0;
  add_kept(roots.front(), execution.size(), false);
  CHECK(add_reversed(reversed_));
}

void Sequence::build_tail(const Execution& execution, EventIndex from) {
  begin(execution, {}, kNoAgent, {});
  add_kept(from, execution.size(), false);
}

bool Sequence::left_out(EventIndex i) const {
  return std::any_of(roots_.begin(), roots_.end(), [&](EventIndex root) { return execution_->happens_before(root, i); });
}

ObjectState* Sequence::fold_of(ObjectId object) {
  for (Fold& fold : folds_) {
    if (fold.object == object) return &fold.state;
  }
  return nullptr;
}

const Event* Sequence::remake(const Event& event, ObjectState& state) {
  if (made_count_ == made_.size()) made_.emplace_back();
  Event& made = made_[made_count_++];
  if (event.op.kind == OpKind::kLoad && event.op.predicate == nullptr) {  // reads whatever there is
    made = event;
    made.before = state;
    return &made;
  }
  const Outcome outcome = evaluate(event.op, state);
  made = predicted(event.agent, event.op, state, outcome);
  made.choice = event.choice;
  made.ordinal = event.ordinal;
  made.site = event.site;
  state = outcome.after;
  return &made;
}

void Sequence::add_kept(EventIndex from, EventIndex to, bool in_suffix) {
  for (EventIndex i = from; i < to; ++i) {
    const Event& event = (*execution_)[i];
    ObjectState* state = event.op.object == kNoObject ? nullptr : fold_of(event.op.object);
    if (left_out(i)) {
      if (state == nullptr && event.op.object != kNoObject) folds_.push_back({event.op.object, event.before});
    } else {
      chooses_ = chooses_ || (in_suffix && event.op.choices > 1);
      steps_.push_back({state == nullptr ? &event : remake(event, *state), i, in_suffix});
    }
  }
}

// Appends e'; false if it is disabled in the state reached.
bool Sequence::add_reversed(const Event& like) {
  ObjectState* state = fold_of(like.op.object);
  if (!evaluate(like.op, *state).enabled) return false;
  const Event& event = *remake(like, *state);
  reversed_changed_ = event.effect != like.effect || event.phase != like.phase || event.completes != like.completes ||
                      event.closes != like.closes || event.in_order != like.in_order;
  steps_.push_back({&event, kNoEvent, false});
  return true;
}

// Is e', in its new state, ordered with an event of a?
bool Sequence::suffix_conflicts(size_t suffix) const {
  const Event& reversed = *steps_[suffix - 1].event;
  return std::any_of(steps_.begin() + static_cast<ptrdiff_t>(suffix), steps_.end(), [&](const Step& step) {
    return step.event->op.object == reversed.op.object && dependent(reversed, *step.event);
  });
}

size_t Sequence::find(AgentId agent) const {
  const auto step = std::find_if(steps_.begin(), steps_.end(), [&](const Step& s) { return s.event->agent == agent; });
  return static_cast<size_t>(step - steps_.begin());
}

bool Sequence::first_choice_is(AgentId agent, uint16_t choice) const {
  return steps_[find(agent)].event->choice == choice;
}

// Enough for a first event of an agent, whose past in program order lies before the sequence.
bool Sequence::happens_before(const Step& first, const Step& second) const {
  if (first.at != kNoEvent && second.at != kNoEvent) return execution_->happens_before(first.at, second.at);
  return first.event->op.object == second.event->op.object && dependent(*first.event, *second.event);
}

Initial Sequence::weak_initial(AgentId agent, const Operation& op) const {
  const size_t k = find(agent);
  if (k == steps_.size()) {
    const bool independent = std::none_of(steps_.begin(), steps_.end(), [&](const Step& step) {
      return step.event->op.object == op.object && dependent(*step.event, op);
    });
    return independent ? Initial::kIndependent : Initial::kNo;
  }
  for (size_t j = 0; j < k; ++j) {
    if (happens_before(steps_[j], steps_[k])) return Initial::kNo;
  }
  const bool kept = steps_[k].at == kNoEvent ? !reversed_last_ && !reversed_changed_ : !steps_[k].in_suffix;
  return kept ? Initial::kInKept : Initial::kInSuffix;
}

void Sequence::put_first(AgentId agent, const Operation& op) {
  const size_t k = find(agent);
  size_t first = 0;
  while (first < steps_.size() && (op.object == kNoObject || steps_[first].event->op.object != op.object)) ++first;
  if (first < k && first < steps_.size()) {
    ObjectState state = steps_[first].event->before;
    const ObjectState after = evaluate(op, state).after;
    const bool changes = after != state;
    state = after;
    for (size_t i = first; changes && i < k; ++i) {
      if (steps_[i].event->op.object == op.object) steps_[i].event = remake(*steps_[i].event, state);
    }
  }
  if (k < steps_.size()) steps_.erase(steps_.begin() + static_cast<ptrdiff_t>(k));
}

}  // namespace warpcheck
