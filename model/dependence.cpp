#include "model/dependence.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "model/check.h"
#include "model/half.h"

namespace warpcheck {
namespace {

// Parity waits by agents without a bit of their own, and second waits of one agent in a phase, are never covered.
constexpr uint64_t kNeverCovered = uint64_t{1} << 63;

bool is_word(OpKind kind) {
  switch (kind) {
    case OpKind::kLoad:
    case OpKind::kStore:
    case OpKind::kUpdate:
    case OpKind::kReduce:
    case OpKind::kPlainLoad:
    case OpKind::kPlainStore:
      return true;
    case OpKind::kLocal:
    case OpKind::kBarrierInit:
    case OpKind::kBarrierInval:
    case OpKind::kArrive:
    case OpKind::kExpectTx:
    case OpKind::kCompleteTx:
    case OpKind::kWaitPhase:
    case OpKind::kWaitParity:
    case OpKind::kBarrierArrive:
    case OpKind::kBarrierExit:
    case OpKind::kReadDone:
    case OpKind::kCopyDone:
    case OpKind::kWaitRead:
    case OpKind::kWaitGroup:
    case OpKind::kTensorAlloc:
    case OpKind::kTensorFree:
    case OpKind::kTensorRelinquish:
      return false;
  }
  return false;
}

bool is_tensor_memory(OpKind kind) {
  return kind == OpKind::kTensorAlloc || kind == OpKind::kTensorFree || kind == OpKind::kTensorRelinquish;
}

bool is_group(OpKind kind) {
  return kind == OpKind::kReadDone || kind == OpKind::kCopyDone || kind == OpKind::kWaitRead ||
         kind == OpKind::kWaitGroup;
}

uint64_t mask_of(uint8_t size) { return size >= 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * size)) - 1; }

uint64_t read_word(const ObjectState& state, const Operation& op) {
  uint64_t value = 0;
  std::memcpy(&value, reinterpret_cast<const char*>(state.word.data()) + op.begin, std::min<size_t>(op.size, 8));
  return value;
}

void write_word(ObjectState& state, const Operation& op, uint64_t value) {
  std::memcpy(reinterpret_cast<char*>(state.word.data()) + op.begin, &value, std::min<size_t>(op.size, 8));
}

int64_t sign_extend(uint64_t value, uint8_t size) {
  const int shift = 64 - 8 * std::min<int>(size, 8);
  return static_cast<int64_t>(value << shift) >> shift;
}

float as_f32(uint64_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits)); }

// Two operands of 16 bits each step: the word may hold several.
template <class Format, class Combine>
uint64_t by_halves(uint64_t old, uint64_t x, uint8_t size, Combine&& apply) {
  uint64_t made = 0;
  for (unsigned at = 0; at < 8U * size; at += 16) {
    const double result = apply(Format::decode(static_cast<uint32_t>(old >> at & 0xffff)), Format::decode(static_cast<uint32_t>(x >> at & 0xffff)));
    made |= static_cast<uint64_t>(Format::encode(result)) << at;
  }
  return made;
}

double sum(double a, double b) { return a + b; }
double least(double a, double b) { return std::fmin(a, b); }
double most(double a, double b) { return std::fmax(a, b); }

