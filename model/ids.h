// Distinct types for the numbers that name things. Each is dense: it indexes arrays.
#pragma once

#include <cstddef>
#include <cstdint>

namespace warpcheck {

// Whatever takes steps: a kernel thread or an asynchronous operation in flight. Assigned by a machine when it first
// meets the agent's AgentKey, and kept over all runs of that machine: the same key, the same id. Two machines of one
// program may number differently; schedules that travel use keys.
enum class AgentId : uint32_t {};

// A synchronization object: a 16-byte granule of memory with atomics, an mbarrier, a named barrier, ...
// Numbered like agents: stable over all runs of one machine.
enum class ObjectId : uint32_t {};

// A place in the kernel's source, as Machine::site describes it. Numbered by the program.
enum class SiteId : uint32_t {};

// A piece of memory with its own address range: a GMEM buffer, or one block's SMEM.
enum class RegionId : uint32_t {};

constexpr AgentId kNoAgent{0xffffffffU};
constexpr ObjectId kNoObject{0xffffffffU};
constexpr SiteId kNoSite{0xffffffffU};
constexpr RegionId kNoRegion{0xffffffffU};

template <class Id>
constexpr uint32_t index(Id id) {
  return static_cast<uint32_t>(id);
}

// An agent's identity, the same in every run and on every machine, never the order of creation.
struct AgentKey {
  uint32_t thread = 0;   // the issuing thread's number in the launch (the thread's own for a thread)
  uint32_t ordinal = 0;  // 0: the thread itself; k: its k-th asynchronous operation
  uint32_t block = 0;    // destination block of a multicast copy, else the issuer's block

  friend bool operator==(const AgentKey&, const AgentKey&) = default;
};

}  // namespace warpcheck
