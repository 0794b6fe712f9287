#include "frontends/ptx/declarations.h"

#include <algorithm>
#include <array>

#include "model/machine.h"

namespace warpcheck::ptx {
namespace {

constexpr uint64_t kLargestVariable = uint64_t{1} << 32;
constexpr uint64_t kLargestInitializer = uint64_t{1} << 28;
constexpr uint32_t kDeepestInitializer = 32;

bool is_linkage(std::string_view word) {
  constexpr std::array<std::string_view, 5> kWords = {".visible", ".extern", ".weak", ".common", ".internal"};
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

bool is_space_name(std::string_view word) {
  constexpr std::array<std::string_view, 8> kWords = {".global", ".const", ".shared", ".local", ".param", ".tex",
                                                      ".shared::cta", ".shared::cluster"};
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

// What stands between the state space and the name.
void parse_attributes(Cursor& cursor, PtxVariable& variable, uint32_t& vector) {
  while (cursor.peek().kind == TokenKind::kDotted) {
    const Token& token = cursor.next();
    const std::string_view name = token.text.substr(1);
    if (name == "align") {
      const Token& size = cursor.peek();
      variable.align = cursor.integer("an alignment", uint64_t{1} << 20);
      if (variable.align == 0 || (variable.align & (variable.align - 1)) != 0) cursor.fail(size, "a power of two as alignment");
    } else if (name == "v2" || name == "v4" || name == "v8") {
      vector = static_cast<uint32_t>(name[1] - '0');
    } else if (name == "ptr") {
      variable.is_pointer = true;
    } else if (name == "attribute") {
      cursor.expect("(");
      cursor.skip_balanced("(", ")");
    } else if (variable.is_pointer && is_space_name(token.text)) {
      continue;  // .ptr .global
    } else if (type_bytes(name) != 0) {
      variable.type = name;
      variable.element_bytes = type_bytes(name);
    } else if (!is_linkage(token.text)) {
      cursor.fail(token, "a type");
    }
  }
  if (variable.type.empty()) cursor.fail("a type");
}

class Initializer {
 public:
  Initializer(Cursor& cursor, PtxVariable& variable) : cursor_(cursor), variable_(variable) {}

  void parse() {
    value(0);
    if (variable_.initial.size() > variable_.bytes) cursor_.fail("an initializer of " + std::to_string(variable_.bytes) + " bytes");
  }

 private:
  void value(uint32_t depth) {
    if (depth > kDeepestInitializer) cursor_.fail("fewer than 32 nested braces");
    if (cursor_.take("{")) {
      if (cursor_.take("}")) return;
      do value(depth + 1);
      while (cursor_.take(","));
      cursor_.expect("}");
    } else if (cursor_.peek().kind == TokenKind::kWord) {
      name();
    } else {
      const Number number = cursor_.number("an initial value");
      put(number.value);
    }
  }

  // generic(sym) + 4, sym, 0xff(sym)
  void name() {
    const Token* word = &cursor_.next();
    if (cursor_.take("(")) {
      word = &cursor_.word("a variable");
      cursor_.expect(")");
    }
    AddressOf address{variable_.initial.size(), variable_.element_bytes, word->text, 0};
    if (cursor_.peek().is("-")) {
      address.addend = static_cast<int64_t>(cursor_.integer("an offset"));
    } else if (cursor_.take("+")) {
      address.addend = static_cast<int64_t>(cursor_.integer("an offset"));
    }
    variable_.addresses.push_back(address);
    put(0);
  }

  void put(uint64_t value) {
    if (variable_.initial.size() >= kLargestInitializer) cursor_.fail("an initializer below 256 MiB");
    for (uint32_t i = 0; i < variable_.element_bytes; ++i) {
      variable_.initial.push_back(static_cast<uint8_t>(i < 8 ? value >> (8 * i) : 0));
    }
  }

  Cursor& cursor_;
  PtxVariable& variable_;
};

// name[2][4] = {...}: the part of a declaration that repeats after commas.
void parse_declarator(Cursor& cursor, PtxVariable& variable, uint32_t vector) {
  const Token& name = cursor.word("a variable name");
  variable.name = name.text;
  variable.line = name.line;
  uint64_t count = vector;
  bool multiple = false;
  if (cursor.take("<")) {  // obsolete: name<4>
    count *= cursor.integer("a count", kLargestVariable);
    cursor.expect(">");
    multiple = true;
  }
  while (cursor.take("[")) {
    if (cursor.take("]")) {
      variable.unsized = true;
      continue;
    }
    const Token& size = cursor.peek();
    count *= cursor.integer("an array size", kLargestVariable);
    if (count > kLargestVariable) cursor.fail(size, "an array below 4 GiB");
    cursor.expect("]");
    multiple = true;
  }
  variable.bytes = variable.unsized && !multiple ? 0 : count * variable.element_bytes;
  if (variable.align < variable.element_bytes) variable.align = variable.element_bytes;
  if (cursor.take("=")) {
    if (variable.unsized) variable.bytes = kLargestInitializer;
    Initializer(cursor, variable).parse();
    if (variable.unsized) variable.bytes = variable.initial.size();
  }
}

PtxVariable parse_head(Cursor& cursor, uint32_t& vector) {
  PtxVariable variable;
  while (is_linkage(cursor.peek().text)) variable.is_extern |= cursor.next().text == ".extern";
  const Token& space = cursor.peek();
  if (!is_space_name(space.text)) cursor.fail("a directive or declaration");
  cursor.next();
  variable.space = space.text.substr(1);
  if (variable.space.substr(0, 6) == "shared") variable.space = "shared";
  parse_attributes(cursor, variable, vector);
  return variable;
}

}  // namespace

void parse_variables(Cursor& cursor, std::vector<PtxVariable>& into) {
  uint32_t vector = 1;
  const PtxVariable head = parse_head(cursor, vector);
  do {
    into.push_back(head);
    parse_declarator(cursor, into.back(), vector);
  } while (cursor.take(","));
  if (!cursor.take(";")) cursor.fail("; or ,");
}

void parse_parameters(Cursor& cursor, std::vector<PtxVariable>& into) {
  if (cursor.take(")")) return;
  do {
    PtxVariable parameter;
    uint32_t vector = 1;
    const Token& space = cursor.next();
    if (!space.is(".param") && !space.is(".reg")) cursor.fail(space, ".param");
    parameter.space = space.text.substr(1);
    parse_attributes(cursor, parameter, vector);
    parse_declarator(cursor, parameter, vector);
    into.push_back(std::move(parameter));
  } while (cursor.take(","));
  if (!cursor.take(")")) cursor.fail(") or ,");
}

void parse_file_directive(Cursor& cursor, Module& module) {
  const auto number = static_cast<uint32_t>(cursor.integer("a file number", 0xffffffffU));
  if (cursor.peek().kind != TokenKind::kString) cursor.fail("a file name");
  module.files[number] = std::string(cursor.next().text);
  while (cursor.take(",")) cursor.integer("a timestamp or size");
}

void parse_section(Cursor& cursor, Module& module) {
  const Token& name = cursor.peek();
  if (name.kind != TokenKind::kDotted && name.kind != TokenKind::kWord) cursor.fail("a section name");
  cursor.next();
  cursor.expect("{");
  if (name.text != ".debug_str") {
    cursor.skip_balanced("{", "}");
    return;
  }
  std::string* text = nullptr;
  while (!cursor.take("}")) {
    if (cursor.peek().kind == TokenKind::kWord && cursor.peek(1).is(":")) {
      text = &module.strings[cursor.next().text];
      cursor.next();
    } else if (cursor.take(".b8")) {
      do {
        const uint64_t byte = cursor.integer("a byte", 255);
        if (text != nullptr && byte != 0) text->push_back(static_cast<char>(byte));
      } while (cursor.take(","));
    } else {
      cursor.fail("a label, .b8 or }");
    }
  }
}

void throw_unknown_label(const std::string& file, uint32_t line, std::string_view label) {
  throw InputError(file, line, "found " + std::string(label) + ", expected a label of this function");
}

}  // namespace warpcheck::ptx
