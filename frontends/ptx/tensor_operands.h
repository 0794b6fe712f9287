// What wgmma and tcgen05 have in common: matrices in shared memory, as ranges for the model and as values.
#pragma once

#include "frontends/ptx/interpreter.h"
#include "frontends/ptx/tensor_math.h"

namespace warpcheck::ptx {

// Adds the operand's ranges in the shared memory of `block`.
void add_ranges(const Interpreter& interpreter, uint32_t block, const Interpreter::Operands& operands, std::vector<Range>& ranges);

// Rows [first, first + to.rows - at) of the operand become rows at.. of `to`; `negate`: with the other sign.
struct RowPart {
  uint32_t first = 0, count = 0, at = 0;
};
void gather(Interpreter& interpreter, uint32_t block, const Interpreter::Operands& operands, const OperandShape& shape,
            ElementFormat format, bool negate, RowPart part, Matrix& to);

}  // namespace warpcheck::ptx
