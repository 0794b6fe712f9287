// Two steps that dependence calls independent, really taken in both orders, leave the same machine: memory, the contents of
// every phase and word, all clocks, pending transitions, findings. On random scripts over all kinds of operations, in every
// state that a random walk meets.
#include <gtest/gtest.h>

#include <cstdio>
#include <random>

#include "model/dependence.h"
#include "tests/model/random_scripts.h"

namespace warpcheck {
namespace {

void replay(GpuMachine& machine, const std::vector<AgentId>& prefix) {
  machine.reset();
  for (const AgentId id : prefix) machine.step(id, 0);
}

struct Counts {
  uint64_t independent = 0, dependent = 0;
};

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
      ASSERT_EQ(one, machine.state_digest()) << machine.describe(agents[i], first.op) << " and "
                                             << machine.describe(agents[j], second);
    }
  }
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

}  // namespace
}  // namespace warpcheck
