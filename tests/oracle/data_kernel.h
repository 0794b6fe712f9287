// Kernels as data: a list of operations for each thread, interpreted by one C++ body. Small enough to enumerate, and to
// shrink when one of them shows a disagreement.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "frontends/cpp/warpcheck.h"

namespace warpcheck::oracle {

enum class Act : uint8_t {
  kStoreX,
  kAddX,
  kReduceX,
  kLoadX,
  kAwaitX,
  kCasX,
  kExchangeX,
  kStoreY,
  kLoadY,  // atomics; kAwaitX: until x >= 1
  kStoreD,
  kLoadD,  // plain
  kReleaseF,
  kAcquireF,
  kRelaxedF,
  kRelaxedAwaitF,
  kBlockReleaseF,
  kBlockAcquireF,  // a flag; acquire: await f == 1
  kFence,
  kBlockFence,
  kArrive,
  kArriveExpect,
  kExpect,
  kCopyBytes,
  kParity0,
  kParity1,
  kWaitB,  // mbarrier b of one arrival; 4 bytes
  kCopyIn,
  kCopyOut,
  kWaitGroup,
  kWaitGroupRead,
  kStoreS,
  kLoadS,
  kLoadG,  // copies: in -> s @b, s -> g
  kProxyFence,
  kSync,
};

const char* name(Act act);

struct Alphabet {
  const char* name;
  std::vector<Act> acts;  // at most six, or random kernels only
  bool blocks = false;    // each thread is a block of its own
};
const std::vector<Alphabet>& alphabets();

struct DataKernel {
  std::vector<std::vector<Act>> threads;
  bool blocks = false;

  friend bool operator<(const DataKernel& a, const DataKernel& b) { return a.threads < b.threads; }
};

std::string text(const DataKernel& kernel);  // "load x; store x | await x"
Kernel build(const DataKernel& kernel, bool plain_steps = false);
uint32_t copies(const DataKernel& kernel);
size_t operations(const DataKernel& kernel);

// All kernels of `threads` threads with 1 to `length` operations each, one of each set that differ in the order of
// their threads (which only renames them: what a thread stores is never compared).
std::vector<DataKernel> all_kernels(const Alphabet& alphabet, uint32_t threads, uint32_t length);

DataKernel random_kernel(const Alphabet& alphabet, uint32_t max_threads, uint32_t max_length, std::mt19937_64& random);

}  // namespace warpcheck::oracle