uint64_t combine(const Operation& op, uint64_t old) {
  const uint64_t x = op.operand & mask_of(op.size);
  const int64_t s_old = sign_extend(old, op.size);
  const int64_t s_x = sign_extend(x, op.size);
  switch (op.rmw) {
    case Rmw::kNone: return old;
    case Rmw::kExchange: return x;
    case Rmw::kCompareSwap: return old == (op.compare & mask_of(op.size)) ? x : old;
    case Rmw::kAdd: return (old + x) & mask_of(op.size);
    case Rmw::kMinS: return s_x < s_old ? x : old;
    case Rmw::kMinU: return std::min(old, x);
    case Rmw::kMaxS: return s_x > s_old ? x : old;
    case Rmw::kMaxU: return std::max(old, x);
    case Rmw::kAnd: return old & x;
    case Rmw::kOr: return old | x;
    case Rmw::kXor: return old ^ x;
    case Rmw::kIncrement: return old >= x ? 0 : old + 1;
    case Rmw::kDecrement: return old == 0 || old > x ? x : old - 1;
    case Rmw::kAddF32: return std::bit_cast<uint32_t>(as_f32(old) + as_f32(x));
    case Rmw::kAddF64: return std::bit_cast<uint64_t>(std::bit_cast<double>(old) + std::bit_cast<double>(x));
    case Rmw::kAddF16: return by_halves<Half>(old, x, op.size, sum);
    case Rmw::kMinF16: return by_halves<Half>(old, x, op.size, least);
    case Rmw::kMaxF16: return by_halves<Half>(old, x, op.size, most);
    case Rmw::kAddBf16: return by_halves<Bfloat>(old, x, op.size, sum);
    case Rmw::kMinBf16: return by_halves<Bfloat>(old, x, op.size, least);
    case Rmw::kMaxBf16: return by_halves<Bfloat>(old, x, op.size, most);
  }
  return old;
}

// An update is a read when it leaves the word as it is: a failed compare-and-swap, `add 0`. An exchange always writes,
// and so does an update that releases.
bool update_writes(const Operation& op, uint64_t old, uint64_t now) {
  if (op.rmw == Rmw::kExchange) return true;
  if (op.rmw == Rmw::kCompareSwap) return old == (op.compare & mask_of(op.size));
  return op.releases || now != old;
}

Outcome evaluate_word(const Operation& op, const ObjectState& state) {
  Outcome out{.after = state};
  out.result = read_word(state, op);
  if (op.predicate != nullptr) out.enabled = op.predicate(out.result, op.predicate_operand);
  switch (op.kind) {
    case OpKind::kStore:
    case OpKind::kPlainStore:
      out.effect = Effect::kWrite;
      write_word(out.after, op, op.operand);
      break;
    case OpKind::kUpdate: {
      const uint64_t now = combine(op, out.result);
      out.effect = update_writes(op, out.result, now) ? Effect::kWrite : Effect::kRead;
      write_word(out.after, op, now);
      break;
    }
    case OpKind::kReduce:
      out.effect = Effect::kReduce;
      write_word(out.after, op, combine(op, out.result));
      break;
    default:
      out.effect = Effect::kRead;
      break;
  }
  return out;
}

// A wait that no arrival can be known to follow, for what is known of its agent's bit may mean an earlier wait.
bool second_wait(const Operation& op, const ObjectState& state) {
  const bool known = op.covers_phase == state.phase && (op.covers & op.waiter_bit) != 0;
  return op.waiter_bit == 0 || known || (state.waits & op.waiter_bit) != 0;
}

void complete_if_due(const Operation& op, Outcome& out) {
  ObjectState& s = out.after;
  if (op.covers_phase == s.phase) s.waits &= ~(op.covers & ~kNeverCovered);
  out.in_order = out.in_order || (s.pending == 0 && s.tx < 0);
  if (s.pending != 0 || s.tx != 0) return;
  out.completes = true;
  out.closes = s.waits != 0;
  ++s.phase;
  s.pending = s.expected;
  s.waits = 0;
}

void evaluate_arrive(const Operation& op, Outcome& out) {
  ObjectState& s = out.after;
  const auto wanted = static_cast<int32_t>(op.operand);
  int32_t acting = wanted;
  if (op.splits) acting = std::min(wanted, std::max(s.pending, 1));
  out.overrun = acting > s.pending;
  if (op.drop) s.expected -= acting;
  s.tx += op.bytes;
  out.result = static_cast<uint64_t>(acting);
  if (acting < wanted) out.in_order = true;  // how many act depends on the order: ordered with the whole phase
  if (out.overrun) {
    out.in_order = true;  // misuse: ordered with the whole phase
  } else {
    s.pending -= acting;
  }
  complete_if_due(op, out);
}

