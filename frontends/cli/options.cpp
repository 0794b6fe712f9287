#include "frontends/cli/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>
#include <memory>

#include "model/machine.h"

namespace warpcheck::cli {
namespace {

constexpr const char* kAbout =
    "Runs a GPU kernel on the CPU under every interleaving that matters, and proves that none goes wrong\n"
    "or shows one that does. Needs no GPU.\n";

constexpr const char* kExamples = R"(
Examples:
  warpcheck check ring.toml                  check the launch that ring.toml describes
  warpcheck check ring.toml --ptx new.ptx    the same launch of another build of the kernel
  warpcheck check ring.ptx --entry ring --grid 1 --block 64 --arg in=s32[128]:iota --arg out=s32[32]:zero
                                             a launch said in flags
  warpcheck check *.toml --json              several launches, for programs
  warpcheck check *.toml --sarif warpcheck.sarif --junit warpcheck.xml
                                             for continuous integration
  warpcheck replay race-1.json               run the schedule of a counterexample again
  warpcheck graph race-1.json -o race.svg    draw it

Exit codes: 0 verified, 1 violation, 2 bad input or usage, 3 incomplete.)";

void add_launch_flags(CLI::App& check, CheckOptions& options) {
  ptx::LaunchFlags& launch = options.launch;
  const std::string group = "Launch (of a PTX file; a launch file says the same)";
  check.add_option("--entry", launch.entry, "Kernel, when the PTX has several")->group(group);
  check.add_option("--grid", launch.grid, "Blocks: x, or x,y,z (default 1)")->delimiter(',')->group(group);
  check.add_option("--block", launch.block, "Threads a block: x, or x,y,z (default 1)")->delimiter(',')->group(group);
  check.add_option("--cluster", launch.cluster, "Blocks a cluster: x, or x,y,z")->delimiter(',')->group(group);
  check.add_option("--dynamic-shared", launch.dynamic_shared, "Bytes of dynamic shared memory")->group(group);
  check.add_flag("--cooperative", launch.cooperative, "Give the kernel a grid barrier's workspace")->group(group);
  check
      .add_option("--arg", launch.args,
                  "One each kernel parameter, in order: in=s32[128]:iota (zero, one, iota, uninitialized, values\n"
                  "1,2,3 or file.npy) or n=s32:8")
      ->allow_extra_args(false)
      ->group(group);
}

void add_search_flags(CLI::App& check, CheckOptions& options) {
  const std::string group = "Search";
  const std::map<std::string, Reduction> reductions = {{"none", Reduction::kNone},
                                                       {"sleep", Reduction::kSleep},
                                                       {"source", Reduction::kSource},
                                                       {"optimal", Reduction::kOptimal}};
  check.add_flag("--keep-going", options.keep_going, "Go on after the first violation")->group(group);
  check.add_flag("--strict", options.strict, "Findings of the strict reading are violations")->group(group);
  check.add_option("--workers", options.workers, "OS threads (default: all cores)")
      ->check(CLI::Range(1, 1024))
      ->group(group);
  check
      .add_option_function<std::string>(
          "--reduction", [&options, reductions](const std::string& name) { options.reduction = reductions.at(name); },
          "none, sleep, source or optimal (default)")
      ->check(CLI::IsMember({"none", "sleep", "source", "optimal"}))
      ->group(group);
  check.add_flag("--exact-counts", options.exact_counts, "Count every trace: explore nothing apart")->group(group);
  check.add_flag("--plain-steps", options.plain_steps, "Each plain access is a step of its own")->group(group);
  check.add_option("--max-executions", options.max_executions, "Stop after so many executions")->group(group);
  check.add_option("--max-steps", options.max_steps, "Cut executions longer than so many steps (default 1000000)")
      ->check(CLI::PositiveNumber)
      ->group(group);
  check.add_option("--max-seconds", options.max_seconds, "Stop after so many seconds")
      ->check(CLI::NonNegativeNumber)
      ->group(group);
}

void add_team_flags(CLI::App& check, CheckOptions& options) {
  const std::string group = "Continuous integration";
  check.add_option("--junit", options.junit, "Write the results as JUnit XML to this file")->group(group);
  check.add_option("--sarif", options.sarif, "Write the findings as SARIF 2.1.0 to this file")->group(group);
  check.add_option("--baseline", options.baseline, "Findings listed in this file are told, but fail nothing")
      ->group(group);
  check.add_option("--write-baseline", options.write_baseline, "Write the violations found as a baseline to this file")
      ->group(group);
}

// One line of what CLI11 says.
std::string one_line(std::string text) {
  for (char& c : text) c = c == '\n' ? ' ' : c;
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

}  // namespace

Command parse_command_line(int argc, const char* const* argv) {
  CLI::App app(kAbout, "warpcheck");
  app.footer(kExamples);
  app.set_version_flag("--version", kTool);
  CheckOptions check_options;
  CLI::App* check = app.add_subcommand("check", "Check launches: FILE is a launch file (.toml) or PTX with flags");
  check->footer(kExamples);
  check->add_option("FILE", check_options.files, "Launch files, or PTX files")->required();
  check->add_option("--ptx", check_options.ptx, "PTX file in place of the launch file's own");
  check->add_flag("--json", check_options.json, "The result as JSON on standard output");
  check->add_option("--out", check_options.out, "Folder for counterexamples and graphs (default: this one)");
  add_launch_flags(*check, check_options);
  add_search_flags(*check, check_options);
  add_team_flags(*check, check_options);

  ReplayOptions replay_options;
  CLI::App* replay = app.add_subcommand("replay", "Run the schedule of a counterexample again and report it");
  replay->add_option("COUNTEREXAMPLE", replay_options.counterexample, "A file such as race-1.json")->required();

  GraphOptions graph_options;
  CLI::App* graph = app.add_subcommand("graph", "Draw a counterexample");
  graph->add_option("COUNTEREXAMPLE", graph_options.counterexample, "A file such as race-1.json")->required();
  graph->add_option("-o,--output", graph_options.output, "Picture to write: .svg, .dot, .png")->required();

  const std::string first = argc > 1 ? argv[1] : "";
  if (first.empty() || (first[0] != '-' && first != "check" && first != "replay" && first != "graph")) {
    throw InputError(fmt::format("found {}, expected one of check, replay, graph (see warpcheck --help)",
                                 first.empty() ? "no command" : "'" + first + "'"));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    const auto chosen = app.get_subcommands();
    return Answer{chosen.empty() ? app.help() : chosen.front()->help()};
  } catch (const CLI::CallForVersion&) {
    return Answer{fmt::format("{}\n", kTool)};
  } catch (const CLI::ParseError& error) {
    throw InputError(one_line(error.what()) + " (see warpcheck --help)");
  }
  if (check->parsed()) return check_options;
  if (replay->parsed()) return replay_options;
  if (graph->parsed()) return graph_options;
  throw InputError("found no command, expected one of check, replay, graph (see warpcheck --help)");
}

}  // namespace warpcheck::cli
