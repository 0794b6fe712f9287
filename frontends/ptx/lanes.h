// Arithmetic over the lanes of a warp: a scalar operation becomes the LaneFunction that applies it in each active lane and
// passes tags on.
#pragma once

#include <bit>
#include <cmath>
#include <string_view>
#include <type_traits>

#include "frontends/ptx/decode.h"
#include "frontends/ptx/interpreter.h"

namespace warpcheck::ptx {

template <class T>
T unpack(uint64_t bits) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<float>(static_cast<uint32_t>(bits));
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<double>(bits);
  } else if constexpr (std::is_same_v<T, bool>) {
    return (bits & 1) != 0;
  } else {
    return static_cast<T>(bits);
  }
}

template <class T>
uint64_t pack(T value) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<uint32_t>(value);
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<uint64_t>(value);
  } else if constexpr (std::is_same_v<T, bool>) {
    return value ? 1 : 0;
  } else {
    return static_cast<uint64_t>(static_cast<std::make_unsigned_t<T>>(value));
  }
}

// An integer as ld and cvt leave it in a register that may be wider (PTX ISA, "operand size exceeding instruction-type size"):
// signed ones are sign-extended, others zero-extended.
template <class T>
uint64_t widen(T value) {
  if constexpr (std::is_signed_v<T>) return static_cast<uint64_t>(static_cast<int64_t>(value));
  else return static_cast<uint64_t>(value);
}

// .ftz: subnormals become zeros of their sign.
inline float flush(float a) { return std::fpclassify(a) == FP_SUBNORMAL ? std::copysign(0.0F, a) : a; }

// A source's values: one a lane, or the same for all.
class Values {
 public:
  Values(const Warp& warp, const Source& source)
      : at_(source.slot == kNone ? &source.value : warp.slots[source.slot].lane.data()), stride_(source.slot == kNone ? 0 : 1) {}
  uint64_t operator[](uint32_t lane) const { return at_[lane * stride_]; }

 private:
  const uint64_t* at_;
  size_t stride_;
};

struct Tags {
  LaneMask uninitialized = 0, opaque = 0;
  SiteId origin = kNoSite;
  LaneMask followed = 0;
  LoadNode loads = 0;

  void add(const Warp& warp, const Source& source) {
    if (source.slot == kNone) return;
    const Slot& slot = warp.slots[source.slot];
    uninitialized |= slot.uninitialized;
    opaque |= slot.opaque;
    if (slot.uninitialized != 0) origin = slot.origin;
    if (slot.followed != 0) {
      followed |= slot.followed;
      loads = warp.loads->join(loads, slot.loads);
    }
    if (slot.pending != 0) add_pending(warp, slot);
  }
  // `moved`: the result is the source's value as it is, and pending just as long.
  void set(Warp& warp, uint32_t to, LaneMask lanes, bool moved = false) const {
    mark(warp, to, lanes, uninitialized, opaque, origin, followed, loads);
    if ((pending & lanes) != 0) set_pending(warp, to, lanes, moved);
  }

  LaneMask pending = 0;
  uint32_t ticket = 0;
  bool stale = false;

 private:
  void add_pending(const Warp& warp, const Slot& slot) {
    const LaneMask lanes = pending_lanes(warp, slot);
    if (lanes == 0) return;
    pending |= lanes;
    ticket = slot.ticket;
    stale |= slot.stale;
  }
  void set_pending(Warp& warp, uint32_t to, LaneMask lanes, bool moved) const {
    Slot& slot = warp.slots[to];
    slot.pending |= pending & lanes;
    slot.ticket = ticket;
    slot.stale = stale || !moved;
    slot.target = false;
    if (moved && !stale) slot.epoch = 0;
  }
};

// to[0] = Op::apply(from[0], ..., from[N - 1]), all of type T.
template <class Op, class T, int N>
void apply(Warp& warp, const Code& code, LaneMask lanes) {
  Tags tags;
  for (int i = 0; i < N; ++i) tags.add(warp, code.from[static_cast<size_t>(i)]);
  const Values a(warp, code.from[0]), b(warp, code.from[1]), c(warp, code.from[2]);
  auto& to = warp.slots[code.to[0]].lane;
  each_lane(lanes, [&](uint32_t lane) {
    if constexpr (N == 1) to[lane] = pack(Op::apply(unpack<T>(a[lane])));
    if constexpr (N == 2) to[lane] = pack(Op::apply(unpack<T>(a[lane]), unpack<T>(b[lane])));
    if constexpr (N == 3) to[lane] = pack(Op::apply(unpack<T>(a[lane]), unpack<T>(b[lane]), unpack<T>(c[lane])));
  });
  tags.set(warp, code.to[0], lanes, requires { Op::kMoves; });
}

// The instance for an integer type; nullptr for other types. `b` types count as unsigned.
template <class Op, int N>
LaneFunction integer_function(std::string_view type) {
  if (type == "u16" || type == "b16") return apply<Op, uint16_t, N>;
  if (type == "s16") return apply<Op, int16_t, N>;
  if (type == "u32" || type == "b32") return apply<Op, uint32_t, N>;
  if (type == "s32") return apply<Op, int32_t, N>;
  if (type == "u64" || type == "b64") return apply<Op, uint64_t, N>;
  if (type == "s64") return apply<Op, int64_t, N>;
  return nullptr;
}

template <class Op, int N>
LaneFunction float_function(std::string_view type) {
  if (type == "f32") return apply<Op, float, N>;
  if (type == "f64") return apply<Op, double, N>;
  return nullptr;
}

// to[0] and the operands 1..N, of one type.
inline void operands_of(Decoder& decoder, Code& code, size_t count, std::string_view type) {
  if (decoder.operands() != count + 1) throw NotSupported();
  code.to[0] = decoder.destination(0);
  for (size_t i = 0; i < count; ++i) code.from[i] = decoder.source(i + 1, type);
}

}  // namespace warpcheck::ptx