void complete_named_if_due(Outcome& out) {
  ObjectState& s = out.after;
  if (s.awaited == 0) return;
  const int32_t needed = s.awaited < 0 ? s.expected : s.awaited;
  if (s.pending < needed) return;
  if (s.pending > needed) out.in_order = true;  // in another order fewer would have completed the phase
  out.completes = true;
  ++s.phase;
  s.pending = 0;
  s.awaited = 0;
}

Outcome evaluate_barrier(const Operation& op, const ObjectState& state) {
  Outcome out{.effect = Effect::kStep, .phase = state.phase, .after = state};
  ObjectState& s = out.after;
  if (op.kind == OpKind::kBarrierInit || op.kind == OpKind::kBarrierInval) {
    out.effect = Effect::kWrite;
    s = ObjectState{};
    if (op.kind == OpKind::kBarrierInval) return out;
    s.live = true;
    s.pending = s.expected = static_cast<int32_t>(op.operand);
    return out;
  }
  const bool waits = op.kind == OpKind::kWaitPhase || op.kind == OpKind::kWaitParity;
  if (!state.live) {
    out.enabled = !waits;
    out.effect = Effect::kNothing;
    out.result = op.operand;
    return out;
  }
  switch (op.kind) {
    case OpKind::kArrive:
      evaluate_arrive(op, out);
      break;
    case OpKind::kExpectTx:
      s.tx += op.bytes;
      s.pending += static_cast<int32_t>(op.operand);
      complete_if_due(op, out);
      break;
    case OpKind::kCompleteTx:
      s.tx -= op.bytes;
      complete_if_due(op, out);
      break;
    case OpKind::kWaitPhase:
      out.effect = Effect::kWait;
      out.enabled = state.phase > op.operand;
      out.phase = static_cast<uint32_t>(op.operand) + 1;
      break;
    case OpKind::kWaitParity:
      out.effect = Effect::kWait;
      out.enabled = (state.phase & 1) != (op.operand & 1);
      s.waits |= second_wait(op, state) ? kNeverCovered : op.waiter_bit;
      break;
    case OpKind::kBarrierArrive:
      if (s.awaited == 0) s.awaited = op.bytes == 0 ? -1 : static_cast<int32_t>(op.bytes);
      s.pending += static_cast<int32_t>(op.operand);
      complete_named_if_due(out);
      break;
    case OpKind::kBarrierExit:
      out.in_order = s.awaited > 0;
      s.expected -= static_cast<int32_t>(op.operand);
      if (s.awaited < 0) complete_named_if_due(out);
      break;
    default:
      break;
  }
  return out;
}

uint64_t units_at(uint64_t column, uint64_t columns) {
  const uint64_t count = std::min<uint64_t>(columns / kTensorUnit, 16);
  return (((uint64_t{1} << count) - 1) << std::min<uint64_t>(column / kTensorUnit, 16)) & (kRelinquished - 1);
}

Outcome evaluate_tensor_memory(const Operation& op, const ObjectState& state) {
  Outcome out{.effect = Effect::kWrite, .result = kNoColumns, .after = state};
  uint64_t& taken = out.after.word[0];
  switch (op.kind) {
    case OpKind::kTensorAlloc: {
      if ((taken & kRelinquished) != 0 || op.operand > 16 * kTensorUnit) return out;  // never: an error of the kernel's
      for (uint64_t column = 0; column + op.operand <= 16 * kTensorUnit; column += op.operand) {
        const uint64_t units = units_at(column, op.operand);
        if ((taken & units) != 0) continue;
        taken |= units;
        out.after.word[1] = op.operand;
        out.result = column;
        return out;
      }
      out.enabled = false;
      return out;
    }
    case OpKind::kTensorFree:
      taken &= ~units_at(op.operand, static_cast<uint64_t>(op.bytes));
      return out;
    default:
      taken |= kRelinquished;
      return out;
  }
}

bool overlap(const Operation& a, const Operation& b) { return a.begin < b.begin + b.size && b.begin < a.begin + a.size; }

