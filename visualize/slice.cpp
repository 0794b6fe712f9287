#include "visualize/slice.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <tuple>

namespace warpcheck {
namespace {

// The recording's order: each event after its agent's previous one, those that it acquired from, and its issue.
class Order {
 public:
  explicit Order(const Recording& recording) : events_(recording.events), before_(events_.size()) {
    std::map<AgentId, size_t> last;
    for (size_t i = 0; i < events_.size(); ++i) {
      const RecordedEvent& event = events_[i];
      const auto previous = last.find(event.agent);
      if (previous != last.end()) {
        before_[i].push_back({previous->second, i, Kind::kSame});
      } else if (const auto issuer = last.find(event.born_by); event.born_by != kNoAgent && issuer != last.end()) {
        const size_t issue = issue_before(event, issuer->second);
        before_[i].push_back({issue, i, Kind::kBirth});
        issues_[event.agent] = issue;
      }
      for (const uint32_t from : event.after) {
        if (from < i && events_[from].agent != event.agent && from != issue_of(event.agent)) {
          before_[i].push_back({from, i, events_[from].releases ? Kind::kSync : Kind::kSeen});
        }
      }
      last[event.agent] = i;
    }
  }

  // The event by which an asynchronous operation was issued; kNone for a thread.
  size_t issue_of(AgentId agent) const {
    const auto found = issues_.find(agent);
    return found == issues_.end() ? Slice::kNone : found->second;
  }

  enum class Kind : uint8_t { kSame, kBirth, kSync, kSeen };  // kSeen: a relaxed write was seen, which orders nothing
  struct Link {
    size_t from, to;
    Kind kind;
  };

  // All events before `event`, itself included, each with the link by which a shortest way to `event` leaves it. With
  // `seen`, also those that only a relaxed write leads from.
  std::map<size_t, Link> past(size_t event, bool seen = false) const {
    std::map<size_t, Link> found{{event, {event, event, Kind::kSame}}};
    std::deque<size_t> open{event};
    while (!open.empty()) {
      const size_t at = open.front();
      open.pop_front();
      for (const Link& link : before_[at]) {
        if (link.kind == Kind::kSeen && !seen) continue;
        if (found.try_emplace(link.from, link).second) open.push_back(link.from);
      }
    }
    return found;
  }

 private:
  // The issuer's event that bore the operation: the one that its first event is after, else the issuer's latest.
  size_t issue_before(const RecordedEvent& first, size_t latest) const {
    for (const uint32_t from : first.after) {
      if (from <= latest && events_[from].agent == first.born_by) return from;
    }
    return latest;
  }

  const std::vector<RecordedEvent>& events_;
  std::vector<std::vector<Link>> before_;
  std::map<AgentId, size_t> issues_;
};

size_t distance(uint32_t a, uint32_t b) { return a < b ? b - a : a - b; }

// The event that a site of the finding is about.
size_t event_of(const Recording& recording, const FindingSite& place) {
  size_t best = Slice::kNone;
  for (size_t i = 0; i < recording.events.size(); ++i) {
    const RecordedEvent& event = recording.events[i];
    if (event.agent != place.id || event.site != place.site) continue;
    if (best == Slice::kNone ||
        distance(event.step, place.step) <= distance(recording.events[best].step, place.step)) {
      best = i;
    }
  }
  return best;
}

class Slicer {
 public:
  explicit Slicer(const Recording& recording) : recording_(recording), order_(recording) {}

  Slice run() {
    const Finding& finding = recording_.finding;
    for (size_t i = 0; i < finding.sites.size(); ++i) mark(i);
    if (is_pair(finding) && slice_.marked[0] != Slice::kNone && slice_.marked[1] != Slice::kNone) {
      show_pair(slice_.marked[0], slice_.marked[1]);
    } else {
      for (const FindingSite& place : finding.sites) show_latest_of_agent(place, 2);
      for (const size_t event : slice_.marked) show_issue(event);
      show_object();
      if (finding.kind == FindingKind::kLifetime) show_ends_of_owner();
    }
    finish();
    return std::move(slice_);
  }

 private:
  void mark(size_t site) {
    const FindingSite& place = recording_.finding.sites[site];
    const bool waits = recording_.finding.kind == FindingKind::kDeadlock;
    const size_t event = waits ? Slice::kNone : event_of(recording_, place);
    slice_.marked.push_back(event);
    slice_.last_seen.push_back(Slice::kNone);
    if (event != Slice::kNone) {
      shown_.insert(event);
    } else if (waits && place.id != kNoAgent) {
      slice_.waiters.push_back({place.id, site});
    }
  }

