// SPDX-License-Identifier: Apache-2.0
// Tokens of PTX. Nothing is copied or allocated; callers keep a cursor and pull the token at it.
//
// Dots belong to words: `ld.global.v4.b32` and `%tid.x` are one token each, a Word. What begins
// with a dot (a directive, type or state space) is a DotWord and ends before the next dot. Of
// operators with two characters, each character is its own token.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/diag.h"
#include "ptx/operand.h"

namespace ww::ptx {

// --- chars ---------------------------------------------------------------------------------------
//
// What PTX does with each character. Used inside this folder, by the lexer and by the readers that
// look at a character where a whole token would tell them no more.

/// What a character begins.
enum class Start : std::uint8_t {
  Bad,
  Blank,
  Word,     // a letter, `_` or `$`
  Percent,  // a word such as `%r1`, or an operator
  Digit,
  Dot,  // a word such as `.reg`, or a number such as `.5`
  Slash,
  Quote,
  Hash,
  Punct,  // a token by itself
  End,    // no character: the end of the text
};

struct CharTable {
  std::array<Start, 256> start{};
  std::array<bool, 256> in_word{};  // letters, digits, `_`, `$`
};

constexpr CharTable make_char_table() {
  CharTable table;
  for (std::size_t i = 0; i < 128; ++i) {
    const char c = static_cast<char>(i);
    table.in_word[i] = is_name_char(c) || c == '$';
    if (is_space(c)) table.start[i] = Start::Blank;
    if (table.in_word[i]) table.start[i] = is_digit(c) ? Start::Digit : Start::Word;
  }
  for (const char c : {',', ';', ':', '{', '}', '[', ']', '(', ')', '@', '=',
                       '!', '~', '<', '>', '|', '+', '-', '*', '&', '^', '?'})
    table.start[static_cast<std::size_t>(c)] = Start::Punct;
  table.start['%'] = Start::Percent;
  table.start['.'] = Start::Dot;
  table.start['/'] = Start::Slash;
  table.start['"'] = Start::Quote;
  table.start['#'] = Start::Hash;
  return table;
}
inline constexpr CharTable kChars = make_char_table();

inline Start start_of(char c) { return kChars.start[static_cast<unsigned char>(c)]; }
inline bool in_word(char c) { return kChars.in_word[static_cast<unsigned char>(c)]; }

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

// --- cursor --------------------------------------------------------------------------------------
//
// A place in the text that is being read, and the errors found so far. All parts of the reader
// share one. Used inside this folder only; programs call `parse` (ptx/parser.h).
//
// Functions that read something return whether they could. When they could not, they have reported
// the error and left the cursor at the token that caused it; a caller that knows where to
// continue calls one of the functions of ptx/parser.h.
//
// The cursor stands at the first character of a token. Where that character decides (punctuation,
// names), the reader looks at nothing else: most tokens are never made.

/// The largest offset, count or line that the module keeps.
inline constexpr std::uint64_t kMaxU32 = std::numeric_limits<std::uint32_t>::max();

class Cursor {
 public:
  /// Stops after `max_errors` errors, which must be at least 1.
  Cursor(std::string_view text, bool keep_comments, std::size_t max_errors);

