#include "tests/conformance/programs.h"

namespace warpcheck::conformance {

namespace {

using Word = Atomic<int64_t>;
using Words = Atomics<int64_t>;

// `n` threads that know their number.
void threads(Kernel& k, unsigned n, const std::function<void(Thread&, unsigned)>& body) {
  k.threads(n, [body](Thread& t) { body(t, t.rank()); });
}

void ainc(Kernel& k, unsigned n) {
  const Word x = k.global_atomic<int64_t>("x", 0);
  threads(k, n, [=](Thread& t, unsigned) { t.fetch_add(x, 1); });
}

void binc(Kernel& k, unsigned n) {
  const Word x = k.global_atomic<int64_t>("x", 0), y = k.global_atomic<int64_t>("y", 0);
  threads(k, n, [=](Thread& t, unsigned) {
    t.fetch_add(x, 1);
    t.fetch_add(y, 1);
  });
}

void readers(Kernel& k, unsigned n) {
  const Word x = k.global_atomic<int64_t>("x", 0);
  k.threads(1, [=](Thread& t) { t.store(x, 1); });
  threads(k, n, [=](Thread& t, unsigned) { t.load(x); });
}

void casrot(Kernel& k, unsigned n) {
  const Word x = k.global_atomic<int64_t>("x", 0);
  threads(k, n, [=](Thread& t, unsigned i) { t.compare_exchange(x, i, i + 1); });
}

void casw(Kernel& k, unsigned n) {
  const Word x = k.global_atomic<int64_t>("x", 0);
  threads(k, n, [=](Thread& t, unsigned i) {
    t.compare_exchange(x, 0, 1);
    t.store(x, i + 3);
  });
}

void lastzero(Kernel& k, unsigned n) {
  const Words a = k.global_atomics<int64_t>("a", n + 1, zeros);
  k.threads(1, [=](Thread& t) {
    for (unsigned i = n; t.load(a[i]) != 0;) --i;
  });
  threads(k, n, [=](Thread& t, unsigned j) { t.store(a[j + 1], t.load(a[j]) + 1); });
}

void indexer(Kernel& k, unsigned n) {
  const Words table = k.global_atomics<int64_t>("table", 128, zeros);
  threads(k, n, [=](Thread& t, unsigned rank) {
    for (unsigned i = 0; i < 4; ++i) {
      const unsigned w = 11 * i + rank;
      unsigned h = 7 * w % 128;
      while (t.compare_exchange(table[h], 0, w) != 0) h = (h + 1) % 128;
    }
  });
}

void fib(Kernel& k, unsigned n) {
  const Word x = k.global_atomic<int64_t>("x", 1), y = k.global_atomic<int64_t>("y", 1);
  for (const Word to : {x, y}) {
    k.threads(1, [=](Thread& t) {
      for (unsigned i = 0; i < n; ++i) {
        const int64_t a = t.load(x), b = t.load(y);
        t.store(to, a + b);
      }
    });
  }
  k.threads(1, [=](Thread& t) {
    t.load(x);
    t.load(y);
  });
}

void ownshared(Kernel& k, unsigned n) {
  const Words own = k.global_atomics<int64_t>("own", n, zeros);
  const Word shared = k.global_atomic<int64_t>("shared", 0);
  threads(k, n, [=](Thread& t, unsigned i) {
    t.store(own[i], 1);
    t.store(shared, i + 1);
  });
}

void sb(Kernel& k, unsigned n) {
  const Words x = k.global_atomics<int64_t>("x", n, zeros);
  threads(k, n, [=](Thread& t, unsigned i) {
    t.store(x[i], 1);
    t.load(x[(i + 1) % n]);
  });
}

// What a lock protects: a plain variable, written and read back.
void critical_section(Thread& t, Element<int64_t> shared, unsigned i) {
  t.store(shared, i);
  t.assert_that(t.load(shared) == i, "another thread is in the critical section");
}

void ticketlock(Kernel& k, unsigned n) {
  const Word next = k.global_atomic<int64_t>("next", 0), owner = k.global_atomic<int64_t>("owner", 0);
  const Array<int64_t> shared = k.global<int64_t>("shared", 1);
  threads(k, n, [=](Thread& t, unsigned i) {
    const int64_t ticket = t.fetch_add(next, 1);
    t.await(owner, std::equal_to{}, ticket);
    critical_section(t, shared[0], i);
    t.store(owner, t.load(owner) + 1);
  });
}

// The exchange waits until it would find the lock free, so that no failing one is an event.
void ttaslock(Kernel& k, unsigned n) {
  const Word state = k.global_atomic<int64_t>("state", 0);
  const Array<int64_t> shared = k.global<int64_t>("shared", 1);
  threads(k, n, [=](Thread& t, unsigned i) {
    t.await(state, std::equal_to{}, 0);
    t.exchange_when(state, std::equal_to{}, 0, 1);
    critical_section(t, shared[0], i);
    t.store(state, 0);
  });
}

void ttasloop(Kernel& k, unsigned n) {
  const Word state = k.global_atomic<int64_t>("state", 0);
  const Array<int64_t> shared = k.global<int64_t>("shared", 1);
  threads(k, n, [=](Thread& t, unsigned i) {
    do {
      t.await(state, std::equal_to{}, 0);
    } while (t.exchange(state, 1) != 0);
    critical_section(t, shared[0], i);
    t.store(state, 0);
  });
}

void barrier(Kernel& k, unsigned n) {
  const Word count = k.global_atomic<int64_t>("count", 0), flag = k.global_atomic<int64_t>("flag", 0);
  const Array<int64_t> own = k.global<int64_t>("own", n);
  threads(k, n, [=](Thread& t, unsigned i) {
    t.store(own[i], 1);
    if (t.fetch_add(count, 1) == n - 1) {
      t.store(flag, 1);
    } else {
      t.await(flag, std::equal_to{}, 1);
    }
    t.assert_that(t.load(own[(i + 1) % n]) == 1, "the neighbour has not arrived");
  });
}

struct Entry {
  ProgramInfo info;
  void (*build)(Kernel&, unsigned);
};

const Entry kEntries[] = {
    {{"ainc", "N: fetch_add(x, 1)"}, ainc},
    {{"binc", "N: fetch_add(x, 1); fetch_add(y, 1)"}, binc},
    {{"readers", "one store x, N: load x"}, readers},
    {{"casrot", "i = 1..N: CAS(x, i-1 -> i)"}, casrot},
    {{"casw", "i = 0..N-1: CAS(x, 0 -> 1); store x = i+3"}, casw},
    {{"lastzero", "one seeks the last zero of a[0..N], N: a[j] = a[j-1] + 1"}, lastzero},
    {{"indexer", "N threads put four words each into a hash table"}, indexer},
    {{"fib", "two add x and y N times, one reads both"}, fib},
    {{"ownshared", "N: store own[i]; store shared"}, ownshared},
    {{"sb", "N: store x[i]; load x[i+1]"}, sb},
    {{"ticketlock", "N threads take a ticket lock"}, ticketlock},
    {{"ttaslock", "N threads take a lock, the exchange waits"}, ttaslock},
    {{"ttasloop", "N threads take a lock in a literal loop"}, ttasloop},
    {{"barrier", "N threads meet at a counter and a flag"}, barrier},
};

}  // namespace

const std::vector<ProgramInfo>& programs() {
  static const std::vector<ProgramInfo> infos = [] {
    std::vector<ProgramInfo> list;
    for (const Entry& entry : kEntries) list.push_back(entry.info);
    return list;
  }();
  return infos;
}

Kernel program(const std::string& name, unsigned n) {
  if (n == 0 || n > 64) throw InputError("found N = " + std::to_string(n) + ", expected 1 to 64");
  for (const Entry& entry : kEntries) {
    if (name != entry.info.name) continue;
    Kernel k(name);
    entry.build(k, n);
    return k;
  }
  throw InputError("found program '" + name + "', expected one that --help lists");
}

Kernel ring(const RingShape& shape) {
  Kernel k("ring");
  const auto tile = k.shared<int>("tile", shape.stages);
  const auto full = k.mbarriers("full", shape.stages, 1);
  const auto empty = k.mbarriers("empty", shape.stages, shape.consumers);
  k.threads(1, [=](Thread& t) {
    for (unsigned i = 0; i < shape.iterations; ++i) {
      const unsigned stage = i % shape.stages;
      if (i >= shape.stages) t.wait(empty[stage]);
      t.store(tile[stage], static_cast<int>(i));
      t.arrive(full[stage]);
    }
  });
  k.threads(shape.consumers, [=](Thread& t) {
    for (unsigned i = 0; i < shape.iterations; ++i) {
      const unsigned stage = i % shape.stages;
      t.wait(full[stage]);
      t.assert_that(t.load(tile[stage]) == static_cast<int>(i), "a slot of another round");
      t.arrive(empty[stage]);
    }
  });
  return k;
}

}  // namespace warpcheck::conformance
