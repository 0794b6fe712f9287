// Asynchronous copies. cp.async.bulk: between global and shared memory, completing on an mbarrier by bytes or in a bulk
// group. cp.async: 4 to 16 bytes a lane from global to shared memory, in groups, through the generic proxy.
// The groups of the two are separate sequences.
#include <fmt/format.h>

#include <algorithm>

#include "frontends/ptx/bulk_copy.h"
#include "frontends/ptx/memory_operands.h"
#include "frontends/ptx/visible.h"

namespace warpcheck::ptx {

bool operands_take_effect(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask active) {
  for (const AddressOperand& address : code.at) {
    if (!interpreter.takes_effect(fragment, code, address.base, active, "address")) return false;
  }
  return interpreter.takes_effect(fragment, code, code.from[0], active, "operand") &&
         interpreter.takes_effect(fragment, code, code.from[1], active, "operand");
}

std::optional<Range> barrier_place(Interpreter& interpreter, Fragment& fragment, const Code& code, uint32_t lane) {
  const uint64_t address = address_of(*fragment.warp, code.at[2], MemorySpace::kShared, lane);
  const auto place = interpreter.place(fragment, MemorySpace::kShared, address, 8);
  if (place.mapped && place.space == MemorySpace::kShared && place.range.offset % 8 == 0) return place.range;
  report_unmapped(interpreter, fragment, code, 1U << lane, address, "barrier");
  return std::nullopt;
}

void issue_bulk(Interpreter& interpreter, Fragment& fragment, const Code& code, uint32_t lane, AsyncCopy copy, const std::optional<Range>& barrier) {
  if (!code.bulk && !barrier) return;
  copy.grouped = code.bulk;
  copy.groups = GroupKind::kBulk;
  copy.site = code.site;
  const uint32_t first_shared = interpreter.kernel().global_regions;
  const auto issue = [&](AsyncCopy made, const std::optional<Range>& signal) {
    made.block = fragment.warp->block;
    const uint32_t to = made.writes.empty() ? 0 : index(made.writes.front().region);
    if (!made.writes.empty() && made.writes.front().region != kNoRegion && to >= first_shared) made.block = to - first_shared;
    if (signal) {
      made.barrier = interpreter.machine().mbarrier(signal->region, signal->offset);
      made.complete_bytes = 0;
      for (const Range& piece : made.writes) made.complete_bytes += piece.bytes;
    }
    interpreter.machine().issue(fragment.thread, lane, made);
  };
  if (!code.count_given) return issue(std::move(copy), barrier);
  const auto blocks = static_cast<uint32_t>(value_of(*fragment.warp, code.from[1], lane)) & 0xffffU;
  const uint32_t size = interpreter.kernel().shape.cluster_blocks();
  const uint32_t first = fragment.warp->block / size * size;
  if (blocks >> size != 0) {
    interpreter.report(fragment, 1U << lane, code, FindingKind::kOutOfBounds, "copy", interpreter.machine().range_name(copy.writes.front()),
                       "the multicast names blocks that its cluster does not have");
  }
  for (uint32_t rank = 0; rank < size; ++rank) {
    if ((blocks >> rank & 1) == 0) continue;
    const auto moved = [&](Range range) {
      range.region = RegionId{interpreter.shared_region(first + rank)};
      return range;
    };
    AsyncCopy made = copy;
    for (Range& piece : made.writes) piece = moved(piece);
    issue(std::move(made), barrier ? std::optional<Range>(moved(*barrier)) : std::nullopt);
  }
}

std::string_view take_reduction(Modifiers& modifiers) {
  for (const std::string_view name : {"add", "min", "max", "inc", "dec", "and", "or", "xor"}) {
    if (modifiers.take(name)) return name;
  }
  throw NotSupported();
}

Rmw reduction_of(std::string_view name, std::string_view type) {
  const bool add = name == "add", min = name == "min", max = name == "max";
  if (type.starts_with("f16") && (add || min || max)) return add ? Rmw::kAddF16 : min ? Rmw::kMinF16 : Rmw::kMaxF16;
  if (type.starts_with("bf16") && (add || min || max)) return add ? Rmw::kAddBf16 : min ? Rmw::kMinBf16 : Rmw::kMaxBf16;
  if (type == "f32" && add) return Rmw::kAddF32;
  if (type == "f64" && add) return Rmw::kAddF64;
  if (type[0] != 'u' && type[0] != 's' && !(type[0] == 'b' && type[1] != 'f')) throw NotSupported();
  if (type_bytes(type) != 4 && type_bytes(type) != 8) throw NotSupported();
  const bool is_signed = type[0] == 's';
  if (add) return Rmw::kAdd;
  if (min) return is_signed ? Rmw::kMinS : Rmw::kMinU;
  if (max) return is_signed ? Rmw::kMaxS : Rmw::kMaxU;
  if (name == "and") return Rmw::kAnd;
  if (name == "or") return Rmw::kOr;
  if (name == "xor") return Rmw::kXor;
  return name == "inc" ? Rmw::kIncrement : Rmw::kDecrement;
}

namespace {

constexpr uint64_t kBulkAlignment = 16;

// One lane's copy. `at`: destination, source, mbarrier; from[0]: size; from[1]: blocks of a multicast.
class BulkCopy {
 public:
  BulkCopy(Interpreter& interpreter, Fragment& fragment, const Code& code, uint32_t lane)
      : interpreter_(interpreter), fragment_(fragment), code_(code), lane_(lane) {}

