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

#include <array>
#include <cstddef>
#include <cstdint>

#include "model/journal.h"

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
  kTensorSync,         // tensor-memory accesses that a tensor-core fence before a synchronization covered
  kTensor,             // what an access to tensor memory is ordered after in the strict reading; stays with its thread
  kClockKinds,
};

enum class ClockLevel : uint8_t { kGenericOnly = 3, kProxies = 6, kBothReadings = 9, kTensorCore = 11 };  // rows in use

// The row that the strict reading checks in place of `kind`.
constexpr ClockKind strict_twin(ClockKind kind) {
  if (kind == kGeneric) return kStrictGeneric;
  if (kind == kAsyncShared) return kStrictAsyncShared;
  if (kind == kAsyncGlobal) return kStrictAsyncGlobal;
  return kind;
}

// What accesses through the async proxy are ordered after, in both readings.
inline constexpr std::array kAsyncRows = {kAsyncShared, kAsyncGlobal, kStrictAsyncShared, kStrictAsyncGlobal};

using BundleId = uint32_t;
constexpr BundleId kNoBundle = 0xffffffffU;

// Storage for all bundles of a run. Journaled, a row at a time: a row that does not change is neither saved nor written.
class BundlePool {
 public:
  BundlePool(Journal& journal, uint32_t components);

  void reset();                       // frees all bundles, back to the lowest level; the journal has started anew
  BundleId allocate();                // all zero
  BundleId copy(BundleId from);
  void release(BundleId id);

  const uint32_t* row(BundleId id, ClockKind kind) const { return rows_of(id) + size_t{kind} * width_; }
  uint32_t* edit_row(BundleId id, ClockKind kind);  // saved, for changing it

  uint32_t width() const { return width_; }
  uint32_t rows() const { return static_cast<uint32_t>(level_); }
  bool strict_kept() const { return level_ >= ClockLevel::kBothReadings; }
  bool equal(BundleId a, BundleId b) const;  // in all rows in use but kTensor

  void raise_level(ClockLevel level);       // the strict rows start as copies of their twins
  void ensure_components(uint32_t count);   // makes room, keeps contents; the journal forgets

  void join(BundleId into, BundleId from);                                 // all rows in use
  void join_row(BundleId into, ClockKind to, BundleId from, ClockKind row);
  void join_component(BundleId into, uint32_t component, uint32_t tick);   // in all rows in use but kTensor
  void raise(BundleId into, ClockKind kind, uint32_t component, uint32_t tick) {
    if (row(into, kind)[component] < tick) edit_row(into, kind)[component] = tick;
  }

 private:
  // A bundle's memory: when each row was last saved, then the rows.
  struct Header {
    std::array<uint64_t, kClockKinds + 1> saved;  // one more, to keep the rows aligned
  };
  uint32_t* rows_of(BundleId id) const { return reinterpret_cast<uint32_t*>(bundles_[id] + 1); }
  Header* make() const;
  void clear(BundleId id);

  Journal& journal_;
  uint32_t width_;
  ClockLevel level_ = ClockLevel::kGenericOnly;
  JournaledVector<Header*> bundles_;
  JournaledVector<BundleId> free_;
};

}  // namespace warpcheck
