// Families with two threads, each twice: two warpgroups, and one warpgroup whose warps 0 and 1 play them.
#include "tests/conformance/cases.h"

namespace warpcheck::conformance {

namespace {

struct Memory {
  explicit Memory(Kernel& k)
      : s(k.shared<int>("s", 1)),
        g(k.global<int>("g", 1)),
        in(k.global<int>("in", {42})),
        out(k.global<int>("out", {0})),
        b(k.mbarrier("B", 1)),
        b2(k.mbarrier("B2", 2)),
        c(k.mbarrier("C", 1)),
        d(k.mbarrier("D", 1)) {}

  Array<int> s, g, in, out;
  Mbarrier b, b2, c, d;
};

using Part = std::function<void(Thread&, const Memory&)>;

void add(std::vector<Case>& cases, int family, const std::string& variant, const Expected& expected, Part first,
         Part second, std::optional<int> out = {}) {
  for (const bool forked : {false, true}) {
    const std::string text = forked ? "forked " + variant : variant;
    const auto build = [=] {
      Kernel k("case " + std::to_string(family) + " " + text);
      const Memory m(k);
      if (forked) {
        k.warpgroups(1, [=](Thread& t) {
          t.fork_warps([&](Thread& warp) {
            if (warp.warp() == 0) first(warp, m);
            if (warp.warp() == 1) second(warp, m);
          });
        });
      } else {
        k.warpgroups(1, [=](Thread& t) { first(t, m); });
        k.warpgroups(1, [=](Thread& t) { second(t, m); });
      }
      if (out) k.expect(m.out, {*out});
      return k;
    };
    cases.push_back({family, text, build, expected});
  }
}

std::string letters(unsigned bits) {
  std::string text;
  for (unsigned i = 0; i < 6; ++i) {
    if (bits >> i & 1) text += static_cast<char>('a' + i);
  }
  return text;
}

// Six places for a proxy fence around a store, a copy over it, and two barriers.
void fences_across_threads(std::vector<Case>& cases) {
  for (unsigned bits = 0; bits < 64; ++bits) {
    const auto commit = [bits](Thread& t, char place) {
      if (bits >> (place - 'a') & 1) t.commit_smem();
    };
    const bool b = bits & 2, d = bits & 8;
    add(
        cases, 4, letters(bits), b ? Expected::verified() : Expected::race("s"),
        [=](Thread& t, const Memory& m) {
          commit(t, 'a');
          t.store(m.s[0], 100);
          commit(t, 'b');
          t.copy_async(m.s[0], m.in[0], m.c);
          commit(t, 'c');
          t.arrive(m.b);
        },
        [=](Thread& t, const Memory& m) {
          commit(t, 'd');
          t.wait(m.b);
          commit(t, 'e');
          t.wait(m.c);
          commit(t, 'f');
          t.store(m.out[0], t.load(m.s[0]));
        },
        b ? std::optional(42) : std::nullopt);
    add(
        cases, 5, letters(bits), b || d ? Expected::verified() : Expected::race("s"),
        [=](Thread& t, const Memory& m) {
          commit(t, 'a');
          t.store(m.s[0], 100);
          commit(t, 'b');
          t.arrive(m.b);
        },
        [=](Thread& t, const Memory& m) {
          commit(t, 'c');
          t.wait(m.b);
          commit(t, 'd');
          t.copy_async(m.s[0], m.in[0], m.c);
          commit(t, 'e');
          t.wait(m.c);
          commit(t, 'f');
          t.store(m.out[0], t.load(m.s[0]));
        },
        b || d ? std::optional(42) : std::nullopt);
  }
}

void groups_across_threads(std::vector<Case>& cases) {
  for (const bool r : {false, true}) {
    add(
        cases, 10, r ? "r" : "", Expected::race(r ? "s" : "out", Cause::kAwaitedByAnother),
        [](Thread& t, const Memory& m) {
          t.copy_async(m.out[0], m.s[0]);
          t.arrive(m.b);
          t.wait(m.d);
          t.wait_group(0);
        },
        [=](Thread& t, const Memory& m) {
          t.wait(m.b);
          t.wait_group(0);
          t.store(r ? m.s[0] : m.out[0], 43);
          t.arrive(m.d);
        });
  }
  add(
      cases, 11, "", Expected::verified(),
      [](Thread& t, const Memory& m) {
        t.store(m.s[0], 42);
        t.commit_smem();
        t.copy_async(m.g[0], m.s[0]);
        t.wait_group(0);
        t.arrive(m.b);
      },
      [](Thread& t, const Memory& m) {
        t.wait(m.b);
        t.store(m.out[0], t.load(m.g[0]));
      },
      42);
}

void arrivals(std::vector<Case>& cases) {
  for (const bool wait : {false, true}) {
    add(
        cases, 21, wait ? "wait" : "", wait ? Expected::verified() : Expected::race("s"),
        [](Thread& t, const Memory& m) {
          t.store(m.s[0], 42);
          t.arrive(m.b2);
        },
        [=](Thread& t, const Memory& m) {
          t.arrive(m.b2);
          if (wait) t.wait(m.b2);
          t.store(m.out[0], t.load(m.s[0]));
        },
        wait ? std::optional(42) : std::nullopt);
  }
}

}  // namespace

std::vector<Case> two_thread_cases() {
  std::vector<Case> cases;
  fences_across_threads(cases);
  groups_across_threads(cases);
  arrivals(cases);
  return cases;
}

}  // namespace warpcheck::conformance
