// Integer arithmetic: exact in all widths.
#include <algorithm>
#include <limits>

#include "frontends/ptx/lanes.h"

namespace warpcheck::ptx {
namespace {

template <class T>
using Unsigned = std::make_unsigned_t<T>;

// Wraps: computed without sign in 64 bits, cut to the width.
template <class T>
T wrap(uint64_t value) {
  return static_cast<T>(static_cast<Unsigned<T>>(value));
}

struct Add {
  template <class T>
  static T apply(T a, T b) { return wrap<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); }
};
struct Sub {
  template <class T>
  static T apply(T a, T b) { return wrap<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b)); }
};
struct MulLo {
  template <class T>
  static T apply(T a, T b) { return wrap<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b)); }
};
__extension__ using Wide = __int128;

struct MulHi {
  template <class T>
  static T apply(T a, T b) {
    const Wide product = static_cast<Wide>(a) * static_cast<Wide>(b);
    return wrap<T>(static_cast<uint64_t>(product >> (8 * sizeof(T))));
  }
};
struct MulWide {  // 16 and 32 bits
  template <class T>
  static uint64_t apply(T a, T b) {
    const uint64_t product = static_cast<uint64_t>(a) * static_cast<uint64_t>(b);
    return sizeof(T) == 2 ? static_cast<uint32_t>(product) : product;
  }
};
struct MadLo {
  template <class T>
  static T apply(T a, T b, T c) { return Add::apply(MulLo::apply(a, b), c); }
};
struct MadHi {
  template <class T>
  static T apply(T a, T b, T c) { return Add::apply(MulHi::apply(a, b), c); }
};
struct Div {
  template <class T>
  static T apply(T a, T b) {
    if (b == 0) return static_cast<T>(-1);
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return Sub::apply(T{0}, a);
    return static_cast<T>(a / b);
  }
};
struct Rem {
  template <class T>
  static T apply(T a, T b) {
    if (b == 0) return a;
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return 0;
    return static_cast<T>(a % b);
  }
};
struct Min {
  template <class T>
  static T apply(T a, T b) { return std::min(a, b); }
};
struct Max {
  template <class T>
  static T apply(T a, T b) { return std::max(a, b); }
};
struct Neg {
  template <class T>
  static T apply(T a) { return Sub::apply(T{0}, a); }
};
struct Abs {
  template <class T>
  static T apply(T a) { return a < 0 ? Sub::apply(T{0}, a) : a; }
};
struct And {
  template <class T>
  static T apply(T a, T b) { return static_cast<T>(a & b); }
};
struct Or {
  template <class T>
  static T apply(T a, T b) { return static_cast<T>(a | b); }
};
struct Xor {
  template <class T>
  static T apply(T a, T b) { return static_cast<T>(a ^ b); }
};
struct Not {
  template <class T>
  static T apply(T a) {
    if constexpr (std::is_same_v<T, bool>) return !a;
    else return static_cast<T>(~a);
  }
};
struct Cnot {
  template <class T>
  static T apply(T a) { return a == 0 ? 1 : 0; }
};
struct Popc {
  template <class T>
  static uint32_t apply(T a) { return static_cast<uint32_t>(std::popcount(static_cast<Unsigned<T>>(a))); }
};
struct Clz {
  template <class T>
  static uint32_t apply(T a) { return static_cast<uint32_t>(std::countl_zero(static_cast<Unsigned<T>>(a))); }
};
struct Brev {
  template <class T>
  static T apply(T a) {
    T made = 0;
    for (unsigned i = 0; i < 8 * sizeof(T); ++i) made = static_cast<T>(made | static_cast<T>((static_cast<Unsigned<T>>(a) >> i & 1U) << (8 * sizeof(T) - 1 - i)));
    return made;
  }
};
struct Bfind {
  template <class T>
  static uint32_t apply(T a) {
    if (a < 0) a = static_cast<T>(~a);
    const auto zeros = static_cast<uint32_t>(std::countl_zero(static_cast<Unsigned<T>>(a)));
    return static_cast<uint32_t>(8 * sizeof(T)) - 1 - zeros;  // none set: 0xffffffff
  }
};
struct Bfe {
  template <class T>
  static T apply(T a, T at, T length) {
    constexpr unsigned kBits = 8 * sizeof(T);
    const unsigned position = static_cast<unsigned>(at) & 0xff, count = static_cast<unsigned>(length) & 0xff;
    const bool sign = std::is_signed_v<T> && count != 0 && (a >> std::min(position + count - 1, kBits - 1) & 1) != 0;
    Unsigned<T> made = 0;
    for (unsigned i = 0; i < kBits; ++i) {
      const unsigned from = position + i;
      const bool bit = i < count && from < kBits ? (static_cast<Unsigned<T>>(a) >> from & 1U) != 0 : sign;
      made = static_cast<Unsigned<T>>(made | static_cast<Unsigned<T>>(static_cast<Unsigned<T>>(bit) << i));
    }
    return static_cast<T>(made);
  }
};

