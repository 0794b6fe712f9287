// f16 and bf16 as doubles and back. Every value of either is exact in a double; the way back rounds to nearest, ties to
// even, once.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace warpcheck {

// A binary float of `kExponent` exponent and `kFraction` fraction bits, with infinities and NaN as in IEEE 754.
template <int kExponent, int kFraction>
struct SmallFloat {
  static constexpr int kBias = (1 << (kExponent - 1)) - 1;
  static constexpr uint32_t kInfinity = ((1U << kExponent) - 1) << kFraction;
  static constexpr uint32_t kSign = 1U << (kExponent + kFraction);

  static double decode(uint32_t bits) {
    const uint32_t fraction = bits & ((1U << kFraction) - 1);
    const int exponent = static_cast<int>(bits >> kFraction & ((1U << kExponent) - 1));
    double value = 0;
    if (exponent == (1 << kExponent) - 1) {
      value = fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
    } else {
      const double significand = fraction + (exponent == 0 ? 0.0 : static_cast<double>(1U << kFraction));
      value = std::ldexp(significand, (exponent == 0 ? 1 : exponent) - kBias - kFraction);
    }
    return (bits & kSign) != 0 ? -value : value;
  }

  static uint32_t encode(double value) {
    const uint32_t sign = std::signbit(value) ? kSign : 0;
    if (std::isnan(value)) return kInfinity | ((1U << kFraction) - 1);  // the canonical NaN of PTX
    const double size = std::fabs(value);
    if (std::isinf(value)) return sign | kInfinity;
    int exponent = size == 0 ? -kBias : std::ilogb(size);
    if (exponent < 1 - kBias) exponent = 1 - kBias;  // subnormal
    const double scaled = std::nearbyint(std::ldexp(size, kFraction - exponent));
    // Adding the significand to the exponent field carries where rounding reached the next power of two.
    const auto significand = static_cast<uint64_t>(scaled);
    const uint64_t bits = (static_cast<uint64_t>(exponent + kBias - 1) << kFraction) + significand;
    return sign | static_cast<uint32_t>(bits < kInfinity ? bits : kInfinity);
  }
};

using Half = SmallFloat<5, 10>;
using Bfloat = SmallFloat<8, 7>;

}  // namespace warpcheck
