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

void Search::run(const Task& task, TaskSink* sink) {
  sink_ = sink;
  start(task);
  do {
    end_execution(extend());
  } while (backtrack());
  if (reversals_.gave_up()) tally_.note_bound("the condition of a wait has too many states to try");
  tally_.note_reached(machine_->reached());
}

// ---------------------------------------------------------------------------------------------------- steps

void Search::start(const Task& task) {
  execution_.clear();
  sleep_.clear();
  tree_.clear();
  reversals_.clear();
  nodes_.assign(1, tree_.root());
  root_ = static_cast<EventIndex>(task.prefix.size());
  machine_->reset();
  for (AgentId agent : machine_->born()) execution_.bear(agent);
  track(machine_->agents());
  for (EventIndex i = 0; i < root_; ++i) {
    if (i + 1 == root_) {
      for (const AgentKey& key : task.sleepers) {
        const AgentId agent = machine_->agent(key);
        sleep_.add(agent, i, machine_->pending(agent).op);
      }
    }
    const Choice& choice = task.prefix[i];
    push(machine_->step(machine_->agent(choice.agent), choice.choice));
    nodes_.back() = tree_.root();
    reversals_.clear();  // of the prefix alone: they lie above the root
  }
  new_events_ = root_ == 0 ? 0 : 1;
}

// Runs on until nothing awake is enabled. Returns how the execution ended.
Tally::End Search::extend() {
  for (;;) {
    if (execution_.size() >= options_.max_steps) return any_enabled() ? Tally::End::kCut : Tally::End::kComplete;
    if (execution_.size() % kClockCheckInterval == kClockCheckInterval - 1 && tally_.out_of_time()) {
      return Tally::End::kAbandoned;
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
  if (tree_.is_leaf(nodes_.back())) choose_branches();
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
  if (with_reversals()) reversals_.add_last(execution_, root_);
  return Step::kTaken;
}

bool Search::any_enabled() const {
  return std::any_of(enabled_.begin(), enabled_.end(), [](uint64_t word) { return word != 0; });
}

// A branch foresees what its agent offers.
bool Search::matches(const WakeupTree::Branch& branch) const {
  const Transition& offered = machine_->pending(branch.agent);
  return offered.status == Transition::Status::kEnabled && offered.op.kind == branch.op.kind &&
         offered.op.object == branch.op.object && offered.op.choices == branch.op.choices;
}

// At a frame without branches: the first enabled agent that is awake, or all of them, in the order of their ids.
void Search::choose_branches() {
  for (size_t w = 0; w < enabled_.size(); ++w) {
    for (uint64_t bits = enabled_[w]; bits != 0; bits &= bits - 1) {
      const AgentId agent{static_cast<uint32_t>(w * 64 + static_cast<size_t>(std::countr_zero(bits)))};
      if (sleep_.is_asleep(agent)) continue;
      tree_.append(nodes_.back(), agent, 0, machine_->pending(agent).op);
      if (with_reversals()) return;
    }
  }
}

void Search::push(const Event& event) {
  execution_.push(event);
  for (AgentId agent : machine_->born()) execution_.bear(agent);
  track(machine_->changed());
  sleep_.push(event);
  nodes_.push_back(kNoBranch);
}

void Search::pop() {
  execution_.pop();
  sleep_.pop();
  nodes_.pop_back();
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
      reversals_.add_blocked(execution_, agent, transition.op, root_);
    }
  }
  reversals_.filter([this](const Reversal& reversal) { return !judge(reversal); });
  reversals_.drop_blocked();
}

// Inserts what the reversal asks for, unless a sleeper or a branch stands for it. Returns whether it is settled.
bool Search::judge(const Reversal& reversal) {
  const std::span<const EventIndex> roots = reversals_.roots(reversal);
  const EventIndex frame = roots.front();
  const bool source = options_.reduction == Reduction::kSource;
  if (reversal.later == kNoEvent) {
    sequence_.build_blocked(execution_, roots, reversal.agent, machine_->pending(reversal.agent).op);
  } else {
    sequence_.build(execution_, roots, reversal.later, !source);
  }
  if (source) return judge_source(frame, sequence_);
  const Initial rejected = rejected_by_sleeper(frame, sequence_);
  if (rejected != Initial::kNo) return rejected == Initial::kInKept;
  return tree_.insert(nodes_[frame], sequence_).settled;
}