  // From the last common points of the past of both, the ways to each.
  void show_pair(size_t a, size_t b) {
    const auto past_a = order_.past(a), past_b = order_.past(b);
    show_issue(a);
    show_issue(b);
    slice_.connected = past_b.contains(a) || past_a.contains(b);
    if (past_b.contains(a)) return show_connection(past_b, a, b);
    if (past_a.contains(b)) return show_connection(past_a, b, a);
    if (const auto seen_by_b = order_.past(b, true); seen_by_b.contains(a)) return show_connection(seen_by_b, a, b);
    if (const auto seen_by_a = order_.past(a, true); seen_by_a.contains(b)) return show_connection(seen_by_a, b, a);
    slice_.last_seen[0] = latest_seen(past_b, a);
    slice_.last_seen[1] = latest_seen(past_a, b);
    const size_t seen_a = slice_.last_seen[0], seen_b = slice_.last_seen[1];
    if (recording_.finding.cause == Cause::kNotAwaited) {
      // What matters is how the other side came to run after the issue.
      if (issued_before(a, seen_a)) show_way(past_b, seen_a, b);
      if (issued_before(b, seen_b)) show_way(past_a, seen_b, a);
    } else if (seen_a != Slice::kNone && (seen_b == Slice::kNone || seen_a > seen_b)) {
      show_way(past_b, seen_a, b);
    } else if (seen_b != Slice::kNone) {
      show_way(past_a, seen_b, a);
    }
  }

  void show_connection(const std::map<size_t, Order::Link>& past, size_t from, size_t to) {
    show_way(past, from, to);
    for (size_t at = from; at != to; at = past.at(at).to) {
      const Order::Link& link = past.at(at);
      if (link.kind == Order::Kind::kSame) continue;
      if (slice_.way_out == Slice::kNone) slice_.way_out = link.from;
      slice_.way_in = link.to;
      if (link.kind == Order::Kind::kSeen && slice_.relaxed == Slice::kNone) slice_.relaxed = link.from;
    }
  }

  void show_issue(size_t event) {
    if (event == Slice::kNone) return;
    const size_t issue = order_.issue_of(recording_.events[event].agent);
    if (issue != Slice::kNone) shown_.insert(issue);
  }

  // Whether `event` belongs to an operation that was issued before `seen`, the last that the other side knows of it.
  bool issued_before(size_t event, size_t seen) const {
    const size_t issue = order_.issue_of(recording_.events[event].agent);
    return issue != Slice::kNone && seen != Slice::kNone && issue <= seen;
  }

  // The last event of `event`'s agent, or of those that issued it, that lies in another event's past.
  size_t latest_seen(const std::map<size_t, Order::Link>& past, size_t event) const {
    AgentId agent = recording_.events[event].agent;
    while (agent != kNoAgent) {
      for (auto at = past.rbegin(); at != past.rend(); ++at) {
        if (at->first < event && recording_.events[at->first].agent == agent) return at->first;
      }
      agent = issuer_of(agent);
    }
    return Slice::kNone;
  }

  AgentId issuer_of(AgentId agent) const {
    const size_t issue = order_.issue_of(agent);
    return issue == Slice::kNone ? kNoAgent : recording_.events[issue].agent;
  }

  // The events on a way where it changes agents, and its ends.
  void show_way(const std::map<size_t, Order::Link>& past, size_t from, size_t to) {
    shown_.insert(from);
    for (size_t at = from; at != to;) {
      const Order::Link& link = past.at(at);
      if (link.kind != Order::Kind::kSame) {
        shown_.insert(link.from);
        shown_.insert(link.to);
      }
      at = link.to;
    }
  }

  void show_latest_of_agent(const FindingSite& place, int count) {
    for (size_t i = recording_.events.size(); i-- > 0 && count > 0;) {
      const RecordedEvent& event = recording_.events[i];
      if (event.agent != place.id || !event.visible || event.step > place.step) continue;
      shown_.insert(i);
      --count;
    }
  }

  // What happened to the object that the finding is about, up to its last place.
  void show_object() {
    size_t count = 0;
    switch (recording_.finding.kind) {
      case FindingKind::kDeadlock: count = 6; break;
      case FindingKind::kBarrierMisuse:
      case FindingKind::kLifetime:
      case FindingKind::kWrongResult:
      case FindingKind::kUninitializedRead: count = 8; break;
      case FindingKind::kRace:
      case FindingKind::kUnawaitedAsync:
      case FindingKind::kRegisterHazard:
      case FindingKind::kOutOfBounds:
      case FindingKind::kMisaligned:
      case FindingKind::kDivergence:
      case FindingKind::kAssertion:
      case FindingKind::kNondeterminism:
      case FindingKind::kLimit:
      case FindingKind::kUnsupported: return;
    }
    size_t end = 0;
    for (const size_t event : slice_.marked) end = std::max(end, event == Slice::kNone ? 0 : event + 1);
    for (size_t i = end == 0 ? recording_.events.size() : end; i-- > 0 && count > 0;) {
      const RecordedEvent& event = recording_.events[i];
      if (event.object.empty() || recording_.finding.object.find(event.object) == std::string::npos) continue;
      shown_.insert(i);
      --count;
    }
  }

