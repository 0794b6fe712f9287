// What tensor-core instructions compute: products of two matrices onto a third. Sums are taken in double and rounded once,
// which is at least as exact as any hardware; results that depend on its rounding are not to be expected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpcheck::ptx {

enum class ElementFormat : uint8_t { kF16, kBf16, kTf32, kF32, kE4m3, kE5m2, kS8, kU8, kS32, kOpaque };

uint32_t format_bytes(ElementFormat format);
float decode_element(ElementFormat format, uint32_t bits);
// Rounds to the nearest, ties to even; integers wrap, or saturate.
uint32_t encode_result(ElementFormat format, double value, bool saturate);
double decode_result(ElementFormat format, uint32_t bits);

// rows by depth. A tag a row: whether something in it was never written (1) or not computed (2), as ValueTag.
struct Matrix {
  uint32_t rows = 0, depth = 0;
  std::vector<float> values;
  std::vector<uint8_t> tags;

  Matrix(uint32_t row_count, uint32_t depth_count)
      : rows(row_count), depth(depth_count), values(size_t{row_count} * depth_count), tags(row_count, 0) {}
  float& at(uint32_t row, uint32_t k) { return values[size_t{row} * depth + k]; }
};

// products[i * b.rows + j] = the product of a's row i and b's row j.
std::vector<double> products(const Matrix& a, const Matrix& b);

}  // namespace warpcheck::ptx
