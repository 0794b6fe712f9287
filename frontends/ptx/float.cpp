// Floating point. What rounds to nearest is computed as hardware does; approximations and 16-bit formats stay opaque:
// their results may be stored, but decide nothing.
#include <cmath>
#include <limits>
#include <utility>

#include "frontends/ptx/lanes.h"

namespace warpcheck::ptx {
namespace {

struct Add {
  template <class T>
  static T apply(T a, T b) { return a + b; }
};
struct Sub {
  template <class T>
  static T apply(T a, T b) { return a - b; }
};
struct Mul {
  template <class T>
  static T apply(T a, T b) { return a * b; }
};
struct Div {
  template <class T>
  static T apply(T a, T b) { return a / b; }
};
struct Fma {
  template <class T>
  static T apply(T a, T b, T c) { return std::fma(a, b, c); }
};
struct Min {
  template <class T>
  static T apply(T a, T b) { return std::fmin(a, b); }
};
struct Max {
  template <class T>
  static T apply(T a, T b) { return std::fmax(a, b); }
};
struct Neg {
  template <class T>
  static T apply(T a) { return -a; }
};
struct Abs {
  template <class T>
  static T apply(T a) { return std::fabs(a); }
};
struct Sqrt {
  template <class T>
  static T apply(T a) { return std::sqrt(a); }
};
struct Rcp {
  template <class T>
  static T apply(T a) { return T{1} / a; }
};

// Rounds to nearest unless another mode is named; those, and flushing subnormals, are not computed here.
template <class Op, int N>
void decode_exact(Decoder& decoder, Modifiers& modifiers, Code& code) {
  modifiers.take("rn");
  const std::string_view type = modifiers.take_type();
  code.lanes = float_function<Op, N>(type);
  if (code.lanes == nullptr) throw NotSupported();
  operands_of(decoder, code, N, type);
}

void add_destinations(Decoder& decoder, const Operand& operand, Code& code) {
  if (operand.kind == OperandKind::kVector || operand.kind == OperandKind::kPair) {
    for (const Operand& part : operand.parts) code.to_vector.push_back(decoder.destination(part));
  } else {
    code.to[0] = decoder.destination(operand);
  }
}

// Any form with a float type: the result is opaque.
void decode_opaque(Decoder& decoder, Modifiers& modifiers, Code& code) {
  bool is_float = false;
  while (!modifiers.front().empty()) {
    const std::string_view name = modifiers.front();
    is_float |= type_bytes(name) != 0 && (name.find('f') != std::string_view::npos || name[0] == 'e');
    modifiers.take(name);
  }
  if (!is_float) throw NotSupported();
  add_destinations(decoder, decoder.operand(0), code);
  code.lanes = opaque_result;
}

template <class To, class From>
void convert_integer(Warp& warp, const Code& code, LaneMask lanes) {
  Tags tags;
  tags.add(warp, code.from[0]);
  const Values a(warp, code.from[0]);
  auto& to = warp.slots[code.to[0]].lane;
  each_lane(lanes, [&](uint32_t lane) {
    const From value = unpack<From>(a[lane]);
    if (code.mode == 0) {
      to[lane] = pack(static_cast<To>(value));
    } else {  // .sat
      using Limits = std::numeric_limits<To>;
      const bool low = std::cmp_less(value, Limits::min()), high = std::cmp_greater(value, Limits::max());
      to[lane] = pack(low ? Limits::min() : high ? Limits::max() : static_cast<To>(value));
    }
  });
  tags.set(warp, code.to[0], lanes);
}

template <class To, class From>
void convert_to_float(Warp& warp, const Code& code, LaneMask lanes) {
  Tags tags;
  tags.add(warp, code.from[0]);
  const Values a(warp, code.from[0]);
  auto& to = warp.slots[code.to[0]].lane;
  each_lane(lanes, [&](uint32_t lane) { to[lane] = pack(static_cast<To>(unpack<From>(a[lane]))); });
  tags.set(warp, code.to[0], lanes);
}

enum Rounding : uint8_t { kNearest, kDown, kUp, kZero };

// Saturates, as conversions to integers always do; NaN becomes 0.
template <class To, class From>
void convert_from_float(Warp& warp, const Code& code, LaneMask lanes) {
  Tags tags;
  tags.add(warp, code.from[0]);
  const Values a(warp, code.from[0]);
  auto& to = warp.slots[code.to[0]].lane;
  each_lane(lanes, [&](uint32_t lane) {
    const auto value = static_cast<double>(unpack<From>(a[lane]));
    const double whole = code.mode == kNearest ? std::nearbyint(value)
                         : code.mode == kDown  ? std::floor(value)
                         : code.mode == kUp    ? std::ceil(value)
                                               : std::trunc(value);
    using Limits = std::numeric_limits<To>;
    const double high = std::ldexp(1.0, Limits::digits);
    To made = 0;
    if (!std::isnan(whole)) made = whole >= high ? Limits::max() : whole < static_cast<double>(Limits::min()) ? Limits::min() : static_cast<To>(whole);
    to[lane] = pack(made);
  });
  tags.set(warp, code.to[0], lanes);
}

template <class F>
LaneFunction with_integer(std::string_view type, F&& f) {
  if (type == "u8" || type == "b8") return f(uint8_t{});
  if (type == "s8") return f(int8_t{});
  if (type == "u16" || type == "b16") return f(uint16_t{});
  if (type == "s16") return f(int16_t{});
  if (type == "u32" || type == "b32") return f(uint32_t{});
  if (type == "s32") return f(int32_t{});
  if (type == "u64" || type == "b64") return f(uint64_t{});
  if (type == "s64") return f(int64_t{});
  throw NotSupported();
}

LaneFunction conversion(std::string_view to, std::string_view from) {
  const bool to_float = to == "f32" || to == "f64", from_float = from == "f32" || from == "f64";
  if (to_float && from_float) {
    if (to == from) return nullptr;
    return to == "f64" ? convert_to_float<double, float> : convert_to_float<float, double>;
  }
  if (to_float) {
    return with_integer(from, [&](auto f) -> LaneFunction {
      return to == "f32" ? convert_to_float<float, decltype(f)> : convert_to_float<double, decltype(f)>;
    });
  }
  if (from_float) {
    return with_integer(to, [&](auto t) -> LaneFunction {
      return from == "f32" ? convert_from_float<decltype(t), float> : convert_from_float<decltype(t), double>;
    });
  }
  return with_integer(to, [&](auto t) {
    return with_integer(from, [&](auto f) -> LaneFunction { return convert_integer<decltype(t), decltype(f)>; });
  });
}

// cvt.to.from. Rounding to nearest is what the host does for floats; towards integers the mode is honoured.
void decode_cvt(Decoder& decoder, Modifiers& modifiers, Code& code) {
  const bool saturates = modifiers.take("sat");
  uint8_t rounding = kNearest;
  const bool whole = modifiers.take("rni") || [&] { return rounding = kZero, modifiers.take("rzi"); }() ||
                     [&] { return rounding = kDown, modifiers.take("rmi"); }() || [&] { return rounding = kUp, modifiers.take("rpi"); }();
  modifiers.take("rn");
  const std::string_view to = modifiers.take_type(), from = modifiers.take_type();
  code.lanes = conversion(to, from);
  const bool from_float = from[0] == 'f', to_float = to[0] == 'f';
  if (code.lanes == nullptr || (saturates && to_float) || (whole && (to_float || !from_float))) throw NotSupported();
  code.mode = from_float ? rounding : saturates ? 1 : 0;
  operands_of(decoder, code, 1, from);
}

constexpr Row kRows[] = {
    {"add", decode_exact<Add, 2>},  {"sub", decode_exact<Sub, 2>},   {"mul", decode_exact<Mul, 2>},
    {"fma", decode_exact<Fma, 3>},  {"mad", decode_exact<Fma, 3>},   {"div.rn", decode_exact<Div, 2>},
    {"min", decode_exact<Min, 2>},  {"max", decode_exact<Max, 2>},   {"neg", decode_exact<Neg, 1>},
    {"abs", decode_exact<Abs, 1>},  {"sqrt.rn", decode_exact<Sqrt, 1>}, {"rcp.rn", decode_exact<Rcp, 1>},
    {"cvt", decode_cvt},
    {"add", decode_opaque},         {"sub", decode_opaque},          {"mul", decode_opaque},
    {"fma", decode_opaque},         {"mad", decode_opaque},          {"div", decode_opaque},
    {"min", decode_opaque},         {"max", decode_opaque},          {"neg", decode_opaque},
    {"abs", decode_opaque},         {"sqrt", decode_opaque},         {"rcp", decode_opaque},
    {"rsqrt", decode_opaque},       {"sin", decode_opaque},          {"cos", decode_opaque},
    {"lg2", decode_opaque},         {"ex2", decode_opaque},          {"tanh", decode_opaque},
    {"cvt", decode_opaque},         {"copysign", decode_opaque},     {"setp", decode_opaque},
    {"set", decode_opaque},         {"testp", decode_opaque},
};

}  // namespace

std::span<const Row> float_rows() { return kRows; }

}  // namespace warpcheck::ptx
