// Shadow memory at work: which pairs of accesses race, in which reading, and why.
//
// Two accesses race when their bytes overlap, one of them writes, they are not both strong on the same bytes with scopes
// that include each other, and neither is ordered after the other in the clock that it is checked with (PTX ISA, memory
// consistency model: causality order, morally strong operations, data races; proxies: "asynchronous operations").
#include <algorithm>
#include <bit>

#include "model/check.h"
#include "model/gpu_machine_impl.h"

namespace warpcheck {
namespace {

ClockKind kind_of(const AccessRecord& access, Space space) {
  if (!access.async) return kGeneric;
  return space == Space::kShared ? kAsyncShared : kAsyncGlobal;
}

template <class Test>
bool all_stamps(const AccessRecord& record, Test&& test) {
  for (LaneMask rest = record.lanes; rest != 0; rest &= rest - 1) {
    if (!test(record.component + static_cast<uint32_t>(std::countr_zero(rest)))) return false;
  }
  return true;
}

bool conflict(const AccessRecord& a, const AccessRecord& b, const ScopeMap& scopes) {
  if (a.mode == AccessMode::kUse || b.mode == AccessMode::kUse) {
    const AccessMode other = a.mode == AccessMode::kUse ? b.mode : a.mode;
    return writes(other);
  }
  if (!writes(a.mode) && !writes(b.mode)) return false;
  // Where one works by elements, each is as wide as the other's access: accesses are aligned to their size.
  const auto width = [](const AccessRecord& r) { return r.element != 0 ? r.element : r.end - r.begin; };
  const bool by_element = a.element != 0 || b.element != 0;
  const bool same_bytes = by_element ? width(a) == width(b) : a.begin == b.begin && a.end == b.end;
  return !(a.strong && b.strong && same_bytes && scopes.mutual(a.scope, a.block, b.scope, b.block));
}

// Tensor-core operations that execute in the order of issue (PTX ISA, tcgen05: pipelined instructions). MMAs of a warpgroup
// have their accumulators in registers and only read memory.
bool pipelined(const AccessRecord& first, const AccessRecord& second) {
  if (first.tensor_blocks != second.tensor_blocks) return false;
  switch (second.tensor) {
    case TensorKind::kMma:
      if (first.tensor == TensorKind::kMma) return first.accumulator == second.accumulator;
      return first.tensor == TensorKind::kCopy || first.tensor == TensorKind::kNarrowCopy || first.tensor == TensorKind::kShift;
    case TensorKind::kNarrowCopy: return first.tensor == TensorKind::kShift;
    case TensorKind::kShift: return first.tensor == TensorKind::kMma;
    case TensorKind::kNone:
    case TensorKind::kCopy:
    case TensorKind::kLoad:
    case TensorKind::kStore:
    case TensorKind::kWarpgroupMma: return false;
  }
  return false;
}

// A later operation of the same queue, alike in what pipelining asks, that covers the bytes: who is ordered after it is
// ordered after the earlier one.
bool supersedes(const AccessRecord& now, const AccessRecord& old) {
  return now.tensor != TensorKind::kNone && now.tensor == old.tensor && now.component == old.component &&
         now.issuer == old.issuer && now.accumulator == old.accumulator && now.tick > old.tick &&
         (writes(now.mode) || now.mode == old.mode);
}

// Whether forgetting `old` once `now` is ordered after it loses no race.
bool as_strong(const AccessRecord& now, const AccessRecord& old) {
  if (now.operation) return false;
  if (now.load != 0 && now.load != old.load) return false;  // its value may not matter, the other's may
  if (!writes(now.mode) && now.mode != old.mode) return false;
  if (now.unchanged && writes(old.mode) && !old.unchanged) return false;  // a load may race with it and not with this one
  if (now.begin > old.begin && now.end < old.end) return false;
  return !now.strong || (old.strong && old.scope == now.scope && old.begin == now.begin && old.end == now.end);
}

// Canonical order of a pair, whichever ran first: asynchronous operations, then writes, then by place.
bool comes_first(const RaceSide& a, const RaceSide& b) {
  if (a.async != b.async) return a.async;
  if (writes(a.mode) != writes(b.mode)) return writes(a.mode);
  if (a.site != b.site) return a.site < b.site;
  return a.agent < b.agent;
}

RaceSide side_of(const AccessRecord& record) {
  return {record.agent, record.lanes, record.site, record.mode, record.async, record.strong,
          record.tensor != TensorKind::kNone, record.step};
}

bool same_place(const RaceSide& a, const RaceSide& b) {
  return a.site == b.site && a.mode == b.mode && a.async == b.async;
}

}  // namespace

uint32_t GpuMachine::Impl::snapshot_of(BundleId bundle) {
  if (pool.width() != snapshot_width) {
    std::vector<uint32_t> wider(size_t{run.snapshots_used} * pool.width(), 0);  // the journal has forgotten narrow ones
    for (uint32_t i = 0; i < run.snapshots_used; ++i) {
      std::copy_n(&snapshots[size_t{i} * snapshot_width], snapshot_width, &wider[size_t{i} * pool.width()]);
    }
    snapshots = std::move(wider);
    snapshot_width = pool.width();
  }
  const size_t at = size_t{run.snapshots_used} * snapshot_width;
  if (snapshots.size() < at + snapshot_width) snapshots.resize(std::max(2 * snapshots.size(), at + snapshot_width));
  std::copy_n(pool.row(bundle, kControl), snapshot_width, &snapshots[at]);
  return now().snapshots_used++;
}

uint32_t GpuMachine::Impl::snapshot_of(Thread& t, uint32_t lane) {
  const LaneClass& lane_class = t.clocks.lane_class(lane);
  if (lane_class.snapshot != kNoSnapshot) return lane_class.snapshot;
  const uint32_t made = snapshot_of(lane_class.bundle);
  t.clocks.set_snapshot(lane, made);
  return made;
}

AccessRecord GpuMachine::Impl::record_of(Thread& t, uint32_t lane, AccessMode mode, Range range) {
  AccessRecord record;
  record.component = t.base;
  record.tick = t.clocks.tick();
  record.lanes = LaneMask{1} << lane;
  record.mode = mode;
  record.block = t.block;
  record.begin = range.offset;
  record.end = range.offset + range.bytes;
  record.agent = t.agent;
  record.site = t.site;
  record.collective = t.collective;
  record.snapshot = snapshot_of(t, lane);
  record.step = run.steps;
  return record;
}

AccessRecord GpuMachine::Impl::record_of(AsyncOp& op, uint32_t tick, AccessMode mode, Range range, bool async) {
  AccessRecord record;
  record.component = op.component;
  record.tick = tick;
  record.mode = mode;
  record.async = async;
  record.operation = true;
  record.block = op.issuer_block;
  record.begin = range.offset;
  record.end = range.offset + range.bytes;
  record.agent = op.agent;
  record.site = op.copy.site;
  record.snapshot = op.snapshot;
  record.issuer = op.issuer;
  record.issue_tick = op.issue_tick;
  record.issuer_thread = op.issuer_thread;
  record.step = run.steps;
  return record;
}

void GpuMachine::Impl::access(const AccessRecord& now, Range range, const ClockView& view, const void* stored) {
  const bool check = checking || ever_raced;
  if (!confined_to.empty()) note_footprint(now.block, now.mode, range);
  const Space space = memory.spec(range.region).space;
  const ClockKind kind = kind_of(now, space);
  const bool tensor = space == Space::kTensor;
  const ClockKind strict_kind = tensor ? kTensor : pool.strict_kept() ? strict_twin(kind) : kind;
  const bool global_is_generic = kind == kAsyncGlobal && model.async_global_is_generic;

  const auto ordered = [&](const AccessRecord& before, ClockKind row, bool strict) {
    if (before.lanes == 1 && view.at(row, before.component) >= before.tick && !now.map) return true;
    if (now.map && writes(before.mode) && !before.operation) {
      return map_fenced(range, before, view, strict ? kStrictGeneric : kGeneric);
    }
    const bool init = now.mode == AccessMode::kUse && before.mode == AccessMode::kInit;
    const bool init_by_threads = init && now.async && !strict && space == Space::kShared &&
                                 memory.spec(range.region).block == now.block;
    if (tensor && pipelined(before, now)) {  // it is enough to have been issued after it
      if (view.at(kTensor, before.issuer) >= before.issue_tick) return true;
      if (!strict && std::max(view.at(kGeneric, before.issuer), view.at(kTensorSync, before.issuer)) >= before.issue_tick) return true;
    }
    return all_stamps(before, [&](uint32_t component) {
      if (view.at(row, component) >= before.tick) return true;
      if (tensor && !strict && view.at(kTensorSync, component) >= before.tick) return true;
      if (tensor && view.at(kTensor, component) >= before.tick) return true;
      if (global_is_generic && view.at(kGeneric, component) >= before.tick) return true;
      if (init && pool.rows() > kInits && view.at(kInits, component) >= before.tick) return true;
      return init_by_threads && view.at(kGeneric, component) >= before.tick;
    });
  };
  // Collective instructions of one warp, equal bytes either way, or a read that a release handed to the overwriter: the strict reading alone objects.
  const auto tolerated = [&](const AccessRecord& before) {
    const bool plain = !now.operation && !before.operation && !now.strong && !before.strong;
    if (plain && now.collective && before.collective && now.component == before.component) return true;
    if (plain && now.mode == AccessMode::kWrite && before.mode == AccessMode::kWrite && stored != nullptr) {
      return now.begin == before.begin && now.end == before.end && memory.equals(range, stored);
    }
    if (plain && now.mode == AccessMode::kRead && before.mode == AccessMode::kWrite && before.unchanged) return true;
    if (plain && now.mode == AccessMode::kWrite && before.mode == AccessMode::kRead && now.unchanged) return true;
    const bool read_before = before.mode == AccessMode::kRead && !before.async && !before.operation;
    const bool overwrites_read = read_before && writes(now.mode);
    return (overwrites_read || before.address_word) && all_stamps(before, [&](uint32_t component) {
             return view.at(kHanded, component) >= before.tick;
           });
  };

  // Atomics of several threads on one word, which never race: are earlier ones covered?
  const bool atomic = now.strong && !now.operation && now.load == 0;
  const bool reaches_all = now.scope == Scope::kDevice || now.scope == Scope::kSystem;
  const uint32_t* row = pool.row(view.bundle, kind);
  const uint32_t* strict_row = pool.row(view.bundle, strict_kind);
  const auto both_atomic = [&](const AccessRecord& before) {
    return atomic && before.strong && before.load == 0 && !before.operation && before.lanes == 1 && before.component != now.component &&
           before.begin == now.begin && before.end == now.end && before.scope == now.scope &&
           (reaches_all || before.block == now.block);
  };

  shadows[index(range.region)].add(now, [&](const AccessRecord& before) -> LaneMask {
    // The warps of a warpgroup each make the accesses of an MMA that is theirs together.
    if (now.tensor != TensorKind::kNone && before.component == now.component && before.tick == now.tick) return before.lanes;
    if (both_atomic(before)) {
      const bool covered = (writes(now.mode) || now.mode == before.mode) && row[before.component] >= before.tick &&
                           strict_row[before.component] >= before.tick;
      return covered ? 0 : 1;
    }
    const bool conflicts = conflict(now, before, scopes);
    const bool reduction = (now.operation && now.strong) || (before.operation && before.strong);
    const bool follows = supersedes(now, before), covers = follows || as_strong(now, before);
    if (!conflicts && !reduction && !covers) return before.lanes;
    const bool default_ordered = ordered(before, kind, false);
    const bool strict_ordered = strict_kind == kind && !now.async ? default_ordered : ordered(before, strict_kind, true);
    if (check && (!default_ordered || !strict_ordered) && conflicts) {
      race(now, before, view, default_ordered || tolerated(before), range.region);
    }
    // The moment of a reduction is no step that the search orders with those of threads.
    if (check && reduction && !default_ordered && (writes(now.mode) || writes(before.mode)) && now.reduces != before.reduces &&
        !conflicts) {
      report(FindingKind::kUnsupported, memory.variable_name(range), "an atomic access and a bulk reduction in no order are not explored",
             {site_of(now.agent, now.lanes, "atomic", now.site), site_of(before.agent, before.lanes, "atomic", before.site)});
    }
    if (follows) return 0;
    if (!covers) return before.lanes;
    // The lane's own earlier access, or one that this access is ordered after in both readings.
    if (before.component == now.component && !before.operation && before.async == now.async &&
        before.tick < now.tick) {
      return default_ordered && strict_ordered ? 0 : before.lanes & ~now.lanes;
    }
    return default_ordered && strict_ordered ? 0 : before.lanes;
  });
}

// A copy reads a tensor map in order after a generic write where a fence for its bytes stands between.
bool GpuMachine::Impl::map_fenced(const Range& read, const AccessRecord& write, const ClockView& view, ClockKind row) const {
  const ClockKind kind = row == kStrictGeneric && !pool.strict_kept() ? kGeneric : row;
  return std::any_of(map_fences.begin(), map_fences.end(), [&](const TensorMapFence& fence) {
    const Range& map = fence.map;
    if (map.region != read.region || map.offset > read.offset || map.offset + map.bytes < read.offset + read.bytes) return false;
    if (view.at(kind, fence.component) < fence.tick) return false;
    return all_stamps(write, [&](uint32_t component) { return pool.row(fence.bundle, kind)[component] >= write.tick; });
  });
}

void GpuMachine::Impl::note_footprint(uint32_t block, AccessMode mode, Range range) {
  if (memory.spec(range.region).space != Space::kGlobal) return;
  Footprint& part = footprints.parts[block / scopes.blocks_per_cluster];
  const uint64_t end = range.offset + range.bytes;
  if (mode != AccessMode::kRead) part.note_write(index(range.region), range.offset, end);
  if (mode != AccessMode::kWrite) part.note_read(index(range.region), range.offset, end);
}

bool GpuMachine::Impl::in_control(const AccessRecord& access, uint32_t component, uint32_t tick) const {
  if (access.operation && component == access.component) return true;
  if (access.operation && component == access.issuer) return tick <= access.issue_tick;
  if (!access.operation && component >= access.component && component < access.component + 32 &&
      (access.lanes >> (component - access.component) & 1) != 0) {
    return tick <= access.tick;
  }
  return component < snapshot_width && snapshots[size_t{access.snapshot} * snapshot_width + component] >= tick;
}

bool GpuMachine::Impl::awaited_by_another(const AccessRecord& operation, const AccessRecord& other) const {
  return std::any_of(group_waits.begin(), group_waits.end(), [&](const GroupWait& wait) {
    return wait.component != operation.issuer &&
           snapshots[size_t{wait.snapshot} * snapshot_width + operation.issuer] >= operation.issue_tick &&
           in_control(other, wait.component, wait.tick);
  });
}

// The first row of the table of causes that fits, looking at both sides alike.
Cause GpuMachine::Impl::cause_of(const AccessRecord& now, const AccessRecord& before, const ClockView& view) const {
  if (now.operation && awaited_by_another(now, before)) return Cause::kAwaitedByAnother;
  if (before.operation && awaited_by_another(before, now)) return Cause::kAwaitedByAnother;
  if (before.operation && before.tensor == TensorKind::kNone && writes(before.mode) && before.tick > 1 && view.at(kGeneric, before.component) == 1) {
    return Cause::kOnlyReadSide;
  }
  const bool both_tensor = now.tensor != TensorKind::kNone && before.tensor != TensorKind::kNone;
  if (both_tensor && view.at(kGeneric, before.component) < before.tick &&
      (in_control(now, before.issuer, before.issue_tick) || in_control(before, now.issuer, now.issue_tick))) {
    return Cause::kNotPipelined;
  }
  if (now.operation && in_control(before, now.issuer, now.issue_tick)) return Cause::kNotAwaited;
  if (before.operation && in_control(now, before.issuer, before.issue_tick)) return Cause::kNotAwaited;
  const auto seen = [&](ClockKind row) {
    return all_stamps(before, [&](uint32_t component) { return view.at(row, component) >= before.tick; });
  };
  if (seen(kGeneric) && (now.async || before.async || now.tensor != TensorKind::kNone || before.tensor != TensorKind::kNone)) return Cause::kProxyFence;
  if (seen(kHanded)) return Cause::kScope;
  return Cause::kNoSynchronization;
}

void GpuMachine::Impl::race(const AccessRecord& now, const AccessRecord& before, const ClockView& view, bool strict,
                            RegionId region) {
  RawRace met;
  met.sides = {side_of(now), side_of(before)};
  if (comes_first(met.sides[1], met.sides[0])) std::swap(met.sides[0], met.sides[1]);
  met.cause = cause_of(now, before, view);
  met.strict = strict;
  if (!strict) {  // without effect so far: the strict reading alone objects
    AccessRecord open = before;  // its lanes that are in no order with `now`
    if (before.load != 0) {
      for_lanes(before.lanes, [&](uint32_t lane) {
        if (view.at(kGeneric, before.component + lane) >= before.tick) open.lanes &= ~(LaneMask{1} << lane);
      });
    }
    for (const AccessRecord* side : {&now, static_cast<const AccessRecord*>(&open)}) {
      if (!without_effect(*side)) continue;
      held.push_back({side->load, side->lanes, {}});
      met.strict = true;
    }
  }
  met.after_race = run.race_seen;
  met.region = region;
  met.begin = std::max(now.begin, before.begin);
  met.end = std::min(now.end, before.end);
  met.variable = memory.variable({region, met.begin, 1});
  if (met.strict && !strict) {
    RawRace later = met;
    later.strict = false;
    held.edit_back().race = later;
  }
  add_race(met);
}

// No lane's value has taken effect. (A race between two loads is none, so one side at most is followed.)
bool GpuMachine::Impl::without_effect(const AccessRecord& access) const {
  return access.load != 0 && (load_effects[access.load] & access.lanes) == 0;
}

void GpuMachine::Impl::load_takes_effect(uint32_t followed, LaneMask who) {
  if ((who & ~load_effects[followed]) == 0) return;
  load_effects.edit(followed) |= who;
  std::vector<RawRace> due;
  held.erase_if([&](const HeldRace& one) {
    const bool takes = one.load == followed && (one.lanes & who) != 0;
    if (takes) due.push_back(one.race);
    return takes;
  });
  for (const RawRace& met : due) add_race(met);
}

void GpuMachine::Impl::add_race(const RawRace& met) {
  cache_valid = false;
  if (!met.strict) this->now().race_seen = ever_raced = true;
  for (size_t k = 0; k < races.size(); ++k) {
    const RawRace& known = races[k];
    if (known.region != met.region || known.variable != met.variable || known.cause != met.cause) continue;
    if (!same_place(known.sides[0], met.sides[0]) || !same_place(known.sides[1], met.sides[1])) continue;
    if (known.strict && !met.strict) {
      races.edit(k) = met;
    } else if (known.strict == met.strict) {
      RawRace& wider = races.edit(k);
      for (size_t i = 0; i < 2; ++i) {
        if (known.sides[i].agent == met.sides[i].agent) wider.sides[i].lanes |= met.sides[i].lanes;
      }
      wider.begin = std::min(known.begin, met.begin);
      wider.end = std::max(known.end, met.end);
    }
    return;
  }
  races.push_back(met);
}

}  // namespace warpcheck
