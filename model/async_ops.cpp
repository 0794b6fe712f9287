// Asynchronous copies: agents that read their source, write their destination and signal, each at a later moment.
//
// Outside --plain-steps the three moments are one step: reads and writes are plain accesses, checked by clock, so only the
// signal can make a difference that a race would not show.
#include <algorithm>
#include <cstring>

#include "model/check.h"
#include "model/gpu_machine_impl.h"

namespace warpcheck {
namespace {

constexpr uint32_t kReadTick = 1, kWriteTick = 2, kCompleteTick = 3;

}  // namespace

void GpuMachine::Impl::issue(Thread& t, uint32_t lane, const AsyncCopy& copy) {
  begin_event(t, copy.site);
  pool.raise_level(ClockLevel::kProxies);
  const uint32_t component = components++;
  pool.ensure_components(components);
  if (ops_used == ops.size()) ops.emplace_back();
  const uint32_t number = ops_used++;
  AsyncOp& op = ops[number];
  Lane& issuer = lanes[t.base + lane];
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
    issuer.grouped.push_back(number);
    op.group_number = static_cast<uint32_t>(issuer.grouped.size());
    issuer.group = intern_object(ObjectSort::kGroup, 0, t.base + lane);
  }
  const auto drop_outside = [&](std::vector<Range>& pieces, bool write) {
    std::erase_if(pieces, [&](const Range& piece) {
      if (memory.inside(piece)) return false;
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
  set_pending(op.agent, next_moment(op));
}

Operation GpuMachine::Impl::completion_of(AsyncOp& op) {
  Operation result;
  if (op.copy.barrier != kNoObject) {
    result.object = op.copy.barrier;
    result.kind = op.copy.complete_bytes == 0 ? OpKind::kArrive : OpKind::kCompleteTx;
    result.operand = op.copy.complete_bytes == 0 ? 1 : 0;
    result.bytes = op.copy.complete_bytes;
    result.covers = coverage(object(op.copy.barrier), op.bundle, nullptr, 1);
    result.covers_phase = object(op.copy.barrier).state.phase;
  } else if (op.copy.grouped) {
    result.object = lanes[op.issuer].group;
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
        moment.op.object = lanes[op.issuer].group;
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
  moment.op = completion_of(op);
  return moment;
}

void GpuMachine::Impl::tick(AsyncOp& op, uint32_t value) { pool.join_component(op.bundle, op.component, value); }

void GpuMachine::Impl::read_source(AsyncOp& op) {
  tick(op, kReadTick);
  const ClockView view{&pool, op.bundle, op.component, nullptr};
  for (const Range& piece : op.copy.reads) {
    access(record_of(op, kReadTick, AccessMode::kRead, piece, op.copy.reads_async), piece, view, nullptr);
    const size_t at = op.bytes.size();
    op.bytes.resize(at + piece.bytes);
    op.tags.resize(at + piece.bytes);
    memory.read_raw(piece, &op.bytes[at], &op.tags[at]);
  }
  op.read_done = true;
}

void GpuMachine::Impl::write_destination(AsyncOp& op) {
  tick(op, kWriteTick);
  const ClockView view{&pool, op.bundle, op.component, nullptr};
  size_t at = 0;
  for (const Range& piece : op.copy.writes) {
    access(record_of(op, kWriteTick, AccessMode::kWrite, piece, op.copy.writes_async), piece, view, nullptr);
    const RegionSpec& region = memory.spec(piece.region);
    if (region.space == Space::kShared && region.block != op.issuer_block) {
      remote_access(view, {region.block, op.component, kWriteTick, op.copy.site, op.agent, 1, piece, true});
    }
    if (!live_barriers[index(piece.region)].empty()) touch_barriers(piece, site_of(op.agent, 1, "async write", op.copy.site));
    if (at + piece.bytes > op.bytes.size()) break;  // a source piece was out of bounds
    memory.write_raw(piece, &op.bytes[at], &op.tags[at]);
    at += piece.bytes;
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
    AccessRecord use = record_of(op, kCompleteTick, AccessMode::kUse, range, true);
    use.block = op.copy.block;
    access(use, range, view, nullptr);
  }
  if (outcome.effect == Effect::kNothing) {
    o.dead_uses.emplace_back(op.copy.site, op.agent);
    return;
  }
  if (outcome.overrun) {
    report(FindingKind::kBarrierMisuse, object_name(op.copy.barrier), "an arrival beyond the pending count", {here()});
    return;
  }
  while (o.phases.size() <= outcome.phase) o.phases.emplace_back();
  ReleaseList& list = o.phases[outcome.phase];
  if (recording) list.sources.push_back(static_cast<uint32_t>(recorded.size() - 1));
  list.completions.push_back({op.component, kCompleteTick, op.issuer, false});
  pool.join_row(list.control_bundle(pool), kControl, op.bundle, kControl);
  if (op.copy.complete_bytes == 0) {  // one arrival: it hands on what its issuer had done when it was issued
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
      text = "write " + memory.variable_name(piece) + memory.range_text(piece);
      break;
    }
    if (taken.object != kNoObject) text += (text.empty() ? "" : ", ") + describe(taken);
    const uint32_t at = record_event(op.agent, true, op.copy.site, text, taken.object == kNoObject ? "" : object_name(taken.object));
    recorded[at].after.push_back(op.issue_event);
    recorded[at].born_by = agents[index(op.agent)].events == 1 ? recorded[op.issue_event].agent : kNoAgent;
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
