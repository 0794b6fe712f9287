// Vector clocks of the synchronization order: which events an agent's next access is ordered after, one clock for each way
// of being ordered. An agent carries all of them as a *bundle*: one flat array, a row of `width` components for each kind,
// so that joining two bundles is one pass over memory.
//
// Kinds that a run has not needed yet cost nothing: the pool grows its *level* when the first proxy or the first
// difference between the two readings appears, and only then do joins touch the further rows.
//
// Invariant: every row is a vector of ticks by component; row kStrict* <= its default twin (from level kBothReadings on;
// below that they are equal and not kept).
// Not thread-safe: owned by one machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpcheck {

enum ClockKind : uint8_t {
  kGeneric,            // what loads and stores are ordered after
  kControl,            // every observation, relaxed and narrow ones too; orders no memory
  kHanded,             // what those who released had done, scopes ignored; orders no memory
  kAsyncShared,        // what an async-proxy access to shared memory issued now is ordered after
  kAsyncGlobal,        // ... to global memory
  kInits,              // mbarrier initializations that a fence covered
  kStrictGeneric,      // the same in the strict reading
  kStrictAsyncShared,
  kStrictAsyncGlobal,
  kClockKinds,
};

enum class ClockLevel : uint8_t { kGenericOnly = 3, kProxies = 6, kBothReadings = 9 };  // rows in use

// The row that the strict reading checks in place of `kind`.
constexpr ClockKind strict_twin(ClockKind kind) {
  if (kind == kGeneric) return kStrictGeneric;
  if (kind == kAsyncShared) return kStrictAsyncShared;
  if (kind == kAsyncGlobal) return kStrictAsyncGlobal;
  return kind;
}

using BundleId = uint32_t;
constexpr BundleId kNoBundle = 0xffffffffU;

// Storage for all bundles of a run. Bundles are named by number: rows move when the pool grows.
class BundlePool {
 public:
  explicit BundlePool(uint32_t components);

  void reset();                       // frees all bundles, back to the lowest level
  BundleId allocate();                // all zero
  BundleId copy(BundleId from);
  void assign(BundleId to, BundleId from);
  void release(BundleId id);

  uint32_t* row(BundleId id, ClockKind kind) { return &storage_[(size_t{id} * kClockKinds + kind) * width_]; }
  const uint32_t* row(BundleId id, ClockKind kind) const {
    return &storage_[(size_t{id} * kClockKinds + kind) * width_];
  }

  uint32_t width() const { return width_; }
  uint32_t rows() const { return static_cast<uint32_t>(level_); }
  bool strict_kept() const { return level_ == ClockLevel::kBothReadings; }

  void raise_level(ClockLevel level);       // the strict rows start as copies of their twins
  void ensure_components(uint32_t count);   // makes room, keeps contents

  void join(BundleId into, BundleId from);                                 // all rows in use
  void join_row(BundleId into, ClockKind to, BundleId from, ClockKind row);
  void join_component(BundleId into, uint32_t component, uint32_t tick);   // in all rows in use

 private:
  uint32_t width_;
  ClockLevel level_ = ClockLevel::kGenericOnly;
  uint32_t used_ = 0;  // bundles handed out by bumping
  std::vector<BundleId> free_;
  std::vector<uint32_t> storage_;
};

}  // namespace warpcheck
