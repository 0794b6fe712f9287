#include "frontends/ptx/lexer.h"

#include <algorithm>

#include "model/machine.h"

namespace warpcheck::ptx {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%'; }
bool is_word(char c) { return is_letter(c) || is_digit(c); }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v'; }

class Lexer {
 public:
  Lexer(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  std::vector<Token> run() {
    std::vector<Token> tokens;
    tokens.reserve(text_.size() / 4);
    while (skip_blank()) tokens.push_back(next());
    tokens.push_back({TokenKind::kEnd, line_, text_.substr(text_.size())});
    return tokens;
  }

 private:
  char at(size_t i) const { return i < text_.size() ? text_[i] : '\0'; }

  // Skips spaces and comments; false at the end.
  bool skip_blank() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') ++line_;
      if (is_space(c)) {
        ++at_;
      } else if (c == '/' && at(at_ + 1) == '/') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == '/' && at(at_ + 1) == '*') {
        skip_comment();
      } else {
        return true;
      }
    }
    return false;
  }

  void skip_comment() {
    const size_t end = text_.find("*/", at_ + 2);
    if (end == std::string_view::npos) throw InputError(file_, line_, "found /* without end, expected */");
    line_ += static_cast<uint32_t>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                              text_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
    at_ = end + 2;
  }

  Token next() {
    const size_t begin = at_;
    const char c = text_[at_];
    if (c == '"') return string();
    if (is_letter(c)) {
      while (is_word(at(at_))) ++at_;
      return token(TokenKind::kWord, begin);
    }
    if (is_digit(c)) return number();
    if (c == '.' && is_word(at(at_ + 1))) {
      ++at_;
      while (is_word(at(at_)) || (at(at_) == ':' && at(at_ + 1) == ':' && is_word(at(at_ + 2)))) {
        at_ += at(at_) == ':' ? 2 : 1;
      }
      return token(TokenKind::kDotted, begin);
    }
    if (std::string_view("(){}[]<>,;:+-=@!|*/&^~?.").find(c) == std::string_view::npos) {
      static const char* kHex = "0123456789abcdef";
      const auto byte = static_cast<unsigned char>(c);
      const std::string found = c > ' ' && byte < 0x7f ? std::string(1, c) : std::string("byte 0x") + kHex[byte >> 4] + kHex[byte & 15];
      throw InputError(file_, line_, "found " + found + ", expected PTX");
    }
    ++at_;
    return token(TokenKind::kMark, begin);
  }

  Token number() {
    const size_t begin = at_;
    while (is_word(at(at_))) ++at_;
    if (at(at_) == '.' && is_digit(at(at_ + 1))) {
      ++at_;
      while (is_word(at(at_))) ++at_;
      const char last = at(at_ - 1);
      if ((last == 'e' || last == 'E') && (at(at_) == '-' || at(at_) == '+')) {
        ++at_;
        while (is_digit(at(at_))) ++at_;
      }
    }
    return token(TokenKind::kNumber, begin);
  }

  Token string() {
    const size_t begin = ++at_;
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n') at_ += at(at_) == '\\' && at(at_ + 1) != '\n' ? 2 : 1;
    if (at(at_) != '"') throw InputError(file_, line_, "found a string without end, expected \"");
    Token made = token(TokenKind::kString, begin);
    ++at_;
    return made;
  }

  Token token(TokenKind kind, size_t begin) const { return {kind, line_, text_.substr(begin, at_ - begin)}; }

  std::string_view text_;
  const std::string& file_;
  size_t at_ = 0;
  uint32_t line_ = 1;
};

}  // namespace

std::vector<Token> tokenize(std::string_view text, const std::string& file) {
  return Lexer(text.substr(0, text.find('\0')), file).run();
}

std::string shown(const Token& token) {
  constexpr size_t kLongest = 60;
  if (token.kind == TokenKind::kEnd) return "the end of the file";
  std::string text(token.text.substr(0, kLongest));
  if (token.text.size() > kLongest) text += "...";
  return token.kind == TokenKind::kString ? '"' + text + '"' : text;
}

}  // namespace warpcheck::ptx
