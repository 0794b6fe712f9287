#include "visualize/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "visualize/slice.h"

namespace warpcheck {
namespace {

constexpr size_t kMaxCell = 48;
constexpr size_t kMaxName = 28;

const Site& site_of(const Recording& recording, SiteId id) {
  static const Site kUnknown;
  return id != kNoSite && index(id) < recording.sites.size() ? recording.sites[index(id)] : kUnknown;
}

std::string agent_name(const Recording& recording, AgentId id) {
  return id != kNoAgent && index(id) < recording.agents.size() ? recording.agents[index(id)] : "";
}

size_t width(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string padded(const std::string& text, size_t columns) {
  return text + std::string(columns - std::min(columns, width(text)), ' ');
}

std::string without_trailing_spaces(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

// The table of events: a row an event, a column an agent.
class Timeline {
 public:
  Timeline(const Recording& recording, const Slice& slice) : recording_(recording), slice_(slice) {
    names_ = column_names(recording_, slice_);
    for (const std::string& name : names_) {
      headers_.push_back(shortened(name, kMaxName));
      widths_.push_back(width(headers_.back()));
    }
    for (const size_t event : slice_.events) {
      const bool marked = std::find(slice_.marked.begin(), slice_.marked.end(), event) != slice_.marked.end();
      add(fmt::format("{}", event + 1), recording_.events[event].agent,
          short_instructions(event_words(recording_, slice_, event, name_of(recording_.events[event].agent))), marked);
    }
    for (const Slice::Waiter& waiter : slice_.waiters) {
      const FindingSite& site = recording_.finding.sites[waiter.site];
      const std::string at = place(site_of(recording_, site.site));
      add("", waiter.agent, at.empty() ? "waits" : "waits at " + at, true);
    }
  }

  std::string text() const {
    if (rows_.empty()) return "";
    std::string result = line("", headers_);
    for (const Row& row : rows_) {
      std::vector<std::string> cells(headers_.size());
      cells[row.column] = row.text;
      result += line(row.number, cells);
    }
    return result;
  }

 private:
  struct Row {
    std::string number;
    size_t column;
    std::string text;
  };

  void add(std::string number, AgentId agent, const std::string& text, bool marked) {
    const auto at = std::find(slice_.columns.begin(), slice_.columns.end(), agent) - slice_.columns.begin();
    const auto column = static_cast<size_t>(at);
    const std::string cell = shortened(text, kMaxCell) + (marked ? "  !" : "");
    widths_[column] = std::max(widths_[column], width(cell));
    rows_.push_back({std::move(number), column, cell});
  }

  std::string name_of(AgentId agent) const {
    const auto at = std::find(slice_.columns.begin(), slice_.columns.end(), agent) - slice_.columns.begin();
    return names_[static_cast<size_t>(at)];
  }

  std::string line(const std::string& number, const std::vector<std::string>& cells) const {
    std::string result = fmt::format("  {:>4}  ", number);
    for (size_t i = 0; i < cells.size(); ++i) result += (i == 0 ? "" : " | ") + padded(cells[i], widths_[i]);
    return without_trailing_spaces(result);
  }

  const Recording& recording_;
  const Slice& slice_;
  std::vector<std::string> names_, headers_;  // of columns; headers are cut to kMaxName
  std::vector<size_t> widths_;
  std::vector<Row> rows_;
};

// "(1) async write    copy 3 of warp 0    ring.cu:41   cp.async.bulk", each with the text of its source line.
std::string site_lines(const Recording& recording, const Sources& sources) {
  size_t role = 0, agent = 0, where = 0;
  const auto& sites = recording.finding.sites;
  for (const FindingSite& site : sites) {
    role = std::max(role, width(site.role));
    agent = std::max(agent, width(site.agent));
    where = std::max(where, width(place(site_of(recording, site.site))));
  }
  std::string result;
  for (size_t i = 0; i < sites.size(); ++i) {
    const Site& site = site_of(recording, sites[i].site);
    result += without_trailing_spaces(fmt::format("  ({}) {}   {}   {}   {}", i + 1, padded(sites[i].role, role),
                                                  padded(sites[i].agent, agent), padded(place(site), where),
                                                  short_instruction(site.instruction)));
    const std::string text = sources.text(best_line(site));
    if (!text.empty()) result += fmt::format("        {}\n", text);
    if (!site.inlined_at.empty()) result += fmt::format("        {}\n", inlining(site));
  }
  return result;
}

std::string quoted(const Recording& recording, size_t event) {
  const RecordedEvent& e = recording.events[event];
  const std::string at = place(site_of(recording, e.site));
  return fmt::format("`{}` of {}{}", short_instructions(e.text), agent_name(recording, e.agent), at.empty() ? "" : " (" + at + ")");
}

// A pair that is connected, and still not ordered: the way orders nothing, or other lanes than these.
std::string other_lanes(const Recording& recording, const Slice& slice) {
  const size_t earlier = slice.marked[0] < slice.marked[1] ? 0 : 1, later = 1 - earlier;
  const auto& sites = recording.finding.sites;
  const auto lanes_differ = [&](size_t event, size_t site) {
    const RecordedEvent& e = recording.events[event];
    return e.agent == sites[site].id && !e.lanes.empty() && !sites[site].agent.ends_with(" " + e.lanes);
  };
  if (slice.relaxed != Slice::kNone) {
    return fmt::format("({}) comes after {} was seen, which is relaxed and follows no fence, so that it releases nothing",
                       later + 1, quoted(recording, slice.relaxed));
  }
  if (slice.way_out == Slice::kNone) return "they are by different lanes of one warp, and no barrier or __syncwarp lies between";
  if (lanes_differ(slice.way_out, earlier)) {
    return fmt::format("{} is by {} alone, and no barrier or __syncwarp orders ({}) of {} before it",
                       quoted(recording, slice.way_out), recording.events[slice.way_out].lanes, earlier + 1,
                       sites[earlier].agent);
  }
  if (lanes_differ(slice.way_in, later)) {
    return fmt::format("{} is by {} alone, and no barrier or __syncwarp orders ({}) of {} after it",
                       quoted(recording, slice.way_in), recording.events[slice.way_in].lanes, later + 1,
                       sites[later].agent);
  }
  return "what leads from one to the other orders other lanes than these";
}

std::string no_synchronization(const Recording& recording, const Slice& slice) {
  constexpr size_t kNone = Slice::kNone;
  if (slice.connected || slice.relaxed != kNone) return other_lanes(recording, slice);
  if (slice.last_seen.size() != 2 || (slice.last_seen[0] == kNone && slice.last_seen[1] == kNone)) {
    return "no synchronization leads from one to the other";
  }
  const bool second = slice.last_seen[0] == kNone ||
                      (slice.last_seen[1] != kNone && slice.last_seen[1] > slice.last_seen[0]);
  return fmt::format("({}) is ordered after {}, but ({}) comes later than that", second ? 1 : 2,
                     quoted(recording, slice.last_seen[second ? 1 : 0]), second ? 2 : 1);
}

// When the asynchronous operation behind a site first acts; kNone for a thread.
size_t first_act(const Recording& recording, const FindingSite& site) {
  for (size_t i = 0; i < recording.events.size(); ++i) {
    const RecordedEvent& event = recording.events[i];
    if (event.agent == site.id) return event.born_by == kNoAgent ? Slice::kNone : i;
  }
  return site.role.find("async") != std::string::npos ? recording.events.size() : Slice::kNone;
}

// The sites of a pair as "(1)" and "(2)": the asynchronous operation's, of two the one that acts first, and the other.
std::pair<std::string, std::string> asynchronous_first(const Recording& recording) {
  const auto& sites = recording.finding.sites;
  if (sites.size() != 2) return {"the asynchronous operation", "the other"};
  const bool second = first_act(recording, sites[1]) < first_act(recording, sites[0]);
  return second ? std::pair{"(2)", "(1)"} : std::pair{"(1)", "(2)"};
}

std::string counted(uint64_t count, const std::string& noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string list(const std::vector<std::string>& items) {
  std::string result;
  for (const std::string& item : items) result += (result.empty() ? "" : "; ") + item;
  return result;
}

// "KNOWN": a baseline accepts all that was found. A search that left something out is never better than "????".
const char* mark_of(const RunSummary& summary) {
  if (summary.verdict == "verified") return "OK";
  if (summary.verdict != "violation") return "????";
  if (summary.accepted != summary.findings) return "FAIL";
  return summary.bounds_hit.empty() && summary.unsupported.empty() ? "KNOWN" : "????";
}

}  // namespace

std::string headline(const Finding& finding) {
  return finding.object.empty() ? name(finding.kind) : fmt::format("{} on {}{}", name(finding.kind), finding.object, finding.range);
}

std::string explanation(const Recording& recording, const Slice& slice) {
  const Finding& finding = recording.finding;
  const auto [asynchronous, other] = asynchronous_first(recording);
  switch (finding.cause) {
    case Cause::kNone:
      return finding.message;
    case Cause::kAwaitedByAnother:
      return fmt::format("not ordered: another thread waited for {}; a group wait orders only the thread that makes it",
                         asynchronous);
    case Cause::kOnlyReadSide:
      return fmt::format("not ordered: only the read side of {} was awaited (.read), not its write", asynchronous);
    case Cause::kNotPipelined:
      return "not ordered: these two tensor-core operations are not pipelined with each other, and neither was awaited";
    case Cause::kNotAwaited:
      return fmt::format("not ordered: nobody observed the completion of {} before {}", asynchronous, other);
    case Cause::kScope:
      if (finding.strict) return "not ordered: what was seen of the other was read by a relaxed access that no acquire fence follows";
      return "not ordered: they are synchronized, but at a scope too narrow for both threads";
    case Cause::kProxyFence:
      return "not ordered: they are synchronized, but no proxy fence (fence.proxy.async) lies between the generic and the "
             "async access";
    case Cause::kNoSynchronization:
      return "not ordered: " + no_synchronization(recording, slice);
  }
  return finding.message;
}

std::vector<std::string> clauses(const std::string& sentence) {
  std::vector<std::string> result;
  for (size_t begin = 0; begin < sentence.size();) {
    const size_t end = std::min(sentence.find("; ", begin), sentence.size());
    result.push_back(sentence.substr(begin, end - begin));
    begin = end + 2;
  }
  return result;
}

std::string finding_report(const Recording& recording, const Sources& sources, const FindingContext& context) {
  const Finding& finding = recording.finding;
  const Slice slice = make_slice(recording);
  std::string title = headline(finding);
  if (finding.strict) title += " (strict reading only)";
  if (finding.after_race) title += " (after an earlier race)";
  std::string result = fmt::format("{}  {}    execution {} of {}, {} of {} events shown\n",
                                   context.accepted ? "KNOWN" : context.violation ? "FAIL" : "WARN", padded(title, 40), context.execution,
                                   context.executions, slice.events.size(), recording.events.size());
  result += site_lines(recording, sources);
  const std::string why = explanation(recording, slice);
  for (const std::string& clause : clauses(why)) result += fmt::format("  {}\n", clause);
  if (finding.cause != Cause::kNone) result += fmt::format("  cause: {}\n", name(finding.cause));
  result += Timeline(recording, slice).text();
  if (!context.counterexample.empty()) {
    result += fmt::format("  replay: warpcheck replay {}{}\n", context.counterexample,
                          context.graph.empty() ? "" : "        graph: " + context.graph);
  }
  return result;
}

std::string verdict_report(const RunSummary& summary) {
  const char* mark = mark_of(summary);
  std::string result = fmt::format("{:4}  {} {}: {}, reading {}, memory sc, reduction {}\n", mark, summary.verdict,
                                   summary.kernel, counted(summary.executions, "execution"), summary.reading,
                                   summary.reduction);
  if (summary.verdict == "violation") {
    result += fmt::format("      {}{}\n", counted(summary.findings, "violation"),
                          summary.accepted == 0 ? "" : fmt::format(", {} accepted by the baseline", summary.accepted));
  }
  if (summary.of != 0) {
    result += fmt::format("      {} of {} memory and barrier instructions ran", summary.ran, summary.of);
    if (!summary.not_reached.empty()) result += "; not reached: " + line_ranges(summary.not_reached);
    result += '\n';
  }
  if (!summary.bounds_hit.empty()) result += fmt::format("      ended by: {}\n", list(summary.bounds_hit));
  for (const std::string& what : summary.unsupported) result += fmt::format("      {}\n", what);
  for (const std::string& what : summary.merged) result += fmt::format("      merged: {}\n", what);
  for (const std::string& what : summary.assumptions) result += fmt::format("      assumes: {}\n", what);
  if (summary.warnings != 0) {
    result += fmt::format("      {} by the strict reading alone\n", counted(summary.warnings, "warning"));
  }
  return result;
}

std::string verdict_line(const std::string& launch, const RunSummary& summary, const Finding* first) {
  const char* mark = mark_of(summary);
  std::string result = fmt::format("{:4}  {}: ", mark, launch);
  if (first != nullptr && summary.verdict == "violation") {
    result += headline(*first);
    if (first->cause != Cause::kNone) result += fmt::format(" ({})", name(first->cause));
    if (summary.accepted != 0) {
      result += summary.accepted == summary.findings ? ", accepted" : fmt::format(", {} accepted", summary.accepted);
    }
    if (summary.findings > 1) result += fmt::format(" and {} more", summary.findings - 1);
  } else {
    result += summary.verdict;
    if (!summary.bounds_hit.empty()) result += fmt::format(" ({})", list(summary.bounds_hit));
    if (!summary.unsupported.empty()) result += fmt::format(" (not supported: {})", list(summary.unsupported));
  }
  return result + fmt::format(", {}\n", counted(summary.executions, "execution"));
}

}  // namespace warpcheck
