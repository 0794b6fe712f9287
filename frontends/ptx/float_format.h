// Binary float formats as doubles and back: f16, bf16, tf32, e4m3, e5m2, f32, f64. Every value is exact in a double (f64 is
// one); the way back rounds once, in the mode that the instruction names.
//
// Sums and products that a double cannot hold are rounded to odd first (`sum_to_odd`): then rounding to any of the narrow
// formats gives what rounding the exact value would (Boldo, Melquiond, "Emulation of FMA and correctly rounded sums").
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace warpcheck::ptx {

enum class Format : uint8_t { kF16, kBf16, kTf32, kE4m3, kE5m2, kF32, kF64 };
enum class Rounding : uint8_t { kNearest, kDown, kUp, kZero, kNearestAway };

std::optional<Format> format_of(std::string_view type);  // "f16x2" is f16
uint32_t bits_of(Format format);                         // 8, 16, 32, 64

double decode_float(Format format, uint64_t bits);
// NaN becomes the format's canonical one. Beyond the format: infinity, or with `saturate_finite` (always for e4m3) the
// largest value.
uint64_t encode_float(Format format, double value, Rounding rounding = Rounding::kNearest, bool saturate_finite = false);

double sum_to_odd(double a, double b);

// With -0 < +0; a NaN loses, unless `keeps_nan`.
double least(double a, double b, bool keeps_nan);
double most(double a, double b, bool keeps_nan);

}  // namespace warpcheck::ptx
