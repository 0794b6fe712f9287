// The tensor core: MMAs, copies, loads and stores, and the tensor memory that they work on.
//
// An operation acts when it is issued. Its accesses are plain ones, checked by clock, so that acting later could show
// nothing that a race does not; only a commit, which arrives at a barrier, has a step of its own. A queue's operations
// share one clock component, since what is awaited of a queue is always all up to some operation.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "model/check.h"
#include "model/dependence.h"
#include "model/gpu_machine_impl.h"
#include "model/tensor_memory.h"

namespace warpcheck {
namespace {

const char* noun_of(TensorKind kind) {
  switch (kind) {
    case TensorKind::kCopy:
    case TensorKind::kNarrowCopy: return "tensor copy";
    case TensorKind::kShift: return "shift";
    case TensorKind::kLoad: return "tensor load";
    case TensorKind::kStore: return "tensor store";
    case TensorKind::kNone:
    case TensorKind::kMma:
    case TensorKind::kWarpgroupMma: break;
  }
  return "MMA";
}

// Rows in which those who waited know of it; use of a result tells the default reading alone.
constexpr std::array kWaited = {kGeneric, kControl, kHanded, kAsyncShared, kAsyncGlobal, kStrictGeneric, kStrictAsyncShared,
                                kStrictAsyncGlobal, kTensor};
constexpr std::array kUsed = {kGeneric, kControl, kHanded, kAsyncShared, kAsyncGlobal};
// What all lanes of a warp did together each of them did before what it does next.
constexpr std::array kTogether = {kGeneric, kControl, kHanded, kStrictGeneric, kTensor};

uint64_t units_of(const Range& range) {
  constexpr uint64_t kColumn = kQuarterLanes * 4;
  const uint64_t first = range.offset / kColumn % kTensorColumns;
  const uint64_t last = (range.offset + std::max<uint32_t>(range.bytes, 1) - 1) / kColumn % kTensorColumns;
  uint64_t units = 0;
  for (uint64_t unit = first / kTensorUnit; unit <= last / kTensorUnit; ++unit) units |= uint64_t{1} << unit;
  return units;
}

}  // namespace

RegionId GpuMachine::Impl::tensor_region(uint32_t block) const {
  for (uint32_t i = 0; i < model.regions.size(); ++i) {
    if (model.regions[i].space == Space::kTensor && model.regions[i].block == block) return RegionId{i};
  }
  return kNoRegion;
}

TensorQueueState& GpuMachine::Impl::tensor_queue(uint32_t owner, TensorQueue queue) {
  uint32_t& at = lanes[owner].queues[static_cast<size_t>(queue)];
  journal.stop();
  if (at == 0) {
    pool.raise_level(ClockLevel::kProxies);
    TensorQueueState made;
    made.owner = owner;
    made.queue = queue;
    made.component = run.components++;
    pool.ensure_components(run.components);
    tensor_queues.push_back(std::move(made));
    at = static_cast<uint32_t>(tensor_queues.size());
  }
  return tensor_queues[at - 1];
}

uint32_t GpuMachine::Impl::issue_tensor(Thread& t, LaneMask who, uint32_t owner, const TensorOp& op, uint32_t number) {
  begin_event(t, op.site);
  TensorQueueState& queue = tensor_queue(owner, op.queue);
  const uint32_t tick = number != 0 ? number : queue.issued + 1;
  queue.issued = std::max(queue.issued, tick);
  const auto lane = static_cast<uint32_t>(std::countr_zero(who));
  const AgentId agent = intern({t.base + lane, ++this->lane(t.base + lane).issued, t.block});
  agents[index(agent)].noun = noun_of(op.kind);
  AccessRecord shape;
  shape.component = queue.component;
  shape.tick = tick;
  shape.operation = true;
  shape.tensor = op.kind;
  shape.accumulator = op.accumulator;
  shape.tensor_blocks = op.blocks;
  shape.block = t.block;
  shape.agent = agent;
  shape.site = op.site;
  shape.issuer = t.base + lane;
  shape.issue_tick = t.clocks.tick();
  shape.issuer_thread = index(t.id);
  shape.step = run.steps;
  if (recording) {
    const uint32_t issued = record_event(t.agent, false, op.site, "issue " + instruction(op.site), "");
    const Range named = !op.writes.empty() ? op.writes.front() : !op.reads.empty() ? op.reads.front() : Range{};
    const std::string object = named.region == kNoRegion ? "" : memory.variable_name(named);
    const std::string text = object.empty() ? "compute" : (op.writes.empty() ? "read " : "write ") + object + memory.range_text(named);
    const uint32_t acted = record_event(agent, false, op.site, text, object);
    recorded[acted].after.push_back(issued);
    recorded[acted].born_by = t.agent;
  }
  const auto each = [&](const std::vector<Range>& ranges, AccessMode mode) {
    shape.mode = mode;
    for (const Range& range : ranges) {
      if (!memory.inside(range)) {
        report(FindingKind::kOutOfBounds, index(range.region) < model.regions.size() ? memory.variable_name(range) : "memory",
               "a tensor-core operation leaves the memory that it belongs to",
               {site_of(agent, 1, mode == AccessMode::kWrite ? "tensor-core write" : "tensor-core read", op.site)});
        continue;
      }
      if (memory.spec(range.region).space == Space::kShared) {
        queue.reads_shared = tick;
        queue.site = op.site;
        queue.agent = agent;
        if (memory.spec(range.region).block == t.block) queue.read = range;  // others': a matter of their lifetime
      }
      access_tensor(t, who, shape, range);
    }
  };
  each(op.reads, AccessMode::kRead);
  each(op.writes, AccessMode::kWrite);
  return tick;
}

// The lanes issue together: none of them may do so too early.
void GpuMachine::Impl::access_tensor(Thread& t, LaneMask who, const AccessRecord& shape, const Range& range) {
  const RegionSpec& region = memory.spec(range.region);
  AccessRecord record = shape;
  record.async = region.space == Space::kShared;
  record.begin = range.offset;
  record.end = range.offset + range.bytes;
  if (region.space == Space::kTensor) {
    const ObjectId id = self.tensor_memory(region.block);
    if ((units_of(range) & ~object(id).state.word[0]) != 0) {
      unallocated_uses.push_back({range, record.issuer, record.issue_tick, record.site, record.agent, 1});
    }
  } else if (!live_barriers[index(range.region)].empty()) {
    touch_barriers(range, site_of(record.agent, 1, "tensor-core read", record.site));
  }
  if (region.block != t.block) {
    const RemoteAccess remote{region.block, record.component, record.tick, record.site, record.agent, 1, range, writes(record.mode)};
    const size_t known = remote_accesses.size();
    const RemoteAccess* last = known == 0 ? nullptr : &remote_accesses[known - 1];
    if (last != nullptr && last->component == remote.component && last->owner == remote.owner && last->site == remote.site) {
      remote_accesses.edit(known - 1) = remote;  // who knows of the later one knows of the earlier
    } else {
      remote_access(t.clocks.view(pool, record.issuer - t.base), remote);
    }
  }
  for (LaneMask rest = who; rest != 0;) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(rest));
    const LaneMask alike = t.clocks.lane_class(lane).lanes & rest;
    // Lanes whose clocks agree still differ in what each did itself: of two, one at least is not ordered after it.
    record.snapshot = snapshot_of(t, lane);
    access(record, range, t.clocks.view(pool, lane), nullptr);
    if (const LaneMask others = alike & (alike - 1); others != 0) {
      access(record, range, t.clocks.view(pool, static_cast<uint32_t>(std::countr_zero(others))), nullptr);
    }
    rest &= ~alike;
  }
}

