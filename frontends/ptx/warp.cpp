// Instructions that the lanes of a warp run together: shuffles, votes, elect, match, redux and bar.warp.sync.
//
// A fragment that holds all lanes of the mask runs the instruction at once. Else its lanes arrive at a rendezvous of this
// instruction and mask and wait there; the fragment that comes last takes in the others. They order control, not memory,
// but for bar.warp.sync, which always goes through the rendezvous, since that joins the clocks of its lanes.
#include <fmt/format.h>

#include <algorithm>

#include "frontends/ptx/collective.h"
#include "frontends/ptx/decode.h"
#include "frontends/ptx/rounds.h"
#include "frontends/ptx/visible.h"

namespace warpcheck::ptx {
namespace {

enum class Collective : uint8_t {
  kShflUp, kShflDown, kShflBfly, kShflIdx, kAll, kAny, kUni, kBallot, kElect, kMatchAny, kMatchAll, kReduxAdd, kReduxMinU,
  kReduxMinS, kReduxMaxU, kReduxMaxS, kReduxAnd, kReduxOr, kReduxXor, kSync,
};

// One instruction with its lanes together: `members` are those of the mask that exist.
class Together {
 public:
  Together(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask members)
      : interpreter_(interpreter), fragment_(fragment), code_(code), warp_(*fragment.warp), members_(members) {}

  void run() {
    const auto which = static_cast<Collective>(code_.mode);
    if (which <= Collective::kShflIdx) shuffle(which);
    else if (which <= Collective::kBallot) vote(which);
    else if (which == Collective::kElect) elect();
    else if (which <= Collective::kMatchAll) match(which);
    else if (which <= Collective::kReduxXor) reduce(which);
  }

 private:
  void set(size_t to, uint32_t lane, uint64_t value) {
    if (code_.to[to] != kNone) warp_.slots[code_.to[to]].lane[lane] = value;
  }

  void unmark(size_t to) {
    if (code_.to[to] != kNone) mark(warp_, code_.to[to], members_, 0, 0, kNoSite);
  }

  // from: value, lane or offset, clamp and segment mask. A lane beyond its segment reads its own value, with p false.
  void shuffle(Collective which) {
    const Source& value = code_.from[0];
    std::array<uint64_t, 32> before{};
    LaneMask uninitialized = 0, opaque = 0, was_uninitialized = 0, was_opaque = 0;
    SiteId origin = kNoSite;
    if (value.slot != kNone) {
      was_uninitialized = warp_.slots[value.slot].uninitialized;
      was_opaque = warp_.slots[value.slot].opaque;
      origin = warp_.slots[value.slot].origin;
    }
    each_lane(members_, [&](uint32_t lane) { before[lane] = value_of(warp_, value, lane) & 0xffffffffU; });
    LaneMask missing = 0;
    std::array<uint64_t, 32> made{};
    LaneMask inside_lanes = 0;
    each_lane(members_, [&](uint32_t lane) {
      bool inside = false;
      uint32_t from = source_lane(which, lane, inside);
      if (!inside) from = lane;
      if ((members_ >> from & 1) == 0) {
        missing |= 1U << lane;
        from = lane;
      }
      made[lane] = before[from];
      if (inside) inside_lanes |= 1U << lane;
      uninitialized |= (was_uninitialized >> from & 1) << lane;
      opaque |= (was_opaque >> from & 1) << lane;
    });
    each_lane(members_, [&](uint32_t lane) {
      set(0, lane, made[lane]);
      set(1, lane, inside_lanes >> lane & 1);
    });
    if (code_.to[0] != kNone) mark(warp_, code_.to[0], members_, uninitialized, opaque, origin);
    unmark(1);
    if (missing != 0) {
      interpreter_.report(fragment_, missing, code_, FindingKind::kDivergence, "read",
                          fmt::format("mask {:#010x}", members_), "reads the value of a lane that the mask does not name");
    }
  }

  // PTX ISA, shfl.sync: the segment mask fixes the upper bits of the lane, the clamp value bounds the rest.
  uint32_t source_lane(Collective which, uint32_t lane, bool& inside) const {
    const auto b = static_cast<uint32_t>(value_of(warp_, code_.from[1], lane)) & 0x1f;
    const auto c = static_cast<uint32_t>(value_of(warp_, code_.from[2], lane));
    const uint32_t clamp = c & 0x1f, segment = c >> 8 & 0x1f;
    const uint32_t highest = (lane & segment) | (clamp & ~segment & 0x1f), lowest = lane & segment;
    switch (which) {
      case Collective::kShflUp: {
        const int from = static_cast<int>(lane) - static_cast<int>(b);
        inside = from >= static_cast<int>(highest);
        return inside ? static_cast<uint32_t>(from) : lane;
      }
      case Collective::kShflDown:
        inside = lane + b <= highest;
        return lane + b;
      case Collective::kShflBfly:
        inside = (lane ^ b) <= highest;
        return lane ^ b;
      default: {
        const uint32_t from = lowest | (b & ~segment & 0x1f);
        inside = from <= highest;
        return from;
      }
    }
  }

