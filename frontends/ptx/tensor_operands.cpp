#include "frontends/ptx/tensor_operands.h"

#include <algorithm>
#include <cstring>

namespace warpcheck::ptx {
namespace {

constexpr uint32_t kChunk = 16;

}  // namespace

const Interpreter::Operands& Interpreter::operands(const MatrixDescriptor& descriptor, uint64_t bits, const OperandShape& shape) {
  const auto key = std::make_tuple(bits, shape.rows, shape.depth, shape.element_bytes, shape.transposed);
  const auto [at, is_new] = operands_.try_emplace(key);
  if (is_new) {
    at->second.chunks = chunks_of(descriptor, shape);
    at->second.ranges = merged(at->second.chunks);
  }
  return at->second;
}

void add_ranges(const Interpreter& interpreter, uint32_t block, const Interpreter::Operands& operands, std::vector<Range>& ranges) {
  const RegionId region{interpreter.shared_region(block)};
  for (const auto& [offset, bytes] : operands.ranges) ranges.push_back({region, offset, bytes});
}

void gather(Interpreter& interpreter, uint32_t block, const Interpreter::Operands& operands, const OperandShape& shape,
            ElementFormat format, bool negate, RowPart part, Matrix& to) {
  const RegionId region{interpreter.shared_region(block)};
  const uint64_t size = interpreter.machine().bytes(region).size();
  const uint32_t bytes = format_bytes(format), elements = kChunk / bytes;
  uint8_t values[kChunk], tags[kChunk];
  const auto read = [&](uint32_t chunk) {
    const uint32_t offset = operands.chunks[chunk];
    if (offset + kChunk > size) {  // reported where the access is made
      std::memset(values, 0xff, kChunk);
      std::memset(tags, 0, kChunk);
      return;
    }
    interpreter.machine().peek({region, offset, kChunk}, values, tags);
  };
  const auto put = [&](uint32_t row, uint32_t k, uint32_t element) {
    uint32_t bits = 0;
    std::memcpy(&bits, values + element * bytes, bytes);
    const float value = decode_element(format, bits);
    to.at(row, k) = negate ? -value : value;
    for (uint32_t b = 0; b < bytes; ++b) to.tags[row] |= tags[element * bytes + b];
  };
  if (!shape.transposed) {
    const uint32_t across = shape.depth / kChunk;
    for (uint32_t r = 0; r < part.count; ++r) {
      for (uint32_t c = 0; c < across; ++c) {
        read((part.first + r) * across + c);
        for (uint32_t e = 0; e < elements; ++e) put(part.at + r, c * elements + e, e);
      }
    }
    return;
  }
  const uint32_t across = shape.rows * bytes / kChunk;
  for (uint32_t k = 0; k < shape.depth / bytes; ++k) {
    for (uint32_t c = 0; c < across; ++c) {
      if ((c + 1) * elements <= part.first || c * elements >= part.first + part.count) continue;
      read(k * across + c);
      for (uint32_t e = 0; e < elements; ++e) {
        const uint32_t row = c * elements + e;
        if (row >= part.first && row < part.first + part.count) put(part.at + row - part.first, k, e);
      }
    }
  }
}

}  // namespace warpcheck::ptx
