// A place in a sequence of tokens, with the checks and errors that every part of the parser needs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/ptx/lexer.h"

namespace warpcheck::ptx {

// A number as written: an integer, or the raw bits of a float with its size.
struct Number {
  uint64_t value = 0;
  uint8_t float_bytes = 0;
};

class Cursor {
 public:
  Cursor(std::vector<Token> tokens, std::string file) : tokens_(std::move(tokens)), file_(std::move(file)) {}

  const Token& peek(size_t ahead = 0) const { return tokens_[at_ + ahead < tokens_.size() ? at_ + ahead : tokens_.size() - 1]; }
  bool at_end() const { return peek().kind == TokenKind::kEnd; }
  const Token& next();                       // stays at the end
  bool take(std::string_view mark);          // consumes it if it is next
  void expect(std::string_view mark);
  const Token& word(const char* expected);   // a kWord
  Number number(const char* expected);       // a kNumber, with any sign before it
  uint64_t integer(const char* expected, uint64_t largest = ~uint64_t{0});
  // Skips to behind the `close` that ends the bracket just opened.
  void skip_balanced(std::string_view open, std::string_view close);

  [[noreturn]] void fail(const std::string& expected) const { fail(peek(), expected); }
  [[noreturn]] void fail(const Token& found, const std::string& expected) const;
  const std::string& file() const { return file_; }

 private:
  Number parse_number(const Token& token) const;

  std::vector<Token> tokens_;
  std::string file_;
  size_t at_ = 0;
};

}  // namespace warpcheck::ptx
