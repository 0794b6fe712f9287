// What visible operations do to clocks and memory: atomics, mbarriers, other barriers, group waits.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <tuple>
#include <cstring>

#include "model/check.h"
#include "model/gpu_machine_impl.h"

namespace warpcheck {
namespace {

bool acquires(Order order) { return order == Order::kAcquire || order == Order::kAcqRel; }
bool releases(Order order) { return order == Order::kRelease || order == Order::kAcqRel; }

// What a byte carries after an operation whose operand is known. An update computes with what was there: bit by bit, or with
// carries from one byte to the next. A comparison with something unknown may have stored or not.
uint8_t tag_after(const Operation& op, uint8_t byte, uint8_t word) {
  if (op.kind == OpKind::kStore) return static_cast<uint8_t>(ValueTag::kKnown);
  switch (op.rmw) {
    case Rmw::kNone:
    case Rmw::kExchange: return static_cast<uint8_t>(ValueTag::kKnown);
    case Rmw::kAnd:
    case Rmw::kOr:
    case Rmw::kXor: return byte;
    case Rmw::kCompareSwap:
    case Rmw::kAdd: case Rmw::kMinU: case Rmw::kMaxU: case Rmw::kMinS: case Rmw::kMaxS: case Rmw::kIncrement:
    case Rmw::kDecrement: case Rmw::kAddF32: case Rmw::kAddF64: case Rmw::kAddF16: case Rmw::kMinF16: case Rmw::kMaxF16:
    case Rmw::kAddBf16: case Rmw::kMinBf16: case Rmw::kMaxBf16: return word;
  }
  return word;
}

// The word that an operation names: a number when it is small, else its bits, since it may be anything.
std::string word_text(const ObjectState& state, const Operation& op) {
  uint64_t word = 0;
  if (op.size == 0 || op.size > sizeof word || size_t{op.begin} + op.size > sizeof state.word) return "?";
  std::memcpy(&word, reinterpret_cast<const char*>(state.word.data()) + op.begin, op.size);
  const uint32_t unused = 64 - 8U * op.size;
  const int64_t number = static_cast<int64_t>(word << unused) >> unused;
  constexpr int64_t kSmall = int64_t{1} << 24;
  return number > -kSmall && number < kSmall ? fmt::format("{}", number) : fmt::format("{:#x}", word);
}

// What a reader of the run wants to know of an atomic access beside its address: " = 2", ": 0 -> 1".
std::string value_text(const Operation& op, const ObjectState& before, const ObjectState& after) {
  if (op.size > sizeof(uint64_t)) return "";
  if (op.kind == OpKind::kLoad) return fmt::format(" = {}", word_text(after, op));
  if (op.kind != OpKind::kUpdate && op.kind != OpKind::kReduce) return "";
  return fmt::format(": {} -> {}", word_text(before, op), word_text(after, op));
}

}  // namespace

void GpuMachine::Impl::perform(Thread& t, const VisibleOp& op, const Outcome& outcome) {
  t.site = op.site;
  t.collective = false;
  LaneMask who = op.lanes;
  if (op.op.kind == OpKind::kArrive && op.op.splits) {  // the lowest lanes, as many as act
    LaneMask acting = 0;
    uint64_t left = outcome.result;
    for_lanes(op.lanes, [&](uint32_t lane) {
      if (left > 0) acting |= LaneMask{1} << lane;
      left -= left > 0 ? 1 : 0;
    });
    who = acting;
  }
  if (recording) {
    t.event = record_event(t.agent, true, op.site, describe(op.op) + value_text(op.op, event.before, outcome.after),
                           op.op.object == kNoObject ? "" : object_name(op.op.object)) + 1;
    record_lanes(t, t.event - 1, who);
  }
  switch (op.op.kind) {
    case OpKind::kLoad:
    case OpKind::kStore:
    case OpKind::kUpdate:
    case OpKind::kReduce:
      perform_word(t, op, who, outcome);
      break;
    case OpKind::kWaitRead:
    case OpKind::kWaitGroup:
      perform_group_wait(t, op);
      break;
    case OpKind::kBarrierInit:
    case OpKind::kBarrierInval:
    case OpKind::kArrive:
    case OpKind::kExpectTx:
    case OpKind::kCompleteTx:
    case OpKind::kWaitPhase:
    case OpKind::kWaitParity:
    case OpKind::kBarrierArrive:
    case OpKind::kBarrierExit:
      perform_barrier(t, op, who, outcome);
      break;
    case OpKind::kTensorAlloc:
    case OpKind::kTensorFree:
    case OpKind::kTensorRelinquish:
      perform_tensor_memory(t, op, who, outcome);
      break;
    case OpKind::kLocal:
    case OpKind::kPlainLoad:   // the thread itself accesses memory when it is resumed
    case OpKind::kPlainStore:
    case OpKind::kReadDone:
    case OpKind::kCopyDone:
      break;
  }
}

// --- atomics ----------------------------------------------------------------------------------------------------------

WordCell& GpuMachine::Impl::word_cell(Object& o, const Operation& op) {
  for (size_t i = 0; i < o.words.size(); ++i) {
    if (o.words[i].begin == op.begin && o.words[i].size == op.size) return o.words.held(i);
  }
  return o.words.emplace_back(journal, op.begin, op.size);
}

void GpuMachine::Impl::keep_inside(Thread& t, VisibleOp& op) {
  if (op.op.object == kNoObject) return;
  const Object& o = objects[index(op.op.object)];
  if (o.sort != ObjectSort::kGranule) return;
  const Range range{o.region, o.offset + op.op.begin, op.op.size};
  const bool plain = op.op.kind == OpKind::kPlainLoad || op.op.kind == OpKind::kPlainStore;
  const bool aligned = plain || range.bytes == 0 || range.offset % range.bytes == 0;
  if (memory.inside(range) && aligned) return;
  if (!plain) {  // plain accesses are reported when they act
    report(aligned ? FindingKind::kOutOfBounds : FindingKind::kMisaligned, memory.variable_name(range),
           aligned ? "the access leaves the memory that it belongs to"
                   : "the address is not a multiple of the access's size",
           {site_of(t.agent, op.lanes, "atomic", op.site)});
  }
  op.op = Operation{};
}

void GpuMachine::Impl::perform_word(Thread& t, const VisibleOp& op, LaneMask who, const Outcome& outcome) {
  Object& o = objects[index(op.op.object)];  // its list of words alone changes
  const Range range{o.region, o.offset + op.op.begin, op.op.size};
  const bool write = outcome.effect != Effect::kRead;
  for_lanes(who, [&](uint32_t lane) {
    AccessRecord record = record_of(t, lane, write ? AccessMode::kWrite : AccessMode::kRead, range);
    record.strong = true;
    record.scope = op.scope;
    if (op.op.kind == OpKind::kReduce) record.reduces = op.op.rmw;
    access(record, range, t.clocks.view(pool, lane), nullptr);
  });
  if (!live_barriers[index(o.region)].empty()) touch_barriers(range, site_of(t.agent, who, "atomic", t.site));
  const RegionSpec& region = memory.spec(o.region);
  if (region.space == Space::kShared && region.block != t.block) {
    remote_access(t.clocks.view(pool, static_cast<uint32_t>(std::countr_zero(who))),
                  {region.block, t.base, t.clocks.tick(), t.site, t.agent, who, range, write});
  }
  WordCell& cell = word_cell(o, op.op);
  const bool reads = op.op.kind == OpKind::kLoad || op.op.kind == OpKind::kUpdate;
  if (reads) observe_word(t, op, who, cell);
  std::array<uint8_t, 16> old{}, tags{};
  memory.read_raw(range, old.data(), tags.data());
  for (uint32_t b = 0; b < range.bytes; ++b) t.last.tags |= tags[b];
  if (!write) return;
  const uint8_t all = t.last.tags;
  for (uint32_t b = 0; b < range.bytes; ++b) tags[b] = tag_after(op.op, tags[b], all);
  memory.write_raw(range, reinterpret_cast<const uint8_t*>(outcome.after.word.data()) + op.op.begin, tags.data());
  if (op.op.kind == OpKind::kStore) {
    // A store starts the location's chain anew, but for what the same thread released there before.
    const uint32_t thread_component = t.base + static_cast<uint32_t>(std::countr_zero(who));
    cell.released.releases.erase_if([&](const Release& release) {
      const bool own = release.thread == thread_component;
      if (!own) pool.release(release.bundle);
      return !own;
    });
    pool.release(cell.released.control);
    cell.released.set_control(kNoBundle);
    cell.released.sources.clear();
    for (size_t i = 0; i < o.words.size(); ++i) {
      const WordCell& other = o.words[i];
      const bool overlaps = other.begin < cell.begin + cell.size && cell.begin < other.begin + other.size;
      if (&other != &cell && overlaps) o.words.held(i).released.clear(pool);
    }
  }
  release_word(t, op, who, cell);
}

void GpuMachine::Impl::observe_word(Thread& t, const VisibleOp& op, LaneMask who, WordCell& cell) {
  ReleaseList& list = cell.released;
  if (recording) recorded[t.event - 1].after.assign(list.sources.begin(), list.sources.end());
  observe(t, op, who, list);
}

// A relaxed observation orders memory in the default reading at once; in the strict one only a later acquire fence does.
void GpuMachine::Impl::observe(Thread& t, const VisibleOp& op, LaneMask who, const ReleaseList& list) {
  const bool at_once = acquires(op.order);
  for (const Release& release : list.releases) {
    if (at_once || !scopes.mutual(release.scope, release.block, op.scope, t.block)) continue;
    pool.raise_level(ClockLevel::kBothReadings);
    RelaxedRead read{who, op.scope, release};
    read.release.bundle = pool.copy(release.bundle);
    t.relaxed_reads.push_back(read);
  }
  t.clocks.acquire(pool, who, list, op.scope, t.block, scopes,
                   at_once ? ThreadClocks::Take::kAcquire : ThreadClocks::Take::kRelaxed);
}

void GpuMachine::Impl::release_word(Thread& t, const VisibleOp& op, LaneMask who, WordCell& cell) {
  ReleaseList& list = cell.released;
  if (recording) list.sources.push_back(t.event - 1);
  const uint32_t thread_component = t.base + static_cast<uint32_t>(std::countr_zero(who));
  if (releases(op.order)) {
    // A read-modify-write that acquired all that is here hands it on itself: one entry will do.
    const bool took_all = op.op.kind == OpKind::kUpdate && acquires(op.order) && model.blocks == 1;
    if (took_all && !list.releases.empty()) {  // in the bundle of the first, which has nothing that it has not
      for (size_t i = 1; i < list.releases.size(); ++i) pool.release(list.releases[i].bundle);
      if (list.releases.size() > 1) list.releases.resize(1);
      Release& first = list.releases.edit(0);
      first.block = t.block;
      first.scope = op.scope;
      first.thread = thread_component;
    }
    t.clocks.publish(pool, who, list.entry(pool, t.block, op.scope, thread_component));
  } else {
    if (recording) recorded[t.event - 1].releases = t.fenced;
    if (t.fenced) t.fence.publish(pool, who, list.entry(pool, t.block, std::min(op.scope, t.fence_scope), thread_component));
    t.clocks.publish_row(pool, who, kControl, list.control_bundle(pool));
    if (pool.rows() > kTensorSync) t.clocks.publish_row(pool, who, kTensorSync, list.control);
  }
}

// --- barriers ---------------------------------------------------------------------------------------------------------

// One bit for each warp's first thread; other threads and those beyond 63 are never known to be covered.
uint64_t GpuMachine::Impl::waiter_bit(const Thread& t) const {
  const bool first = index(t.id) == t.base;
  return first && t.spec < 63 ? uint64_t{1} << t.spec : 0;
}

uint64_t GpuMachine::Impl::coverage(const Object& o, BundleId control, const ThreadClocks* clocks, LaneMask who) const {
  uint64_t covered = 0;
  for (const Observation& wait : o.parity_waits) {
    bool seen = true;
    for_lanes(wait.lanes, [&](uint32_t lane) {
      const uint32_t component = wait.component + lane;
      bool known = false;
      if (control != kNoBundle) known = pool.row(control, kControl)[component] >= wait.tick;
      if (clocks != nullptr) {
        for_lanes(who, [&](uint32_t mine) { known = known || clocks->view(pool, mine).at(kControl, component) >= wait.tick; });
      }
      seen = seen && known;
    });
    if (seen) covered |= wait.bit;
  }
  return covered;
}

void GpuMachine::Impl::use_barrier(Thread& t, LaneMask who, Object& o, AccessMode mode) {
  const Range range{o.region, o.offset, 8};
  for_lanes(who, [&](uint32_t lane) {
    access(record_of(t, lane, mode, range), range, t.clocks.view(pool, lane), nullptr);
  });
}

void GpuMachine::Impl::init_barrier(Object& o, const Outcome& outcome) {
  auto& live = live_barriers[index(o.region)];
  const ObjectId id = self.mbarrier(o.region, o.offset);
  live.erase_if([&](const LiveBarrier& entry) { return entry.id == id; });
  for (size_t i = 0; i < o.phases.size(); ++i) o.phases.held(i).clear(pool);
  o.observations.clear();
  o.parity_waits.clear();
  o.steps.clear();
  pool.release(o.arrivals_control);
  o.arrivals_control = kNoBundle;
  if (!outcome.after.live) return;
  live.push_back({o.offset, id});
  o.ever_live = true;
}

void GpuMachine::Impl::perform_barrier(Thread& t, const VisibleOp& op, LaneMask who, const Outcome& outcome) {
  Object& o = object(op.op.object);
  const bool inits = op.op.kind == OpKind::kBarrierInit || op.op.kind == OpKind::kBarrierInval;
  if (o.sort == ObjectSort::kMbarrier) {
    const RegionSpec& region = memory.spec(o.region);
    if (region.block != t.block) {
      const auto lane = static_cast<uint32_t>(std::countr_zero(who));
      remote_access(t.clocks.view(pool, lane),
                    {region.block, t.base, t.clocks.tick(), t.site, t.agent, who, {o.region, o.offset, 8}, true});
    }
    if (inits && event.before.live && op.op.kind == OpKind::kBarrierInit) {
      report(FindingKind::kBarrierMisuse, object_name(op.op.object), "a live mbarrier is initialized again",
             {site_of(t.agent, who, "init", t.site)});
    }
    use_barrier(t, who, o, inits ? AccessMode::kInit : AccessMode::kUse);
  }
  if (inits) {
    const char fresh[8] = {};
    memory.write({o.region, o.offset, 8}, fresh, ValueTag::kKnown);
    init_barrier(o, outcome);
    return;
  }
  if (outcome.effect == Effect::kNothing) {
    o.dead_uses.push_back({op.site, t.agent});
    return;
  }
  if (outcome.effect == Effect::kWait) {
    perform_wait(t, op, who, outcome, o);
  } else {
    perform_arrival(t, op, who, outcome, o);
  }
}

void GpuMachine::Impl::perform_arrival(Thread& t, const VisibleOp& op, LaneMask who, const Outcome& outcome, Object& o) {
  while (o.phases.size() <= outcome.phase) o.phases.emplace_back(journal);
  ReleaseList& list = o.phases.held(outcome.phase);
  const bool named = op.op.kind == OpKind::kBarrierArrive || op.op.kind == OpKind::kBarrierExit;
  const auto here = [&] { return site_of(t.agent, who, "arrive", op.site); };
  if (outcome.overrun) {
    report(FindingKind::kBarrierMisuse, object_name(op.op.object), "an arrival beyond the pending count", {here()});
    return;
  }
  if (op.op.kind == OpKind::kBarrierArrive) {
    const int32_t asked = op.op.bytes == 0 ? -1 : static_cast<int32_t>(op.op.bytes);
    if (event.before.awaited != 0 && event.before.awaited != asked) {
      report(FindingKind::kDivergence, object_name(op.op.object), "threads arrive with different thread counts", {here()});
    }
    const bool again = o.sort == ObjectSort::kNamedBarrier &&
                       std::any_of(o.arrived.begin(), o.arrived.end(), [&](const auto& entry) {
                         return entry.base == t.base && (entry.lanes & who) != 0;
                       });
    if (again) {
      report(FindingKind::kBarrierMisuse, object_name(op.op.object),
             "a second arrival in one generation of the barrier counts towards it", {here()}, true);
    }
    o.arrived.push_back({t.base, who});
  }
  if (op.op.kind != OpKind::kBarrierExit) {
    if (recording) list.sources.push_back(t.event - 1);
    if (releases(op.order)) {
      t.clocks.publish(pool, who, list.entry(pool, t.block, op.scope, 0));
    } else {
      if (recording) recorded[t.event - 1].releases = t.fenced;
      if (t.fenced) t.fence.publish(pool, who, list.entry(pool, t.block, std::min(op.scope, t.fence_scope), 0));
      t.clocks.publish_row(pool, who, kControl, list.control_bundle(pool));
      if (pool.rows() > kTensorSync) t.clocks.publish_row(pool, who, kTensorSync, list.control);
      if (o.sort == ObjectSort::kClusterBarrier && pool.rows() > kInits) {
        t.clocks.publish_row(pool, who, kInits, list.control);
      }
    }
    if (!named) {
      o.steps.push_back({t.agent, who, op.site, "arrive"});
      if (o.arrivals_control == kNoBundle) o.arrivals_control = pool.allocate();
      t.clocks.publish_row(pool, who, kControl, o.arrivals_control);
    }
  }
  if (o.sort == ObjectSort::kMbarrier && outcome.after.pending == 0 && outcome.after.tx < 0 && !outcome.completes) {
    report(FindingKind::kBarrierMisuse, object_name(op.op.object), "more bytes completed than the phase expects", {here()});
  }
  if (outcome.completes) complete_phase(op.op.object, outcome);
}

// One lane is enough: the lanes of a thread observe together.
bool GpuMachine::Impl::in_control(const Object& o, const Observation& seen) const {
  if (o.arrivals_control == kNoBundle) return false;
  const uint32_t* row = pool.row(o.arrivals_control, kControl);
  bool any = false;
  for_lanes(seen.lanes, [&](uint32_t lane) { any = any || row[seen.component + lane] >= seen.tick; });
  return any;
}

// The discipline of phases (PTX ISA, mbarrier: "tracking asynchronous operations" and phase of the mbarrier object): a
// phase may only be completed by those who know that somebody observed the one before it.
void GpuMachine::Impl::complete_phase(ObjectId id, const Outcome& outcome) {
  Object& o = object(id);
  if (o.sort == ObjectSort::kMbarrier && outcome.phase > 0) {
    const bool observed = std::any_of(o.observations.begin(), o.observations.end(),
                                      [&](const Observation& seen) { return in_control(o, seen); });
    if (!observed) {  // the steps of a phase commute: all of them are named, not the one that came last
      o.steps.sort([](const PhaseStep& a, const PhaseStep& b) {
        return std::tie(a.site, a.agent) < std::tie(b.site, b.agent);
      });
      std::vector<FindingSite> sites;
      for (const PhaseStep& step : o.steps) sites.push_back(site_of(step.agent, step.lanes, step.role, step.site));
      report(FindingKind::kBarrierMisuse, object_name(id),
             "a phase completes although nobody who arrived in it is known to have observed the phase before",
             std::move(sites));
    }
    for (const Observation& seen : o.observations) {
      if (!seen.own_phase || in_control(o, seen)) continue;
      report(FindingKind::kBarrierMisuse, object_name(id), "a waiting thread may miss a phase",
             {site_of(seen.agent, seen.lanes, "wait", seen.site)});
    }
  }
  o.observations.clear();
  o.parity_waits.clear();
  o.arrived.clear();
  o.steps.clear();
  pool.release(o.arrivals_control);
  o.arrivals_control = kNoBundle;
  while (o.phases.size() <= outcome.phase + 1) o.phases.emplace_back(journal);
  o.phases.held(outcome.phase + 1).assign(pool, o.phases[outcome.phase]);
  // Waits of the new phase lie in the control clock of no arrival that is pending already.
  for (const AgentId waiting : o.pending) {
    if (agents[index(waiting)].transition.op.covers == 0) continue;
    agent(waiting).transition.op.covers = 0;
    mark_changed(waiting);
  }
}

void GpuMachine::Impl::perform_wait(Thread& t, const VisibleOp& op, LaneMask who, const Outcome& outcome, Object& o) {
  if (op.own_phase) {
    o.own_phase_waits = true;
    const auto own = std::find_if(t.own_phases.begin(), t.own_phases.end(),
                                  [&](const OwnPhase& entry) { return entry.barrier == op.op.object; });
    if (own != t.own_phases.end() && own->mismatch) {
      t.own_phases.edit(static_cast<size_t>(own - t.own_phases.begin())).mismatch = false;
      report(FindingKind::kBarrierMisuse, object_name(op.op.object),
             "the warps of a warpgroup that waits have observed different phases", {site_of(t.agent, who, "wait", op.site)});
    }
    if (event.before.phase > op.op.operand + 1) {
      report(FindingKind::kBarrierMisuse, object_name(op.op.object), "a waiting thread may miss a phase",
             {site_of(t.agent, who, "wait", op.site)});
    }
  }
  Observation seen{t.base, t.clocks.tick(), who, waiter_bit(t), op.own_phase, op.site, t.agent};
  if (op.op.kind == OpKind::kWaitParity) {
    const bool again = std::any_of(o.parity_waits.begin(), o.parity_waits.end(),
                                   [&](const Observation& wait) { return wait.bit == seen.bit; });
    if (again) seen.bit = 0;
    o.parity_waits.push_back(seen);
  }
  if (outcome.phase == 0) return;  // a parity wait on a fresh barrier observes nothing
  const ReleaseList& list = o.phases[outcome.phase - 1];
  if (recording) recorded[t.event - 1].after.assign(list.sources.begin(), list.sources.end());
  observe(t, op, who, list);
  if (o.sort == ObjectSort::kMbarrier && outcome.phase == event.before.phase) o.observations.push_back(seen);
}

// --- groups -----------------------------------------------------------------------------------------------------------

void GpuMachine::Impl::perform_group_wait(Thread& t, const VisibleOp& op) {
  const Object& o = objects[index(op.op.object)];
  const auto component = static_cast<uint32_t>(o.offset);
  const uint32_t lane = component - t.base;
  const bool read_side = op.op.kind == OpKind::kWaitRead;
  const Lane::Groups& state = lanes[component].groups[index(o.region)];
  for (uint64_t i = 0; i < op.op.operand; ++i) {
    const AsyncOp& done = ops[state.grouped[i]];
    const bool generic = !done.copy.writes_async && !done.copy.reads_async;
    t.clocks.acquire_completion(pool, LaneMask{1} << lane, {done.component, read_side ? 1U : 3U, component, generic});
    if (recording && done.issue_event < recorded.size()) {
      for (uint32_t e = done.issue_event; e < recorded.size(); ++e) {
        if (recorded[e].agent == done.agent) recorded[t.event - 1].after.push_back(e);
      }
    }
  }
  group_waits.push_back({component, t.clocks.tick(), index(t.id), snapshot_of(t, lane)});
}

}  // namespace warpcheck
