// Branches, ends of threads and fences.
#include "frontends/ptx/control.h"

#include <algorithm>

#include "frontends/ptx/decode.h"
#include "frontends/ptx/memory_operands.h"
#include "frontends/ptx/visible.h"

namespace warpcheck::ptx {

// Exits count as arrivals at barriers without a thread count; other lanes of the warp may wait there.
Flow run_exit(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask active) {
  if (fragment.stage == 0 && !interpreter.isolate(fragment, active)) return Flow::kJump;
  const Kernel& kernel = interpreter.kernel();
  Warp& warp = *fragment.warp;
  if (fragment.stage > 0 && fragment.stage <= kernel.countless_barriers.size()) {
    warp.exited |= active;
    const ObjectId barrier = interpreter.machine().named_barrier(warp.block, kernel.countless_barriers[fragment.stage - 1]);
    interpreter.each_fragment(warp, [&](Fragment& other) {
      const Code& waits = kernel.code[other.path().pc];
      if (other.waiting && other.object == barrier && waits.aligned && !waits.count_given) interpreter.report_skipped_barrier(other, waits);
    });
  }
  const size_t barriers = kernel.countless_barriers.size() + (kernel.uses_cluster_barrier ? 1 : 0);
  if (fragment.stage == barriers) {
    interpreter.end(fragment);
    return Flow::kStop;
  }
  GpuMachine& machine = interpreter.machine();
  VisibleOp made;
  made.op.kind = OpKind::kBarrierExit;
  made.op.object = fragment.stage < kernel.countless_barriers.size()
                       ? machine.named_barrier(warp.block, kernel.countless_barriers[fragment.stage])
                       : machine.cluster_barrier(warp.block / kernel.shape.cluster_blocks());
  made.op.operand = static_cast<uint64_t>(__builtin_popcount(active));
  ++fragment.stage;
  interpreter.post(fragment, code, made);
  return Flow::kStop;
}

Flow run_unsupported(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask) {
  return interpreter.unsupported(fragment, code, interpreter.instruction(code.site) + " is not supported");
}

namespace {

void go(Path& path, uint32_t pc) { path.pc = pc; }

// Parts the running path: the lanes of each target run by themselves until they meet at the join.
void part(Fragment& fragment, uint32_t join, const std::vector<std::pair<uint32_t, LaneMask>>& ways) {
  const Path parted = fragment.path();
  if (join == kNone || join == parted.join) fragment.paths.pop_back();
  else fragment.path().pc = join;
  const uint32_t inner = join == kNone ? parted.join : join;
  for (const auto& [pc, lanes] : ways) {
    if (lanes != 0 && pc != inner) fragment.paths.push_back({pc, inner, lanes});
  }
}

Flow run_branch(Interpreter&, Fragment& fragment, const Code& code, LaneMask active) {
  Path& path = fragment.path();
  if (active == path.lanes) {
    go(path, code.target);
  } else {
    part(fragment, code.join, {{path.pc + 1, path.lanes & ~active}, {code.target, active}});
  }
  return Flow::kJump;
}

Flow run_indexed_branch(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask active) {
  if (!interpreter.takes_effect(fragment, code, code.from[0], active, "branch index")) return Flow::kStop;
  const Path path = fragment.path();
  std::vector<std::pair<uint32_t, LaneMask>> ways(code.targets.size() + 1);
  ways.back() = {path.pc + 1, path.lanes & ~active};
  for (size_t i = 0; i < code.targets.size(); ++i) ways[i].first = code.targets[i];
  bool outside = false;
  each_lane(active, [&](uint32_t lane) {
    const uint64_t i = value_of(*fragment.warp, code.from[0], lane);
    if (i < code.targets.size()) ways[i].second |= 1U << lane;
    else outside = true;
  });
  if (outside) {
    interpreter.report(fragment, active, code, FindingKind::kOutOfBounds, "branch", "branch targets", "the index of the branch is beyond its list");
    interpreter.end(fragment);
    return Flow::kStop;
  }
  const auto whole = std::find_if(ways.begin(), ways.end(), [&](const auto& way) { return way.second == path.lanes; });
  if (whole != ways.end()) go(fragment.path(), whole->first);
  else part(fragment, code.join, ways);
  return Flow::kJump;
}

void decode_bra(Decoder& decoder, Modifiers& modifiers, Code& code) {
  modifiers.take("uni");
  const Operand& target = decoder.operand(0);
  if (target.kind != OperandKind::kLabel) throw NotSupported();
  code.target = target.target;
  code.join = decoder.flow().join(decoder.position());
  code.control = run_branch;
  code.quiet = true;
}

void decode_brx(Decoder& decoder, Modifiers& modifiers, Code& code) {
  modifiers.take("uni");
  const Operand& list = decoder.operand(1);
  if (list.kind != OperandKind::kTargets) throw NotSupported();
  code.from[0] = decoder.source(0);
  code.targets = decoder.function().target_lists[list.target];
  code.join = decoder.flow().join(decoder.position());
  code.control = run_indexed_branch;
  code.quiet = true;
}

void decode_exit(Decoder&, Modifiers& modifiers, Code& code) {
  modifiers.take("uni");
  code.control = run_exit;
}

Flow run_trap(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask active) {
  if (!interpreter.isolate(fragment, active)) return Flow::kJump;
  interpreter.report(fragment, active, code, FindingKind::kAssertion, "trap", "", "the kernel stops itself here");
  interpreter.give_up(fragment);
  return Flow::kStop;
}

void decode_trap(Decoder&, Modifiers&, Code& code) { code.control = run_trap; }

Flow run_print(Interpreter&, Fragment&, const Code&, LaneMask) { return Flow::kNext; }

// Only the two functions of the CUDA runtime: a failed assertion, and printf, whose output nobody compares.
void decode_call(Decoder& decoder, Modifiers& modifiers, Code& code) {
  modifiers.take("uni");
  for (size_t i = 0; i < std::min<size_t>(decoder.operands(), 2); ++i) {
    const Operand& callee = decoder.operand(i);
    if (callee.kind != OperandKind::kName) continue;
    code.control = callee.name == "__assertfail" ? run_trap : callee.name == "vprintf" ? run_print : nullptr;
    break;
  }
  if (code.control == nullptr) throw NotSupported();
}

// The fence is the thread's: lanes elsewhere must not take part.
Flow run_fence(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask active) {
  if (!interpreter.isolate(fragment, active)) return Flow::kJump;
  interpreter.machine().fence(fragment.thread, code.fence, code.scope, code.site, code.order);
  return Flow::kNext;
}

void decode_fence(Decoder&, Modifiers& modifiers, Code& code) {
  code.order = Order::kAcqRel;
  if (modifiers.take("acquire")) code.order = Order::kAcquire;
  else if (modifiers.take("release")) code.order = Order::kRelease;
  else if (!modifiers.take("acq_rel")) modifiers.take("sc");
  take_scope(modifiers, code);
  code.control = run_fence;
  code.quiet = true;  // once more changes nothing
}

void decode_membar(Decoder&, Modifiers& modifiers, Code& code) {
  code.order = Order::kAcqRel;
  if (modifiers.take("cta")) code.scope = Scope::kBlock;
  else if (modifiers.take("gl")) code.scope = Scope::kDevice;
  else if (modifiers.take("sys")) code.scope = Scope::kSystem;
  else throw NotSupported();
  code.control = run_fence;
  code.quiet = true;  // once more changes nothing
}

void decode_proxy_fence(Decoder&, Modifiers& modifiers, Code& code) {
  code.fence = modifiers.take("global")                                              ? FenceKind::kProxyAsyncGlobal
               : modifiers.take("shared::cta") || modifiers.take("shared::cluster") || modifiers.take("shared")
                   ? FenceKind::kProxyAsyncShared
                   : FenceKind::kProxyAsync;
  code.control = run_fence;
  code.quiet = true;  // once more changes nothing
}

void decode_init_fence(Decoder&, Modifiers& modifiers, Code& code) {
  modifiers.take("release");
  modifiers.take("cluster");
  code.fence = FenceKind::kMbarrierInit;
  code.scope = Scope::kCluster;
  code.order = Order::kRelease;
  code.control = run_fence;
  code.quiet = true;  // once more changes nothing
}

constexpr Row kRows[] = {
    {"bra", decode_bra},
    {"brx.idx", decode_brx},
    {"ret", decode_exit},
    {"exit", decode_exit},
    {"trap", decode_trap},
    {"call", decode_call},
    {"membar", decode_membar},
    {"fence", decode_fence},
    {"fence.proxy.async", decode_proxy_fence},
    {"fence.mbarrier_init", decode_init_fence},
};

}  // namespace

std::span<const Row> control_rows() { return kRows; }

}  // namespace warpcheck::ptx
