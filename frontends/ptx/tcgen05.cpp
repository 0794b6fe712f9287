// tcgen05: tensor memory and the operations of one thread on it: MMAs, copies, shifts, commits. Loads and stores of registers
// are in tcgen05_move.cpp.
//
// Computed are MMAs of f16, bf16, tf32, e4m3, e5m2 and 8-bit integers; narrower types, block-scaled and sparse products, shifts
// and copies that decompress leave opaque values.
#include "frontends/ptx/tcgen05.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "frontends/ptx/aligned.h"
#include "frontends/ptx/decode.h"
#include "frontends/ptx/memory_operands.h"
#include "frontends/ptx/visible.h"

namespace warpcheck::ptx {
namespace {

// The instruction descriptor (PTX ISA, tcgen05.mma: instruction descriptor).
struct InstructionDescriptor {
  uint32_t m = 0, n = 0;
  ElementFormat a = ElementFormat::kOpaque, b = ElementFormat::kOpaque, d = ElementFormat::kF32;
  bool a_transposed = false, b_transposed = false, a_negated = false, b_negated = false, saturate = false;
};

ElementFormat operand_format(TcgenKind kind, uint32_t code) {
  switch (kind) {
    case TcgenKind::kF16: return code == 0 ? ElementFormat::kF16 : code == 1 ? ElementFormat::kBf16 : ElementFormat::kOpaque;
    case TcgenKind::kTf32: return ElementFormat::kTf32;
    case TcgenKind::kF8f6f4: return code == 0 ? ElementFormat::kE4m3 : code == 1 ? ElementFormat::kE5m2 : ElementFormat::kOpaque;
    case TcgenKind::kI8: return code == 0 ? ElementFormat::kU8 : ElementFormat::kS8;
    default: return ElementFormat::kOpaque;
  }
}

InstructionDescriptor read_descriptor(const Tcgen05Form& form, uint32_t bits) {
  InstructionDescriptor made;
  made.m = (bits >> 24 & 31) * 16;
  made.n = (bits >> 17 & 63) * 8;
  made.a = operand_format(form.kind, bits >> 7 & 7);
  made.b = operand_format(form.kind, bits >> 10 & 7);
  made.a_negated = (bits >> 13 & 1) != 0;
  made.b_negated = (bits >> 14 & 1) != 0;
  made.a_transposed = (bits >> 15 & 1) != 0;
  made.b_transposed = (bits >> 16 & 1) != 0;
  if (form.block_scaled) return made;
  made.saturate = (bits >> 3 & 1) != 0;
  const uint32_t d = bits >> 4 & 3;
  made.d = form.kind == TcgenKind::kI8 ? ElementFormat::kS32 : d == 0 ? ElementFormat::kF16 : ElementFormat::kF32;
  return made;
}

// PTX ISA, tcgen05: data path layouts A to G.
struct DataPath {
  uint32_t m = 0, n = 0, blocks = 1;
  bool warp_specialized = false, sparse = false;

  // Layouts C and F: 16 rows on the lanes of each warp, the lower or the upper ones.
  bool scattered() const { return !warp_specialized && rows() == 64 && (blocks == 1 || sparse); }
  uint32_t rows() const { return m / blocks; }  // of one block
  uint32_t columns() const { return columns_of_row() / parts(); }
  TensorPlace place(uint32_t row, uint32_t column) const {
    TensorPlace made;
    made.block = row / rows();
    const uint32_t r = row % rows(), part = column / columns();
    made.column = column % columns();
    made.lane = scattered() ? r / 16 * 32 + r % 16 : r + part * rows();
    return made;
  }

