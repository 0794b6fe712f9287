// Matrix descriptors: where in shared memory the operand of a tensor-core instruction lies (PTX ISA, "matrix descriptor" of
// wgmma and "shared memory descriptor" of tcgen05). The canonical layouts are made of chunks of 16 bytes.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace warpcheck::ptx {

// `atom`: bytes that stay together; `row`: bytes of a row of the swizzled pattern, 0 without swizzling.
struct SwizzlePattern {
  uint32_t row = 0;
  uint32_t atom = 16;
};

struct MatrixDescriptor {
  uint32_t start = 0, leading = 0, stride = 0;  // bytes
  uint32_t base = 0;                            // of the swizzled pattern, in units of 128 bytes
  SwizzlePattern swizzle;
  bool known = true;                            // false: a mode that is not documented
};

MatrixDescriptor wgmma_descriptor(uint64_t bits);
MatrixDescriptor tcgen05_descriptor(uint64_t bits);

// An operand of `rows` (of M or N) by `depth` bytes along K. Transposed, the elements of one K lie side by side.
struct OperandShape {
  uint32_t rows = 0, depth = 32;
  uint32_t element_bytes = 2;
  bool transposed = false;

  friend bool operator==(const OperandShape&, const OperandShape&) = default;
};

// Shared addresses of the operand's chunks of 16 bytes. Row by row; transposed: K by K, each with its rows' elements.
std::vector<uint32_t> chunks_of(const MatrixDescriptor& descriptor, const OperandShape& shape);

// The same bytes as few ranges (address, size), sorted.
std::vector<std::pair<uint32_t, uint32_t>> merged(std::vector<uint32_t> chunks);

}  // namespace warpcheck::ptx