  // --- what is here -----------------------------------------------------------------------------
  [[nodiscard]] Start start() const { return at_ == lexer_.end() ? Start::End : start_of(*at_); }
  [[nodiscard]] bool at_end() const { return at_ == lexer_.end(); }
  /// The first character of the token; NUL at the end.
  [[nodiscard]] char here() const { return at_end() ? '\0' : *at_; }
  /// Whether the token is this punctuation character; none of `.`, `%` and `/`.
  [[nodiscard]] bool at(char punct) const { return !at_end() && *at_ == punct; }
  /// Whether the token is a Word: a name or an opcode.
  [[nodiscard]] bool at_name() const {
    const Start first = start();
    return first == Start::Word || (first == Start::Percent && next_in_word());
  }
  /// Whether the token is a DotWord.
  [[nodiscard]] bool at_dot_word() const {
    return start() == Start::Dot && next_in_word() && !is_digit(at_[1]);
  }
  /// Whether the token is a Word or DotWord with this text.
  [[nodiscard]] bool at_word(std::string_view word) const;
  [[nodiscard]] Token peek() const { return lexer_.token(at_); }
  [[nodiscard]] bool at_kind(TokenKind kind) const { return peek().kind == kind; }
  [[nodiscard]] std::uint32_t offset() const { return lexer_.offset_of(at_); }
  /// Where a piece of the text begins.
  [[nodiscard]] std::uint32_t offset_of(std::string_view piece) const {
    return lexer_.offset_of(piece.data());
  }
  /// The text of the token here, or from a token to the end.
  [[nodiscard]] std::string_view text() const { return text_of(peek()); }
  [[nodiscard]] std::string_view rest() const { return lexer_.text().substr(offset()); }
  [[nodiscard]] std::string_view text_of(const Token& token) const {
    return lexer_.text().substr(token.begin, token.end - token.begin);
  }

  // --- moving -----------------------------------------------------------------------------------
  /// The token here; moves to the next one.
  Token take() {
    const Token token = peek();
    go_to(lexer_.text().data() + token.end);
    return token;
  }
  /// The text of the Word or DotWord here; moves to the next token.
  std::string_view take_word() {
    const char* const begin = at_;
    go_to(*at_ == '.' ? lexer_.end_of_dot_word(at_) : lexer_.end_of_word(at_));
    return {begin, static_cast<std::size_t>(last_end_ - begin)};
  }
  /// Takes the number here if it is a plain decimal integer; the cursor is at a digit.
  bool accept_plain_int(std::uint64_t& value) {
    const char* const end = lexer_.end_of_plain_int(at_, value);
    if (end == nullptr) return false;
    go_to(end);
    return true;
  }
  /// Past one punctuation character.
  void take_punct() { go_to(at_ + 1); }
  bool accept(char punct) {
    if (!at(punct)) return false;
    take_punct();
    return true;
  }
  /// Takes a Word or DotWord if it has this text.
  bool accept_word(std::string_view word) {
    if (!at_word(word)) return false;
    take_word();
    return true;
  }
  /// Back to a place where the cursor was before.
  void go_back_to(std::uint32_t place) {
    if (!stopped_) at_ = lexer_.text().data() + place;
  }
  /// Where the token taken last ended.
  [[nodiscard]] std::uint32_t last_end() const { return lexer_.offset_of(last_end_); }
  /// The last character of it; NUL where none was taken.
  [[nodiscard]] char last_char() const {
    return last_end_ == lexer_.text().data() ? '\0' : last_end_[-1];
  }
  Lexer& lexer() { return lexer_; }

  // --- reading with errors ----------------------------------------------------------------------
  /// Takes the character, or reports that `wanted` was expected.
  bool expect(char punct, std::string_view wanted) { return accept(punct) || unexpected(wanted); }
  /// Takes an integer without sign of at most `most`; `what` names it in the error.
  std::optional<std::uint64_t> integer(std::string_view what, std::uint64_t most);

  /// Reports "found <the token here>, expected <wanted>", or what is wrong with the token itself.
  /// Always false.
  bool unexpected(std::string_view wanted);
  /// Reports an error. Always false.
  bool error(Diag diag);
  /// Reports an error after which nothing can be read. Always false.
  bool fatal(Diag diag);
  std::vector<Diag> take_errors() { return std::exchange(errors_, {}); }

 private:
  [[nodiscard]] bool next_in_word() const { return lexer_.end() - at_ > 1 && in_word(at_[1]); }
  void go_to(const char* end_of_token) {
    last_end_ = end_of_token;
    at_ = lexer_.skip_blanks(end_of_token);
  }
  void stop();

  Lexer lexer_;
  const char* at_;
  const char* last_end_;
  bool stopped_ = false;
  std::size_t max_errors_;
  std::vector<Diag> errors_;
};

}  // namespace ww::ptx