  void issue() {
    bytes_ = static_cast<uint32_t>(value_of(*fragment_.warp, code_.from[0], lane_));
    const auto to = operand(0, code_.space), from = operand(1, code_.source_space);
    if (!to || !from) return;
    if (!aligned(*to) || !aligned(*from) || bytes_ % kBulkAlignment != 0) {
      const Range& culprit = aligned(*to) ? *from : *to;
      interpreter_.report(fragment_, 1U << lane_, code_, FindingKind::kMisaligned, "copy", interpreter_.machine().range_name(culprit),
                          "addresses and size of a bulk copy must be multiples of 16");
      return;
    }
    if (bytes_ == 0) return;
    AsyncCopy copy;
    copy.reads = {*from};
    copy.writes = {*to};
    copy.reduce = code_.rmw;
    copy.element_bytes = code_.bytes;
    issue_bulk(interpreter_, fragment_, code_, lane_, std::move(copy),
               code_.bulk ? std::nullopt : barrier_place(interpreter_, fragment_, code_, lane_));
  }

 private:
  static bool aligned(const Range& range) { return range.offset % kBulkAlignment == 0; }

  std::optional<Range> operand(size_t i, MemorySpace space) {
    const uint64_t address = address_of(*fragment_.warp, code_.at[i], space, lane_);
    const auto place = interpreter_.place(fragment_, space, address, bytes_);
    if (place.mapped && (place.space == MemorySpace::kGlobal || place.space == MemorySpace::kShared)) return place.range;
    report_unmapped(interpreter_, fragment_, code_, 1U << lane_, address, "copy");
    return std::nullopt;
  }

