#include "frontends/ptx/parse_body.h"

#include <algorithm>

#include "frontends/ptx/declarations.h"
#include "frontends/ptx/line_table.h"

namespace warpcheck::ptx {
namespace {

constexpr size_t kDeepestScope = 256;      // nested { }
constexpr uint32_t kDeepestOperand = 16;   // nested {a, [b, {c}]}

bool jumps(const Instruction& i) { return i.opcode[0] == "bra" || i.opcode[0] == "brx"; }

}  // namespace

void BodyParser::parse() {
  scopes_.emplace_back();
  scopes_.back().line = cursor_.peek().line;
  while (!scopes_.empty()) statement();
}

void BodyParser::statement() {
  const Token& token = cursor_.peek();
  if (token.kind == TokenKind::kEnd) cursor_.fail("} for the { of line " + std::to_string(scopes_.back().line));
  if (cursor_.take(";")) return;
  if (cursor_.take("{")) {
    if (scopes_.size() >= kDeepestScope) cursor_.fail(token, "at most 256 nested scopes");
    scopes_.emplace_back();
    scopes_.back().line = token.line;
  } else if (cursor_.take("}")) {
    close_scope();
  } else if (token.kind == TokenKind::kDotted) {
    directive();
  } else if (token.kind == TokenKind::kWord && cursor_.peek(1).is(":")) {
    label();
  } else if (token.kind == TokenKind::kWord || token.is("@")) {
    instruction();
  } else {
    cursor_.fail("an instruction");
  }
}

void BodyParser::directive() {
  const std::string_view name = cursor_.peek().text;
  if (name == ".loc") {
    cursor_.next();
    lines_.read(cursor_);
  } else if (name == ".reg") {
    cursor_.next();
    declare_registers();
  } else if (name == ".pragma") {
    cursor_.next();
    if (cursor_.next().kind != TokenKind::kString) cursor_.fail("a string");
    cursor_.expect(";");
  } else if (name == ".file") {
    cursor_.next();
    parse_file_directive(cursor_, module_);
  } else if (name == ".section") {
    cursor_.next();
    parse_section(cursor_, module_);
  } else {
    parse_variables(cursor_, function_.variables);
  }
}

uint32_t BodyParser::add_register(std::string_view name, std::string_view type) {
  function_.registers.push_back({name, type});
  return static_cast<uint32_t>(function_.registers.size() - 1);
}

void BodyParser::declare_registers() {
  bool vector = false;
  if (cursor_.peek().is(".v2") || cursor_.peek().is(".v4")) vector = cursor_.next().kind == TokenKind::kDotted;
  const Token& type = cursor_.peek();
  if (type.kind != TokenKind::kDotted || type_bytes(type.text.substr(1)) == 0) cursor_.fail("a register type");
  cursor_.next();
  const std::string_view type_name = type.text.substr(1);
  do {
    const Token& name = cursor_.word("a register name");
    Scope& scope = scopes_.back();
    if (cursor_.take("<")) {
      scope.ranges[name.text] = {type_name, cursor_.integer("a number of registers", 0xffffffffU)};
      cursor_.expect(">");
    } else {
      scope.registers[name.text] = vector ? kNone : add_register(name.text, type_name);
    }
  } while (cursor_.take(","));
  cursor_.expect(";");
}

uint32_t BodyParser::find_register(std::string_view name) {
  const size_t letters = name.find_last_not_of("0123456789");
  const std::string_view prefix = name.substr(0, letters + 1), digits = name.substr(letters + 1);
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (const auto found = scope->registers.find(name); found != scope->registers.end()) return found->second;
    if (digits.empty() || digits.size() > 9 || (digits.size() > 1 && digits[0] == '0')) continue;
    const auto range = scope->ranges.find(prefix);
    if (range == scope->ranges.end()) continue;
    if (std::stoul(std::string(digits)) >= range->second.count) continue;
    return scope->registers[name] = add_register(name, range->second.type);
  }
  return kNone;
}

void BodyParser::label() {
  const Token& name = cursor_.next();
  cursor_.expect(":");
  Scope& scope = scopes_.back();
  if (cursor_.take(".branchtargets")) {
    scope.targets[name.text] = static_cast<uint32_t>(function_.target_lists.size() + scope.lists.size());
    std::vector<Token> names;
    do names.push_back(cursor_.word("a label"));
    while (cursor_.take(","));
    cursor_.expect(";");
    scope.targets[name.text] = static_cast<uint32_t>(function_.target_lists.size());
    scope.lists.emplace_back(static_cast<uint32_t>(function_.target_lists.size()), std::move(names));
    function_.target_lists.emplace_back();
    return;
  }
  if (cursor_.peek().is(".calltargets") || cursor_.peek().is(".callprototype")) {
    while (!cursor_.at_end() && !cursor_.peek().is(";")) cursor_.next();
    cursor_.expect(";");
    return;
  }
  if (!scope.labels.emplace(name.text, static_cast<uint32_t>(function_.instructions.size())).second) {
    cursor_.fail(name, "a label that this scope does not have yet");
  }
}

