#include "explorer/explore.h"

#include "explorer/apart.h"
#include "explorer/frontier.h"
#include "explorer/search.h"
#include "explorer/tally.h"
#include "explorer/walk.h"
#include "explorer/worker_pool.h"

namespace warpcheck {

const char* name(Reduction reduction) {
  switch (reduction) {
    case Reduction::kNone: return "none";
    case Reduction::kSleep: return "sleep";
    case Reduction::kSource: return "source";
    case Reduction::kOptimal: return "optimal";
  }
  return "";
}

const char* name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kVerified: return "verified";
    case Verdict::kViolation: return "violation";
    case Verdict::kIncomplete: return "incomplete";
  }
  return "";
}

// What remains of a search, and samples, are of the whole program.
static bool may_go_apart(const ExploreOptions& options) {
  const bool is_whole_search = options.from == nullptr && options.split_into == 0 && !options.on_checkpoint;
  return !options.exact_counts && is_whole_search && options.walks == 0 && options.max_preemptions < 0;
}

ExploreResult explore(const Program& program, const ExploreOptions& options) {
  if (program.parts() > 1 && may_go_apart(options)) return explore_apart(program, options);
  Tally tally(options);
  const unsigned workers = options.workers == 0 ? available_workers() : options.workers;
  if (options.walks != 0) {
    walk(program, options, tally);
    return tally.result({});
  }
  Frontier frontier(workers, options.split_into);
  if (options.from == nullptr) {
    frontier.give(std::vector<Task>(1));
  } else if (options.from->remaining != nullptr) {
    frontier.restore(*options.from->remaining, options.part);
    if (!options.from->remaining->reports.empty()) {
      Search search(program, options, tally);
      for (const Remaining::Report& report : options.from->remaining->reports) {
        search.bring_home(frontier.state(report.state), report.sequence, frontier);
      }
    }
  }
  if (options.on_checkpoint) {
    frontier.pause_every(options.checkpoint_seconds,
                         [&] { options.on_checkpoint(tally.result(frontier.remaining())); });
  }
  if (workers == 1) {
    explore_tasks(program, options, tally, frontier);
  } else {
    explore_with_workers(program, options, tally, frontier, workers);
  }
  ExploreResult result = tally.result(frontier.remaining());
  result.workers = workers;
  return result;
}

}  // namespace warpcheck
