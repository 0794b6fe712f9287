#include "tests/oracle/compare.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace warpcheck::oracle {

namespace {

// One trace: for each agent, by key, its operations with their clocks.
using Trace = std::vector<uint32_t>;

struct Explored {
  std::map<Trace, uint64_t> traces;  // with the fingerprint of the final state
  std::set<std::string> findings;
  std::set<std::string> first_races;  // error-level, with no other before
  bool ambiguous = false;             // one trace, two final states
  bool inexact = false;               // bytes completed in a phase that did not expect them: counts are not promised
  uint64_t repeated = 0;              // traces met again
  ExploreResult result;
  bool violation = false, strict_violation = false;
  bool cut = false;
};

// As far as findings are told apart: not by agent.
std::string digest(const Kernel& kernel, const Finding& finding) {
  std::vector<std::string> sites;
  for (const FindingSite& at : finding.sites) {
    sites.push_back(at.role + " " + std::to_string(kernel.site(at.site).at.line));
  }
  std::sort(sites.begin(), sites.end());
  std::string text = std::string(name(finding.kind)) + (finding.strict ? " strict " : " ") + name(finding.cause) + " " +
                     finding.object;
  for (const std::string& site : sites) text += ", " + site;
  return text;
}

Trace trace_of(const ExecutionView& view) {
  std::vector<std::pair<std::tuple<uint32_t, uint32_t, uint32_t>, AgentId>> agents;
  for (const AgentId agent : view.machine.agents()) {
    const AgentKey key = view.machine.key(agent);
    agents.push_back({{key.thread, key.ordinal, key.block}, agent});
  }
  std::sort(agents.begin(), agents.end());
  Trace trace;
  for (const auto& [key, agent] : agents) {
    trace.insert(trace.end(), {0xffffffffU, std::get<0>(key), std::get<1>(key), std::get<2>(key)});
    for (size_t i = 0; i < view.events.size(); ++i) {
      const Event& event = view.events[i];
      if (event.agent != agent) continue;
      trace.push_back(static_cast<uint32_t>(event.op.kind) << 16 | event.choice);
      for (const auto& other : agents) trace.push_back(view.past(i, other.second));
    }
  }
  return trace;
}

Explored explored(const DataKernel& data, Reduction reduction, uint64_t max_executions, bool plain_steps = false,
                  bool keep_traces = true) {
  const Kernel kernel = build(data, plain_steps);
  Explored explored;
  ExploreOptions options{.reduction = reduction, .keep_going = true, .max_executions = max_executions};
  options.on_execution = [&](const ExecutionView& view) {
    if (view.blocked) return;
    for (const Finding& finding : view.machine.findings()) {
      explored.strict_violation = true;
      if (finding.strict) continue;
      explored.violation = true;
      if (finding.kind == FindingKind::kRace && !finding.after_race)
        explored.first_races.insert(digest(kernel, finding));
    }
    for (const Event& event : view.events) explored.inexact = explored.inexact || event.in_order;
    if (!keep_traces) return;
    const uint64_t fingerprint = view.machine.fingerprint();
    const auto [known, added] = explored.traces.try_emplace(trace_of(view), fingerprint);
    if (added) return;
    ++explored.repeated;
    if (known->second != fingerprint) explored.ambiguous = true;
  };
  explored.result = explore(kernel, options);
  for (const FoundFinding& found : explored.result.findings) explored.findings.insert(digest(kernel, found.finding));
  explored.cut = !explored.result.complete;
  return explored;
}

std::string list(const std::set<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += "\n      " + item;
  return text;
}

// What a reduction has to answer for against full enumeration.
std::string disagreement(const Explored& none, const Explored& reduced) {
  if (none.result.verdict != reduced.result.verdict) return "verdict";
  if (none.violation != reduced.violation || none.strict_violation != reduced.strict_violation) return "violation";
  for (const std::string& race : reduced.first_races) {
    if (!none.first_races.contains(race)) return "a first race that enumeration does not show: " + race;
  }
  if (!none.first_races.empty()) return reduced.first_races.empty() ? "no first race" : "";
  if (none.findings != reduced.findings) {
    return "findings:" + list(none.findings) + "\n    against" + list(reduced.findings);
  }
  if (none.inexact) return "";
  if (reduced.repeated > 0) return std::to_string(reduced.repeated) + " traces explored again";
  if (none.traces.size() != reduced.traces.size()) {
    return std::to_string(reduced.traces.size()) + " traces instead of " + std::to_string(none.traces.size());
  }
  if (reduced.result.executions != reduced.traces.size()) return "the count of executions";
  for (const auto& [trace, fingerprint] : none.traces) {
    const auto other = reduced.traces.find(trace);
    if (other == reduced.traces.end()) return "a trace is missing and another invented";
    if (other->second != fingerprint) return "final states of a trace";
  }
  return "";
}

}  // namespace

