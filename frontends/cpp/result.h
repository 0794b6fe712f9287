// check(kernel): explores a C++ kernel and returns what was found, with places as file and line.
//
//   CheckResult result = check(ring);
//   if (!result.verified()) std::cerr << result;
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "explorer/explore.h"
#include "frontends/cpp/kernel.h"

namespace warpcheck {

struct FoundAt {
  std::string file;
  uint32_t line = 0;
  std::string instruction;  // "store"
  std::string agent;        // "thread 1"
  std::string role;         // "generic write"
};

struct CheckFinding {
  FindingKind kind = FindingKind::kRace;
  Cause cause = Cause::kNone;
  bool strict = false;  // a violation only in the strict reading
  std::string object;   // "shared tile"
  std::string range;    // "[3]": the elements met, in the execution that is shown
  std::string message;
  std::vector<FoundAt> sites;
  uint64_t execution = 0;  // number of the execution that showed it
  Schedule schedule;       // replays it
};

struct CheckResult {
  Verdict verdict = Verdict::kIncomplete;
  std::vector<CheckFinding> findings;
  uint64_t executions = 0;  // inequivalent ones
  uint64_t blocked = 0;     // runs that ended in a sleep set: 0 under the optimal reduction
  uint64_t events = 0;
  bool complete = false;
  std::vector<std::string> bounds_hit, merged;
  double seconds = 0;

  bool verified() const { return verdict == Verdict::kVerified; }
};

// Goes on past violations by default, so that all findings are there. Throws InputError if the launch makes no sense.
CheckResult check(const Kernel& kernel, const ExploreOptions& options = {.keep_going = true});

std::ostream& operator<<(std::ostream& out, const CheckFinding& finding);
std::ostream& operator<<(std::ostream& out, const CheckResult& result);

}  // namespace warpcheck
