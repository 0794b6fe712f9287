// Barriers of the block and of the cluster. An arrival counts lanes; a waiter is a fragment, and fragments of a warp that
// wait for one phase at one instruction become one again.
#include "frontends/ptx/memory_operands.h"
#include "frontends/ptx/rounds.h"
#include "frontends/ptx/visible.h"

namespace warpcheck::ptx {
namespace {

constexpr uint64_t kBarriers = 16;

VisibleOp barrier_op(OpKind kind, ObjectId object, uint64_t operand, Order order, Scope scope) {
  VisibleOp made;
  made.op.kind = kind;
  made.op.object = object;
  made.op.operand = operand;
  made.order = order;
  made.scope = scope;
  return made;
}

// The lanes that agree with the lowest one about barrier and count; others run the instruction by themselves.
LaneMask agreeing(const Fragment& fragment, const Code& code, LaneMask active) {
  const auto lowest = static_cast<uint32_t>(__builtin_ctz(active));
  LaneMask made = 0;
  each_lane(active, [&](uint32_t lane) {
    const bool same = static_cast<uint32_t>(value_of(*fragment.warp, code.from[0], lane)) ==
                          static_cast<uint32_t>(value_of(*fragment.warp, code.from[0], lowest)) &&
                      static_cast<uint32_t>(value_of(*fragment.warp, code.from[1], lane)) ==
                          static_cast<uint32_t>(value_of(*fragment.warp, code.from[1], lowest));
    if (same) made |= 1U << lane;
  });
  return made;
}

enum Stage : uint32_t { kFresh, kArrived, kWaited };

Flow arrive(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask active) {
  const Begin begin = begin_visible(interpreter, fragment, code, active);
  if (begin != Begin::kRun) return stopped(begin);
  const LaneMask together = agreeing(fragment, code, active);
  if (!interpreter.isolate(fragment, together, true)) return Flow::kJump;
  const auto lane = static_cast<uint32_t>(__builtin_ctz(together));
  const uint64_t id = value_of(*fragment.warp, code.from[0], lane) & 0xffffffffU;
  const uint64_t count = code.count_given ? value_of(*fragment.warp, code.from[1], lane) & 0xffffffffU : 0;
  if (id >= kBarriers || (code.count_given && (count == 0 || count % 32 != 0))) {
    interpreter.report(fragment, together, code, FindingKind::kBarrierMisuse, "barrier", "barrier " + std::to_string(id),
                       id >= kBarriers ? "there are 16 barriers" : "the thread count " + std::to_string(count) + " is no multiple of 32");
    interpreter.give_up(fragment);
    return Flow::kStop;
  }
  fragment.object = interpreter.machine().named_barrier(fragment.warp->block, static_cast<uint32_t>(id));
  note_visit(interpreter, fragment, code);
  VisibleOp made = barrier_op(OpKind::kBarrierArrive, fragment.object, static_cast<uint64_t>(__builtin_popcount(together)),
                              Order::kRelease, Scope::kBlock);
  made.op.bytes = static_cast<int64_t>(count);
  fragment.stage = kArrived;
  interpreter.post(fragment, code, made);
  return Flow::kStop;
}

Flow run_barrier(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask active) {
  if (fragment.stage == kFresh) return arrive(interpreter, fragment, code, active);
  if (fragment.stage == kArrived) {
    if (code.aligned && !code.count_given && fragment.warp->exited != 0) interpreter.report_skipped_barrier(fragment, code);
    fragment.phase = interpreter.machine().last_outcome(fragment.thread).phase;
    if (code.op == OpKind::kBarrierArrive) {
      fragment.stage = kFresh;
      return Flow::kNext;
    }
    fragment.stage = kWaited;
    fragment.missing = 0;
    if (&interpreter.meet(fragment) != &fragment) return Flow::kStop;
    interpreter.post(fragment, code, barrier_op(OpKind::kWaitPhase, fragment.object, fragment.phase, Order::kAcquire, Scope::kBlock));
    return Flow::kStop;
  }
  fragment.waiting = false;
  fragment.stage = kFresh;
  return Flow::kNext;
}

void decode_barrier(Decoder& decoder, Modifiers& modifiers, Code& code, OpKind kind) {
  modifiers.take("cta");
  code.op = kind;
  code.from[0] = decoder.source(0);
  code.count_given = decoder.operands() == 2;
  if (code.count_given) code.from[1] = decoder.source(1);
  if (decoder.operands() > 2 || (kind == OpKind::kBarrierArrive && !code.count_given)) throw NotSupported();
  if (!code.count_given) {
    const bool constant = code.from[0].slot == kNone;
    for (uint32_t id = 0; id < kBarriers; ++id) {
      if (!constant || code.from[0].value == id) decoder.use_countless_barrier(id);
    }
  }
  code.mild = code.meets = true;
  code.control = run_barrier;
}

void decode_bar_sync(Decoder& decoder, Modifiers& modifiers, Code& code) {
  decode_barrier(decoder, modifiers, code, OpKind::kWaitPhase);
}

void decode_bar_arrive(Decoder& decoder, Modifiers& modifiers, Code& code) {
  decode_barrier(decoder, modifiers, code, OpKind::kBarrierArrive);
}

void decode_barrier_sync(Decoder& decoder, Modifiers& modifiers, Code& code) {
  modifiers.take("cta");
  if (!modifiers.take("sync")) throw NotSupported();
  code.aligned = modifiers.take("aligned");
  decode_barrier(decoder, modifiers, code, OpKind::kWaitPhase);
}

void decode_barrier_arrive(Decoder& decoder, Modifiers& modifiers, Code& code) {
  modifiers.take("cta");
  if (!modifiers.take("arrive")) throw NotSupported();
  code.aligned = modifiers.take("aligned");
  decode_barrier(decoder, modifiers, code, OpKind::kBarrierArrive);
}

ObjectId cluster_barrier(Interpreter& interpreter, const Fragment& fragment) {
  return interpreter.machine().cluster_barrier(fragment.warp->block / interpreter.kernel().shape.cluster_blocks());
}

Flow run_cluster_arrive(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask active) {
  if (fragment.stage == kFresh) {
    if (!interpreter.isolate(fragment, active)) return Flow::kJump;
    fragment.stage = kArrived;
    interpreter.post(fragment, code, barrier_op(OpKind::kBarrierArrive, cluster_barrier(interpreter, fragment),
                                                static_cast<uint64_t>(__builtin_popcount(active)), code.order, Scope::kCluster));
    return Flow::kStop;
  }
  const uint32_t phase = interpreter.machine().last_outcome(fragment.thread).phase;
  each_lane(active, [&](uint32_t lane) { fragment.warp->cluster_phase[lane] = phase; });
  fragment.stage = kFresh;
  return Flow::kNext;
}

Flow run_cluster_wait(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask active) {
  if (fragment.stage == kFresh) {
    const auto& phases = fragment.warp->cluster_phase;
    const auto lowest = static_cast<uint32_t>(__builtin_ctz(active));
    LaneMask together = 0;
    each_lane(active, [&](uint32_t lane) { together |= phases[lane] == phases[lowest] ? 1U << lane : 0; });
    if (!interpreter.isolate(fragment, active) || !interpreter.isolate(fragment, together, true)) return Flow::kJump;
    if (phases[lowest] == kNone) {
      interpreter.report(fragment, active, code, FindingKind::kBarrierMisuse, "wait", "cluster barrier", "waits without an arrival before");
      interpreter.give_up(fragment);
      return Flow::kStop;
    }
    fragment.object = cluster_barrier(interpreter, fragment);
    fragment.phase = phases[lowest];
    fragment.missing = 0;
    fragment.stage = kWaited;
    if (interpreter.machine().state(fragment.object).phase <= fragment.phase && &interpreter.meet(fragment) != &fragment) return Flow::kStop;
    interpreter.post(fragment, code, barrier_op(OpKind::kWaitPhase, fragment.object, fragment.phase, Order::kAcquire, Scope::kCluster));
    return Flow::kStop;
  }
  fragment.waiting = false;
  fragment.stage = kFresh;
  return Flow::kNext;
}

void decode_cluster_arrive(Decoder& decoder, Modifiers& modifiers, Code& code) {
  code.order = modifiers.take("relaxed") ? Order::kRelaxed : Order::kRelease;
  modifiers.take("release");
  modifiers.take("aligned");
  decoder.kernel().uses_cluster_barrier = true;
  code.control = run_cluster_arrive;
}

void decode_cluster_wait(Decoder& decoder, Modifiers& modifiers, Code& code) {
  modifiers.take("acquire");
  modifiers.take("aligned");
  decoder.kernel().uses_cluster_barrier = true;
  code.control = run_cluster_wait;
}

constexpr Row kRows[] = {
    {"bar.sync", decode_bar_sync},
    {"bar.cta.sync", decode_bar_sync},
    {"bar.arrive", decode_bar_arrive},
    {"bar.cta.arrive", decode_bar_arrive},
    {"barrier", decode_barrier_sync},
    {"barrier", decode_barrier_arrive},
    {"barrier.cluster.arrive", decode_cluster_arrive},
    {"barrier.cluster.wait", decode_cluster_wait},
};

}  // namespace

std::span<const Row> barrier_rows() { return kRows; }

}  // namespace warpcheck::ptx
