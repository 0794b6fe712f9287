// What the thread API does, kernel by kernel.
#include <gtest/gtest.h>

#include <algorithm>

#include "frontends/cpp/gtest.h"

namespace warpcheck {
namespace {

using ::testing::Not;

Kernel message_passing(Order release, Order acquire) {
  Kernel k("message passing");
  const auto data = k.global<int>("data", {0}), out = k.global<int>("out", {0});
  const auto flag = k.global_atomic<int>("flag", 0);
  k.threads(1, [=](Thread& t) {
    t.store(data[0], 42);
    t.store(flag, 1, release);
  });
  k.threads(1, [=](Thread& t) {
    t.await(flag, std::equal_to{}, 1, acquire);
    t.store(out[0], t.load(data[0]));
  });
  k.expect(out, {42});
  return k;
}

TEST(Kernel, ReleaseAndAcquirePassMessages) {
  EXPECT_THAT(message_passing(Order::kRelease, Order::kAcquire), Verified());
  EXPECT_THAT(message_passing(Order::kRelease, Order::kAcquire), HasTraces(1));
}

TEST(Kernel, RelaxedFlagsRace) {
  EXPECT_THAT(message_passing(Order::kRelaxed, Order::kRelaxed), HasRace("data"));
  EXPECT_THAT(message_passing(Order::kRelaxed, Order::kAcquire), HasRace("data"));
}

TEST(Kernel, FencesMakeRelaxedFlagsStrong) {
  Kernel k("fences");
  const auto data = k.global<int>("data", {0});
  const auto flag = k.global_atomic<int>("flag", 0);
  k.threads(1, [=](Thread& t) {
    t.store(data[0], 42);
    t.fence();
    t.store(flag, 1, Order::kRelaxed);
  });
  k.threads(1, [=](Thread& t) {
    t.await(flag, std::equal_to{}, 1, Order::kRelaxed);
    t.fence();
    t.assert_that(t.load(data[0]) == 42);
  });
  EXPECT_THAT(k, Verified(Reading::kStrict));
}

TEST(Kernel, NarrowScopesRaceAcrossBlocks) {
  for (const Scope scope : {Scope::kBlock, Scope::kDevice}) {
    Kernel k("scopes", {.blocks = 2});
    const auto data = k.global<int>("data", {0});
    const auto flag = k.global_atomic<int>("flag", 0);
    k.threads(1, [=](Thread& t) {
      if (t.block() == 0) {
        t.store(data[0], 1);
        t.store(flag, 1, Order::kRelease, scope);
      } else {
        t.await(flag, std::equal_to{}, 1, Order::kAcquire, scope);
        t.load(data[0]);
      }
    });
    if (scope == Scope::kBlock) {
      EXPECT_THAT(k, HasRace("data", Cause::kScope));
    } else {
      EXPECT_THAT(k, Verified());
    }
  }
}

TEST(Kernel, RaceNamesBothLines) {
  Kernel k("two stores");
  const auto x = k.shared<int>("x", 1);
  const uint32_t line = std::source_location::current().line();
  k.threads(1, [=](Thread& t) { t.store(x[0], 1); });
  k.threads(1, [=](Thread& t) { t.store(x[0], 2); });
  const CheckResult result = check(k);
  ASSERT_EQ(result.findings.size(), 1U) << result;
  const CheckFinding& race = result.findings[0];
  EXPECT_EQ(race.kind, FindingKind::kRace);
  EXPECT_EQ(race.cause, Cause::kNoSynchronization);
  ASSERT_EQ(race.sites.size(), 2U);
  std::vector<uint32_t> lines = {race.sites[0].line, race.sites[1].line};
  std::sort(lines.begin(), lines.end());
  EXPECT_EQ(lines, (std::vector<uint32_t>{line + 1, line + 2}));
  EXPECT_THAT(race.sites[0].file, ::testing::EndsWith("kernel_test.cpp"));
  EXPECT_EQ(race.sites[0].instruction, "store");
}

TEST(Kernel, ReadModifyWritesReturnOldValues) {
  Kernel k("rmw");
  const auto x = k.global_atomic<uint32_t>("x", 5);
  const auto f = k.global_atomic<float>("f", 1.5F);
  k.threads(1, [=](Thread& t) {
    t.assert_that(t.fetch_add(x, 2) == 5);
    t.assert_that(t.exchange(x, 9) == 7);
    t.assert_that(t.compare_exchange(x, 8, 1) == 9);
    t.assert_that(t.compare_exchange(x, 9, 12) == 9);
    t.assert_that(t.update(x, Rmw::kAnd, 8) == 12);
    t.assert_that(t.update(x, Rmw::kMaxU, 20) == 8);
    t.reduce_add(x, 1);
    t.assert_that(t.load(x) == 21);
    t.assert_that(t.fetch_add(f, 0.25F) == 1.5F);
    t.assert_that(t.load(f) == 1.75F);
  });
  EXPECT_THAT(k, Verified());
}

TEST(Kernel, ReductionsCommute) {
  Kernel k("reductions");
  const auto x = k.global_atomic<int>("x", 0);
  k.threads(6, [=](Thread& t) { t.reduce_add(x, 1); });
  k.expect(x, 6);
  EXPECT_THAT(k, Verified());
  EXPECT_THAT(k, HasTraces(1));
}

TEST(Kernel, ChoicesAreAllTaken) {
  Kernel k("choices");
  k.threads(1, [](Thread& t) { t.assert_that(t.choose(3) + 3 * t.choose(2) != 5, "the last combination"); });
  const CheckResult result = check(k);
  EXPECT_EQ(result.executions, 6U);
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].message, "the last combination");
}

