// Two steps that dependence calls independent, really taken in both orders, leave the same machine: memory, the contents of
// every phase and word, all clocks, pending transitions, findings. On random scripts over all kinds of operations, in every
// state that a random walk meets.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <random>

#include "model/dependence.h"
#include "model/tensor_memory.h"
#include "tests/model/random_scripts.h"

namespace warpcheck {
namespace {

void replay(GpuMachine& machine, const std::vector<AgentId>& prefix) {
  machine.reset();
  for (const AgentId id : prefix) machine.step(id, 0);
}

struct Counts {
  uint64_t independent = 0, dependent = 0;
  bool races_decide_nothing = false;  // after a race the order of the pair decides which others are met
};

bool raced(const GpuMachine& machine) {
  return std::any_of(machine.findings().begin(), machine.findings().end(), [](const Finding& f) { return f.kind == FindingKind::kRace; });
}

// All pairs of enabled agents in the state after `prefix`.
void check_state(GpuMachine& machine, const std::vector<AgentId>& prefix, Counts& counts) {
  replay(machine, prefix);
  const std::vector<AgentId> agents = enabled(machine);
  for (size_t i = 0; i < agents.size(); ++i) {
    for (size_t j = i + 1; j < agents.size(); ++j) {
      replay(machine, prefix);
      const Operation second = machine.pending(agents[j]).op;
      const Event first = machine.step(agents[i], 0);
      if (dependent(first, second)) {
        ++counts.dependent;
        continue;
      }
      ++counts.independent;
      ASSERT_EQ(machine.pending(agents[j]).status, Transition::Status::kEnabled);
      machine.step(agents[j], 0);
      const uint64_t one = machine.state_digest();
      replay(machine, prefix);
      machine.step(agents[j], 0);
      ASSERT_EQ(machine.pending(agents[i]).status, Transition::Status::kEnabled);
      machine.step(agents[i], 0);
      if (counts.races_decide_nothing && raced(machine)) continue;
      ASSERT_EQ(one, machine.state_digest()) << machine.describe(agents[i], first.op) << " and "
                                             << machine.describe(agents[j], second);
    }
  }
}

constexpr RegionId kTensor{2};

// An operation of the tensor core, and perhaps what covers it.
ScriptStep tensor_step(Random& random) {
  static constexpr std::array kKinds = {TensorKind::kMma, TensorKind::kMma, TensorKind::kCopy, TensorKind::kLoad, TensorKind::kStore};
  const TensorKind kind = kKinds[pick(random, kKinds.size())];
  const auto column = static_cast<uint32_t>(16 * pick(random, 2));
  const uint64_t at = 32 + 8 * pick(random, 2);
  const size_t then = pick(random, 4);
  return [=](GpuMachine& machine, ThreadId thread) {
    const uint32_t owner = index(thread);
    if (then == 0) machine.fence(thread, FenceKind::kTensorAfter, Scope::kBlock, kNoSite);
    TensorOp op;
    op.kind = kind;
    op.queue = kind == TensorKind::kLoad ? TensorQueue::kLoad : kind == TensorKind::kStore ? TensorQueue::kStore : TensorQueue::kMatrix;
    op.accumulator = column;
    add_tensor_ranges(kTensor, 0, 32, column, 16, kind == TensorKind::kLoad ? op.reads : op.writes);
    if (op.queue == TensorQueue::kMatrix) op.reads.push_back({kShared, 0, 16});
    const uint32_t number = machine.issue_tensor(thread, 1, owner, op);
    if (then == 1 && op.queue != TensorQueue::kMatrix) machine.wait_tensor(thread, 1, owner, op.queue, number);
    if (then == 1 && op.queue == TensorQueue::kMatrix) machine.commit_tensor(thread, 0, machine.mbarrier(kShared, at), 0, kNoSite);
    if (then == 2) machine.fence(thread, FenceKind::kTensorBefore, Scope::kBlock, kNoSite);
    return false;
  };
}

ScriptStep tensor_memory_step(Random& random) {
  static constexpr std::array kKinds = {OpKind::kTensorAlloc, OpKind::kTensorAlloc, OpKind::kTensorFree, OpKind::kTensorRelinquish};
  const OpKind kind = kKinds[pick(random, kKinds.size())];
  return [=](GpuMachine& machine, ThreadId thread) {
    VisibleOp visible;
    visible.op.kind = kind;
    visible.op.object = machine.tensor_memory(0);
    visible.op.size = 16;
    visible.op.operand = kind == OpKind::kTensorAlloc ? 256 : 0;
    if (kind == OpKind::kTensorFree) visible.op.bytes = 256;
    if (kind == OpKind::kTensorAlloc) visible.word = {kShared, 48, 4};
    machine.post(thread, visible);
    return true;
  };
}

TEST(MachineLaw, IndependentStepsSwappedLeaveTheSameMachine) {
  const uint64_t seed = std::random_device{}();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  Counts counts;
  for (uint64_t kernel = 0; kernel < 1500 && !testing::Test::HasFatalFailure(); ++kernel) {
    Random random(seed + kernel);
    LaunchModel launch = small_launch(3);
    launch.mbarriers = {{kShared, 32, 1}, {kShared, 40, 2}};
    launch.plain_steps = kernel % 4 == 3;
    GpuMachine machine(launch, std::make_unique<ScriptedThreads>(random_scripts(random, 3)), 0);
    std::vector<AgentId> prefix;
    for (;;) {
      check_state(machine, prefix, counts);
      if (testing::Test::HasFatalFailure()) FAIL() << "kernel seed " << seed + kernel;
      replay(machine, prefix);
      const std::vector<AgentId> agents = enabled(machine);
      if (agents.empty()) break;
      prefix.push_back(agents[pick(random, agents.size())]);
    }
  }
  std::printf("%llu independent pairs swapped, %llu dependent\n", static_cast<unsigned long long>(counts.independent),
              static_cast<unsigned long long>(counts.dependent));
  EXPECT_GT(counts.independent, 10000U);
  EXPECT_GT(counts.dependent, 500U);
}

TEST(MachineLaw, AlsoAtTheTensorCore) {
  const uint64_t seed = std::random_device{}();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  Counts counts;
  counts.races_decide_nothing = true;
  for (uint64_t kernel = 0; kernel < 200 && !testing::Test::HasFatalFailure(); ++kernel) {
    Random random(seed + kernel);
    LaunchModel launch = small_launch(3);
    launch.mbarriers = {{kShared, 32, 1}, {kShared, 40, 2}};
    RegionSpec tensor;
    tensor.space = Space::kTensor;
    tensor.bytes = kTensorBytes;
    launch.regions.push_back(tensor);
    std::vector<Script> scripts = random_scripts(random, 3);
    for (Script& script : scripts) {
      for (size_t i = 0; i < script.size(); ++i) {
        if (pick(random, 2) == 0) script[i] = pick(random, 4) == 0 ? tensor_memory_step(random) : tensor_step(random);
      }
    }
    GpuMachine machine(launch, std::make_unique<ScriptedThreads>(std::move(scripts)), 0);
    std::vector<AgentId> prefix;
    for (;;) {
      check_state(machine, prefix, counts);
      if (testing::Test::HasFatalFailure()) FAIL() << "kernel seed " << seed + kernel;
      replay(machine, prefix);
      const std::vector<AgentId> agents = enabled(machine);
      if (agents.empty()) break;
      prefix.push_back(agents[pick(random, agents.size())]);
    }
  }
  EXPECT_GT(counts.independent, 50U);
  EXPECT_GT(counts.dependent, 10U);
}

}  // namespace
}  // namespace warpcheck
