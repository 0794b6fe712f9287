#include "explorer/worker_pool.h"

#include <tbb/enumerable_thread_specific.h>
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <algorithm>
#include <atomic>
#include <memory>

#include "explorer/search.h"

namespace warpcheck {

namespace {

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
    arena_.execute([this] {
      give(Task{});
      group_.wait();
    });
  }

  bool hungry() const override { return known_.load(std::memory_order_relaxed) < 2 * workers_; }

  void give(Task task) override {
    ++known_;
    group_.run([this, task = std::move(task)] {
      if (task.prefix.empty() || tally_.may_go_on()) searches_.local()->run(task, this);
      --known_;
    });
  }

 private:
  Tally& tally_;
  const unsigned workers_;
  std::atomic<unsigned> known_{0};  // given and not finished
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
