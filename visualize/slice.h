// Which events of a recording matter: the places that the finding names, and how they hang together. For a pair of
// accesses these are the last points in the common past of both and the synchronization that leads from there to each;
// for a deadlock, each waiter's last steps and what happened to the objects waited for.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "visualize/recording.h"

namespace warpcheck {

struct Slice {
  static constexpr size_t kNone = static_cast<size_t>(-1);

  struct Edge {
    size_t from, to;  // indices into Recording::events
    bool birth;       // `to` is the first event of an operation that `from` issued; else synchronization
    bool relaxed = false;  // `to` saw what `from` wrote, but `from` releases nothing
    friend bool operator==(const Edge&, const Edge&) = default;
  };
  struct Waiter {
    AgentId agent;
    size_t site;  // index into finding.sites
  };

  std::vector<size_t> events;     // shown, in time order
  std::vector<size_t> marked;     // for each site of the finding: its event, or kNone
  std::vector<AgentId> columns;   // agents with shown events or waits
  std::vector<Edge> edges;        // between shown events
  std::vector<Waiter> waiters;    // sites that never happened: a deadlock's
  // For a pair without any order: by site, the last event of its agent that the other site is ordered after, or kNone.
  std::vector<size_t> last_seen;
  bool connected = false;         // synchronization leads from one of the pair to the other, if perhaps not for its lanes
  // For a pair that is connected, perhaps by relaxed writes alone: where the way leaves the earlier one's agent, where it
  // comes to the later one's, and the relaxed write on it; or kNone.
  size_t way_out = kNone, way_in = kNone, relaxed = kNone;
};

Slice make_slice(const Recording& recording);

// Names of the slice's columns, each different: parts of one warp carry the lanes that the finding names.
std::vector<std::string> column_names(const Recording& recording, const Slice& slice);

// What an event of the slice did, as the finding looks at it: "lane 0: arrive mbarrier empty[0]"; the lanes are left out
// where the name of its column has them.
std::string event_words(const Recording& recording, const Slice& slice, size_t event, const std::string& column);

// Whether the finding is about two places that want an order between them.
bool is_pair(const Finding& finding);

}  // namespace warpcheck
