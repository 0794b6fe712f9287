// Verdicts, bounds, findings and replay.
#include <gtest/gtest.h>

#include "tests/explorer/programs.h"

namespace warpcheck::toy {
namespace {

Script line(std::vector<Operation> ops) {
  return [ops = std::move(ops)](Thread& t) {
    return t.pc < ops.size() ? std::optional(ops[t.pc++]) : std::optional<Operation>();
  };
}

// Two increments that are no atomic ones: one is lost in some executions.
ToyProgram lost_update() {
  ToyProgram p;
  p.objects = {word(), word()};
  for (int i = 0; i < 2; ++i) {
    p.add([](Thread& t) -> std::optional<Operation> {
      switch (t.pc++) {
        case 0: return load(0);
        case 1: return store(0, t.result + 1);
        case 2: return update(1, Rmw::kAdd, 1);
        case 3: t.r[0] = t.result; return load(0);
        default: t.check(t.r[0] == 0 || t.result == 2); return std::nullopt;
      }
    });
  }
  return p;
}

ToyProgram deadlock() {
  ToyProgram p;
  p.objects = {word(), word()};
  for (uint32_t i = 0; i < 2; ++i) {
    const auto take = [](uint32_t lock) { return with_predicate(update(lock, Rmw::kExchange, 1), equal, 0); };
    p.add(line({take(i), take(1 - i), store(i, 0), store(1 - i, 0)}));
  }
  return p;
}

TEST(Explore, StopsAfterTheFirstViolation) {
  const ExploreResult result = explore(lost_update(), {});
  EXPECT_EQ(result.verdict, Verdict::kViolation);
  EXPECT_FALSE(result.complete);
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].finding.kind, FindingKind::kAssertion);
  EXPECT_EQ(result.findings[0].execution, result.executions);
}

TEST(Explore, FindingsDoNotDependOnTheNumberOfWorkers) {
  const ExploreResult one = explore(lost_update(), {.keep_going = true});
  EXPECT_TRUE(one.complete);
  EXPECT_EQ(one.findings.size(), 2U);
  for (const unsigned workers : {2U, 3U, 4U}) {
    const ExploreResult many = explore(lost_update(), {.workers = workers, .keep_going = true});
    EXPECT_EQ(many.verdict, one.verdict);
    EXPECT_EQ(many.executions, one.executions);
    ASSERT_EQ(many.findings.size(), one.findings.size());
    for (size_t i = 0; i < one.findings.size(); ++i) {
      EXPECT_TRUE(same_finding(one.findings[i].finding, many.findings[i].finding));
    }
  }
}

TEST(Explore, FindsADeadlockBehindBlockedAgents) {
  const ExploreResult result = explore(deadlock(), {.keep_going = true});
  EXPECT_EQ(result.verdict, Verdict::kViolation);
  EXPECT_EQ(result.executions, 3U);
  EXPECT_EQ(result.findings.size(), 2U);
}

TEST(Explore, ASchedulesReplayEndsAsItsExecutionDid) {
  const ToyProgram program = lost_update();
  const ExploreResult result = explore(program, {});
  ASSERT_FALSE(result.findings.empty());
  const ReplayResult replayed = replay(program, result.findings[0].schedule);
  EXPECT_TRUE(replayed.finished);
  ASSERT_FALSE(replayed.findings.empty());
  EXPECT_TRUE(same_finding(replayed.findings[0], result.findings[0].finding));
}

TEST(Explore, AScheduleMayStopEarly) {
  const ToyProgram program = deadlock();
  const ReplayResult replayed = replay(program, {{{0, 0, 0}, 0}});
  EXPECT_FALSE(replayed.finished);
  EXPECT_TRUE(replayed.findings.empty());
}

TEST(Explore, AnImpossibleScheduleIsBadInput) {
  const ToyProgram program = deadlock();
  EXPECT_THROW(replay(program, {{{0, 0, 0}, 1}}), InputError);                       // no such choice
  EXPECT_THROW(replay(program, {{{7, 0, 0}, 0}}), InputError);                       // no such agent
  EXPECT_THROW(replay(program, {{{0, 0, 0}, 0}, {{1, 0, 0}, 0}, {{1, 0, 0}, 0}}), InputError);  // it waits
}

