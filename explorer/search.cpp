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
  set_check_context(&Search::describe_schedule, this);
  start(task);
  do {
    end_execution(extend());
  } while (backtrack());
  if (reversals_.gave_up()) tally_.note_bound("the condition of a wait has too many states to try");
  tally_.note_reached(machine_->reached());
  set_check_context(nullptr, nullptr);
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
  track_all();
  for (EventIndex i = 0; i < root_; ++i) {
    if (i + 1 == root_) {
      for (const Choice& sleeper : task.sleepers) {
        const AgentId agent = machine_->agent(sleeper.agent);
        sleep_.add(agent, sleeper.choice, i, machine_->pending(agent).op);
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
      for (uint16_t choice = 0; choice < op.choices; ++choice) {
        if (!sleep_.is_asleep(agent, choice)) tree_.append(nodes_.back(), agent, choice, op);
      }
      if (with_reversals() && !tree_.is_leaf(nodes_.back())) return;
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
      reversals_.add_blocked(execution_, agent, transition.op, root_);
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
  if (options_.reduction == Reduction::kSource) return judge_source(frame);
  const Initial rejected = rejected_by_sleeper(frame, sequence_);
  if (rejected != Initial::kNo) return rejected == Initial::kInKept;
  const auto choices_asleep = [&](AgentId agent) { return sleep_.choices_asleep(frame, agent); };
  return tree_.insert(nodes_[frame], sequence_, choices_asleep).settled;
}

// Which sleeper of the frame is a weak initial of the sequence? An inherited one counts only if it is the agent of the
// reversed event: as if it were disabled until something dependent has happened.
Initial Search::rejected_by_sleeper(EventIndex frame, const Sequence& sequence) const {
  Initial result = Initial::kNo;
  for (const Sleeper& sleeper : sleep_.at(frame)) {
    const bool inherited = sleeper.since < root_;
    if (inherited && sleeper.agent != sequence.reversed_agent()) continue;
    const Initial initial = sequence.weak_initial(sleeper.agent, sleeper.op);
    if (initial == Initial::kNo) continue;
    if (initial == Initial::kIndependent) {
      if (sleep_.choices_asleep(frame, sleeper.agent) == sleeper.op.choices) result = initial;
    } else if (sequence.first_choice_is(sleeper.agent, sleeper.choice)) {
      if (initial == Initial::kInKept) return initial;
      result = initial;
    }
  }
  return result;
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
    const bool inherited = sleeper.since < root_;
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
  track_all();
}

// Gives away all that is left to do at the root frame but for the branch in progress: each enabled step that is awake,
// whether or not a race asked for it, so that races above the new root can be forgotten. The machine is in that frame.
void Search::freeze(EventIndex frame, TaskSink& sink) {
  Task task;
  for (EventIndex i = 0; i < frame; ++i) {
    task.prefix.push_back({machine_->key(execution_[i].agent), execution_[i].choice});
  }
  task.prefix.emplace_back();
  for (const Sleeper& sleeper : sleep_.at(frame)) {
    task.sleepers.push_back({machine_->key(sleeper.agent), sleeper.choice});
  }
  task.sleepers.push_back({machine_->key(execution_[frame].agent), execution_[frame].choice});
  for (AgentId agent : machine_->agents()) {
    if (!is_enabled(agent)) continue;
    for (uint16_t choice = 0; choice < machine_->pending(agent).op.choices; ++choice) {
      const Choice step{machine_->key(agent), choice};
      if (std::find(task.sleepers.begin(), task.sleepers.end(), step) != task.sleepers.end()) continue;
      task.prefix.back() = step;
      sink.give(task);
      task.sleepers.push_back(step);
    }
  }
  tree_.keep_first(nodes_[frame]);
  root_ = frame + 1;
  reversals_.raise(root_);
}

}  // namespace warpcheck