  Interpreter& interpreter_;
  Fragment& fragment_;
  const Code& code_;
  const uint32_t lane_;
  uint32_t bytes_ = 0;
};

Flow run_bulk_copy(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask active) {
  if (!operands_take_effect(interpreter, fragment, code, active)) return Flow::kStop;
  interpreter.machine().begin_event(fragment.thread, code.site);
  each_lane(active, [&](uint32_t lane) { BulkCopy(interpreter, fragment, code, lane).issue(); });
  return Flow::kNext;
}

GroupKind kind_of(const Code& code) { return code.bulk ? GroupKind::kBulk : GroupKind::kSmall; }

Flow run_commit(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask active) {
  interpreter.machine().begin_event(fragment.thread, code.site);
  each_lane(active, [&](uint32_t lane) { interpreter.machine().commit_group(fragment.thread, lane, kind_of(code)); });
  return Flow::kNext;
}

// Each lane has groups of its own; those without any wait for nothing.
Flow run_wait_group(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask active) {
  GpuMachine& machine = interpreter.machine();
  const auto operation = [&](uint32_t lane) {
    return machine.group_wait_op(fragment.thread, lane, static_cast<uint32_t>(code.immediate), code.reads_only, kind_of(code));
  };
  if (fragment.stage == 0) {
    LaneMask waiting = 0;
    each_lane(active, [&](uint32_t lane) { waiting |= operation(lane).operand != 0 ? 1U << lane : 0; });
    if (waiting == 0) {
      machine.begin_event(fragment.thread, code.site);
      return Flow::kNext;
    }
    if (!interpreter.isolate(fragment, active)) return Flow::kJump;
    // Those that need not wait go on by themselves.
    if (waiting != active && !interpreter.isolate(fragment, waiting)) return Flow::kJump;
    fragment.groups.clear();
    each_lane(waiting, [&](uint32_t lane) { fragment.groups.push_back({lane, 1U << lane}); });
    fragment.group = 0;
  }
  return each_group(
      fragment,
      [&](const Group& group) {
        VisibleOp made;
        made.op = operation(static_cast<uint32_t>(group.address));
        made.order = Order::kAcquire;
        made.lanes = group.lanes;
        interpreter.post(fragment, code, made);
        return true;
      },
      [](const Group&) {});
}

// cp.async.bulk.DST.SRC.COMPLETION[.multicast::cluster] [dst], [src], size [, [mbar]] [, mask] [, policy]
void decode_bulk(Decoder& decoder, Modifiers& modifiers, Code& code) {
  const auto take = [&](std::string_view name, MemorySpace space, MemorySpace& into) {
    const bool taken = modifiers.front() == name && modifiers.take(name);
    if (taken) into = space;
    return taken;
  };
  const auto take_place = [&](MemorySpace& into) {
    return take("shared::cluster", MemorySpace::kSharedCluster, into) || take("shared::cta", MemorySpace::kShared, into) ||
           take("global", MemorySpace::kGlobal, into);
  };
  if (!take_place(code.space) || !take_place(code.source_space)) throw NotSupported();
  code.bulk = modifiers.take("bulk_group");
  if (!code.bulk && !modifiers.take("mbarrier::complete_tx::bytes")) throw NotSupported();
  code.count_given = modifiers.take("multicast::cluster");
  const bool hinted = modifiers.take("L2::cache_hint");
  const size_t operands = 3U + (code.bulk ? 0 : 1) + (code.count_given ? 1 : 0) + (hinted ? 1 : 0);
  if (decoder.operands() != operands) throw NotSupported();
  code.at[0] = decoder.address(0);
  code.at[1] = decoder.address(1);
  code.from[0] = decoder.source(2);
  if (!code.bulk) code.at[2] = decoder.address(3);
  if (code.count_given) code.from[1] = decoder.source(4);
  code.control = run_bulk_copy;
}

// cp.async: at is destination and source, bytes the size, from[0] how much of it the source has (mode 1), or whether to
// ignore the source (mode 2).
void issue_copy(Interpreter& interpreter, Fragment& fragment, const Code& code, uint32_t lane) {
  const Warp& warp = *fragment.warp;
  uint64_t from_source = code.bytes;
  if (code.mode == 1) from_source = value_of(warp, code.from[0], lane) & 0xffffffffU;
  if (from_source > code.bytes) {
    interpreter.report(fragment, 1U << lane, code, FindingKind::kOutOfBounds, "copy", interpreter.instruction(code.site),
                       fmt::format("the source has {} bytes, more than the {} that are copied", from_source, code.bytes));
    return;
  }
  if (code.mode == 2 && ((value_of(warp, code.from[0], lane) & 1) != 0) != code.from[0].negated) from_source = 0;
  AsyncCopy copy;
  const uint64_t to = address_of(warp, code.at[0], MemorySpace::kShared, lane);
  const auto destination = interpreter.place(fragment, MemorySpace::kShared, to, code.bytes);
  if (!destination.mapped || destination.space != MemorySpace::kShared) {
    return report_unmapped(interpreter, fragment, code, 1U << lane, to, "copy");
  }
  copy.writes = {destination.range};
  bool aligned = destination.range.offset % code.bytes == 0;
  if (from_source > 0) {
    const uint64_t from = address_of(warp, code.at[1], MemorySpace::kGlobal, lane);
    const auto source = interpreter.place(fragment, MemorySpace::kGlobal, from, static_cast<uint32_t>(from_source));
    if (!source.mapped) return report_unmapped(interpreter, fragment, code, 1U << lane, from, "copy");
    copy.reads.push_back(source.range);
    aligned &= source.range.offset % code.bytes == 0;
  }
  if (!aligned) {
    interpreter.report(fragment, 1U << lane, code, FindingKind::kMisaligned, "copy", interpreter.machine().range_name(copy.writes[0]),
                       "both addresses of cp.async must be multiples of its size");
    return;
  }
  if (from_source < code.bytes) copy.reads.push_back({interpreter.kernel().zeros, 0, static_cast<uint32_t>(code.bytes - from_source)});
  copy.reads_async = copy.writes_async = false;
  copy.grouped = true;
  copy.block = warp.block;
  copy.site = code.site;
  interpreter.machine().issue(fragment.thread, lane, copy);
}

Flow run_copy(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask active) {
  if (!operands_take_effect(interpreter, fragment, code, active)) return Flow::kStop;
  interpreter.machine().begin_event(fragment.thread, code.site);
  each_lane(active, [&](uint32_t lane) { issue_copy(interpreter, fragment, code, lane); });
  return Flow::kNext;
}

// cp.async.{ca,cg}.shared.global [dst], [src], size [, source size or predicate] [, policy]
void decode_copy(Decoder& decoder, Modifiers& modifiers, Code& code) {
  if (!modifiers.take("ca") && !modifiers.take("cg")) throw NotSupported();
  if (!modifiers.take("shared") && !modifiers.take("shared::cta")) throw NotSupported();
  if (!modifiers.take("global")) throw NotSupported();
  const bool hinted = modifiers.take("L2::cache_hint");
  modifiers.take_prefix("L2::");
  code.at[0] = decoder.address(0);
  code.at[1] = decoder.address(1);
  const Source size = decoder.source(2);
  if (size.slot != kNone || (size.value != 4 && size.value != 8 && size.value != 16)) throw NotSupported();
  code.bytes = static_cast<uint8_t>(size.value);
  const size_t more = decoder.operands() - 3 - (hinted ? 1 : 0);
  if (more > 1) throw NotSupported();
  if (more == 1) {
    const Operand& operand = decoder.operand(3);
    const bool predicate = operand.kind == OperandKind::kRegister && decoder.function().registers[operand.reg].type == "pred";
    code.from[0] = decoder.source(operand);
    code.mode = predicate ? 2 : 1;
  }
  code.control = run_copy;
}

template <bool kBulk>
void decode_commit(Decoder&, Modifiers&, Code& code) {
  code.bulk = kBulk;
  code.control = run_commit;
}

// All copies so far: what was not committed yet is a group, too.
Flow run_wait_all(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask active) {
  if (fragment.stage == 0) {
    if (!interpreter.isolate(fragment, active)) return Flow::kJump;
    each_lane(active, [&](uint32_t lane) { interpreter.machine().commit_group(fragment.thread, lane, kind_of(code)); });
  }
  return run_wait_group(interpreter, fragment, code, active);
}

void decode_wait_all(Decoder&, Modifiers&, Code& code) { code.control = run_wait_all; }

template <bool kBulk>
void decode_wait_group(Decoder& decoder, Modifiers& modifiers, Code& code) {
  code.bulk = kBulk;
  if (kBulk) code.reads_only = modifiers.take("read");
  code.immediate = decoder.source(0).value;
  code.control = run_wait_group;
}

// cp.reduce.async.bulk.DST.SRC.COMPLETION.OP.TYPE [dst], [src], size [, [mbar]] [, policy]
void decode_reduction(Decoder& decoder, Modifiers& modifiers, Code& code) {
  const std::string_view name = take_reduction(modifiers);
  modifiers.take("noftz");
  const std::string_view type = modifiers.take_type();
  code.rmw = reduction_of(name, type);
  code.bytes = static_cast<uint8_t>(type_bytes(type));
  decode_bulk(decoder, modifiers, code);
}

// cp.async.mbarrier.arrive: an arrival that happens once the thread's earlier copies are complete. Without .noinc the
// barrier awaits one more of them.
Flow run_tracking_arrival(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask active) {
  const auto place = [&](uint64_t address) { return interpreter.place(fragment, code.space, address, 8); };
  if (fragment.stage == 0) {
    const Begin begin = begin_visible(interpreter, fragment, code, active);
    if (begin != Begin::kRun) return stopped(begin);
    fragment.groups = groups_of(fragment, code.at[2], code.space, active);
    fragment.group = 0;
  }
  const auto issue = [&](const Group& group) {
    interpreter.machine().begin_event(fragment.thread, code.site);
    const Range barrier = place(group.address).range;
    each_lane(group.lanes, [&](uint32_t lane) {
      AsyncCopy arrival;
      arrival.tracks = true;
      arrival.reads_async = arrival.writes_async = false;
      arrival.barrier = interpreter.machine().mbarrier(barrier.region, barrier.offset);
      arrival.block = fragment.warp->block;
      arrival.site = code.site;
      interpreter.machine().issue(fragment.thread, lane, arrival);
    });
  };
  return each_group(
      fragment,
      [&](const Group& group) {
        const auto at = place(group.address);
        if (!at.mapped || at.space != MemorySpace::kShared || at.range.offset % 8 != 0) {
          report_unmapped(interpreter, fragment, code, group.lanes, group.address, "barrier");
          return false;
        }
        if (code.mode == 1) {
          issue(group);
          return false;
        }
        VisibleOp made;
        made.op.kind = OpKind::kExpectTx;
        made.op.object = interpreter.machine().mbarrier(at.range.region, at.range.offset);
        made.op.operand = static_cast<uint64_t>(__builtin_popcount(group.lanes));
        made.lanes = group.lanes;
        interpreter.post(fragment, code, made);
        return true;
      },
      issue);
}

void decode_tracking_arrival(Decoder& decoder, Modifiers& modifiers, Code& code) {
  code.mode = modifiers.take("noinc") ? 1 : 0;
  code.space = take_space(modifiers);
  if (!modifiers.take("b64")) throw NotSupported();
  code.at[2] = decoder.address(0);
  code.control = run_tracking_arrival;
}

constexpr Row kRows[] = {
    {"cp.async.bulk", decode_bulk},
    {"cp.async.bulk.commit_group", decode_commit<true>},
    {"cp.async.bulk.wait_group", decode_wait_group<true>},
    {"cp.reduce.async.bulk", decode_reduction},
    {"cp.async.mbarrier.arrive", decode_tracking_arrival},
    {"cp.async", decode_copy},
    {"cp.async.commit_group", decode_commit<false>},
    {"cp.async.wait_group", decode_wait_group<false>},
    {"cp.async.wait_all", decode_wait_all},
};

}  // namespace

std::span<const Row> async_rows() { return kRows; }

}  // namespace warpcheck::ptx
