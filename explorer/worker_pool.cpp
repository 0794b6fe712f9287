#include "explorer/worker_pool.h"

#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <algorithm>
#include <atomic>

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

class WorkerPool {
 public:
  WorkerPool(const Program& program, const ExploreOptions& options, Tally& tally, Frontier& frontier, unsigned workers)
      : program_(program),
        options_(options),
        tally_(tally),
        frontier_(frontier),
        workers_(workers),
        allowed_(tbb::global_control::max_allowed_parallelism,
                 std::max<size_t>(workers, tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism))),
        arena_(static_cast<int>(workers)) {}

  void run() { arena_.execute(Turn{this, &WorkerPool::begin}); }

 private:
  struct Turn {
    WorkerPool* pool;
    void (WorkerPool::*act)();

    [[gnu::no_sanitize("thread")]] void operator()() const {
      take_over(pool);
      (pool->*act)();
      hand_over(pool);
    }
  };

  void begin() {
    frontier_.on_work([this] {
      if (started_.exchange(true)) return;
      hand_over(this);
      for (unsigned i = 1; i < workers_; ++i) group_.run(Turn{this, &WorkerPool::work});
    });
    work();
    group_.wait();
    take_over(this);
    frontier_.on_work({});
  }

  void work() { explore_tasks(program_, options_, tally_, frontier_); }

  const Program& program_;
  const ExploreOptions& options_;
  Tally& tally_;
  Frontier& frontier_;
  const unsigned workers_;
  std::atomic<bool> started_{false};
  tbb::global_control allowed_;
  tbb::task_arena arena_;
  tbb::task_group group_;
};

}  // namespace

unsigned available_workers() { return static_cast<unsigned>(std::max(1, tbb::info::default_concurrency())); }

void explore_with_workers(const Program& program, const ExploreOptions& options, Tally& tally, Frontier& frontier,
                          unsigned workers) {
  WorkerPool(program, options, tally, frontier, workers).run();
}

}  // namespace warpcheck
