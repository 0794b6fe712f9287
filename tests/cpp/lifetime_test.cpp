// Kernels that throw, own heap objects, are abandoned, or spin; and steps that must not allocate.
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>

#include "frontends/cpp/gtest.h"

namespace {
thread_local uint64_t allocations = 0;
}  // namespace

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
__attribute__((noinline)) void* operator new(size_t bytes) {
  ++allocations;
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
__attribute__((noinline)) void operator delete(void* memory) noexcept { std::free(memory); }
__attribute__((noinline)) void operator delete(void* memory, size_t) noexcept { std::free(memory); }
#endif

namespace warpcheck {
namespace {

// Counts its living objects.
class Counted {
 public:
  explicit Counted(int& living) : living_(&living) { ++*living_; }
  Counted(const Counted& other) : living_(other.living_) { ++*living_; }
  Counted& operator=(const Counted&) = delete;
  ~Counted() { --*living_; }

 private:
  int* living_;
};

TEST(Lifetime, ExceptionsAreAssertions) {
  Kernel k("throws");
  const auto x = k.global_atomic<int>("x", 0);
  k.threads(2, [=](Thread& t) {
    if (t.fetch_add(x, 1) == 1) throw std::runtime_error("the second one");
  });
  const CheckResult result = check(k);
  EXPECT_EQ(result.executions, 2U);
  ASSERT_FALSE(result.findings.empty());
  EXPECT_EQ(result.findings[0].kind, FindingKind::kAssertion);
  EXPECT_THAT(result.findings[0].message, ::testing::HasSubstr("the second one"));
}

TEST(Lifetime, OtherExceptionsAreAssertionsToo) {
  Kernel k("throws");
  k.threads(1, [](Thread&) { throw 42; });
  EXPECT_THAT(k, FailsAssertion());
}

TEST(Lifetime, KernelsMayCatchTheirOwn) {
  Kernel k("catches");
  const auto x = k.global_atomic<int>("x", 0);
  k.threads(2, [=](Thread& t) {
    try {
      if (t.fetch_add(x, 1) == 1) throw std::runtime_error("no");
    } catch (const std::runtime_error&) {
      t.fetch_add(x, 1);
    }
  });
  k.expect(x, 3);
  EXPECT_THAT(k, Verified());
}

TEST(Lifetime, HeapObjectsOfAbandonedThreadsAreDestroyed) {
  int living = 0;
  {
    Kernel k("deadlock");
    const auto x = k.global_atomic<int>("x", 0), y = k.global_atomic<int>("y", 0);
    k.threads(3, [=, &living](Thread& t) {
      const auto owned = std::make_unique<Counted>(living);
      std::vector<Counted> many(100, Counted(living));
      t.fetch_add(x, 1);
      t.await(y, std::equal_to{}, 1);
    });
    const CheckResult result = check(k);
    EXPECT_EQ(result.executions, 6U);
    ASSERT_FALSE(result.findings.empty());
    EXPECT_EQ(result.findings[0].kind, FindingKind::kDeadlock);
  }
  EXPECT_EQ(living, 0);
}

TEST(Lifetime, AbandonedThreadsInForksAreDestroyed) {
  int living = 0;
  {
    Kernel k("deadlock");
    const auto b = k.mbarrier("b", 1);
    k.warpgroups(1, [=, &living](Thread& t) {
      const Counted outer(living);
      t.fork_warps([&](Thread& warp) {
        const Counted inner(living);
        if (warp.warp() != 1) warp.wait(b);
      });
    });
    EXPECT_THAT(k, Deadlocks());
  }
  EXPECT_EQ(living, 0);
}

struct ArrivesWhenDestroyed {
  Thread& t;
  Mbarrier b;
  ~ArrivesWhenDestroyed() { t.arrive(b); }
};

TEST(Lifetime, DestructorsMayUseTheThread) {
  Kernel k("guard");
  const auto b = k.mbarrier("b", 1), c = k.mbarrier("c", 1);
  k.threads(1, [=](Thread& t) {
    const ArrivesWhenDestroyed guard{t, b};
    t.wait(c);  // for ever
  });
  EXPECT_THAT(k, Deadlocks());
}

TEST(Lifetime, DestructorsOfThrowingKernelsSynchronize) {
  Kernel k("guard");
  const auto b = k.mbarrier("b", 1);
  k.threads(1, [=](Thread& t) {
    const ArrivesWhenDestroyed guard{t, b};
    throw std::runtime_error("arrives all the same");
  });
  k.threads(1, [=](Thread& t) { t.wait(b); });
  const CheckResult result = check(k);
  EXPECT_EQ(result.findings.size(), 1U) << result;
  EXPECT_THAT(k, FailsAssertion());
}

TEST(Lifetime, KernelsThatCatchEverythingAreAbandonedAllTheSame) {
  Kernel k("catches all");
  const auto b = k.mbarrier("b", 1);
  k.threads(2, [=](Thread& t) {
    for (;;) {
      try {
        t.wait(b);
        return;
      } catch (...) {
      }
    }
  });
  EXPECT_THAT(k, Deadlocks());
}

TEST(Lifetime, EndlessPlainLoopsAreALimit) {
  Kernel k("endless");
  const auto x = k.global<int>("x", {0});
  k.threads(1, [=](Thread& t) {
    for (int i = 0;; ++i) t.store(x[0], i);
  });
  const CheckResult result = check(k);
  EXPECT_EQ(result.verdict, Verdict::kIncomplete) << result;
}

Kernel spin(bool detect) {
  Kernel k("spin");
  const auto flag = k.global_atomic<int>("flag", 0);
  k.threads(1, [=](Thread& t) {
    while (t.load(flag) == 0) {
    }
  });
  k.detect_spins(detect);
  return k;
}

TEST(Spin, ThatCannotEndIsADeadlock) { EXPECT_THAT(spin(true), Deadlocks()); }

TEST(Spin, IsALimitWhenNotDetected) {
  const CheckResult result = check(spin(false), {.max_steps = 1000});
  EXPECT_NE(result.verdict, Verdict::kVerified);
  for (const CheckFinding& finding : result.findings) EXPECT_NE(finding.kind, FindingKind::kDeadlock);
}

TEST(Spin, ThatEndsIsVerifiedWithFewExecutions) {
  Kernel k("spin");
  const auto data = k.global<int>("data", {0});
  const auto flag = k.global_atomic<int>("flag", 0);
  k.threads(1, [=](Thread& t) {
    t.store(data[0], 1);
    t.store(flag, 1);
  });
  k.threads(1, [=](Thread& t) {
    while (t.load(flag) == 0) {
    }
    t.assert_that(t.load(data[0]) == 1);
  });
  const CheckResult result = check(k);
  EXPECT_TRUE(result.verified()) << result;
  EXPECT_LE(result.executions, 3U);
}

TEST(Spin, OnCompareExchangeIsALock) {
  Kernel k("lock");
  const auto lock = k.global_atomic<int>("lock", 0);
  const auto data = k.global<int>("data", {0});
  k.threads(2, [=](Thread& t) {
    while (t.compare_exchange(lock, 0, 1) != 0) {
    }
    t.store(data[0], t.load(data[0]) + 1);
    t.store(lock, 0);
  });
  k.expect(data, {2});
  EXPECT_THAT(k, Verified());
}

TEST(Spin, OnAPlainWordIsADeadlockOrARace) {
  for (const bool stored : {false, true}) {
    Kernel k("plain spin");
    const auto flag = k.global<int>("flag", {0});
    k.threads(1, [=](Thread& t) {
      while (t.load(flag[0]) == 0) {
      }
    });
    k.threads(1, [=](Thread& t) {
      if (stored) t.store(flag[0], 1);
    });
    if (stored) {
      EXPECT_THAT(k, HasRace("flag"));
    } else {
      EXPECT_THAT(k, Deadlocks());
    }
  }
}

TEST(Spin, ThatLoadsOftenIsNoPoll) {
  Kernel k("sum");
  const auto x = k.global<int>("x", {1});
  k.threads(1, [=](Thread& t) {
    int sum = 0;
    for (int i = 0; i < 100'000; ++i) sum += t.load(x[0]);
    t.assert_that(sum == 100'000);
  });
  EXPECT_THAT(k, Verified());
}

TEST(Spin, ThatCountsIsNoPoll) {
  Kernel k("counts");
  const auto flag = k.global_atomic<int>("flag", 0);
  k.threads(1, [=](Thread& t) {
    int tries = 0;
    while (t.load(flag) == 0 && ++tries < 5) {
    }
    t.assert_that(tries == 5);
  });
  EXPECT_THAT(k, Verified());
}

// Between two runs only the search may allocate; a run's steps must not. Twice as many executions, as many allocations.
TEST(Steps, DoNotAllocateOnceWarm) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP();
#endif
  Kernel k("words");
  const auto x = k.global_atomics<int>("x", 4, zeros);
  const auto s = k.shared<int>("s", 4);
  const auto b = k.mbarrier("b", 4);
  k.threads(4, [=](Thread& t) {
    t.store(s[t.index()], 1);
    for (size_t i = 0; i < 4; ++i) t.fetch_add(x[i], 1);
    t.load(x[0]);
    t.arrive(b);
    t.wait(b);
    t.load(s[(t.index() + 1) % 4]);
  });
  const std::unique_ptr<Machine> machine = k.make_machine();
  // Lowest agent first, or highest: two different schedules.
  const auto run = [&](bool lowest) {
    machine->reset();
    for (bool stepped = true; stepped;) {
      stepped = false;
      const std::span<const AgentId> agents = machine->agents();
      for (size_t i = 0; i < agents.size() && !stepped; ++i) {
        const AgentId agent = agents[lowest ? i : agents.size() - 1 - i];
        if (machine->pending(agent).status != Transition::Status::kEnabled) continue;
        machine->step(agent, 0);
        stepped = true;
      }
    }
    machine->finish();
  };
  for (int i = 0; i < 10; ++i) run(i % 2 == 0);
  ASSERT_TRUE(machine->findings().empty());
  const uint64_t before = allocations;
  for (int i = 0; i < 1000; ++i) run(i % 2 == 0);
  EXPECT_EQ(allocations - before, 0U);
}

}  // namespace
}  // namespace warpcheck