 private:
  uint32_t columns_of_row() const { return n; }
  // How many parts the columns of D are cut into, each on lanes of its own.
  uint32_t parts() const { return scattered() ? 1 : std::max(1U, kTensorLanes / rows()); }
};

bool valid(const DataPath& path) {
  const bool known_m = path.blocks == 2      ? path.m == 128 || path.m == 256
                       : path.warp_specialized ? path.m == 32 || path.m == 64 || path.m == 128
                                             : path.m == 64 || path.m == 128;
  return known_m && path.n >= 8 && path.n <= 256;
}

// All cells of some columns of one block's tensor memory, as they were: values by quarter, column, lane.
class Columns {
 public:
  Columns(GpuMachine& machine, RegionId region, uint32_t first, uint32_t count)
      : machine_(machine), region_(region), first_(first), count_(count), bytes_(count * kColumn * 4), tags_(count * kColumn * 4) {
    each_quarter([&](Range range, size_t at) { machine_.peek(range, &bytes_[at], &tags_[at]); });
  }
  uint32_t value(uint32_t lane, uint32_t column) const {
    uint32_t made = 0;
    std::memcpy(&made, &bytes_[at(lane, column)], 4);
    return made;
  }
  uint8_t tag(uint32_t lane, uint32_t column) const {
    const size_t i = at(lane, column);
    return tags_[i] | tags_[i + 1] | tags_[i + 2] | tags_[i + 3];
  }
  void set(uint32_t lane, uint32_t column, uint32_t value, uint8_t tag) {
    std::memcpy(&bytes_[at(lane, column)], &value, 4);
    std::memset(&tags_[at(lane, column)], tag, 4);
  }
  void store() {
    each_quarter([&](Range range, size_t at) { machine_.poke(range, &bytes_[at], &tags_[at]); });
  }

 private:
  static constexpr uint32_t kColumn = kQuarterLanes * 4;  // bytes
  size_t at(uint32_t lane, uint32_t column) const {
    return (size_t{lane / kQuarterLanes} * count_ + column) * kColumn + lane % kQuarterLanes * 4;
  }
  template <class F>
  void each_quarter(F&& f) {
    for (uint32_t quarter = 0; quarter < 4; ++quarter) {
      f(Range{region_, tensor_offset(quarter * kQuarterLanes, first_), count_ * kColumn}, size_t{quarter} * count_ * kColumn);
    }
  }

  GpuMachine& machine_;
  RegionId region_;
  uint32_t first_, count_;
  std::vector<uint8_t> bytes_, tags_;
};

// One thread's asynchronous operation.
class Operation05 {
 public:
  Operation05(Interpreter& interpreter, Fragment& fragment, const Code& code, uint32_t lane)
      : interpreter_(interpreter), fragment_(fragment), code_(code), form_(*code.tcgen05), warp_(*fragment.warp), lane_(lane) {
    op_.site = code.site;
    op_.blocks = form_.blocks;
    first_block_ = form_.blocks == 2 ? warp_.block & ~1U : warp_.block;
  }

  void multiply();
  void copy();
  void shift();

 private:
  uint32_t address(const AddressOperand& operand) const {
    return static_cast<uint32_t>(value_of(warp_, operand.base, lane_) + static_cast<uint64_t>(operand.offset));
  }
  uint64_t value(const Source& source) const { return value_of(warp_, source, lane_); }
  GpuMachine& machine() { return interpreter_.machine(); }
  void issue() { machine().issue_tensor(fragment_.thread, 1U << lane_, warp_.first + lane_, op_); }

  void report(FindingKind kind, const std::string& object, const std::string& message) {
    interpreter_.report(fragment_, 1U << lane_, code_, kind, "tensor-core operation", object, message);
  }
  // Whether the columns exist; reported if not.
  bool inside(uint32_t lane, uint32_t column, uint32_t columns) {
    if (lane < kTensorLanes && column + columns <= kTensorColumns) return true;
    report(FindingKind::kOutOfBounds, fmt::format("tensor memory address {:#x}", lane << 16 | column),
           "the operation leaves tensor memory: 128 lanes by 512 columns");
    return false;
  }
  bool descriptor_known(const MatrixDescriptor& descriptor) {
    if (!descriptor.known) refuse("a matrix descriptor of a mode that is not supported");
    return descriptor.known;
  }
  void refuse(const std::string& what) {
    interpreter_.report(fragment_, 1U << lane_, code_, FindingKind::kUnsupported, "not run", interpreter_.instruction(code_.site), what);
  }
  void add_lanes(std::vector<Range>& ranges, uint32_t block, const std::array<bool, kTensorLanes>& lanes, uint32_t column, uint32_t columns);
  std::array<bool, kTensorLanes> lanes_of(const DataPath& path, uint32_t first_lane, uint32_t block, bool all_parts) const;
  bool add_scales(const InstructionDescriptor& what);
  void compute(const InstructionDescriptor& what, const DataPath& path, uint32_t d, bool adds);

