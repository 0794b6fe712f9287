// Depth-first search of one task on one machine.
//
// Algorithm 2 of "Source sets" with these differences (docs/explorer.md): re-execution instead of stored states; waits;
// choices; a reversal is judged again at each maximal execution until it is settled; a search may start below the root,
// with sleepers inherited from there.
//
// A *frame* is the state before an event: frame d has sleep set sleep_.at(d) and branches tree_[nodes_[d]], the first of
// which is in progress. Invariants between steps:
// (1) The machine has run exactly the events of execution_.
// (2) There is a frame for each event and one for the state reached.
// (3) Frames above root_ belong to other tasks.
//
// Belongs to one OS thread, like its machine.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "explorer/execution.h"
#include "explorer/explore.h"
#include "explorer/reversals.h"
#include "explorer/sequence.h"
#include "explorer/sleep_set.h"
#include "explorer/tally.h"
#include "explorer/wakeup_tree.h"

namespace warpcheck {

// A part of a search that stands alone: all executions that begin with `prefix` and are not equivalent to one in which
// a sleeper comes first. The sleepers are those of the state before the prefix's last step.
struct Task {
  Schedule prefix;
  std::vector<Choice> sleepers;
};

// Where a search gives work away.
class TaskSink {
 public:
  virtual bool hungry() const = 0;
  virtual void give(Task task) = 0;

 protected:
  ~TaskSink() = default;
};

class Search {
 public:
  Search(const Program& program, const ExploreOptions& options, Tally& tally);

  // Explores all of a task. With a sink, parts of it may be given away instead.
  void run(const Task& task, TaskSink* sink);

  const Machine& machine() const { return *machine_; }

 private:
  enum class Step : uint8_t { kTaken, kEnd, kMispredicted };

  void start(const Task& task);
  Tally::End extend();
  Step take_next();
  void choose_branches();
  bool any_enabled() const;
  bool matches(const WakeupTree::Branch& branch) const;
  void push(const Event& event);
  void pop();
  bool backtrack();
  void replay(EventIndex size);

  void end_execution(Tally::End end);
  Schedule schedule() const;
  static const char* describe_schedule(void* search);  // for a failed CHECK
  void judge_reversals();
  bool judge(const Reversal& reversal);
  bool judge_blocked(const Reversal& reversal);
  bool judge_sequence(EventIndex frame);
  bool judge_source(EventIndex frame);
  Initial rejected_by_sleeper(EventIndex frame, const Sequence& sequence) const;

  void track_all();
  void track(std::span<const AgentId> agents);
  bool is_enabled(AgentId agent) const { return machine_->pending(agent).status == Transition::Status::kEnabled; }
  bool with_sleep() const { return options_.reduction != Reduction::kNone; }
  bool with_reversals() const {
    return options_.reduction == Reduction::kSource || options_.reduction == Reduction::kOptimal;
  }
  void freeze(EventIndex frame, TaskSink& sink);

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
  EventIndex root_ = 0;
  TaskSink* sink_ = nullptr;
  uint64_t new_events_ = 0;  // of the execution in progress
  std::string description_;
};

}  // namespace warpcheck
