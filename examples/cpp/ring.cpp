// Twenty lines: a producer fills a two-stage ring by asynchronous copies, a consumer sums each stage. Is it right?
// Try it without the wait for `empty`.
#include <iostream>

#include "frontends/cpp/warpcheck.h"

using namespace warpcheck;

int main() {
  Kernel k("ring");
  const auto in = k.global<int>("in", 32, iota), out = k.global<int>("out", 4);
  const auto ring = k.shared<int>("ring", 16);
  const auto full = k.mbarriers("full", 2, 1), empty = k.mbarriers("empty", 2, 1);
  k.warps(1, [=](Thread& t) {
    for (size_t i = 0; i < 4; ++i) {
      if (i >= 2) t.wait(empty[i % 2]);
      t.copy_async(ring.slice(i % 2 * 8, 8), in.slice(i * 8, 8), full[i % 2]);
    }
  });
  k.warps(1, [=](Thread& t) {
    for (size_t i = 0; i < 4; ++i) {
      int sum = 0;
      t.wait(full[i % 2]);
      for (size_t j = 0; j < 8; ++j) sum += t.load(ring[i % 2 * 8 + j]);
      t.store(out[i], sum);
      t.arrive(empty[i % 2]);
    }
  });
  k.expect(out, {28, 92, 156, 220});
  const CheckResult result = check(k);
  std::cout << result;
  return result.verified() ? 0 : 1;
}
