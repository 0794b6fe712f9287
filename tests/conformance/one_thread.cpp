// Families with one thread (a warpgroup) and its asynchronous copies.
#include "tests/conformance/cases.h"

namespace warpcheck::conformance {

namespace {

// The memory that the cases share: s in shared memory, the rest in global memory.
struct Memory {
  explicit Memory(Kernel& k, uint32_t arrivals = 1)
      : s(k.shared<int>("s", 4)),
        s1(k.shared<int>("s1", 1)),
        s2(k.shared<int>("s2", 1)),
        g(k.global<int>("g", 4)),
        g1(k.global<int>("g1", 1)),
        g2(k.global<int>("g2", 1)),
        in(k.global<int>("in", {42, 2, 3})),
        out(k.global<int>("out", {0, 0})),
        b(k.mbarrier("B", arrivals)) {}

  Array<int> s, s1, s2, g, g1, g2, in, out;
  Mbarrier b;
};

Case make(int family, std::string variant, Expected expected, uint32_t arrivals,
          std::function<void(Thread&, const Memory&)> body, std::optional<int> out = {}) {
  const auto build = [=] {
    Kernel k("case " + std::to_string(family) + " " + variant);
    const Memory m(k, arrivals);
    k.warpgroups(1, [=](Thread& t) { body(t, m); });
    if (out) k.expect(m.out, {*out});
    return k;
  };
  return {family, std::move(variant), build, std::move(expected)};
}

std::string flag(bool on, const char* text) { return on ? std::string(text) + " " : ""; }

void loads_and_their_waits(std::vector<Case>& cases) {
  for (const bool wait : {false, true}) {
    cases.push_back(make(
        1, flag(wait, "wait"), wait ? Expected::verified() : Expected::race("out"), 1,
        [=](Thread& t, const Memory& m) {
          t.copy_async(m.s[0], m.out[0], m.b);
          if (wait) t.wait(m.b);
          t.commit_smem();
          t.store(m.out[0], 42);
        },
        wait ? std::optional(42) : std::nullopt));
    cases.push_back(make(
        3, flag(wait, "wait"), wait ? Expected::verified() : Expected::race(), 1,
        [=](Thread& t, const Memory& m) {
          t.copy_async(m.s[0], m.g[0], m.b);
          if (wait) t.wait(m.b);
          t.store(m.s[0], 42);
          t.store(m.out[0], t.load(m.s[0]));
        },
        wait ? std::optional(42) : std::nullopt));
    cases.push_back(make(12, flag(wait, "wait"), wait ? Expected::verified() : Expected::race("s"), wait ? 1 : 2,
                         [=](Thread& t, const Memory& m) {
                           t.commit_smem();
                           t.copy_async(m.s.slice(0, 2), m.g.slice(0, 2), m.b);
                           if (wait) t.wait(m.b);
                           t.copy_async(m.s.slice(0, 2), m.g.slice(0, 2), m.b);
                           t.wait(m.b);
                         }));
  }
}

void proxy_fences(std::vector<Case>& cases) {
  for (unsigned bits = 0; bits < 16; ++bits) {
    const bool a = bits & 1, b = bits & 2, c = bits & 4, d = bits & 8;
    cases.push_back(make(
        2, flag(a, "a") + flag(b, "b") + flag(c, "c") + flag(d, "d"),
        b ? Expected::verified() : Expected::race("s", Cause::kProxyFence), 1,
        [=](Thread& t, const Memory& m) {
          if (a) t.commit_smem();
          t.store(m.s[0], 100);
          if (b) t.commit_smem();
          t.copy_async(m.s[0], m.in[0], m.b);
          if (c) t.commit_smem();
          t.wait(m.b);
          if (d) t.commit_smem();
          t.store(m.out[0], t.load(m.s[0]));
        },
        b ? std::optional(42) : std::nullopt));
  }
  for (unsigned bits = 0; bits < 8; ++bits) {
    const bool a = bits & 1, b = bits & 2, c = bits & 4;
    cases.push_back(make(
        6, flag(a, "a") + flag(b, "b") + flag(c, "c"), b ? Expected::verified() : Expected::race("s"), 1,
        [=](Thread& t, const Memory& m) {
          if (a) t.commit_smem();
          t.store(m.s[0], 42);
          if (b) t.commit_smem();
          t.copy_async(m.g[0], m.s[0]);
          if (c) t.commit_smem();
          t.wait_group(0);
          t.store(m.out[0], t.load(m.g[0]));
        },
        b ? std::optional(42) : std::nullopt));
  }
}

void group_waits(std::vector<Case>& cases) {
  cases.push_back(make(7, "", Expected::race("g2", Cause::kNotAwaited), 1, [](Thread& t, const Memory& m) {
    t.store(m.s1[0], 1);
    t.store(m.s2[0], 2);
    t.commit_smem();
    t.copy_async(m.g1, m.s1);
    t.copy_async(m.g2, m.s2);
    t.wait_group(1);
    t.store(m.out[0], t.load(m.g1[0]) + t.load(m.g2[0]));
    t.wait_group(0);
  }));
  cases.push_back(make(
      8, "", Expected::verified(), 1,
      [](Thread& t, const Memory& m) {
        const int in[] = {1, 2, 3};
        for (size_t i = 0; i < 3; ++i) t.store(m.s[i], in[i]);
        t.commit_smem();
        for (size_t i = 0; i < 3; ++i) t.copy_async(m.g[i], m.s[i]);
        t.wait_group(1);
        t.wait_group(2);
        t.store(m.out[0], t.load(m.g[0]) + t.load(m.g[1]));
        t.wait_group(0);
        t.store(m.out[0], t.load(m.g[0]) + t.load(m.g[1]) + t.load(m.g[2]));
      },
      6));
  for (const bool once : {false, true}) {
    for (int k = 0; k < 4; ++k) {
      const bool right = once ? k == 0 : k <= 1;
      Expected expected = right ? Expected::verified() : Expected::race();
      if (once && k == 1) expected = Expected::race("out", Cause::kOnlyReadSide);
      cases.push_back(
          make(9, flag(once, "once") + "k=" + std::to_string(k), expected, 1, [=](Thread& t, const Memory& m) {
            for (size_t i = 0; i < 2; ++i) t.store(m.s[i], t.load(m.in[i]));
            t.commit_smem();
            t.copy_async(m.out[0], m.s[0]);
            t.copy_async(m.out[1], m.s[1]);
            t.wait_group_read(1);
            if (!once) t.wait_group(1);
            const Element<int> places[] = {m.s[0], m.out[0], m.s[1], m.out[1]};
            t.store(places[k], 3);
            t.wait_group_read(0);
          }));
    }
  }
}

void copies_alone(std::vector<Case>& cases) {
  cases.push_back(make(13, "", Expected::race("g"), 1, [](Thread& t, const Memory& m) {
    t.commit_smem();
    t.copy_async(m.g[0], m.s[0]);
    t.copy_async(m.g[0], m.s[0]);
    t.wait_group(0);
  }));
  cases.push_back(make(14, "", {FindingKind::kUnawaitedAsync, "", {}}, 1,
                       [](Thread& t, const Memory& m) { t.copy_async(m.out[0], m.s[0]); }));
  cases.push_back(make(15, "", Expected::verified(), 1, [](Thread& t, const Memory& m) {
    t.copy_async(m.out[0], m.s[0]);
    t.wait_group_read(0);
  }));
}

}  // namespace

std::vector<Case> one_thread_cases() {
  std::vector<Case> cases;
  loads_and_their_waits(cases);
  proxy_fences(cases);
  group_waits(cases);
  copies_alone(cases);
  return cases;
}

}  // namespace warpcheck::conformance
