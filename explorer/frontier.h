// What is still to be explored: tasks waiting, tasks running, and the frozen states above them.
//
// Workers take tasks, give parts of them back while others wait for work, and bring home the reversals that lie above
// their roots: a reversal that nothing handed out stands for becomes a task.
//
// Invariants:
// (1) A task that waits is in the queue; one that runs was taken and not finished; one whose worker stopped was left.
// (2) The search is over when there is neither.
//
// Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "explorer/remaining.h"
#include "explorer/task.h"

namespace warpcheck {

class Frontier {
 public:
  // With split_into, the search ends when so many tasks wait.
  explicit Frontier(unsigned workers, unsigned split_into = 0)
      : workers_(workers), split_into_(split_into), wanted_(split_into != 0 ? split_into : workers > 1 ? workers : 0) {}

  // Is someone waiting for work?
  bool hungry() const { return waiting_.load(std::memory_order_relaxed) < wanted_; }

  void give(std::vector<Task> tasks);

  // The next task, or null when the search is over; waits for one as long as others run. `idle` is called now and then
  // meanwhile.
  std::unique_ptr<Task> take(const std::function<void()>& idle);
  void finish();

  // What was handed out from the state, from number `from` on.
  std::vector<FrozenState::Taken> taken(const FrozenState& state, uint32_t from) const;

  // Hands out the first step of `sequence`, with what follows up to `guide` steps as its guide; the caller found that none
  // of the first `seen` steps taken stands for it. False if more have been taken since.
  bool propose(const std::shared_ptr<FrozenState>& state, uint32_t seen, const Schedule& sequence, size_t guide);

  // Called, under the lock, when a task was added.
  void on_work(std::function<void()> callback) { on_work_ = std::move(callback); }

  // What remained of another search. With `foreign`, reversals in its states are reported. Throws InputError.
  void restore(const Remaining& remaining, bool foreign);
  std::shared_ptr<FrozenState> state(uint64_t id) const;  // of those restored; throws InputError
  Remaining remaining() const;

  // A worker will not go on with its task: `rest` of it remains.
  void leave(Task rest);

  // When a search is split, each task gets one execution at a time. True: the task was put back.
  bool splitting() const { return split_into_ != 0; }
  void put_back(Task rest);

  // Every so many seconds all workers wait between two executions, and one of them calls back.
  void pause_every(double seconds, std::function<void()> callback);
  bool pause_due() const {
    return on_pause_ && (pausing_.load(std::memory_order_relaxed) || Clock::now() >= next_pause_.load());
  }
  void pause(Task rest);

 private:
  using Clock = std::chrono::steady_clock;

  void add(Task task);
  void end_pause();
  bool over() const { return running_ == 0 && (queue_.empty() || enough_); }

  const unsigned workers_, split_into_;
  const size_t wanted_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<Task>> queue_;
  std::atomic<size_t> waiting_{0};  // length of the queue
  unsigned running_ = 0;
  std::function<void()> on_work_;
  bool enough_ = false;  // split_into tasks wait
  std::vector<std::shared_ptr<FrozenState>> restored_;
  std::vector<Task> left_;
  std::vector<Remaining::Report> reports_;
  std::set<std::vector<uint64_t>> reported_;
  std::atomic<bool> pausing_{false};
  std::atomic<Clock::time_point> next_pause_{};
  std::vector<Task> paused_;  // rests of the running tasks whose workers wait
  uint64_t pauses_ = 0;
  Clock::duration pause_interval_{};
  std::function<void()> on_pause_;
};

}  // namespace warpcheck