bool reductions_commute(const Operation& a, const Operation& b) {
  if (a.rmw != b.rmw || a.begin != b.begin || a.size != b.size) return false;
  switch (a.rmw) {
    case Rmw::kAdd:
    case Rmw::kMinS:
    case Rmw::kMinU:
    case Rmw::kMaxS:
    case Rmw::kMaxU:
    case Rmw::kAnd:
    case Rmw::kOr:
    case Rmw::kXor:
    case Rmw::kAddF32:
    case Rmw::kAddF64:
    case Rmw::kAddF16:
    case Rmw::kMinF16:
    case Rmw::kMaxF16:
    case Rmw::kAddBf16:
    case Rmw::kMinBf16:
    case Rmw::kMaxBf16:
      return true;
    case Rmw::kIncrement:
    case Rmw::kDecrement:
      return a.operand == b.operand;
    case Rmw::kNone:
    case Rmw::kExchange:
    case Rmw::kCompareSwap:
      return false;
  }
  return false;
}

bool words_dependent(const Operation& a, Effect ea, const Operation& b, Effect eb) {
  if (!overlap(a, b)) return false;
  if (ea == Effect::kRead && eb == Effect::kRead) return false;
  return !(ea == Effect::kReduce && eb == Effect::kReduce && reductions_commute(a, b));
}

// Of an operation on a word other than an update.
Effect effect_of(OpKind kind) {
  if (kind == OpKind::kStore || kind == OpKind::kPlainStore) return Effect::kWrite;
  return kind == OpKind::kReduce ? Effect::kReduce : Effect::kRead;
}

bool groups_dependent(const Operation& first, const Operation& second) {
  const bool read_side = first.kind == OpKind::kReadDone && second.kind == OpKind::kWaitRead;
  const bool whole = first.kind == OpKind::kCopyDone && second.kind == OpKind::kWaitGroup;
  const bool whole_covers_read = first.kind == OpKind::kCopyDone && second.kind == OpKind::kWaitRead;
  return (read_side || whole || whole_covers_read) && first.operand <= second.operand;
}

bool counts_differ(const Operation& a, const Operation& b) {
  return a.kind == OpKind::kBarrierArrive && b.kind == OpKind::kBarrierArrive && a.bytes != b.bytes;
}

// A phase with a count may complete before an exit, or after.
bool counted_and_exit(const Operation& a, const Operation& b) {
  return a.kind == OpKind::kBarrierArrive && a.bytes != 0 && b.kind == OpKind::kBarrierExit;
}

// Two steps of one phase commute unless one is a lone expect_tx, says so, or their counts disagree.
bool steps_ordered(const Operation& a, bool a_in_order, const Operation& b, bool b_in_order) {
  return a.kind == OpKind::kExpectTx || b.kind == OpKind::kExpectTx || a_in_order || b_in_order || counts_differ(a, b) ||
         counted_and_exit(a, b) || counted_and_exit(b, a);
}

bool barriers_dependent(const Event& first, const Event& second) {
  if (first.effect == Effect::kWrite || second.effect == Effect::kWrite) return true;
  if (first.effect == Effect::kNothing || second.effect == Effect::kNothing) return false;
  if (first.effect == Effect::kStep && second.effect == Effect::kStep) {
    return first.phase != second.phase || second.closes || first.closes ||
           steps_ordered(first.op, first.in_order, second.op, second.in_order);
  }
  if (first.effect == Effect::kStep) return first.phase < second.phase;  // second waits: phases below its number
  if (second.effect == Effect::kWait) return false;
  if (first.op.kind == OpKind::kWaitPhase) return false;
  return second.phase > first.phase || (second.phase == first.phase && second.closes);
}

