#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "frontends/cli/commands.h"
#include "frontends/cli/counterexample.h"
#include "frontends/cli/interrupt.h"
#include "frontends/cli/progress.h"
#include "frontends/cli/result_json.h"
#include "frontends/cli/retell.h"
#include "visualize/graph.h"
#include "visualize/report.h"

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
  explore.keep_going = options.keep_going;
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
  }

  void write_files(std::vector<std::string>& taken) {
    for (const FoundFinding& found : result_.findings) {
      files_.emplace_back();
      reports_.emplace_back();
      if (!makes_incomplete(found.finding.kind)) write_finding(found, taken);
    }
  }

  std::string report() const {
    std::string text;
    // A lone violation says all by itself, and `replay` prints the same.
    if (result_.verdict != Verdict::kViolation || summary_.findings + summary_.warnings > 1) {
      text += verdict_report(summary_);
    }
    for (const std::string& finding : reports_) text += finding;
    return text;
  }

  std::string line() const {
    std::string text = verdict_line(kernel_.request.launch.empty() ? kernel_.spec.ptx : kernel_.request.launch,
                                    summary_, first_violation());
    for (size_t i = 0; i < files_.size(); ++i) {
      if (is_violation(result_.findings[i].finding)) {
        text.insert(text.size() - 1, fmt::format(", {}", files_[i].counterexample));
        break;
      }
    }
    return text;
  }

  nlohmann::ordered_json json() const { return result_json(kernel_, options_, result_, summary_, files_); }
  Verdict verdict() const { return result_.verdict; }

 private:
  bool is_violation(const Finding& finding) const {
    return !makes_incomplete(finding.kind) && (options_.strict || !finding.strict);
  }

  // Violations, those that an earlier race may have caused, warnings.
  int rank(const Finding& finding) const { return !is_violation(finding) ? 2 : finding.after_race ? 1 : 0; }

  const Finding* first_violation() const {
    for (const FoundFinding& found : result_.findings) {
      if (is_violation(found.finding)) return &found.finding;
    }
    return nullptr;
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

  void write_finding(const FoundFinding& found, std::vector<std::string>& taken) {
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
    const Files& files = files_.back() = write_pair(c, recording, taken);
    reports_.back() = finding_report(recording, kernel_.sources,
                                     {found.execution, result_.executions, c.violation, files.counterexample,
                                      files.graph});
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
  std::vector<Files> files_;          // an entry each of result_.findings
  std::vector<std::string> reports_;  // likewise
};

void make_folder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!fs::is_directory(folder) || access(folder.c_str(), W_OK) != 0) {
    throw InputError(folder, 0, "cannot be written to, expected a folder for counterexamples (--out)");
  }
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
  const std::atomic<bool>& interrupted = watch_for_interrupts();

  const bool several = kernels.size() > 1;
  std::vector<std::string> taken;
  auto results = nlohmann::ordered_json::array();
  size_t counts[3] = {};
  for (Kernel& kernel : kernels) {
    Checked checked(std::move(kernel), options, interrupted);
    checked.write_files(taken);
    ++counts[static_cast<size_t>(checked.verdict())];
    if (options.json) {
      results.push_back(checked.json());
    } else {
      fmt::print("{}", several ? checked.line() : checked.report());
      std::fflush(stdout);
    }
  }
  const auto count = [&](Verdict verdict) { return counts[static_cast<size_t>(verdict)]; };
  if (options.json) {
    const auto replace = nlohmann::ordered_json::error_handler_t::replace;
    fmt::print("{}\n", (several ? results : results[0]).dump(2, ' ', false, replace));
  } else if (several) {
    fmt::print("{} launches: {} verified, {} in violation, {} incomplete\n", kernels.size(), count(Verdict::kVerified),
               count(Verdict::kViolation), count(Verdict::kIncomplete));
  }
  if (count(Verdict::kViolation) != 0) return exit_code(Verdict::kViolation);
  return exit_code(count(Verdict::kIncomplete) != 0 ? Verdict::kIncomplete : Verdict::kVerified);
}

}  // namespace warpcheck::cli
