// The clocks of one thread of the model: of each of its lanes, kept once for all lanes that agree.
//
// Lanes that step together tick together. A *lane class* is a set of lanes whose clocks are equal but for their own
// components: lane i's own component of a row is the larger of the shared row's and the class's `own` tick. Waiting alone
// splits a class; after a barrier that all of them passed the classes are equal again and become one.
//
// Invariant: the classes' lane sets are disjoint; ticks of a component never fall. A lane's tick may jump over numbers
// that no event of it has: such stamps do not exist, so covering them is harmless.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "model/clocks.h"
#include "model/gpu_machine.h"
#include "model/release_list.h"

namespace warpcheck {

constexpr uint32_t kNoSnapshot = 0xffffffffU;

struct LaneClass {
  LaneMask lanes = 0;
  BundleId bundle = kNoBundle;
  std::array<uint32_t, kClockKinds> own{};
  uint32_t snapshot = kNoSnapshot;  // of the control row, for causes; made on demand (machine_state.h)
};

// One agent's clocks at the moment of an access: what it is checked with.
struct ClockView {
  const BundlePool* pool = nullptr;
  BundleId bundle = kNoBundle;
  uint32_t component = 0;           // the agent's own
  const uint32_t* own = nullptr;    // own ticks by row; null: the rows have them

  uint32_t at(ClockKind kind, uint32_t other) const {
    const uint32_t value = pool->row(bundle, kind)[other];
    return other == component && own != nullptr && own[kind] > value ? own[kind] : value;
  }
};

// Which blocks a scope reaches.
struct ScopeMap {
  uint32_t blocks_per_cluster = 1;
  bool includes(Scope scope, uint32_t from, uint32_t other) const {
    switch (scope) {
      case Scope::kBlock: return from == other;
      case Scope::kCluster: return from / blocks_per_cluster == other / blocks_per_cluster;
      case Scope::kDevice:
      case Scope::kSystem: return true;
    }
    return true;
  }
  bool mutual(Scope a, uint32_t block_a, Scope b, uint32_t block_b) const {
    return includes(a, block_a, block_b) && includes(b, block_b, block_a);
  }
};

// Of a struct that is touched: base and tick are saved with it.
class ThreadClocks {
 public:
  explicit ThreadClocks(Journal& journal) : classes_(journal) {}

  // Lanes `lanes` of the warp whose lane 0 has component `base`, all clocks zero.
  void start(BundlePool& pool, uint32_t base, LaneMask lanes);
  void clear(BundlePool& pool);

  LaneMask lanes() const;
  uint32_t tick() const { return tick_; }
  void advance();  // one event: every lane's own component ticks in generic and control

  ClockView view(const BundlePool& pool, uint32_t lane) const;
  const LaneClass& lane_class(uint32_t lane) const;
  void set_snapshot(uint32_t lane, uint32_t snapshot);

  // Joins the clocks of `lanes` into a bundle, all rows or one.
  void publish(BundlePool& pool, LaneMask lanes, BundleId into) const;
  void publish_row(BundlePool& pool, LaneMask lanes, ClockKind row, BundleId into) const;

  // How much of a list an observation takes: relaxed reads order memory in the default reading only.
  enum class Take : uint8_t { kAcquire, kRelaxed };
  void acquire(BundlePool& pool, LaneMask lanes, const ReleaseList& list, Scope scope, uint32_t block,
               const ScopeMap& scopes, Take take);
  void acquire_completion(BundlePool& pool, LaneMask lanes, const Completion& completion);
  void acquire_strict(BundlePool& pool, LaneMask lanes, BundleId released);  // what a relaxed read left for a fence

  void know(BundlePool& pool, LaneMask lanes, std::span<const ClockKind> rows, uint32_t component, uint32_t tick);

  // to ⊔= generic, in both readings, own ticks included.
  void fence(BundlePool& pool, ClockKind to);
  void tensor_fence(BundlePool& pool, ClockKind from, ClockKind to);
  // What `from` knows of tensor memory: in the strict reading its tensor row, in the default one the generic row, too.
  void join_tensor(BundlePool& pool, LaneMask lanes, BundleId from);

  void assign(BundlePool& pool, const ThreadClocks& from);  // a copy with bundles of its own; its own are released
  void forget() { classes_.forget(); }                      // after the journal started anew
  void split(BundlePool& pool, LaneMask leave, ThreadClocks& other);
  void merge(BundlePool& pool, ThreadClocks& from);

 private:
  template <class Function>
  void for_lanes(BundlePool& pool, LaneMask lanes, Function&& apply);
  void unite(BundlePool& pool);  // classes whose clocks are equal become one

  uint32_t base_ = 0;
  uint32_t tick_ = 0;
  JournaledVector<LaneClass> classes_;
};

}  // namespace warpcheck
