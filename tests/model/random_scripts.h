// Random scripts over all kinds of operations, for laws of the machine.
#pragma once

#include <array>
#include <random>
#include <vector>

#include "tests/model/scripted.h"

namespace warpcheck {

using Random = std::mt19937_64;

inline size_t pick(Random& random, size_t count) { return random() % count; }

inline bool nonzero(uint64_t value, uint64_t) { return value != 0; }

inline VisibleOp with(Operation op, Random& random) {
  static constexpr std::array kOrders = {Order::kRelaxed, Order::kAcquire, Order::kRelease, Order::kAcqRel};
  VisibleOp visible;
  visible.op = op;
  visible.order = kOrders[pick(random, 4)];
  visible.scope = pick(random, 4) == 0 ? Scope::kBlock : Scope::kDevice;
  return visible;
}

inline ScriptStep word_step(Random& random) {
  const Range range{pick(random, 2) == 0 ? kShared : kGlobal, 4 * pick(random, 2), 4};
  static constexpr std::array kKinds = {OpKind::kLoad, OpKind::kStore, OpKind::kUpdate, OpKind::kReduce};
  const OpKind kind = kKinds[pick(random, 4)];
  Operation op;
  op.operand = 1 + pick(random, 2);
  if (kind == OpKind::kReduce) op.rmw = pick(random, 2) == 0 ? Rmw::kAdd : Rmw::kMaxU;
  if (kind == OpKind::kUpdate) op.rmw = pick(random, 2) == 0 ? Rmw::kAdd : Rmw::kCompareSwap;
  if (kind == OpKind::kLoad && pick(random, 3) == 0) op.predicate = nonzero;
  const VisibleOp visible = with(op, random);
  return [=](GpuMachine& machine, ThreadId thread) {
    VisibleOp posted = visible;
    const Operation shape = machine.word_op(kind, range);
    posted.op.kind = kind;
    posted.op.object = shape.object;
    posted.op.begin = shape.begin;
    posted.op.size = shape.size;
    machine.post(thread, posted);
    return true;
  };
}

inline ScriptStep barrier_step(Random& random) {
  const uint64_t at = 32 + 8 * pick(random, 2);
  static constexpr std::array kKinds = {OpKind::kArrive, OpKind::kArrive, OpKind::kExpectTx, OpKind::kWaitParity,
                                        OpKind::kWaitPhase};
  Operation op;
  op.kind = kKinds[pick(random, kKinds.size())];
  op.operand = op.kind == OpKind::kArrive ? 1 : op.kind == OpKind::kExpectTx ? 0 : pick(random, 2);
  if (op.kind == OpKind::kExpectTx || (op.kind == OpKind::kArrive && pick(random, 2) == 0)) op.bytes = 8;
  const VisibleOp visible = with(op, random);
  return [=](GpuMachine& machine, ThreadId thread) {
    VisibleOp posted = visible;
    posted.op.object = machine.mbarrier(kShared, at);
    machine.post(thread, posted);
    return true;
  };
}

inline ScriptStep copy_step(Random& random) {
  const bool load = pick(random, 2) == 0;
  const uint64_t at = 32 + 8 * pick(random, 2);
  const bool one_arrival = pick(random, 2) == 0;
  return [=](GpuMachine& machine, ThreadId thread) {
    AsyncCopy copy;
    copy.reads = {{load ? kGlobal : kShared, 16, 8}};
    copy.writes = {{load ? kShared : kGlobal, 24, 8}};
    copy.grouped = !load;
    if (load) copy.barrier = machine.mbarrier(kShared, at);
    if (load && !one_arrival) copy.complete_bytes = 8;
    machine.issue(thread, 0, copy);
    if (!load) machine.commit_group(thread, 0);
    return false;
  };
}

inline ScriptStep fence_step(Random& random) {
  static constexpr std::array kKinds = {FenceKind::kThread, FenceKind::kProxyAsync, FenceKind::kMbarrierInit};
  const FenceKind kind = kKinds[pick(random, kKinds.size())];
  return [=](GpuMachine& machine, ThreadId thread) {
    machine.fence(thread, kind, Scope::kDevice, kNoSite);
    return false;
  };
}

inline ScriptStep group_wait_step(Random& random) {
  const bool read = pick(random, 2) == 0;
  const auto left = static_cast<uint32_t>(pick(random, 2));
  return [=](GpuMachine& machine, ThreadId thread) {
    VisibleOp visible;
    visible.op = machine.group_wait_op(thread, 0, left, read);
    machine.post(thread, visible);
    return true;
  };
}

inline ScriptStep block_barrier_step() {
  return [](GpuMachine& machine, ThreadId thread) {
    VisibleOp visible;
    visible.op.kind = OpKind::kBarrierArrive;
    visible.op.operand = 1;
    visible.op.object = machine.named_barrier(0, 0);
    visible.order = Order::kRelease;
    machine.post(thread, visible);
    return true;
  };
}

inline std::vector<Script> random_scripts(Random& random, uint32_t threads) {
  std::vector<Script> scripts(threads);
  for (Script& script : scripts) {
    for (size_t i = 0; i < 4; ++i) {
      switch (pick(random, 8)) {
        case 0:
        case 1:
        case 2: script.push_back(word_step(random)); break;
        case 3:
        case 4: script.push_back(barrier_step(random)); break;
        case 5: script.push_back(copy_step(random)); break;
        case 6: script.push_back(fence_step(random)); script.push_back(group_wait_step(random)); break;
        default: script.push_back(block_barrier_step()); break;
      }
    }
  }
  return scripts;
}

inline std::vector<AgentId> enabled(const GpuMachine& machine) {
  std::vector<AgentId> result;
  for (const AgentId id : machine.agents()) {
    if (machine.pending(id).status == Transition::Status::kEnabled) result.push_back(id);
  }
  return result;
}

}  // namespace warpcheck
