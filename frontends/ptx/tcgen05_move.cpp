// tcgen05.ld and st: a warp moves a block of tensor memory to or from its registers. Warp w of a warpgroup reaches lanes
// 32w to 32w + 31.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "frontends/ptx/aligned.h"
#include "frontends/ptx/decode.h"
#include "frontends/ptx/tcgen05.h"

namespace warpcheck::ptx {
namespace {

struct Cell {
  uint32_t lane = 0, column = 0;  // from the address on
};

// PTX ISA, tcgen05: matrix fragments of .32x32b, .16x64b, .16x128b, .16x256b and .16x32bx2. The cell of a thread's register,
// before the columns are doubled for 16-bit halves.
Cell cell_of(const Tcgen05Form& form, uint32_t thread, uint32_t reg) {
  if (form.lanes == 32) return {thread, reg};
  if (form.split) return {thread % 16, reg + (thread >= 16 ? form.split_columns : 0)};
  switch (form.row_columns) {
    case 2: return {thread / 4 + (thread & 1) * 8, reg * 2 + (thread >> 1 & 1)};
    case 4: return {thread / 4 + reg % 2 * 8, reg / 2 * 4 + thread % 4};
    default: return {thread / 4 + reg / 2 % 2 * 8, reg / 4 * 8 + thread % 4 * 2 + reg % 2};
  }
}

class Move {
 public:
  Move(Interpreter& interpreter, Fragment& fragment, const Code& code)
      : interpreter_(interpreter), fragment_(fragment), code_(code), form_(*code.tcgen05), warp_(*fragment.warp) {}

  bool prepare() {
    address_ = address(0);
    bool equal = true;
    each_lane(warp_.all, [&](uint32_t lane) { equal &= address(lane) == address_; });
    if (!equal) {
      report(FindingKind::kDivergence, "the lanes of the warp name different addresses");
      return false;
    }
    const uint32_t lane = lane_of(address_), quarter = warp_.number % 4 * kQuarterLanes;
    const uint32_t registers = static_cast<uint32_t>(std::max(code_.to_vector.size(), code_.from_vector.size()));
    uint32_t last = 0;
    for (uint32_t thread : {0U, 31U}) {
      for (const uint32_t reg : {0U, registers - 1}) last = std::max(last, cell_of(form_, thread, reg).column);
    }
    const uint32_t columns = (last + 1) * (form_.halves ? 2 : 1);
    const bool reachable = lane >= quarter && lane + form_.lanes <= quarter + kQuarterLanes && warp_.all == ~0U;
    if (!reachable || column_of(address_) + columns > kTensorColumns) {
      report(FindingKind::kOutOfBounds, reachable ? "the operation leaves tensor memory: 128 lanes by 512 columns"
                                                  : fmt::format("the warp reaches lanes {}..{} of tensor memory only", quarter, quarter + 31));
      return false;
    }
    region_ = interpreter_.machine().tensor_region(warp_.block);
    if (!form_.split) {
      add_tensor_ranges(region_, lane, form_.lanes, column_of(address_), columns, ranges_);
    } else {
      const uint32_t each = registers * (form_.halves ? 2 : 1);
      add_tensor_ranges(region_, lane, form_.lanes, column_of(address_), each, ranges_);
      add_tensor_ranges(region_, lane, form_.lanes, column_of(address_) + form_.split_columns * (form_.halves ? 2 : 1), each, ranges_);
    }
    return true;
  }

  void load() {
    const uint32_t number = issue(TensorKind::kLoad, TensorQueue::kLoad);
    warp_.tickets.push_back({code_.site, true, number, 0});
    for (uint32_t reg = 0; reg < code_.to_vector.size(); ++reg) {
      Slot& slot = warp_.slots[code_.to_vector[reg]];
      LaneMask uninitialized = 0, opaque = 0;
      each_lane(warp_.all, [&](uint32_t thread) {
        uint8_t tags = 0;
        uint32_t value = 0;
        each_cell(thread, reg, [&](Range cell, uint32_t shift) {
          uint32_t word = 0;
          uint8_t cell_tags[4] = {};
          interpreter_.machine().peek(cell, reinterpret_cast<uint8_t*>(&word), cell_tags);
          for (uint32_t b = 0; b < (form_.halves ? 2U : 4U); ++b) tags |= cell_tags[b];
          value |= (form_.halves ? word & 0xffff : word) << shift;
        });
        slot.lane[thread] = value;
        if ((tags & kUninitializedTag) != 0) uninitialized |= 1U << thread;
        if ((tags & kOpaqueTag) != 0) opaque |= 1U << thread;
      });
      if (uninitialized != 0) {
        interpreter_.remember_uninitialized(fragment_, code_, ranges_.front(), static_cast<uint32_t>(__builtin_ctz(uninitialized)));
      }
      mark(warp_, code_.to_vector[reg], warp_.all, uninitialized, opaque, code_.site);
      slot.pending |= warp_.all;
      slot.ticket = static_cast<uint32_t>(warp_.tickets.size() - 1);
      slot.stale = false;
      slot.target = true;
      slot.epoch = 0;
    }
  }

