#include "frontends/ptx/parser.h"

#include "frontends/ptx/cursor.h"
#include "frontends/ptx/declarations.h"
#include "frontends/ptx/input_file.h"
#include "frontends/ptx/line_table.h"
#include "frontends/ptx/parse_body.h"
#include "model/machine.h"

namespace warpcheck::ptx {
namespace {

class ModuleParser {
 public:
  ModuleParser(Cursor& cursor, Module& module) : cursor_(cursor), module_(module), lines_(module) {}

  void parse() {
    if (!cursor_.take(".version")) cursor_.fail(".version");
    version();
    while (!cursor_.at_end()) statement();
    if (module_.target.empty()) cursor_.fail(".target");
  }

 private:
  void version() {
    const Token& token = cursor_.peek();
    if (cursor_.number("a version such as 9.0").float_bytes == 0) cursor_.fail(token, "a version such as 9.0");
    module_.version = token.text;
  }

  void statement() {
    const Token& token = cursor_.peek();
    if (cursor_.take(";")) return;
    if (token.is("@")) return dwarf_line();
    if (token.kind != TokenKind::kDotted) cursor_.fail("a directive");
    if (cursor_.take(".version")) return version();
    if (cursor_.take(".target")) return target();
    if (cursor_.take(".address_size")) return address_size();
    if (cursor_.take(".file")) return parse_file_directive(cursor_, module_);
    if (cursor_.take(".section")) return parse_section(cursor_, module_);
    if (cursor_.take(".loc")) return lines_.read(cursor_);
    if (cursor_.take(".pragma") || cursor_.take(".alias")) return to_semicolon();
    size_t ahead = 0;
    while (is_linkage(cursor_.peek(ahead).text)) ++ahead;
    if (cursor_.peek(ahead).is(".entry") || cursor_.peek(ahead).is(".func")) return function();
    if (cursor_.peek().is(".tex")) return to_semicolon();
    parse_variables(cursor_, module_.variables);
  }

  static bool is_linkage(std::string_view word) {
    return word == ".visible" || word == ".extern" || word == ".weak" || word == ".common" || word == ".internal";
  }

  void to_semicolon() {
    while (!cursor_.at_end() && !cursor_.peek().is(";")) cursor_.next();
    cursor_.expect(";");
  }

  // @@DWARF of old compilers: ends with its line.
  void dwarf_line() {
    const uint32_t line = cursor_.peek().line;
    if (!cursor_.peek(1).is("@")) cursor_.fail("a directive");
    while (!cursor_.at_end() && cursor_.peek().line == line) cursor_.next();
  }

  void target() {
    module_.target = cursor_.word("a target such as sm_90a").text;
    while (cursor_.take(",")) cursor_.word("a target option");
  }

  void address_size() {
    const Token& token = cursor_.peek();
    module_.address_size = static_cast<uint32_t>(cursor_.integer("32 or 64", 64));
    if (module_.address_size != 32 && module_.address_size != 64) cursor_.fail(token, "32 or 64");
  }

  void function() {
    Function made;
    made.line = cursor_.peek().line;
    while (is_linkage(cursor_.peek().text)) cursor_.next();
    made.is_entry = cursor_.next().is(".entry");
    skip_attribute();
    if (!made.is_entry && cursor_.take("(")) parse_parameters(cursor_, made.results);
    made.name = cursor_.word("the name of the function").text;
    if (cursor_.take("(")) parse_parameters(cursor_, made.params);
    bounds(made);
    if (cursor_.take("{")) {
      made.has_body = true;
      lines_.new_function();
      BodyParser(cursor_, module_, lines_, made).parse();
    } else if (!cursor_.take(";")) {
      cursor_.fail("{ or ;");
    }
    module_.functions.push_back(std::move(made));
  }

  void skip_attribute() {
    if (!cursor_.take(".attribute")) return;
    cursor_.expect("(");
    cursor_.skip_balanced("(", ")");
  }

  // .reqntid 64, 1, 1 and its like, between the parameters and the body.
  void bounds(Function& made) {
    while (cursor_.peek().kind == TokenKind::kDotted) {
      const Token& name = cursor_.next();
      std::array<uint32_t, 3> sizes = {1, 1, 1};
      size_t count = 0;
      if (cursor_.peek().kind == TokenKind::kNumber) {
        do {
          if (count == 3) cursor_.fail("at most three numbers");
          sizes[count++] = static_cast<uint32_t>(cursor_.integer("a number", 0xffffffffU));
        } while (cursor_.take(","));
      } else if (cursor_.peek().kind == TokenKind::kString) {
        cursor_.next();  // .pragma "..."
        cursor_.take(";");
      }
      if (name.is(".reqntid")) made.required_block = sizes;
      if (name.is(".maxntid")) made.largest_block = sizes;
      if (name.is(".reqnctapercluster")) made.cluster = sizes;
      if (name.is(".explicitcluster")) made.explicit_cluster = true;
    }
  }

  Cursor& cursor_;
  Module& module_;
  LineTable lines_;
};

}  // namespace

Module parse(std::string text, const std::string& file) {
  Module module;
  module.file = file;
  module.text = std::make_unique<const std::string>(std::move(text));
  Cursor cursor(tokenize(*module.text, file), file);
  ModuleParser(cursor, module).parse();
  return module;
}

Module parse_file(const std::string& path) { return parse(read_input_file(path, "PTX file"), path); }

}  // namespace warpcheck::ptx
