#include "explorer/worker_pool.h"

#include <tbb/enumerable_thread_specific.h>
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>

#include "explorer/search.h"

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>

// A packaged TBB is not instrumented: ThreadSanitizer sees neither that a task is handed over nor how TBB frees its own
// memory. We say the former ourselves, and hide reports about the latter. Races in our code are still found.
extern "C" const char* __tsan_default_suppressions() { return "called_from_lib:libtbb.so\nrace_top:oneapi/tbb/\n"; }
static void hand_over(void* what) { __tsan_release(what); }
static void take_over(void* what) { __tsan_acquire(what); }
#else
static void hand_over(void*) {}
static void take_over(void*) {}
#endif

namespace warpcheck {

namespace {

// Tasks lie in a queue of our own, under a lock; TBB carries no more than a pointer.
class WorkerPool final : public TaskSink {
 public:
  WorkerPool(const Program& program, const ExploreOptions& options, Tally& tally, unsigned workers)
      : tally_(tally),
        workers_(workers),
        allowed_(tbb::global_control::max_allowed_parallelism,
                 std::max<size_t>(workers, tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism))),
        arena_(static_cast<int>(workers)),
        searches_([&program, &options, &tally] { return std::make_unique<Search>(program, options, tally); }) {}

  void run() {
    arena_.execute(Turn{this, &WorkerPool::begin});
    const std::lock_guard lock(mutex_);  // after all that the workers did
  }

  bool hungry() const override { return known_.load(std::memory_order_relaxed) < 2 * workers_; }

  void give(Task task) override {
    ++known_;
    {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    hand_over(this);
    group_.run(Turn{this, &WorkerPool::work});
  }

 private:
  // One task's turn on a worker.
  struct Turn {
    WorkerPool* pool;
    void (WorkerPool::*act)();

    [[gnu::no_sanitize("thread")]] void operator()() const {
      take_over(pool);
      (pool->*act)();
    }
  };

  void begin() {
    give(Task{});
    group_.wait();
  }

  void work() {
    const Task task = take();
    if (task.prefix.empty() || tally_.may_go_on()) searches_.local()->run(task, this);
    const std::lock_guard lock(mutex_);
    --known_;
  }

  Task take() {
    const std::lock_guard lock(mutex_);
    Task task = std::move(tasks_.front());
    tasks_.pop_front();
    return task;
  }

  Tally& tally_;
  const unsigned workers_;
  std::atomic<unsigned> known_{0};  // given and not finished
  std::mutex mutex_;
  std::deque<Task> tasks_;
  tbb::global_control allowed_;
  tbb::task_arena arena_;
  tbb::enumerable_thread_specific<std::unique_ptr<Search>> searches_;
  tbb::task_group group_;
};

}  // namespace

unsigned available_workers() { return static_cast<unsigned>(std::max(1, tbb::info::default_concurrency())); }

void explore_with_workers(const Program& program, const ExploreOptions& options, Tally& tally, unsigned workers) {
  WorkerPool(program, options, tally, workers).run();
}

}  // namespace warpcheck
