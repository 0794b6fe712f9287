// wgmma: the four warps of a warpgroup multiply matrices in shared memory onto accumulators in their registers.
//
// An MMA is one operation of the warpgroup: each of its warps issues it, and each must be allowed to. It is complete for all
// of them at once, so that whoever waits for a group waits until all four have issued it (a rendezvous a group). Computed
// are f16, bf16, tf32, e4m3, e5m2 and 8-bit integers; sparse and binary products are opaque.
#include <fmt/format.h>

#include <algorithm>

#include "frontends/ptx/aligned.h"
#include "frontends/ptx/decode.h"
#include "frontends/ptx/tensor_operands.h"

namespace warpcheck::ptx {

struct WgmmaForm {
  uint32_t n = 8, depth = 32;       // bytes of A along K
  uint32_t depth_b = 32;            // of B: twice that if A is sparse
  ElementFormat a = ElementFormat::kF16, b = ElementFormat::kF16, d = ElementFormat::kF32;
  bool a_in_registers = false, a_transposed = false, b_transposed = false, a_negated = false, b_negated = false;
  bool saturate = false, opaque = false;
  uint64_t id = 0;                  // equal for equal shapes and types
};

namespace {

constexpr uint32_t kWarpsOfGroup = 4, kRows = 64, kRowsOfWarp = 16;
constexpr uint32_t kCommitted = kTogether, kAwaited = kTogether + 1;

uint32_t warpgroup_of(const Warp& warp) { return warp.number / kWarpsOfGroup; }
uint32_t owner_of(const Warp& warp) { return warp.first - warp.number % kWarpsOfGroup * 32; }

class Mma {
 public:
  Mma(Interpreter& interpreter, Fragment& fragment, const Code& code)
      : interpreter_(interpreter), fragment_(fragment), code_(code), form_(*code.wgmma), warp_(*fragment.warp) {}

  Flow run() {
    for (const Source& source : code_.from) {
      if (!interpreter_.takes_effect(fragment_, code_, source, warp_.all, "operand")) return Flow::kStop;
    }
    if (!lanes_agree()) return Flow::kNext;
    check_registers();
    const uint64_t a_bits = form_.a_in_registers ? 0 : value_of(warp_, code_.from[0], 0), b_bits = value_of(warp_, code_.from[1], 0);
    const OperandShape a_shape{kRows, form_.depth, format_bytes(form_.a), form_.a_transposed};
    const OperandShape b_shape{form_.n, form_.depth_b, format_bytes(form_.b), form_.b_transposed};
    TensorOp op;
    op.kind = TensorKind::kWarpgroupMma;
    op.queue = TensorQueue::kWarpgroup;
    op.site = code_.site;
    const Interpreter::Operands* a = nullptr;
    if (!form_.a_in_registers) {
      a = &interpreter_.operands(wgmma_descriptor(a_bits), a_bits, a_shape);
      add_ranges(interpreter_, warp_.block, *a, op.reads);
    }
    const Interpreter::Operands& b = interpreter_.operands(wgmma_descriptor(b_bits), b_bits, b_shape);
    add_ranges(interpreter_, warp_.block, b, op.reads);
    const uint32_t number = ++warp_.mma_issued;
    agree(number, a_bits, b_bits);
    interpreter_.machine().issue_tensor(fragment_.thread, warp_.all, owner_of(warp_), op, number);

    Matrix left(kRowsOfWarp, form_.depth / format_bytes(form_.a)), right(form_.n, form_.depth_b / format_bytes(form_.b));
    if (!form_.opaque) {
      const uint32_t first = warp_.number % kWarpsOfGroup * kRowsOfWarp;
      if (a != nullptr) gather(interpreter_, warp_.block, *a, a_shape, form_.a, form_.a_negated, {first, kRowsOfWarp, 0}, left);
      else gather_registers(left);
      gather(interpreter_, warp_.block, b, b_shape, form_.b, form_.b_negated, {0, form_.n, 0}, right);
    }
    write(left, right, number);
    return Flow::kNext;
  }