  Interpreter& interpreter_;
  Fragment& fragment_;
  const Code& code_;
  const Tcgen05Form& form_;
  Warp& warp_;
  const uint32_t lane_;
  TensorOp op_;
  uint32_t first_block_ = 0;
};

void Operation05::add_lanes(std::vector<Range>& ranges, uint32_t block, const std::array<bool, kTensorLanes>& lanes, uint32_t column,
                            uint32_t columns) {
  for (uint32_t lane = 0; lane < kTensorLanes;) {
    uint32_t end = lane;
    while (end < kTensorLanes && lanes[end]) ++end;
    if (end > lane) add_tensor_ranges(machine().tensor_region(block), lane, end - lane, column, columns, ranges);
    lane = std::max(end, lane + 1);
  }
}

// Lanes of a block that hold a row of D; `all_parts`: wherever its columns lie. Without those that are switched off.
std::array<bool, kTensorLanes> Operation05::lanes_of(const DataPath& path, uint32_t first_lane, uint32_t block, bool all_parts) const {
  std::array<bool, kTensorLanes> made{};
  for (uint32_t row = 0; row < path.rows(); ++row) {
    for (uint32_t column = 0; column < path.n; column += path.columns()) {
      if (!all_parts && column > 0) break;
      const uint32_t lane = path.place(row, column).lane + first_lane;
      if (lane < kTensorLanes) made[lane] = true;
    }
  }
  if (!all_parts) return made;
  for (uint32_t lane = 0; lane < kTensorLanes; ++lane) {
    const uint32_t word = block * 4 + lane / 32;
    if (word < form_.disabled_words && (value(code_.from_vector[word]) >> (lane % 32) & 1) != 0) made[lane] = false;
  }
  return made;
}

// Scale factors: for each 32 rows one column of four bytes, or part of one, on all lanes.
bool Operation05::add_scales(const InstructionDescriptor& what) {
  if (!form_.block_scaled) return true;
  const auto add = [&](const AddressOperand& operand, uint32_t rows) {
    const uint32_t at = address(operand), columns = (rows + 31) / 32;
    if (!inside(lane_of(at), column_of(at), columns)) return false;
    for (uint32_t block = 0; block < form_.blocks; ++block) {
      add_tensor_ranges(machine().tensor_region(first_block_ + block), 0, kTensorLanes, column_of(at), columns, op_.reads);
    }
    return true;
  };
  return add(form_.scale_a, what.m / form_.blocks) && add(form_.scale_b, what.n);
}

void Operation05::multiply() {
  const InstructionDescriptor what = read_descriptor(form_, static_cast<uint32_t>(value(form_.instruction)));
  const DataPath path{what.m, what.n, form_.blocks, form_.warp_specialized, form_.sparse};
  if (!valid(path)) {
    return report(FindingKind::kDivergence, fmt::format("shape m{}n{}", what.m, what.n), "the instruction descriptor names a shape that does not exist");
  }
  const uint32_t d = address(code_.at[0]);
  if (!inside(lane_of(d), column_of(d), path.columns())) return;
  const uint32_t first_lane = lane_of(d);
  if (first_lane != 0 && !(path.scattered() && first_lane == 16)) {
    return report(FindingKind::kMisaligned, fmt::format("tensor memory address {:#x}", d),
                  path.scattered() ? "D of this shape begins at lane 0 or 16" : "D of this shape begins at lane 0");
  }
  op_.kind = TensorKind::kMma;
  op_.accumulator = uint64_t{d} | uint64_t{what.m / 16} << 32 | uint64_t{what.n / 8} << 37 | static_cast<uint64_t>(form_.kind) << 44 |
                    uint64_t{first_block_} << 48;
  const bool adds = ((value(form_.enable) & 1) != 0) != form_.enable.negated;
  const uint32_t depth_b = form_.sparse ? 64 : 32;
  const uint64_t b_bits = value(form_.b_descriptor), a_bits = form_.a_in_tensor_memory ? 0 : value(form_.a_descriptor);
  const OperandShape a_shape{path.rows(), 32, format_bytes(what.a), what.a_transposed};
  const OperandShape b_shape{what.n / form_.blocks, depth_b, format_bytes(what.b), what.b_transposed};
  if (!descriptor_known(tcgen05_descriptor(b_bits)) || !descriptor_known(tcgen05_descriptor(a_bits))) return;
  for (uint32_t block = 0; block < form_.blocks; ++block) {
    const uint32_t at = first_block_ + block;
    if (form_.a_in_tensor_memory) {
      const uint32_t a = address(form_.a);
      if (!inside(lane_of(a), column_of(a), 8)) return;
      if (lane_of(a) != first_lane) return refuse("A on other lanes of tensor memory than D is not supported");
      add_lanes(op_.reads, at, lanes_of(path, first_lane, block, false), column_of(a), 8);
    } else {
      add_ranges(interpreter_, at, interpreter_.operands(tcgen05_descriptor(a_bits), a_bits, a_shape), op_.reads);
    }
    add_ranges(interpreter_, at, interpreter_.operands(tcgen05_descriptor(b_bits), b_bits, b_shape), op_.reads);
    if (form_.sparse) {
      const uint32_t metadata = address(form_.metadata), columns = form_.kind == TcgenKind::kF16 || form_.kind == TcgenKind::kTf32 ? 1 : 2;
      if (!inside(lane_of(metadata), column_of(metadata), columns)) return;
      add_lanes(op_.reads, at, lanes_of(path, first_lane, block, false), column_of(metadata), columns);
    }
    add_lanes(op_.writes, at, lanes_of(path, first_lane, block, true), column_of(d), path.columns());
  }
  if (!add_scales(what)) return;
  issue();
  compute(what, path, d, adds);
}

void Operation05::compute(const InstructionDescriptor& what, const DataPath& path, uint32_t d, bool adds) {
  const bool opaque = form_.sparse || form_.block_scaled || what.a == ElementFormat::kOpaque || what.b == ElementFormat::kOpaque;
  const uint32_t first_lane = lane_of(d);
  const uint32_t depth = 32 / format_bytes(what.a);
  Matrix left(what.m, depth), right(what.n, depth);
  const uint64_t b_bits = value(form_.b_descriptor);
  for (uint32_t block = 0; block < form_.blocks && !opaque; ++block) {
    const uint32_t at = first_block_ + block, rows_a = path.rows(), rows_b = what.n / form_.blocks;
    const OperandShape b_shape{rows_b, 32, format_bytes(what.b), what.b_transposed};
    gather(interpreter_, at, interpreter_.operands(tcgen05_descriptor(b_bits), b_bits, b_shape), b_shape, what.b, what.b_negated,
           {0, rows_b, block * rows_b}, right);
    if (!form_.a_in_tensor_memory) {
      const uint64_t a_bits = value(form_.a_descriptor);
      const OperandShape a_shape{rows_a, 32, format_bytes(what.a), what.a_transposed};
      gather(interpreter_, at, interpreter_.operands(tcgen05_descriptor(a_bits), a_bits, a_shape), a_shape, what.a, what.a_negated,
             {0, rows_a, block * rows_a}, left);
      continue;
    }
    const Columns cells(machine(), machine().tensor_region(at), column_of(address(form_.a)), 8);
    const uint32_t bytes = format_bytes(what.a), elements = 4 / bytes;
    for (uint32_t r = 0; r < rows_a; ++r) {
      const uint32_t lane = (path.place(r, 0).lane + first_lane) % kTensorLanes;
      for (uint32_t k = 0; k < depth; ++k) {
        const float x = decode_element(what.a, cells.value(lane, k / elements) >> (8 * bytes * (k % elements)));
        left.at(block * rows_a + r, k) = what.a_negated ? -x : x;
        left.tags[block * rows_a + r] |= cells.tag(lane, k / elements);
      }
    }
  }
  const std::vector<double> made = opaque ? std::vector<double>() : products(left, right);
  const double scale = std::ldexp(1.0, -static_cast<int>(form_.scale_d));
  for (uint32_t block = 0; block < form_.blocks; ++block) {
    const auto lanes = lanes_of(path, first_lane, block, true);
    Columns cells(machine(), machine().tensor_region(first_block_ + block), column_of(d), path.columns());
    for (uint32_t r = 0; r < path.rows(); ++r) {
      const uint32_t row = block * path.rows() + r;
      for (uint32_t j = 0; j < what.n; ++j) {
        const TensorPlace place = path.place(row, j);
        const uint32_t lane = (place.lane + first_lane) % kTensorLanes;
        if (!lanes[lane]) continue;
        uint8_t tag = opaque ? kOpaqueTag : left.tags[row] | right.tags[j];
        if (adds) tag |= cells.tag(lane, place.column);
        if (opaque) {
          cells.set(lane, place.column, cells.value(lane, place.column), tag);
          continue;
        }
        const double before = adds ? decode_result(what.d, cells.value(lane, place.column)) * scale : 0.0;
        cells.set(lane, place.column, encode_result(what.d, made[size_t{row} * what.n + j] + before, what.saturate), tag);
      }
    }
    cells.store();
  }
}

void Operation05::copy() {
  const uint32_t to = address(code_.at[0]);
  const uint32_t columns = form_.row_bytes / 4;
  const uint64_t bits = value(code_.from[0]);
  const OperandShape shape{form_.rows, form_.row_bytes, 1, false};
  if (!inside(lane_of(to), column_of(to), columns) || !descriptor_known(tcgen05_descriptor(bits))) return;
  const Interpreter::Operands& from = interpreter_.operands(tcgen05_descriptor(bits), bits, shape);
  op_.kind = form_.narrow ? TensorKind::kNarrowCopy : TensorKind::kCopy;
  for (uint32_t block = 0; block < form_.blocks; ++block) {
    add_ranges(interpreter_, first_block_ + block, from, op_.reads);
    const RegionId region = machine().tensor_region(first_block_ + block);
    if (!form_.narrow) {
      add_tensor_ranges(region, 0, kTensorLanes, column_of(to), columns, op_.writes);
      continue;
    }
    for (uint32_t lane = lane_of(to) % 32; lane < kTensorLanes; lane += 32) add_tensor_ranges(region, lane, 1, column_of(to), columns, op_.writes);
  }
  issue();
  for (uint32_t block = 0; block < form_.blocks; ++block) {
    const RegionId shared{interpreter_.shared_region(first_block_ + block)};
    const uint64_t size = machine().bytes(shared).size();
    Columns cells(machine(), machine().tensor_region(first_block_ + block), column_of(to), columns);
    for (uint32_t lane = 0; lane < kTensorLanes; ++lane) {
      if (form_.narrow && lane % 32 != lane_of(to) % 32) continue;
      const uint32_t row = form_.narrow ? lane / 32 : form_.quarters[lane / 32] * 32U + lane % 32;
      for (uint32_t c = 0; c < columns; ++c) {
        const uint64_t offset = from.chunks[row * (form_.row_bytes / 16) + c / 4] + c % 4 * 4;
        uint32_t word = 0;
        uint8_t tags[4] = {};
        if (offset + 4 <= size) machine().peek({shared, offset, 4}, reinterpret_cast<uint8_t*>(&word), tags);
        const uint8_t tag = tags[0] | tags[1] | tags[2] | tags[3];
        cells.set(lane, c, word, form_.opaque ? tag | kOpaqueTag : tag);
      }
    }
    cells.store();
  }
}

void Operation05::shift() {
  constexpr uint32_t kColumns = 8;
  const uint32_t at = address(code_.at[0]);
  if (!inside(lane_of(at), column_of(at), kColumns)) return;
  op_.kind = TensorKind::kShift;
  for (uint32_t block = 0; block < form_.blocks; ++block) {
    add_tensor_ranges(machine().tensor_region(first_block_ + block), 0, kTensorLanes, column_of(at), kColumns, op_.writes);
  }
  issue();
  for (uint32_t block = 0; block < form_.blocks; ++block) {
    Columns cells(machine(), machine().tensor_region(first_block_ + block), column_of(at), kColumns);
    for (uint32_t lane = 0; lane < kTensorLanes; ++lane) {
      for (uint32_t c = 0; c < kColumns; ++c) cells.set(lane, c, cells.value(lane, c), kOpaqueTag);
    }
    cells.store();
  }
}

bool operands_take_effect(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask active) {
  const Tcgen05Form& form = *code.tcgen05;
  const auto fine = [&](const Source& source, const char* use) {
    return interpreter.takes_effect(fragment, code, source, active, use);
  };
  for (const AddressOperand& operand : code.at) {
    if (!fine(operand.base, "address")) return false;
  }
  for (const AddressOperand* operand : {&form.a, &form.metadata, &form.scale_a, &form.scale_b}) {
    if (!fine(operand->base, "address")) return false;
  }
  for (const Source* source : {&form.a_descriptor, &form.b_descriptor, &form.instruction, &code.from[0], &code.from[1]}) {
    if (!fine(*source, "descriptor")) return false;
  }
  for (const Source& source : code.from_vector) {
    if (!fine(source, "lane mask")) return false;
  }
  return fine(form.enable, "predicate");
}

// A pair of blocks: both must exist.
bool pair_exists(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask active) {
  if (code.tcgen05->blocks == 1 || interpreter.kernel().shape.cluster_blocks() % 2 == 0) return true;
  interpreter.report(fragment, active, code, FindingKind::kDivergence, "tensor-core operation", "cta_group::2",
                     "the block has no peer: the cluster must have an even number of blocks");
  interpreter.give_up(fragment);
  return false;
}

template <void (Operation05::*kAct)()>
Flow run_operation(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask active) {
  if (!operands_take_effect(interpreter, fragment, code, active) || !pair_exists(interpreter, fragment, code, active)) return Flow::kStop;
  each_lane(active, [&](uint32_t lane) { (Operation05(interpreter, fragment, code, lane).*kAct)(); });
  return Flow::kNext;
}

Flow run_commit(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask active) {
  if (!operands_take_effect(interpreter, fragment, code, active)) return Flow::kStop;
  GpuMachine& machine = interpreter.machine();
  each_lane(active, [&](uint32_t lane) {
    const uint64_t address = address_of(*fragment.warp, code.at[0], code.space, lane);
    const auto place = interpreter.place(fragment, code.space, address, 8);
    if (!place.mapped || place.space != MemorySpace::kShared || place.range.offset % 8 != 0) {
      return report_unmapped(interpreter, fragment, code, 1U << lane, address, "barrier");
    }
    const auto arrive_at = [&](uint32_t block) {
      const RegionId region{interpreter.shared_region(block)};
      machine.commit_tensor(fragment.thread, lane, machine.mbarrier(region, place.range.offset), block, code.site);
    };
    const uint32_t first_shared = interpreter.shared_region(0);
    if (!code.count_given) return arrive_at(index(place.range.region) - first_shared);
    const auto mask = static_cast<uint32_t>(value_of(*fragment.warp, code.from[1], lane)) & 0xffffU;
    const uint32_t size = interpreter.kernel().shape.cluster_blocks(), first = fragment.warp->block / size * size;
    if (mask >> size != 0) {
      interpreter.report(fragment, 1U << lane, code, FindingKind::kOutOfBounds, "commit", machine.range_name(place.range),
                         "the multicast names blocks that its cluster does not have");
    }
    for (uint32_t rank = 0; rank < size; ++rank) {
      if ((mask >> rank & 1) != 0) arrive_at(first + rank);
    }
  });
  return Flow::kNext;
}

template <FenceKind kKind>
Flow run_fence(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask active) {
  if (!interpreter.isolate(fragment, active)) return Flow::kJump;
  interpreter.machine().fence(fragment.thread, kKind, Scope::kBlock, code.site, Order::kAcqRel);
  return Flow::kNext;
}

// alloc, dealloc, relinquish_alloc_permit: one step for the warp.
Flow run_allocation(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask active) {
  if (fragment.stage == kTogether) {
    fragment.stage = 0;
    return Flow::kNext;
  }
  if (fragment.stage == 0 && !operands_take_effect(interpreter, fragment, code, active)) return Flow::kStop;
  if (const auto flow = come_together(interpreter, fragment, code, active)) return *flow;
  const auto lane = static_cast<uint32_t>(__builtin_ctz(active));
  GpuMachine& machine = interpreter.machine();
  VisibleOp made;
  made.op.kind = code.op;
  made.op.object = machine.tensor_memory(fragment.warp->block);
  made.op.size = 16;
  const auto columns = static_cast<uint32_t>(value_of(*fragment.warp, code.from[0], lane));
  const auto first = static_cast<uint32_t>(value_of(*fragment.warp, code.from[1], lane));
  if (code.op != OpKind::kTensorRelinquish && (columns < 32 || columns > kTensorColumns || (columns & (columns - 1)) != 0)) {
    interpreter.report(fragment, active, code, FindingKind::kLifetime, "allocation", fmt::format("{} columns", columns),
                       "the number of columns must be a power of two from 32 to 512");
    return Flow::kNext;
  }
  if (code.op == OpKind::kTensorFree && first + uint64_t{columns} > kTensorColumns) {
    interpreter.report(fragment, active, code, FindingKind::kLifetime, "deallocation", fmt::format("tensor memory address {:#x}", first),
                       "columns are freed that do not exist");
    return Flow::kNext;
  }
  made.op.operand = code.op == OpKind::kTensorAlloc ? columns : first;
  if (code.op == OpKind::kTensorFree) made.op.bytes = columns;
  if (code.op == OpKind::kTensorAlloc) {
    const uint64_t address = address_of(*fragment.warp, code.at[0], code.space, lane);
    const auto place = interpreter.place(fragment, code.space, address, 4);
    if (!place.mapped || place.space != MemorySpace::kShared) {
      report_unmapped(interpreter, fragment, code, active, address, "write");
      return Flow::kNext;
    }
    made.word = place.range;
  }
  fragment.stage = kTogether;
  interpreter.post(fragment, code, made);
  return Flow::kStop;
}

// --- decoding ---------------------------------------------------------------------------------------------------------

std::shared_ptr<Tcgen05Form> make_form(Modifiers& modifiers, bool grouped = true) {
  auto form = std::make_shared<Tcgen05Form>();
  if (!grouped) return form;
  if (modifiers.take("cta_group::2")) form->blocks = 2;
  else if (!modifiers.take("cta_group::1")) throw NotSupported();
  return form;
}

void take_aligned(Modifiers& modifiers) {
  modifiers.take("sync");
  if (!modifiers.take("aligned")) throw NotSupported();
}

// alloc [address], columns; dealloc first, columns
void decode_alloc(Decoder& decoder, Modifiers& modifiers, Code& code) {
  code.tcgen05 = make_form(modifiers);
  take_aligned(modifiers);
  code.space = take_space(modifiers);
  modifiers.take("b32");
  code.op = OpKind::kTensorAlloc;
  code.at[0] = decoder.address(0);
  code.from[0] = decoder.source(1);
  code.control = run_allocation;
}

void decode_dealloc(Decoder& decoder, Modifiers& modifiers, Code& code) {
  code.tcgen05 = make_form(modifiers);
  take_aligned(modifiers);
  modifiers.take("b32");
  code.op = OpKind::kTensorFree;
  code.from[1] = decoder.source(0);
  code.from[0] = decoder.source(1);
  code.control = run_allocation;
}

void decode_relinquish(Decoder&, Modifiers& modifiers, Code& code) {
  code.tcgen05 = make_form(modifiers);
  take_aligned(modifiers);
  code.op = OpKind::kTensorRelinquish;
  code.control = run_allocation;
}

template <FenceKind kKind>
void decode_fence(Decoder&, Modifiers&, Code& code) { code.control = run_fence<kKind>; }

void decode_commit(Decoder& decoder, Modifiers& modifiers, Code& code) {
  code.tcgen05 = make_form(modifiers);
  if (!modifiers.take("mbarrier::arrive::one")) throw NotSupported();
  code.space = take_space(modifiers);
  code.count_given = modifiers.take("multicast::cluster");
  if (!modifiers.take("b64")) throw NotSupported();
  code.at[0] = decoder.address(0);
  if (code.count_given) code.from[1] = decoder.source(1);
  code.control = run_commit;
}

TcgenKind take_kind(Modifiers& modifiers) {
  static constexpr std::pair<std::string_view, TcgenKind> kKinds[] = {
      {"kind::f16", TcgenKind::kF16}, {"kind::tf32", TcgenKind::kTf32}, {"kind::f8f6f4", TcgenKind::kF8f6f4}, {"kind::i8", TcgenKind::kI8},
      {"kind::mxf8f6f4", TcgenKind::kMxf8f6f4}, {"kind::mxf4", TcgenKind::kMxf4}, {"kind::mxf4nvf4", TcgenKind::kMxf4nvf4}};
  for (const auto& [name, kind] : kKinds) {
    if (modifiers.take(name)) return kind;
  }
  throw NotSupported();
}

bool is_predicate(Decoder& decoder, const Operand& operand) {
  return operand.kind == OperandKind::kRegister && decoder.function().registers[operand.reg].type == "pred";
}

// mma [d], a, b [, [metadata]], idesc [, [scale a], [scale b]] [, {disabled lanes}], enable [, scale d or column mask]
void decode_mma(Decoder& decoder, Modifiers& modifiers, Code& code) {
  std::shared_ptr<Tcgen05Form> form;
  const bool ws = modifiers.take("ws"), sparse = modifiers.take("sp");
  form = make_form(modifiers);
  form->warp_specialized = ws;
  form->sparse = sparse;
  form->kind = take_kind(modifiers);
  form->block_scaled = modifiers.take("block_scale");
  modifiers.take_prefix("scale_vec::");
  modifiers.take_prefix("block16");
  modifiers.take_prefix("block32");
  modifiers.take_prefix("collector::");
  if (form->block_scaled != (form->kind >= TcgenKind::kMxf8f6f4)) throw NotSupported();
  code.at[0] = decoder.address(0);
  size_t at = 1;
  form->a_in_tensor_memory = decoder.operand(at).kind == OperandKind::kAddress;
  if (form->a_in_tensor_memory) form->a = decoder.address(at);
  else form->a_descriptor = decoder.source(at);
  form->b_descriptor = decoder.source(++at);
  ++at;
  if (sparse) form->metadata = decoder.address(at++);
  form->instruction = decoder.source(at++);
  if (form->block_scaled) {
    form->scale_a = decoder.address(at++);
    form->scale_b = decoder.address(at++);
  }
  if (decoder.operand(at).kind == OperandKind::kVector) {
    for (const Operand& part : decoder.operand(at).parts) code.from_vector.push_back(decoder.source(part));
    form->disabled_words = static_cast<uint32_t>(code.from_vector.size());
    ++at;
  }
  const Operand& enable = decoder.operand(at);
  if (!is_predicate(decoder, enable) && enable.kind != OperandKind::kImmediate) throw NotSupported();
  form->enable = decoder.source(at++, "pred");
  if (at < decoder.operands()) {
    const Source last = decoder.source(at++);
    if (ws) code.from[0] = last;  // a mask of columns that are zeros: not looked at, so that the result is opaque
    else if (last.slot != kNone) throw NotSupported();
    else form->scale_d = static_cast<uint32_t>(last.value);
    if (ws) throw NotSupported();
  }
  if (at != decoder.operands()) throw NotSupported();
  code.opaque = form->block_scaled || sparse;
  code.tcgen05 = std::move(form);
  code.control = run_operation<&Operation05::multiply>;
}

// cp.cta_group.shape[.multicast][.to.from] [address], descriptor
void decode_copy(Decoder& decoder, Modifiers& modifiers, Code& code) {
  auto form = make_form(modifiers);
  if (modifiers.take("128x256b")) form->rows = 128, form->row_bytes = 32, form->quarters = {0, 1, 2, 3};
  else if (modifiers.take("128x128b")) form->rows = 128, form->row_bytes = 16, form->quarters = {0, 1, 2, 3};
  else if (modifiers.take("4x256b")) form->rows = 4, form->row_bytes = 32, form->narrow = true;
  else if (modifiers.take("64x128b")) form->rows = 64, form->row_bytes = 16;
  else if (modifiers.take("32x128b")) form->rows = 32, form->row_bytes = 16;
  else throw NotSupported();
  if (form->rows == 64) {
    if (modifiers.take("warpx2::02_13")) form->quarters = {0, 1, 0, 1};
    else if (modifiers.take("warpx2::01_23")) form->quarters = {0, 0, 1, 1};
    else throw NotSupported();
  }
  if (form->rows == 32 && !modifiers.take("warpx4")) throw NotSupported();
  if (modifiers.take("b8x16")) {
    form->opaque = true;
    if (!modifiers.take("b6x16_p32") && !modifiers.take("b4x16_p64")) throw NotSupported();
  }
  code.at[0] = decoder.address(0);
  code.from[0] = decoder.source(1);
  code.opaque = form->opaque;
  code.tcgen05 = std::move(form);
  code.control = run_operation<&Operation05::copy>;
}

void decode_shift(Decoder& decoder, Modifiers& modifiers, Code& code) {
  code.tcgen05 = make_form(modifiers);
  if (!modifiers.take("down")) throw NotSupported();
  code.at[0] = decoder.address(0);
  code.opaque = true;
  code.control = run_operation<&Operation05::shift>;
}

constexpr Row kTable[] = {
    {"tcgen05.alloc", decode_alloc},
    {"tcgen05.dealloc", decode_dealloc},
    {"tcgen05.relinquish_alloc_permit", decode_relinquish},
    {"tcgen05.fence::before_thread_sync", decode_fence<FenceKind::kTensorBefore>},
    {"tcgen05.fence::after_thread_sync", decode_fence<FenceKind::kTensorAfter>},
    {"tcgen05.commit", decode_commit},
    {"tcgen05.mma", decode_mma},
    {"tcgen05.cp", decode_copy},
    {"tcgen05.shift", decode_shift},
};

}  // namespace

std::span<const Row> tcgen05_rows() { return kTable; }

}  // namespace warpcheck::ptx
