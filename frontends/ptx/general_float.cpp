// Float arithmetic in every format, rounding mode and variant that the host does not do by itself: f16 and bf16, packed
// pairs, directed rounding, saturation, NaN-preserving minima. Computed in double and rounded once (float_format.h).
// Approximations (ex2, rsqrt, tanh, ...) are the host's function, rounded to the format.
#include <algorithm>
#include <bit>
#include <cmath>

#include "frontends/ptx/lanes.h"

namespace warpcheck::ptx {
namespace {

enum class FloatOp : uint8_t { kAdd, kSub, kMul, kFma, kDiv, kSqrt, kRcp, kMin, kMax, kNeg, kAbs, kEx2, kLg2, kSin, kCos, kTanh, kRsqrt };

// Rounds to odd where the residual says that the host has rounded.
double odd(double rounded, double residual) {
  if (residual == 0 || !std::isfinite(rounded) || !std::isfinite(residual) || (std::bit_cast<uint64_t>(rounded) & 1) != 0) return rounded;
  const double far = std::numeric_limits<double>::infinity();
  return std::nextafter(rounded, residual > 0 ? far : -far);
}

double quotient(double a, double b) {
  const double made = a / b;
  if (!std::isfinite(made) || b == 0) return made;
  const double residual = std::fma(-made, b, a);
  return odd(made, std::signbit(b) ? -residual : residual);
}

double root(double a) {
  const double made = std::sqrt(a);
  return std::isfinite(made) ? odd(made, std::fma(-made, made, a)) : made;
}

double compute(FloatOp op, const FloatForm& form, double a, double b, double c) {
  switch (op) {
    case FloatOp::kAdd: return sum_to_odd(a, b);
    case FloatOp::kSub: return sum_to_odd(a, -b);
    case FloatOp::kMul: return a * b;  // exact: at most 24 bits each
    case FloatOp::kFma: return sum_to_odd(a * b, c);
    case FloatOp::kDiv: return quotient(a, b);
    case FloatOp::kSqrt: return root(a);
    case FloatOp::kRcp: return quotient(1, a);
    case FloatOp::kMin: return form.operands == 3 ? least(least(a, b, form.keeps_nan), c, form.keeps_nan) : least(a, b, form.keeps_nan);
    case FloatOp::kMax: return form.operands == 3 ? most(most(a, b, form.keeps_nan), c, form.keeps_nan) : most(a, b, form.keeps_nan);
    case FloatOp::kNeg: return -a;
    case FloatOp::kAbs: return std::fabs(a);
    case FloatOp::kEx2: return std::exp2(a);
    case FloatOp::kLg2: return std::log2(a);
    case FloatOp::kSin: return std::sin(a);
    case FloatOp::kCos: return std::cos(a);
    case FloatOp::kTanh: return std::tanh(a);
    case FloatOp::kRsqrt: return 1 / std::sqrt(a);
  }
  return a;
}

double flush(Format format, double value) {
  const double smallest = format == Format::kF16 ? 0x1p-14 : 0x1p-126;
  return std::fabs(value) < smallest ? std::copysign(0.0, value) : value;
}

uint64_t element(const Code& code, uint64_t a, uint64_t b, uint64_t c) {
  const FloatForm& form = code.form;
  const auto op = static_cast<FloatOp>(code.mode);
  const uint32_t width = bits_of(form.format);
  const uint64_t sign = uint64_t{1} << (width - 1);
  const auto value = [&](uint64_t bits) {
    const double made = decode_float(form.format, bits);
    return form.flushes ? flush(form.format, made) : made;
  };
  if (op == FloatOp::kNeg || op == FloatOp::kAbs) {  // NaNs keep their bits
    if (value(a) == 0) a &= sign;
    return op == FloatOp::kNeg ? a ^ sign : a & ~sign;
  }
  double x = value(a), y = value(b);
  bool flips = false;
  if (form.xor_sign) {
    flips = std::signbit(x) != std::signbit(y);
    x = std::fabs(x);
    y = std::fabs(y);
  }
  double made = compute(op, form, x, y, value(c));
  if (form.xor_sign && flips) made = -made;
  if (form.saturates) made = std::isnan(made) ? 0 : std::clamp(made, 0.0, 1.0);
  if (form.relu && !std::isnan(made)) made = most(made, 0, false);
  return value(encode_float(form.format, made, form.rounding)) == 0 && form.flushes
             ? encode_float(form.format, std::copysign(0.0, made))
             : encode_float(form.format, made, form.rounding);
}

void run_general(Warp& warp, const Code& code, LaneMask lanes) {
  Tags tags;
  for (size_t i = 0; i < code.form.operands; ++i) tags.add(warp, code.from[i]);
  const Values a(warp, code.from[0]), b(warp, code.from[1]), c(warp, code.from[2]);
  auto& to = warp.slots[code.to[0]].lane;
  const uint32_t width = bits_of(code.form.format);
  const uint64_t mask = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
  each_lane(lanes, [&](uint32_t lane) {
    uint64_t made = 0;
    for (uint32_t at = 0; at < code.form.count * width; at += width) {
      made |= (element(code, a[lane] >> at & mask, b[lane] >> at & mask, c[lane] >> at & mask) & mask) << at;
    }
    to[lane] = made;
  });
  tags.set(warp, code.to[0], lanes);
}

Rounding take_rounding(Modifiers& modifiers) {
  if (modifiers.take("rz")) return Rounding::kZero;
  if (modifiers.take("rm")) return Rounding::kDown;
  if (modifiers.take("rp")) return Rounding::kUp;
  modifiers.take("rn");
  return Rounding::kNearest;
}

constexpr bool approximates(FloatOp op) { return op >= FloatOp::kEx2; }

template <FloatOp kOp, int kOperands>
void decode_general(Decoder& decoder, Modifiers& modifiers, Code& code) {
  FloatForm& form = code.form;
  form.rounding = take_rounding(modifiers);
  const bool approximate = modifiers.take("approx") || modifiers.take("full");
  form.flushes = modifiers.take("ftz");
  form.saturates = modifiers.take("sat");
  form.relu = modifiers.take("relu");
  form.keeps_nan = modifiers.take("NaN");
  modifiers.take("noftz");
  if (modifiers.take("xorsign")) form.xor_sign = modifiers.take("abs");
  const std::string_view type = modifiers.take_type();
  const auto format = format_of(type);
  const bool plain_f64 = form.rounding == Rounding::kNearest && (kOp == FloatOp::kMin || kOp == FloatOp::kMax || approximates(kOp) || approximate);
  if (!format || *format == Format::kTf32 || bits_of(*format) == 8 || (*format == Format::kF64 && !plain_f64)) throw NotSupported();
  form.format = *format;
  form.count = type.ends_with("x2") ? 2 : 1;
  form.operands = static_cast<uint8_t>(decoder.operands() - 1);
  const bool three = (kOp == FloatOp::kMin || kOp == FloatOp::kMax) && form.operands == 3;
  if (form.operands != kOperands && !three) throw NotSupported();
  code.mode = static_cast<uint8_t>(kOp);
  code.approximate = approximate || approximates(kOp);
  code.lanes = run_general;
  operands_of(decoder, code, form.operands, type);
}

// setp and set of 16-bit floats; pairs compare each half.
enum : uint8_t { kEq, kNe, kLt, kLe, kGt, kGe, kNum, kNan };

struct Comparison {
  std::string_view name;
  uint8_t how;
  bool unordered;
};

constexpr Comparison kComparisons[] = {
    {"eq", kEq, false},  {"ne", kNe, false},  {"lt", kLt, false},  {"le", kLe, false},  {"gt", kGt, false},  {"ge", kGe, false},
    {"equ", kEq, true},  {"neu", kNe, true},  {"ltu", kLt, true},  {"leu", kLe, true},  {"gtu", kGt, true},  {"geu", kGe, true},
    {"num", kNum, false}, {"nan", kNan, false}};

bool compare(const Comparison& how, double a, double b) {
  const bool nan = std::isnan(a) || std::isnan(b);
  if (how.how == kNum) return !nan;
  if (how.how == kNan) return nan;
  if (nan) return how.unordered;
  switch (how.how) {
    case kEq: return a == b;
    case kNe: return a != b;
    case kLt: return a < b;
    case kLe: return a <= b;
    case kGt: return a > b;
    default: return a >= b;
  }
}

// mode: comparison; to: predicates (setp), or immediate is what one true half sets (set).
void run_compare(Warp& warp, const Code& code, LaneMask lanes) {
  Tags tags;
  for (size_t i = 0; i < 3; ++i) tags.add(warp, code.from[i]);
  const Values a(warp, code.from[0]), b(warp, code.from[1]), c(warp, code.from[2]);
  const Comparison& how = kComparisons[code.mode & 15];
  const uint8_t combination = code.mode >> 4;
  const bool packed = code.form.count == 2, sets = code.immediate != 0;
  each_lane(lanes, [&](uint32_t lane) {
    const bool other = ((c[lane] & 1) != 0) != code.from[2].negated;
    const auto result = [&](uint32_t half, bool inverted) {
      const auto value = [&](uint64_t bits) {
        const double made = decode_float(code.form.format, bits >> (16 * half) & 0xffff);
        return code.form.flushes ? flush(code.form.format, made) : made;
      };
      const bool plain = compare(how, value(a[lane]), value(b[lane])) != inverted;
      return combination == 1 ? plain && other : combination == 2 ? plain || other : combination == 3 ? plain != other : plain;
    };
    if (sets) {
      uint64_t made = 0;
      for (uint32_t half = 0; half < code.form.count; ++half) made |= (result(half, false) ? code.immediate : 0) << (16 * half);
      warp.slots[code.to[0]].lane[lane] = made;
      return;
    }
    warp.slots[code.to[0]].lane[lane] = result(0, false) ? 1 : 0;
    if (code.to[1] != kNone) warp.slots[code.to[1]].lane[lane] = (packed ? result(1, false) : result(0, true)) ? 1 : 0;
  });
  tags.set(warp, code.to[0], lanes);
  if (code.to[1] != kNone) tags.set(warp, code.to[1], lanes);
}

void take_halves(Decoder& decoder, Modifiers& modifiers, Code& code, std::string_view type) {
  const auto format = format_of(type);
  if (!format || bits_of(*format) != 16) throw NotSupported();
  code.form.format = *format;
  code.form.count = type.ends_with("x2") ? 2 : 1;
  const uint8_t combination = modifiers.take("and") ? 1 : modifiers.take("or") ? 2 : modifiers.take("xor") ? 3 : 0;
  code.from[0] = decoder.source(1, type);
  code.from[1] = decoder.source(2, type);
  if ((combination != 0) != (decoder.operands() == 4)) throw NotSupported();
  if (combination != 0) code.from[2] = decoder.source(3, "pred");
  code.mode = static_cast<uint8_t>(code.mode | combination << 4);
  code.lanes = run_compare;
}

void take_comparison(Modifiers& modifiers, Code& code) {
  code.form.flushes = modifiers.take("ftz");
  for (uint8_t i = 0; i < std::size(kComparisons); ++i) {
    if (!modifiers.take(kComparisons[i].name)) continue;
    code.mode = i;
    return;
  }
  throw NotSupported();
}

void decode_setp(Decoder& decoder, Modifiers& modifiers, Code& code) {
  take_comparison(modifiers, code);
  const std::string_view type = modifiers.take_type();
  const Operand& to = decoder.operand(0);
  if (to.kind == OperandKind::kPair) code.to = {decoder.destination(to.parts[0]), decoder.destination(to.parts[1])};
  else code.to[0] = decoder.destination(to);
  take_halves(decoder, modifiers, code, type);
}

void decode_set(Decoder& decoder, Modifiers& modifiers, Code& code) {
  take_comparison(modifiers, code);
  const std::string_view result = modifiers.take_type(), type = modifiers.take_type();
  code.to[0] = decoder.destination(0);
  code.immediate = result.starts_with("f16") ? 0x3c00 : result.starts_with("bf16") ? 0x3f80 : type_bytes(result) == 4 && !type.ends_with("x2") ? 0xffffffff : 0xffff;
  take_halves(decoder, modifiers, code, type);
}

template <class T>
void run_test(Warp& warp, const Code& code, LaneMask lanes) {
  Tags tags;
  tags.add(warp, code.from[0]);
  const Values a(warp, code.from[0]);
  auto& to = warp.slots[code.to[0]].lane;
  each_lane(lanes, [&](uint32_t lane) {
    const int kind = std::fpclassify(unpack<T>(a[lane]));
    const bool holds[] = {kind != FP_INFINITE && kind != FP_NAN, kind == FP_INFINITE, kind != FP_NAN, kind == FP_NAN, kind == FP_NORMAL, kind == FP_SUBNORMAL};
    to[lane] = holds[code.mode] ? 1 : 0;
  });
  tags.set(warp, code.to[0], lanes);
}

void decode_testp(Decoder& decoder, Modifiers& modifiers, Code& code) {
  for (const std::string_view name : {"finite", "infinite", "number", "notanumber", "normal", "subnormal"}) {
    if (modifiers.take(name)) break;
    ++code.mode;
  }
  if (code.mode == 6) throw NotSupported();
  const std::string_view type = modifiers.take_type();
  code.lanes = type == "f32" ? run_test<float> : type == "f64" ? run_test<double> : nullptr;
  if (code.lanes == nullptr) throw NotSupported();
  operands_of(decoder, code, 1, type);
}

// The sign of the first on the second.
struct CopySign {
  template <class T>
  static T apply(T a, T b) { return std::copysign(b, a); }
};

void decode_copysign(Decoder& decoder, Modifiers& modifiers, Code& code) {
  const std::string_view type = modifiers.take_type();
  code.lanes = float_function<CopySign, 2>(type);
  if (code.lanes == nullptr) throw NotSupported();
  operands_of(decoder, code, 2, type);
}

constexpr Row kRows[] = {
    {"add", decode_general<FloatOp::kAdd, 2>},     {"sub", decode_general<FloatOp::kSub, 2>},   {"mul", decode_general<FloatOp::kMul, 2>},
    {"fma", decode_general<FloatOp::kFma, 3>},     {"mad", decode_general<FloatOp::kFma, 3>},   {"div", decode_general<FloatOp::kDiv, 2>},
    {"sqrt", decode_general<FloatOp::kSqrt, 1>},   {"rcp", decode_general<FloatOp::kRcp, 1>},   {"min", decode_general<FloatOp::kMin, 2>},
    {"max", decode_general<FloatOp::kMax, 2>},     {"neg", decode_general<FloatOp::kNeg, 1>},   {"abs", decode_general<FloatOp::kAbs, 1>},
    {"ex2", decode_general<FloatOp::kEx2, 1>},     {"lg2", decode_general<FloatOp::kLg2, 1>},   {"sin", decode_general<FloatOp::kSin, 1>},
    {"cos", decode_general<FloatOp::kCos, 1>},     {"tanh", decode_general<FloatOp::kTanh, 1>}, {"rsqrt", decode_general<FloatOp::kRsqrt, 1>},
    {"setp", decode_setp},                         {"set", decode_set},                         {"testp", decode_testp},
    {"copysign", decode_copysign},
};

}  // namespace

std::span<const Row> general_float_rows() { return kRows; }

}  // namespace warpcheck::ptx