  void store() {
    issue(TensorKind::kStore, TensorQueue::kStore);
    for (uint32_t reg = 0; reg < code_.from_vector.size(); ++reg) {
      const Source& source = code_.from_vector[reg];
      const LaneMask opaque = source.slot == kNone ? 0 : warp_.slots[source.slot].opaque;
      each_lane(warp_.all, [&](uint32_t thread) {
        const auto value = static_cast<uint32_t>(value_of(warp_, source, thread));
        const uint8_t tag = (opaque >> thread & 1) != 0 ? kOpaqueTag : 0;
        each_cell(thread, reg, [&](Range cell, uint32_t shift) {
          const uint32_t word = form_.halves ? value >> shift & 0xffff : value;
          const uint8_t tags[4] = {tag, tag, tag, tag};
          interpreter_.machine().poke(cell, reinterpret_cast<const uint8_t*>(&word), tags);
        });
      });
    }
  }

 private:
  uint32_t address(uint32_t lane) const {
    return static_cast<uint32_t>(value_of(warp_, code_.at[0].base, lane) + static_cast<uint64_t>(code_.at[0].offset));
  }

  template <class F>
  void each_cell(uint32_t thread, uint32_t reg, F&& f) const {
    const Cell cell = cell_of(form_, thread, reg);
    for (uint32_t half = 0; half < (form_.halves ? 2U : 1U); ++half) {
      const uint32_t column = column_of(address_) + (form_.halves ? cell.column * 2 + half : cell.column);
      f(Range{region_, tensor_offset(lane_of(address_) + cell.lane, column), 4}, half * 16);
    }
  }

  uint32_t issue(TensorKind kind, TensorQueue queue) {
    TensorOp op;
    op.kind = kind;
    op.queue = queue;
    op.site = code_.site;
    (kind == TensorKind::kLoad ? op.reads : op.writes) = ranges_;
    return interpreter_.machine().issue_tensor(fragment_.thread, warp_.all, warp_.first, op);
  }

  void report(FindingKind kind, const std::string& message) {
    interpreter_.report(fragment_, warp_.all, code_, kind, "tensor-core operation", fmt::format("tensor memory address {:#x}", address_), message);
  }