// Shifts beyond the width leave zeros, or the sign; the count has 32 bits whatever the type.
template <class T>
void shift_left(Warp& warp, const Code& code, LaneMask lanes) {
  Tags tags;
  tags.add(warp, code.from[0]);
  tags.add(warp, code.from[1]);
  const Values a(warp, code.from[0]), b(warp, code.from[1]);
  auto& to = warp.slots[code.to[0]].lane;
  each_lane(lanes, [&](uint32_t lane) {
    const auto count = static_cast<uint32_t>(b[lane]);
    to[lane] = count >= 8 * sizeof(T) ? 0 : pack(wrap<T>(static_cast<uint64_t>(unpack<T>(a[lane])) << count));
  });
  tags.set(warp, code.to[0], lanes);
}

template <class T>
void shift_right(Warp& warp, const Code& code, LaneMask lanes) {
  Tags tags;
  tags.add(warp, code.from[0]);
  tags.add(warp, code.from[1]);
  const Values a(warp, code.from[0]), b(warp, code.from[1]);
  auto& to = warp.slots[code.to[0]].lane;
  each_lane(lanes, [&](uint32_t lane) {
    const auto count = std::min<uint32_t>(static_cast<uint32_t>(b[lane]), 8 * sizeof(T) - (std::is_signed_v<T> ? 1 : 0));
    const T value = unpack<T>(a[lane]);
    to[lane] = count >= 8 * sizeof(T) ? 0 : pack(static_cast<T>(value >> count));
  });
  tags.set(warp, code.to[0], lanes);
}

template <class Op, int N>
void decode_integer(Decoder& decoder, Modifiers& modifiers, Code& code) {
  const std::string_view type = modifiers.take_type();
  code.lanes = integer_function<Op, N>(type);
  if (code.lanes == nullptr) throw NotSupported();
  operands_of(decoder, code, N, type);
}

template <class Op, int N>
void decode_logic(Decoder& decoder, Modifiers& modifiers, Code& code) {
  const std::string_view type = modifiers.take_type();
  code.lanes = type == "pred" ? apply<Op, bool, N> : integer_function<Op, N>(type);
  if (code.lanes == nullptr) throw NotSupported();
  operands_of(decoder, code, N, type);
}

void decode_mul_wide(Decoder& decoder, Modifiers& modifiers, Code& code) {
  const std::string_view type = modifiers.take_type();
  if (type_bytes(type) > 4) throw NotSupported();
  code.lanes = integer_function<MulWide, 2>(type);
  operands_of(decoder, code, 2, type);
}

