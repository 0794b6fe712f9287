// The command line as values. CLI11 stays in options.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "explorer/explore.h"
#include "frontends/ptx/command_line_launch.h"

namespace warpcheck::cli {

constexpr const char* kTool = "warpcheck " WARPCHECK_VERSION;

struct CheckOptions {
  std::vector<std::string> files;     // launch files (.toml), or PTX files launched by `launch`
  std::optional<std::string> ptx;     // replaces each launch file's own
  ptx::LaunchFlags launch;
  std::string out = ".";              // folder of counterexamples and graphs
  std::string junit, sarif;           // files for other tools; "" for none
  std::string baseline;               // accepted findings; "" for none
  std::string write_baseline;         // where to write those of this run
  bool json = false, strict = false, keep_going = false;
  bool exact_counts = false;          // else clusters that share nothing are explored apart
  bool plain_steps = false;           // each plain access is a step of its own
  unsigned workers = 0;               // 0: all cores
  Reduction reduction = Reduction::kOptimal;
  uint64_t max_executions = 0, max_steps = 1'000'000;
  double max_seconds = 0;
};

struct ReplayOptions {
  std::string counterexample;
};

struct GraphOptions {
  std::string counterexample, output;
};

// --help and --version: text for standard output.
struct Answer {
  std::string text;
};

using Command = std::variant<CheckOptions, ReplayOptions, GraphOptions, Answer>;

// Throws InputError, one line, on what it does not understand.
Command parse_command_line(int argc, const char* const* argv);

}  // namespace warpcheck::cli