void GpuMachine::Impl::wait_tensor(Thread& t, LaneMask who, uint32_t owner, TensorQueue queue, uint32_t number) {
  if (number == 0) return;
  t.clocks.know(pool, who, kWaited, tensor_queue(owner, queue).component, number);
}

// Loads may complete in any order: only when all before it were used, too, does the use of one tell of them.
void GpuMachine::Impl::use_tensor_load(Thread& t, LaneMask who, uint32_t owner, uint32_t number) {
  TensorQueueState& queue = tensor_queue(owner, TensorQueue::kLoad);
  if (number > queue.prefix && std::find(queue.used.begin(), queue.used.end(), number) == queue.used.end()) {
    queue.used.push_back(number);
  }
  while (std::erase(queue.used, queue.prefix + 1) != 0) ++queue.prefix;
  if (queue.prefix > 0) t.clocks.know(pool, who, kUsed, queue.component, queue.prefix);
}

// --- allocation -------------------------------------------------------------------------------------------------------

void GpuMachine::Impl::perform_tensor_memory(Thread& t, const VisibleOp& op, LaneMask who, const Outcome& outcome) {
  journal.stop();
  pool.raise_level(ClockLevel::kTensorCore);
  if (op.op.kind == OpKind::kTensorFree) return free_tensor(t, op, who);
  if (op.op.kind != OpKind::kTensorAlloc) return;
  const auto misuse = [&](const char* message) {
    report(FindingKind::kLifetime, object_name(op.op.object), message, {site_of(t.agent, who, "allocation", op.site)});
  };
  if (outcome.result == kNoColumns) {
    return misuse((event.before.word[0] & kRelinquished) != 0 ? "an allocation after the block relinquished the right to allocate"
                                                              : "an allocation of more columns than there are");
  }
  if (event.before.word[1] != 0 && op.op.operand > event.before.word[1]) misuse("an allocation is larger than the one before it");
  allocate_tensor(t, op, who, static_cast<uint32_t>(outcome.result));
}

