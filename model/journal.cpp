#include "model/journal.h"

namespace warpcheck {

namespace {

constexpr size_t kBlockBytes = size_t{64} << 10;
constexpr size_t kAlignment = 16;

}  // namespace

void Journal::start(bool on) {
  on_ = on;
  ++stamp_;
  base_ = 0;
  marks_.clear();
  used_ = 0;
  at_ = {};
}

void Journal::mark() {
  ++stamp_;
  if (!on_) return;
  if (used_ > kMaxBytes) forget_half();
  marks_.push_back({used_, at_});
}

void Journal::forget() {
  base_ += marks_.size();
  marks_.clear();
  used_ = 0;
}

// Keeps the steps that lie in the newer half, the last one in any case.
void Journal::forget_half() {
  if (marks_.empty()) return forget();
  const auto in_half = std::find_if(marks_.begin(), marks_.end() - 1, [&](const Mark& m) { return m.trail >= used_ / 2; });
  const size_t gone = in_half->trail;
  base_ += static_cast<size_t>(in_half - marks_.begin());
  marks_.erase(marks_.begin(), in_half);
  for (Mark& mark : marks_) mark.trail -= gone;
  used_ -= gone;
  std::memmove(trail_.get(), trail_.get() + gone, used_);
}

bool Journal::rewind(size_t steps) {
  if (!on_ || steps < base_) return false;
  CHECK(steps <= base_ + marks_.size());
  ++stamp_;
  if (steps == base_ + marks_.size()) return true;
  const Mark mark = marks_[steps - base_];
  while (used_ > mark.trail) {
    Entry entry;
    used_ -= sizeof entry;
    std::memcpy(&entry, &trail_[used_], sizeof entry);
    used_ -= (entry.bytes + 7) & ~size_t{7};
    std::memcpy(entry.at, &trail_[used_], entry.bytes);
  }
  marks_.resize(steps - base_);
  at_ = mark.memory;
  return true;
}

void Journal::grow(size_t bytes) {
  const size_t capacity = std::max({size_t{64} << 10, 2 * capacity_, used_ + bytes});
  auto wider = std::make_unique_for_overwrite<uint8_t[]>(capacity);
  if (used_ != 0) std::memcpy(wider.get(), trail_.get(), used_);
  trail_ = std::move(wider);
  capacity_ = capacity;
}

void* Journal::allocate(size_t bytes) {
  bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  while (at_.block < blocks_.size() && at_.offset + bytes > blocks_[at_.block].size) {
    blocks_[at_.block].used = at_.offset;
    at_ = {at_.block + 1, 0};
  }
  if (at_.block == blocks_.size()) {
    const size_t size = std::max(kBlockBytes, bytes);
    blocks_.push_back({std::make_unique_for_overwrite<uint8_t[]>(size), size, 0});
  }
  uint8_t* result = blocks_[at_.block].bytes.get() + at_.offset;
  at_.offset += bytes;
  return result;
}

}  // namespace warpcheck