 private:
  // Descriptors and scale-d are the MMA's, not a lane's.
  bool lanes_agree() {
    LaneMask differ = 0;
    for (const size_t i : {size_t{0}, size_t{1}, size_t{2}}) {
      each_lane(warp_.all, [&](uint32_t lane) {
        if (value_of(warp_, code_.from[i], lane) != value_of(warp_, code_.from[i], 0)) differ |= 1U << lane;
      });
    }
    if (differ == 0) return true;
    interpreter_.report(fragment_, differ | 1, code_, FindingKind::kDivergence, "MMA", fmt::format("warpgroup {}", warpgroup_of(warp_)),
                        "the lanes of a warp run an MMA with different descriptors or scale-d");
    return false;
  }

  // Accumulators may be pending by earlier MMAs of the same shape and types: those follow each other. Otherwise they, and A,
  // must be the warp's own, with a fence behind the last access.
  void check_registers() {
    LaneMask unfenced = 0;
    for (const uint32_t to : code_.to_vector) {
      const Slot& slot = warp_.slots[to];
      if (pending_lanes(warp_, slot) != 0 && (slot.stale || warp_.tickets[slot.ticket].form != form_.id)) {
        interpreter_.settle_pending(fragment_, code_, Source{to}, warp_.all, "accumulator");
      }
      if (slot.epoch == warp_.epoch) unfenced = warp_.all;
      if (scaled()) interpreter_.note_effect(warp_, Source{to}, warp_.all);
    }
    for (const Source& source : code_.from_vector) {
      interpreter_.note_effect(warp_, source, warp_.all);
      interpreter_.settle_pending(fragment_, code_, source, warp_.all, "operand");
      if (source.slot != kNone && warp_.slots[source.slot].epoch == warp_.epoch) unfenced = warp_.all;
    }
    if (unfenced == 0) return;
    Finding finding;
    finding.kind = FindingKind::kRegisterHazard;
    finding.strict = true;
    finding.object = "registers of " + interpreter_.instruction(code_.site);
    finding.message = "registers of the MMA were written, and no wgmma.fence lies between";
    finding.sites = {interpreter_.machine().site_of_thread(fragment_.thread, unfenced, "asynchronous register write", code_.site)};
    interpreter_.machine().report(std::move(finding));
  }

  void agree(uint32_t number, uint64_t a, uint64_t b) {
    auto& issued = interpreter_.issued_by(warp_.block, warpgroup_of(warp_));
    if (issued.size() < number) {
      issued.push_back({code_.site, a, b, scaled(), interpreter_.machine().site_of_thread(fragment_.thread, warp_.all, "MMA", code_.site)});
      return;
    }
    const Interpreter::Issued& first = issued[number - 1];
    if (first.site == code_.site && first.a == a && first.b == b && first.adds == scaled()) return;
    Finding finding;
    finding.kind = FindingKind::kDivergence;
    finding.object = fmt::format("warpgroup {}", warpgroup_of(warp_));
    finding.message = "the warps of a warpgroup run different MMAs, or one with different operands";
    finding.sites = {first.first, interpreter_.machine().site_of_thread(fragment_.thread, warp_.all, "MMA", code_.site)};
    interpreter_.machine().report(std::move(finding));
  }

  // PTX ISA, wgmma: fragments of A. Each register has four bytes along K.
  void gather_registers(Matrix& left) {
    const uint32_t bytes = format_bytes(form_.a), elements = 4 / bytes;
    for (uint32_t i = 0; i < code_.from_vector.size(); ++i) {
      const Source& source = code_.from_vector[i];
      each_lane(warp_.all, [&](uint32_t lane) {
        const uint32_t row = lane / 4 + i % 2 * 8, k = (i / 2 * 16 + lane % 4 * 4) / bytes;
        const auto bits = static_cast<uint32_t>(value_of(warp_, source, lane));
        for (uint32_t e = 0; e < elements; ++e) {
          const float value = decode_element(form_.a, bits >> (8 * bytes * e));
          left.at(row, k + e) = form_.a_negated ? -value : value;
        }
        if (source.slot == kNone) return;
        const Slot& slot = warp_.slots[source.slot];
        if ((slot.uninitialized >> lane & 1) != 0) left.tags[row] |= kUninitializedTag;
        if ((slot.opaque >> lane & 1) != 0) left.tags[row] |= kOpaqueTag;
      });
    }
  }

