#include "frontends/cpp/fiber.h"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>

namespace warpcheck {
namespace {

// A fiber that runs a callable.
template <class F>
class Running {
 public:
  explicit Running(F body) : body_(std::move(body)) {
    fiber.start([](void* self) { static_cast<Running*>(self)->body_(static_cast<Running*>(self)->fiber); }, this);
  }
  Fiber fiber;

 private:
  F body_;
};

void stop(Fiber& fiber, bool has_result = true) {
  if (fiber.unwinding()) return fiber.interrupted(has_result);
  fiber.suspend();
  if (fiber.unwinding()) fiber.interrupted(has_result);
}

TEST(Fiber, RunsToEachSuspension) {
  int at = 0;
  Running run([&](Fiber& self) {
    for (at = 1; at < 3; ++at) stop(self);
  });
  EXPECT_EQ(at, 0);
  run.fiber.resume();
  EXPECT_EQ(at, 1);
  run.fiber.resume();
  EXPECT_EQ(at, 2);
  run.fiber.resume();
  EXPECT_FALSE(run.fiber.active());
}

TEST(Fiber, IsReusedAfterItsEnd) {
  Fiber fiber;
  int runs = 0;
  for (int i = 0; i < 100; ++i) {
    fiber.start([](void* count) { ++*static_cast<int*>(count); }, &runs);
    fiber.resume();
  }
  EXPECT_EQ(runs, 100);
}

TEST(Fiber, UnwindingDestroysWhatItOwns) {
  const auto shared = std::make_shared<int>(0);
  Running run([&](Fiber& self) {
    const auto copy = shared;
    const std::string text(1000, 'x');
    stop(self);
  });
  run.fiber.resume();
  EXPECT_EQ(shared.use_count(), 2);
  run.fiber.unwind();
  EXPECT_EQ(shared.use_count(), 1);
  EXPECT_FALSE(run.fiber.active());
}

TEST(Fiber, UnwindingOneThatNeverRanRunsNothing) {
  bool ran = false;
  Running run([&](Fiber&) { ran = true; });
  run.fiber.unwind();
  EXPECT_FALSE(ran);
}

TEST(Fiber, UnwindingPassesCodeThatCatchesEverything) {
  const auto shared = std::make_shared<int>(0);
  Running run([&](Fiber& self) {
    const auto copy = shared;
    try {
      stop(self);
    } catch (...) {
    }
    stop(self);
  });
  run.fiber.resume();
  run.fiber.unwind();
  EXPECT_EQ(shared.use_count(), 1);
}

TEST(Fiber, UnwindingLeavesCodeThatSwallowsItForEver) {
  Running run([&](Fiber& self) {
    for (;;) {
      try {
        stop(self);
      } catch (...) {
      }
    }
  });
  run.fiber.resume();
  run.fiber.unwind();
  EXPECT_FALSE(run.fiber.active());
}

struct StopsWhenDestroyed {
  Fiber& self;
  bool has_result;
  ~StopsWhenDestroyed() { stop(self, has_result); }
};

TEST(Fiber, DestructorsMaySuspendDuringUnwinding) {
  Running run([](Fiber& self) {
    const StopsWhenDestroyed guard{self, true};
    stop(self);
  });
  run.fiber.resume();
  run.fiber.unwind();
  EXPECT_FALSE(run.fiber.active());
}

TEST(Fiber, UnwindingOneSuspendedInADestructorGoesOnQuietly) {
  const auto shared = std::make_shared<int>(0);
  Running run([&](Fiber& self) {
    const auto copy = shared;
    { const StopsWhenDestroyed guard{self, false}; }
    stop(self);
  });
  run.fiber.resume();
  run.fiber.unwind();
  EXPECT_EQ(shared.use_count(), 1);
}

TEST(Fiber, UnwindingLeavesNoexceptCodeThatNeedsAResult) {
  Running run([](Fiber& self) { const StopsWhenDestroyed guard{self, true}; });
  run.fiber.resume();
  run.fiber.unwind();
  EXPECT_FALSE(run.fiber.active());
}

// Exceptions being handled belong to a stack: two fibers in their handlers do not see each other's.
TEST(Fiber, HandlersMaySuspend) {
  std::string caught[2];
  const auto body = [&](int which) {
    return [&, which](Fiber& self) {
      try {
        try {
          throw std::runtime_error(std::to_string(which));
        } catch (...) {
          stop(self);
          throw;
        }
      } catch (const std::exception& error) {
        stop(self);
        caught[which] = error.what();
      }
    };
  };
  Running first(body(0)), second(body(1));
  for (int round = 0; round < 3; ++round) {
    first.fiber.resume();
    EXPECT_EQ(std::uncaught_exceptions(), 0);
    EXPECT_EQ(std::current_exception(), nullptr);
    second.fiber.resume();
  }
  EXPECT_EQ(caught[0], "0");
  EXPECT_EQ(caught[1], "1");
}

TEST(Fiber, RecognizesAStateThatRecurs) {
  volatile int value = 0;
  Running run([&](Fiber& self) {
    while (value == 0) stop(self);
    volatile int counter = 0;
    for (int i = 0; i < 3; ++i) {
      stop(self);
      counter = i;
    }
    EXPECT_EQ(counter, 2);
  });
  run.fiber.resume();
  run.fiber.resume();
  run.fiber.remember();
  run.fiber.resume();
  EXPECT_TRUE(run.fiber.recurs());
  value = 1;
  run.fiber.resume();
  EXPECT_FALSE(run.fiber.recurs());
  run.fiber.remember();
  run.fiber.resume();
  EXPECT_FALSE(run.fiber.recurs()) << "the counter has changed";
  run.fiber.unwind();
}

TEST(Fiber, NestsInAnother) {
  std::string log;
  Running inner([&](Fiber& self) {
    log += "a";
    self.suspend();
    log += "c";
  });
  Running outer([&](Fiber& self) {
    inner.fiber.resume();
    log += "b";
    self.suspend();
    inner.fiber.resume();
    log += "d";
  });
  outer.fiber.resume();
  outer.fiber.resume();
  EXPECT_EQ(log, "abcd");
}

}  // namespace
}  // namespace warpcheck
