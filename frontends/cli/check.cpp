#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "frontends/cli/baseline.h"
#include "frontends/cli/commands.h"
#include "frontends/cli/counterexample.h"
#include "frontends/cli/interrupt.h"
#include "frontends/cli/junit.h"
#include "frontends/cli/outcome.h"
#include "frontends/cli/progress.h"
#include "frontends/cli/result_json.h"
#include "frontends/cli/retell.h"
#include "frontends/cli/sarif.h"
#include "visualize/graph.h"
#include "visualize/report.h"
#include "visualize/slice.h"

namespace warpcheck::cli {
namespace {

namespace fs = std::filesystem;

std::vector<Request> requests(const CheckOptions& options) {
  std::vector<Request> result;
  for (const std::string& file : options.files) {
    const bool launch_file = fs::path(file).extension() == ".toml";
    if (launch_file && options.launch.any()) {
      throw InputError(file, 0, "found a launch file and launch flags (--entry, --grid, ...), expected one of the two");
    }
    if (!launch_file && options.ptx) {
      throw InputError(file, 0, "found --ptx beside a file that is no launch file (.toml), expected one of the two");
    }
    result.push_back({launch_file ? file : "", launch_file ? options.ptx : file, options.launch, options.plain_steps});
  }
  return result;
}

ExploreOptions explore_options(const CheckOptions& options, const std::atomic<bool>& interrupted) {
  ExploreOptions explore;
  explore.reduction = options.reduction;
  explore.workers = options.workers;
  // A finding that is accepted must hide no other.
  explore.keep_going = options.keep_going || !options.baseline.empty() || !options.write_baseline.empty();
  explore.strict = options.strict;
  explore.exact_counts = options.exact_counts;
  explore.max_executions = options.max_executions;
  explore.max_steps = options.max_steps;
  explore.max_seconds = options.max_seconds;
  explore.interrupt = &interrupted;
  return explore;
}

// One launch: its result, files and words.
class Checked {
 public:
  Checked(Kernel kernel, const CheckOptions& options, const std::atomic<bool>& interrupted)
      : kernel_(std::move(kernel)), options_(options) {
    ExploreOptions explore_with = explore_options(options, interrupted);
    ProgressLine progress(kernel_.program->name());
    explore_with.on_progress = progress.callback();
    result_ = explore(*kernel_.program, explore_with);
    // What a reader should see first comes first, in reports, files and JSON alike.
    std::stable_sort(result_.findings.begin(), result_.findings.end(), [this](const auto& a, const auto& b) {
      return rank(a.finding) < rank(b.finding);
    });
    summary_ = summarize(kernel_, options_, result_);
    outcome_.name = kernel_.request.launch.empty() ? kernel_.spec.ptx : kernel_.request.launch;
    outcome_.ptx = kernel_.spec.ptx;
    outcome_.kernel = summary_.kernel;
    outcome_.verdict = result_.verdict;
    outcome_.whole = is_whole(result_);
    outcome_.seconds = result_.seconds;
    for (const FoundFinding& found : result_.findings) {
      outcome_.findings.push_back(tell_finding(kernel_, found.finding, is_violation(found.finding)));
    }
  }

  void accept_known(Baseline& baseline) {
    baseline.accept(outcome_);
    for (const ToldFinding& told : outcome_.findings) summary_.accepted += told.violation && told.accepted ? 1 : 0;
  }

  void write_files(std::vector<std::string>& taken) {
    for (size_t i = 0; i < result_.findings.size(); ++i) {
      if (!makes_incomplete(result_.findings[i].finding.kind)) {
        write_finding(result_.findings[i], outcome_.findings[i], taken);
      }
    }
    outcome_.summary = summary_;
    outcome_.report = report();
  }

  std::string line() const {
    const ToldFinding* first = first_violation();
    std::string text = verdict_line(outcome_.name, summary_, first == nullptr ? nullptr : &first->finding);
    if (first != nullptr) text.insert(text.size() - 1, fmt::format(", {}", first->files.counterexample));
    return text;
  }

  nlohmann::ordered_json json() const { return result_json(kernel_, options_, result_, summary_, outcome_.findings); }

  // After write_files. Findings without the kinds that say why a search is incomplete.
  LaunchOutcome outcome() const {
    LaunchOutcome told = outcome_;
    std::erase_if(told.findings, [](const ToldFinding& found) { return makes_incomplete(found.finding.kind); });
    return told;
  }

 private:
  bool is_violation(const Finding& finding) const {
    return !makes_incomplete(finding.kind) && (options_.strict || !finding.strict);
  }

  // Violations, those that an earlier race may have caused, warnings.
  int rank(const Finding& finding) const { return !is_violation(finding) ? 2 : finding.after_race ? 1 : 0; }

  // One that is new before one that is accepted.
  const ToldFinding* first_violation() const {
    const ToldFinding* known = nullptr;
    for (const ToldFinding& found : outcome_.findings) {
      if (!found.violation) continue;
      if (!found.accepted) return &found;
      if (known == nullptr) known = &found;
    }
    return known;
  }

  std::string report() const {
    std::string text;
    // A lone violation says all by itself, and `replay` prints the same.
    const bool known_and_more = summary_.accepted != 0 && !outcome_.whole;
    if (result_.verdict != Verdict::kViolation || summary_.findings + summary_.warnings > 1 || known_and_more) {
      text += verdict_report(summary_);
    }
    for (const ToldFinding& finding : outcome_.findings) text += finding.report;
    return text;
  }

  // A violation is never lost: should its schedule not show it again, it is told without its run.
  Retelling tell(const FoundFinding& found) const {
    try {
      return retell(kernel_, found.schedule, found.finding);
    } catch (const InputError& error) {
      fmt::print(stderr, "warpcheck: {}: {}\n", headline(found.finding), error.what());
      return {bare_recording(kernel_, found.finding), {}};
    }
  }

