// Going back: every byte that is journaled is as it was, what is not journaled makes no difference, and a run that goes on
// from there is one that came straight.
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/model/random_scripts.h"

namespace warpcheck {
namespace {

struct State {
  uint64_t image = 0, digest = 0;
  size_t findings = 0;
  std::vector<AgentId> enabled;

  friend bool operator==(const State&, const State&) = default;
};

State state_of(const GpuMachine& machine) {
  return {machine.state_image(), machine.state_digest(), machine.findings().size(), enabled(machine)};
}

// A random walk that goes back from time to time, also from the end. states[i]: before step i.
void walk(GpuMachine& machine, Random& random, uint32_t moves) {
  machine.reset();
  std::vector<State> states = {state_of(machine)};
  std::vector<AgentId> taken;
  for (uint32_t move = 0; move < moves; ++move) {
    const std::vector<AgentId> agents = states.back().enabled;
    if (!agents.empty() && pick(random, 4) != 0) {
      taken.push_back(agents[pick(random, agents.size())]);
      machine.step(taken.back(), 0);
      states.push_back(state_of(machine));
      continue;
    }
    if (agents.empty()) machine.finish();
    if (taken.empty()) return;
    const size_t size = pick(random, taken.size());
    if (!machine.rewind(size)) {  // clocks have become wider
      machine.reset();
      for (size_t i = 0; i < size; ++i) machine.step(taken[i], 0);
      for (size_t i = 0; i <= size; ++i) states[i].image = 0;
      states[size].image = machine.state_image();
    }
    taken.resize(size);
    states.resize(size + 1);
    if (states.back().image == 0) states.back().image = machine.state_image();
    ASSERT_EQ(states.back(), state_of(machine));
  }
}

TEST(Rewind, RestoresEveryByte) {
  const uint64_t seed = std::random_device{}();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  for (uint64_t kernel = 0; kernel < 2000 && !testing::Test::HasFatalFailure(); ++kernel) {
    Random random(seed + kernel);
    LaunchModel launch = small_launch(3);
    launch.mbarriers = {{kShared, 32, 1}, {kShared, 40, 2}};
    launch.plain_steps = kernel % 4 == 3;
    GpuMachine machine(launch, std::make_unique<ScriptedThreads>(random_scripts(random, 3)), 0);
    walk(machine, random, 100);
    if (testing::Test::HasFatalFailure()) FAIL() << "kernel seed " << seed + kernel;
  }
}

TEST(Rewind, IsAsIfTheLaterStepsHadNotBeen) {
  const uint64_t seed = std::random_device{}();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  for (uint64_t kernel = 0; kernel < 500; ++kernel) {
    Random random(seed + kernel);
    LaunchModel launch = small_launch(3);
    launch.mbarriers = {{kShared, 32, 1}, {kShared, 40, 2}};
    const std::vector<Script> scripts = random_scripts(random, 3);
    GpuMachine machine(launch, std::make_unique<ScriptedThreads>(scripts), 0);
    GpuMachine straight(launch, std::make_unique<ScriptedThreads>(scripts), 0);
    const auto agent_of = [&](AgentId id) { return straight.agent(machine.key(id)); };
    machine.reset();
    std::vector<AgentId> taken;
    for (int turn = 0; turn < 6; ++turn) {
      for (std::vector<AgentId> agents = enabled(machine); !agents.empty(); agents = enabled(machine)) {
        taken.push_back(agents[pick(random, agents.size())]);
        machine.step(taken.back(), 0);
      }
      machine.finish();
      straight.reset();
      for (const AgentId id : taken) straight.step(agent_of(id), 0);
      straight.finish();
      ASSERT_EQ(machine.fingerprint(), straight.fingerprint()) << "kernel seed " << seed + kernel;
      ASSERT_EQ(machine.findings().size(), straight.findings().size());
      for (size_t i = 0; i < machine.findings().size(); ++i) {
        EXPECT_TRUE(same_finding(machine.findings()[i], straight.findings()[i]));
      }
      if (taken.empty()) break;
      const size_t size = pick(random, taken.size());
      if (!machine.rewind(size)) {
        machine.reset();
        for (size_t i = 0; i < size; ++i) machine.step(taken[i], 0);
      }
      taken.resize(size);
    }
  }
}

// Steps without number do not fill the memory: what lies far back is run again.
TEST(Rewind, ForgetsWhatLiesFarBack) {
  LaunchModel launch = small_launch(1);
  launch.regions[1].bytes = 64 << 10;
  launch.regions[1].initial.assign(64 << 10, 0);
  Script script;
  const std::vector<uint8_t> ones(64 << 10, 1);
  for (int i = 0; i < 1000; ++i) {
    script.push_back([&](GpuMachine& machine, ThreadId thread) {
      machine.begin_event(thread, kNoSite);
      machine.store(thread, 0, {kGlobal, 0, 64 << 10}, ones.data());
      VisibleOp visible;
      visible.op = machine.word_op(OpKind::kLoad, {kShared, 0, 4});
      machine.post(thread, visible);
      return true;
    });
  }
  GpuMachine machine(launch, std::make_unique<ScriptedThreads>(std::vector<Script>{script}), 0);
  machine.reset();
  for (int i = 0; i < 1000; ++i) machine.step(machine.agents()[0], 0);
  EXPECT_FALSE(machine.rewind(10));
  EXPECT_TRUE(machine.rewind(998));
}

}  // namespace
}  // namespace warpcheck
