// The body of a function: declarations, labels and instructions in nested scopes. Names are resolved while reading: a
// register where it is used, a label when its scope ends.
#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "frontends/ptx/cursor.h"
#include "frontends/ptx/module.h"

namespace warpcheck::ptx {

class LineTable;

class BodyParser {
 public:
  BodyParser(Cursor& cursor, Module& module, LineTable& lines, Function& function)
      : cursor_(cursor), module_(module), lines_(lines), function_(function) {}

  // The opening brace has been read.
  void parse();

 private:
  struct Range {  // %r<17>; a register comes to be where it is first used
    std::string_view type;
    uint64_t count = 0;
  };
  struct Scope {
    std::unordered_map<std::string_view, uint32_t> registers;
    std::unordered_map<std::string_view, Range> ranges;
    std::unordered_map<std::string_view, uint32_t> labels;   // -> instruction
    std::unordered_map<std::string_view, uint32_t> targets;  // -> target list
    std::vector<std::pair<uint32_t, uint32_t>> jumps;        // (instruction, operand) not yet resolved
    std::vector<std::pair<uint32_t, std::vector<Token>>> lists;  // target lists not yet resolved
    uint32_t line = 0;
  };

  void statement();
  void directive();
  void declare_registers();
  void label();
  void instruction();
  void close_scope();
  void resolve(const Scope& scope, Scope* outer);
  uint32_t find_register(std::string_view name);
  uint32_t add_register(std::string_view name, std::string_view type);
  Operand operand(uint32_t depth);
  Operand primary(uint32_t depth);
  Operand group(OperandKind kind, std::string_view close, uint32_t depth);
  Operand address(uint32_t depth);
  std::string_view dotted_name();

  Cursor& cursor_;
  Module& module_;
  LineTable& lines_;
  Function& function_;
  std::vector<Scope> scopes_;
};

}  // namespace warpcheck::ptx
