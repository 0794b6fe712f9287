// What all workers of an exploration share: counts, findings, bounds, and whether to go on.
//
// Thread-safe. Callbacks run one at a time, under the tally's lock; on_progress only on the thread that made the tally.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "explorer/explore.h"

namespace warpcheck {

class Tally {
 public:
  explicit Tally(const ExploreOptions& options);

  // How an execution ended.
  enum class End : uint8_t {
    kComplete,   // no agent can step
    kBlocked,    // in a sleep set
    kCut,        // at max_steps; counts as an execution
    kInterrupted,  // by a bound on time; undone, and not counted
    kAbandoned,  // a racy kernel did not do what was predicted; counts as blocked
  };

  struct Ended {
    End end = End::kComplete;
    uint64_t new_events = 0;
    std::span<const Finding> findings;
    std::function<Schedule()> schedule;
    const ExecutionView* view = nullptr;
  };
  void add(const Ended& ended);

  // Whether another execution may begin; notes the bound if not.
  bool may_go_on();
  // The same within a long execution.
  bool out_of_time();

  // A violation was found, and there is no need to go on.
  bool stopped() const { return stop_; }

  // A non-strict race was found: predictions about plain data may fail.
  bool race_seen() const { return race_seen_; }

  void note_bound(const std::string& bound);
  void note_reached(const Machine& machine);  // what it reached and touched
  void note_lasting_bound(const std::string& bound);

  // Of a worker that waits.
  void report_progress();

  ExploreResult result(const Remaining& remaining);

 private:
  void add_finding(const Finding& finding, const std::function<Schedule()>& schedule);
  void report_progress(uint32_t depth);
  double seconds() const;

  const ExploreOptions& options_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  const std::thread::id home_ = std::this_thread::get_id();
  std::atomic<bool> stop_{false};
  std::atomic<bool> race_seen_{false};
  std::atomic<bool> full_{false};  // max_executions reached
  std::mutex mutex_;
  ExploreResult result_;
  std::set<std::string> bounds_, lasting_bounds_;
  double last_progress_ = 0;
};

// Orders the findings of a result whose `complete` is known, and gives its verdict.
void settle(ExploreResult& result, const ExploreOptions& options);

}  // namespace warpcheck
