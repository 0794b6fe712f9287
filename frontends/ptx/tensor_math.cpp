#include "frontends/ptx/tensor_math.h"

#include <algorithm>
#include <bit>

#include "frontends/ptx/float_format.h"

namespace warpcheck::ptx {
uint32_t format_bytes(ElementFormat format) {
  switch (format) {
    case ElementFormat::kF16:
    case ElementFormat::kBf16: return 2;
    case ElementFormat::kTf32:
    case ElementFormat::kF32:
    case ElementFormat::kS32: return 4;
    default: return 1;
  }
}

float decode_element(ElementFormat format, uint32_t bits) {
  switch (format) {
    case ElementFormat::kF16: return static_cast<float>(decode_float(Format::kF16, bits & 0xffff));
    case ElementFormat::kBf16: return std::bit_cast<float>(bits << 16);
    case ElementFormat::kTf32: return std::bit_cast<float>(bits & 0xffffe000U);  // the low bits are not looked at
    case ElementFormat::kF32: return std::bit_cast<float>(bits);
    case ElementFormat::kE4m3: return static_cast<float>(decode_float(Format::kE4m3, bits & 0xff));
    case ElementFormat::kE5m2: return static_cast<float>(decode_float(Format::kE5m2, bits & 0xff));
    case ElementFormat::kS8: return static_cast<float>(static_cast<int8_t>(bits));
    case ElementFormat::kU8: return static_cast<float>(bits & 0xff);
    case ElementFormat::kS32:
    case ElementFormat::kOpaque: return 0;
  }
  return 0;
}

uint32_t encode_result(ElementFormat format, double value, bool saturate) {
  switch (format) {
    case ElementFormat::kF16: return static_cast<uint32_t>(encode_float(Format::kF16, value));
    case ElementFormat::kBf16: return static_cast<uint32_t>(encode_float(Format::kBf16, value));
    case ElementFormat::kS32: {
      if (saturate) value = std::clamp(value, -2147483648.0, 2147483647.0);
      return static_cast<uint32_t>(static_cast<int64_t>(value));
    }
    default: return std::bit_cast<uint32_t>(static_cast<float>(value));
  }
}

double decode_result(ElementFormat format, uint32_t bits) {
  if (format == ElementFormat::kS32) return static_cast<int32_t>(bits);
  return format == ElementFormat::kF16 ? decode_float(Format::kF16, bits & 0xffff) : static_cast<double>(std::bit_cast<float>(bits));
}

std::vector<double> products(const Matrix& a, const Matrix& b) {
  std::vector<double> made(size_t{a.rows} * b.rows, 0);
  std::vector<double> column(size_t{b.rows} * b.depth);  // b's values K by K
  for (uint32_t k = 0; k < b.depth; ++k) {
    for (uint32_t j = 0; j < b.rows; ++j) column[size_t{k} * b.rows + j] = b.values[size_t{j} * b.depth + k];
  }
  for (uint32_t i = 0; i < a.rows; ++i) {
    double* to = &made[size_t{i} * b.rows];
    for (uint32_t k = 0; k < a.depth; ++k) {
      const double x = a.values[size_t{i} * a.depth + k];
      const double* from = &column[size_t{k} * b.rows];
      for (uint32_t j = 0; j < b.rows; ++j) to[j] += x * from[j];
    }
  }
  return made;
}

}  // namespace warpcheck::ptx
