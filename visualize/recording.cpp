#include "visualize/recording.h"

#include <utility>

namespace warpcheck {
namespace {

// The entry of `table` for `id`, made if need be; kNo... ids have none.
template <class Entry, class Id, class Make>
void fill(std::vector<Entry>& table, Id id, Id none, std::vector<bool>& known, Make make) {
  if (id == none) return;
  const size_t at = index(id);
  if (known.size() <= at) {
    known.resize(at + 1);
    table.resize(at + 1);
  }
  if (known[at]) return;
  known[at] = true;
  table[at] = make(id);
}

}  // namespace

Recording make_recording(const Program& program, const Machine& machine, std::vector<RecordedEvent> events,
                         Finding finding) {
  Recording recording{program.name(), std::move(finding), std::move(events), {}, {}};
  std::vector<bool> known_agents, known_sites;
  const auto agent = [&](AgentId id) {
    fill(recording.agents, id, kNoAgent, known_agents, [&](AgentId a) { return machine.name(a); });
  };
  const auto site = [&](SiteId id) {
    fill(recording.sites, id, kNoSite, known_sites, [&](SiteId s) { return program.site(s); });
  };
  for (const RecordedEvent& event : recording.events) {
    agent(event.agent);
    agent(event.born_by);
    site(event.site);
  }
  for (const FindingSite& place : recording.finding.sites) {
    agent(place.id);
    site(place.site);
  }
  return recording;
}

}  // namespace warpcheck
