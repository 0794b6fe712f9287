// Asynchronous copies. cp.async.bulk: between global and shared memory, completing on an mbarrier by bytes or in a bulk
// group. cp.async: 4 to 16 bytes a lane from global to shared memory, in groups, through the generic proxy.
//
// The groups of the two are separate sequences; the model keeps one a lane, so kernels that use both are refused.
#include <algorithm>

#include "frontends/ptx/memory_operands.h"
#include "frontends/ptx/visible.h"

namespace warpcheck::ptx {
namespace {

constexpr uint64_t kBulkAlignment = 16;

bool is_bulk(const Instruction& instruction) {
  return std::find(instruction.opcode.begin(), instruction.opcode.end(), "bulk") != instruction.opcode.end();
}

void refuse_mixed_groups(const Decoder& decoder) {
  const auto has = [](const Instruction& i, std::string_view name) { return std::find(i.opcode.begin(), i.opcode.end(), name) != i.opcode.end(); };
  bool bulk = false, small = false;
  for (const Instruction& i : decoder.function().instructions) {
    if (i.opcode[0] != "cp" || !has(i, "async")) continue;
    bulk |= has(i, "bulk_group") || (is_bulk(i) && has(i, "commit_group"));
    small |= !is_bulk(i);
  }
  if (bulk && small) throw NotSupported();
}

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
    if (!code_.count_given) return issue_to(*to, *from, barrier_place());
    const auto blocks = static_cast<uint32_t>(value_of(*fragment_.warp, code_.from[1], lane_)) & 0xffffU;
    const uint32_t size = interpreter_.kernel().shape.cluster_blocks();
    const uint32_t first = fragment_.warp->block / size * size;
    if (blocks >> size != 0) {
      interpreter_.report(fragment_, 1U << lane_, code_, FindingKind::kOutOfBounds, "copy", interpreter_.machine().range_name(*to),
                          "the multicast names blocks that its cluster does not have");
    }
    const auto barrier = barrier_place();
    for (uint32_t rank = 0; rank < size; ++rank) {
      if ((blocks >> rank & 1) == 0) continue;
      const auto moved = [&](Range range) {
        range.region = RegionId{interpreter_.shared_region(first + rank)};
        return range;
      };
      issue_to(moved(*to), *from, barrier ? std::optional<Range>(moved(*barrier)) : std::nullopt);
    }
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

  std::optional<Range> barrier_place() {
    if (code_.bulk) return std::nullopt;
    const uint64_t address = address_of(*fragment_.warp, code_.at[2], MemorySpace::kShared, lane_);
    const auto place = interpreter_.place(fragment_, MemorySpace::kShared, address, 8);
    if (place.mapped && place.space == MemorySpace::kShared && place.range.offset % 8 == 0) return place.range;
    report_unmapped(interpreter_, fragment_, code_, 1U << lane_, address, "barrier");
    return std::nullopt;
  }

  void issue_to(const Range& to, const Range& from, const std::optional<Range>& barrier) {
    if (!code_.bulk && !barrier) return;
    AsyncCopy copy;
    copy.reads = {from};
    copy.writes = {to};
    copy.grouped = code_.bulk;
    copy.site = code_.site;
    copy.block = fragment_.warp->block;
    const uint32_t first_shared = interpreter_.kernel().global_regions;
    if (index(to.region) >= first_shared) copy.block = index(to.region) - first_shared;
    if (barrier) {
      copy.barrier = interpreter_.machine().mbarrier(barrier->region, barrier->offset);
      copy.complete_bytes = bytes_;
    }
    if (bytes_ > 0) interpreter_.machine().issue(fragment_.thread, lane_, copy);
  }

  Interpreter& interpreter_;
  Fragment& fragment_;
  const Code& code_;
  const uint32_t lane_;
  uint32_t bytes_ = 0;
};

bool operands_take_effect(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask active) {
  for (const AddressOperand& address : code.at) {
    if (!interpreter.takes_effect(fragment, code, address.base, active, "address")) return false;
  }
  return interpreter.takes_effect(fragment, code, code.from[0], active, "operand") &&
         interpreter.takes_effect(fragment, code, code.from[1], active, "operand");
}

Flow run_bulk_copy(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask active) {
  if (!operands_take_effect(interpreter, fragment, code, active)) return Flow::kStop;
  interpreter.machine().begin_event(fragment.thread, code.site);
  each_lane(active, [&](uint32_t lane) { BulkCopy(interpreter, fragment, code, lane).issue(); });
  return Flow::kNext;
}

Flow run_commit(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask active) {
  interpreter.machine().begin_event(fragment.thread, code.site);
  each_lane(active, [&](uint32_t lane) { interpreter.machine().commit_group(fragment.thread, lane); });
  return Flow::kNext;
}

// Each lane has groups of its own; those without any wait for nothing.
Flow run_wait_group(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask active) {
  GpuMachine& machine = interpreter.machine();
  const auto operation = [&](uint32_t lane) {
    return machine.group_wait_op(fragment.thread, lane, static_cast<uint32_t>(code.immediate), code.reads_only);
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
  if (code.bulk) refuse_mixed_groups(decoder);
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
  if (code.mode == 1) from_source = std::min<uint64_t>(value_of(warp, code.from[0], lane) & 0xffffffffU, code.bytes);
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
  refuse_mixed_groups(decoder);
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

void decode_commit(Decoder& decoder, Modifiers&, Code& code) {
  refuse_mixed_groups(decoder);
  code.control = run_commit;
}

// All copies so far: what was not committed yet is a group, too.
Flow run_wait_all(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask active) {
  if (fragment.stage == 0) {
    if (!interpreter.isolate(fragment, active)) return Flow::kJump;
    each_lane(active, [&](uint32_t lane) { interpreter.machine().commit_group(fragment.thread, lane); });
  }
  return run_wait_group(interpreter, fragment, code, active);
}

void decode_wait_all(Decoder& decoder, Modifiers&, Code& code) {
  refuse_mixed_groups(decoder);
  code.control = run_wait_all;
}

void decode_wait_group(Decoder& decoder, Modifiers& modifiers, Code& code) {
  refuse_mixed_groups(decoder);
  code.reads_only = modifiers.take("read");
  code.immediate = decoder.source(0).value;
  code.control = run_wait_group;
}

constexpr Row kRows[] = {
    {"cp.async.bulk", decode_bulk},
    {"cp.async.bulk.commit_group", decode_commit},
    {"cp.async.bulk.wait_group", decode_wait_group},
    {"cp.async", decode_copy},
    {"cp.async.commit_group", decode_commit},
    {"cp.async.wait_group", decode_wait_group},
    {"cp.async.wait_all", decode_wait_all},
};

}  // namespace

std::span<const Row> async_rows() { return kRows; }

}  // namespace warpcheck::ptx
