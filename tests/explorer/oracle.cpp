#include "tests/explorer/oracle.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <tuple>

#include "explorer/remaining.h"

namespace warpcheck::toy {

namespace {

// A trace, whatever the machine that ran it: for each agent its events, and for each event its causal past.
using Clock = std::vector<std::tuple<uint32_t, uint32_t, uint32_t>>;  // thread, ordinal of the agent, number of events
using EventKey = std::tuple<OpKind, uint32_t, uint64_t, uint16_t, Clock>;
using TraceKey = std::map<std::pair<uint32_t, uint32_t>, std::vector<EventKey>>;

struct Seen {
  uint64_t executions = 0;
  uint64_t fingerprint = 0;
  double linearizations = 0;
  std::vector<std::string> order;  // of one execution
};

struct Explored {
  std::map<TraceKey, Seen> traces;
  ExploreResult result;
  std::string error;
};

TraceKey key_of(const ExecutionView& view) {
  TraceKey key;
  for (size_t i = 0; i < view.events.size(); ++i) {
    const Event& event = view.events[i];
    Clock clock;
    for (AgentId agent : view.machine.agents()) {
      const AgentKey k = view.machine.key(agent);
      if (const uint32_t past = view.past(i, agent); past != 0) clock.emplace_back(k.thread, k.ordinal, past);
    }
    std::sort(clock.begin(), clock.end());
    const AgentKey k = view.machine.key(event.agent);
    key[{k.thread, k.ordinal}].emplace_back(event.op.kind, index(event.op.object), event.op.operand, event.choice, clock);
  }
  return key;
}

std::vector<std::string> order_of(const ExecutionView& view) {
  std::vector<std::string> order;
  for (const Event& event : view.events) {
    order.push_back(fmt::format("{} {} choice {}{}{}{}", view.machine.name(event.agent), to_string(event.op), event.choice,
                                event.completes ? " completes" : "", event.closes ? " closes" : "",
                                event.effect == Effect::kStep || event.effect == Effect::kWait
                                    ? fmt::format(" phase {}", event.phase)
                                    : ""));
  }
  return order;
}

// The number of orders that respect happens-before, counted over the sets of events that may have happened.
double linearizations_of(const ExecutionView& view) {
  const size_t n = view.events.size();
  if (n > 20) return 0;
  std::vector<uint32_t> before(n, 0);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (view.past(i, view.events[j].agent) > view.events[j].ordinal) before[i] |= uint32_t{1} << j;
    }
  }
  std::map<uint32_t, double> level = {{0, 1.0}};
  for (size_t k = 0; k < n; ++k) {
    std::map<uint32_t, double> next;
    for (const auto& [done, count] : level) {
      for (size_t i = 0; i < n; ++i) {
        if ((done >> i & 1) == 0 && (before[i] & ~done) == 0) next[done | uint32_t{1} << i] += count;
      }
    }
    level.swap(next);
  }
  return level.begin()->second;
}

// How a search is cut into tasks.
enum class Cut : uint8_t { kNot, kForWorkers, kAlways, kInterrupted, kSplit };

// Interrupted after one, two, three, ... executions, and resumed from what remained.
ExploreResult explore_in_slices(const ToyProgram& program, ExploreOptions options) {
  std::atomic<bool> interrupt{false};
  uint64_t executions = 0, slice = 1;
  const auto see = options.on_execution;
  options.on_execution = [&](const ExecutionView& view) {
    see(view);
    interrupt = ++executions >= slice;
  };
  options.interrupt = &interrupt;
  ExploreResult result = explore(program, options);
  while (result.remaining != nullptr) {
    const ExploreResult from = std::move(result);
    options.from = &from;
    interrupt = false;
    executions = 0;
    slice = slice % 5 + 1;
    result = explore(program, options);
  }
  return result;
}

// In parts that know nothing of each other, the last first, and what they report.
ExploreResult explore_in_parts(const ToyProgram& program, ExploreOptions options) {
  options.split_into = 5;
  ExploreResult whole = explore(program, options);
  options.split_into = 0;
  if (whole.remaining == nullptr) return whole;
  Remaining rest = *whole.remaining;
  for (auto part = rest.parts.rbegin(); part != rest.parts.rend(); ++part) {
    ExploreResult from;
    from.remaining = std::make_shared<Remaining>(Remaining{rest.states, {*part}, {}});
    options.from = &from;
    options.part = true;
    const ExploreResult result = explore(program, options);
    add_totals(whole, result);
    if (result.remaining == nullptr) continue;
    rest.reports.insert(rest.reports.end(), result.remaining->reports.begin(), result.remaining->reports.end());
  }
  rest.parts.clear();
  whole.remaining = std::make_shared<Remaining>(rest);
  options.from = &whole;
  options.part = false;
  return explore(program, options);
}

Explored run(const ToyProgram& program, Reduction reduction, unsigned workers, Cut cut, uint64_t max_executions) {
  Explored explored;
  const auto see = [&](const ExecutionView& view) {
    if (view.blocked) return;
    Seen& seen = explored.traces[key_of(view)];
    const uint64_t fingerprint = view.machine.fingerprint();
    if (seen.executions++ == 0) {
      seen.fingerprint = fingerprint;
      if (reduction == Reduction::kNone) seen.linearizations = linearizations_of(view);
      seen.order = order_of(view);
    } else if (seen.fingerprint != fingerprint) {
      explored.error = "equivalent executions end in different states";
    }
  };
  ExploreOptions options{.reduction = reduction,
                         .workers = workers,
                         .keep_going = true,
                         .max_executions = max_executions,
                         .min_task_steps = cut == Cut::kForWorkers || cut == Cut::kSplit ? 0U : 20'000U,
                         .max_tree_nodes = cut == Cut::kAlways ? 0U : 100'000U,
                         .on_execution = see};
  if (cut == Cut::kInterrupted) {
    explored.result = explore_in_slices(program, options);
  } else if (cut == Cut::kSplit) {
    explored.result = explore_in_parts(program, options);
  } else {
    explored.result = explore(program, options);
  }
  return explored;
}