void GpuMachine::Impl::allocate_tensor(Thread& t, const VisibleOp& op, LaneMask who, uint32_t column) {
  Object& o = object(op.op.object);
  const auto columns = static_cast<uint32_t>(op.op.operand);
  o.allocations.push_back({column, columns, op.site, t.agent, who});
  if (o.freed != kNoBundle) t.clocks.join_tensor(pool, who, o.freed);  // the allocator hands columns on
  const auto lane = static_cast<uint32_t>(std::countr_zero(who));
  const ClockView view = t.clocks.view(pool, lane);
  const RegionId region = tensor_region(index(o.region));
  // Uses of these columns that came before it in order had none; those without order are races.
  std::erase_if(unallocated_uses, [&](const UnallocatedUse& use) {
    const uint64_t taken = units_of({region, tensor_offset(0, column), columns * kQuarterLanes * 4});
    if (use.range.region != region || (units_of(use.range) & taken) == 0) return false;
    if (view.at(kGeneric, use.component) < use.tick) return true;
    report(FindingKind::kLifetime, memory.variable_name(use.range), "tensor memory is used while it is not allocated",
           {site_of(use.agent, use.lanes, "use", use.site)});
    return true;
  });
  write_columns(t, who, column, columns);
  if (op.word.region != kNoRegion && admit(t, LaneMask{1} << lane, op.word, true)) {
    if (!live_barriers[index(op.word.region)].empty()) touch_barriers(op.word, site_of(t.agent, who, "write", t.site));
    AccessRecord record = record_of(t, lane, AccessMode::kWrite, op.word);
    record.address_word = true;
    access(record, op.word, view, nullptr);
    memory.write(op.word, &column, ValueTag::kKnown);
  }
  t.clocks.know(pool, who, kTogether, t.base + lane, t.clocks.tick());
}

void GpuMachine::Impl::free_tensor(Thread& t, const VisibleOp& op, LaneMask who) {
  Object& o = object(op.op.object);
  const auto column = static_cast<uint32_t>(op.op.operand), columns = static_cast<uint32_t>(op.op.bytes);
  const size_t before = o.allocations.size();
  o.allocations.erase_if([&](const TensorAllocation& made) { return made.column == column && made.columns == columns; });
  if (o.allocations.size() == before) {
    report(FindingKind::kLifetime, object_name(op.op.object), "columns are freed that were not allocated so",
           {site_of(t.agent, who, "deallocation", op.site)});
  }
  if (column + columns <= kTensorColumns) write_columns(t, who, column, columns);
  if (o.freed == kNoBundle) o.freed = pool.allocate();
  t.clocks.publish_row(pool, who, kGeneric, o.freed);
  t.clocks.publish_row(pool, who, kTensor, o.freed);
  t.clocks.know(pool, who, kTogether, t.base + static_cast<uint32_t>(std::countr_zero(who)), t.clocks.tick());
}

