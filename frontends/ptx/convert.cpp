// cvt between any formats: f16, bf16, tf32, e4m3, e5m2 and pairs of them, every rounding mode, saturation. What f32, f64 and
// integers do among themselves in the host's own mode is in float.cpp.
#include <algorithm>
#include <cmath>
#include <limits>

#include "frontends/ptx/lanes.h"

namespace warpcheck::ptx {
namespace {

struct Number {
  bool is_float = false, is_signed = false;
  Format format = Format::kF32;
  uint32_t bits = 32, count = 1;
};

Number number_of(std::string_view type) {
  Number made;
  if (const auto format = format_of(type)) {
    made.is_float = true;
    made.format = *format;
    made.bits = bits_of(*format);
    made.count = type.ends_with("x2") ? 2 : 1;
    return made;
  }
  if (type_bytes(type) == 0 || type_bytes(type) > 8 || type == "pred") throw NotSupported();
  made.is_signed = type[0] == 's';
  made.bits = 8 * type_bytes(type);
  return made;
}

uint64_t low(uint64_t value, uint32_t bits) { return bits == 64 ? value : value & ((uint64_t{1} << bits) - 1); }

// Integers of 64 bits are rounded to odd: the format that they go to rounds once.
double integer_value(uint64_t bits, const Number& from) {
  const auto exact = from.is_signed ? static_cast<long double>(static_cast<int64_t>(bits << (64 - from.bits)) >> (64 - from.bits))
                                    : static_cast<long double>(low(bits, from.bits));
  const auto made = static_cast<double>(exact);
  const auto error = static_cast<double>(exact - static_cast<long double>(made));
  return sum_to_odd(made, error);
}

double whole(double value, Rounding rounding) {
  switch (rounding) {
    case Rounding::kNearest: return std::nearbyint(value);
    case Rounding::kNearestAway: return std::round(value);
    case Rounding::kDown: return std::floor(value);
    case Rounding::kUp: return std::ceil(value);
    case Rounding::kZero: return std::trunc(value);
  }
  return value;
}

uint64_t to_integer(double value, const Number& to, Rounding rounding) {
  const double made = whole(value, rounding);
  if (std::isnan(made)) return 0;
  const int digits = static_cast<int>(to.bits) - (to.is_signed ? 1 : 0);
  const double limit = std::ldexp(1.0, digits), lowest = to.is_signed ? -limit : 0;
  if (made >= limit) return low(~uint64_t{0}, static_cast<uint32_t>(digits));
  if (made < lowest) return to.is_signed ? uint64_t{1} << digits : 0;
  return low(made < 0 ? static_cast<uint64_t>(static_cast<int64_t>(made)) : static_cast<uint64_t>(made), to.bits);
}

struct Conversion {
  Number to, from;
  bool to_whole = false;  // a float rounded to an integer that stays a float
};

// Kept in the code: from[0] and from[1] are the sources, the upper half's first.
Conversion conversion_of(const Code& code) {
  Conversion made;
  made.to = {code.form.is_float, code.is_signed, code.form.format, code.form.width, code.form.count};
  made.from = {code.form.from_float, code.form.from_signed, code.form.from_format, code.form.from_width, code.form.from_count};
  made.to_whole = code.form.to_whole;
  return made;
}

uint64_t convert_one(const Code& code, const Conversion& how, uint64_t bits) {
  const FloatForm& form = code.form;
  double value = how.from.is_float ? decode_float(how.from.format, bits) : integer_value(bits, how.from);
  if (form.flushes && std::fabs(value) < 0x1p-126) value = std::copysign(0.0, value);
  if (!how.to.is_float) return to_integer(value, how.to, form.rounding);
  if (how.to_whole) value = whole(value, form.rounding);
  if (form.saturates) value = std::isnan(value) ? 0 : std::clamp(value, 0.0, 1.0);
  if (form.relu && !std::isnan(value)) value = most(value, 0, false);
  return encode_float(how.to.format, value, how.to_whole ? Rounding::kNearest : form.rounding, form.saturates_finite);
}

void run_convert(Warp& warp, const Code& code, LaneMask lanes) {
  const Conversion how = conversion_of(code);
  Tags tags;
  tags.add(warp, code.from[0]);
  if (code.form.operands == 2) tags.add(warp, code.from[1]);
  const Values a(warp, code.from[0]), b(warp, code.from[1]);
  auto& to = warp.slots[code.to[0]].lane;
  each_lane(lanes, [&](uint32_t lane) {
    uint64_t made = 0;
    for (uint32_t i = 0; i < how.to.count; ++i) {
      const uint64_t source = code.form.operands == 2 ? (i == 1 ? a[lane] : b[lane]) : a[lane] >> (i * how.from.bits);
      made |= low(convert_one(code, how, low(source, how.from.bits)), how.to.bits) << (i * how.to.bits);
    }
    // Signed integers fill their register.
    if (!how.to.is_float && how.to.is_signed) made = static_cast<uint64_t>(static_cast<int64_t>(made << (64 - how.to.bits)) >> (64 - how.to.bits));
    to[lane] = made;
  });
  tags.set(warp, code.to[0], lanes);
}

struct NamedRounding {
  std::string_view name;
  Rounding rounding;
  bool whole;
};

constexpr NamedRounding kRoundings[] = {{"rn", Rounding::kNearest, false},  {"rz", Rounding::kZero, false},  {"rm", Rounding::kDown, false},
                                        {"rp", Rounding::kUp, false},       {"rna", Rounding::kNearestAway, false}, {"rni", Rounding::kNearest, true},
                                        {"rzi", Rounding::kZero, true},     {"rmi", Rounding::kDown, true},  {"rpi", Rounding::kUp, true}};

void decode_convert(Decoder& decoder, Modifiers& modifiers, Code& code) {
  FloatForm& form = code.form;
  bool whole_named = false;
  for (const NamedRounding& named : kRoundings) {
    if (!modifiers.take(named.name)) continue;
    form.rounding = named.rounding;
    whole_named = named.whole;
    break;
  }
  form.flushes = modifiers.take("ftz");
  form.saturates_finite = modifiers.take("satfinite");
  form.saturates = modifiers.take("sat");
  form.relu = modifiers.take("relu");
  const Number to = number_of(modifiers.take_type()), from = number_of(modifiers.take_type());
  form.operands = static_cast<uint8_t>(decoder.operands() - 1);
  if (form.operands != 1 && form.operands != 2) throw NotSupported();
  if (!to.is_float && !from.is_float) throw NotSupported();  // integers among themselves
  if (to.is_float && to.format == Format::kF64 && form.rounding != Rounding::kNearest && !from.is_float) throw NotSupported();
  if (to.count != (form.operands == 2 ? 2 : from.count)) throw NotSupported();
  form.is_float = to.is_float;
  form.format = to.format;
  form.width = static_cast<uint8_t>(to.bits);
  form.count = static_cast<uint8_t>(to.count);
  form.from_float = from.is_float;
  form.from_signed = from.is_signed;
  form.from_format = from.format;
  form.from_width = static_cast<uint8_t>(from.bits);
  form.from_count = static_cast<uint8_t>(from.count);
  form.to_whole = whole_named && to.is_float;
  if (to.is_float && form.saturates && whole_named) form.to_whole = true;
  code.is_signed = to.is_signed;
  code.lanes = run_convert;
  code.to[0] = decoder.destination(0);
  for (size_t i = 0; i < form.operands; ++i) code.from[i] = decoder.source(i + 1, from.is_float && from.format == Format::kF32 ? "f32" : "");
}

// cvt.pack.sat.CONVERT.s32[.b32] d, a, b [, c]
void run_pack(Warp& warp, const Code& code, LaneMask lanes) {
  Tags tags;
  for (const Source& source : code.from) tags.add(warp, source);
  const Values a(warp, code.from[0]), b(warp, code.from[1]), c(warp, code.from[2]);
  const Number to{false, code.is_signed, Format::kF32, code.bytes * 8U, 1}, from{false, true, Format::kF32, 32, 1};
  auto& made = warp.slots[code.to[0]].lane;
  each_lane(lanes, [&](uint32_t lane) {
    const auto part = [&](uint64_t bits) { return to_integer(integer_value(low(bits, 32), from), to, Rounding::kZero); };
    const uint64_t pair = part(a[lane]) << to.bits | part(b[lane]);
    made[lane] = to.bits == 16 ? pair : low(c[lane] << 16, 32) | pair;
  });
  tags.set(warp, code.to[0], lanes);
}

void decode_pack(Decoder& decoder, Modifiers& modifiers, Code& code) {
  const std::string_view to = modifiers.take_type();
  if (modifiers.take_type() != "s32" || (type_bytes(to) != 1 && type_bytes(to) != 2)) throw NotSupported();
  modifiers.take("b32");
  code.bytes = static_cast<uint8_t>(type_bytes(to));
  code.is_signed = to[0] == 's';
  if (decoder.operands() != (code.bytes == 1 ? 4 : 3)) throw NotSupported();
  operands_of(decoder, code, decoder.operands() - 1, "");
  code.lanes = run_pack;
}

constexpr Row kRows[] = {{"cvt.pack.sat", decode_pack}, {"cvt", decode_convert}};

}  // namespace

std::span<const Row> convert_rows() { return kRows; }

}  // namespace warpcheck::ptx
