// A kernel whose code counts its own runs in a plain global: a data race as soon as two workers explore it.
#include "frontends/cpp/warpcheck.h"

namespace {
int runs = 0;
}

int main() {
  using namespace warpcheck;
  Kernel kernel("counts its runs", {.blocks = 1});
  auto word = kernel.shared_atomic<int>("x", 0);
  kernel.threads(4, [=](Thread& t) {
    ++runs;
    t.fetch_add(word, 1);
    t.fetch_add(word, 1);
  });
  const CheckResult result = check(kernel, {.workers = 2});
  return result.verdict == Verdict::kVerified ? 0 : 1;
}