void BodyParser::instruction() {
  Instruction made;
  made.line = cursor_.peek().line;
  made.location = lines_.current();
  if (cursor_.take("@")) {
    made.predicate_negated = cursor_.take("!");
    const Token& name = cursor_.word("a predicate register");
    made.predicate = find_register(name.text);
    if (made.predicate == kNone) cursor_.fail(name, "a predicate register");
    made.line = cursor_.peek().line;
  }
  made.opcode.push_back(cursor_.word("an instruction").text);
  while (cursor_.peek().kind == TokenKind::kDotted) made.opcode.push_back(cursor_.next().text.substr(1));
  if (!cursor_.peek().is(";")) {
    do made.operands.push_back(operand(0));
    while (cursor_.take(","));
  }
  if (!cursor_.take(";")) cursor_.fail("; or ,");
  if (jumps(made)) {
    for (uint32_t i = 0; i < made.operands.size(); ++i) {
      if (made.operands[i].kind == OperandKind::kName) {
        scopes_.back().jumps.emplace_back(static_cast<uint32_t>(function_.instructions.size()), i);
      }
    }
  }
  function_.instructions.push_back(std::move(made));
}

// %tid.x and vector elements: a name and what is dotted to it.
std::string_view BodyParser::dotted_name() {
  const Token& word = cursor_.next();
  const Token& dotted = cursor_.peek();
  if (dotted.kind != TokenKind::kDotted || !dotted.touches(word)) return word.text;
  cursor_.next();
  return {word.text.data(), word.text.size() + dotted.text.size()};
}

Operand BodyParser::primary(uint32_t depth) {
  if (depth > kDeepestOperand) cursor_.fail("fewer than 16 nested operands");
  const Token& token = cursor_.peek();
  Operand made;
  if (cursor_.take("!")) {
    made = primary(depth + 1);
    made.negated = !made.negated;
  } else if (cursor_.take("{")) {
    made = group(OperandKind::kVector, "}", depth + 1);
  } else if (cursor_.take("(")) {
    made = group(OperandKind::kList, ")", depth + 1);
  } else if (cursor_.take("[")) {
    made = address(depth + 1);
  } else if (token.kind == TokenKind::kNumber || token.is("-") || token.is("+")) {
    const Number number = cursor_.number("an operand");
    made.kind = OperandKind::kImmediate;
    made.value = number.value;
    made.float_bytes = number.float_bytes;
  } else if (token.kind == TokenKind::kWord) {
    made.name = dotted_name();
    made.reg = made.name == "_" ? kNone : find_register(made.name);
    made.kind = made.name == "_" ? OperandKind::kSink : made.reg != kNone ? OperandKind::kRegister : OperandKind::kName;
  } else {
    cursor_.fail("an operand");
  }
  return made;
}

Operand BodyParser::operand(uint32_t depth) {
  Operand made = primary(depth);
  if (cursor_.take("|")) {
    Operand pair;
    pair.kind = OperandKind::kPair;
    pair.parts.push_back(std::move(made));
    pair.parts.push_back(primary(depth + 1));
    return pair;
  }
  const bool plus = cursor_.peek().is("+"), minus = cursor_.peek().is("-");
  if ((plus || minus) && (made.kind == OperandKind::kName || made.kind == OperandKind::kRegister)) {
    if (plus) cursor_.next();
    made.offset = static_cast<int64_t>(cursor_.integer("an offset"));
  }
  return made;
}

Operand BodyParser::group(OperandKind kind, std::string_view close, uint32_t depth) {
  Operand made;
  made.kind = kind;
  if (cursor_.take(close)) return made;
  do made.parts.push_back(operand(depth));
  while (cursor_.take(","));
  cursor_.expect(close);
  return made;
}

Operand BodyParser::address(uint32_t depth) {
  Operand made = group(OperandKind::kAddress, "]", depth);
  if (made.parts.empty()) cursor_.fail("an address");
  return made;
}

void BodyParser::resolve(const Scope& scope, Scope* outer) {
  for (const auto& [instruction, number] : scope.jumps) {
    Operand& operand = function_.instructions[instruction].operands[number];
    if (const auto found = scope.labels.find(operand.name); found != scope.labels.end()) {
      operand.kind = OperandKind::kLabel;
      operand.target = found->second;
    } else if (const auto list = scope.targets.find(operand.name); list != scope.targets.end()) {
      operand.kind = OperandKind::kTargets;
      operand.target = list->second;
    } else if (outer != nullptr) {
      outer->jumps.emplace_back(instruction, number);
    } else {
      throw_unknown_label(cursor_.file(), function_.instructions[instruction].line, operand.name);
    }
  }
  for (const auto& [list, names] : scope.lists) {
    for (const Token& name : names) {
      const auto found = scope.labels.find(name.text);
      if (found == scope.labels.end()) cursor_.fail(name, "a label of the same scope");
      function_.target_lists[list].push_back(found->second);
    }
  }
}

void BodyParser::close_scope() {
  const Scope scope = std::move(scopes_.back());
  scopes_.pop_back();
  resolve(scope, scopes_.empty() ? nullptr : &scopes_.back());
}

}  // namespace warpcheck::ptx
