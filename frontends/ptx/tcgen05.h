// The forms of tcgen05 instructions, and how matrices lie in tensor memory.
#pragma once

#include <array>
#include <functional>

#include "frontends/ptx/tensor_operands.h"
#include "model/tensor_memory.h"

namespace warpcheck::ptx {

enum class TcgenKind : uint8_t { kF16, kTf32, kF8f6f4, kI8, kMxf8f6f4, kMxf4, kMxf4nvf4 };

// Blocks of tensor memory that tcgen05.ld and st move, and what tcgen05.cp copies.
struct Tcgen05Form {
  uint32_t blocks = 1;             // .cta_group
  // mma
  TcgenKind kind = TcgenKind::kF16;
  bool warp_specialized = false, sparse = false, block_scaled = false;
  uint32_t scale_columns = 1;      // bytes of scale factors a row; .scale_vec
  uint32_t disabled_words = 0;     // operands that switch lanes of D off, in from_vector
  uint32_t scale_d = 0;            // D is divided by two to this power
  // cp
  uint32_t rows = 0, row_bytes = 0;
  std::array<uint8_t, 4> quarters{};  // first row, in units of 32, that each quarter of the lanes receives
  bool narrow = false, opaque = false;
  // ld, st
  uint32_t lanes = 32, row_columns = 1, repeat = 1;  // 32-bit columns of the pattern
  bool split = false;              // 16x32bx2: the second half begins at an immediate distance
  uint32_t split_columns = 0;
  bool halves = false;             // two 16-bit columns a register
  // operands of mma besides code.at[0] (D)
  AddressOperand a, metadata, scale_a, scale_b;
  bool a_in_tensor_memory = false;
  Source a_descriptor, b_descriptor, instruction, enable;
};

constexpr uint32_t lane_of(uint32_t address) { return address >> 16; }
constexpr uint32_t column_of(uint32_t address) { return address & 0xffff; }

// Where D (and A, with one block row a lane) of an MMA lies.
struct TensorPlace {
  uint32_t block = 0;  // 0: the even block of a pair
  uint32_t lane = 0, column = 0;
};

}  // namespace warpcheck::ptx
