// SPDX-License-Identifier: Apache-2.0
// Tokens of PTX. Nothing is copied or allocated; callers keep a cursor and pull the token at it.
//
// Dots belong to words: `ld.global.v4.b32` and `%tid.x` are one token each, a Word. What begins
// with a dot (a directive, type or state space) is a DotWord and ends before the next dot. Of
// operators with two characters, each character is its own token.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/diag.h"
#include "ptx/chars.h"
#include "ptx/operand.h"

namespace ww::ptx {

enum class TokenKind : std::uint8_t {
  End,
  Word,
  DotWord,
  Int,      // value, spelling
  F32,      // `0f3F800000`: value
  F64,      // `0d3FF0000000000000`: value
  Decimal,  // `1.5`, `.5`, `5.`, `1e3`
  String,   // the span is with the quotes
  Punct,    // one character
  // What is no token.
  BadCharacter,
  BadNumber,
  HugeNumber,
  OpenString,
  OpenComment,
};

struct Token {
  TokenKind kind = TokenKind::End;
  Spelling spelling{};  // of an Int
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint64_t value = 0;  // of an Int, F32 or F64

  [[nodiscard]] Span span() const { return Span::at(begin, end); }
};

/// A text of less than 4 GiB, which must outlive this, and the comments met in it. Places are
/// pointers into the text, and may be its end.
class Lexer {
 public:
  /// With `keep_comments`, comments that begin a line are collected.
  Lexer(std::string_view text, bool keep_comments);

  [[nodiscard]] std::string_view text() const { return text_; }
  [[nodiscard]] const char* end() const { return end_; }
  [[nodiscard]] std::uint32_t offset_of(const char* at) const {
    return static_cast<std::uint32_t>(at - text_.data());
  }

  /// The first place from `at` on where a token begins, or the end: skips blanks and comments.
  const char* skip_blanks(const char* at) {
    while (at != end()) {
      const Start start = start_of(*at);
      if (start == Start::Blank)
        ++at;
      else if (start == Start::Slash || start == Start::Hash)
        return skip_comments(at);
      else
        break;
    }
    return at;
  }

  /// The token that begins at `at`, where skip_blanks has stopped.
  [[nodiscard]] Token token(const char* at) const;
  /// Where the number that begins at `at` ends, if it is a decimal integer of a few digits without
  /// a suffix, as nearly all are; nullptr otherwise.
  const char* end_of_plain_int(const char* at, std::uint64_t& value) const {
    const char* const begin = at;
    value = 0;
    for (; at != end_ && is_digit(*at); ++at) value = value * 10 + static_cast<unsigned>(*at - '0');
    const bool goes_on = at != end_ && (in_word(*at) || *at == '.');
    const bool is_octal = *begin == '0' && at - begin > 1;
    return goes_on || is_octal || at - begin > kPlainDigits ? nullptr : at;
  }
  /// Where the Word that begins at `at` ends.
  [[nodiscard]] const char* end_of_word(const char* at) const;
  /// Where the DotWord that begins at `at` ends: before the next dot.
  [[nodiscard]] const char* end_of_dot_word(const char* at) const;

  /// A line of a comment, without slashes, stars and one blank after them.
  struct Comment {
    std::string_view text;
    std::uint32_t offset;
  };
  /// The comments skipped since the last call, in order, each once.
  std::vector<Comment> take_comments();
  [[nodiscard]] bool has_comments() const { return !comments_.empty(); }

 private:
  [[nodiscard]] Token make(TokenKind kind, const char* begin, const char* end) const;
  [[nodiscard]] Token number(const char* begin) const;
  [[nodiscard]] Token other_number(const char* begin) const;
  [[nodiscard]] Token string(const char* begin) const;
  [[nodiscard]] Token bad_character(const char* begin) const;

  const char* skip_comments(const char* at);
  const char* skip_comment(const char* begin);
  [[nodiscard]] const char* end_of_line_directive(const char* hash) const;
  [[nodiscard]] bool begins_line(const char* at) const;
  void keep(const char* begin, const char* end);

  static constexpr std::ptrdiff_t kPlainDigits = 19;  // always below 2^64

  std::string_view text_;
  const char* end_;
  bool keep_comments_;
  std::uint32_t comments_seen_ = 0;  // everything before was collected
  std::vector<Comment> comments_;
};

/// A token of `text` as messages show it: "`add.s32`", "the end of the text". Long ones are cut,
/// control characters written as `\x00`.
std::string describe(const Token& token, std::string_view text);

/// Whether the text of a Word can name something new: no dots or colons, and not `_`.
bool is_plain_name(std::string_view text);

}  // namespace ww::ptx
