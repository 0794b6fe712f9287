// Depth-first search of one task on one machine.
//
// Algorithm 2 of "Source sets" with these differences (docs/explorer.md): a machine that goes back or runs again; waits;
// choices; a reversal is judged again at each maximal execution until it is settled; a search may start below the root,
// with sleepers inherited from there, and hands out parts of itself.
//
// A *frame* is the state before an event: frame d has sleep set sleep_.at(d) and branches tree_[nodes_[d]], the first of
// which is in progress. Invariants between steps:
// (1) The machine has run exactly the events of execution_.
// (2) There is a frame for each event and one for the state reached.
// (3) Frames above root_ are frozen: frozen_[d] says what has been handed out there. Those from origin_ on were this
//     task's own once, and what fell asleep there is not inherited.
//
// Belongs to one OS thread, like its machine.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "explorer/execution.h"
#include "explorer/explore.h"
#include "explorer/frontier.h"
#include "explorer/reversals.h"
#include "explorer/sequence.h"
#include "explorer/sleep_set.h"
#include "explorer/tally.h"
#include "explorer/wakeup_tree.h"

namespace warpcheck {

class Search {
 public:
  Search(const Program& program, const ExploreOptions& options, Tally& tally);

  // Explores all of a task but for what it gives to the frontier.
  void run(const Task& task, Frontier& frontier);

  // A reversal found elsewhere asks for a sequence from a frozen state. Throws InputError when it cannot happen there.
  void bring_home(std::shared_ptr<FrozenState> state, const Schedule& sequence, Frontier& frontier);

  const Machine& machine() const { return *machine_; }

 private:
  enum class Step : uint8_t { kTaken, kEnd, kMispredicted };

  // A step that an agent offers in a frame.
  struct Offer {
    AgentId agent;
    Operation op;
  };

  struct Frozen {
    std::shared_ptr<FrozenState> state;
    std::vector<Offer> offers;    // all that are enabled
    std::vector<Sleeper> taken;   // what is known of state->taken; those inherited have `since` below origin_
  };

  void start(const Task& task);
  Task rest() const;
  void undo_execution(EventIndex begin);
  bool go_on();
  void restore_tree(const Guide& guide);
  Guide guide_below(BranchId branch) const;
  Tally::End extend();
  Step take_next();
  void choose_branches();
  bool preempts(AgentId agent) const;
  bool any_enabled() const;
  bool matches(const WakeupTree::Branch& branch) const;
  void push(const Event& event);
  void pop();
  bool backtrack();
  void replay(EventIndex size);
  void step_again(EventIndex from, EventIndex to);

  void end_execution(Tally::End end);
  Schedule schedule() const;
  static const char* describe_schedule(void* search);  // for a failed CHECK
  void judge_reversals();
  bool judge(const Reversal& reversal);
  bool judge_blocked(const Reversal& reversal);
  bool judge_sequence(EventIndex frame);
  bool judge_source(EventIndex frame);
  bool judge_frozen(EventIndex frame);
  bool judge_taken(std::span<const Sleeper> taken, bool* settled) const;
  void look_at_taken(Frozen& frozen);
  Initial rejected_by_sleeper(EventIndex frame, const Sequence& sequence) const;

  void track_all();
  void track(std::span<const AgentId> agents);
  bool is_enabled(AgentId agent) const { return machine_->pending(agent).status == Transition::Status::kEnabled; }
  bool with_sleep() const { return options_.reduction != Reduction::kNone; }
  bool with_reversals() const {
    return options_.reduction == Reduction::kSource || options_.reduction == Reduction::kOptimal;
  }
  bool crowded() const { return tree_.live() > options_.max_tree_nodes; }
  EventIndex last_to_freeze(EventIndex size) const;
  void freeze(EventIndex frame);
  Frozen& add_frozen(std::shared_ptr<FrozenState> state);

  const ExploreOptions& options_;
  Tally& tally_;
  std::unique_ptr<Machine> machine_;
  Execution execution_;
  SleepSets sleep_;
  WakeupTree tree_;
  std::vector<BranchId> nodes_;
  Reversals reversals_;
  Sequence sequence_;
  std::vector<uint64_t> enabled_;  // by agent, a bit each
  std::vector<uint64_t> enabled_before_;  // its first word before each event
  std::vector<uint32_t> preemptions_;  // by frame: in the events before it
  EventIndex root_ = 0, origin_ = 0;
  bool begun_ = false;             // an execution of the task has ended
  EventIndex chosen_from_ = 0;     // the first frame in which the execution in progress found no branch, or kNoEvent
  std::vector<Frozen> frozen_;
  Frontier* frontier_ = nullptr;
  uint64_t steps_ = 0, steps_at_freeze_ = 0;  // of the machine, replayed ones among them
  uint64_t new_events_ = 0;  // of the execution in progress
  std::string description_;
};

// Takes tasks from the frontier, and explores them on one machine, until there are no more.
void explore_tasks(const Program& program, const ExploreOptions& options, Tally& tally, Frontier& frontier);

}  // namespace warpcheck
