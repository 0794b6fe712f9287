// Kernels in C++ that go back: fibers that start anew and are fed come to the same operations as those of a run that came
// straight there.
#include <gtest/gtest.h>

#include <cstdio>
#include <random>
#include <stdexcept>

#include "explorer/explore.h"
#include "tests/oracle/data_kernel.h"

namespace warpcheck {
namespace {

using Random = std::mt19937_64;

std::vector<AgentId> enabled(const Machine& machine) {
  std::vector<AgentId> result;
  for (const AgentId id : machine.agents()) {
    if (machine.pending(id).status == Transition::Status::kEnabled) result.push_back(id);
  }
  return result;
}

// What happened, in words that mean the same on every machine.
std::string text(const Machine& machine, const Event& event) {
  std::string text = machine.describe(event.agent, event.op);
  for (const uint64_t number : {uint64_t{event.choice}, uint64_t{event.ordinal}, static_cast<uint64_t>(event.effect),
                                uint64_t{event.phase}, event.op.operand, event.op.predicate_operand, event.before.word[0],
                                event.before.word[1], uint64_t{event.before.phase}}) {
    text += " " + std::to_string(number);
  }
  return text + (event.op.predicate == nullptr ? "" : " waits");
}

std::string pending(const Machine& machine) {
  std::string result;
  for (const AgentId id : machine.agents()) {
    const Transition& transition = machine.pending(id);
    result += std::to_string(static_cast<int>(transition.status)) + " " + machine.describe(id, transition.op) + "; ";
  }
  return result;
}

struct Taken {
  Choice choice;
  std::string text;
};

uint64_t expect_same_runs(const Program& program, Random& random, int turns) {
  const std::unique_ptr<Machine> machine = program.make_machine(), straight = program.make_machine();
  machine->reset();
  std::vector<Taken> taken;
  uint64_t undone = 0;
  for (int turn = 0; turn < turns; ++turn) {
    for (std::vector<AgentId> agents = enabled(*machine); !agents.empty() && taken.size() < 60; agents = enabled(*machine)) {
      const AgentId agent = agents[random() % agents.size()];
      const auto choice = static_cast<uint16_t>(random() % machine->pending(agent).op.choices);
      const AgentKey key = machine->key(agent);
      taken.push_back({{key, choice}, text(*machine, machine->step(agent, choice))});
      if (random() % 8 == 0) break;  // fibers are left in the middle, too
    }
    straight->reset();
    for (const Taken& step : taken) {
      EXPECT_EQ(step.text, text(*straight, straight->step(straight->agent(step.choice.agent), step.choice.choice)));
    }
    EXPECT_EQ(pending(*machine), pending(*straight));
    if (enabled(*machine).empty()) {
      machine->finish();
      straight->finish();
    }
    EXPECT_EQ(machine->fingerprint(), straight->fingerprint());
    EXPECT_EQ(machine->findings().size(), straight->findings().size());
    for (size_t i = 0; i < machine->findings().size() && i < straight->findings().size(); ++i) {
      EXPECT_TRUE(same_finding(machine->findings()[i], straight->findings()[i]));
    }
    if (taken.empty() || testing::Test::HasFailure()) break;
    const size_t size = random() % taken.size();
    if (machine->rewind(size)) {
      undone += taken.size() - size;
    } else {
      machine->reset();
      for (size_t i = 0; i < size; ++i) machine->step(machine->agent(taken[i].choice.agent), taken[i].choice.choice);
    }
    taken.resize(size);
  }
  return undone;
}

TEST(RewindOfKernels, DISABLED_RandomKernelsOfAllAlphabets) {
  const uint64_t seed = std::random_device{}();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  uint64_t undone = 0;
  for (const oracle::Alphabet& alphabet : oracle::alphabets()) {
    for (uint64_t i = 0; i < 60 && !HasFailure(); ++i) {
      Random random(seed + i);
      const oracle::DataKernel data = oracle::random_kernel(alphabet, 4, 5, random);
      undone += expect_same_runs(oracle::build(data, i % 4 == 3), random, 8);
      if (HasFailure()) ADD_FAILURE() << "seed " << seed + i << " " << alphabet.name << ": " << oracle::text(data);
    }
  }
  EXPECT_GT(undone, 1000U);
}

TEST(RewindOfKernels, DISABLED_LocalsOnTheHeapExceptionsChoicesAndPolls) {
  Kernel k("mixed");
  const auto x = k.global_atomic<int>("x", 0);
  const auto flag = k.global_atomic<int>("flag", 0);
  const auto data = k.global<int>("data", 4, zeros);
  k.threads(2, [=](Thread& t) {
    std::vector<int> seen;
    std::string name = "a string that is too long to lie inside the object";
    for (int i = 0; i < 3; ++i) seen.push_back(t.fetch_add(x, i + 1));
    try {
      if (seen.back() > 3) throw std::runtime_error(name);
      t.reduce_add(x, 10);
    } catch (const std::runtime_error&) {
      t.store(x, seen[1]);
    }
    if (t.choose(3) == 1) t.store(data[t.rank()], seen.front());
    while (t.load(flag) == 0) {
    }
    t.assert_that(t.load(data[t.rank()]) == 0, "chose");
    if (seen.size() == 3 && seen[0] == 0) throw std::runtime_error("first");
  });
  k.threads(1, [=](Thread& t) {
    while (t.compare_exchange(x, 6, 7) != 6) {
      if (t.load(x) > 9) break;
    }
    t.sync_threads();
    t.store(flag, 1);
  });
  k.threads(1, [=](Thread& t) {
    for (int i = 0; i < 2; ++i) t.exchange(flag, i);
    t.sync_threads();
  });
  const uint64_t seed = std::random_device{}();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  uint64_t undone = 0;
  for (uint64_t i = 0; i < 200 && !HasFailure(); ++i) {
    Random random(seed + i);
    undone += expect_same_runs(k, random, 20);
    if (HasFailure()) ADD_FAILURE() << "seed " << seed + i;
  }
  EXPECT_GT(undone, 10000U);
}

// Not told by one load of many: where a thread asks for its own state, the machine goes back no more.
TEST(RewindOfKernels, PlainPolls) {
  Kernel k("plain poll");
  const auto flag = k.global<int>("flag", 1, zeros);
  const auto x = k.global_atomic<int>("x", 0);
  k.threads(1, [=](Thread& t) {
    t.fetch_add(x, 1);
    while (t.load(flag[0]) == 0) {
    }
  });
  k.threads(1, [=](Thread& t) {
    t.fetch_add(x, 1);
    t.store(flag[0], 1);
  });
  for (uint64_t i = 0; i < 50; ++i) {
    Random random(i);
    expect_same_runs(k, random, 10);
  }
}

}  // namespace
}  // namespace warpcheck
