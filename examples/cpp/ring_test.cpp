// The same as unit tests: the kernel is right, and each piece of its synchronization is needed.
#include <gtest/gtest.h>

#include "frontends/cpp/gtest.h"

namespace {

using namespace warpcheck;

struct Omit {
  bool wait_full = false, wait_empty = false, fence = false;
};

// Copies `in` through shared memory to `out`, one added to each element on the way.
Kernel add_one(Omit omit) {
  Kernel k("add_one");
  const auto in = k.global<int>("in", 4, iota), out = k.global<int>("out", 4);
  const auto tile = k.shared<int>("tile", 2);
  const auto full = k.mbarrier("full", 1), empty = k.mbarrier("empty", 1);
  k.warps(1, [=](Thread& t) {
    for (size_t i = 0; i < 2; ++i) {
      if (i > 0 && !omit.wait_empty) t.wait(empty);
      t.copy_async(tile, in.slice(2 * i, 2), full);
    }
  });
  k.warps(1, [=](Thread& t) {
    for (size_t i = 0; i < 2; ++i) {
      if (!omit.wait_full) t.wait(full);
      for (size_t j = 0; j < 2; ++j) t.store(tile[j], t.load(tile[j]) + 1);
      if (!omit.fence) t.fence_proxy_async_shared();
      t.copy_async(out.slice(2 * i, 2), tile);
      t.wait_group();
      t.arrive(empty);
    }
  });
  k.expect(out, {1, 2, 3, 4});
  return k;
}

TEST(AddOne, IsVerified) { EXPECT_THAT(add_one({}), Verified()); }

TEST(AddOne, NeedsItsWaitForTheCopy) { EXPECT_THAT(add_one({.wait_full = true}), HasRace("tile")); }

TEST(AddOne, NeedsItsWaitForTheFreeSlot) { EXPECT_THAT(add_one({.wait_empty = true}), HasRace("tile")); }

TEST(AddOne, NeedsItsFence) { EXPECT_THAT(add_one({.fence = true}), HasRace("tile", Cause::kProxyFence)); }

}  // namespace
