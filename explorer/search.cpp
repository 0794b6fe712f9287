#include "explorer/search.h"

#include <algorithm>
#include <bit>

#include "model/check.h"
#include "model/dependence.h"

namespace warpcheck {

namespace {

constexpr EventIndex kClockCheckInterval = 1024;  // events between looks at the clock in a long execution

bool same_step(const Event& a, const Event& b) {
  return a.agent == b.agent && a.ordinal == b.ordinal && a.op.kind == b.op.kind && a.op.object == b.op.object;
}

}  // namespace

Search::Search(const Program& program, const ExploreOptions& options, Tally& tally)
    : options_(options), tally_(tally), machine_(program.make_machine()) {}

void Search::run(const Task& task, Frontier& frontier) {
  frontier_ = &frontier;
  set_check_context(&Search::describe_schedule, this);
  start(task);
  do {
    const EventIndex begin = execution_.size();
    const Tally::End end = extend();
    if (end == Tally::End::kInterrupted) {
      undo_execution(begin);
      frontier.leave(rest());
      break;
    }
    end_execution(end);
    begun_ = true;
  } while (backtrack() && go_on());
  if (reversals_.gave_up()) tally_.note_lasting_bound("the condition of a wait has too many states to try");
  tally_.note_reached(*machine_);
  set_check_context(nullptr, nullptr);
}

// ---------------------------------------------------------------------------------------------------- steps

// Races of the prefix are not settled: what lies behind them is new.
void Search::start(const Task& task) {
  execution_.clear();
  enabled_before_.clear();
  sleep_.clear();
  tree_.clear();
  reversals_.clear();
  nodes_.assign(1, tree_.root());
  preemptions_.assign(1, 0);
  frozen_.clear();
  origin_ = task.origin;
  begun_ = task.begun;
  steps_at_freeze_ = steps_;
  new_events_ = task.state != nullptr && !task.begun ? 1 : 0;
  machine_->reset();
  for (AgentId agent : machine_->born()) execution_.bear(agent);
  track_all();
  auto sleeper = task.sleepers.begin();
  const auto fall_asleep = [&] {
    for (; sleeper != task.sleepers.end() && sleeper->frame == execution_.size(); ++sleeper) {
      const AgentId agent = machine_->agent(sleeper->step.agent);
      sleep_.add(agent, sleeper->step.choice, sleeper->frame, machine_->pending(agent).op);
    }
  };
  const auto take = [&](AgentId agent, uint16_t choice, BranchId branch) {
    fall_asleep();
    push(machine_->step(agent, choice));
    nodes_.back() = branch;
    if (with_reversals()) reversals_.add_last(execution_);
  };
  std::vector<std::shared_ptr<FrozenState>> states;
  for (auto state = task.state; state != nullptr; state = state->above) states.push_back(state);
  root_ = static_cast<EventIndex>(states.size());
  while (!states.empty()) {
    add_frozen(states.back());
    states.pop_back();
    const Choice& step = states.empty() ? task.step : states.back()->step;
    take(machine_->agent(step.agent), step.choice, tree_.root());
  }
  if (task.guide.empty()) return;
  restore_tree(task.guide);
  machine_->reset();
  step_again(0, root_);
  for (uint32_t i = 0; i < task.open; ++i) {
    const BranchId branch = tree_[nodes_.back()].first_child;
    take(tree_[branch].agent, tree_[branch].choice, branch);
  }
  fall_asleep();
}

// As it was before the execution that began with `begin` events.
void Search::undo_execution(EventIndex begin) {
  if (chosen_from_ != kNoEvent) tree_.remove_all(nodes_[chosen_from_]);
  while (execution_.size() > begin) pop();
  reversals_.truncate(begin);
}

// What is left of the task between two executions.
Task Search::rest() const {
  Task task;
  if (root_ > 0) {
    const Event& last = execution_[root_ - 1];
    task.state = frozen_[root_ - 1].state;
    task.step = {machine_->key(last.agent), last.choice};
  }
  task.origin = origin_;
  task.begun = begun_;
  task.open = execution_.size() - root_;
  for (EventIndex frame = origin_ == 0 ? 0 : origin_ - 1; frame < sleep_.frames(); ++frame) {
    for (const Sleeper& s : sleep_.at(frame)) {
      if (s.since == frame) task.sleepers.push_back({frame, {machine_->key(s.agent), s.choice}});
    }
  }
  tree_.visit_below(nodes_[root_], [&](uint32_t depth, const WakeupTree::Branch& b) {
    task.guide.push_back({depth, {machine_->key(b.agent), b.choice}});
  });
  return task;
}

bool Search::go_on() {
  if (!frontier_->splitting()) return true;
  frontier_->put_back(rest());
  return false;
}

// The path and the sequence are run, so that it can be judged here what they do.
void Search::bring_home(std::shared_ptr<FrozenState> state, const Schedule& sequence, Frontier& frontier) {
  frontier_ = &frontier;
  Task above;
  above.state = state->above;
  above.step = state->step;
  above.origin = state->depth + 1;
  start(above);
  origin_ = state->depth + 1;
  root_ = state->depth + 1;
  add_frozen(std::move(state));
  for (const Choice& step : sequence) {
    const AgentId agent = machine_->agent(step.agent);
    if (!is_enabled(agent) || step.choice >= machine_->pending(agent).op.choices) {
      if (tally_.race_seen()) return;
      throw InputError("found a reversal that cannot happen, expected one of this search");
    }
    push(machine_->step(agent, step.choice));
  }
  sequence_.build_tail(execution_, root_ - 1);
  judge_frozen(root_ - 1);
}

// What the steps of a guide do, is seen by going there.
void Search::restore_tree(const Guide& guide) {
  std::vector<BranchId> path;  // the last branch of each depth
  size_t at = 0;               // the machine has gone along so many of them
  for (const GuideStep& g : guide) {
    path.resize(g.depth);
    if (at > g.depth) {
      machine_->reset();
      step_again(0, root_);
      at = 0;
    }
    for (; at < g.depth && is_enabled(tree_[path[at]].agent); ++at) {
      machine_->step(tree_[path[at]].agent, tree_[path[at]].choice);
    }
    const AgentId agent = machine_->agent(g.step.agent);
    const Operation op = at == g.depth ? machine_->pending(agent).op : Operation{};
    path.push_back(tree_.append(g.depth == 0 ? tree_.root() : path.back(), agent, g.step.choice, op));
  }
}

// Up to steps that have a choice: a guide would stand for one of them, and nobody asks for the others once a task has
// been given away.
Guide Search::guide_below(BranchId branch) const {
  Guide guide;
  uint32_t cut = kNoEvent;  // below this depth
  tree_.visit_below(branch, [&](uint32_t depth, const WakeupTree::Branch& b) {
    if (depth > cut) return;
    cut = b.op.choices > 1 ? depth : kNoEvent;
    if (cut == kNoEvent) guide.push_back({depth, {machine_->key(b.agent), b.choice}});
  });
  return guide;
}

// Runs on until nothing awake is enabled. Returns how the execution ended.
Tally::End Search::extend() {
  chosen_from_ = kNoEvent;
  for (;;) {
    if (execution_.size() >= options_.max_steps) return any_enabled() ? Tally::End::kCut : Tally::End::kComplete;
    if (execution_.size() % kClockCheckInterval == kClockCheckInterval - 1 && tally_.out_of_time()) {
      return Tally::End::kInterrupted;
    }
    switch (take_next()) {
      case Step::kTaken:
        break;
      case Step::kMispredicted:
        return Tally::End::kAbandoned;
      case Step::kEnd:
        return any_enabled() ? Tally::End::kBlocked : Tally::End::kComplete;
    }
  }
}

Search::Step Search::take_next() {
  if (tree_.is_leaf(nodes_.back())) {
    chosen_from_ = std::min(chosen_from_, execution_.size());
    choose_branches();
  }
  if (tree_.is_leaf(nodes_.back())) return Step::kEnd;
  const BranchId next = tree_[nodes_.back()].first_child;
  const WakeupTree::Branch& branch = tree_[next];
  if (!matches(branch)) {
    CHECK(tally_.race_seen() || std::any_of(machine_->findings().begin(), machine_->findings().end(), [](const Finding& f) {
            return f.kind == FindingKind::kRace && !f.strict;
          }));
    return Step::kMispredicted;
  }
  ++new_events_;
  push(machine_->step(branch.agent, branch.choice));
  nodes_.back() = next;
  if (with_reversals()) reversals_.add_last(execution_);
  return Step::kTaken;
}

bool Search::any_enabled() const {
  return std::any_of(enabled_.begin(), enabled_.end(), [](uint64_t word) { return word != 0; });
}

// A branch foresees what its agent offers, and that the step is awake.
bool Search::matches(const WakeupTree::Branch& branch) const {
  const Transition& offered = machine_->pending(branch.agent);
  return offered.status == Transition::Status::kEnabled && offered.op.kind == branch.op.kind &&
         offered.op.object == branch.op.object && offered.op.choices == branch.op.choices &&
         !(with_sleep() && sleep_.is_asleep(branch.agent, branch.choice));
}

// At a frame without branches: all choices of the first enabled agent that is awake, or of all, in the order of ids.
void Search::choose_branches() {
  for (size_t w = 0; w < enabled_.size(); ++w) {
    for (uint64_t bits = enabled_[w]; bits != 0; bits &= bits - 1) {
      const AgentId agent{static_cast<uint32_t>(w * 64 + static_cast<size_t>(std::countr_zero(bits)))};
      const Operation& op = machine_->pending(agent).op;
      if (options_.max_preemptions >= 0 && preempts(agent) && preemptions_.back() >= options_.max_preemptions) {
        tally_.note_lasting_bound("preemptions: " + std::to_string(options_.max_preemptions));
        continue;
      }
      for (uint16_t choice = 0; choice < op.choices; ++choice) {
        if (!sleep_.is_asleep(agent, choice)) tree_.append(nodes_.back(), agent, choice, op);
      }
      if (with_reversals() && !tree_.is_leaf(nodes_.back())) return;
    }
  }
}

// Would a step of the agent, in the last frame, take the turn from another that could go on?
bool Search::preempts(AgentId agent) const {
  if (execution_.size() == 0) return false;
  const AgentId last = execution_[execution_.size() - 1].agent;
  const size_t word = index(last) / 64;
  return agent != last && word < enabled_.size() && (enabled_[word] >> (index(last) % 64) & 1U) != 0;
}

void Search::push(const Event& event) {
  ++steps_;
  enabled_before_.push_back(enabled_.empty() ? 0 : enabled_.front());
  preemptions_.push_back(preemptions_.back() + (preempts(event.agent) ? 1 : 0));
  execution_.push(event);
  for (AgentId agent : machine_->born()) execution_.bear(agent);
  track(machine_->changed());
  sleep_.push(event);
  nodes_.push_back(kNoBranch);
}

void Search::pop() {
  preemptions_.pop_back();
  execution_.pop();
  sleep_.pop();
  nodes_.pop_back();
  enabled_.front() = enabled_before_.back();
  enabled_before_.pop_back();
}

void Search::track_all() {
  std::fill(enabled_.begin(), enabled_.end(), 0);
  track(machine_->agents());
}

void Search::track(std::span<const AgentId> agents) {
  for (AgentId agent : agents) {
    const size_t word = index(agent) / 64;
    if (word >= enabled_.size()) enabled_.resize(word + 1, 0);
    const uint64_t bit = uint64_t{1} << (index(agent) % 64);
    enabled_[word] = is_enabled(agent) ? enabled_[word] | bit : enabled_[word] & ~bit;
  }
}

// ---------------------------------------------------------------------------------------------------- ends of executions

Schedule Search::schedule() const {
  Schedule schedule;
  for (const Event& event : execution_.events()) schedule.push_back({machine_->key(event.agent), event.choice});
  return schedule;
}

const char* Search::describe_schedule(void* search) {
  Search& self = *static_cast<Search*>(search);
  self.description_ = "after the schedule";
  for (const Event& event : self.execution_.events()) {
    self.description_.append(" ").append(self.machine_->name(event.agent));
    if (event.op.choices > 1) self.description_.append("/").append(std::to_string(event.choice));
  }
  return self.description_.c_str();
}

void Search::end_execution(Tally::End end) {
  if (end == Tally::End::kComplete) machine_->finish();
  const bool blocked = end == Tally::End::kBlocked || end == Tally::End::kAbandoned;
  const ExecutionView view{execution_.events(),
                           [this](size_t event, AgentId agent) {
                             return execution_.past(static_cast<EventIndex>(event), agent);
                           },
                           *machine_, blocked};
  tally_.add({end, new_events_, machine_->findings(), [this] { return schedule(); }, &view});
  new_events_ = 0;
  if (end != Tally::End::kAbandoned && with_reversals()) judge_reversals();
}

// Lines 2-8 of algorithm 2. Reversals that are settled are not looked at again; those of waits that are still blocked
// belong to this end alone.
void Search::judge_reversals() {
  for (AgentId agent : machine_->agents()) {
    const Transition& transition = machine_->pending(agent);
    if (transition.status == Transition::Status::kBlocked) {
      reversals_.add_blocked(execution_, agent, transition.op);
    }
  }
  reversals_.filter([this](const Reversal& reversal) { return !judge(reversal); });
  reversals_.drop_blocked();
}

// Inserts what the reversal asks for, unless a sleeper or a branch stands for it. Returns whether it is settled.
bool Search::judge(const Reversal& reversal) {
  if (reversal.later == kNoEvent) return judge_blocked(reversal);
  const std::span<const EventIndex> roots = reversals_.roots(reversal);
  sequence_.build(execution_, roots, reversal.later);
  return judge_sequence(roots.front());
}

// A wait that has not happened has not chosen yet.
bool Search::judge_blocked(const Reversal& reversal) {
  const std::span<const EventIndex> roots = reversals_.roots(reversal);
  const Operation op = machine_->pending(reversal.agent).op;
  for (uint16_t choice = 0; choice < op.choices; ++choice) {
    sequence_.build_blocked(execution_, roots, reversal.agent, op, choice);
    judge_sequence(roots.front());
  }
  return true;
}

bool Search::judge_sequence(EventIndex frame) {
  if (frame < root_) return judge_frozen(frame);
  if (options_.reduction == Reduction::kSource) return judge_source(frame);
  const Initial rejected = rejected_by_sleeper(frame, sequence_);
  if (rejected != Initial::kNo) return rejected == Initial::kInKept;
  const auto choices_asleep = [&](AgentId agent) { return sleep_.choices_asleep(frame, agent, origin_); };
  return tree_.insert(nodes_[frame], sequence_, choices_asleep).settled;
}

// Which sleeper of the frame is a weak initial of the sequence? An inherited one counts only if it is the agent of the
// reversed event: as if it were disabled until something dependent has happened.
Initial Search::rejected_by_sleeper(EventIndex frame, const Sequence& sequence) const {
  Initial result = Initial::kNo;
  for (const Sleeper& sleeper : sleep_.at(frame)) {
    const bool inherited = sleeper.since < origin_;
    if (inherited && sleeper.agent != sequence.reversed_agent()) continue;
    const Initial initial = sequence.weak_initial(sleeper.agent, sleeper.op);
    if (initial == Initial::kNo) continue;
    if (initial == Initial::kIndependent) {
      if (sleep_.choices_asleep(frame, sleeper.agent, origin_) == sleeper.op.choices) result = initial;
    } else if (sequence.first_choice_is(sleeper.agent, sleeper.choice)) {
      if (initial == Initial::kInKept) return initial;
      result = initial;
    }
  }
  return result;
}

// In a frozen frame: what was handed out stands for it, or it is handed out itself.
bool Search::judge_frozen(EventIndex frame) {
  Frozen& frozen = frozen_[frame];
  Schedule schedule;
  size_t guide = 1;  // steps of the sequence that a task of it begins with
  if (options_.reduction == Reduction::kOptimal) {
    while (guide < sequence_.size() && sequence_[guide].op.choices == 1) ++guide;  // see guide_below
  }
  for (;;) {
    look_at_taken(frozen);
    bool settled = false;
    if (judge_taken(frozen.taken, &settled)) return settled;
    for (size_t i = schedule.size(); i < sequence_.size(); ++i) {
      schedule.push_back({machine_->key(sequence_[i].agent), sequence_[i].choice});
    }
    if (frontier_->propose(frozen.state, static_cast<uint32_t>(frozen.taken.size()), schedule, guide)) {
      return sequence_.stands_for_all();
    }
  }
}

bool Search::judge_taken(std::span<const Sleeper> taken, bool* settled) const {
  bool found = false;
  for (const Sleeper& step : taken) {
    const bool inherited = step.since < origin_;
    if (inherited && step.agent != sequence_.reversed_agent()) continue;
    const Initial initial = sequence_.weak_initial(step.agent, step.op);
    if (initial == Initial::kNo) continue;
    if (initial == Initial::kIndependent) {
      if (options_.reduction == Reduction::kSource || inherited) continue;
      const auto choices = std::count_if(taken.begin(), taken.end(), [&](const Sleeper& other) {
        return other.agent == step.agent && other.since >= origin_;
      });
      found = found || choices == step.op.choices;
    } else if (sequence_.first_choice_is(step.agent, step.choice)) {
      found = true;
      *settled = *settled || initial == Initial::kInKept;
    }
  }
  return found;
}

// Others may have added to what was handed out.
void Search::look_at_taken(Frozen& frozen) {
  const auto known = static_cast<uint32_t>(frozen.taken.size());
  if (frozen.state->count.load(std::memory_order_acquire) == known) return;
  for (const FrozenState::Taken& taken : frontier_->taken(*frozen.state, known)) {
    const AgentId agent = machine_->agent(taken.step.agent);
    const auto offer = std::find_if(frozen.offers.begin(), frozen.offers.end(),
                                    [&](const Offer& o) { return o.agent == agent; });
    CHECK(offer != frozen.offers.end() || tally_.race_seen());
    const Operation op = offer == frozen.offers.end() ? Operation{} : offer->op;
    frozen.taken.push_back({agent, taken.step.choice, taken.inherited ? 0 : kNoEvent, op});
  }
}

// Algorithm 1: some initial of the sequence must be among the frame's branches, or asleep.
bool Search::judge_source(EventIndex frame) {
  bool found = false, settled = false;
  const auto look_at = [&](AgentId agent, uint16_t choice, const Operation& op) {
    const Initial initial = sequence_.weak_initial(agent, op);
    const bool occurs = initial == Initial::kInKept || initial == Initial::kInSuffix;
    if (!occurs || !sequence_.first_choice_is(agent, choice)) return;
    found = true;
    settled = settled || initial == Initial::kInKept;
  };
  for (const Sleeper& sleeper : sleep_.at(frame)) {
    const bool inherited = sleeper.since < origin_;
    if (!inherited || sleeper.agent == sequence_.reversed_agent()) look_at(sleeper.agent, sleeper.choice, sleeper.op);
  }
  const BranchId node = nodes_[frame];
  for (BranchId c = tree_[node].first_child; c != kNoBranch; c = tree_[c].next) {
    look_at(tree_[c].agent, tree_[c].choice, tree_[c].op);
  }
  if (found) return settled;
  tree_.append(node, sequence_[0].agent, sequence_[0].choice, sequence_[0].op);
  return sequence_.stands_for_all();
}

// ---------------------------------------------------------------------------------------------------- backtracking

// Goes back to the last frame with a branch to explore. The branch that is done falls asleep.
bool Search::backtrack() {
  while (execution_.size() > root_) {
    const EventIndex frame = execution_.size() - 1;
    const Event done = execution_[frame];
    pop();
    reversals_.truncate(frame);
    const BranchId node = nodes_.back();
    tree_.remove_first(node);
    if (with_sleep()) sleep_.add(done.agent, done.choice, frame, done.op);
    if (tree_.is_leaf(node)) continue;
    if (!tally_.may_go_on()) {
      frontier_->leave(rest());
      return false;
    }
    if (frontier_->pause_due()) frontier_->pause(rest());
    replay(frame);
    return true;
  }
  return false;
}

// Brings the machine back to the state after the first `size` events: it goes back, or runs them again.
void Search::replay(EventIndex size) {
  EventIndex last = last_to_freeze(size);
  EventIndex at = last == kNoEvent ? size : root_;
  if (!machine_->rewind(at)) {
    machine_->reset();
    at = 0;
  }
  machine_->set_checking(false);
  for (; last != kNoEvent; last = last_to_freeze(size)) {
    for (; root_ <= last; at = root_ - 1) {
      step_again(at, root_);
      freeze(root_);
    }
  }
  step_again(at, size);
  machine_->set_checking(true);
  if (enabled_.size() > 1) track_all();  // of more agents than pop() knows
}

void Search::step_again(EventIndex from, EventIndex to) {
  for (EventIndex i = from; i < to; ++i) {
    const Event& recorded = execution_[i];
    CHECK(same_step(machine_->step(recorded.agent, recorded.choice), recorded));
  }
  steps_ += to - from;
}

// ---------------------------------------------------------------------------------------------------- giving work away

// When work is wanted, or the tree has grown too large: the first frame with a branch to give.
EventIndex Search::last_to_freeze(EventIndex size) const {
  const bool wanted = frontier_->hungry() && steps_ - steps_at_freeze_ >= options_.min_task_steps;
  if (!wanted && !crowded()) return kNoEvent;
  for (EventIndex frame = root_; frame < size; ++frame) {
    if (tree_[tree_[nodes_[frame]].first_child].next != kNoBranch) return frame;
  }
  return kNoEvent;
}

// A frame that is frozen already, or becomes so. The machine is there.
Search::Frozen& Search::add_frozen(std::shared_ptr<FrozenState> state) {
  Frozen& frozen = frozen_.emplace_back();
  frozen.state = std::move(state);
  for (AgentId agent : machine_->agents()) {
    if (is_enabled(agent)) frozen.offers.push_back({agent, machine_->pending(agent).op});
  }
  return frozen;
}

// Gives away the branches of the root frame but for the one in progress. Each sleeps on those before it.
void Search::freeze(EventIndex frame) {
  const auto state = std::make_shared<FrozenState>();
  state->depth = frame;
  if (frame > 0) {
    state->above = frozen_[frame - 1].state;
    state->step = {machine_->key(execution_[frame - 1].agent), execution_[frame - 1].choice};
  }
  for (const Sleeper& sleeper : sleep_.at(frame)) {
    state->taken.push_back({{machine_->key(sleeper.agent), sleeper.choice}, sleeper.since < origin_});
  }
  std::vector<Task> tasks;
  const BranchId first = tree_[nodes_[frame]].first_child;
  for (BranchId c = first; c != kNoBranch; c = tree_[c].next) {
    const Choice step{machine_->key(tree_[c].agent), tree_[c].choice};
    if (c != first) {
      Task& task = tasks.emplace_back();
      task.state = state;
      task.step = step;
      task.origin = frame + 1;
      if (with_sleep()) {
        for (const FrozenState::Taken& taken : state->taken) task.sleepers.push_back({frame, taken.step});
      }
      if (!crowded()) task.guide = guide_below(c);
    }
    state->taken.push_back({step, false});
  }
  state->count = static_cast<uint32_t>(state->taken.size());
  tree_.keep_first(nodes_[frame]);
  add_frozen(state);
  root_ = frame + 1;
  steps_at_freeze_ = steps_;
  frontier_->give(std::move(tasks));
}

void explore_tasks(const Program& program, const ExploreOptions& options, Tally& tally, Frontier& frontier) {
  std::unique_ptr<Search> search;  // machines are made where they are used, and where there is work
  while (const std::unique_ptr<Task> task = frontier.take([&tally] { tally.report_progress(); })) {
    if (!search) search = std::make_unique<Search>(program, options, tally);
    if (!task->begun && task->state == nullptr ? !tally.stopped() : tally.may_go_on()) {
      search->run(*task, frontier);
    } else {
      frontier.leave(*task);
    }
    frontier.finish();
  }
}

}  // namespace warpcheck
