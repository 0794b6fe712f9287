// Splits PTX text into tokens. An opcode arrives as a word and its dotted modifiers, `shared::cta` in one piece, so that
// the parser needs no list of instructions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warpcheck::ptx {

enum class TokenKind : uint8_t {
  kWord,    // ring, $L__BB0_1, %r1, _
  kDotted,  // .entry, .u32, .shared::cta, .32x32b: the dot included
  kNumber,  // 42, 0x7701U, 0f3F800000, 1.5e3
  kString,  // quotes excluded
  kMark,    // one of ( ) { } [ ] < > , ; : + - = @ ! | and other operators
  kEnd,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  uint32_t line = 0;
  std::string_view text;

  bool is(std::string_view mark) const { return kind != TokenKind::kString && kind != TokenKind::kEnd && text == mark; }
  // Directly behind `before`, with nothing between.
  bool touches(const Token& before) const { return before.text.data() + before.text.size() == text.data(); }
};

// The last token is kEnd. Views point into `text`. A NUL byte ends the text. Throws InputError naming `file`.
std::vector<Token> tokenize(std::string_view text, const std::string& file);

// How a token is shown in "found X, expected Y".
std::string shown(const Token& token);

}  // namespace warpcheck::ptx