// Both orders of `a` and `q` from a.before, compared in all that the relation distinguishes.
bool barriers_dependent(const Event& a, const Operation& q) {
  const Outcome q_first = evaluate(q, a.before);
  const bool either_waits_for_phase = q.kind == OpKind::kWaitPhase || a.op.kind == OpKind::kWaitPhase;
  if (either_waits_for_phase && q_first.enabled && a.effect != Effect::kWrite && q_first.effect != Effect::kWrite) return false;
  if (q_first.effect == Effect::kWrite || a.effect == Effect::kWrite) return true;
  const Outcome a_first = evaluate(a.op, a.before);
  const Outcome q_second = evaluate(q, a_first.after);
  const Outcome a_second = evaluate(a.op, q_first.after);
  if (!q_first.enabled || !q_second.enabled || !a_second.enabled) return true;
  if (q_first.phase != q_second.phase || a_first.phase != a_second.phase) return true;
  if (q_first.result != q_second.result || a_first.result != a_second.result) return true;
  if (q_second.closes || a_second.closes || !(q_second.after == a_second.after)) return true;
  const bool both_step = a.effect == Effect::kStep && q_first.effect == Effect::kStep;
  return both_step && steps_ordered(a.op, a_first.in_order || a_second.in_order, q, q_first.in_order || q_second.in_order);
}

}  // namespace

Outcome evaluate(const Operation& op, const ObjectState& state) {
  if (op.kind == OpKind::kLocal) return Outcome{.after = state};
  if (is_word(op.kind)) return evaluate_word(op, state);
  if (is_tensor_memory(op.kind)) return evaluate_tensor_memory(op, state);
  if (!is_group(op.kind)) return evaluate_barrier(op, state);
  const bool waits = op.kind == OpKind::kWaitRead || op.kind == OpKind::kWaitGroup;
  return Outcome{.effect = waits ? Effect::kWait : Effect::kStep, .after = state};
}

bool dependent(const Event& first, const Event& second) {
  if (first.op.object != second.op.object || first.op.object == kNoObject) return false;
  if (is_word(first.op.kind)) return words_dependent(first.op, first.effect, second.op, second.effect);
  if (is_tensor_memory(first.op.kind)) return true;
  if (is_group(first.op.kind)) return groups_dependent(first.op, second.op);
  return barriers_dependent(first, second);
}

bool dependent(const Event& first, const Operation& second) {
  if (first.op.object != second.object || first.op.object == kNoObject) return false;
  if (is_word(first.op.kind)) {
    if (!overlap(first.op, second)) return false;
    if (second.predicate == nullptr && second.kind != OpKind::kUpdate) {
      return words_dependent(first.op, first.effect, second, effect_of(second.kind));
    }
    const Outcome meeting = evaluate(second, first.before);
    if (!meeting.enabled) return true;
    return words_dependent(first.op, first.effect, second, meeting.effect);
  }
  if (is_tensor_memory(first.op.kind)) return true;
  if (is_group(first.op.kind)) return groups_dependent(first.op, second);
  return barriers_dependent(first, second);
}

Outcome would_be(const Operation& op, ObjectState start, std::span<const Event* const> kept) {
  for (const Event* event : kept) {
    if (event->op.object == op.object) start = evaluate(event->op, start).after;
  }
  return evaluate(op, start);
}

bool reversible(const Operation& op) { return op.kind != OpKind::kWaitGroup && op.kind != OpKind::kWaitRead; }

bool may_block(const Operation& op) {
  return op.predicate != nullptr || op.kind == OpKind::kWaitPhase || op.kind == OpKind::kWaitParity ||
         op.kind == OpKind::kWaitGroup || op.kind == OpKind::kWaitRead || op.kind == OpKind::kTensorAlloc;
}

bool dominates(const Event& event, const Event& later) {
  if (is_word(event.op.kind)) {
    return event.effect == Effect::kWrite && event.op.begin <= later.op.begin &&
           event.op.begin + event.op.size >= later.op.begin + later.op.size;
  }
  if (event.effect == Effect::kWrite) return true;
  const bool in_phases = later.effect == Effect::kStep || later.effect == Effect::kWait;
  return event.effect == Effect::kStep && in_phases && event.phase + 2 <= later.phase;
}

}  // namespace warpcheck
