// Moves, selections, comparisons and conversions of addresses.
#include <cmath>

#include "frontends/ptx/address_map.h"
#include "frontends/ptx/lanes.h"

namespace warpcheck::ptx {
namespace {

struct Same {
  static constexpr bool kMoves = true;
  template <class T>
  static T apply(T a) { return a; }
};

LaneFunction bits_function(std::string_view type) {
  switch (type_bytes(type)) {
    case 1: return type == "pred" ? apply<Same, bool, 1> : apply<Same, uint8_t, 1>;
    case 2: return apply<Same, uint16_t, 1>;
    case 4: return apply<Same, uint32_t, 1>;
    case 8: return apply<Same, uint64_t, 1>;
    default: throw NotSupported();
  }
}

// mov.b64 %rd, {%r1, %r2}: the first element is the lowest.
void pack_vector(Warp& warp, const Code& code, LaneMask lanes) {
  Tags tags;
  for (const Source& source : code.from_vector) tags.add(warp, source);
  auto& to = warp.slots[code.to[0]].lane;
  const unsigned bits = 8U * code.bytes;
  each_lane(lanes, [&](uint32_t lane) {
    uint64_t made = 0;
    for (size_t i = 0; i < code.from_vector.size(); ++i) {
      made |= (value_of(warp, code.from_vector[i], lane) & ((uint64_t{1} << bits) - 1)) << (bits * i);
    }
    to[lane] = made;
  });
  tags.set(warp, code.to[0], lanes, true);
}

void unpack_vector(Warp& warp, const Code& code, LaneMask lanes) {
  Tags tags;
  tags.add(warp, code.from[0]);
  const unsigned bits = 8U * code.bytes;
  each_lane(lanes, [&](uint32_t lane) {
    const uint64_t value = value_of(warp, code.from[0], lane);
    for (size_t i = 0; i < code.to_vector.size(); ++i) {
      warp.slots[code.to_vector[i]].lane[lane] = value >> (bits * i) & ((uint64_t{1} << bits) - 1);
    }
  });
  for (const uint32_t to : code.to_vector) tags.set(warp, to, lanes, true);
}

void decode_mov(Decoder& decoder, Modifiers& modifiers, Code& code) {
  const std::string_view type = modifiers.take_type();
  if (decoder.operands() != 2) throw NotSupported();
  const Operand& to = decoder.operand(0);
  const Operand& from = decoder.operand(1);
  if (to.kind == OperandKind::kVector || from.kind == OperandKind::kVector) {
    const Operand& vector = to.kind == OperandKind::kVector ? to : from;
    if (vector.parts.empty() || type_bytes(type) > 8 || type_bytes(type) % vector.parts.size() != 0) throw NotSupported();
    code.bytes = static_cast<uint8_t>(type_bytes(type) / vector.parts.size());
    if (code.bytes == 8) throw NotSupported();
    for (const Operand& part : vector.parts) {
      if (&vector == &to) code.to_vector.push_back(decoder.destination(part));
      else code.from_vector.push_back(decoder.source(part));
    }
    if (&vector == &to) code.from[0] = decoder.source(from, type);
    else code.to[0] = decoder.destination(to);
    code.lanes = &vector == &to ? unpack_vector : pack_vector;
    return;
  }
  code.lanes = bits_function(type);
  operands_of(decoder, code, 1, type);
}

void select(Warp& warp, const Code& code, LaneMask lanes) {
  const Values a(warp, code.from[0]), b(warp, code.from[1]), p(warp, code.from[2]);
  LaneMask first = 0;
  each_lane(lanes, [&](uint32_t lane) {
    if ((p[lane] & 1) != 0) first |= 1U << lane;
  });
  // The result's tags are those of what was selected, and of the predicate.
  Tags tags, chosen;
  tags.add(warp, code.from[0]);
  tags.uninitialized &= first;
  tags.opaque &= first;
  chosen.add(warp, code.from[1]);
  tags.uninitialized |= chosen.uninitialized & ~first;
  tags.opaque |= chosen.opaque & ~first;
  tags.pending &= first;
  if ((chosen.pending & ~first) != 0) {
    tags.pending |= chosen.pending & ~first;
    tags.ticket = chosen.ticket;
    tags.stale |= chosen.stale;
  }
  if (chosen.uninitialized != 0) tags.origin = chosen.origin;
  tags.followed = (tags.followed & first) | (chosen.followed & ~first);
  tags.loads = warp.loads->join(tags.loads, chosen.loads);
  tags.add(warp, code.from[2]);
  auto& to = warp.slots[code.to[0]].lane;
  each_lane(lanes, [&](uint32_t lane) { to[lane] = (first >> lane & 1) != 0 ? a[lane] : b[lane]; });
  tags.set(warp, code.to[0], lanes);
}

void decode_selp(Decoder& decoder, Modifiers& modifiers, Code& code) {
  const std::string_view type = modifiers.take_type();
  if (decoder.operands() != 4) throw NotSupported();
  code.to[0] = decoder.destination(0);
  code.from = {decoder.source(1, type), decoder.source(2, type), decoder.source(3, "pred"), Source{}};
  if (code.from[2].negated) std::swap(code.from[0], code.from[1]);
  code.lanes = select;
}

enum Comparison : uint8_t { kEq, kNe, kLt, kLe, kGt, kGe, kNum, kNan };
enum Combination : uint8_t { kAlone, kAnd, kOr, kXor };

constexpr uint8_t kUnordered = 8;  // beside a Comparison: true for NaN

template <class T>
bool compare(uint8_t how, T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    const bool nan = std::isnan(a) || std::isnan(b);
    if ((how & 7) == kNum) return !nan;
    if ((how & 7) == kNan) return nan;
    if (nan) return (how & kUnordered) != 0;
  }
  switch (how & 7) {
    case kEq: return a == b;
    case kNe: return a != b;
    case kLt: return a < b;
    case kLe: return a <= b;
    case kGt: return a > b;
    default: return a >= b;
  }
}

// setp: to[0]|to[1] = compare(from[0], from[1]) combined with from[2]; mode is comparison | combination << 4.
template <class T>
void set_predicate(Warp& warp, const Code& code, LaneMask lanes) {
  const uint8_t how = code.mode & 15;
  const auto combination = static_cast<Combination>(code.mode >> 4);
  Tags tags;
  for (size_t i = 0; i < 3; ++i) tags.add(warp, code.from[i]);
  const Values a(warp, code.from[0]), b(warp, code.from[1]), c(warp, code.from[2]);
  const bool negated = code.from[2].negated, flushes = code.form.flushes;
  const auto read = [&](uint64_t bits) {
    const T value = unpack<T>(bits);
    if constexpr (std::is_same_v<T, float>) return flushes ? flush(value) : value;
    else return value;
  };
  const auto combine = [&](bool result, uint32_t lane) {
    const bool other = ((c[lane] & 1) != 0) != negated;
    switch (combination) {
      case kAnd: return result && other;
      case kOr: return result || other;
      case kXor: return result != other;
      case kAlone: return result;
    }
    return result;
  };
  each_lane(lanes, [&](uint32_t lane) {
    const bool result = compare<T>(how, read(a[lane]), read(b[lane]));
    const bool first = combine(result, lane), second = combine(!result, lane);
    warp.slots[code.to[0]].lane[lane] = first ? code.immediate : 0;
    if (code.to[1] != kNone) warp.slots[code.to[1]].lane[lane] = second ? code.immediate : 0;
  });
  tags.set(warp, code.to[0], lanes);
  if (code.to[1] != kNone) tags.set(warp, code.to[1], lanes);
}

// Takes the comparison and says whether it is one of the unsigned kind (lo, ls, hi, hs).
uint8_t take_comparison(Modifiers& modifiers, bool& unsigned_kind) {
  struct Named {
    std::string_view name;
    uint8_t how;
    bool unsigned_kind;
  };
  static constexpr Named kNames[] = {
      {"eq", kEq, false}, {"ne", kNe, false}, {"lt", kLt, false}, {"le", kLe, false}, {"gt", kGt, false}, {"ge", kGe, false},
      {"lo", kLt, true}, {"ls", kLe, true}, {"hi", kGt, true}, {"hs", kGe, true},
      {"equ", kEq | kUnordered, false}, {"neu", kNe | kUnordered, false}, {"ltu", kLt | kUnordered, false},
      {"leu", kLe | kUnordered, false}, {"gtu", kGt | kUnordered, false}, {"geu", kGe | kUnordered, false},
      {"num", kNum, false}, {"nan", kNan, false}};
  for (const Named& named : kNames) {
    if (!modifiers.take(named.name)) continue;
    unsigned_kind = named.unsigned_kind;
    return named.how;
  }
  throw NotSupported();
}

LaneFunction comparison_function(std::string_view type, bool unsigned_kind) {
  const uint32_t bytes = type_bytes(type);
  if (type == "f32") return set_predicate<float>;
  if (type == "f64") return set_predicate<double>;
  if (type[0] == 's' && !unsigned_kind) {
    return bytes == 2 ? set_predicate<int16_t> : bytes == 4 ? set_predicate<int32_t> : set_predicate<int64_t>;
  }
  if (type[0] == 'u' || type[0] == 'b' || type[0] == 's') {
    if (type.starts_with("bf")) throw NotSupported();
    return bytes == 2 ? set_predicate<uint16_t> : bytes == 4 ? set_predicate<uint32_t> : set_predicate<uint64_t>;
  }
  throw NotSupported();
}

void take_combination(Decoder& decoder, Modifiers& modifiers, Code& code) {
  const Combination made = modifiers.take("and") ? kAnd : modifiers.take("or") ? kOr : modifiers.take("xor") ? kXor : kAlone;
  if ((made != kAlone) != (decoder.operands() == 4)) throw NotSupported();
  if (made != kAlone) code.from[2] = decoder.source(3, "pred");
  code.mode = static_cast<uint8_t>(code.mode | made << 4);
}

void decode_setp(Decoder& decoder, Modifiers& modifiers, Code& code) {
  bool unsigned_kind = false;
  code.form.flushes = modifiers.take("ftz");
  code.mode = take_comparison(modifiers, unsigned_kind);
  const std::string_view type = modifiers.take_type();
  if (code.form.flushes && type != "f32") throw NotSupported();
  code.lanes = comparison_function(type, unsigned_kind);
  const Operand& to = decoder.operand(0);
  if (to.kind == OperandKind::kPair) {
    code.to = {decoder.destination(to.parts[0]), decoder.destination(to.parts[1])};
  } else {
    code.to[0] = decoder.destination(to);
  }
  code.from[0] = decoder.source(1, type);
  code.from[1] = decoder.source(2, type);
  code.immediate = 1;
  take_combination(decoder, modifiers, code);
}

// set.lt.u32.s32: all ones, or 1.0, for true. The first type is the result's.
void decode_set(Decoder& decoder, Modifiers& modifiers, Code& code) {
  bool unsigned_kind = false;
  code.form.flushes = modifiers.take("ftz");
  code.mode = take_comparison(modifiers, unsigned_kind);
  const std::string_view to = modifiers.take_type(), type = modifiers.take_type();
  if (type_bytes(to) != 4) throw NotSupported();
  if (code.form.flushes && type != "f32") throw NotSupported();
  code.lanes = comparison_function(type, unsigned_kind);
  code.to[0] = decoder.destination(0);
  code.from[0] = decoder.source(1, type);
  code.from[1] = decoder.source(2, type);
  code.immediate = to == "f32" ? 0x3f800000U : 0xffffffffU;
  take_combination(decoder, modifiers, code);
}

// Addresses between a window and the generic space: `immediate` is added.
void convert_address(Warp& warp, const Code& code, LaneMask lanes) {
  Tags tags;
  tags.add(warp, code.from[0]);
  auto& to = warp.slots[code.to[0]].lane;
  const uint64_t window = code.immediate;
  each_lane(lanes, [&](uint32_t lane) {
    const uint64_t address = value_of(warp, code.from[0], lane);
    to[lane] = code.mode == 0 ? address + (in_window(address, window) ? 0 : window)          // into the generic space
                              : address - (in_window(address, window) ? window : uint64_t{0});  // out of it
  });
  tags.set(warp, code.to[0], lanes);
}

// Global and constant addresses are generic ones; the other spaces have a window each.
void decode_cvta(Decoder& decoder, Modifiers& modifiers, Code& code) {
  code.mode = modifiers.take("to") ? 1 : 0;
  if (modifiers.take("shared") || modifiers.take("shared::cta") || modifiers.take("shared::cluster")) code.immediate = kSharedWindow;
  else if (modifiers.take("local")) code.immediate = kLocalWindow;
  else if (modifiers.take("param") || modifiers.take("param::entry")) code.immediate = kParamWindow;
  else if (!modifiers.take("global") && !modifiers.take("const")) throw NotSupported();
  const std::string_view type = modifiers.take_type();
  operands_of(decoder, code, 1, type);
  code.lanes = code.immediate == 0 ? bits_function(type) : convert_address;
}

void is_in_space(Warp& warp, const Code& code, LaneMask lanes) {
  Tags tags;
  tags.add(warp, code.from[0]);
  auto& to = warp.slots[code.to[0]].lane;
  each_lane(lanes, [&](uint32_t lane) {
    const uint64_t address = value_of(warp, code.from[0], lane);
    const uint64_t offset = address - code.immediate;
    to[lane] = in_window(address, code.immediate) && (code.mode == 0 || offset >> kRankShift == 0) ? 1 : 0;
  });
  tags.set(warp, code.to[0], lanes);
}

void decode_isspacep(Decoder& decoder, Modifiers& modifiers, Code& code) {
  if (modifiers.take("global")) code.immediate = kGlobalWindow;
  else if (modifiers.take("local")) code.immediate = kLocalWindow;
  else if (modifiers.take("param") || modifiers.take("param::entry")) code.immediate = kParamWindow;
  else if (modifiers.take("shared::cluster")) code.immediate = kSharedWindow;
  else if (modifiers.take("shared") || modifiers.take("shared::cta")) {
    code.immediate = kSharedWindow;
    code.mode = 1;
  } else {
    throw NotSupported();
  }
  operands_of(decoder, code, 1, "u64");
  code.lanes = is_in_space;
}

// mapa: the same variable in the block of another rank. 32-bit addresses are shared ones, 64-bit ones generic or shared.
void map_address(Warp& warp, const Code& code, LaneMask lanes) {
  Tags tags;
  tags.add(warp, code.from[0]);
  tags.add(warp, code.from[1]);
  auto& to = warp.slots[code.to[0]].lane;
  each_lane(lanes, [&](uint32_t lane) {
    const uint64_t address = value_of(warp, code.from[0], lane);
    const uint64_t rank = value_of(warp, code.from[1], lane) & 0xff;
    const uint64_t cleared = address & ~(uint64_t{0xff} << kRankShift);
    to[lane] = (cleared | (rank + 1) << kRankShift) & (code.bytes == 4 ? 0xffffffffU : ~uint64_t{0});
  });
  tags.set(warp, code.to[0], lanes);
}

void decode_mapa(Decoder& decoder, Modifiers& modifiers, Code& code) {
  modifiers.take("shared::cluster");
  const std::string_view type = modifiers.take_type();
  code.bytes = static_cast<uint8_t>(type_bytes(type));
  operands_of(decoder, code, 2, type);
  code.lanes = map_address;
}

constexpr Row kRows[] = {
    {"mov", decode_mov},   {"selp", decode_selp},         {"setp", decode_setp}, {"set", decode_set},
    {"cvta", decode_cvta}, {"isspacep", decode_isspacep}, {"mapa", decode_mapa},
};

}  // namespace

std::span<const Row> move_rows() { return kRows; }

}  // namespace warpcheck::ptx
