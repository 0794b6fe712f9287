// Families with two blocks that share global memory and nothing else.
#include "tests/conformance/cases.h"

namespace warpcheck::conformance {

namespace {

struct Memory {
  explicit Memory(Kernel& k)
      : s(k.shared<int>("s", 1)),
        in(k.global<int>("in", {42})),
        out(k.global<int>("out", {0})),
        b(k.mbarrier("B", 1)) {}

  Array<int> s, in, out;
  Mbarrier b;
};

Case make(int family, Expected expected, uint32_t threads, std::function<void(Thread&, const Memory&)> body) {
  const auto build = [=] {
    Kernel k("case " + std::to_string(family), {.blocks = 2, .cluster = 2});
    const Memory m(k);
    k.warpgroups(threads, [=](Thread& t) { body(t, m); });
    return k;
  };
  return {family, "", build, std::move(expected)};
}

}  // namespace

std::vector<Case> two_block_cases() {
  return {
      make(16, Expected::race("out"), 1,
           [](Thread& t, const Memory& m) {
             t.copy_async(m.out[0], m.s[0]);
             t.wait_group(0);
           }),
      make(17, Expected::verified(), 1,
           [](Thread& t, const Memory& m) {
             t.copy_async(m.s[0], m.out[0], m.b);
             t.wait(m.b);
           }),
      make(18, Expected::race("out"), 1, [](Thread& t, const Memory& m) { t.store(m.out[0], t.load(m.s[0])); }),
      make(19, Expected::verified(), 1, [](Thread& t, const Memory& m) { t.store(m.s[0], t.load(m.in[0])); }),
      make(20, Expected::verified(), 2,
           [](Thread& t, const Memory& m) {
             if (t.block() == 0 && t.index() == 0) t.store(m.s[0], 42);
             if (t.block() == 1 && t.index() == 1) t.store(m.s[0], 43);
           }),
  };
}

}  // namespace warpcheck::conformance