std::string lines(const std::vector<std::string>& order) {
  std::string text;
  for (const std::string& line : order) text += "    " + line + "\n";
  return text;
}

std::string compare_findings(const ExploreResult& all, const ExploreResult& some) {
  if (all.verdict != some.verdict) return "other verdict";
  if (all.findings.size() != some.findings.size()) return "other findings";
  for (size_t i = 0; i < all.findings.size(); ++i) {
    if (!same_finding(all.findings[i].finding, some.findings[i].finding)) return "other findings";
  }
  return "";
}

std::string compare(const Explored& all, const Explored& some) {
  if (!some.error.empty()) return some.error;
  for (const auto& [key, seen] : some.traces) {
    const auto known = all.traces.find(key);
    if (known == all.traces.end()) return "a trace that does not exist:\n" + lines(seen.order);
    if (seen.executions > 1) return fmt::format("a trace seen {} times:\n", seen.executions) + lines(seen.order);
    if (known->second.fingerprint != seen.fingerprint) return "another final state:\n" + lines(seen.order);
  }
  for (const auto& [key, seen] : all.traces) {
    if (!some.traces.contains(key)) {
      return fmt::format("a trace was missed ({} of {} seen):\n", some.traces.size(), all.traces.size()) +
             lines(seen.order);
    }
  }
  return compare_findings(all.result, some.result);
}

std::string broken_law(const Explored& all) {
  for (const auto& [key, seen] : all.traces) {
    if (seen.linearizations != 0 && seen.linearizations != static_cast<double>(seen.executions)) {
      return fmt::format("dependence is no trace relation: {} executions of a trace with {} linearizations:\n",
                         seen.executions, seen.linearizations) +
             lines(seen.order);
    }
  }
  return "";
}

}  // namespace

std::optional<std::string> disagreement(const RandomProgram& random, const OracleOptions& options,
                                        OracleStatistics* statistics) {
  OracleStatistics ignored;
  OracleStatistics& s = statistics == nullptr ? ignored : *statistics;
  const ToyProgram program = random.program();
  const Explored all = run(program, Reduction::kNone, 1, Cut::kNot, options.max_executions);
  ++s.programs;
  if (!all.result.complete) {
    ++s.skipped;
    return std::nullopt;
  }
  s.executions += all.result.executions;
  s.traces += all.traces.size();
  if (!all.error.empty()) return "none: " + all.error;
  if (options.laws) {
    if (const std::string text = broken_law(all); !text.empty()) return "none: " + text;
  }
  struct Case {
    Reduction reduction;
    unsigned workers;
    Cut cut;
    uint64_t* blocked;
  };
  for (const Case& c : {Case{Reduction::kOptimal, 1, Cut::kNot, nullptr},
                        Case{Reduction::kSource, 1, Cut::kNot, &s.source_blocked},
                        Case{Reduction::kSleep, 1, Cut::kNot, &s.sleep_blocked},
                        Case{Reduction::kOptimal, 1, Cut::kAlways, &s.tasks_blocked},
                        Case{Reduction::kOptimal, options.workers, Cut::kForWorkers, &s.workers_blocked},
                        Case{Reduction::kSource, options.workers, Cut::kForWorkers, &s.source_blocked},
                        Case{Reduction::kSleep, 1, Cut::kAlways, &s.sleep_blocked},
                        Case{Reduction::kOptimal, 1, Cut::kInterrupted, nullptr},
                        Case{Reduction::kOptimal, options.workers, Cut::kInterrupted, &s.workers_blocked},
                        Case{Reduction::kOptimal, 1, Cut::kSplit, &s.tasks_blocked},
                        Case{Reduction::kNone, 1, Cut::kInterrupted, nullptr}}) {
    if (c.reduction == Reduction::kNone && all.result.executions > 200) continue;
    const Explored some = run(program, c.reduction, c.workers, c.cut, 0);
    if (c.reduction == Reduction::kNone) {
      if (some.result.executions == all.result.executions && some.result.complete) continue;
      return "none, interrupted: other executions";
    }
    std::string text = compare(all, some);
    if (c.blocked != nullptr) *c.blocked += some.result.blocked;
    if (text.empty() && c.blocked == nullptr && some.result.blocked != 0) {
      text = fmt::format("{} executions ended in a sleep set", some.result.blocked);
    }
    if (!text.empty()) return fmt::format("{}, {} workers, cut {}: {}", name(c.reduction), c.workers, static_cast<int>(c.cut), text);
  }
  return std::nullopt;
}

RandomProgram shrink(RandomProgram program, const OracleOptions& options) {
  for (bool progress = true; progress;) {
    progress = false;
    for (const RandomProgram& candidate : smaller(program)) {
      if (!disagreement(candidate, options)) continue;
      program = candidate;
      progress = true;
      break;
    }
  }
  return program;
}

}  // namespace warpcheck::toy
