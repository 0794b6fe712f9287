// Asynchronous copies, mbarriers and warpgroups through the thread API.
#include <gtest/gtest.h>

#include "frontends/cpp/gtest.h"

namespace warpcheck {
namespace {

enum class Bug { kNone, kNoFence, kNoWait, kNoRelease };

// One thread copies tiles into a two-stage ring, one sums them up and copies each sum out.
Kernel pipeline(Bug bug) {
  Kernel k("pipeline");
  const auto in = k.global<int>("in", 16, iota), out = k.global<int>("out", {0, 0, 0, 0});
  const auto ring = k.shared<int>("ring", 8), sums = k.shared<int>("sums", 4);
  const auto full = k.mbarriers("full", 2, 1), empty = k.mbarriers("empty", 2, 1);
  k.threads(1, [=](Thread& t) {
    for (size_t i = 0; i < 4; ++i) {
      if (i >= 2 && bug != Bug::kNoRelease) t.wait(empty[i % 2]);
      t.arrive_expect_tx(full[i % 2], 16);
      t.copy_bytes_async(ring.slice(i % 2 * 4, 4), in.slice(i * 4, 4), full[i % 2]);
    }
  });
  k.threads(1, [=](Thread& t) {
    for (size_t i = 0; i < 4; ++i) {
      if (bug != Bug::kNoWait) t.wait(full[i % 2]);
      int sum = 0;
      for (size_t j = 0; j < 4; ++j) sum += t.load(ring[i % 2 * 4 + j]);
      t.store(sums[i], sum);
      if (bug != Bug::kNoFence) t.fence_proxy_async_shared();
      t.copy_async(out[i], sums[i]);
      t.arrive(empty[i % 2]);
    }
    t.wait_group();
  });
  k.expect(out, {6, 22, 38, 54});
  return k;
}

TEST(Async, PipelineIsVerified) { EXPECT_THAT(pipeline(Bug::kNone), Verified(Reading::kStrict)); }
TEST(Async, PipelineWithoutFenceRaces) { EXPECT_THAT(pipeline(Bug::kNoFence), HasRace("sums", Cause::kProxyFence)); }
TEST(Async, PipelineWithoutWaitRaces) { EXPECT_THAT(pipeline(Bug::kNoWait), HasRace("ring")); }
TEST(Async, PipelineThatReusesSlotsAtOnceIsFound) { EXPECT_FALSE(check(pipeline(Bug::kNoRelease)).verified()); }

TEST(Async, BoxesTouchTheirBytesOnly) {
  for (const bool overlap : {false, true}) {
    Kernel k("boxes");
    const auto in = k.global<int>("in", 4, iota);
    const auto tile = k.shared<int>("tile", 16);  // 4 x 4
    const auto full = k.mbarrier("full", 1);
    k.threads(1, [=](Thread& t) {
      t.copy_async(tile.box(0, 2, 0, 2, 4), in, full);
      t.store(tile[overlap ? 5 : 2], 1);  // (1, 1) lies inside, (0, 2) between the rows
      t.wait(full);
      t.assert_that(t.load(tile[4]) == 2);
    });
    if (overlap) {
      EXPECT_THAT(k, HasRace("tile", Cause::kNotAwaited));
    } else {
      EXPECT_THAT(k, Verified(Reading::kStrict));
    }
  }
}

TEST(Async, MulticastReachesEachBlock) {
  Kernel k("multicast", {.blocks = 2, .cluster = 2});
  const auto in = k.global<int>("in", {7});
  const auto tile = k.shared<int>("tile", 1);
  const auto full = k.mbarrier("full", 1);
  k.threads(1, [=](Thread& t) {
    t.arrive_expect_tx(full, 4);
    t.cluster_sync();
    if (t.block_rank() == 0) t.copy_multicast(tile, in, full, 0b11);
    t.wait(full);
    t.assert_that(t.load(tile[0]) == 7);
    t.cluster_sync();
  });
  EXPECT_THAT(k, Verified());
}

TEST(Async, GroupsCompleteTogether) {
  Kernel k("groups");
  const auto s = k.shared<int>("s", 2);
  const auto out = k.global<int>("out", {0, 0});
  k.threads(1, [=](Thread& t) {
    t.store(s[0], 1);
    t.store(s[1], 2);
    t.fence_proxy_async();
    t.copy_grouped(out[0], s[0]);
    t.copy_grouped(out[1], s[1]);
    t.commit_group();
    t.wait_group_read();
    t.store(s[0], 3);
    t.wait_group();
    t.assert_that(t.load(out[0]) + t.load(out[1]) == 3);
  });
  EXPECT_THAT(k, Verified(Reading::kStrict));
}

TEST(Async, ParityWaitsLap) {
  Kernel k("parity");
  const auto b = k.mbarrier("b", 1);
  k.threads(1, [=](Thread& t) {
    t.arrive(b);
    t.arrive(b);  // nobody has to have seen the first phase
  });
  k.threads(1, [=](Thread& t) { t.wait_parity(b, 0); });
  EXPECT_THAT(k, Deadlocks());
}

TEST(Async, MbarriersAreInitializedByThreadsToo) {
  Kernel k("init");
  const auto x = k.shared<int>("x", 1);
  const auto b = k.mbarrier_storage("b");
  k.threads(2, [=](Thread& t) {
    if (t.index() == 0) t.init(b, 2);
    t.sync_threads();
    if (t.index() == 0) t.store(x[0], 5);
    t.arrive(b);
    t.wait(b);
    t.assert_that(t.load(x[0]) == 5);
    t.sync_threads();
    if (t.index() == 0) t.inval(b);
  });
  EXPECT_THAT(k, Verified(Reading::kStrict));
}

TEST(Async, UnequalCopiesAreAssertions) {
  Kernel k("unequal");
  const auto in = k.global<int>("in", 4, iota);
  const auto s = k.shared<int>("s", 2);
  const auto b = k.mbarrier("b", 1);
  k.threads(1, [=](Thread& t) { t.copy_async(s, in, b); });
  EXPECT_THAT(k, FailsAssertion());
}

TEST(Warpgroup, ForkedWarpsInheritAndAreJoined) {
  Kernel k("fork");
  const auto x = k.shared<int>("x", 4), y = k.shared<int>("y", 1);
  k.warpgroups(1, [=](Thread& t) {
    for (int round = 0; round < 3; ++round) {
      t.store(y[0], round);
      t.fork_warps([&](Thread& warp) { warp.store(x[warp.warp()], warp.load(y[0]) + static_cast<int>(warp.warp())); });
      for (int i = 0; i < 4; ++i) t.assert_that(t.load(x[static_cast<size_t>(i)]) == round + i);
    }
  });
  EXPECT_THAT(k, Verified(Reading::kStrict));
  EXPECT_THAT(k, HasTraces(1));
}

TEST(Warpgroup, ForkedWarpsRace) {
  Kernel k("fork");
  const auto x = k.shared<int>("x", 1);
  k.warpgroups(
      1, [=](Thread& t) { t.fork_warps([&](Thread& warp) { warp.store(x[0], static_cast<int>(warp.warp())); }); });
  EXPECT_THAT(k, HasRace("x"));
}

TEST(Warpgroup, PhasesAreInherited) {
  Kernel k("fork");
  const auto b = k.mbarrier("b", 1), c = k.mbarrier("c", 1);
  k.warpgroups(1, [=](Thread& t) {
    t.arrive(b);
    t.wait(b);
    t.fork_warps([&](Thread& warp) {
      if (warp.warp() == 0) warp.arrive(b);
      warp.wait(b);
    });
    t.arrive(b);
    t.wait(b);
    t.arrive(c);
    t.wait(c);
  });
  EXPECT_THAT(k, Verified());
}

TEST(Warpgroup, AWarpThatThrowsIsAFinding) {
  for (const uint32_t thrower : {0U, 2U}) {
    Kernel k("fork");
    k.warpgroups(1, [=](Thread& t) {
      t.fork_warps([&](Thread& warp) {
        if (warp.warp() == thrower) throw std::runtime_error("no");
      });
    });
    EXPECT_THAT(k, FailsAssertion());
  }
}

TEST(Warpgroup, DeadlocksInsideAForkAreFound) {
  Kernel k("fork");
  const auto b = k.mbarrier("b", 1);
  k.warpgroups(1, [=](Thread& t) {
    t.fork_warps([&](Thread& warp) {
      if (warp.warp() == 3) warp.wait(b);
    });
  });
  EXPECT_THAT(k, Deadlocks());
}

TEST(Warpgroup, OnlyWarpgroupsFork) {
  Kernel k("no fork");
  k.warps(1, [=](Thread& t) { t.fork_warps([](Thread&) {}); });
  EXPECT_THAT(k, FailsAssertion());
}

}  // namespace
}  // namespace warpcheck