  void write_finding(const FoundFinding& found, ToldFinding& told, std::vector<std::string>& taken) {
    const Retelling retelling = tell(found);
    const Recording& recording = retelling.recording;
    Counterexample c;
    c.request = kernel_.request;
    c.kernel = summary_.kernel;
    c.launch_hash = kernel_.launch_hash;
    c.ptx_hash = kernel_.ptx_hash;
    c.finding = found.finding;
    c.strict_run = options_.strict;
    c.violation = is_violation(found.finding);
    c.execution = found.execution;
    c.executions = result_.executions;
    c.max_executions = options_.max_executions;
    c.max_steps = options_.max_steps;
    c.max_seconds = options_.max_seconds;
    c.schedule = found.schedule;
    c.names = retelling.names;
    told.files = write_pair(c, recording, taken);
    told.why = explanation(recording, make_slice(recording));
    told.report = finding_report(recording, kernel_.sources,
                                 {found.execution, result_.executions, told.violation,
                                  told.files.counterexample, told.files.graph, told.accepted});
  }

  // The counterexample and its picture. A verdict outlives a full disk: what cannot be written is said and left out.
  Files write_pair(const Counterexample& c, const Recording& recording, std::vector<std::string>& taken) const {
    Files files;
    try {
      files.counterexample = write_counterexample(c, options_.out, taken);
      const std::string graph = fs::path(files.counterexample).replace_extension(".svg").string();
      write_graph(recording, kernel_.sources, graph);
      files.graph = graph;
    } catch (const InputError& error) {
      fmt::print(stderr, "warpcheck: {}\n", error.what());
    }
    return files;
  }

  Kernel kernel_;
  const CheckOptions& options_;
  ExploreResult result_;
  RunSummary summary_;
  LaunchOutcome outcome_;  // its findings are those of result_, one to one
};

// What the exit code rests on: violations that no baseline accepts, then whether anything was left out.
Verdict judged(const LaunchOutcome& outcome) {
  if (outcome.violated()) return Verdict::kViolation;
  return outcome.whole ? Verdict::kVerified : Verdict::kIncomplete;
}

void make_folder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!fs::is_directory(folder) || access(folder.c_str(), W_OK) != 0) {
    throw InputError(folder, 0, "cannot be written to, expected a folder for counterexamples (--out)");
  }
}

void write_team_files(const CheckOptions& options, const Baseline& known, const std::vector<LaunchOutcome>& outcomes) {
  if (!options.junit.empty()) write_text_file(options.junit, junit_xml(outcomes));
  if (!options.sarif.empty()) write_text_file(options.sarif, sarif_text(outcomes, fs::current_path().string()));
  for (const std::string& line : known.stale()) fmt::print(stderr, "warpcheck: {}: {}\n", options.baseline, line);
  if (!options.write_baseline.empty()) write_text_file(options.write_baseline, known.text(outcomes));
}

int exit_code(Verdict verdict) {
  switch (verdict) {
    case Verdict::kVerified: return kExitVerified;
    case Verdict::kViolation: return kExitViolation;
    case Verdict::kIncomplete: return kExitIncomplete;
  }
  return kExitIncomplete;
}

}  // namespace

int check(const CheckOptions& options) {
  if (options.out != ".") make_folder(options.out);
  std::vector<Kernel> kernels;
  for (const Request& request : requests(options)) kernels.push_back(load_kernel(request));
  Baseline known = options.baseline.empty() ? Baseline() : Baseline::read(options.baseline);
  for (const std::string& path : {options.junit, options.sarif}) {
    if (!path.empty()) write_text_file(path, "");  // better told now than after a long search
  }
  const std::atomic<bool>& interrupted = watch_for_interrupts();

  const bool several = kernels.size() > 1;
  std::vector<std::string> taken;
  auto results = nlohmann::ordered_json::array();
  std::vector<LaunchOutcome> outcomes;
  for (Kernel& kernel : kernels) {
    Checked checked(std::move(kernel), options, interrupted);
    checked.accept_known(known);
    checked.write_files(taken);
    outcomes.push_back(checked.outcome());
    if (options.json) {
      results.push_back(checked.json());
    } else {
      fmt::print("{}", several ? checked.line() : outcomes.back().report);
      std::fflush(stdout);
    }
  }
  write_team_files(options, known, outcomes);
  size_t counts[3] = {};
  for (const LaunchOutcome& outcome : outcomes) ++counts[static_cast<size_t>(judged(outcome))];
  const auto count = [&](Verdict verdict) { return counts[static_cast<size_t>(verdict)]; };
  if (options.json) {
    const auto replace = nlohmann::ordered_json::error_handler_t::replace;
    fmt::print("{}\n", (several ? results : results[0]).dump(2, ' ', false, replace));
  } else if (several) {
    const auto known_only = static_cast<size_t>(std::count_if(outcomes.begin(), outcomes.end(), [](const auto& o) {
      return judged(o) == Verdict::kVerified && o.summary.accepted != 0;
    }));
    fmt::print("{} launches: {} verified, {} in violation, {} incomplete{}\n", kernels.size(),
               count(Verdict::kVerified) - known_only, count(Verdict::kViolation), count(Verdict::kIncomplete),
               known_only == 0 ? "" : fmt::format(", {} with accepted violations alone", known_only));
  }
  if (count(Verdict::kViolation) != 0) return exit_code(Verdict::kViolation);
  return exit_code(count(Verdict::kIncomplete) != 0 ? Verdict::kIncomplete : Verdict::kVerified);
}

}  // namespace warpcheck::cli
