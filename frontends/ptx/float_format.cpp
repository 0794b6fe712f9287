#include "frontends/ptx/float_format.h"

#include <bit>
#include <cmath>
#include <limits>

namespace warpcheck::ptx {
namespace {

struct Shape {
  int exponent, fraction, unused;  // bits; `unused` ones lie below the fraction
  bool has_infinity;
};

constexpr Shape shape_of(Format format) {
  switch (format) {
    case Format::kF16: return {5, 10, 0, true};
    case Format::kBf16: return {8, 7, 0, true};
    case Format::kTf32: return {8, 10, 13, true};
    case Format::kE4m3: return {4, 3, 0, false};
    case Format::kE5m2: return {5, 2, 0, true};
    case Format::kF32: return {8, 23, 0, true};
    case Format::kF64: return {11, 52, 0, true};
  }
  return {11, 52, 0, true};
}

double round_whole(double size, Rounding rounding, bool negative) {
  switch (rounding) {
    case Rounding::kNearest: return std::nearbyint(size);
    case Rounding::kNearestAway: return std::floor(size + 0.5);
    case Rounding::kZero: return std::floor(size);
    case Rounding::kDown: return negative ? std::ceil(size) : std::floor(size);
    case Rounding::kUp: return negative ? std::floor(size) : std::ceil(size);
  }
  return size;
}

uint64_t encode_small(const Shape& shape, double value, Rounding rounding, bool saturate_finite) {
  const int bias = (1 << (shape.exponent - 1)) - 1;
  const uint64_t top = (uint64_t{1} << (shape.exponent + shape.fraction)) - 1;  // all ones but the sign
  const uint64_t infinity = top - ((uint64_t{1} << shape.fraction) - 1);
  const uint64_t largest = shape.has_infinity ? infinity - 1 : top - 1;
  const bool negative = std::signbit(value);
  const uint64_t sign = negative ? top + 1 : 0;
  const bool saturates = saturate_finite || !shape.has_infinity;
  if (std::isnan(value)) return top;
  if (std::isinf(value)) return sign | (saturates ? largest : infinity);
  const double size = std::fabs(value);
  int exponent = size == 0 ? 1 - bias : std::max(std::ilogb(size), 1 - bias);
  const double scaled = round_whole(std::ldexp(size, shape.fraction - exponent), rounding, negative);
  const auto significand = static_cast<uint64_t>(scaled);
  // Adding the significand to the exponent field carries where rounding reached the next power of two.
  uint64_t made = exponent + bias > 2 * bias + 1 ? top + 1 : (static_cast<uint64_t>(exponent + bias - 1) << shape.fraction) + significand;
  if (made > largest) {
    const bool towards_zero = rounding == Rounding::kZero || (rounding == Rounding::kDown && !negative) || (rounding == Rounding::kUp && negative);
    made = saturates || towards_zero ? largest : infinity;
  }
  return sign | made;
}

}  // namespace

std::optional<Format> format_of(std::string_view type) {
  struct Named {
    std::string_view name;
    Format format;
  };
  static constexpr Named kNames[] = {{"f16", Format::kF16},     {"f16x2", Format::kF16},   {"bf16", Format::kBf16}, {"bf16x2", Format::kBf16},
                                     {"tf32", Format::kTf32},   {"e4m3", Format::kE4m3},   {"e4m3x2", Format::kE4m3}, {"e5m2", Format::kE5m2},
                                     {"e5m2x2", Format::kE5m2}, {"f32", Format::kF32},     {"f32x2", Format::kF32}, {"f64", Format::kF64}};
  for (const Named& named : kNames) {
    if (named.name == type) return named.format;
  }
  return std::nullopt;
}

uint32_t bits_of(Format format) {
  const Shape shape = shape_of(format);
  return static_cast<uint32_t>(1 + shape.exponent + shape.fraction + shape.unused);
}

double decode_float(Format format, uint64_t bits) {
  if (format == Format::kF64) return std::bit_cast<double>(bits);
  if (format == Format::kF32) return std::bit_cast<float>(static_cast<uint32_t>(bits));
  if (format == Format::kTf32) return std::bit_cast<float>(static_cast<uint32_t>(bits) & ~0x1fffU);  // hardware ignores the rest
  if (format == Format::kBf16) return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  const Shape shape = shape_of(format);
  const int bias = (1 << (shape.exponent - 1)) - 1;
  const auto fraction = static_cast<uint32_t>(bits) & ((1U << shape.fraction) - 1);
  const int exponent = static_cast<int>(bits >> shape.fraction & ((1U << shape.exponent) - 1));
  const bool top = exponent == (1 << shape.exponent) - 1;
  const bool negative = (bits >> (shape.exponent + shape.fraction) & 1) != 0;
  double size = 0;
  if (top && shape.has_infinity) {
    size = fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  } else if (top && fraction == (1U << shape.fraction) - 1) {
    size = std::numeric_limits<double>::quiet_NaN();
  } else {
    size = std::ldexp(fraction + (exponent == 0 ? 0.0 : static_cast<double>(1U << shape.fraction)), std::max(exponent, 1) - bias - shape.fraction);
  }
  return negative ? -size : size;
}

uint64_t encode_float(Format format, double value, Rounding rounding, bool saturate_finite) {
  if (format == Format::kF64) return std::bit_cast<uint64_t>(value);
  if (format == Format::kTf32) {
    return encode_small(shape_of(format), value, rounding, saturate_finite) << 13;
  }
  return encode_small(shape_of(format), value, rounding, saturate_finite);
}

double sum_to_odd(double a, double b) {
  const double sum = a + b;
  if (!std::isfinite(sum)) return sum;
  const double rest = sum - a;
  const double error = (a - (sum - rest)) + (b - rest);  // Knuth's two-sum: exact
  if (error == 0 || (std::bit_cast<uint64_t>(sum) & 1) != 0) return sum;
  return std::nextafter(sum, error > 0 ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity());
}

double least(double a, double b, bool keeps_nan) {
  if (std::isnan(a) || std::isnan(b)) return keeps_nan || (std::isnan(a) && std::isnan(b)) ? std::numeric_limits<double>::quiet_NaN() : std::isnan(a) ? b : a;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

double most(double a, double b, bool keeps_nan) {
  if (std::isnan(a) || std::isnan(b)) return keeps_nan || (std::isnan(a) && std::isnan(b)) ? std::numeric_limits<double>::quiet_NaN() : std::isnan(a) ? b : a;
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

}  // namespace warpcheck::ptx
