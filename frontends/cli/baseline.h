// A baseline: findings that a team knows and accepts for now. Format: docs/formats.md.
//
// A finding is recognized by its kernel, kind, cause, object and places (role, instruction, file name, line). When lines
// have moved, equal texts of the lines do instead. An entry accepts one finding of a launch, so that a second fault on
// lines of the same text is still new.
// Accepting changes the exit code alone: an accepted finding is told, its launch is never called verified, and an
// incomplete search stays incomplete.
#pragma once

#include <string>
#include <vector>

#include "frontends/cli/outcome.h"

namespace warpcheck::cli {

class Baseline {
 public:
  // Throws InputError, one line, when the file is missing or no baseline.
  static Baseline read(const std::string& path);

  // Marks the findings of a launch that it accepts.
  void accept(LaunchOutcome& outcome);

  // Entries that no launch showed, although one of their name was explored whole; a line each.
  std::vector<std::string> stale() const;

  // A baseline of all violations; reasons are kept where `this` has an entry.
  std::string text(const std::vector<LaunchOutcome>& outcomes) const;

 private:
  struct Entry {
    std::string kernel, launch, kind, cause, object, reason;
    std::vector<ToldSite> sites;  // without agents and paths
    bool seen = false;            // by some launch
    bool missed = false;          // a whole search of its launch did not show it
  };

  static bool same(const Entry& entry, const std::string& kernel, const ToldFinding& finding, bool by_text);
  const Entry* find(const std::string& kernel, const ToldFinding& finding) const;

  std::vector<Entry> entries_;
};

}  // namespace warpcheck::cli
