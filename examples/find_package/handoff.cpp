// A bulk copy hands a tile to another warp. Checked as it should be, and with the wait left out.
#include <iostream>

#include "frontends/cpp/warpcheck.h"

using namespace warpcheck;

CheckResult hand_over(bool waits) {
  Kernel k("handoff");
  const auto in = k.global<int>("in", 8, iota), out = k.global<int>("out", 1);
  const auto tile = k.shared<int>("tile", 8);
  const auto full = k.mbarrier("full", 1);
  k.warps(1, [=](Thread& t) { t.copy_async(tile, in, full); });
  k.warps(1, [=](Thread& t) {
    if (waits) t.wait(full);
    t.store(out[0], t.load(tile[3]));
  });
  return check(k);
}

int main() {
  const CheckResult right = hand_over(true), broken = hand_over(false);
  std::cout << right << broken;
  return right.verified() && !broken.verified() ? 0 : 1;
}