template <class T, class Sum>
void mad_wide(Warp& warp, const Code& code, LaneMask lanes) {
  Tags tags;
  for (size_t i = 0; i < 3; ++i) tags.add(warp, code.from[i]);
  const Values a(warp, code.from[0]), b(warp, code.from[1]), c(warp, code.from[2]);
  auto& to = warp.slots[code.to[0]].lane;
  each_lane(lanes, [&](uint32_t lane) {
    to[lane] = static_cast<Sum>(MulWide::apply(unpack<T>(a[lane]), unpack<T>(b[lane])) + c[lane]);
  });
  tags.set(warp, code.to[0], lanes);
}

void decode_mad_wide(Decoder& decoder, Modifiers& modifiers, Code& code) {
  const std::string_view type = modifiers.take_type();
  code.lanes = type == "u32" ? mad_wide<uint32_t, uint64_t>
               : type == "s32" ? mad_wide<int32_t, uint64_t>
               : type == "u16" ? mad_wide<uint16_t, uint32_t>
               : type == "s16" ? mad_wide<int16_t, uint32_t>
                               : nullptr;
  if (code.lanes == nullptr) throw NotSupported();
  operands_of(decoder, code, 3, type);
}

void decode_shl(Decoder& decoder, Modifiers& modifiers, Code& code) {
  const std::string_view type = modifiers.take_type();
  const uint32_t bytes = type_bytes(type);
  code.lanes = bytes == 2 ? shift_left<uint16_t> : bytes == 4 ? shift_left<uint32_t> : shift_left<uint64_t>;
  operands_of(decoder, code, 2, type);
}

void decode_shr(Decoder& decoder, Modifiers& modifiers, Code& code) {
  const std::string_view type = modifiers.take_type();
  const uint32_t bytes = type_bytes(type);
  if (type[0] == 's') {
    code.lanes = bytes == 2 ? shift_right<int16_t> : bytes == 4 ? shift_right<int32_t> : shift_right<int64_t>;
  } else {
    code.lanes = bytes == 2 ? shift_right<uint16_t> : bytes == 4 ? shift_right<uint32_t> : shift_right<uint64_t>;
  }
  operands_of(decoder, code, 2, type);
}

template <class F>
void each_of_three(Warp& warp, const Code& code, LaneMask lanes, F&& f) {
  Tags tags;
  for (size_t i = 0; i < 4; ++i) tags.add(warp, code.from[i]);
  const Values a(warp, code.from[0]), b(warp, code.from[1]), c(warp, code.from[2]), d(warp, code.from[3]);
  auto& to = warp.slots[code.to[0]].lane;
  each_lane(lanes, [&](uint32_t lane) { to[lane] = f(a[lane], b[lane], c[lane], d[lane]); });
  tags.set(warp, code.to[0], lanes);
}

template <class T>
void bit_insert(Warp& warp, const Code& code, LaneMask lanes) {
  each_of_three(warp, code, lanes, [](uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    constexpr uint64_t kBits = 8 * sizeof(T);
    const uint64_t at = c & 0xff, count = std::min(d & 0xff, at < kBits ? kBits - at : 0);
    const uint64_t field = count >= 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
    return count == 0 ? uint64_t{static_cast<T>(b)} : uint64_t{static_cast<T>((b & ~(field << at)) | ((a & field) << at))};
  });
}

void decode_bfi(Decoder& decoder, Modifiers& modifiers, Code& code) {
  const std::string_view type = modifiers.take_type();
  code.lanes = type_bytes(type) == 4 ? bit_insert<uint32_t> : bit_insert<uint64_t>;
  operands_of(decoder, code, 4, type);
}

void lop3(Warp& warp, const Code& code, LaneMask lanes) {
  const uint64_t table = code.immediate;
  each_of_three(warp, code, lanes, [table](uint64_t a, uint64_t b, uint64_t c, uint64_t) {
    uint64_t made = 0;
    for (unsigned row = 0; row < 8; ++row) {
      if ((table >> row & 1) == 0) continue;
      made |= ((row & 4) != 0 ? a : ~a) & ((row & 2) != 0 ? b : ~b) & ((row & 1) != 0 ? c : ~c);
    }
    return made & 0xffffffffU;
  });
}

