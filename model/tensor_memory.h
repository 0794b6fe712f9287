// How a block's tensor memory lies in its region: 128 lanes by 512 columns of 4 bytes. The 32 lanes that one warp reaches
// lie together, column by column, so that an access of a warp to some columns is one range.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/gpu_machine.h"

namespace warpcheck {

constexpr uint32_t kTensorLanes = 128, kTensorColumns = 512;
constexpr uint32_t kQuarterLanes = 32;
constexpr uint64_t kTensorBytes = uint64_t{kTensorLanes} * kTensorColumns * 4;

constexpr uint64_t tensor_offset(uint32_t lane, uint32_t column) {
  return ((uint64_t{lane / kQuarterLanes} * kTensorColumns + column) * kQuarterLanes + lane % kQuarterLanes) * 4;
}

// Adds the cells of lanes [lane, lane + lanes) and columns [column, column + columns); they must exist.
void add_tensor_ranges(RegionId region, uint32_t lane, uint32_t lanes, uint32_t column, uint32_t columns,
                       std::vector<Range>& ranges);

// " columns 0..15 of lanes 32..63"
std::string tensor_range_text(uint64_t offset, uint64_t bytes);

}  // namespace warpcheck
