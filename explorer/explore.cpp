#include "explorer/explore.h"

#include "explorer/apart.h"
#include "explorer/frontier.h"
#include "explorer/search.h"
#include "explorer/tally.h"
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

ExploreResult explore(const Program& program, const ExploreOptions& options) {
  if (!options.exact_counts && program.parts() > 1) return explore_apart(program, options);
  Tally tally(options);
  const unsigned workers = options.workers == 0 ? available_workers() : options.workers;
  Frontier frontier(workers);
  frontier.give(std::vector<Task>(1));
  if (workers == 1) {
    explore_tasks(program, options, tally, frontier);
  } else {
    explore_with_workers(program, options, tally, frontier, workers);
  }
  ExploreResult result = tally.result();
  result.workers = workers;
  return result;
}

}  // namespace warpcheck
