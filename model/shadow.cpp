#include "model/shadow.h"

#include <algorithm>

namespace warpcheck {

void Shadow::reset() {
  segments_.forget();
  nodes_.forget();
  free_ = kNone;
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
  segments_.edit(i).end = offset;
  segments_.insert(i + 1, right);
  return i + 1;
}

uint32_t Shadow::allocate(const AccessRecord& record, uint32_t next) {
  const uint32_t node = free_;
  if (node == kNone) {
    nodes_.push_back({record, next});
    return static_cast<uint32_t>(nodes_.size() - 1);
  }
  set_free(nodes_[node].next);
  nodes_.edit(node) = {record, next};
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
      nodes_.edit(tail).next = copy;
    }
    tail = copy;
  }
  return head;
}

}  // namespace warpcheck
