#include "model/clocks.h"

#include <algorithm>
#include <cstring>

namespace warpcheck {
namespace {

// Whether any element of `from` exceeds that of `into`. No early exit: rows are short, and this way it is vector code.
bool exceeds(const uint32_t* from, const uint32_t* into, size_t count) {
  uint32_t any = 0;
  for (size_t i = 0; i < count; ++i) any |= from[i] > into[i] ? 1U : 0U;
  return any != 0;
}

constexpr uint32_t round_up(uint32_t n) { return (n + 7U) & ~7U; }

}  // namespace

BundlePool::BundlePool(Journal& journal, uint32_t components)
    : journal_(journal), width_(round_up(components)), bundles_(journal), free_(journal) {}

void BundlePool::reset() {
  bundles_.forget();
  free_.forget();
  level_ = ClockLevel::kGenericOnly;
}

BundlePool::Header* BundlePool::make() const {
  const size_t bytes = sizeof(Header) + size_t{kClockKinds} * width_ * sizeof(uint32_t);
  auto* header = static_cast<Header*>(journal_.allocate(bytes));
  header->saved.fill(journal_.stamp());  // nothing to save: it did not exist before this step
  return header;
}

// A bundle that is used again was released in this run: what it held may be wanted again.
void BundlePool::clear(BundleId id) {
  for (uint32_t kind = 0; kind < rows(); ++kind) {
    std::memset(edit_row(id, static_cast<ClockKind>(kind)), 0, width_ * sizeof(uint32_t));
  }
}

BundleId BundlePool::allocate() {
  if (!free_.empty()) {
    const BundleId id = free_.back();
    free_.pop_back();
    clear(id);
    return id;
  }
  const auto id = static_cast<BundleId>(bundles_.size());
  bundles_.push_back(make());
  std::memset(rows_of(id), 0, size_t{rows()} * width_ * sizeof(uint32_t));
  return id;
}

BundleId BundlePool::copy(BundleId from) {
  const size_t bytes = size_t{rows()} * width_ * sizeof(uint32_t);
  if (free_.empty()) {
    const auto id = static_cast<BundleId>(bundles_.size());
    bundles_.push_back(make());
    std::memcpy(rows_of(id), rows_of(from), bytes);
    return id;
  }
  const BundleId id = free_.back();
  free_.pop_back();
  for (uint32_t kind = 0; kind < rows(); ++kind) edit_row(id, static_cast<ClockKind>(kind));
  std::memcpy(rows_of(id), rows_of(from), bytes);
  return id;
}

void BundlePool::release(BundleId id) {
  if (id != kNoBundle) free_.push_back(id);
}

uint32_t* BundlePool::edit_row(BundleId id, ClockKind kind) {
  Header& header = *bundles_[id];
  uint32_t* row = rows_of(id) + size_t{kind} * width_;
  if (header.saved[kind] != journal_.stamp()) {
    journal_.save(header.saved[kind]);
    header.saved[kind] = journal_.stamp();
    journal_.save(row, width_ * sizeof(uint32_t));
  }
  return row;
}

bool BundlePool::equal(BundleId a, BundleId b) const {
  return std::memcmp(rows_of(a), rows_of(b), size_t{rows()} * width_ * sizeof(uint32_t)) == 0;
}

void BundlePool::raise_level(ClockLevel level) {
  if (level <= level_) return;
  const size_t row_bytes = width_ * sizeof(uint32_t);
  for (BundleId id = 0; id < bundles_.size(); ++id) {
    for (const ClockKind kind : {kAsyncShared, kAsyncGlobal, kInits}) {
      if (level_ == ClockLevel::kGenericOnly) std::memset(edit_row(id, kind), 0, row_bytes);
    }
    for (const ClockKind kind : {kTensorSync, kTensor}) {
      if (level == ClockLevel::kTensorCore) std::memset(edit_row(id, kind), 0, row_bytes);
    }
    if (level < ClockLevel::kBothReadings || level_ >= ClockLevel::kBothReadings) continue;
    for (const ClockKind kind : {kGeneric, kAsyncShared, kAsyncGlobal}) {
      std::memcpy(edit_row(id, strict_twin(kind)), row(id, kind), row_bytes);
    }
  }
  journal_.save(level_);
  level_ = level;
}

void BundlePool::ensure_components(uint32_t count) {
  if (count <= width_) return;
  const uint32_t narrow = width_;
  const uint32_t wide = round_up(std::max(count, 2 * width_));
  for (BundleId id = 0; id < bundles_.size(); ++id) {
    const uint32_t* from = rows_of(id);
    width_ = wide;
    Header* to = make();
    auto* rows = reinterpret_cast<uint32_t*>(to + 1);
    std::memset(rows, 0, size_t{kClockKinds} * wide * sizeof(uint32_t));
    for (uint32_t kind = 0; kind < kClockKinds; ++kind) {
      std::copy_n(from + size_t{kind} * narrow, narrow, rows + size_t{kind} * wide);
    }
    bundles_.edit(id) = to;
    width_ = narrow;
  }
  width_ = wide;
  journal_.forget();
}

void BundlePool::join(BundleId into, BundleId from) {
  for (uint32_t kind = 0; kind < rows(); ++kind) {
    join_row(into, static_cast<ClockKind>(kind), from, static_cast<ClockKind>(kind));
  }
}

void BundlePool::join_row(BundleId into, ClockKind to, BundleId from, ClockKind from_row) {
  const uint32_t* source = row(from, from_row);
  if (!exceeds(source, row(into, to), width_)) return;
  uint32_t* target = edit_row(into, to);
  for (size_t i = 0; i < width_; ++i) target[i] = std::max(target[i], source[i]);
}

void BundlePool::join_component(BundleId into, uint32_t component, uint32_t tick) {
  for (uint32_t kind = 0; kind < std::min<uint32_t>(rows(), kTensor); ++kind) raise(into, static_cast<ClockKind>(kind), component, tick);
}

}  // namespace warpcheck
