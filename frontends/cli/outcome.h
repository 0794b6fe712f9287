// What one launch of `check` came to, as files for other tools tell it (junit.h, sarif.h, baseline.h): plain data that
// outlives the kernel.
#pragma once

#include <string>
#include <vector>

#include "explorer/explore.h"
#include "frontends/cli/kernel.h"
#include "visualize/report.h"

namespace warpcheck::cli {

// Where a finding's files were written; "" for none.
struct Files {
  std::string counterexample, graph;
};

// A place that a finding names, in words that stay the same on other machines but for `path`.
struct ToldSite {
  std::string agent, role, instruction;
  std::string file;   // the name alone, of the kernel's own line (best_line); "" when unknown
  uint32_t line = 0;  // 0: unknown
  std::string text;   // of that line; "" when its file is not at hand
  std::string path;   // where the file was found, else as the PTX names it
  std::string chain;  // "ptx.cuh:57, inlined at ring.cu:30"; "" when nothing was inlined
};

struct ToldFinding {
  Finding finding;
  std::vector<ToldSite> sites;
  bool violation = true;  // else a warning of the strict reading
  bool accepted = false;  // by the baseline
  std::string why;        // one sentence
  std::string report;     // as on the terminal
  Files files;
};

struct LaunchOutcome {
  std::string name;       // the launch file as it was named, or the PTX
  std::string ptx;
  std::string kernel;
  Verdict verdict = Verdict::kIncomplete;
  bool whole = false;     // every execution was explored and nothing in them was skipped
  RunSummary summary;
  std::string report;     // as on the terminal
  double seconds = 0;
  std::vector<ToldFinding> findings;

  bool violated() const;  // by a finding that is not accepted
};

// Without `why`, `report` and `files`.
ToldFinding tell_finding(const Kernel& kernel, const Finding& finding, bool violation);

// Whether the search left nothing out, violations aside.
bool is_whole(const ExploreResult& result);

// "ring.toml" of "launch/ring.toml".
std::string file_name(const std::string& path);

// A text file for other tools. Throws InputError.
void write_text_file(const std::string& path, const std::string& text);

}  // namespace warpcheck::cli
