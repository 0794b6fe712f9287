// f32 and f64 rounded to nearest, computed as hardware does, and the approximations of f32, for which the host's functions
// stand; other formats and variants are in general_float.cpp and convert.cpp. What none of them knows is opaque: it may be
// stored, and decides nothing. Its bits are a digest of the operation and its operands: equal where the same was computed.
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
  static T apply(T a, T b) { return a == b && std::signbit(a) ? a : std::fmin(a, b); }
};
struct Max {
  template <class T>
  static T apply(T a, T b) { return a == b && std::signbit(a) ? b : std::fmax(a, b); }
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

// f32 with subnormal operands and results flushed to zero.
template <class Op>
struct Flushed {
  template <class... T>
  static float apply(T... a) { return flush(Op::apply(flush(static_cast<float>(a))...)); }
};

// Rounds to nearest; other modes are opaque.
template <class Op, int N>
void decode_exact(Decoder& decoder, Modifiers& modifiers, Code& code) {
  modifiers.take("rn");
  const bool flushes = modifiers.take("ftz");
  const std::string_view type = modifiers.take_type();
  code.lanes = flushes && type == "f32" ? apply<Flushed<Op>, float, N> : float_function<Op, N>(type);
  if (code.lanes == nullptr || (flushes && type != "f32")) throw NotSupported();
  operands_of(decoder, code, N, type);
}

struct Exp2 {
  template <class T>
  static T apply(T a) { return std::exp2(a); }
};
struct Log2 {
  template <class T>
  static T apply(T a) { return std::log2(a); }
};
struct Sin {
  template <class T>
  static T apply(T a) { return std::sin(a); }
};
struct Cos {
  template <class T>
  static T apply(T a) { return std::cos(a); }
};
struct Tanh {
  template <class T>
  static T apply(T a) { return std::tanh(a); }
};
struct Rsqrt {
  template <class T>
  static T apply(T a) { return T{1} / std::sqrt(a); }
};

template <class Op, int N>
void decode_approximate(Decoder& decoder, Modifiers& modifiers, Code& code) {
  for (const std::string_view name : {"approx", "full"}) modifiers.take(name);
  const bool flushes = modifiers.take("ftz");
  const std::string_view type = modifiers.take_type();
  if (type != "f32") throw NotSupported();
  code.lanes = flushes ? apply<Flushed<Op>, float, N> : apply<Op, float, N>;
  code.approximate = true;
  operands_of(decoder, code, N, type);
}

uint64_t mix(uint64_t digest, uint64_t value) {
  digest = (digest ^ value) * 0x9e3779b97f4a7c15ULL;
  return digest ^ digest >> 29;
}

// immediate: digest of the opcode; mode: how many of to_vector there are, bytes: of each.
void opaque_result(Warp& warp, const Code& code, LaneMask lanes) {
  Tags tags;
  for (const Source& source : code.from_vector) tags.add(warp, source);
  std::array<uint64_t, 32> digests{};
  each_lane(lanes, [&](uint32_t lane) {
    digests[lane] = code.immediate;
    for (const Source& source : code.from_vector) digests[lane] = mix(digests[lane], value_of(warp, source, lane));
  });
  tags.opaque = ~0U;
  for (size_t i = 0; i < code.to_vector.size(); ++i) {
    const uint64_t unused = 64 - 8 * code.bytes;
    each_lane(lanes, [&](uint32_t lane) { warp.slots[code.to_vector[i]].lane[lane] = mix(digests[lane], i) << unused >> unused; });
    tags.set(warp, code.to_vector[i], lanes);
  }
}

void add_sources(Decoder& decoder, const Operand& operand, Code& code) {
  for (const Operand& part : operand.parts) add_sources(decoder, part, code);
  if (operand.parts.empty()) code.from_vector.push_back(decoder.source(operand));
}

// Any form with a float type.
void decode_opaque(Decoder& decoder, Modifiers& modifiers, Code& code) {
  bool is_float = false;
  code.immediate = 1;
  for (const std::string_view part : decoder.instruction().opcode) {
    for (const char c : part) code.immediate = mix(code.immediate, static_cast<uint8_t>(c));
  }
  while (!modifiers.front().empty()) {
    const std::string_view name = modifiers.front();
    is_float |= type_bytes(name) != 0 && (name.find('f') != std::string_view::npos || name[0] == 'e');
    modifiers.take(name);
  }
  if (!is_float) throw NotSupported();
  const Operand& to = decoder.operand(0);
  const std::vector<Operand>& parts = to.parts.empty() ? std::vector<Operand>{to} : to.parts;
  for (const Operand& part : parts) {
    code.to_vector.push_back(decoder.destination(part));
    if (part.kind == OperandKind::kRegister) code.bytes = static_cast<uint8_t>(std::min(8U, type_bytes(decoder.function().registers[part.reg].type)));
  }
  if (code.bytes == 0) code.bytes = 8;
  for (size_t i = 1; i < decoder.operands(); ++i) add_sources(decoder, decoder.operand(i), code);
  code.lanes = opaque_result;
  code.opaque = true;
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
      to[lane] = widen(static_cast<To>(value));
    } else {  // .sat
      using Limits = std::numeric_limits<To>;
      const bool low = std::cmp_less(value, Limits::min()), high = std::cmp_greater(value, Limits::max());
      to[lane] = widen(low ? Limits::min() : high ? Limits::max() : static_cast<To>(value));
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
    to[lane] = widen(made);
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
    {"ex2", decode_approximate<Exp2, 1>},   {"lg2", decode_approximate<Log2, 1>}, {"sin", decode_approximate<Sin, 1>},
    {"cos", decode_approximate<Cos, 1>},    {"tanh", decode_approximate<Tanh, 1>}, {"rsqrt", decode_approximate<Rsqrt, 1>},
    {"rcp", decode_approximate<Rcp, 1>},    {"sqrt", decode_approximate<Sqrt, 1>}, {"div", decode_approximate<Div, 2>},
};

constexpr Row kOpaque[] = {
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

std::span<const Row> opaque_float_rows() { return kOpaque; }
std::span<const Row> float_rows() { return kRows; }

}  // namespace warpcheck::ptx
