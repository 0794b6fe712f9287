// The static side of a launch, as the model needs it: who runs and which memory there is. Built once by a frontend,
// shared by all machines of a program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/ids.h"

namespace warpcheck {

enum class Space : uint8_t { kGlobal, kShared, kTensor };  // kTensor: a block's tensor memory (tensor_memory.h)

// A named part of a region: accesses are named after it and must not leave it.
struct Variable {
  std::string name;           // "ring"
  uint64_t offset = 0;        // bytes from the region's start
  uint64_t bytes = 0;
  uint32_t element_bytes = 1; // for "ring[8..15]"
};

struct RegionSpec {
  std::string name;
  Space space = Space::kGlobal;
  uint32_t block = 0;                // the owner of shared or tensor memory
  uint64_t bytes = 0;
  std::vector<uint8_t> initial;      // contents from offset 0; the rest is uninitialized poison (0xff)
  std::vector<bool> uninitialized;   // marks bytes inside `initial` that are uninitialized all the same; may be shorter
  std::vector<Variable> variables;   // sorted by offset, disjoint; bytes outside are guards. Empty: the region is one
};

// A thread of the model: what a frontend schedules as a unit at the start, with one clock component a lane.
struct ThreadSpec {
  uint32_t block = 0;
  uint32_t lanes = 1;      // 1..32; components are numbered through all threads in order
  std::string name;        // "warp 0", "thread 3 of block 1"
};

// An mbarrier that is live when the run begins: its initialization is ordered, in every clock and in `inits`, before the
// first tick of every thread. For frontends that declare barriers with the launch (C++, Pallas).
struct MbarrierSpec {
  RegionId region = kNoRegion;
  uint64_t offset = 0;       // of its 8 bytes
  uint32_t arrivals = 1;     // expected arrivals of a phase
};

struct LaunchModel {
  uint32_t blocks = 1;
  uint32_t blocks_per_cluster = 1;
  std::vector<ThreadSpec> threads;   // grouped by block, in order
  std::vector<RegionSpec> regions;
  std::vector<MbarrierSpec> mbarriers;
  bool report_uninitialized = false; // report reads of uninitialized memory at the load
  bool async_global_is_generic = false;  // no way to fence GMEM between proxies (Pallas)
  bool plain_steps = false;          // each plain access and each moment of a copy is a step
};

}  // namespace warpcheck