// Allocation and its end write the columns: they hold nothing afterwards.
void GpuMachine::Impl::write_columns(Thread& t, LaneMask who, uint32_t column, uint32_t columns) {
  const RegionId region = tensor_region(t.block);
  if (region == kNoRegion) return;
  const auto lane = static_cast<uint32_t>(std::countr_zero(who));
  std::vector<Range> ranges;
  add_tensor_ranges(region, 0, kTensorLanes, column, columns, ranges);
  for (const Range& range : ranges) {
    access(record_of(t, lane, AccessMode::kWrite, range), range, t.clocks.view(pool, lane), nullptr);
    memory.erase(range);
  }
}

void GpuMachine::Impl::check_tensor_memory() {
  for (const UnallocatedUse& use : unallocated_uses) {
    report(FindingKind::kLifetime, memory.variable_name(use.range), "tensor memory is used while it is not allocated",
           {site_of(use.agent, use.lanes, "use", use.site)});
  }
  for (uint32_t i = 0; i < objects.size(); ++i) {
    for (const TensorAllocation& left : objects[i].allocations) {
      report(FindingKind::kLifetime, object_name(ObjectId{i}), fmt::format("{} columns are still allocated at exit", left.columns),
             {site_of(left.agent, left.lanes, "allocation", left.site)});
    }
  }
  for (const TensorQueueState& queue : tensor_queues) {
    if (queue.read.region == kNoRegion) continue;
    const BundleId end = block_end[memory.spec(queue.read.region).block];
    if (end != kNoBundle && pool.row(end, kControl)[queue.component] >= queue.reads_shared) continue;
    report(FindingKind::kUnawaitedAsync, memory.variable_name(queue.read),
           "the block may end before an MMA has read its shared memory", {site_of(queue.agent, 1, "tensor-core read", queue.site)});
  }
}

// --- the thread API ---------------------------------------------------------------------------------------------------

uint32_t GpuMachine::issue_tensor(ThreadId thread, LaneMask lanes, uint32_t owner, const TensorOp& op, uint32_t number) {
  return impl_->issue_tensor(impl_->thread(thread), lanes, owner, op, number);
}
void GpuMachine::wait_tensor(ThreadId thread, LaneMask lanes, uint32_t owner, TensorQueue queue, uint32_t number) {
  impl_->wait_tensor(impl_->thread(thread), lanes, owner, queue, number);
}
void GpuMachine::use_tensor_load(ThreadId thread, LaneMask lanes, uint32_t owner, uint32_t number) {
  impl_->use_tensor_load(impl_->thread(thread), lanes, owner, number);
}
uint32_t GpuMachine::tensor_issued(uint32_t owner, TensorQueue queue) const {
  const uint32_t at = impl_->lanes[owner].queues[static_cast<size_t>(queue)];
  return at == 0 ? 0 : impl_->tensor_queues[at - 1].issued;
}
void GpuMachine::commit_tensor(ThreadId thread, uint32_t lane, ObjectId barrier, uint32_t block, SiteId site) {
  AsyncCopy commit;
  commit.barrier = barrier;
  commit.block = block;
  commit.site = site;
  commit.tensor_commit = true;
  impl_->issue(impl_->thread(thread), lane, commit);
}
ObjectId GpuMachine::tensor_memory(uint32_t block) { return impl_->intern_object(ObjectSort::kTensorMemory, block, 0); }
RegionId GpuMachine::tensor_region(uint32_t block) const { return impl_->tensor_region(block); }
ObjectId GpuMachine::warpgroup_barrier(uint32_t block, uint32_t warpgroup, uint32_t number) {
  return impl_->intern_object(ObjectSort::kWarpgroup, block, uint64_t{warpgroup} << 32U | number);
}
void GpuMachine::peek(Range range, uint8_t* bytes, uint8_t* tags) const { impl_->memory.read_raw(range, bytes, tags); }
void GpuMachine::poke(Range range, const uint8_t* bytes, const uint8_t* tags) { impl_->memory.write_raw(range, bytes, tags); }

}  // namespace warpcheck
