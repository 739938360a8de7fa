// SPDX-License-Identifier: Apache-2.0
// A place in the text that is being read, and the errors found so far. All parts of the reader
// share one. Used inside this folder only; programs call `parse` (ptx/parser.h).
//
// Functions that read something return whether they could. When they could not, they have reported
// the error and left the cursor at the token that caused it; a caller that knows where to
// continue calls one of the functions of ptx/recover.h.
//
// The cursor stands at the first character of a token. Where that character decides (punctuation,
// names), the reader looks at nothing else: most tokens are never made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/diag.h"
#include "ptx/chars.h"
#include "ptx/lexer.h"

namespace ww::ptx {

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
