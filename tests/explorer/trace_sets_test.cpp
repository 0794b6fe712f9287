// Whole sets of traces, written down as order constraints and matched one to one with what is explored, by each reduction.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/explorer/programs.h"

namespace warpcheck::toy {
namespace {

// An event: thread t's n-th, from 0.
struct At {
  uint32_t thread, ordinal;
};
struct Before {
  At first, second;
};
constexpr At kNever{~0U, 0};  // {event, kNever}: the event does not happen
using Trace = std::vector<Before>;  // constraints that hold in this trace and tell it from the others

bool happens(const ExecutionView& view, const At& at) {
  return std::any_of(view.events.begin(), view.events.end(), [&](const Event& event) {
    return index(event.agent) == at.thread && event.ordinal == at.ordinal;
  });
}

bool ordered(const ExecutionView& view, const At& first, const At& second) {
  for (size_t i = 0; i < view.events.size(); ++i) {
    const Event& event = view.events[i];
    if (index(event.agent) == second.thread && event.ordinal == second.ordinal) {
      return view.past(i, AgentId{first.thread}) > first.ordinal;
    }
  }
  return false;
}

bool satisfies(const ExecutionView& view, const Trace& trace) {
  for (const Before& b : trace) {
    const bool holds = b.second.thread == kNever.thread ? !happens(view, b.first) : ordered(view, b.first, b.second);
    if (!holds) return false;
  }
  return true;
}

void expect_traces(const ToyProgram& program, const std::vector<Trace>& expected) {
  for (const Reduction reduction : {Reduction::kSleep, Reduction::kSource, Reduction::kOptimal}) {
    for (const unsigned workers : {1U, 2U}) {
      std::map<size_t, int> seen;
      int unknown = 0;
      const auto match = [&](const ExecutionView& view) {
        if (view.blocked) return;
        int matches = 0;
        for (size_t i = 0; i < expected.size(); ++i) {
          if (!satisfies(view, expected[i])) continue;
          ++seen[i];
          ++matches;
        }
        if (matches != 1) ++unknown;
      };
      const ExploreResult result = explore(
          program, {.reduction = reduction, .workers = workers, .keep_going = true, .on_execution = match});
      EXPECT_EQ(result.executions, expected.size()) << name(reduction);
      EXPECT_EQ(unknown, 0) << name(reduction);
      for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(seen[i], 1) << name(reduction) << ", trace " << i;
    }
  }
}

Script line(std::vector<Operation> ops) {
  return [ops = std::move(ops)](Thread& t) {
    return t.pc < ops.size() ? std::optional(ops[t.pc++]) : std::optional<Operation>();
  };
}

ToyProgram program(std::vector<ObjectState> objects, const std::vector<std::vector<Operation>>& threads) {
  ToyProgram result;
  result.objects = std::move(objects);
  for (const auto& ops : threads) result.add(line(ops));
  return result;
}

// A wait may be enabled by any of several writes that commute: the latest one of each order counts.
TEST(TraceSets, AWaitAfterCommutingReductions) {
  const auto p = program({word()}, {{reduce(0, Rmw::kAdd, 1)}, {reduce(0, Rmw::kAdd, 1)}, {await(0, at_least, 1)}});
  expect_traces(p, {{{{0, 0}, {2, 0}}, {{2, 0}, {1, 0}}},   // T0, wait, T1
                    {{{1, 0}, {2, 0}}, {{2, 0}, {0, 0}}},   // T1, wait, T0
                    {{{0, 0}, {2, 0}}, {{1, 0}, {2, 0}}}}); // both, wait
}

TEST(TraceSets, AConditionThatIsNotMonotone) {
  const auto p = program({word()}, {{reduce(0, Rmw::kAdd, 1)}, {reduce(0, Rmw::kAdd, 1)}, {await(0, equal, 0)}});
  expect_traces(p, {{{{2, 0}, {0, 0}}, {{2, 0}, {1, 0}}}, {{{2, 0}, kNever}}});
}

TEST(TraceSets, StoreBuffering) {
  expect_traces(sb(2), {{{{0, 1}, {1, 0}}},                          // T0 reads before T1 writes
                        {{{1, 1}, {0, 0}}},                          // T1 reads before T0 writes
                        {{{0, 0}, {1, 1}}, {{1, 0}, {0, 1}}}});      // both read late
}

TEST(TraceSets, AParityWaitAndTheStepThatClosesItsPhase) {
  const auto p = program({mbarrier(1)}, {{arrive(0)}, {wait_parity(0, 1)}});
  expect_traces(p, {{{{1, 0}, {0, 0}}}, {{{1, 0}, kNever}}});  // before the phase completes, or never
}

TEST(TraceSets, AWaitForAPhaseIsNeverDisabled) {
  const auto p = program({mbarrier(1)}, {{arrive(0), arrive(0)}, {wait_phase(0, 0)}});
  expect_traces(p, {{{{0, 0}, {1, 0}}}});
}

TEST(TraceSets, ArrivalsOfOnePhaseCommute) {
  const auto p = program({mbarrier(3)}, {{arrive(0)}, {arrive(0)}, {arrive(0)}, {wait_phase(0, 0)}});
  expect_traces(p, {{{{0, 0}, {3, 0}}, {{1, 0}, {3, 0}}, {{2, 0}, {3, 0}}}});
}

TEST(TraceSets, AnExchangeThatWaits) {
  const auto take = with_predicate(update(0, Rmw::kExchange, 1), equal, 0);
  const auto p = program({word()}, {{take, store(0, 0)}, {take, store(0, 0)}});
  expect_traces(p, {{{{0, 1}, {1, 0}}}, {{{1, 1}, {0, 0}}}});
}

// A compare-and-swap that failed may succeed when it is reversed, and is then ordered with reads it was not ordered with.
TEST(TraceSets, ACompareAndSwapIsAReadOrAWrite) {
  const auto p = program({word()}, {{store(0, 2)}, {cas(0, 0, 1)}, {load(0)}});
  uint64_t traces = 0;
  explore(p, {.reduction = Reduction::kNone, .keep_going = true, .on_execution = [&](const ExecutionView&) { ++traces; }});
  EXPECT_EQ(traces, 6U);
  expect_traces(p, {{{{1, 0}, {0, 0}}, {{0, 0}, {2, 0}}},                       // cas, store, load
                    {{{1, 0}, {2, 0}}, {{2, 0}, {0, 0}}},                       // cas, load, store
                    {{{2, 0}, {1, 0}}, {{1, 0}, {0, 0}}},                       // load, cas, store
                    {{{2, 0}, {0, 0}}, {{0, 0}, {1, 0}}},                       // load, store, cas fails
                    {{{0, 0}, {1, 0}}, {{0, 0}, {2, 0}}}});                     // store, then both read
}

TEST(TraceSets, EachChoiceOnce) {
  const auto p = program({word()}, {{choose(3)}, {store(0, 1)}, {load(0)}});
  std::map<std::pair<uint16_t, bool>, int> seen;
  const ExploreResult result = explore(p, {.on_execution = [&](const ExecutionView& view) {
    for (const Event& event : view.events) {
      if (event.op.kind == OpKind::kLocal) ++seen[{event.choice, ordered(view, {1, 0}, {2, 0})}];
    }
  }});
  EXPECT_EQ(result.executions, 6U);
  EXPECT_EQ(result.blocked, 0U);
  EXPECT_EQ(seen.size(), 6U);
}

TEST(TraceSets, AgentsBornDuringTheRun) {
  ToyProgram p;
  p.objects = {mbarrier(1), word()};
  p.add([](Thread& t) -> std::optional<Operation> {
    switch (t.pc++) {
      case 0:
        t.children.push_back({complete_tx(0, 16)});
        return arrive(0, 1, 16);
      case 1: return wait_phase(0, 0);
      case 2: return store(1, 1);
      default: return std::nullopt;
    }
  });
  p.add(line({load(1)}));
  const ExploreResult result = explore(p, {});
  EXPECT_EQ(result.executions, 2U);
  EXPECT_EQ(result.verdict, Verdict::kVerified);
}

}  // namespace
}  // namespace warpcheck::toy