  void vote(Collective which) {
    LaneMask yes = 0;
    each_lane(members_, [&](uint32_t lane) {
      if (((value_of(warp_, code_.from[0], lane) & 1) != 0) != code_.from[0].negated) yes |= 1U << lane;
    });
    const uint64_t result = which == Collective::kBallot ? yes
                            : which == Collective::kAll  ? (yes == members_ ? 1 : 0)
                            : which == Collective::kAny  ? (yes != 0 ? 1 : 0)
                                                         : (yes == 0 || yes == members_ ? 1 : 0);
    each_lane(members_, [&](uint32_t lane) { set(0, lane, result); });
    unmark(0);
  }

  void elect() {
    const auto leader = static_cast<uint32_t>(__builtin_ctz(members_));
    each_lane(members_, [&](uint32_t lane) {
      set(0, lane, leader);
      set(1, lane, lane == leader ? 1 : 0);
    });
    unmark(0);
    unmark(1);
  }

  uint64_t value(uint32_t lane) const {
    const uint64_t bits = value_of(warp_, code_.from[0], lane);
    return code_.bytes == 8 ? bits : bits & 0xffffffffU;
  }

  void match(Collective which) {
    std::array<LaneMask, 32> equal{};
    bool all = true;
    each_lane(members_, [&](uint32_t lane) {
      each_lane(members_, [&](uint32_t other) { equal[lane] |= value(lane) == value(other) ? 1U << other : 0; });
      all &= equal[lane] == members_;
    });
    each_lane(members_, [&](uint32_t lane) {
      set(0, lane, which == Collective::kMatchAny ? equal[lane] : all ? members_ : 0);
      set(1, lane, all ? 1 : 0);
    });
    unmark(0);
    unmark(1);
  }

  void reduce(Collective which) {
    auto made = static_cast<uint32_t>(value(static_cast<uint32_t>(__builtin_ctz(members_))));
    each_lane(members_ & (members_ - 1), [&](uint32_t lane) {
      const auto next = static_cast<uint32_t>(value(lane));
      switch (which) {
        case Collective::kReduxAdd: made += next; break;
        case Collective::kReduxMinU: made = std::min(made, next); break;
        case Collective::kReduxMaxU: made = std::max(made, next); break;
        case Collective::kReduxMinS: made = static_cast<int32_t>(next) < static_cast<int32_t>(made) ? next : made; break;
        case Collective::kReduxMaxS: made = static_cast<int32_t>(next) > static_cast<int32_t>(made) ? next : made; break;
        case Collective::kReduxAnd: made &= next; break;
        case Collective::kReduxOr: made |= next; break;
        default: made ^= next; break;
      }
    });
    each_lane(members_, [&](uint32_t lane) { set(0, lane, made); });
    unmark(0);
  }

