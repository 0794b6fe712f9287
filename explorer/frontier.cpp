#include "explorer/frontier.h"

#include <algorithm>
#include <chrono>

namespace warpcheck {

namespace {

constexpr auto kIdle = std::chrono::milliseconds(100);

// With more tasks than this a worker, the deepest come first, so that there will not be many more.
constexpr size_t kManyTasks = 64;

}  // namespace

Schedule path_to(const FrozenState* state) {
  Schedule path;
  for (; state != nullptr && state->above != nullptr; state = state->above.get()) path.push_back(state->step);
  std::reverse(path.begin(), path.end());
  return path;
}

void Frontier::add(Task task) {
  queue_.push_back(std::make_unique<Task>(std::move(task)));
  waiting_.store(queue_.size(), std::memory_order_relaxed);
  if (on_work_) on_work_();
  changed_.notify_one();
}

void Frontier::give(std::vector<Task> tasks) {
  const std::lock_guard lock(mutex_);
  for (Task& task : tasks) add(std::move(task));
}

std::unique_ptr<Task> Frontier::take(const std::function<void()>& idle) {
  std::unique_lock lock(mutex_);
  while (queue_.empty()) {
    if (running_ == 0) return nullptr;
    if (changed_.wait_for(lock, kIdle) == std::cv_status::timeout && idle) {
      lock.unlock();
      idle();
      lock.lock();
    }
  }
  std::unique_ptr<Task> task;
  if (queue_.size() > kManyTasks * workers_) {
    task = std::move(queue_.back());
    queue_.pop_back();
  } else {
    task = std::move(queue_.front());
    queue_.pop_front();
  }
  waiting_.store(queue_.size(), std::memory_order_relaxed);
  ++running_;
  return task;
}

void Frontier::finish() {
  const std::lock_guard lock(mutex_);
  --running_;
  if (running_ == 0 && queue_.empty()) changed_.notify_all();
}

std::vector<FrozenState::Taken> Frontier::taken(const FrozenState& state, uint32_t from) const {
  const std::lock_guard lock(mutex_);
  return {state.taken.begin() + from, state.taken.end()};
}

bool Frontier::propose(const std::shared_ptr<FrozenState>& state, uint32_t seen, const Schedule& sequence) {
  const std::lock_guard lock(mutex_);
  if (state->taken.size() != seen) return false;
  Task task;
  task.state = state;
  task.step = sequence.front();
  task.origin = state->depth + 1;
  for (const FrozenState::Taken& other : state->taken) task.sleepers.push_back({state->depth, other.step});
  for (uint32_t i = 1; i < sequence.size(); ++i) task.guide.push_back({i - 1, sequence[i]});
  state->taken.push_back({task.step, false});
  state->count.store(static_cast<uint32_t>(state->taken.size()), std::memory_order_release);
  add(std::move(task));
  return true;
}

}  // namespace warpcheck
