// mbarriers. A state token is the number of the phase that the arrival counted for.
#include <optional>

#include "frontends/ptx/memory_operands.h"
#include "frontends/ptx/spin.h"
#include "frontends/ptx/visible.h"

namespace warpcheck::ptx {
namespace {

// The barrier that a group's lanes mean; nullopt, and a report, where there can be none.
std::optional<ObjectId> barrier_of(Interpreter& interpreter, Fragment& fragment, const Code& code, const Group& group) {
  const auto place = interpreter.place(fragment, code.space, group.address, 8);
  if (!place.mapped || place.space != MemorySpace::kShared) {
    report_unmapped(interpreter, fragment, code, group.lanes, group.address, "barrier");
    return std::nullopt;
  }
  if (place.range.offset % 8 != 0) {
    interpreter.report(fragment, group.lanes, code, FindingKind::kMisaligned, "barrier", interpreter.machine().range_name(place.range),
                       "an mbarrier lies at a multiple of 8 bytes");
    return std::nullopt;
  }
  return interpreter.machine().mbarrier(place.range.region, place.range.offset);
}

uint32_t lowest(LaneMask lanes) { return static_cast<uint32_t>(__builtin_ctz(lanes)); }

uint32_t value32(const Fragment& fragment, const Source& source, uint32_t lane) {
  return static_cast<uint32_t>(value_of(*fragment.warp, source, lane));
}

// Arrivals of one step that spill into the next phase get different tokens; those must then be told apart.
bool tokens_differ(Interpreter& interpreter, Fragment& fragment, const Code& code) {
  if (code.result_dead) return false;
  for (const Group& group : fragment.groups) {
    const auto barrier = barrier_of(interpreter, fragment, code, group);
    if (barrier && interpreter.machine().state(*barrier).expected < __builtin_popcount(group.lanes)) return true;
  }
  return false;
}

// init, inval, expect_tx, complete_tx and arrivals: one step for each barrier.
Flow run_update(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask active) {
  if (fragment.stage == 0) {
    const Begin begin = begin_visible(interpreter, fragment, code, active);
    if (begin != Begin::kRun) return stopped(begin);
    fragment.groups = groups_of(fragment, code.at[0], code.space, active);
    fragment.group = 0;
    // Lanes that arrive once each may act in one step; others act one by one.
    const bool plain_arrival = code.op == OpKind::kArrive && !code.count_given && code.from[1].slot == kNone && code.from[1].value == 0;
    if (!plain_arrival || code.drop || tokens_differ(interpreter, fragment, code)) separate(fragment.groups);
  }
  return each_group(
      fragment,
      [&](const Group& group) {
        const auto barrier = barrier_of(interpreter, fragment, code, group);
        if (!barrier) return false;
        VisibleOp made;
        made.op.kind = code.op;
        made.op.object = *barrier;
        made.op.drop = code.drop;
        made.order = code.order;
        made.scope = code.scope;
        made.lanes = group.lanes;
        const uint32_t lane = lowest(group.lanes);
        if (code.op == OpKind::kArrive) {
          const auto lanes = static_cast<uint64_t>(__builtin_popcount(group.lanes));
          made.op.operand = code.count_given ? value32(fragment, code.from[0], lane) : lanes;
          made.op.splits = lanes > 1;
          made.op.bytes = value32(fragment, code.from[1], lane);
        } else if (code.op == OpKind::kBarrierInit) {
          made.op.operand = value32(fragment, code.from[0], lane);
        } else {
          made.op.bytes = value32(fragment, code.from[0], lane);
        }
        interpreter.post(fragment, code, made);
        return true;
      },
      [&](const Group& group) {
        if (code.to[0] == kNone) return;
        const uint32_t phase = interpreter.machine().last_outcome(fragment.thread).phase;
        each_lane(group.lanes, [&](uint32_t lane) { fragment.warp->slots[code.to[0]].lane[lane] = phase; });
        mark(*fragment.warp, code.to[0], group.lanes, 0, 0, kNoSite);
      });
}

// Lanes that test the same barrier for the same phase go together; a wait must not hold up others.
LaneMask waiting_together(const Fragment& fragment, const Code& code, LaneMask active) {
  const uint32_t first = lowest(active);
  const uint64_t address = address_of(*fragment.warp, code.at[0], code.space, first);
  LaneMask made = 0;
  each_lane(active, [&](uint32_t lane) {
    const bool same = address_of(*fragment.warp, code.at[0], code.space, lane) == address &&
                      value_of(*fragment.warp, code.from[0], lane) == value_of(*fragment.warp, code.from[0], first);
    if (same) made |= 1U << lane;
  });
  return made;
}

Flow run_wait(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask active) {
  if (fragment.stage == 0) {
    const Begin begin = begin_visible(interpreter, fragment, code, active);
    if (begin != Begin::kRun) return stopped(begin);
    const LaneMask together = waiting_together(fragment, code, active);
    if (!interpreter.isolate(fragment, together, true)) return Flow::kJump;
    if (!code.blocks) {
      return interpreter.unsupported(fragment, code, "a failing " + interpreter.instruction(code.site) + " that the kernel acts upon is not supported");
    }
    const Group group{address_of(*fragment.warp, code.at[0], code.space, lowest(together)), together};
    const auto barrier = barrier_of(interpreter, fragment, code, group);
    if (!barrier) {
      interpreter.give_up(fragment);
      return Flow::kStop;
    }
    VisibleOp made;
    made.op.kind = code.by_parity ? OpKind::kWaitParity : OpKind::kWaitPhase;
    made.op.object = *barrier;
    made.op.operand = value_of(*fragment.warp, code.from[0], lowest(together));
    if (code.by_parity) made.op.operand &= 1;
    made.order = code.order;
    made.scope = code.scope;
    fragment.stage = 1;
    interpreter.post(fragment, code, made);
    return Flow::kStop;
  }
  fragment.stage = 0;
  each_lane(active, [&](uint32_t lane) { fragment.warp->slots[code.to[0]].lane[lane] = 1; });
  mark(*fragment.warp, code.to[0], active, 0, 0, kNoSite);
  return Flow::kNext;
}

void take_barrier_space(Modifiers& modifiers, Code& code) {
  code.space = take_space(modifiers);
  if (!modifiers.take("b64")) throw NotSupported();
}

void decode_init(Decoder& decoder, Modifiers& modifiers, Code& code) {
  take_barrier_space(modifiers, code);
  code.op = OpKind::kBarrierInit;
  code.at[0] = decoder.address(0);
  code.from[0] = decoder.source(1);
  code.control = run_update;
}

void decode_inval(Decoder& decoder, Modifiers& modifiers, Code& code) {
  take_barrier_space(modifiers, code);
  code.op = OpKind::kBarrierInval;
  code.at[0] = decoder.address(0);
  code.control = run_update;
}

void take_order(Modifiers& modifiers, Code& code, Order otherwise) {
  code.order = otherwise;
  code.scope = Scope::kBlock;
  if (modifiers.take("relaxed")) code.order = Order::kRelaxed;
  else if (!modifiers.take("release")) modifiers.take("acquire");
  take_scope(modifiers, code);
}

// [state,] [address] [, count or bytes]
void decode_arrival(Decoder& decoder, Modifiers& modifiers, Code& code, bool drop) {
  const bool expects = modifiers.take("expect_tx");
  take_order(modifiers, code, Order::kRelease);
  take_barrier_space(modifiers, code);
  code.op = OpKind::kArrive;
  code.drop = drop;
  const size_t first = decoder.operand(0).kind == OperandKind::kAddress ? 0 : 1;
  if (first == 1 && decoder.operand(0).kind != OperandKind::kSink) code.to[0] = decoder.destination(0);
  code.result_dead = first == 0 || decoder.result_dead(decoder.operand(0));
  code.at[0] = decoder.address(first);
  const bool more = decoder.operands() == first + 2;
  if (decoder.operands() > first + 2 || (expects && !more)) throw NotSupported();
  if (expects) {
    code.from[1] = decoder.source(first + 1);
  } else if (more) {
    code.from[0] = decoder.source(first + 1);
    code.count_given = !(code.from[0].slot == kNone && code.from[0].value == 1);
  }
  code.control = run_update;
}

void decode_arrive(Decoder& decoder, Modifiers& modifiers, Code& code) { decode_arrival(decoder, modifiers, code, false); }
void decode_arrive_drop(Decoder& decoder, Modifiers& modifiers, Code& code) { decode_arrival(decoder, modifiers, code, true); }

template <OpKind kKind>
void decode_bytes(Decoder& decoder, Modifiers& modifiers, Code& code) {
  take_order(modifiers, code, Order::kRelaxed);
  take_barrier_space(modifiers, code);
  code.op = kKind;
  code.at[0] = decoder.address(0);
  code.from[0] = decoder.source(1);
  code.control = run_update;
}

// predicate, [address], state or parity [, time limit]
void decode_wait(Decoder& decoder, Modifiers& modifiers, Code& code) {
  code.by_parity = modifiers.take("parity");
  take_order(modifiers, code, Order::kAcquire);
  take_barrier_space(modifiers, code);
  code.to[0] = decoder.destination(0);
  code.at[0] = decoder.address(1);
  code.from[0] = decoder.source(2);
  code.blocks = only_waits(decoder.function(), decoder.flow(), decoder.position());
  code.control = run_wait;
}

constexpr Row kRows[] = {
    {"mbarrier.init", decode_init},
    {"mbarrier.inval", decode_inval},
    {"mbarrier.arrive", decode_arrive},
    {"mbarrier.arrive_drop", decode_arrive_drop},
    {"mbarrier.expect_tx", decode_bytes<OpKind::kExpectTx>},
    {"mbarrier.complete_tx", decode_bytes<OpKind::kCompleteTx>},
    {"mbarrier.try_wait", decode_wait},
    {"mbarrier.test_wait", decode_wait},
};

}  // namespace

std::span<const Row> mbarrier_rows() { return kRows; }

}  // namespace warpcheck::ptx