  void write(const Matrix& left, const Matrix& right, uint32_t number) {
    const std::vector<double> made = form_.opaque ? std::vector<double>() : products(left, right);
    const bool adds = scaled();
    const bool packed = form_.d == ElementFormat::kF16;
    warp_.tickets.push_back({code_.site, false, number, form_.id});
    const auto ticket = static_cast<uint32_t>(warp_.tickets.size() - 1);
    for (uint32_t q = 0; q < code_.to_vector.size(); ++q) {
      Slot& slot = warp_.slots[code_.to_vector[q]];
      LaneMask uninitialized = adds ? slot.uninitialized : 0, opaque = form_.opaque ? ~0U : adds ? slot.opaque : 0;
      const uint32_t pair = packed ? q * 2 : q;  // number of the register's first element in the fragment
      const uint32_t column = pair / 4 * 8 + pair % 2;
      each_lane(warp_.all, [&](uint32_t lane) {
        if (form_.opaque) return;
        const uint32_t row = lane / 4 + pair / 2 % 2 * 8;
        uint32_t bits = 0;
        for (uint32_t e = 0; e < (packed ? 2U : 1U); ++e) {
          const uint32_t j = column + lane % 4 * 2 + e;
          const auto before = static_cast<uint32_t>(slot.lane[lane]) >> (16 * e);
          const double sum = made[size_t{row} * form_.n + j] + (adds ? decode_result(form_.d, before) : 0.0);
          bits |= encode_result(form_.d, sum, form_.saturate) << (16 * e);
          const uint8_t tags = left.tags[row] | right.tags[j];
          if ((tags & kUninitializedTag) != 0) uninitialized |= 1U << lane;
          if ((tags & kOpaqueTag) != 0) opaque |= 1U << lane;
        }
        slot.lane[lane] = bits;
      });
      const SiteId origin = adds && slot.uninitialized != 0 ? slot.origin : code_.site;
      if (uninitialized != 0 && origin == code_.site) {
        const auto lane = static_cast<uint32_t>(__builtin_ctz(uninitialized));
        interpreter_.remember_uninitialized(fragment_, code_, operand_range(), lane);
      }
      mark(warp_, code_.to_vector[q], warp_.all, uninitialized, opaque, origin);
      slot.pending |= warp_.all;
      slot.ticket = ticket;
      slot.stale = false;
      slot.target = true;
      slot.epoch = 0;
    }
  }

  bool scaled() const {
    const Source& scale = code_.from[2];
    return ((value_of(warp_, scale, 0) & 1) != 0) != scale.negated;
  }

  Range operand_range() {
    const auto bits = value_of(warp_, code_.from[1], 0);
    return {RegionId{interpreter_.shared_region(warp_.block)}, wgmma_descriptor(bits).start, 16};
  }

