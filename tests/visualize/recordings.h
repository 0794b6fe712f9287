// Recordings made by hand, for tests of slices, reports and pictures.
#pragma once

#include <string>
#include <vector>

#include "visualize/recording.h"

namespace warpcheck::testing {

// A ring of two slots whose consumer (warp 1) gives slot 0 back before it reads it; the producer's third copy then writes.
inline Recording ring_race() {
  Recording r;
  r.kernel = "ring";
  r.agents = {"warp 0", "warp 1", "copy 1 of warp 0", "copy 2 of warp 0", "copy 3 of warp 0"};
  r.sites = {{"bar.sync", {"ring.cu", 37}, {}},
             {"mbarrier.try_wait", {"ptx.cuh", 8}, {{"ring.cu", 49}}},
             {"mbarrier.arrive.expect_tx", {"ring.cu", 56}, {}},
             {"cp.async.bulk", {"ring.cu", 57}, {}},
             {"mbarrier.try_wait", {"ptx.cuh", 8}, {{"ring.cu", 69}}},
             {"mbarrier.arrive", {"ring.cu", 72}, {}},
             {"ld.shared.u32", {"ring.cu", 73}, {}}};
  const auto add = [&](uint32_t agent, uint32_t step, bool visible, std::string text, std::string object, uint32_t site,
                       std::vector<uint32_t> after = {}, AgentId born_by = kNoAgent) {
    RecordedEvent event;
    event.agent = AgentId{agent};
    event.born_by = born_by;
    event.step = step;
    event.visible = visible;
    event.text = std::move(text);
    event.object = std::move(object);
    event.site = SiteId{site};
    event.after = std::move(after);
    r.events.push_back(std::move(event));
  };
  add(0, 0, true, "bar.sync 0", "barrier 0", 0);
  add(1, 1, true, "bar.sync 0", "barrier 0", 0);
  add(0, 2, true, "leave bar.sync 0", "barrier 0", 0, {1});
  add(1, 3, true, "leave bar.sync 0", "barrier 0", 0, {0});
  add(0, 4, true, "try_wait empty[0]: true", "empty[0]", 1);
  add(0, 5, true, "arrive.expect_tx full[0]", "full[0]", 2);
  add(0, 6, false, "issue copy to ring[0]", "ring[0][0..31]", 3);
  add(2, 6, true, "write ring[0][0..31]", "ring[0][0..31]", 3, {6}, AgentId{0});
  add(1, 7, true, "try_wait full[0]: true", "full[0]", 4, {5, 7});
  add(1, 8, true, "arrive empty[0] -> phase 1", "empty[0]", 5);
  add(0, 9, true, "try_wait empty[0]: true", "empty[0]", 1, {9});
  add(0, 10, true, "arrive.expect_tx full[0]", "full[0]", 2);
  add(0, 11, false, "issue copy to ring[0]", "ring[0][0..31]", 3);
  add(4, 11, true, "write ring[0][0..31]", "ring[0][0..31]", 3, {12}, AgentId{0});
  add(1, 12, false, "read ring[0][0..31]", "ring[0][0..31]", 6);
  r.finding.kind = FindingKind::kRace;
  r.finding.cause = Cause::kNoSynchronization;
  r.finding.object = "shared ring[0][0..31]";
  r.finding.sites = {{"copy 3 of warp 0", "async write", SiteId{3}, AgentId{4}, 11},
                     {"warp 1 lanes 0-31", "generic read", SiteId{6}, AgentId{1}, 12}};
  return r;
}

// The same ring without any wait for the first copy.
inline Recording unawaited_copy() {
  Recording r = ring_race();
  r.events.erase(r.events.begin() + 8, r.events.begin() + 14);
  r.finding.cause = Cause::kNotAwaited;
  r.finding.sites[0] = {"copy 1 of warp 0", "async write", SiteId{3}, AgentId{2}, 6};
  return r;
}

// Both warps wait for ever.
inline Recording deadlock() {
  Recording r = ring_race();
  r.events.resize(12);
  r.finding = {};
  r.finding.kind = FindingKind::kDeadlock;
  r.finding.object = "mbarrier empty[0]";
  r.finding.message = "warp 0 waits for phase 2 of empty[0], which lacks 31 arrivals; warp 1 waits for phase 2 of full[0]";
  r.finding.sites = {{"warp 0", "wait", SiteId{1}, AgentId{0}, 12}, {"warp 1", "wait", SiteId{4}, AgentId{1}, 12}};
  return r;
}

}  // namespace warpcheck::testing
