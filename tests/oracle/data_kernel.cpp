#include "tests/oracle/data_kernel.h"

#include <algorithm>

namespace warpcheck::oracle {

namespace {

struct Memory {
  explicit Memory(Kernel& k)
      : x(k.global_atomic<int>("x", 0)),
        y(k.global_atomic<int>("y", 0)),
        f(k.global_atomic<int>("f", 0)),
        d(k.global<int>("d", {0})),
        in(k.global<int>("in", {42})),
        g(k.global<int>("g", {0})),
        s(k.shared<int>("s", 1)),
        b(k.mbarrier("b", 1)) {}

  Atomic<int> x, y, f;
  Array<int> d, in, g, s;
  Mbarrier b;
};

void perform(Thread& t, Act act, const Memory& m, int value) {
  switch (act) {
    case Act::kStoreX:
      t.store(m.x, value);
      break;
    case Act::kAddX:
      t.fetch_add(m.x, 1);
      break;
    case Act::kReduceX:
      t.reduce_add(m.x, 1);
      break;
    case Act::kLoadX:
      t.load(m.x);
      break;
    case Act::kAwaitX:
      t.await(m.x, std::greater_equal{}, 1);
      break;
    case Act::kCasX:
      t.compare_exchange(m.x, 1, 0);
      break;
    case Act::kExchangeX:
      t.exchange(m.x, 0);
      break;
    case Act::kStoreY:
      t.store(m.y, value);
      break;
    case Act::kLoadY:
      t.load(m.y);
      break;
    case Act::kStoreD:
      t.store(m.d[0], value);
      break;
    case Act::kLoadD:
      t.load(m.d[0]);
      break;
    case Act::kReleaseF:
      t.store(m.f, 1, Order::kRelease);
      break;
    case Act::kAcquireF:
      t.await(m.f, std::equal_to{}, 1, Order::kAcquire);
      break;
    case Act::kRelaxedF:
      t.store(m.f, 1, Order::kRelaxed);
      break;
    case Act::kRelaxedAwaitF:
      t.await(m.f, std::equal_to{}, 1, Order::kRelaxed);
      break;
    case Act::kBlockReleaseF:
      t.store(m.f, 1, Order::kRelease, Scope::kBlock);
      break;
    case Act::kBlockAcquireF:
      t.await(m.f, std::equal_to{}, 1, Order::kAcquire, Scope::kBlock);
      break;
    case Act::kFence:
      t.fence();
      break;
    case Act::kBlockFence:
      t.fence(Scope::kBlock);
      break;
    case Act::kArrive:
      t.arrive(m.b);
      break;
    case Act::kArriveExpect:
      t.arrive_expect_tx(m.b, 4);
      break;
    case Act::kExpect:
      t.expect_tx(m.b, 4);
      break;
    case Act::kCopyBytes:
      t.copy_bytes_async(m.s, m.in, m.b);
      break;
    case Act::kParity0:
      t.wait_parity(m.b, 0);
      break;
    case Act::kParity1:
      t.wait_parity(m.b, 1);
      break;
    case Act::kWaitB:
      t.wait(m.b);
      break;
    case Act::kCopyIn:
      t.copy_async(m.s, m.in, m.b);
      break;
    case Act::kCopyOut:
      t.copy_async(m.g, m.s);
      break;
    case Act::kWaitGroup:
      t.wait_group();
      break;
    case Act::kWaitGroupRead:
      t.wait_group_read();
      break;
    case Act::kStoreS:
      t.store(m.s[0], value);
      break;
    case Act::kLoadS:
      t.load(m.s[0]);
      break;
    case Act::kLoadG:
      t.load(m.g[0]);
      break;
    case Act::kProxyFence:
      t.fence_proxy_async();
      break;
    case Act::kSync:
      t.sync_threads();
      break;
  }
}

// All sequences of 1 to `length` acts.
std::vector<std::vector<Act>> sequences(const Alphabet& alphabet, uint32_t length) {
  std::vector<std::vector<Act>> all, last = {{}};
  for (uint32_t i = 0; i < length; ++i) {
    std::vector<std::vector<Act>> next;
    for (const std::vector<Act>& prefix : last) {
      for (const Act act : alphabet.acts) {
        next.push_back(prefix);
        next.back().push_back(act);
      }
    }
    all.insert(all.end(), next.begin(), next.end());
    last = std::move(next);
  }
  return all;
}

}  // namespace

const char* name(Act act) {
  switch (act) {
    case Act::kStoreX:
      return "store x";
    case Act::kAddX:
      return "add x";
    case Act::kReduceX:
      return "reduce x";
    case Act::kLoadX:
      return "load x";
    case Act::kAwaitX:
      return "await x";
    case Act::kCasX:
      return "cas x";
    case Act::kExchangeX:
      return "exchange x";
    case Act::kStoreY:
      return "store y";
    case Act::kLoadY:
      return "load y";
    case Act::kStoreD:
      return "d =";
    case Act::kLoadD:
      return "= d";
    case Act::kReleaseF:
      return "release f";
    case Act::kAcquireF:
      return "acquire f";
    case Act::kRelaxedF:
      return "relaxed f";
    case Act::kRelaxedAwaitF:
      return "await f relaxed";
    case Act::kBlockReleaseF:
      return "release.block f";
    case Act::kBlockAcquireF:
      return "acquire.block f";
    case Act::kFence:
      return "fence";
    case Act::kBlockFence:
      return "fence.block";
    case Act::kArrive:
      return "arrive";
    case Act::kArriveExpect:
      return "arrive.expect";
    case Act::kExpect:
      return "expect";
    case Act::kCopyBytes:
      return "copy bytes";
    case Act::kParity0:
      return "wait parity 0";
    case Act::kParity1:
      return "wait parity 1";
    case Act::kWaitB:
      return "wait";
    case Act::kCopyIn:
      return "copy in";
    case Act::kCopyOut:
      return "copy out";
    case Act::kWaitGroup:
      return "wait group";
    case Act::kWaitGroupRead:
      return "wait group read";
    case Act::kStoreS:
      return "s =";
    case Act::kLoadS:
      return "= s";
    case Act::kLoadG:
      return "= g";
    case Act::kProxyFence:
      return "proxy fence";
    case Act::kSync:
      return "sync";
  }
  return "";
}

const std::vector<Alphabet>& alphabets() {
  static const std::vector<Alphabet> all = {
      {"atomics", {Act::kStoreX, Act::kAddX, Act::kReduceX, Act::kLoadX, Act::kAwaitX, Act::kCasX}},
      {"flags", {Act::kStoreD, Act::kLoadD, Act::kReleaseF, Act::kAcquireF, Act::kRelaxedF, Act::kRelaxedAwaitF}},
      {"mbarriers", {Act::kArrive, Act::kArriveExpect, Act::kCopyBytes, Act::kParity0, Act::kParity1, Act::kLoadS}},
      {"copies", {Act::kCopyIn, Act::kCopyOut, Act::kWaitB, Act::kWaitGroup, Act::kWaitGroupRead, Act::kStoreS}},
      {"fences",
       {Act::kStoreD, Act::kLoadD, Act::kFence, Act::kRelaxedF, Act::kRelaxedAwaitF, Act::kBlockReleaseF},
       true},
      {"mixed", {Act::kStoreX,     Act::kAddX,      Act::kReduceX,       Act::kLoadX,  Act::kAwaitX,  Act::kCasX,
                 Act::kExchangeX,  Act::kStoreY,    Act::kLoadY,         Act::kStoreD, Act::kLoadD,   Act::kReleaseF,
                 Act::kAcquireF,   Act::kFence,     Act::kArrive,        Act::kWaitB,  Act::kParity0, Act::kCopyIn,
                 Act::kCopyOut,    Act::kWaitGroup, Act::kWaitGroupRead, Act::kStoreS, Act::kLoadS,   Act::kLoadG,
                 Act::kProxyFence, Act::kSync}},
      {"mixed blocks",
       {Act::kStoreX, Act::kAddX, Act::kAwaitX, Act::kStoreD, Act::kLoadD, Act::kReleaseF, Act::kAcquireF,
        Act::kBlockReleaseF, Act::kBlockAcquireF, Act::kRelaxedF, Act::kRelaxedAwaitF, Act::kFence, Act::kBlockFence,
        Act::kCopyIn, Act::kCopyOut, Act::kWaitB, Act::kWaitGroup, Act::kStoreS, Act::kLoadG},
       true},
  };
  return all;
}

std::string text(const DataKernel& kernel) {
  std::string result = kernel.blocks ? "[blocks] " : "";
  for (size_t i = 0; i < kernel.threads.size(); ++i) {
    if (i > 0) result += " | ";
    for (size_t j = 0; j < kernel.threads[i].size(); ++j) {
      if (j > 0) result += "; ";
      result += name(kernel.threads[i][j]);
    }
  }
  return result;
}

Kernel build(const DataKernel& kernel, bool plain_steps) {
  Kernel k(text(kernel), {.blocks = kernel.blocks ? static_cast<uint32_t>(kernel.threads.size()) : 1});
  const Memory m(k);
  const auto run = [m](Thread& t, const std::vector<Act>& acts, uint32_t number) {
    for (const Act act : acts) perform(t, act, m, static_cast<int>(number + 1));
  };
  if (kernel.blocks) {
    k.threads(1, [=](Thread& t) { run(t, kernel.threads[t.block()], t.block()); });
  } else {
    k.threads(static_cast<uint32_t>(kernel.threads.size()),
              [=](Thread& t) { run(t, kernel.threads[t.index()], t.index()); });
  }
  k.plain_steps(plain_steps);
  return k;
}

uint32_t copies(const DataKernel& kernel) {
  uint32_t count = 0;
  for (const std::vector<Act>& thread : kernel.threads) {
    for (const Act act : thread) count += act == Act::kCopyBytes || act == Act::kCopyIn || act == Act::kCopyOut;
  }
  return count;
}

size_t operations(const DataKernel& kernel) {
  size_t count = 0;
  for (const std::vector<Act>& thread : kernel.threads) count += thread.size();
  return count;
}

std::vector<DataKernel> all_kernels(const Alphabet& alphabet, uint32_t threads, uint32_t length) {
  const std::vector<std::vector<Act>> choices = sequences(alphabet, length);
  std::vector<DataKernel> all;
  std::vector<size_t> picked(threads, 0);
  for (;;) {
    DataKernel kernel{.threads = {}, .blocks = alphabet.blocks};
    for (const size_t choice : picked) kernel.threads.push_back(choices[choice]);
    all.push_back(std::move(kernel));
    size_t at = threads;  // the next non-decreasing sequence of choices
    while (at > 0 && picked[at - 1] + 1 == choices.size()) --at;
    if (at == 0) return all;
    const size_t next = picked[at - 1] + 1;
    std::fill(picked.begin() + static_cast<std::ptrdiff_t>(at) - 1, picked.end(), next);
  }
}

DataKernel random_kernel(const Alphabet& alphabet, uint32_t max_threads, uint32_t max_length, std::mt19937_64& random) {
  const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  DataKernel kernel{.threads = {}, .blocks = alphabet.blocks};
  kernel.threads.resize(2 + below(max_threads - 1));
  for (std::vector<Act>& thread : kernel.threads) {
    thread.resize(1 + below(max_length));
    for (Act& act : thread) act = alphabet.acts[below(alphabet.acts.size())];
  }
  return kernel;
}

}  // namespace warpcheck::oracle
