#include "model/shadow.h"

#include <algorithm>

namespace warpcheck {

void Shadow::reset() {
  segments_.clear();
  free_ = kNone;
  used_ = 0;
}

size_t Shadow::lower(uint64_t offset) const {
  const auto at = std::upper_bound(segments_.begin(), segments_.end(), offset,
                                   [](uint64_t o, const Segment& segment) { return o < segment.end; });
  return static_cast<size_t>(at - segments_.begin());
}

size_t Shadow::split_before(uint64_t offset) {
  const size_t i = lower(offset);
  if (i == segments_.size() || segments_[i].begin >= offset) return i;
  Segment right = segments_[i];
  right.begin = offset;
  right.first = copy_list(right.first);
  segments_[i].end = offset;
  segments_.insert(segments_.begin() + static_cast<std::ptrdiff_t>(i) + 1, right);
  return i + 1;
}

uint32_t Shadow::allocate(const AccessRecord& record, uint32_t next) {
  uint32_t node = free_;
  if (node != kNone) {
    free_ = nodes_[node].next;
  } else {
    node = used_++;
    if (node == nodes_.size()) nodes_.emplace_back();
  }
  nodes_[node] = {record, next};
  return node;
}

uint32_t Shadow::copy_list(uint32_t first) {
  uint32_t head = kNone;
  uint32_t tail = kNone;
  for (uint32_t node = first; node != kNone; node = nodes_[node].next) {
    const AccessRecord record = nodes_[node].record;
    const uint32_t copy = allocate(record, kNone);
    if (tail == kNone) {
      head = copy;
    } else {
      nodes_[tail].next = copy;
    }
    tail = copy;
  }
  return head;
}

}  // namespace warpcheck
