// Atomics and reductions. Lanes of one instruction that meet at one word act in one step where their operands can be
// combined and no result is in use; else each becomes a fragment of its own, so that every order is met.
#include "frontends/ptx/memory_operands.h"
#include "frontends/ptx/visible.h"

#include <algorithm>
#include <optional>

namespace warpcheck::ptx {
namespace {

constexpr int kMostContenders = 4;  // 24 orders

uint64_t cut(uint64_t value, uint32_t bytes) { return bytes < 8 ? value & ((uint64_t{1} << (8 * bytes)) - 1) : value; }

int64_t as_signed(uint64_t value, uint32_t bytes) {
  const unsigned unused = 64 - 8 * bytes;
  return static_cast<int64_t>(value << unused) >> unused;
}

// One operand with the effect of both.
std::optional<uint64_t> combined(const Code& code, uint64_t a, uint64_t b) {
  switch (code.rmw) {
    case Rmw::kAdd: return cut(a + b, code.bytes);
    case Rmw::kAnd: return a & b;
    case Rmw::kOr: return a | b;
    case Rmw::kXor: return a ^ b;
    case Rmw::kMinU: return std::min(a, b);
    case Rmw::kMaxU: return std::max(a, b);
    case Rmw::kMinS: return as_signed(a, code.bytes) < as_signed(b, code.bytes) ? a : b;
    case Rmw::kMaxS: return as_signed(a, code.bytes) > as_signed(b, code.bytes) ? a : b;
    case Rmw::kExchange: return a == b ? std::optional<uint64_t>(a) : std::nullopt;
    case Rmw::kNone: case Rmw::kCompareSwap: case Rmw::kIncrement: case Rmw::kDecrement: case Rmw::kAddF32: case Rmw::kAddF64:
    case Rmw::kAddF16: case Rmw::kMinF16: case Rmw::kMaxF16: case Rmw::kAddBf16: case Rmw::kMinBf16: case Rmw::kMaxBf16:
      return std::nullopt;
  }
  return std::nullopt;
}

uint64_t lane_operand(const Fragment& fragment, const Code& code, uint32_t lane) {
  return cut(value_of(*fragment.warp, code.from[code.rmw == Rmw::kCompareSwap ? 1 : 0], lane), code.bytes);
}

std::optional<uint64_t> operand_of(const Fragment& fragment, const Code& code, LaneMask lanes) {
  std::optional<uint64_t> made;
  bool possible = true;
  each_lane(lanes, [&](uint32_t lane) {
    const uint64_t next = lane_operand(fragment, code, lane);
    if (!possible) return;
    made = made ? combined(code, *made, next) : next;
    possible = made.has_value();
  });
  return made;
}

bool commutes(Rmw rmw) { return rmw != Rmw::kExchange && rmw != Rmw::kCompareSwap; }

// Parts lanes whose order matters. True when the groups in `fragment` can act one after another.
std::optional<Flow> part_contenders(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask active) {
  bool single = false;
  for (const Group& group : fragment.groups) {
    const int lanes = __builtin_popcount(group.lanes);
    if (lanes == 1) continue;
    if (code.result_dead && operand_of(fragment, code, group.lanes)) continue;
    if (code.result_dead && commutes(code.rmw)) {
      single = true;
      continue;
    }
    if (lanes > kMostContenders) {
      return interpreter.unsupported(fragment, code, "more than " + std::to_string(kMostContenders) +
                                                         " lanes contend for one word and use the result");
    }
    // The lowest lane of the group acts first or not: the others are threads of their own.
    const LaneMask lowest = group.lanes & (~group.lanes + 1);
    const LaneMask together = active & ~(group.lanes & ~lowest);
    fragment.groups.clear();
    interpreter.isolate(fragment, together, true);
    return Flow::kJump;
  }
  if (single) separate(fragment.groups);
  return std::nullopt;
}

// Whether the atomic found `old` and left it as it was.
bool leaves(const Code& code, uint64_t old, const Fragment& fragment, const Group& group) {
  const auto lane = static_cast<uint32_t>(__builtin_ctz(group.lanes));
  const uint64_t operand = lane_operand(fragment, code, lane);
  if (code.rmw == Rmw::kCompareSwap) return old != cut(value_of(*fragment.warp, code.from[0], lane), code.bytes) || old == operand;
  if (code.rmw == Rmw::kExchange) return old == operand;
  return combined(code, old, operand) == old;
}

Flow run_atomic(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask active) {
  if (fragment.stage == 0) {
    const Begin begin = begin_visible(interpreter, fragment, code, active);
    if (begin != Begin::kRun) return stopped(begin);
    fragment.groups = groups_of(fragment, code.at[0], code.space, active);
    fragment.group = 0;
    if (const auto flow = part_contenders(interpreter, fragment, code, active)) return *flow;
  }
  return each_group(
      fragment,
      [&](const Group& group) {
        const auto place = interpreter.place(fragment, code.space, group.address, code.bytes);
        if (!place.mapped || place.space == MemorySpace::kLocal || place.space == MemorySpace::kParam) {
          report_unmapped(interpreter, fragment, code, group.lanes, group.address, "atomic");
          return false;
        }
        VisibleOp made;
        made.op = interpreter.machine().word_op(code.result_dead && commutes(code.rmw) ? OpKind::kReduce : OpKind::kUpdate, place.range);
        made.op.rmw = code.rmw;
        made.op.operand = operand_of(fragment, code, group.lanes).value_or(0);
        if (code.rmw == Rmw::kCompareSwap) {
          made.op.compare = cut(value_of(*fragment.warp, code.from[0], static_cast<uint32_t>(__builtin_ctz(group.lanes))), code.bytes);
        }
        made.op.releases = code.order == Order::kRelease || code.order == Order::kAcqRel;
        made.order = code.order;
        made.scope = code.scope;
        made.lanes = group.lanes;
        if (fragment.groups.size() == 1 && made.op.kind == OpKind::kUpdate && !wait_if_polling(interpreter, fragment, code, group, made.op)) return true;
        interpreter.post(fragment, code, made);
        return true;
      },
      [&](const Group& group) {
        if (code.to[0] == kNone) return;
        const uint64_t value = interpreter.machine().last_outcome(fragment.thread).result;
        // What changed the word itself is no poll.
        if (leaves(code, value, fragment, group)) remember_poll(fragment, value);
        else end_poll(interpreter, fragment);
        each_lane(group.lanes, [&](uint32_t lane) { fragment.warp->slots[code.to[0]].lane[lane] = value; });
        const Range range = interpreter.place(fragment, code.space, group.address, code.bytes).range;
        mark_word(interpreter, fragment, code, code.to[0], group.lanes, range);
      });
}

Rmw take_operator(Modifiers& modifiers, std::string_view& type) {
  struct Named {
    std::string_view name;
    Rmw rmw;
  };
  static constexpr Named kNames[] = {{"exch", Rmw::kExchange}, {"cas", Rmw::kCompareSwap}, {"add", Rmw::kAdd},
                                     {"min", Rmw::kMinU},      {"max", Rmw::kMaxU},        {"and", Rmw::kAnd},
                                     {"or", Rmw::kOr},         {"xor", Rmw::kXor},         {"inc", Rmw::kIncrement},
                                     {"dec", Rmw::kDecrement}};
  for (const Named& named : kNames) {
    if (!modifiers.take(named.name)) continue;
    type = modifiers.take_type();
    if (type == "f32" && named.rmw == Rmw::kAdd) return Rmw::kAddF32;
    if (type == "f64" && named.rmw == Rmw::kAdd) return Rmw::kAddF64;
    if (type[0] != 'u' && type[0] != 's' && type[0] != 'b') throw NotSupported();
    if (type.starts_with("bf") || type_bytes(type) > 8) throw NotSupported();
    if (type[0] == 's' && named.rmw == Rmw::kMinU) return Rmw::kMinS;
    if (type[0] == 's' && named.rmw == Rmw::kMaxU) return Rmw::kMaxS;
    return named.rmw;
  }
  throw NotSupported();
}

void decode_order(Modifiers& modifiers, Code& code) {
  if (modifiers.take("acq_rel")) code.order = Order::kAcqRel;
  else if (modifiers.take("acquire")) code.order = Order::kAcquire;
  else if (modifiers.take("release")) code.order = Order::kRelease;
  else modifiers.take("relaxed");
  take_scope(modifiers, code);
}

void decode_common(Decoder& decoder, Modifiers& modifiers, Code& code, size_t first) {
  decode_order(modifiers, code);
  code.space = take_space(modifiers);
  take_cache_hints(modifiers);
  modifiers.take("noftz");
  std::string_view type;
  code.rmw = take_operator(modifiers, type);
  code.bytes = static_cast<uint8_t>(type_bytes(type));
  code.at[0] = decoder.address(first);
  code.from[0] = decoder.source(first + 1, type);
  if (code.rmw == Rmw::kCompareSwap) code.from[1] = decoder.source(first + 2, type);
  code.live = decoder.live_registers();
  code.control = run_atomic;
}

void decode_atom(Decoder& decoder, Modifiers& modifiers, Code& code) {
  code.to[0] = decoder.destination(0);
  code.result_dead = decoder.result_dead(decoder.operand(0));
  decode_common(decoder, modifiers, code, 1);
  if (code.order != Order::kRelaxed && code.order != Order::kRelease) code.result_dead = false;  // it acquires
}

void decode_red(Decoder& decoder, Modifiers& modifiers, Code& code) {
  if (modifiers.front() == "async") throw NotSupported();
  code.result_dead = true;
  decode_common(decoder, modifiers, code, 0);
}

constexpr Row kRows[] = {{"atom", decode_atom}, {"red", decode_red}};

}  // namespace

std::span<const Row> atomic_rows() { return kRows; }

}  // namespace warpcheck::ptx
