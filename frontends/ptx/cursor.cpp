#include "frontends/ptx/cursor.h"

#include <bit>
#include <charconv>

#include "model/machine.h"

namespace warpcheck::ptx {

const Token& Cursor::next() {
  const Token& token = peek();
  if (at_ + 1 < tokens_.size()) ++at_;
  return token;
}

bool Cursor::take(std::string_view mark) {
  if (!peek().is(mark)) return false;
  next();
  return true;
}

void Cursor::expect(std::string_view mark) {
  if (!take(mark)) fail(std::string(mark));
}

const Token& Cursor::word(const char* expected) {
  if (peek().kind != TokenKind::kWord) fail(expected);
  return next();
}

void Cursor::fail(const Token& found, const std::string& expected) const {
  throw InputError(file_, found.line, "found " + shown(found) + ", expected " + expected);
}

Number Cursor::number(const char* expected) {
  bool minus = false;
  while (peek().is("-") || peek().is("+")) minus ^= next().is("-");
  if (peek().kind != TokenKind::kNumber) fail(expected);
  Number number = parse_number(next());
  if (minus && number.float_bytes == 0) number.value = ~number.value + 1;
  if (minus && number.float_bytes != 0) number.value ^= uint64_t{1} << (8 * number.float_bytes - 1);
  return number;
}

uint64_t Cursor::integer(const char* expected, uint64_t largest) {
  const Token& token = peek();
  const Number number = this->number(expected);
  if (number.float_bytes != 0 || number.value > largest) fail(token, expected);
  return number.value;
}

void Cursor::skip_balanced(std::string_view open, std::string_view close) {
  const Token& start = peek();
  for (uint32_t depth = 1; depth > 0;) {
    if (at_end()) fail(std::string(close) + " for line " + std::to_string(start.line));
    const Token& token = next();
    if (token.is(open)) ++depth;
    if (token.is(close)) --depth;
  }
}

Number Cursor::parse_number(const Token& token) const {
  std::string_view text = token.text;
  const auto bits = [&](std::string_view digits, int base) {
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    if (error != std::errc() || end != digits.data() + digits.size()) fail(token, "a number");
    return value;
  };
  const auto prefixed = [&](char small, char large) {
    return text.size() > 2 && text[0] == '0' && (text[1] == small || text[1] == large);
  };
  if (prefixed('f', 'F') && text.size() == 10) return {bits(text.substr(2), 16), 4};
  if (prefixed('d', 'D') && text.size() == 18) return {bits(text.substr(2), 16), 8};
  if (text.find('.') != std::string_view::npos) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) fail(token, "a number");
    return {std::bit_cast<uint64_t>(value), 8};
  }
  while (!text.empty() && (text.back() == 'U' || text.back() == 'u')) text.remove_suffix(1);
  if (prefixed('x', 'X')) return {bits(text.substr(2), 16), 0};
  if (prefixed('b', 'B')) return {bits(text.substr(2), 2), 0};
  if (text.size() > 1 && text[0] == '0') return {bits(text.substr(1), 8), 0};
  return {bits(text, 10), 0};
}

}  // namespace warpcheck::ptx