  Interpreter& interpreter_;
  Fragment& fragment_;
  const Code& code_;
  const WgmmaForm& form_;
  Warp& warp_;
};

Flow run_mma(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask active) {
  if (const auto flow = come_together(interpreter, fragment, code, active)) return *flow;
  if ((warpgroup_of(*fragment.warp) + 1) * kWarpsOfGroup > interpreter.kernel().shape.warps()) {
    interpreter.report(fragment, active, code, FindingKind::kDivergence, "MMA", fmt::format("warpgroup {}", warpgroup_of(*fragment.warp)),
                       "the block has too few warps for a whole warpgroup");
    interpreter.give_up(fragment);
    return Flow::kStop;
  }
  return Mma(interpreter, fragment, code).run();
}

Flow run_fence(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask active) {
  if (const auto flow = come_together(interpreter, fragment, code, active)) return *flow;
  interpreter.machine().begin_event(fragment.thread, code.site);
  ++fragment.warp->epoch;
  return Flow::kNext;
}

// An empty group is complete when those before it are.
Flow run_commit(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask active) {
  if (const auto flow = come_together(interpreter, fragment, code, active)) return *flow;
  Warp& warp = *fragment.warp;
  if (fragment.stage == kCommitted) {
    fragment.stage = 0;
    return Flow::kNext;
  }
  MmaGroup group;
  if (!warp.mma_groups.empty()) group = warp.mma_groups.back();
  const bool empty = group.issued == warp.mma_issued;
  group.issued = warp.mma_issued;
  if (!empty) ++group.rendezvous;
  warp.mma_groups.push_back(group);
  if (empty) {
    interpreter.machine().begin_event(fragment.thread, code.site);
    return Flow::kNext;
  }
  VisibleOp made;
  made.op.kind = OpKind::kBarrierArrive;
  made.op.object = interpreter.machine().warpgroup_barrier(warp.block, warpgroup_of(warp), group.rendezvous);
  made.op.operand = static_cast<uint64_t>(__builtin_popcount(warp.all));
  made.op.bytes = kWarpsOfGroup * 32;
  fragment.stage = kCommitted;
  interpreter.post(fragment, code, made);
  return Flow::kStop;
}

Flow run_wait(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask active) {
  if (const auto flow = come_together(interpreter, fragment, code, active)) return *flow;
  Warp& warp = *fragment.warp;
  const size_t committed = warp.mma_groups.size();
  const MmaGroup group = committed > code.immediate ? warp.mma_groups[committed - code.immediate - 1] : MmaGroup{};
  if (fragment.stage != kAwaited && group.rendezvous > warp.groups_awaited) {
    VisibleOp made;
    made.op.kind = OpKind::kWaitPhase;
    made.op.object = interpreter.machine().warpgroup_barrier(warp.block, warpgroup_of(warp), group.rendezvous);
    fragment.stage = kAwaited;
    interpreter.post(fragment, code, made);
    return Flow::kStop;
  }
  fragment.stage = 0;
  interpreter.machine().begin_event(fragment.thread, code.site);
  warp.groups_awaited = std::max(warp.groups_awaited, group.rendezvous);
  warp.mma_awaited = std::max(warp.mma_awaited, group.issued);
  interpreter.machine().wait_tensor(fragment.thread, warp.all, owner_of(warp), TensorQueue::kWarpgroup, group.issued);
  return Flow::kNext;
}

ElementFormat format_of(std::string_view type) {
  if (type == "f16") return ElementFormat::kF16;
  if (type == "bf16") return ElementFormat::kBf16;
  if (type == "tf32") return ElementFormat::kTf32;
  if (type == "f32") return ElementFormat::kF32;
  if (type == "e4m3") return ElementFormat::kE4m3;
  if (type == "e5m2") return ElementFormat::kE5m2;
  if (type == "s8") return ElementFormat::kS8;
  if (type == "u8") return ElementFormat::kU8;
  if (type == "s32") return ElementFormat::kS32;
  if (type == "b1") return ElementFormat::kOpaque;
  throw NotSupported();
}

// m64nNkK
uint32_t columns_of(std::string_view shape) {
  if (!shape.starts_with("m64n")) throw NotSupported();
  uint32_t n = 0;
  for (size_t i = 4; i < shape.size() && shape[i] >= '0' && shape[i] <= '9'; ++i) n = n * 10 + static_cast<uint32_t>(shape[i] - '0');
  if (n < 8 || n > 256 || n % 8 != 0) throw NotSupported();
  return n;
}

uint64_t immediate(Decoder& decoder, size_t i) {
  const Source source = decoder.source(i);
  if (source.slot != kNone) throw NotSupported();
  return source.value;
}

// wgmma.mma_async[.sp].sync.aligned.SHAPE.D.A.B d, a, b [, metadata, selector], scale-d [, scale-a, scale-b [, trans-a], trans-b]
void decode_mma(Decoder& decoder, Modifiers& modifiers, Code& code) {
  auto form = std::make_shared<WgmmaForm>();
  const bool sparse = modifiers.take("sp");
  modifiers.take("sync");
  if (!modifiers.take("aligned")) throw NotSupported();
  const std::string_view shape = modifiers.front();
  form->n = columns_of(shape);
  modifiers.take(shape);
  std::array<ElementFormat, 3> types{};
  for (ElementFormat& type : types) {
    const std::string_view name = modifiers.front();
    type = format_of(name);
    modifiers.take(name);
  }
  form->d = types[0];
  form->a = types[1];
  form->b = types[2];
  form->saturate = modifiers.take("satfinite");
  const bool binary = form->a == ElementFormat::kOpaque;
  if (binary) {
    modifiers.take("and");
    modifiers.take("popc");
  }
  form->opaque = sparse || binary;
  if (sparse) form->depth_b = 64;
  const Operand& d = decoder.operand(0);
  if (d.kind != OperandKind::kVector) throw NotSupported();
  for (const Operand& part : d.parts) code.to_vector.push_back(decoder.destination(part));
  const uint32_t expected = form->d == ElementFormat::kF16 ? form->n / 4 : form->n / 2;
  if (code.to_vector.size() != expected) throw NotSupported();
  const Operand& a = decoder.operand(1);
  form->a_in_registers = a.kind == OperandKind::kVector;
  if (form->a_in_registers) {
    if (a.parts.size() != 4) throw NotSupported();
    for (const Operand& part : a.parts) code.from_vector.push_back(decoder.source(part));
  } else {
    code.from[0] = decoder.source(a);
  }
  code.from[1] = decoder.source(2);
  size_t at = 3;
  if (sparse) code.from[3] = decoder.source(at), at += 2;
  code.from[2] = decoder.source(at++, "pred");
  const size_t left = decoder.operands() - at;
  if (left >= 2) {
    form->a_negated = static_cast<int32_t>(immediate(decoder, at)) < 0;
    form->b_negated = static_cast<int32_t>(immediate(decoder, at + 1)) < 0;
  }
  if (left == 4) {
    form->a_transposed = immediate(decoder, at + 2) != 0;
    form->b_transposed = immediate(decoder, at + 3) != 0;
  } else if (left == 3 && form->a_in_registers) {
    form->b_transposed = immediate(decoder, at + 2) != 0;
  } else if (left != 0 && left != 2) {
    throw NotSupported();
  }
  form->id = uint64_t{form->n} << 32 | static_cast<uint64_t>(form->d) << 16 | static_cast<uint64_t>(form->a) << 8 | static_cast<uint64_t>(form->b);
  code.opaque = form->opaque;
  code.wgmma = std::move(form);
  code.control = run_mma;
}

void take_aligned(Modifiers& modifiers) {
  modifiers.take("sync");
  if (!modifiers.take("aligned")) throw NotSupported();
}

void decode_fence(Decoder&, Modifiers& modifiers, Code& code) {
  take_aligned(modifiers);
  code.control = run_fence;
}

void decode_commit(Decoder&, Modifiers& modifiers, Code& code) {
  take_aligned(modifiers);
  code.control = run_commit;
}

void decode_wait(Decoder& decoder, Modifiers& modifiers, Code& code) {
  take_aligned(modifiers);
  code.immediate = immediate(decoder, 0);
  code.control = run_wait;
}

constexpr Row kTable[] = {
    {"wgmma.mma_async", decode_mma},
    {"wgmma.fence", decode_fence},
    {"wgmma.commit_group", decode_commit},
    {"wgmma.wait_group", decode_wait},
};

}  // namespace

std::span<const Row> wgmma_rows() { return kTable; }

}  // namespace warpcheck::ptx
