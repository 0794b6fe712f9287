#include "frontends/ptx/matrix_descriptor.h"

#include <algorithm>

namespace warpcheck::ptx {
namespace {

constexpr uint32_t kChunk = 16, kCoreRows = 8;

MatrixDescriptor common(uint64_t bits) {
  const auto field = [&](unsigned at) { return static_cast<uint32_t>(bits >> at & 0x3fff) << 4; };
  MatrixDescriptor made;
  made.start = field(0);
  made.leading = field(16);
  made.stride = field(32);
  made.base = static_cast<uint32_t>(bits >> 49 & 7);
  return made;
}

// The pattern repeats every 1024, 512 or 256 bytes; which chunk of a row comes first depends on the row in it.
uint32_t swizzled(const MatrixDescriptor& d, uint32_t address) {
  if (d.swizzle.row == 0) return address;
  const uint32_t atoms = d.swizzle.row / d.swizzle.atom;
  const uint32_t row = (address >> 7) - d.base;
  return address ^ ((row & (atoms - 1)) * d.swizzle.atom);
}

}  // namespace

MatrixDescriptor wgmma_descriptor(uint64_t bits) {
  static constexpr SwizzlePattern kModes[] = {{0, 16}, {128, 16}, {64, 16}, {32, 16}};
  MatrixDescriptor made = common(bits);
  made.swizzle = kModes[bits >> 62];
  return made;
}

MatrixDescriptor tcgen05_descriptor(uint64_t bits) {
  MatrixDescriptor made = common(bits);
  switch (bits >> 61) {
    case 0: break;
    case 1: made.swizzle = {128, 32}; break;
    case 2: made.swizzle = {128, 16}; break;
    case 4: made.swizzle = {64, 16}; break;
    case 6: made.swizzle = {32, 16}; break;
    default: made.known = false;
  }
  if ((bits >> 52 & 1) != 0) made.known = false;  // an absolute leading address
  return made;
}

std::vector<uint32_t> chunks_of(const MatrixDescriptor& d, const OperandShape& shape) {
  std::vector<uint32_t> made;
  const uint32_t row_bytes = d.swizzle.row;
  if (!shape.transposed) {
    for (uint32_t r = 0; r < shape.rows; ++r) {
      const uint32_t group = d.start + r / kCoreRows * d.stride, inside = r % kCoreRows;
      for (uint32_t at = 0; at < shape.depth; at += kChunk) {
        const uint32_t linear = row_bytes == 0 ? group + inside * kChunk + at / kChunk * d.leading
                                               : group + inside * row_bytes + at % row_bytes + at / row_bytes * d.leading;
        made.push_back(swizzled(d, linear));
      }
    }
    return made;
  }
  // With 32-byte atoms a pattern has four rows, else eight.
  const uint32_t core = d.swizzle.atom == 32 ? 4 : kCoreRows;
  for (uint32_t k = 0; k < shape.depth / shape.element_bytes; ++k) {
    for (uint32_t at = 0; at < shape.rows * shape.element_bytes; at += kChunk) {
      const uint32_t linear = row_bytes == 0 ? at / kChunk * d.stride + k % core * kChunk + k / core * d.leading
                                             : at % row_bytes + at / row_bytes * d.leading + k % core * row_bytes + k / core * d.stride;
      made.push_back(swizzled(d, d.start + linear));
    }
  }
  return made;
}

std::vector<std::pair<uint32_t, uint32_t>> merged(std::vector<uint32_t> chunks) {
  std::sort(chunks.begin(), chunks.end());
  std::vector<std::pair<uint32_t, uint32_t>> made;
  for (const uint32_t chunk : chunks) {
    if (!made.empty() && made.back().first + made.back().second >= chunk) {
      made.back().second = std::max(made.back().second, chunk + kChunk - made.back().first);
    } else {
      made.emplace_back(chunk, kChunk);
    }
  }
  return made;
}

}  // namespace warpcheck::ptx
