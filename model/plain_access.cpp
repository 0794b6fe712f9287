// Loads, stores and fences: they act at once, after the visible step before them, and are checked by clock.
#include <algorithm>
#include <cstring>

#include "model/check.h"
#include "model/gpu_machine_impl.h"

namespace warpcheck {

void GpuMachine::Impl::begin_event(Thread& t, SiteId site) {
  t.clocks.advance();
  t.site = site;
  t.collective = false;
  t.event = 0;
  reach(site);
}

bool GpuMachine::Impl::admit(Thread& t, LaneMask who, Range range, bool write) {
  const char* role = write ? "write" : "read";
  if (!memory.inside(range)) {
    const bool known = index(range.region) < model.regions.size();
    report(FindingKind::kOutOfBounds, known ? memory.variable_name(range) : "memory",
           "the access leaves the memory that it belongs to", {site_of(t.agent, who, role, t.site)});
    return false;
  }
  if (range.bytes <= 16 && (range.bytes & (range.bytes - 1)) == 0 && range.offset % range.bytes != 0) {
    report(FindingKind::kMisaligned, memory.variable_name(range),
           "the address is not a multiple of the access's size", {site_of(t.agent, who, role, t.site)});
    return false;
  }
  const RegionSpec& region = memory.spec(range.region);
  if (region.space != Space::kGlobal && region.block != t.block) {
    const auto lane = static_cast<uint32_t>(__builtin_ctz(who));
    remote_access(t.clocks.view(pool, lane), {region.block, t.base, t.clocks.tick(), t.site, t.agent, who, range, write});
  }
  return true;
}

// A block's shared memory may be used by others once it has started and until it ends.
void GpuMachine::Impl::remote_access(const ClockView& view, const RemoteAccess& access) {
  bool started = false;
  uint32_t base = 0;
  for (const ThreadSpec& spec : model.threads) {
    if (spec.block == access.owner && view.at(kControl, base) > 0) started = true;
    base += spec.lanes;
  }
  if (!started) {
    report(FindingKind::kLifetime, memory.variable_name(access.range), "the block may not have started yet",
           {site_of(access.agent, access.lanes, access.write ? "remote write" : "remote read", access.site)});
  }
  remote_accesses.push_back(access);
}

void GpuMachine::Impl::touch_barriers(Range range, const FindingSite& site) {
  for (const auto& [offset, id] : live_barriers[index(range.region)]) {
    if (range.offset >= offset + 8 || offset >= range.offset + range.bytes) continue;
    report(FindingKind::kBarrierMisuse, object_name(id), "an ordinary access to a live mbarrier", {site});
  }
}

ValueTag GpuMachine::Impl::load(Thread& t, uint32_t lane, Range from, void* to, uint32_t followed) {
  const LaneMask who = LaneMask{1} << lane;
  if (!admit(t, who, from, false)) {
    std::memset(to, kPoison, from.bytes);
    return ValueTag::kKnown;
  }
  if (!live_barriers[index(from.region)].empty()) touch_barriers(from, site_of(t.agent, who, "read", t.site));
  if (recording) record_access(t, lane, AccessMode::kRead, from);
  AccessRecord record = record_of(t, lane, AccessMode::kRead, from);
  record.load = followed;
  access(record, from, t.clocks.view(pool, lane), nullptr);
  const ValueTag tag = memory.read(from, to);
  if (tag == ValueTag::kUninitialized && model.report_uninitialized) {
    report(FindingKind::kUninitializedRead, memory.variable_name(from), "the memory was never written",
           {site_of(t.agent, who, "generic read", t.site)});
  }
  return tag;
}

void GpuMachine::Impl::store(Thread& t, uint32_t lane, Range to, const void* bytes, ValueTag tag) {
  const LaneMask who = LaneMask{1} << lane;
  if (!admit(t, who, to, true)) return;
  if (!live_barriers[index(to.region)].empty()) touch_barriers(to, site_of(t.agent, who, "write", t.site));
  if (recording) record_access(t, lane, AccessMode::kWrite, to);
  AccessRecord record = record_of(t, lane, AccessMode::kWrite, to);
  record.unchanged = tag != ValueTag::kUninitialized && memory.equals(to, bytes);
  access(record, to, t.clocks.view(pool, lane), tag != ValueTag::kUninitialized ? bytes : nullptr);
  memory.write(to, bytes, tag);
}

void GpuMachine::Impl::fence(Thread& t, FenceKind kind, Scope scope, SiteId site, Order order) {
  begin_event(t, site);
  if (recording) record_event(t.agent, false, site, instruction(site), "");
  switch (kind) {
    case FenceKind::kThread:
      if (order != Order::kAcquire) {
        t.fence.assign(pool, t.clocks);
        t.fence_scope = scope;
        t.fenced = true;
      }
      if (order != Order::kRelease) acquire_fence(t, scope);
      break;
    case FenceKind::kProxyAsync:
      pool.raise_level(ClockLevel::kProxies);
      t.clocks.fence(pool, kAsyncShared);
      t.clocks.fence(pool, kAsyncGlobal);
      break;
    case FenceKind::kProxyAsyncShared:
      pool.raise_level(ClockLevel::kProxies);
      t.clocks.fence(pool, kAsyncShared);
      break;
    case FenceKind::kProxyAsyncGlobal:
      pool.raise_level(ClockLevel::kProxies);
      t.clocks.fence(pool, kAsyncGlobal);
      break;
    case FenceKind::kMbarrierInit:
      pool.raise_level(ClockLevel::kProxies);
      t.clocks.fence(pool, kInits);
      break;
    case FenceKind::kTensorBefore:
      journal.stop();
      pool.raise_level(ClockLevel::kTensorCore);
      t.clocks.tensor_fence(pool, kTensor, kTensorSync);
      break;
    case FenceKind::kTensorAfter:
      journal.stop();
      pool.raise_level(ClockLevel::kTensorCore);
      t.clocks.tensor_fence(pool, kTensorSync, kTensor);
      break;
  }
}

void GpuMachine::Impl::fence_tensor_map(Thread& t, uint32_t lane, Range map, SiteId site) {
  begin_event(t, site);
  if (recording) record_event(t.agent, false, site, instruction(site), "");
  const BundleId bundle = pool.allocate();
  t.clocks.publish(pool, LaneMask{1} << lane, bundle);
  map_fences.push_back({map, t.base + lane, t.clocks.tick(), bundle});
}

// An acquire fence takes, in the strict reading, what earlier relaxed reads would have acquired; in the default reading
// they took it at once.
void GpuMachine::Impl::acquire_fence(Thread& t, Scope scope) {
  for (const RelaxedRead& read : t.relaxed_reads) {
    if (scopes.mutual(read.release.scope, read.release.block, std::min(scope, read.scope), t.block)) {
      t.clocks.acquire_strict(pool, read.lanes, read.release.bundle);
    }
    pool.release(read.release.bundle);
  }
  t.relaxed_reads.clear();
}

}  // namespace warpcheck
