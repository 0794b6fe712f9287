// From instructions as written to Code: the table of what is supported, and what its rows have at hand.
//
// A row is a pattern (opcode and leading modifiers) with a function that reads the rest: it takes every modifier and
// operand it understands and fills in the Code. Modifiers that nobody took make the instruction unsupported, so nothing
// is ever ignored in silence. An unsupported instruction is no error until a thread reaches it.
#pragma once

#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "frontends/ptx/cfg.h"
#include "frontends/ptx/code.h"

namespace warpcheck::ptx {

// Thrown by rows, caught by decode: the instruction, or this form of it, is not supported.
struct NotSupported {};

// The modifiers of an opcode that have not been understood yet; in any order, as compilers differ.
class Modifiers {
 public:
  Modifiers(const Instruction& instruction, size_t matched)
      : left_(instruction.opcode.begin() + static_cast<std::ptrdiff_t>(matched), instruction.opcode.end()) {}

  bool take(std::string_view name);
  bool take_prefix(std::string_view prefix);  // all that start so: "L2::"
  std::string_view take_type();               // the first type; NotSupported if there is none
  bool has_type() const;
  bool take_first() { return !left_.empty() && (left_.erase(left_.begin()), true); }
  std::string_view front() const { return left_.empty() ? std::string_view() : left_.front(); }
  void done() const;                          // NotSupported if some are left

 private:
  std::vector<std::string_view> left_;
};

// What a symbol stands for in an operand.
struct Symbol {
  uint64_t address = 0;  // of shared variables 32 bits, of parameters the offset; others 64
  MemorySpace space = MemorySpace::kGlobal;
};

using Symbols = std::unordered_map<std::string_view, Symbol>;

class Decoder {
 public:
  Decoder(const Module& module, const Function& function, const Symbols& symbols, Kernel& kernel);

  // Fills kernel.code, slots, specials, opcodes, countless_barriers. Throws InputError for names that do not exist.
  void run();

  // --- for rows
  const Instruction& instruction() const { return function_.instructions[at_]; }
  const Operand& operand(size_t i) const;     // NotSupported if there is none
  size_t operands() const { return instruction().operands.size(); }
  Source source(const Operand& operand, std::string_view type = {});
  Source source(size_t i, std::string_view type = {}) { return source(operand(i), type); }
  uint32_t destination(const Operand& operand);  // a slot nobody reads for _
  uint32_t destination(size_t i) { return destination(operand(i)); }
  AddressOperand address(const Operand& operand);
  AddressOperand address(size_t i) { return address(operand(i)); }
  // Of an address that starts at a variable; kGeneric for others.
  MemorySpace symbol_space(const Operand& operand) const;
  bool result_dead(const Operand& operand) const;
  // Whether a load's value may never take effect: nothing behind it in its stretch of code that runs for certain stores it
  // or decides by it.
  bool may_go_unused() const;
  std::vector<uint32_t> live_registers() const;  // before the instruction
  const ControlFlow& flow() const { return flow_; }
  const Function& function() const { return function_; }
  Kernel& kernel() { return kernel_; }
  uint32_t position() const { return at_; }
  void use_countless_barrier(uint32_t id);

 private:
  void decode(Code& code);
  uint32_t slot_of(Special special);

  const Module& module_;
  const Function& function_;
  const Symbols& symbols_;
  Kernel& kernel_;
  const ControlFlow flow_;
  uint32_t at_ = 0;
  uint32_t sink_ = 0;
};

struct Row {
  std::string_view pattern;  // "mul.wide"
  void (*decode)(Decoder&, Modifiers&, Code&);
};

// The table, in parts by subject.
std::span<const Row> integer_rows();
std::span<const Row> move_rows();
std::span<const Row> float_rows();
std::span<const Row> general_float_rows();
std::span<const Row> convert_rows();
std::span<const Row> opaque_float_rows();
std::span<const Row> memory_rows();
std::span<const Row> atomic_rows();
std::span<const Row> control_rows();
std::span<const Row> barrier_rows();
std::span<const Row> mbarrier_rows();
std::span<const Row> warp_rows();
std::span<const Row> matrix_rows();
std::span<const Row> mma_rows();
std::span<const Row> async_rows();
std::span<const Row> tensor_rows();
std::span<const Row> wgmma_rows();
std::span<const Row> tcgen05_rows();
std::span<const Row> tcgen05_move_rows();

}  // namespace warpcheck::ptx
