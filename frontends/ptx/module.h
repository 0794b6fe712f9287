// A PTX module as its text says it: variables, functions, and their instructions with scopes resolved. No instruction is
// known here by name but those that branch; what opcodes mean is decode's business.
//
// Immutable once parsed; names are views into `text`.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/finding.h"

namespace warpcheck::ptx {

constexpr uint32_t kNone = 0xffffffffU;

enum class OperandKind : uint8_t {
  kRegister,   // reg
  kName,       // a variable, function or special register, plus offset
  kLabel,      // target: index of the instruction
  kTargets,    // target: index into Function::target_lists
  kImmediate,  // value; float_bytes tells how a float was written
  kSink,       // _
  kAddress,    // [base + offset, extra...]: parts[0] is the base (register, name or immediate)
  kVector,     // {a, b}
  kPair,       // p|q
  kList,       // (a, b) of calls
};

struct Operand {
  OperandKind kind = OperandKind::kSink;
  bool negated = false;        // !p
  uint8_t float_bytes = 0;     // immediates: 0 integer, 4 or 8 a float's raw bits
  uint32_t reg = kNone;        // index into Function::registers
  uint32_t target = kNone;
  std::string_view name;
  uint64_t value = 0;
  int64_t offset = 0;
  std::vector<Operand> parts;
};

struct Register {
  std::string_view name;
  std::string_view type;  // "pred", "b32", ...
};

struct Location {
  uint32_t file = 0, line = 0, column = 0;
  uint32_t inlined_at = kNone;  // index into Module::locations: where the call stands
};

struct Instruction {
  std::vector<std::string_view> opcode;  // "ld", "shared", "u32"; `::` kept
  std::vector<Operand> operands;
  uint32_t predicate = kNone;            // register
  bool predicate_negated = false;
  uint32_t line = 0;                     // of the PTX
  uint32_t location = kNone;             // index into Module::locations
};

// Contents of a variable where it names others: `address of name + addend` at `at`.
struct AddressOf {
  uint64_t at = 0;
  uint32_t bytes = 8;
  std::string_view name;
  int64_t addend = 0;
};

struct PtxVariable {
  std::string_view name, space, type;  // space: "shared", "global", "const", "local", "param"
  uint64_t align = 1;
  uint64_t bytes = 0;
  uint32_t element_bytes = 1;
  bool is_extern = false, is_pointer = false;
  bool unsized = false;                // name[]
  std::vector<uint8_t> initial;
  std::vector<AddressOf> addresses;
  uint32_t line = 0;
};

struct Function {
  std::string_view name;
  bool is_entry = false, has_body = false;
  uint32_t line = 0;
  std::vector<PtxVariable> params, results;
  std::vector<PtxVariable> variables;   // .shared, .local, .param of its body
  std::vector<Register> registers;
  std::vector<Instruction> instructions;
  std::vector<std::vector<uint32_t>> target_lists;
  std::optional<std::array<uint32_t, 3>> required_block, largest_block, cluster;
  bool explicit_cluster = false;
};

struct Module {
  std::string file;                     // as errors name it
  std::unique_ptr<const std::string> text;
  std::string_view version, target;
  uint32_t address_size = 64;
  std::unordered_map<uint32_t, std::string> files;
  std::unordered_map<std::string_view, std::string> strings;  // of .debug_str: $L__info_string0 -> mangled name
  std::vector<PtxVariable> variables;
  std::vector<Function> functions;
  std::vector<Location> locations;
};

// Bytes of a fundamental type ("b32" -> 4); 0 if it is none. Predicates have 1.
uint32_t type_bytes(std::string_view type);

// The place of an instruction in the source by .loc where there is one, else in the PTX.
Site site_of(const Module& module, const Instruction& instruction);

// The opcode as written: "st.shared.u32".
std::string opcode_text(const Instruction& instruction);

}  // namespace warpcheck::ptx
