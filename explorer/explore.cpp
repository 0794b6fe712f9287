#include "explorer/explore.h"

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
  Tally tally(options);
  const unsigned workers = options.workers == 0 ? available_workers() : options.workers;
  if (workers == 1) {
    Search(program, options, tally).run(Task{}, nullptr);
  } else {
    explore_with_workers(program, options, tally, workers);
  }
  ExploreResult result = tally.result();
  result.workers = workers;
  return result;
}

}  // namespace warpcheck
