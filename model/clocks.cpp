#include "model/clocks.h"

#include <algorithm>
#include <cstring>

namespace warpcheck {
namespace {

void join_arrays(uint32_t* into, const uint32_t* from, size_t count) {
  for (size_t i = 0; i < count; ++i) into[i] = std::max(into[i], from[i]);
}

constexpr uint32_t round_up(uint32_t n) { return (n + 7U) & ~7U; }

}  // namespace

BundlePool::BundlePool(uint32_t components) : width_(round_up(components)) {}

void BundlePool::reset() {
  used_ = 0;
  free_.clear();
  level_ = ClockLevel::kGenericOnly;
}

BundleId BundlePool::allocate() {
  BundleId id = used_;
  if (!free_.empty()) {
    id = free_.back();
    free_.pop_back();
  } else {
    ++used_;
    const size_t needed = size_t{used_} * kClockKinds * width_;
    if (storage_.size() < needed) storage_.resize(std::max(needed, 2 * storage_.size()));
  }
  std::memset(row(id, kGeneric), 0, size_t{rows()} * width_ * sizeof(uint32_t));
  return id;
}

BundleId BundlePool::copy(BundleId from) {
  const BundleId to = allocate();
  assign(to, from);
  return to;
}

void BundlePool::assign(BundleId to, BundleId from) {
  std::memcpy(row(to, kGeneric), row(from, kGeneric), size_t{rows()} * width_ * sizeof(uint32_t));
}

void BundlePool::release(BundleId id) {
  if (id != kNoBundle) free_.push_back(id);
}

void BundlePool::raise_level(ClockLevel level) {
  if (level <= level_) return;
  const size_t row_bytes = width_ * sizeof(uint32_t);
  for (BundleId id = 0; id < used_; ++id) {
    if (level_ == ClockLevel::kGenericOnly) std::memset(row(id, kAsyncShared), 0, 3 * row_bytes);
    if (level != ClockLevel::kBothReadings) continue;
    for (const ClockKind kind : {kGeneric, kAsyncShared, kAsyncGlobal}) {
      std::memcpy(row(id, strict_twin(kind)), row(id, kind), row_bytes);
    }
  }
  level_ = level;
}

void BundlePool::ensure_components(uint32_t count) {
  if (count <= width_) return;
  const uint32_t wider = round_up(std::max(count, 2 * width_));
  std::vector<uint32_t> moved(storage_.size() / width_ * wider, 0);
  for (size_t row_index = 0; row_index < storage_.size() / width_; ++row_index) {
    std::copy_n(&storage_[row_index * width_], width_, &moved[row_index * wider]);
  }
  storage_ = std::move(moved);
  width_ = wider;
}

void BundlePool::join(BundleId into, BundleId from) {
  join_arrays(row(into, kGeneric), row(from, kGeneric), size_t{rows()} * width_);
}

void BundlePool::join_row(BundleId into, ClockKind to, BundleId from, ClockKind from_row) {
  join_arrays(row(into, to), row(from, from_row), width_);
}

void BundlePool::join_component(BundleId into, uint32_t component, uint32_t tick) {
  for (uint32_t kind = 0; kind < rows(); ++kind) {
    uint32_t& value = row(into, static_cast<ClockKind>(kind))[component];
    value = std::max(value, tick);
  }
}

}  // namespace warpcheck