TEST(Kernel, WrongResultsAreFindings) {
  Kernel k("wrong");
  const auto out = k.global<int>("out", {0, 0});
  k.threads(1, [=](Thread& t) { t.store(out[1], 3); });
  k.expect(out, {0, 4});
  const CheckResult result = check(k);
  ASSERT_EQ(result.findings.size(), 1U) << result;
  EXPECT_EQ(result.findings[0].kind, FindingKind::kWrongResult);
  EXPECT_THAT(result.findings[0].message, ::testing::HasSubstr("is 3 at the end, expected 4"));
}

TEST(Kernel, AccessesBesideAVariableAreFindings) {
  Kernel k("beside");
  const auto x = k.shared<int>("x", 4);
  k.threads(1, [=](Thread& t) { t.store(x[4], 1); });
  EXPECT_THAT(k, Finds(FindingKind::kOutOfBounds));
}

TEST(Kernel, AtomicsBesideAVariableAreFindings) {
  for (const size_t i : {size_t{4}, size_t{1000}, ~size_t{0}}) {
    Kernel k("beside");
    const auto x = k.shared_atomics<int>("x", 4, zeros);
    k.threads(1, [=](Thread& t) {
      t.fetch_add(x[i], 1);
      t.store(x[i], 1);
    });
    EXPECT_THAT(k, Finds(FindingKind::kOutOfBounds)) << i;
  }
}

TEST(Kernel, CopiesBesideAVariableAreFindings) {
  for (const size_t i : {size_t{4}, size_t{1000}, ~size_t{0}}) {
    Kernel k("beside");
    const auto in = k.global<int>("in", 4, iota);
    const auto x = k.shared<int>("x", 4);
    const auto b = k.mbarrier("b", 1);
    k.threads(1, [=](Thread& t) {
      t.copy_async(x[i], in[0], b);
      t.wait(b);
      t.copy_async(in[i], x[0]);
      t.wait_group();
    });
    EXPECT_THAT(k, Finds(FindingKind::kOutOfBounds)) << i;
  }
}

TEST(Kernel, BarriersBesideTheirMemoryAreFindings) {
  for (const size_t i : {size_t{2}, size_t{1000}, ~size_t{0}}) {
    Kernel k("beside");
    const auto b = k.mbarriers("b", 2, 1);
    k.threads(1, [=](Thread& t) { t.arrive(b[i]); });
    EXPECT_FALSE(check(k).verified()) << i;
  }
}

TEST(Kernel, UninitializedReadsAreFindingsOnRequest) {
  for (const bool report : {false, true}) {
    Kernel k("uninitialized");
    const auto x = k.shared<int>("x", 1);
    k.threads(1, [=](Thread& t) { t.load(x[0]); });
    k.report_uninitialized(report);
    if (report) {
      EXPECT_THAT(k, Finds(FindingKind::kUninitializedRead));
    } else {
      EXPECT_THAT(k, Verified());
    }
  }
}

TEST(Kernel, BlockBarrierOrdersAll) {
  Kernel k("sync");
  const auto x = k.shared<int>("x", 4);
  k.threads(4, [=](Thread& t) {
    for (int round = 0; round < 3; ++round) {
      t.store(x[t.index()], round);
      t.sync_threads();
      t.assert_that(t.load(x[(t.index() + 1) % 4]) == round);
      t.sync_threads();
    }
  });
  EXPECT_THAT(k, Verified());
  EXPECT_THAT(k, HasTraces(1));
}

