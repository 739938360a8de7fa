// SPDX-License-Identifier: Apache-2.0
#include "layout/text_lexer.h"

#include <charconv>
#include <string>
#include <system_error>

#include "base/ascii.h"

namespace ww::layout {
namespace {

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Result<std::vector<Token>> run() {
    std::vector<Token> tokens;
    tokens.reserve(text_.size() + 1);  // at most one token per character, and the end
    for (;;) {
      while (at_ < text_.size() && is_space(text_[at_])) ++at_;
      if (at_ == text_.size()) break;
      tokens.push_back(WW_TRY(next()));
    }
    tokens.push_back({TokenKind::End, {}, 0, Span::at(text_.size(), text_.size())});
    return tokens;
  }

 private:
  Result<Token> next() {
    const char c = text_[at_];
    if (is_digit(c)) return integer();
    if (is_name_char(c)) return name();
    if (c == '"' || c == '\'') return string(c);
    if (text_.substr(at_, 2) == "//") return punct(2);
    if (std::string_view("[](),:@+-*%?=").find(c) != std::string_view::npos) return punct(1);
    std::size_t end = at_ + 1;  // a whole UTF-8 sequence, so that the caret covers one character
    while (end < text_.size() && (static_cast<unsigned char>(text_[end]) & 0xC0U) == 0x80U) ++end;
    return fail(
        diag(DiagKind::Syntax, "unexpected character `{}`", printable(text_.substr(at_, end - at_)))
            .with_span(Span::at(at_, end)));
  }

  static std::string printable(std::string_view bytes) {
    const auto first = static_cast<unsigned char>(bytes.front());
    if (first >= 0x20 && first != 0x7F && (first < 0x80 || bytes.size() > 1))
      return std::string(bytes);
    return fmt::format("\\x{:02x}", first);
  }

  Result<Token> integer() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_name_char(text_[at_])) ++at_;
    const Span span = Span::at(begin, at_);
    const std::string_view digits = text_.substr(begin, at_ - begin);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error == std::errc::result_out_of_range)
      return fail(diag(DiagKind::Overflow, "`{}` does not fit 64 bits", digits).with_span(span));
    if (error != std::errc() || end != digits.data() + digits.size())
      return fail(diag(DiagKind::Syntax, "`{}` is not an integer", digits).with_span(span));
    return Token{TokenKind::Int, digits, value, span};
  }

  Result<Token> name() {
    const std::size_t begin = at_;
    std::size_t last = at_;
    while (at_ < text_.size() && is_name_char(text_[at_])) {
      while (at_ < text_.size() && is_name_char(text_[at_])) ++at_;
      const bool dotted = at_ + 1 < text_.size() && text_[at_] == '.' &&
                          is_name_char(text_[at_ + 1]) && !is_digit(text_[at_ + 1]);
      if (!dotted) break;
      last = ++at_;
    }
    return Token{TokenKind::Name, text_.substr(last, at_ - last), 0, Span::at(begin, at_)};
  }

  Result<Token> string(char quote) {
    const std::size_t begin = at_++;
    while (at_ < text_.size() && text_[at_] != quote) ++at_;
    if (at_ == text_.size())
      return fail(
          diag(DiagKind::Syntax, "the string is not closed").with_span(Span::at(begin, at_)));
    ++at_;
    return Token{TokenKind::String, text_.substr(begin + 1, at_ - begin - 2), 0,
                 Span::at(begin, at_)};
  }

  Result<Token> punct(std::size_t length) {
    const Token token{TokenKind::Punct, text_.substr(at_, length), 0, Span::at(at_, at_ + length)};
    at_ += length;
    return token;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Result<std::vector<Token>> lex_notation(std::string_view text) { return Lexer(text).run(); }

std::string describe(const Token& token) {
  return token.kind == TokenKind::End ? "the end" : fmt::format("`{}`", token.text);
}

}  // namespace ww::layout