Comparison compare_reductions(const DataKernel& data, uint64_t max_interleavings) {
  Comparison comparison;
  const Explored none = explored(data, Reduction::kNone, max_interleavings);
  comparison.interleavings = none.result.executions;
  comparison.traces = none.traces.size();
  comparison.raced = !none.first_races.empty();
  comparison.skipped = none.cut;
  if (none.cut) return comparison;
  if (none.ambiguous && !comparison.raced) comparison.complaint = "none: one trace with different final states";
  for (const Reduction reduction : {Reduction::kOptimal, Reduction::kSource, Reduction::kSleep}) {
    if (!comparison.complaint.empty()) break;
    const Explored reduced = explored(data, reduction, 0);
    comparison.complaint = disagreement(none, reduced);
    if (comparison.complaint.empty() && reduction == Reduction::kOptimal && reduced.result.blocked > 0 &&
        !none.inexact && !comparison.raced) {
      comparison.complaint = std::to_string(reduced.result.blocked) + " blocked runs";
    }
    if (!comparison.complaint.empty())
      comparison.complaint = std::string(name(reduction)) + ": " + comparison.complaint;
  }
  return comparison;
}

Comparison compare_plain_steps(const DataKernel& data, uint64_t max_executions) {
  Comparison comparison;
  const Explored steps = explored(data, Reduction::kOptimal, max_executions, true, false);
  comparison.interleavings = steps.result.executions;
  comparison.raced = !steps.first_races.empty();
  comparison.skipped = steps.cut;
  if (steps.cut) return comparison;
  const Explored normal = explored(data, Reduction::kOptimal, 0, false, false);
  comparison.traces = normal.result.executions;
  if (steps.violation != normal.violation) {
    comparison.complaint =
        std::string("default reading: plain steps say ") + (steps.violation ? "violation" : "verified");
  } else if (steps.strict_violation != normal.strict_violation) {
    comparison.complaint =
        std::string("strict reading: plain steps say ") + (steps.strict_violation ? "violation" : "verified");
  }
  return comparison;
}

DataKernel shrink(DataKernel kernel, Comparison (*compare)(const DataKernel&, uint64_t), uint64_t bound) {
  const auto fails = [&](const DataKernel& smaller) {
    const Comparison comparison = compare(smaller, bound);
    return !comparison.skipped && !comparison.complaint.empty();
  };
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (size_t i = 0; i < kernel.threads.size() && !smaller; ++i) {
      for (size_t j = 0; j < kernel.threads[i].size() && !smaller; ++j) {
        DataKernel candidate = kernel;
        candidate.threads[i].erase(candidate.threads[i].begin() + static_cast<std::ptrdiff_t>(j));
        if (candidate.threads[i].empty())
          candidate.threads.erase(candidate.threads.begin() + static_cast<std::ptrdiff_t>(i));
        if (candidate.threads.empty() || !fails(candidate)) continue;
        kernel = std::move(candidate);
        smaller = true;
      }
    }
  }
  return kernel;
}

}  // namespace warpcheck::oracle
