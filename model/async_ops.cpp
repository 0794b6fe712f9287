// Asynchronous copies: agents that read their source, write their destination and signal, each at a later moment.
//
// Outside --plain-steps the three moments are one step: reads and writes are plain accesses, checked by clock, so only the
// signal can make a difference that a race would not show.
#include <algorithm>
#include <cstring>

#include "model/check.h"
#include "model/dependence.h"
#include "model/gpu_machine_impl.h"

namespace warpcheck {
namespace {

constexpr uint32_t kReadTick = 1, kWriteTick = 2, kCompleteTick = 3;

// A swizzled tile moves in chunks of 16 bytes (PTX ISA, tensors: swizzling modes). `apply(at, where)`: the chunk that lies
// `at` bytes into the tile, and its place in shared memory.
template <class Function>
void for_chunks(const Range& piece, uint32_t swizzle, Function&& apply) {
  for (uint32_t at = 0; at < piece.bytes; at += 16) {
    const uint64_t offset = piece.offset + at;
    apply(at, Range{piece.region, offset ^ (offset >> 3 & swizzle), std::min(16U, piece.bytes - at)});
  }
}

}  // namespace

void GpuMachine::Impl::issue(Thread& t, uint32_t lane, const AsyncCopy& copy) {
  begin_event(t, copy.site);
  pool.raise_level(ClockLevel::kProxies);
  const uint32_t component = now().components++;
  pool.ensure_components(run.components);
  if (run.ops_used == ops.size()) ops.emplace_back();
  const uint32_t number = now().ops_used++;
  AsyncOp& op = operation(number);
  Lane& issuer = this->lane(t.base + lane);
  op.component = component;
  op.bundle = pool.allocate();
  t.clocks.publish(pool, LaneMask{1} << lane, op.bundle);
  op.snapshot = snapshot_of(op.bundle);
  op.issuer = t.base + lane;
  op.issuer_thread = index(t.id);
  op.issuer_block = t.block;
  op.issue_tick = t.clocks.tick();
  op.copy = copy;
  op.stage = 0;
  op.read_done = op.done = false;
  op.bytes.clear();
  op.tags.clear();
  op.group_number = 0;
  if (copy.grouped) {
    Lane::Groups& groups = issuer.of(copy.groups);
    groups.grouped.push_back(number);
    op.group_number = static_cast<uint32_t>(groups.grouped.size());
  }
  if (copy.tracks) op.group_number = static_cast<uint32_t>(issuer.of(GroupKind::kSmall).grouped.size());
  op.covers = op.covers_tick = 0;
  if (copy.tensor_commit) journal.stop();
  if (copy.tensor_commit) {  // the fence before a synchronization is part of it
    pool.raise_level(ClockLevel::kTensorCore);
    t.clocks.tensor_fence(pool, kTensor, kTensorSync);
    pool.join_row(op.bundle, kTensorSync, op.bundle, kTensor);
    if (const uint32_t queue = issuer.queues[static_cast<size_t>(TensorQueue::kMatrix)]; queue != 0) {
      op.covers = tensor_queues[queue - 1].component;
      op.covers_tick = tensor_queues[queue - 1].issued;
    }
  }
  const auto drop_outside = [&](std::vector<Range>& pieces, bool write) {
    std::erase_if(pieces, [&](const Range& piece) {
      if (piece.region == kNoRegion || memory.inside(piece)) return false;
      report(FindingKind::kOutOfBounds,
             index(piece.region) < model.regions.size() ? memory.variable_name(piece) : "memory",
             "an asynchronous copy leaves the memory that it belongs to",
             {site_of(t.agent, LaneMask{1} << lane, write ? "async write" : "async read", copy.site)});
      return true;
    });
  };
  drop_outside(op.copy.reads, false);
  drop_outside(op.copy.writes, true);
  if (recording) {
    op.issue_event = record_event(t.agent, false, copy.site, "issue " + instruction(copy.site), "");
  }
  op.agent = intern({t.base + lane, ++issuer.issued, copy.block});
  begin_agent(op.agent, false, number);
  agents[index(op.agent)].noun = copy.tensor_commit ? "commit" : "copy";
  set_pending(op.agent, next_moment(op));
}

ObjectId GpuMachine::Impl::group_object(uint32_t component, GroupKind kind) {
  return intern_object(ObjectSort::kGroup, static_cast<uint64_t>(kind), component);
}

Operation GpuMachine::Impl::completion_of(AsyncOp& op) {
  Operation result;
  if (op.copy.barrier != kNoObject) {
    result.object = op.copy.barrier;
    result.kind = op.copy.complete_bytes == 0 ? OpKind::kArrive : OpKind::kCompleteTx;
    result.operand = op.copy.complete_bytes == 0 ? 1 : 0;
    result.bytes = op.copy.complete_bytes;
    result.covers = coverage(objects[index(op.copy.barrier)], op.bundle, nullptr, 1);
    result.covers_phase = objects[index(op.copy.barrier)].state.phase;
  } else if (op.copy.grouped) {
    result.object = group_object(op.issuer, op.copy.groups);
    result.kind = OpKind::kCopyDone;
    result.operand = op.group_number;
  }
  return result;
}

// The chunk-th part of the pieces: up to 8 bytes inside one granule. `at`: how many bytes come before it.
bool GpuMachine::Impl::piece_at(const std::vector<Range>& pieces, uint32_t chunk, Range& range, uint64_t& at) const {
  at = 0;
  for (const Range& piece : pieces) {
    uint64_t offset = piece.offset;
    while (offset < piece.offset + piece.bytes) {
      const uint64_t stop = std::min<uint64_t>(piece.offset + piece.bytes, (offset & ~uint64_t{7}) + 8);
      if (chunk-- == 0) {
        range = {piece.region, offset, static_cast<uint32_t>(stop - offset)};
        return true;
      }
      at += stop - offset;
      offset = stop;
    }
  }
  return false;
}

// Stages under --plain-steps: each chunk read, the read side done (groups), each chunk written, complete.
VisibleOp GpuMachine::Impl::next_moment(AsyncOp& op) {
  VisibleOp moment;
  moment.site = op.copy.site;
  if (model.plain_steps) {
    Range range;
    uint64_t at = 0;
    uint32_t stage = op.stage;
    if (piece_at(op.copy.reads, stage, range, at)) {
      moment.op = self.word_op(OpKind::kPlainLoad, range);
      return moment;
    }
    uint32_t reads = 0;
    while (piece_at(op.copy.reads, reads, range, at)) ++reads;
    stage -= reads;
    if (op.copy.grouped) {
      if (stage == 0) {
        moment.op.kind = OpKind::kReadDone;
        moment.op.object = group_object(op.issuer, op.copy.groups);
        moment.op.operand = op.group_number;
        return moment;
      }
      --stage;
    }
    if (piece_at(op.copy.writes, stage, range, at)) {
      moment.op = self.word_op(OpKind::kPlainStore, range);
      std::memcpy(&moment.op.operand, &op.bytes[std::min(at, op.bytes.size() - range.bytes)], range.bytes);
      return moment;
    }
  }
  if (op.copy.tracks && op.stage == 0 && op.group_number > 0) {
    moment.op.kind = OpKind::kWaitGroup;
    moment.op.object = group_object(op.issuer, GroupKind::kSmall);
    moment.op.operand = op.group_number;
    return moment;
  }
  moment.op = completion_of(op);
  return moment;
}

void GpuMachine::Impl::tick(AsyncOp& op, uint32_t value) { pool.join_component(op.bundle, op.component, value); }

void GpuMachine::Impl::read_source(AsyncOp& op) {
  op.bytes.clear();
  op.tags.clear();
  tick(op, kReadTick);
  const ClockView view{&pool, op.bundle, op.component, nullptr};
  if (op.copy.map.region != kNoRegion) {
    AccessRecord record = record_of(op, kReadTick, AccessMode::kRead, op.copy.map, true);
    record.map = true;
    access(record, op.copy.map, view, nullptr);
  }
  for (const Range& piece : op.copy.reads) {
    const size_t at = op.bytes.size();
    op.bytes.resize(at + piece.bytes);
    op.tags.resize(at + piece.bytes);
    if (piece.region == kNoRegion) {
      const size_t period = std::max<size_t>(op.copy.fill.size(), 1);
      for (size_t i = 0; i < piece.bytes; ++i) op.bytes[at + i] = op.copy.fill.empty() ? 0 : op.copy.fill[i % period];
      const ValueTag tag = op.copy.fill_opaque ? ValueTag::kOpaque : ValueTag::kKnown;
      std::fill_n(op.tags.begin() + static_cast<std::ptrdiff_t>(at), piece.bytes, static_cast<uint8_t>(tag));
      continue;
    }
    access(record_of(op, kReadTick, AccessMode::kRead, piece, op.copy.reads_async), piece, view, nullptr);
    if (op.copy.swizzle != 0 && memory.spec(piece.region).space == Space::kShared) {
      for_chunks(piece, op.copy.swizzle, [&](uint64_t from, const Range& chunk) {
        memory.read_raw(chunk, &op.bytes[at + from], &op.tags[at + from]);
      });
    } else {
      memory.read_raw(piece, &op.bytes[at], &op.tags[at]);
    }
  }
  op.read_done = true;
}

void GpuMachine::Impl::write_destination(AsyncOp& op) {
  tick(op, kWriteTick);
  const ClockView view{&pool, op.bundle, op.component, nullptr};
  size_t at = 0;
  for (const Range& piece : op.copy.writes) {
    if (piece.region == kNoRegion) {
      at += piece.bytes;
      continue;
    }
    AccessRecord record = record_of(op, kWriteTick, AccessMode::kWrite, piece, op.copy.writes_async);
    if (op.copy.reduce != Rmw::kNone) {
      record.strong = true;
      record.scope = Scope::kDevice;
      record.element = op.copy.element_bytes;
      record.reduces = op.copy.reduce;
    }
    access(record, piece, view, nullptr);
    const RegionSpec& region = memory.spec(piece.region);
    if (region.space == Space::kShared && region.block != op.issuer_block) {
      remote_access(view, {region.block, op.component, kWriteTick, op.copy.site, op.agent, 1, piece, true});
    }
    if (!live_barriers[index(piece.region)].empty()) touch_barriers(piece, site_of(op.agent, 1, "async write", op.copy.site));
    if (at + piece.bytes > op.bytes.size()) break;  // a source piece was out of bounds
    if (op.copy.reduce != Rmw::kNone) {
      reduce(op, piece, at);
    } else if (op.copy.swizzle != 0 && region.space == Space::kShared) {
      for_chunks(piece, op.copy.swizzle, [&](uint64_t from, const Range& chunk) {
        memory.write_raw(chunk, &op.bytes[at + from], &op.tags[at + from]);
      });
    } else {
      memory.write_raw(piece, &op.bytes[at], &op.tags[at]);
    }
    at += piece.bytes;
  }
}

void GpuMachine::Impl::reduce(const AsyncOp& op, const Range& piece, size_t at) {
  const uint32_t size = op.copy.element_bytes;
  for (uint32_t i = 0; i + size <= piece.bytes; i += size) {
    const Range element{piece.region, piece.offset + i, size};
    std::array<uint8_t, 8> tags{};
    uint64_t old = 0;
    memory.read_raw(element, reinterpret_cast<uint8_t*>(&old), tags.data());
    Operation combined;
    combined.kind = OpKind::kReduce;
    combined.rmw = op.copy.reduce;
    combined.size = static_cast<uint8_t>(size);
    std::memcpy(&combined.operand, &op.bytes[at + i], size);
    ObjectState state;
    state.word[0] = old;
    const Outcome outcome = evaluate(combined, state);
    for (uint32_t b = 0; b < size; ++b) tags[b] |= op.tags[at + i + b];
    memory.write_raw(element, reinterpret_cast<const uint8_t*>(outcome.after.word.data()), tags.data());
  }
}

void GpuMachine::Impl::complete(AsyncOp& op, const Outcome& outcome) {
  tick(op, kCompleteTick);
  op.done = true;
  if (op.copy.barrier == kNoObject) return;
  Object& o = object(op.copy.barrier);
  const auto here = [&] { return site_of(op.agent, 1, "completion", op.copy.site); };
  if (o.sort == ObjectSort::kMbarrier) {
    const Range range{o.region, o.offset, 8};
    const ClockView view{&pool, op.bundle, op.component, nullptr};
    AccessRecord use = record_of(op, kCompleteTick, AccessMode::kUse, range, op.copy.writes_async);
    use.block = op.copy.block;
    access(use, range, view, nullptr);
  }
  if (outcome.effect == Effect::kNothing) {
    o.dead_uses.push_back({op.copy.site, op.agent});
    return;
  }
  if (outcome.overrun) {
    report(FindingKind::kBarrierMisuse, object_name(op.copy.barrier), "an arrival beyond the pending count", {here()});
    return;
  }
  while (o.phases.size() <= outcome.phase) o.phases.emplace_back(journal);
  ReleaseList& list = o.phases.held(outcome.phase);
  if (recording) list.sources.push_back(static_cast<uint32_t>(recorded.size() - 1));
  list.completions.push_back({op.component, kCompleteTick, op.issuer, false});
  if (op.copy.tracks) {  // whoever observes the phase sees what the copies wrote, through the generic proxy
    const Lane::Groups& groups = lanes[op.issuer].of(GroupKind::kSmall);
    for (uint32_t i = 0; i < op.group_number; ++i) {
      const AsyncOp& copy = ops[groups.grouped[i]];
      list.completions.push_back({copy.component, kCompleteTick, op.issuer, true});
    }
  }
  pool.join_row(list.control_bundle(pool), kControl, op.bundle, kControl);
  if (op.copy.tensor_commit) {
    if (op.covers != 0) list.completions.push_back({op.covers, op.covers_tick, op.issuer, false});
    pool.join_row(list.control, kTensorSync, op.bundle, kTensorSync);
    // What the operations were ordered after when they reached memory, whoever waits for them is, too.
    for (const ClockKind row : kAsyncRows) pool.join_row(list.control, row, op.bundle, row);
    if (const RegionSpec& region = memory.spec(o.region); region.block != op.issuer_block) {
      remote_access({&pool, op.bundle, op.component, nullptr},
                    {region.block, op.component, kCompleteTick, op.copy.site, op.agent, 1, {o.region, o.offset, 8}, true});
    }
  } else if (op.copy.complete_bytes == 0 && !op.copy.tracks) {  // one arrival: it hands on what its issuer had done when it was issued
    pool.join(list.entry(pool, op.issuer_block, Scope::kSystem, 0), op.bundle);
  }
  o.steps.push_back({op.agent, 1, op.copy.site, "completion"});
  if (o.arrivals_control == kNoBundle) o.arrivals_control = pool.allocate();
  pool.join_row(o.arrivals_control, kControl, op.bundle, kControl);
  if (outcome.after.pending == 0 && outcome.after.tx < 0 && !outcome.completes) {
    report(FindingKind::kBarrierMisuse, object_name(op.copy.barrier), "more bytes completed than the phase expects",
           {here()});
  }
  if (outcome.completes) complete_phase(op.copy.barrier, outcome);
}

void GpuMachine::Impl::step_async(AsyncOp& op, const Outcome& outcome) {
  const Operation taken = event.op;
  if (recording) {
    std::string text;
    for (const Range& piece : op.copy.writes) {
      if (piece.region == kNoRegion) continue;
      text = "write " + memory.variable_name(piece) + memory.range_text(piece);
      break;
    }
    if (taken.object != kNoObject) text += (text.empty() ? "" : ", ") + describe(taken);
    const uint32_t at = record_event(op.agent, true, op.copy.site, text, taken.object == kNoObject ? "" : object_name(taken.object));
    recorded[at].after.push_back(op.issue_event);
    recorded[at].born_by = agents[index(op.agent)].events == 1 ? recorded[op.issue_event].agent : kNoAgent;
  }
  if (op.copy.tracks && taken.kind == OpKind::kWaitGroup) {
    op.stage = 1;
    set_pending(op.agent, next_moment(op));
    return;
  }
  if (!model.plain_steps) {
    read_source(op);
    write_destination(op);
    complete(op, outcome);
    return;
  }
  const ClockView view{&pool, op.bundle, op.component, nullptr};
  Range range;
  uint64_t at = 0;
  ++op.stage;
  switch (taken.kind) {
    case OpKind::kPlainLoad:
      tick(op, kReadTick);
      CHECK(piece_at(op.copy.reads, op.stage - 1, range, at));
      access(record_of(op, kReadTick, AccessMode::kRead, range, op.copy.reads_async), range, view, nullptr);
      op.bytes.resize(at + range.bytes);
      op.tags.resize(at + range.bytes);
      memory.read_raw(range, &op.bytes[at], &op.tags[at]);
      break;
    case OpKind::kReadDone:
      op.read_done = true;
      break;
    case OpKind::kPlainStore: {
      tick(op, kWriteTick);
      uint32_t reads = op.copy.grouped ? 1 : 0;
      while (piece_at(op.copy.reads, reads - (op.copy.grouped ? 1 : 0), range, at)) ++reads;
      CHECK(piece_at(op.copy.writes, op.stage - 1 - reads, range, at));
      access(record_of(op, kWriteTick, AccessMode::kWrite, range, op.copy.writes_async), range, view, nullptr);
      memory.write_raw(range, &op.bytes[at], &op.tags[at]);
      break;
    }
    default:
      op.read_done = true;
      complete(op, outcome);
      return;
  }
  set_pending(op.agent, next_moment(op));
}

}  // namespace warpcheck
