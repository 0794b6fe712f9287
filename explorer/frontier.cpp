#include "explorer/frontier.h"

#include <algorithm>
#include <chrono>
#include <map>

#include "model/machine.h"

namespace warpcheck {

namespace {

constexpr auto kIdle = std::chrono::milliseconds(100);

// With more tasks than this a worker, the deepest come first, so that there will not be many more.
constexpr size_t kManyTasks = 64;

// For comparison.
std::vector<uint64_t> numbers_of(uint64_t state, const Schedule& sequence) {
  std::vector<uint64_t> numbers = {state};
  for (const Choice& step : sequence) {
    numbers.insert(numbers.end(), {step.agent.thread, step.agent.ordinal, step.agent.block, step.choice});
  }
  return numbers;
}

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
  while (queue_.empty() || pausing_ || enough_) {
    if (over()) return nullptr;
    if (changed_.wait_for(lock, kIdle) == std::cv_status::timeout && idle) {
      lock.unlock();
      idle();
      lock.lock();
    }
  }
  std::unique_ptr<Task> task;
  if (split_into_ == 0 && queue_.size() > kManyTasks * workers_) {
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
  if (pausing_ && paused_.size() == running_) end_pause();
  if (over()) changed_.notify_all();
}

void Frontier::leave(Task rest) {
  const std::lock_guard lock(mutex_);
  left_.push_back(std::move(rest));
}

void Frontier::put_back(Task rest) {
  const std::lock_guard lock(mutex_);
  add(std::move(rest));
  enough_ = enough_ || queue_.size() >= split_into_;
}

void Frontier::pause_every(double seconds, std::function<void()> callback) {
  pause_interval_ = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  next_pause_ = Clock::now() + pause_interval_;
  on_pause_ = std::move(callback);
}

void Frontier::pause(Task rest) {
  std::unique_lock lock(mutex_);
  if (!pausing_ && Clock::now() < next_pause_.load()) return;
  pausing_ = true;
  paused_.push_back(std::move(rest));
  if (paused_.size() == running_) {
    end_pause();
  } else {
    changed_.wait(lock, [this, number = pauses_] { return pauses_ != number; });
  }
}

void Frontier::end_pause() {
  mutex_.unlock();  // nobody else runs: who does not pause waits for a task, or to be told that the pause is over
  on_pause_();
  mutex_.lock();
  paused_.clear();
  pausing_ = false;
  ++pauses_;
  next_pause_ = Clock::now() + pause_interval_;
  changed_.notify_all();
}

std::vector<FrozenState::Taken> Frontier::taken(const FrozenState& state, uint32_t from) const {
  const std::lock_guard lock(mutex_);
  return {state.taken.begin() + from, state.taken.end()};
}

bool Frontier::propose(const std::shared_ptr<FrozenState>& state, uint32_t seen, const Schedule& sequence,
                       size_t guide) {
  const std::lock_guard lock(mutex_);
  if (state->taken.size() != seen) return false;
  if (state->foreign) {
    if (reported_.insert(numbers_of(state->id, sequence)).second) reports_.push_back({state->id, sequence});
    return true;
  }
  Task task;
  task.state = state;
  task.step = sequence.front();
  task.origin = state->depth + 1;
  for (const FrozenState::Taken& other : state->taken) task.sleepers.push_back({state->depth, other.step});
  for (uint32_t i = 1; i < guide; ++i) task.guide.push_back({i - 1, sequence[i]});
  state->taken.push_back({task.step, false});
  state->count.store(static_cast<uint32_t>(state->taken.size()), std::memory_order_release);
  add(std::move(task));
  return true;
}

void Frontier::restore(const Remaining& remaining, bool foreign) {
  for (const Remaining::State& from : remaining.states) {
    const auto above = from.above;
    if (above != Remaining::kNone && (above < 0 || static_cast<size_t>(above) >= restored_.size())) {
      throw InputError("found a state that hangs from none, expected what a search left");
    }
    const auto& state = restored_.emplace_back(std::make_shared<FrozenState>());
    state->id = from.id;
    state->foreign = foreign;
    state->step = from.step;
    state->taken = from.taken;
    state->count = static_cast<uint32_t>(from.taken.size());
    if (above == Remaining::kNone) continue;
    state->above = restored_[static_cast<size_t>(above)];
    state->depth = state->above->depth + 1;
  }
  std::vector<Task> tasks;
  for (const Remaining::Part& part : remaining.parts) {
    if (part.state != Remaining::kNone && (part.state < 0 || static_cast<size_t>(part.state) >= restored_.size())) {
      throw InputError("found a part that hangs from no state, expected what a search left");
    }
    tasks.push_back(part.task);
    if (part.state != Remaining::kNone) tasks.back().state = restored_[static_cast<size_t>(part.state)];
  }
  give(std::move(tasks));
}

std::shared_ptr<FrozenState> Frontier::state(uint64_t id) const {
  for (const auto& state : restored_) {
    if (state->id == id) return state;
  }
  throw InputError("found a reversal in a state that does not exist, expected one of this search");
}

Remaining Frontier::remaining() const {
  const std::lock_guard lock(mutex_);
  Remaining remaining;
  std::map<const FrozenState*, int64_t> numbers = {{nullptr, Remaining::kNone}};
  const auto number = [&](const FrozenState* state) {
    std::vector<const FrozenState*> path;
    for (; !numbers.contains(state); state = state->above.get()) path.push_back(state);
    for (; !path.empty(); path.pop_back()) {
      const FrozenState& s = *path.back();
      const auto index = static_cast<int64_t>(remaining.states.size());
      remaining.states.push_back({static_cast<uint64_t>(index), numbers.at(s.above.get()), s.step, s.taken});
      numbers.emplace(&s, index);
      state = &s;
    }
    return numbers.at(state);
  };
  const auto add_part = [&](const Task& task) {
    Remaining::Part& part = remaining.parts.emplace_back();
    part.state = number(task.state.get());
    part.task = task;
    part.task.state = nullptr;
  };
  for (const auto& task : queue_) add_part(*task);
  for (const Task& task : left_) add_part(task);
  for (const Task& task : paused_) add_part(task);
  remaining.reports = reports_;
  return remaining;
}

}  // namespace warpcheck