TEST(Kernel, ThreadsThatEndedCountAtTheBlockBarrier) {
  Kernel k("early exit", {.blocks = 2, .cluster = 2});
  const auto x = k.shared<int>("x", 3);
  k.threads(3, [=](Thread& t) {
    t.store(x[t.index()], 1);
    if (t.index() > 0) t.cluster_sync();
    for (uint32_t round = 0; round < t.index(); ++round) t.sync_threads();
    if (t.index() == 2) t.assert_that(t.load(x[1]) == 1);
  });
  EXPECT_THAT(k, Verified());
  EXPECT_THAT(k, HasTraces(1));
}

TEST(Kernel, NamedBarrierCountsThreads) {
  Kernel k("named");
  const auto x = k.shared<int>("x", 1);
  k.threads(1, [=](Thread& t) {
    t.store(x[0], 7);
    t.named_arrive(3, 2);
  });
  k.threads(1, [=](Thread& t) {
    t.named_sync(3, 2);
    t.assert_that(t.load(x[0]) == 7);
  });
  EXPECT_THAT(k, Verified());
}

TEST(Kernel, MissingArrivalDeadlocks) {
  Kernel k("named");
  k.threads(2, [=](Thread& t) { t.named_sync(1, 3); });
  EXPECT_THAT(k, Deadlocks());
}

TEST(Kernel, ClusterBarrierAndRemoteMemory) {
  Kernel k("cluster", {.blocks = 2, .cluster = 2});
  const auto x = k.shared<int>("x", 1);
  k.threads(1, [=](Thread& t) {
    t.store(x[0].of(1 - t.block_rank()), static_cast<int>(t.block_rank()));
    t.cluster_sync();
    t.assert_that(t.load(x[0]) == static_cast<int>(1 - t.block_rank()));
    t.cluster_sync();
  });
  // The first access comes before the other block is known to have started.
  EXPECT_THAT(k, Finds(FindingKind::kLifetime));
}

TEST(Kernel, ClusterBarrierBeforeRemoteMemoryIsVerified) {
  Kernel k("cluster", {.blocks = 2, .cluster = 2});
  const auto x = k.shared<int>("x", 1);
  k.threads(1, [=](Thread& t) {
    t.cluster_sync();
    t.store(x[0].of(1 - t.block_rank()), static_cast<int>(t.block_rank()));
    t.cluster_sync();
    t.assert_that(t.load(x[0]) == static_cast<int>(1 - t.block_rank()));
  });
  EXPECT_THAT(k, Verified());
}

struct Wide {
  int64_t a, b, c;
};

TEST(Kernel, PlainStepsSplitWideAccesses) {
  for (const bool steps : {false, true}) {
    Kernel k("wide");
    const auto x = k.shared<Wide>("x", 2);
    k.threads(2, [=](Thread& t) {
      t.store(x[t.index()], {1, 2, t.index()});
      t.assert_that(t.load(x[t.index()]).c == t.index());
    });
    k.plain_steps(steps);
    EXPECT_THAT(k, Verified(Reading::kStrict));
    EXPECT_THAT(k, HasTraces(1));
  }
}

TEST(Kernel, PlainStepsFindTheSameRace) {
  for (const bool steps : {false, true}) {
    Kernel k("wide");
    const auto x = k.shared<Wide>("x", 1);
    k.threads(2, [=](Thread& t) { t.store(x[0], {1, 2, t.index()}); });
    k.plain_steps(steps);
    EXPECT_THAT(k, HasRace("x"));
  }
}

TEST(Kernel, InvalidLaunchesAreInputErrors) {
  Kernel none("none");
  EXPECT_THROW(check(none), InputError);
  Kernel cluster("cluster", {.blocks = 3, .cluster = 2});
  cluster.threads(1, [](Thread&) {});
  EXPECT_THROW(check(cluster), InputError);
}

TEST(Kernel, IsMovable) {
  Kernel k = message_passing(Order::kRelease, Order::kAcquire);
  const Kernel moved = std::move(k);
  EXPECT_THAT(moved, Verified());
}

TEST(Matchers, SayWhatTheyExpectAndWhatWasFound) {
  const auto race = HasRace("tile", Cause::kProxyFence);
  EXPECT_EQ(::testing::DescribeMatcher<const Kernel&>(race),
            "shows a finding of kind race on tile with cause 'missing proxy fence'");
  ::testing::StringMatchResultListener listener;
  EXPECT_FALSE(Verified().MatchAndExplain(message_passing(Order::kRelaxed, Order::kRelaxed), &listener));
  EXPECT_THAT(listener.str(), ::testing::HasSubstr("which is violation"));
  EXPECT_THAT(message_passing(Order::kRelease, Order::kAcquire), Not(HasRace()));
}

}  // namespace
}  // namespace warpcheck
