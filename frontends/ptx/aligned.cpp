#include "frontends/ptx/aligned.h"

namespace warpcheck::ptx {
namespace {

enum Stage : uint32_t { kFresh, kArrived, kWaited };

ObjectId rendezvous(Interpreter& interpreter, const Fragment& fragment, const Code& code) {
  constexpr uint32_t kBehindBarriers = 16;
  const uint32_t id = (index(code.site) * interpreter.kernel().shape.warps() + fragment.warp->number) * 32;
  return interpreter.machine().named_barrier(fragment.warp->block, kBehindBarriers + id);
}

}  // namespace

std::optional<Flow> come_together(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask active) {
  if (fragment.stage >= kTogether) return std::nullopt;
  const LaneMask all = fragment.warp->all;
  if (fragment.stage == kFresh) {
    if (!interpreter.isolate(fragment, active)) return Flow::kJump;
    if (active == all) return std::nullopt;
    fragment.object = rendezvous(interpreter, fragment, code);
    fragment.stage = kArrived;
    VisibleOp made;
    made.op.kind = OpKind::kBarrierArrive;
    made.op.object = fragment.object;
    made.op.operand = static_cast<uint64_t>(__builtin_popcount(active));
    made.op.bytes = __builtin_popcount(all);
    interpreter.post(fragment, code, made);
    return Flow::kStop;
  }
  if (fragment.stage == kArrived) {
    fragment.stage = kWaited;
    fragment.phase = interpreter.machine().last_outcome(fragment.thread).phase;
    fragment.missing = all;
    if (&interpreter.meet(fragment) != &fragment) return Flow::kStop;
    VisibleOp made;
    made.op.kind = OpKind::kWaitPhase;
    made.op.object = fragment.object;
    made.op.operand = fragment.phase;
    interpreter.post(fragment, code, made);
    return Flow::kStop;
  }
  fragment.waiting = false;
  fragment.missing = 0;
  fragment.stage = kFresh;
  return std::nullopt;
}

}  // namespace warpcheck::ptx