  Interpreter& interpreter_;
  Fragment& fragment_;
  const Code& code_;
  const Tcgen05Form& form_;
  Warp& warp_;
  uint32_t address_ = 0;
  RegionId region_ = kNoRegion;
  std::vector<Range> ranges_;
};

Flow run_load(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask active) {
  if (fragment.stage == 0 && !interpreter.takes_effect(fragment, code, code.at[0].base, active, "address")) return Flow::kStop;
  if (const auto flow = come_together(interpreter, fragment, code, active)) return *flow;
  Move move(interpreter, fragment, code);
  if (move.prepare()) move.load();
  return Flow::kNext;
}

Flow run_store(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask active) {
  if (fragment.stage == 0 && !interpreter.takes_effect(fragment, code, code.at[0].base, active, "address")) return Flow::kStop;
  if (const auto flow = come_together(interpreter, fragment, code, active)) return *flow;
  for (const Source& source : code.from_vector) {
    if (source.slot == kNone) continue;
    Slot& slot = fragment.warp->slots[source.slot];
    const LaneMask opaque = slot.opaque;
    slot.opaque = 0;  // stays opaque in tensor memory, without a word
    interpreter.takes_effect(fragment, code, source, active, "stored value");
    slot.opaque = opaque;
  }
  Move move(interpreter, fragment, code);
  if (move.prepare()) move.store();
  return Flow::kNext;
}

template <TensorQueue kQueue>
Flow run_wait(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask active) {
  if (const auto flow = come_together(interpreter, fragment, code, active)) return *flow;
  Warp& warp = *fragment.warp;
  interpreter.machine().begin_event(fragment.thread, code.site);
  const uint32_t issued = interpreter.machine().tensor_issued(warp.first, kQueue);
  if (kQueue == TensorQueue::kLoad) warp.loads_awaited = issued;
  interpreter.machine().wait_tensor(fragment.thread, warp.all, warp.first, kQueue, issued);
  return Flow::kNext;
}

std::shared_ptr<Tcgen05Form> take_shape(Decoder& decoder, Modifiers& modifiers, bool load) {
  auto form = std::make_shared<Tcgen05Form>();
  modifiers.take("sync");
  if (!modifiers.take("aligned")) throw NotSupported();
  uint32_t registers = 1;  // of one repetition
  if (modifiers.take("32x32b")) form->lanes = 32;
  else if (modifiers.take("16x64b")) form->lanes = 16, form->row_columns = 2;
  else if (modifiers.take("16x128b")) form->lanes = 16, form->row_columns = 4, registers = 2;
  else if (modifiers.take("16x256b")) form->lanes = 16, form->row_columns = 8, registers = 4;
  else if (modifiers.take("16x32bx2")) form->lanes = 16, form->split = true;
  else throw NotSupported();
  const std::string_view count = modifiers.front();
  if (!count.starts_with("x")) throw NotSupported();
  form->repeat = 0;
  for (size_t i = 1; i < count.size() && count[i] >= '0' && count[i] <= '9'; ++i) form->repeat = form->repeat * 10 + static_cast<uint32_t>(count[i] - '0');
  modifiers.take(count);
  form->halves = modifiers.take(load ? "pack::16b" : "unpack::16b");
  if (!modifiers.take("b32")) throw NotSupported();
  const Operand& vector = decoder.operand(load ? 0 : decoder.operands() - 1);
  if (vector.kind != OperandKind::kVector && form->repeat * registers != 1) throw NotSupported();
  const size_t given = vector.kind == OperandKind::kVector ? vector.parts.size() : 1;
  if (given != size_t{form->repeat} * registers) throw NotSupported();
  if (form->split) {
    const Source distance = decoder.source(load ? 2 : 1);
    if (distance.slot != kNone) throw NotSupported();
    form->split_columns = static_cast<uint32_t>(distance.value);
  }
  return form;
}

// ld {registers}, [address] [, distance of the halves]
void decode_load(Decoder& decoder, Modifiers& modifiers, Code& code) {
  code.tcgen05 = take_shape(decoder, modifiers, true);
  const Operand& to = decoder.operand(0);
  if (to.kind == OperandKind::kVector) {
    for (const Operand& part : to.parts) code.to_vector.push_back(decoder.destination(part));
  } else {
    code.to_vector.push_back(decoder.destination(to));
  }
  code.at[0] = decoder.address(1);
  code.control = run_load;
}

// st [address] [, distance of the halves], {registers}
void decode_store(Decoder& decoder, Modifiers& modifiers, Code& code) {
  code.tcgen05 = take_shape(decoder, modifiers, false);
  const Operand& from = decoder.operand(decoder.operands() - 1);
  if (from.kind == OperandKind::kVector) {
    for (const Operand& part : from.parts) code.from_vector.push_back(decoder.source(part));
  } else {
    code.from_vector.push_back(decoder.source(from));
  }
  code.at[0] = decoder.address(0);
  code.control = run_store;
}

template <TensorQueue kQueue>
void decode_wait(Decoder&, Modifiers& modifiers, Code& code) {
  modifiers.take("sync");
  if (!modifiers.take("aligned")) throw NotSupported();
  code.control = run_wait<kQueue>;
}

constexpr Row kTable[] = {
    {"tcgen05.ld", decode_load},
    {"tcgen05.st", decode_store},
    {"tcgen05.wait::ld", decode_wait<TensorQueue::kLoad>},
    {"tcgen05.wait::st", decode_wait<TensorQueue::kStore>},
};

}  // namespace

std::span<const Row> tcgen05_move_rows() { return kTable; }

}  // namespace warpcheck::ptx