  // The last events of the block that owns the memory.
  void show_ends_of_owner() {
    const std::string& object = recording_.finding.object;
    const size_t block = object.rfind(" of block ");
    if (block == std::string::npos) return;
    std::map<AgentId, size_t> last;
    for (size_t i = 0; i < recording_.events.size(); ++i) {
      const AgentId agent = recording_.events[i].agent;
      if (index(agent) < recording_.agents.size() && recording_.agents[index(agent)].ends_with(object.substr(block))) {
        last[agent] = i;
      }
    }
    constexpr size_t kOwners = 2;
    for (const auto& [agent, event] : last) {
      if (last.size() <= kOwners || event == last.rbegin()->second) shown_.insert(event);
    }
  }

  void finish() {
    slice_.events.assign(shown_.begin(), shown_.end());
    std::set<AgentId> begun;
    for (const size_t at : slice_.events) {
      const RecordedEvent& event = recording_.events[at];
      const size_t issue = order_.issue_of(event.agent);
      if (begun.insert(event.agent).second) {
        if (issue != Slice::kNone && shown_.contains(issue)) slice_.edges.push_back({issue, at, true});
      }
      for (const uint32_t from : event.after) {
        if (from != issue && shown_.contains(from) && recording_.events[from].agent != event.agent) {
          slice_.edges.push_back({from, at, false, !recording_.events[from].releases});
        }
      }
      add_column(event.agent);
    }
    for (const Slice::Waiter& waiter : slice_.waiters) add_column(waiter.agent);
    order_columns();
  }

  void add_column(AgentId agent) {
    if (std::find(slice_.columns.begin(), slice_.columns.end(), agent) == slice_.columns.end()) {
      slice_.columns.push_back(agent);
    }
  }

  // Threads as they are numbered, each followed by the operations that it issued.
  void order_columns() {
    // Parts of a warp stand side by side.
    const auto place = [&](AgentId agent) {
      const auto& names = recording_.agents;
      if (index(agent) >= names.size()) return index(agent);
      return static_cast<uint32_t>(std::find(names.begin(), names.end(), names[index(agent)]) - names.begin());
    };
    const auto key = [&](AgentId agent) {
      std::vector<uint32_t> path{place(agent), index(agent)};
      for (AgentId issuer = issuer_of(agent); issuer != kNoAgent && path.size() < 16; issuer = issuer_of(issuer)) {
        path.insert(path.begin(), {place(issuer), index(issuer)});
      }
      return path;
    };
    std::stable_sort(slice_.columns.begin(), slice_.columns.end(),
                     [&](AgentId a, AgentId b) { return key(a) < key(b); });
  }

  const Recording& recording_;
  Order order_;
  Slice slice_;
  std::set<size_t> shown_;
};

}  // namespace

std::vector<std::string> column_names(const Recording& recording, const Slice& slice) {
  std::vector<std::string> names;
  std::map<std::string, int> uses;
  for (const AgentId agent : slice.columns) {
    names.push_back(index(agent) < recording.agents.size() ? recording.agents[index(agent)] : "");
    ++uses[names.back()];
  }
  std::map<std::string, int> longer;
  std::vector<std::string> parts = names;
  for (size_t i = 0; i < names.size(); ++i) {
    if (uses[names[i]] < 2) continue;
    const auto& sites = recording.finding.sites;
    const auto site = std::find_if(sites.begin(), sites.end(),
                                   [&](const FindingSite& place) { return place.id == slice.columns[i]; });
    const auto event = std::find_if(slice.events.begin(), slice.events.end(), [&](size_t at) {
      return recording.events[at].agent == slice.columns[i];
    });
    if (site != sites.end()) {
      parts[i] = site->agent;
    } else if (event != slice.events.end() && !recording.events[*event].lanes.empty()) {
      parts[i] += " " + recording.events[*event].lanes;
    }
    ++longer[parts[i]];
  }
  for (size_t i = 0; i < names.size(); ++i) {
    if (uses[names[i]] >= 2) names[i] = longer[parts[i]] < 2 ? parts[i] : "part of " + names[i];
  }
  return names;
}

std::string event_words(const Recording& recording, const Slice& slice, size_t event, const std::string& column) {
  const RecordedEvent& e = recording.events[event];
  std::string text = e.text;
  // A copy, or a multiplication, is one event: where its reading matters, what is read there is told.
  for (size_t i = 0; i < slice.marked.size(); ++i) {
    const FindingSite& site = recording.finding.sites[i];
    const bool another = text.starts_with("read ") && site.role.find("generic") == std::string::npos &&
                         !text.starts_with("read " + recording.finding.object);
    if (slice.marked[i] == event && site.role.ends_with("read") && (text.starts_with("write ") || another)) {
      text = "read " + recording.finding.object + recording.finding.range;
    }
  }
  return e.lanes.empty() || column.ends_with(" " + e.lanes) ? text : e.lanes + ": " + text;
}

bool is_pair(const Finding& finding) {
  return finding.sites.size() == 2 && finding.kind != FindingKind::kDeadlock &&
         finding.kind != FindingKind::kBarrierMisuse;
}

Slice make_slice(const Recording& recording) { return Slicer(recording).run(); }

}  // namespace warpcheck
