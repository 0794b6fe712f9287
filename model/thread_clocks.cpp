#include "model/thread_clocks.h"

#include <algorithm>
#include <bit>

#include "model/check.h"

namespace warpcheck {
namespace {

// Rows in which a lane is ordered after all that it did itself.
constexpr std::array kOwnRows = {kGeneric, kControl, kStrictGeneric, kTensor};

template <class Function>
void for_each_lane(LaneMask lanes, Function&& apply) {
  for (; lanes != 0; lanes &= lanes - 1) apply(static_cast<uint32_t>(std::countr_zero(lanes)));
}

// A completion is ordered in every clock; one through the generic proxy in those that order generic accesses.
void join_completion(BundlePool& pool, BundleId into, const Completion& done) {
  if (!done.generic) {
    pool.join_component(into, done.component, done.tick);
    return;
  }
  for (const ClockKind kind : {kGeneric, kControl, kHanded, kStrictGeneric}) {
    if (kind >= pool.rows()) continue;
    pool.raise(into, kind, done.component, done.tick);
  }
}

}  // namespace

void ThreadClocks::start(BundlePool& pool, uint32_t base, LaneMask lanes) {
  base_ = base;
  tick_ = 0;
  classes_.clear();
  classes_.push_back({lanes, pool.allocate(), {}, kNoSnapshot});
}

void ThreadClocks::clear(BundlePool& pool) {
  for (const LaneClass& lane_class : classes_) pool.release(lane_class.bundle);
  classes_.clear();
}

LaneMask ThreadClocks::lanes() const {
  LaneMask all = 0;
  for (const LaneClass& lane_class : classes_) all |= lane_class.lanes;
  return all;
}

void ThreadClocks::advance() {
  ++tick_;
  for (size_t i = 0; i < classes_.size(); ++i) {
    LaneClass& lane_class = classes_.edit(i);
    for (const ClockKind row : kOwnRows) lane_class.own[row] = tick_;
  }
}

void ThreadClocks::set_snapshot(uint32_t lane, uint32_t snapshot) {
  for (size_t i = 0; i < classes_.size(); ++i) {
    if ((classes_[i].lanes >> lane & 1) != 0) classes_.edit(i).snapshot = snapshot;
  }
}

const LaneClass& ThreadClocks::lane_class(uint32_t lane) const {
  for (const LaneClass& lane_class : classes_) {
    if ((lane_class.lanes >> lane & 1) != 0) return lane_class;
  }
  CHECK(false && "a lane of the thread");
  return classes_.front();
}

ClockView ThreadClocks::view(const BundlePool& pool, uint32_t lane) const {
  for (const LaneClass& lane_class : classes_) {
    if ((lane_class.lanes >> lane & 1) != 0) return {&pool, lane_class.bundle, base_ + lane, lane_class.own.data()};
  }
  CHECK(false && "a lane of the thread");
  return {};
}

void ThreadClocks::publish(BundlePool& pool, LaneMask lanes, BundleId into) const {
  for (const LaneClass& lane_class : classes_) {
    const LaneMask part = lane_class.lanes & lanes;
    if (part == 0) continue;
    pool.join(into, lane_class.bundle);
    for (uint32_t kind = 0; kind < pool.rows(); ++kind) {
      const uint32_t own = lane_class.own[kind];
      if (own == 0) continue;
      for_each_lane(part, [&](uint32_t lane) { pool.raise(into, static_cast<ClockKind>(kind), base_ + lane, own); });
    }
  }
}

void ThreadClocks::publish_row(BundlePool& pool, LaneMask lanes, ClockKind kind, BundleId into) const {
  for (const LaneClass& lane_class : classes_) {
    const LaneMask part = lane_class.lanes & lanes;
    if (part == 0) continue;
    pool.join_row(into, kind, lane_class.bundle, kind);
    for_each_lane(part, [&](uint32_t lane) { pool.raise(into, kind, base_ + lane, lane_class.own[kind]); });
  }
}

template <class Function>
void ThreadClocks::for_lanes(BundlePool& pool, LaneMask lanes, Function&& apply) {
  const size_t count = classes_.size();
  for (size_t i = 0; i < count; ++i) {
    const LaneMask part = classes_[i].lanes & lanes;
    if (part == 0) continue;
    if (part != classes_[i].lanes) {
      LaneClass rest = classes_[i];
      rest.lanes &= ~part;
      rest.bundle = pool.copy(classes_[i].bundle);
      classes_.edit(i).lanes = part;
      classes_.push_back(rest);
    }
    if (classes_[i].snapshot != kNoSnapshot) classes_.edit(i).snapshot = kNoSnapshot;
    apply(classes_[i]);
  }
  if (classes_.size() > 1) unite(pool);
}

void ThreadClocks::acquire(BundlePool& pool, LaneMask lanes, const ReleaseList& list, Scope scope, uint32_t block,
                           const ScopeMap& scopes, Take take) {
  const bool tensor = pool.rows() > kTensorSync;  // ordered by whatever orders control
  for_lanes(pool, lanes, [&](const LaneClass& mine) {
    for (const Release& release : list.releases) {
      pool.join_row(mine.bundle, kHanded, release.bundle, kGeneric);
      if (tensor) pool.join_row(mine.bundle, kTensorSync, release.bundle, kTensorSync);
      if (!scopes.mutual(release.scope, release.block, scope, block)) {
        pool.join_row(mine.bundle, kHanded, release.bundle, kHanded);
        pool.join_row(mine.bundle, kControl, release.bundle, kControl);
        continue;
      }
      const uint32_t rows = std::min<uint32_t>(pool.rows(), take == Take::kAcquire ? kTensorSync : kStrictGeneric);
      for (uint32_t kind = 0; kind < rows; ++kind) {
        pool.join_row(mine.bundle, static_cast<ClockKind>(kind), release.bundle, static_cast<ClockKind>(kind));
      }
    }
    if (list.control != kNoBundle) {
      pool.join_row(mine.bundle, kControl, list.control, kControl);
      if (pool.rows() > kInits) pool.join_row(mine.bundle, kInits, list.control, kInits);
      if (tensor) {
        pool.join_row(mine.bundle, kTensorSync, list.control, kTensorSync);
        for (const ClockKind row : kAsyncRows) pool.join_row(mine.bundle, row, list.control, row);
      }
    }
    for (const Completion& done : list.completions) {
      join_completion(pool, mine.bundle, done);
    }
  });
}

void ThreadClocks::acquire_completion(BundlePool& pool, LaneMask lanes, const Completion& done) {
  for_lanes(pool, lanes, [&](const LaneClass& mine) {
    join_completion(pool, mine.bundle, done);
  });
}

void ThreadClocks::know(BundlePool& pool, LaneMask lanes, std::span<const ClockKind> rows, uint32_t component, uint32_t tick) {
  for_lanes(pool, lanes, [&](const LaneClass& mine) {
    for (const ClockKind kind : rows) {
      if (kind < pool.rows()) pool.raise(mine.bundle, kind, component, tick);
    }
  });
}

void ThreadClocks::acquire_strict(BundlePool& pool, LaneMask lanes, BundleId released) {
  for_lanes(pool, lanes, [&](const LaneClass& mine) {
    for (const ClockKind kind : {kStrictGeneric, kStrictAsyncShared, kStrictAsyncGlobal}) {
      pool.join_row(mine.bundle, kind, released, kind);
    }
  });
}

void ThreadClocks::join_tensor(BundlePool& pool, LaneMask lanes, BundleId from) {
  for_lanes(pool, lanes, [&](const LaneClass& mine) {
    pool.join_row(mine.bundle, kTensor, from, kTensor);
    pool.join_row(mine.bundle, kTensorSync, from, kGeneric);
  });
}

void ThreadClocks::tensor_fence(BundlePool& pool, ClockKind from, ClockKind to) {
  for (size_t i = 0; i < classes_.size(); ++i) {
    LaneClass& mine = classes_.edit(i);
    pool.join_row(mine.bundle, to, mine.bundle, from);
    mine.own[to] = std::max(mine.own[to], mine.own[from]);
  }
}

void ThreadClocks::fence(BundlePool& pool, ClockKind to) {
  for (size_t i = 0; i < classes_.size(); ++i) {
    LaneClass& mine = classes_.edit(i);
    pool.join_row(mine.bundle, to, mine.bundle, kGeneric);
    mine.own[to] = std::max(mine.own[to], mine.own[kGeneric]);
    const ClockKind strict = strict_twin(to);
    if (strict == to) continue;
    if (pool.strict_kept()) pool.join_row(mine.bundle, strict, mine.bundle, kStrictGeneric);
    mine.own[strict] = std::max(mine.own[strict], mine.own[kStrictGeneric]);
  }
}

void ThreadClocks::assign(BundlePool& pool, const ThreadClocks& from) {
  clear(pool);
  base_ = from.base_;
  tick_ = from.tick_;
  for (const LaneClass& theirs : from.classes_) {
    LaneClass copy = theirs;
    copy.bundle = pool.copy(theirs.bundle);
    classes_.push_back(copy);
  }
}

void ThreadClocks::split(BundlePool& pool, LaneMask leave, ThreadClocks& other) {
  other.base_ = base_;
  other.tick_ = tick_;
  other.classes_.clear();
  for (size_t i = 0; i < classes_.size(); ++i) {
    const LaneMask part = classes_[i].lanes & leave;
    if (part == 0) continue;
    LaneClass theirs = classes_[i];
    theirs.lanes = part;
    if (part != classes_[i].lanes) theirs.bundle = pool.copy(classes_[i].bundle);
    classes_.edit(i).lanes &= ~part;
    other.classes_.push_back(theirs);
  }
  classes_.erase_if([](const LaneClass& mine) { return mine.lanes == 0; });
}

void ThreadClocks::merge(BundlePool& pool, ThreadClocks& from) {
  tick_ = std::max(tick_, from.tick_);
  classes_.append(from.classes_);
  from.classes_.clear();
  unite(pool);
}

void ThreadClocks::unite(BundlePool& pool) {
  // Equal when the shared rows are and no lane's own tick says more than they do.
  const auto settled = [&](const LaneClass& mine) {
    bool all = true;
    for (uint32_t kind = 0; kind < pool.rows(); ++kind) {
      const uint32_t own = mine.own[kind];
      if (std::find(kOwnRows.begin(), kOwnRows.end(), kind) != kOwnRows.end()) continue;  // always the lane's present tick
      const uint32_t* row = pool.row(mine.bundle, static_cast<ClockKind>(kind)) + base_;
      for_each_lane(mine.lanes, [&](uint32_t lane) { all = all && row[lane] >= own; });
    }
    return all;
  };
  for (size_t i = 0; i + 1 < classes_.size(); ++i) {
    for (size_t j = classes_.size() - 1; j > i; --j) {
      if (!pool.equal(classes_[i].bundle, classes_[j].bundle)) continue;
      const bool same_own = classes_[i].own == classes_[j].own;
      if (!same_own && !(settled(classes_[i]) && settled(classes_[j]))) continue;
      LaneClass& a = classes_.edit(i);
      const LaneClass b = classes_[j];
      if (!same_own) {
        a.own = {};
        for (const ClockKind row : kOwnRows) a.own[row] = tick_;
      }
      a.lanes |= b.lanes;
      a.snapshot = kNoSnapshot;
      pool.release(b.bundle);
      size_t at = 0;
      classes_.erase_if([&](const LaneClass&) { return at++ == j; });
    }
  }
}

}  // namespace warpcheck