// Which sleeper of the frame is a weak initial of the sequence? An inherited one counts only if it is the agent of the
// reversed event: as if it were disabled until something dependent has happened.
Initial Search::rejected_by_sleeper(EventIndex frame, const Sequence& sequence) const {
  Initial result = Initial::kNo;
  for (const Sleeper& sleeper : sleep_.at(frame)) {
    const bool inherited = sleeper.since < root_;
    if (inherited && sleeper.agent != sequence.reversed_agent()) continue;
    const Initial initial = sequence.weak_initial(sleeper.agent, sleeper.op);
    if (initial == Initial::kInKept) return initial;
    if (initial != Initial::kNo) result = initial;
  }
  return result;
}

// Algorithm 1: some initial of the sequence must be among the frame's branches, or asleep.
bool Search::judge_source(EventIndex frame, Sequence& sequence) {
  const auto is_initial = [&](AgentId agent, const Operation& op) {
    const Initial initial = sequence.weak_initial(agent, op);
    return initial == Initial::kInKept || initial == Initial::kInSuffix;
  };
  for (const Sleeper& sleeper : sleep_.at(frame)) {
    const bool inherited = sleeper.since < root_;
    if (inherited && sleeper.agent != sequence.reversed_agent()) continue;
    if (is_initial(sleeper.agent, sleeper.op)) return true;
  }
  const BranchId node = nodes_[frame];
  for (BranchId c = tree_[node].first_child; c != kNoBranch; c = tree_[c].next) {
    if (is_initial(tree_[c].agent, tree_[c].op)) return true;
  }
  tree_.append(node, sequence[0].agent, sequence[0].choice, sequence[0].op);
  return true;
}

// ---------------------------------------------------------------------------------------------------- backtracking

// Goes back to the last frame with a branch to explore. The branch that is done falls asleep, with the last of its
// agent's choices.
bool Search::backtrack() {
  while (execution_.size() > root_) {
    const EventIndex frame = execution_.size() - 1;
    const Event done = execution_[frame];
    pop();
    reversals_.truncate(frame);
    const BranchId node = nodes_.back();
    tree_.remove_first(node);
    const BranchId next = tree_[node].first_child;
    if (with_sleep() && (next == kNoBranch || tree_[next].agent != done.agent)) sleep_.add(done.agent, frame, done.op);
    if (next == kNoBranch) continue;
    if (!tally_.may_go_on()) return false;
    replay(frame);
    return true;
  }
  return false;
}

// Brings the machine back to the state after the first `size` events.
void Search::replay(EventIndex size) {
  machine_->reset();
  machine_->set_checking(false);
  for (EventIndex i = 0; i < size; ++i) {
    if (sink_ != nullptr && i == root_ && with_sleep() && sink_->hungry()) freeze(i, *sink_);
    const Event& recorded = execution_[i];
    CHECK(same_step(machine_->step(recorded.agent, recorded.choice), recorded));
  }
  machine_->set_checking(true);
  std::fill(enabled_.begin(), enabled_.end(), 0);
  track(machine_->agents());
}

// Gives away all that is left to do at the root frame but for the branch in progress: each enabled agent that is awake,
// whether or not a race asked for it, so that races above the new root can be forgotten. The machine is in that frame.
void Search::freeze(EventIndex frame, TaskSink& sink) {
  Task task;
  for (EventIndex i = 0; i < frame; ++i) {
    task.prefix.push_back({machine_->key(execution_[i].agent), execution_[i].choice});
  }
  task.prefix.emplace_back();
  for (const Sleeper& sleeper : sleep_.at(frame)) task.sleepers.push_back(machine_->key(sleeper.agent));
  const auto give = [&](AgentId agent, uint16_t choice) {
    task.prefix.back() = {machine_->key(agent), choice};
    sink.give(task);
  };
  const BranchId node = nodes_[frame];
  const AgentId current = execution_[frame].agent;
  for (BranchId c = tree_[tree_[node].first_child].next; c != kNoBranch && tree_[c].agent == current; c = tree_[c].next) {
    give(current, tree_[c].choice);
  }
  task.sleepers.push_back(machine_->key(current));
  const auto asleep = [&](AgentId agent) {
    return std::any_of(sleep_.at(frame).begin(), sleep_.at(frame).end(),
                       [&](const Sleeper& sleeper) { return sleeper.agent == agent; });
  };
  for (AgentId agent : machine_->agents()) {
    if (agent == current || !is_enabled(agent) || asleep(agent)) continue;
    for (uint16_t choice = 0; choice < machine_->pending(agent).op.choices; ++choice) give(agent, choice);
    task.sleepers.push_back(machine_->key(agent));
  }
  tree_.keep_first(node);
  root_ = frame + 1;
  reversals_.raise(root_);
}

}  // namespace warpcheck
