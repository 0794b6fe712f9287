// What is still to be explored: tasks waiting, tasks running, and the frozen states above them.
//
// Workers take tasks, give parts of them back while others wait for work, and bring home the reversals that lie above
// their roots: a reversal that nothing handed out stands for becomes a task.
//
// Invariants:
// (1) A task that waits is in the queue; one that runs was taken and not finished.
// (2) The search is over when there is neither.
//
// Thread-safe.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "explorer/task.h"

namespace warpcheck {

class Frontier {
 public:
  explicit Frontier(unsigned workers) : workers_(workers) {}

  // Is someone waiting for work?
  bool hungry() const { return workers_ > 1 && waiting_.load(std::memory_order_relaxed) < workers_; }

  void give(std::vector<Task> tasks);

  // The next task, or null when the search is over; waits for one as long as others run. `idle` is called now and then
  // meanwhile.
  std::unique_ptr<Task> take(const std::function<void()>& idle);
  void finish();

  // What was handed out from the state, from number `from` on.
  std::vector<FrozenState::Taken> taken(const FrozenState& state, uint32_t from) const;

  // Hands out the first step of `sequence` with the rest as its guide; the caller found that none of the first `seen`
  // steps taken stands for it. False if more have been taken since.
  bool propose(const std::shared_ptr<FrozenState>& state, uint32_t seen, const Schedule& sequence);

  // Called, under the lock, when a task was added.
  void on_work(std::function<void()> callback) { on_work_ = std::move(callback); }

 private:
  void add(Task task);

  const unsigned workers_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<Task>> queue_;
  std::atomic<size_t> waiting_{0};  // length of the queue
  unsigned running_ = 0;
  std::function<void()> on_work_;
};

}  // namespace warpcheck