void decode_lop3(Decoder& decoder, Modifiers& modifiers, Code& code) {
  const std::string_view type = modifiers.take_type();
  if (type != "b32" || decoder.operands() != 5) throw NotSupported();
  code.to[0] = decoder.destination(0);
  for (size_t i = 0; i < 3; ++i) code.from[i] = decoder.source(i + 1, type);
  code.immediate = decoder.source(4).value;
  code.lanes = lop3;
}

void permute(Warp& warp, const Code& code, LaneMask lanes) {
  each_of_three(warp, code, lanes, [](uint64_t a, uint64_t b, uint64_t c, uint64_t) {
    const uint64_t all = (b << 32) | (a & 0xffffffffU);
    uint64_t made = 0;
    for (unsigned i = 0; i < 4; ++i) {
      const uint64_t select = c >> (4 * i) & 0xf;
      uint64_t byte = all >> (8 * (select & 7)) & 0xff;
      if ((select & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0;
      made |= byte << (8 * i);
    }
    return made;
  });
}

void decode_prmt(Decoder& decoder, Modifiers& modifiers, Code& code) {
  const std::string_view type = modifiers.take_type();
  operands_of(decoder, code, 3, type);
  code.lanes = permute;
}

template <bool kLeft>
void funnel_shift(Warp& warp, const Code& code, LaneMask lanes) {
  const bool wraps = code.mode != 0;
  each_of_three(warp, code, lanes, [wraps](uint64_t a, uint64_t b, uint64_t c, uint64_t) {
    const uint64_t all = (b << 32) | (a & 0xffffffffU);
    const uint64_t count = wraps ? c & 31 : std::min<uint64_t>(c & 0xffffffffU, 32);
    return kLeft ? (count == 0 ? all >> 32 : all << count >> 32) & 0xffffffffU : (all >> count) & 0xffffffffU;
  });
}

template <bool kLeft>
void decode_shf(Decoder& decoder, Modifiers& modifiers, Code& code) {
  if (modifiers.take("wrap")) code.mode = 1;
  else if (!modifiers.take("clamp")) throw NotSupported();
  operands_of(decoder, code, 3, modifiers.take_type());
  code.lanes = funnel_shift<kLeft>;
}

constexpr Row kRows[] = {
    {"add", decode_integer<Add, 2>},
    {"sub", decode_integer<Sub, 2>},
    {"mul.lo", decode_integer<MulLo, 2>},
    {"mul.hi", decode_integer<MulHi, 2>},
    {"mul.wide", decode_mul_wide},
    {"mad.lo", decode_integer<MadLo, 3>},
    {"mad.hi", decode_integer<MadHi, 3>},
    {"mad.wide", decode_mad_wide},
    {"div", decode_integer<Div, 2>},
    {"rem", decode_integer<Rem, 2>},
    {"min", decode_integer<Min, 2>},
    {"max", decode_integer<Max, 2>},
    {"neg", decode_integer<Neg, 1>},
    {"abs", decode_integer<Abs, 1>},
    {"and", decode_logic<And, 2>},
    {"or", decode_logic<Or, 2>},
    {"xor", decode_logic<Xor, 2>},
    {"not", decode_logic<Not, 1>},
    {"cnot", decode_integer<Cnot, 1>},
    {"shl", decode_shl},
    {"shr", decode_shr},
    {"popc", decode_integer<Popc, 1>},
    {"clz", decode_integer<Clz, 1>},
    {"brev", decode_integer<Brev, 1>},
    {"bfind", decode_integer<Bfind, 1>},
    {"bfe", decode_integer<Bfe, 3>},
    {"bfi", decode_bfi},
    {"lop3", decode_lop3},
    {"prmt", decode_prmt},
    {"shf.l", decode_shf<true>},
    {"shf.r", decode_shf<false>},
};

}  // namespace

std::span<const Row> integer_rows() { return kRows; }

}  // namespace warpcheck::ptx
