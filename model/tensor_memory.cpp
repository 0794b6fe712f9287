#include "model/tensor_memory.h"

#include <fmt/format.h>

#include <algorithm>

namespace warpcheck {

void add_tensor_ranges(RegionId region, uint32_t lane, uint32_t lanes, uint32_t column, uint32_t columns,
                       std::vector<Range>& ranges) {
  while (lanes > 0) {
    const uint32_t here = std::min(lanes, kQuarterLanes - lane % kQuarterLanes);
    if (here == kQuarterLanes) {
      ranges.push_back({region, tensor_offset(lane, column), columns * kQuarterLanes * 4});
    } else {
      for (uint32_t c = column; c < column + columns; ++c) ranges.push_back({region, tensor_offset(lane, c), here * 4});
    }
    lane += here;
    lanes -= here;
  }
}

std::string tensor_range_text(uint64_t offset, uint64_t bytes) {
  constexpr uint64_t kColumn = kQuarterLanes * 4, kQuarter = kColumn * kTensorColumns;
  const uint64_t last = offset + std::max<uint64_t>(bytes, 1) - 1;
  const uint64_t a = offset / kColumn % kTensorColumns, b = last / kColumn % kTensorColumns;
  std::string text = a == b ? fmt::format(" column {}", a) : fmt::format(" columns {}..{}", std::min(a, b), std::max(a, b));
  const uint64_t first_quarter = offset / kQuarter, last_quarter = last / kQuarter;
  if (first_quarter == 0 && last_quarter == 3) return text;
  return text + fmt::format(" of lanes {}..{}", first_quarter * kQuarterLanes, last_quarter * kQuarterLanes + kQuarterLanes - 1);
}

}  // namespace warpcheck
