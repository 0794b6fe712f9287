// Explores a program: every execution that matters (or those that bounds leave), its findings and a verdict.
//
//   ExploreResult result = explore(program, {.workers = 2, .keep_going = true});
//
// Algorithms: optimal dynamic partial-order reduction with wakeup trees (Abdulla, Aronis, Jonsson, Sagonas: "Source sets:
// a foundation for optimal dynamic partial order reduction", JACM 2017, algorithm 2), source sets (algorithm 1), sleep
// sets alone, and full enumeration as the oracle. Blocking operations are reversed against every earlier event without
// which they are enabled (docs/explorer.md).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "explorer/schedule.h"
#include "model/machine.h"

namespace warpcheck {

enum class Reduction : uint8_t { kNone, kSleep, kSource, kOptimal };
enum class Verdict : uint8_t { kVerified, kViolation, kIncomplete };

const char* name(Reduction reduction);  // "none", "sleep", "source", "optimal"
const char* name(Verdict verdict);      // "verified", "violation", "incomplete"

struct ExploreResult;
struct Remaining;  // remaining.h

// A complete execution, for tests and oracles: its events in order and, for each, its causal past (one number an agent:
// how many of the agent's events it is ordered after, itself included).
struct ExecutionView {
  std::span<const Event> events;
  std::function<uint32_t(size_t event, AgentId agent)> past;
  const Machine& machine;      // after finish()
  bool blocked = false;        // ended in a sleep set
};

struct Progress {
  uint64_t executions = 0, blocked = 0;
  uint32_t depth = 0;
  double seconds = 0;
};

struct ExploreOptions {
  Reduction reduction = Reduction::kOptimal;
  unsigned workers = 1;            // OS threads; 0: all cores
  bool keep_going = false;         // go on after the first violation
  bool strict = false;             // strict findings count as violations
  bool exact_counts = true;        // false: what shares nothing may be explored apart (explorer/apart.h)
  uint64_t max_executions = 0;     // 0: unbounded
  uint64_t max_steps = 1'000'000;  // visible steps of one execution; a longer one is cut and reported as `limit`
  double max_seconds = 0;          // 0: unbounded
  int64_t max_preemptions = -1;    // switches away from an agent that could go on; -1: unbounded. Needs Reduction::kNone
  uint64_t walks = 0;              // this many random executions instead of a search (walk.h)
  unsigned pct_depth = 0;          // drawn by PCT with this depth; 0: uniformly
  uint64_t seed = 1;               // of the walks
  uint64_t min_task_steps = 20'000;   // a worker gives a part of its task away after so many steps of its machine
  uint64_t max_tree_nodes = 100'000;  // of a worker; with more, parts are set aside and explored without guidance
  const ExploreResult* from = nullptr;  // goes on with what remained of another search, and adds to its totals
  bool part = false;                    // what remained is a part: reversals above it are reported, not explored
  unsigned split_into = 0;              // stops when so many tasks remain
  double checkpoint_seconds = 5;        // between calls of
  std::function<void(const ExploreResult&)> on_checkpoint = {};  // with all that is known and remains; workers wait
  const std::atomic<bool>* interrupt = nullptr;         // set from a signal handler: stop with what is known
  std::function<void(const Progress&)> on_progress = {};     // called a few times a second from one thread
  std::function<void(const ExecutionView&)> on_execution = {};  // each maximal execution; serialized among workers
};

struct FoundFinding {
  Finding finding;
  uint64_t execution = 0;  // number of the execution that showed it, from 1
  Schedule schedule;       // up to the end of that execution
};

struct ExploreResult {
  Verdict verdict = Verdict::kIncomplete;
  Reduction reduction = Reduction::kOptimal;
  uint64_t executions = 0;  // complete executions; under sleep, source, optimal the number of traces
  uint64_t blocked = 0;     // executions that ended in a sleep set
  uint64_t events = 0;      // steps of all executions, replayed ones not counted
  uint32_t max_depth = 0;
  bool complete = false;    // the search ran to its end
  std::vector<std::string> bounds_hit;
  std::vector<std::string> merged;  // why there are fewer executions than traces, a sentence each
  std::vector<std::string> lasting_bounds;  // those of them that going on does not mend
  std::vector<FoundFinding> findings;  // distinct; a finding is strict only if it is strict wherever it was shown
  std::vector<bool> reached;           // by SiteId
  Footprints footprints;               // of a confined program
  unsigned workers = 1;
  double seconds = 0;
  std::shared_ptr<const Remaining> remaining;  // null: nothing
};

// Adds the totals of a part to those of the whole: counts, findings, lasting bounds.
void add_totals(ExploreResult& whole, const ExploreResult& part);

// Throws InputError when options.from is not what remained of a search of this program.
ExploreResult explore(const Program& program, const ExploreOptions& options);

// Runs one schedule with recording on; what it yields is what reports and graphs are made of. Throws InputError (without
// file) when a step is not possible. A schedule may stop early: then finish() is called only if nothing is enabled.
struct ReplayResult {
  std::vector<RecordedEvent> events;
  std::vector<Finding> findings;
  std::unique_ptr<Machine> machine;  // in its final state, for names
  bool finished = false;
};
ReplayResult replay(const Program& program, const Schedule& schedule);

}  // namespace warpcheck