TEST(Explore, ABoundOnExecutionsMakesTheVerdictIncomplete) {
  for (const unsigned workers : {1U, 2U}) {
    const ExploreResult result = explore(ainc(5), {.workers = workers, .max_executions = 50});
    EXPECT_EQ(result.executions, 50U);
    EXPECT_FALSE(result.complete);
    EXPECT_EQ(result.verdict, Verdict::kIncomplete);
    EXPECT_FALSE(result.bounds_hit.empty());
  }
}

TEST(Explore, ABoundThatIsNotHitIsNoBound) {
  const ExploreResult result = explore(ainc(4), {.max_executions = 24});
  EXPECT_TRUE(result.complete);
  EXPECT_EQ(result.verdict, Verdict::kVerified);
}

TEST(Explore, ALongExecutionIsCutAndReported) {
  ToyProgram p;
  p.objects = {word()};
  p.add([](Thread&) -> std::optional<Operation> { return store(0, 1); });
  const ExploreResult result = explore(p, {.max_steps = 100});
  EXPECT_EQ(result.verdict, Verdict::kIncomplete);
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].finding.kind, FindingKind::kLimit);
  EXPECT_EQ(result.max_depth, 100U);
}

TEST(Explore, AnInterruptStopsTheSearch) {
  std::atomic<bool> interrupt{true};
  const ExploreResult result = explore(ainc(8), {.interrupt = &interrupt});
  EXPECT_EQ(result.verdict, Verdict::kIncomplete);
  EXPECT_EQ(result.executions, 1U);
  EXPECT_EQ(result.bounds_hit, std::vector<std::string>{"interrupted"});
}

TEST(Explore, TimeIsABound) {
  const ExploreResult result = explore(ainc(10), {.max_seconds = 0.05});
  EXPECT_EQ(result.verdict, Verdict::kIncomplete);
  EXPECT_LT(result.executions, 3628800U);
}

TEST(Explore, ReportsProgressFromOneThread) {
  int calls = 0;
  const std::thread::id home = std::this_thread::get_id();
  explore(ainc(10), {.workers = 2, .max_seconds = 0.7, .on_progress = [&](const Progress& progress) {
    EXPECT_TRUE(std::this_thread::get_id() == home);
    EXPECT_GT(progress.executions, 0U);
    ++calls;
  }});
  EXPECT_GE(calls, 1);
}

TEST(Explore, EveryInterleavingWithoutReduction) {
  const ExploreResult result = explore(readers(3), {.reduction = Reduction::kNone});
  EXPECT_EQ(result.executions, 24U);
  EXPECT_EQ(result.verdict, Verdict::kVerified);
}

TEST(Explore, RandomWalksFindThingsAndProveNothing) {
  for (const unsigned depth : {0U, 2U}) {
    const ExploreOptions options{.keep_going = true, .walks = 100, .pct_depth = depth, .seed = 7};
    const ExploreResult result = explore(lost_update(), options);
    EXPECT_EQ(result.verdict, Verdict::kViolation);
    EXPECT_EQ(result.executions, 100U);
    EXPECT_FALSE(result.complete);
    ASSERT_FALSE(result.findings.empty());
    const ExploreResult again = explore(lost_update(), options);
    EXPECT_EQ(again.findings[0].schedule, result.findings[0].schedule) << "the same seed, the same walks";
    const ReplayResult replayed = replay(lost_update(), result.findings[0].schedule);
    EXPECT_FALSE(replayed.findings.empty());
    EXPECT_EQ(explore(ainc(3), options).verdict, Verdict::kIncomplete);
  }
}

TEST(Explore, ABoundOnPreemptionsIsSaidWhenItCuts) {
  const auto bounded = [](int64_t n) {
    return explore(lost_update(), {.reduction = Reduction::kNone, .keep_going = true, .max_preemptions = n});
  };
  EXPECT_EQ(bounded(0).executions, 2U);
  EXPECT_EQ(bounded(0).verdict, Verdict::kIncomplete);
  EXPECT_EQ(bounded(0).bounds_hit, std::vector<std::string>{"preemptions: 0"});
  EXPECT_EQ(bounded(1).verdict, Verdict::kViolation);
  const ExploreResult all = explore(lost_update(), {.reduction = Reduction::kNone, .keep_going = true});
  EXPECT_EQ(bounded(20).executions, all.executions);
  EXPECT_TRUE(bounded(20).complete);
}

}  // namespace
}  // namespace warpcheck::toy