  Interpreter& interpreter_;
  Fragment& fragment_;
  const Code& code_;
  Warp& warp_;
  const LaneMask members_;
};

const Source& mask_of(const Code& code) { return code.from[3]; }

enum Stage : uint32_t { kFresh, kArrived, kWaited };

// Rendezvous of one instruction and mask have an object of their own: lanes that name each other at different
// instructions never meet.
ObjectId rendezvous(Interpreter& interpreter, const Fragment& fragment, const Code& code, LaneMask members) {
  constexpr uint32_t kBehindBarriers = 16;
  const uint32_t warps = interpreter.kernel().shape.warps();
  const uint32_t id = (index(code.site) * warps + fragment.warp->number) * 32 + static_cast<uint32_t>(__builtin_ctz(members));
  return interpreter.machine().named_barrier(fragment.warp->block, kBehindBarriers + id);
}

Flow finish(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask members) {
  // What the lanes exchange is read here, whatever becomes of it.
  const auto exchanged = [&](const Source& source) {
    interpreter.note_effect(*fragment.warp, source, members);
    interpreter.settle_pending(fragment, code, source, members, "operand");
  };
  for (const Source& source : code.from) exchanged(source);
  for (const Source& source : code.from_vector) exchanged(source);
  if (code.together != nullptr) return code.together(interpreter, fragment, code, members);
  const auto which = static_cast<Collective>(code.mode);
  const bool decides = which >= Collective::kAll && which <= Collective::kBallot;
  if ((decides || which >= Collective::kMatchAny) && which != Collective::kSync &&
      !interpreter.takes_effect(fragment, code, code.from[0], members, "operand")) {
    return Flow::kStop;
  }
  if (which <= Collective::kShflIdx) {
    for (const size_t i : {size_t{1}, size_t{2}}) {
      if (!interpreter.takes_effect(fragment, code, code.from[i], members, "lane")) return Flow::kStop;
    }
  }
  Together(interpreter, fragment, code, members).run();
  return Flow::kNext;
}

// The lanes that name the same mask as the lowest one.
LaneMask agreeing(const Fragment& fragment, const Code& code, LaneMask active, LaneMask& mask) {
  mask = static_cast<LaneMask>(value_of(*fragment.warp, mask_of(code), static_cast<uint32_t>(__builtin_ctz(active))));
  LaneMask made = 0;
  each_lane(active, [&](uint32_t lane) {
    if (static_cast<LaneMask>(value_of(*fragment.warp, mask_of(code), lane)) == mask) made |= 1U << lane;
  });
  return made;
}

Flow run_collective(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask active) {
  GpuMachine& machine = interpreter.machine();
  LaneMask mask = 0;
  const bool syncs = code.together == nullptr && static_cast<Collective>(code.mode) == Collective::kSync;
  if (fragment.stage == kFresh && !interpreter.takes_effect(fragment, code, mask_of(code), active, "lane mask")) return Flow::kStop;
  const LaneMask together = agreeing(fragment, code, active, mask);
  const LaneMask members = mask & fragment.warp->all;
  if (fragment.stage == kFresh) {
    if ((together & ~mask) != 0) {
      interpreter.report(fragment, together & ~mask, code, FindingKind::kDivergence, "wait", fmt::format("mask {:#010x}", mask),
                         "a lane runs this with a mask that does not name it");
      interpreter.give_up(fragment);
      return Flow::kStop;
    }
    if (together == members && !syncs && together == active) return finish(interpreter, fragment, code, members);
    if (!interpreter.isolate(fragment, active) || !interpreter.isolate(fragment, together, true)) return Flow::kJump;
    if (together == members && !syncs) return finish(interpreter, fragment, code, members);
    fragment.object = rendezvous(interpreter, fragment, code, members);
    note_visit(interpreter, fragment, code);
    fragment.stage = kArrived;
    VisibleOp made;
    made.op.kind = OpKind::kBarrierArrive;
    made.op.object = fragment.object;
    made.op.operand = static_cast<uint64_t>(__builtin_popcount(together));
    made.op.bytes = __builtin_popcount(members);
    made.order = syncs ? Order::kRelease : Order::kRelaxed;
    interpreter.post(fragment, code, made);
    return Flow::kStop;
  }
  if (fragment.stage == kArrived) {
    fragment.stage = kWaited;
    fragment.phase = machine.last_outcome(fragment.thread).phase;
    fragment.missing = members;
    if (&interpreter.meet(fragment) != &fragment) return Flow::kStop;
    VisibleOp made;
    made.op.kind = OpKind::kWaitPhase;
    made.op.object = fragment.object;
    made.op.operand = fragment.phase;
    made.order = syncs ? Order::kAcquire : Order::kRelaxed;
    interpreter.post(fragment, code, made);
    return Flow::kStop;
  }
  fragment.waiting = false;
  fragment.missing = 0;
  fragment.stage = kFresh;
  return syncs ? Flow::kNext : finish(interpreter, fragment, code, members);
}

void set_collective(Code& code, Collective which) {
  code.mild = code.meets = true;
  code.mode = static_cast<uint8_t>(which);
  code.control = run_collective;
}

void pair_destination(Decoder& decoder, const Operand& to, Code& code) {
  if (to.kind == OperandKind::kPair) {
    if (to.parts[0].kind != OperandKind::kSink) code.to[0] = decoder.destination(to.parts[0]);
    if (to.parts[1].kind != OperandKind::kSink) code.to[1] = decoder.destination(to.parts[1]);
  } else if (to.kind != OperandKind::kSink) {
    code.to[0] = decoder.destination(to);
  }
}

void decode_shfl(Decoder& decoder, Modifiers& modifiers, Code& code) {
  const Collective which = modifiers.take("up")     ? Collective::kShflUp
                           : modifiers.take("down") ? Collective::kShflDown
                           : modifiers.take("bfly") ? Collective::kShflBfly
                                                    : Collective::kShflIdx;
  modifiers.take("idx");
  if (type_bytes(modifiers.take_type()) != 4 || decoder.operands() != 5) throw NotSupported();
  pair_destination(decoder, decoder.operand(0), code);
  for (size_t i = 0; i < 4; ++i) code.from[i] = decoder.source(i + 1);
  set_collective(code, which);
}

void decode_vote(Decoder& decoder, Modifiers& modifiers, Code& code) {
  const Collective which = modifiers.take("all")   ? Collective::kAll
                           : modifiers.take("any") ? Collective::kAny
                           : modifiers.take("uni") ? Collective::kUni
                                                   : Collective::kBallot;
  modifiers.take("ballot");
  modifiers.take_type();
  pair_destination(decoder, decoder.operand(0), code);
  code.from[0] = decoder.source(1, "pred");
  code.from[3] = decoder.source(2);
  set_collective(code, which);
}

void decode_elect(Decoder& decoder, Modifiers&, Code& code) {
  pair_destination(decoder, decoder.operand(0), code);
  code.from[3] = decoder.source(1);
  set_collective(code, Collective::kElect);
}

void decode_match(Decoder& decoder, Modifiers& modifiers, Code& code) {
  const Collective which = modifiers.take("any") ? Collective::kMatchAny : Collective::kMatchAll;
  modifiers.take("all");
  modifiers.take("sync");
  code.bytes = static_cast<uint8_t>(type_bytes(modifiers.take_type()));
  pair_destination(decoder, decoder.operand(0), code);
  code.from[0] = decoder.source(1);
  code.from[3] = decoder.source(2);
  set_collective(code, which);
}

void decode_redux(Decoder& decoder, Modifiers& modifiers, Code& code) {
  struct Named {
    std::string_view name;
    Collective plain, with_sign;
  };
  static constexpr Named kNames[] = {{"add", Collective::kReduxAdd, Collective::kReduxAdd},
                                     {"min", Collective::kReduxMinU, Collective::kReduxMinS},
                                     {"max", Collective::kReduxMaxU, Collective::kReduxMaxS},
                                     {"and", Collective::kReduxAnd, Collective::kReduxAnd},
                                     {"or", Collective::kReduxOr, Collective::kReduxOr},
                                     {"xor", Collective::kReduxXor, Collective::kReduxXor}};
  const auto* named = std::find_if(std::begin(kNames), std::end(kNames), [&](const Named& n) { return modifiers.take(n.name); });
  if (named == std::end(kNames)) throw NotSupported();
  const std::string_view type = modifiers.take_type();
  if (type != "u32" && type != "s32" && type != "b32") throw NotSupported();
  code.bytes = 4;
  code.to[0] = decoder.destination(0);
  code.from[0] = decoder.source(1);
  code.from[3] = decoder.source(2);
  set_collective(code, type == "s32" ? named->with_sign : named->plain);
}

void decode_warp_sync(Decoder& decoder, Modifiers&, Code& code) {
  code.from[3] = decoder.source(0);
  set_collective(code, Collective::kSync);
}

// Which lanes happen to run together is not defined; those that do.
Flow run_active_mask(Interpreter&, Fragment& fragment, const Code& code, LaneMask active) {
  each_lane(active, [&](uint32_t lane) { fragment.warp->slots[code.to[0]].lane[lane] = fragment.path().lanes; });
  mark(*fragment.warp, code.to[0], active, 0, 0, kNoSite);
  return Flow::kNext;
}

void decode_active_mask(Decoder& decoder, Modifiers& modifiers, Code& code) {
  modifiers.take_type();
  code.to[0] = decoder.destination(0);
  code.control = run_active_mask;
}

constexpr Row kRows[] = {
    {"shfl.sync", decode_shfl},
    {"vote.sync", decode_vote},
    {"elect.sync", decode_elect},
    {"match", decode_match},
    {"redux.sync", decode_redux},
    {"bar.warp.sync", decode_warp_sync},
    {"activemask", decode_active_mask},
};

}  // namespace

std::span<const Row> warp_rows() { return kRows; }

void set_aligned(Code& code, ControlFunction together) {
  code.together = together;
  code.from[3] = Source{kNone, 0xffffffffU};
  code.control = run_collective;
}

std::vector<uint32_t> destinations_of(Decoder& decoder, const Operand& operand) {
  std::vector<uint32_t> made;
  if (operand.kind != OperandKind::kVector) return {decoder.destination(operand)};
  for (const Operand& part : operand.parts) made.push_back(decoder.destination(part));
  return made;
}

std::vector<Source> sources_of(Decoder& decoder, const Operand& operand) {
  std::vector<Source> made;
  if (operand.kind != OperandKind::kVector) return {decoder.source(operand)};
  for (const Operand& part : operand.parts) made.push_back(decoder.source(part));
  return made;
}

}  // namespace warpcheck::ptx
