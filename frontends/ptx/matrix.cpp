// Matrices of 8 rows of 16 bytes that a warp moves together: ldmatrix, stmatrix, movmatrix of 16-bit elements.
//
// Lane 8m + r names the address of row r of matrix m; lane 4r + c holds elements 2c and 2c + 1 of row r, or with .trans of
// column r. An access is that of the lane that holds the elements.
#include "frontends/ptx/collective.h"
#include "frontends/ptx/memory_operands.h"
#include "frontends/ptx/visible.h"

namespace warpcheck::ptx {
namespace {

constexpr uint32_t kRows8 = 8, kRowBytes = 16;

// What a lane holds of a matrix: elements 2c and 2c + 1 of a row, or one element each of two rows.
struct Piece {
  uint32_t row, byte, bytes;
};

std::array<Piece, 2> pieces_of(uint32_t lane, bool transposed) {
  const uint32_t major = lane / 4, minor = 2 * (lane % 4);
  if (transposed) return {Piece{minor, 2 * major, 2}, Piece{minor + 1, 2 * major, 2}};
  return {Piece{major, 2 * minor, 4}, Piece{0, 0, 0}};
}

struct RowPlace {
  Range range;
  uint32_t lane = 0;
};

Range part(const Range& row, const Piece& piece) { return {row.region, row.offset + piece.byte, piece.bytes}; }

// The place of each row; false after a report.
bool find_rows(Interpreter& interpreter, Fragment& fragment, const Code& code, size_t matrices, std::vector<RowPlace>& rows) {
  LaneMask misaligned = 0;
  for (uint32_t lane = 0; lane < kRows8 * matrices; ++lane) {
    const uint64_t address = address_of(*fragment.warp, code.at[0], code.space, lane);
    const auto place = interpreter.place(fragment, code.space, address, kRowBytes);
    if (!place.mapped || place.space != MemorySpace::kShared) {
      report_unmapped(interpreter, fragment, code, 1U << lane, address, "row");
      return false;
    }
    if (place.range.offset % kRowBytes != 0) misaligned |= 1U << lane;
    rows.push_back({place.range, lane});
  }
  if (misaligned == 0) return true;
  const auto first = static_cast<uint32_t>(__builtin_ctz(misaligned));
  interpreter.report(fragment, misaligned, code, FindingKind::kMisaligned, "row", interpreter.machine().range_name(rows[first].range),
                     "the address of a row must be a multiple of 16");
  return false;
}

bool whole_warp(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask members) {
  if (members == ~0U) return true;
  interpreter.unsupported(fragment, code, "a warp of fewer than 32 lanes cannot run this together");
  return false;
}

bool addresses_take_effect(Interpreter& interpreter, Fragment& fragment, const Code& code, size_t matrices) {
  const LaneMask naming = matrices == 4 ? ~0U : (1U << (kRows8 * matrices)) - 1;
  return interpreter.takes_effect(fragment, code, code.at[0].base, naming, "address");
}

Flow load_matrices(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask members) {
  const size_t matrices = code.to_vector.size();
  std::vector<RowPlace> rows;
  if (!whole_warp(interpreter, fragment, code, members) || !addresses_take_effect(interpreter, fragment, code, matrices)) return Flow::kStop;
  if (!find_rows(interpreter, fragment, code, matrices, rows)) return Flow::kNext;
  GpuMachine& machine = interpreter.machine();
  machine.begin_event(fragment.thread, code.site, true);
  for (size_t m = 0; m < matrices; ++m) {
    LaneMask uninitialized = 0, opaque = 0;
    for (uint32_t lane = 0; lane < 32; ++lane) {
      uint64_t value = 0;
      unsigned at = 0;
      for (const Piece& piece : pieces_of(lane, code.mode == 1)) {
        if (piece.bytes == 0) continue;
        const Range range = part(rows[m * kRows8 + piece.row].range, piece);
        uint64_t bits = 0;
        uint8_t copy[4] = {}, tags[4] = {};
        if (machine.load(fragment.thread, lane, range, &bits) != ValueTag::kKnown) machine.peek(range, copy, tags);
        value |= bits << at;
        at += 8 * piece.bytes;
        const uint8_t tag = tags[0] | tags[1] | tags[2] | tags[3];
        if ((tag & kOpaqueTag) != 0) opaque |= 1U << lane;
        if ((tag & kUninitializedTag) == 0) continue;
        uninitialized |= 1U << lane;
        interpreter.remember_uninitialized(fragment, code, range, lane);
      }
      fragment.warp->slots[code.to_vector[m]].lane[lane] = value;
    }
    mark(*fragment.warp, code.to_vector[m], ~0U, uninitialized, opaque, code.site);
  }
  return Flow::kNext;
}

Flow store_matrices(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask members) {
  const size_t matrices = code.from_vector.size();
  std::vector<RowPlace> rows;
  if (!whole_warp(interpreter, fragment, code, members) || !addresses_take_effect(interpreter, fragment, code, matrices)) return Flow::kStop;
  if (!find_rows(interpreter, fragment, code, matrices, rows)) return Flow::kNext;
  Warp& warp = *fragment.warp;
  interpreter.machine().begin_event(fragment.thread, code.site, true);
  for (size_t m = 0; m < matrices; ++m) {
    const LaneMask opaque = interpreter.stored(fragment, code, code.from_vector[m], members);
    for (uint32_t lane = 0; lane < 32; ++lane) {
      uint64_t value = value_of(warp, code.from_vector[m], lane);
      const ValueTag tag = (opaque >> lane & 1) != 0 ? ValueTag::kOpaque : ValueTag::kKnown;
      for (const Piece& piece : pieces_of(lane, code.mode == 1)) {
        if (piece.bytes == 0) continue;
        interpreter.machine().store(fragment.thread, lane, part(rows[m * kRows8 + piece.row].range, piece), &value, tag);
        value >>= 8 * piece.bytes;
      }
    }
  }
  return Flow::kNext;
}

Flow move_matrix(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask members) {
  if (!whole_warp(interpreter, fragment, code, members)) return Flow::kStop;
  Warp& warp = *fragment.warp;
  std::array<uint64_t, 32> made{};
  LaneMask uninitialized = 0, opaque = 0;
  const Source& from = code.from[0];
  const Slot* slot = from.slot == kNone ? nullptr : &warp.slots[from.slot];
  for (uint32_t lane = 0; lane < 32; ++lane) {
    for (uint32_t half = 0; half < 2; ++half) {
      const uint32_t row = 2 * (lane % 4) + half, column = lane / 4;
      const uint32_t holder = 4 * row + column / 2;
      made[lane] |= (value_of(warp, from, holder) >> (16 * (column % 2)) & 0xffff) << (16 * half);
      if (slot == nullptr) continue;
      uninitialized |= (slot->uninitialized >> holder & 1) << lane;
      opaque |= (slot->opaque >> holder & 1) << lane;
    }
  }
  const SiteId origin = slot == nullptr ? kNoSite : slot->origin;
  warp.slots[code.to[0]].lane = made;
  mark(warp, code.to[0], ~0U, uninitialized, opaque, origin);
  return Flow::kNext;
}

size_t take_shape(Modifiers& modifiers, Code& code) {
  if (!modifiers.take("m8n8")) throw NotSupported();
  const size_t matrices = modifiers.take("x4") ? 4 : modifiers.take("x2") ? 2 : modifiers.take("x1") ? 1 : 0;
  code.mode = modifiers.take("trans") ? 1 : 0;
  code.space = take_space(modifiers);
  if (matrices == 0 || !modifiers.take("b16")) throw NotSupported();
  return matrices;
}

void decode_load(Decoder& decoder, Modifiers& modifiers, Code& code) {
  const size_t matrices = take_shape(modifiers, code);
  code.to_vector = destinations_of(decoder, decoder.operand(0));
  code.at[0] = decoder.address(1);
  if (code.to_vector.size() != matrices) throw NotSupported();
  set_aligned(code, load_matrices);
}

void decode_store(Decoder& decoder, Modifiers& modifiers, Code& code) {
  const size_t matrices = take_shape(modifiers, code);
  code.at[0] = decoder.address(0);
  code.from_vector = sources_of(decoder, decoder.operand(1));
  if (code.from_vector.size() != matrices) throw NotSupported();
  set_aligned(code, store_matrices);
}

void decode_move(Decoder& decoder, Modifiers& modifiers, Code& code) {
  if (!modifiers.take("m8n8") || !modifiers.take("trans") || !modifiers.take("b16")) throw NotSupported();
  code.to[0] = decoder.destination(0);
  code.from[0] = decoder.source(1);
  set_aligned(code, move_matrix);
}

constexpr Row kRows[] = {
    {"ldmatrix.sync.aligned", decode_load},
    {"stmatrix.sync.aligned", decode_store},
    {"movmatrix.sync.aligned", decode_move},
};

}  // namespace

std::span<const Row> matrix_rows() { return kRows; }

}  // namespace warpcheck::ptx
