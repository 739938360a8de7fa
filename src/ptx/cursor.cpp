// SPDX-License-Identifier: Apache-2.0
#include "ptx/cursor.h"

#include <string>

#include "base/check.h"

namespace ww::ptx {

Cursor::Cursor(std::string_view text, bool keep_comments, std::size_t max_errors)
    : lexer_(text, keep_comments),
      at_(lexer_.skip_blanks(text.data())),
      last_end_(at_),
      max_errors_(max_errors) {
  WW_CHECK(max_errors > 0, "no errors allowed");
}

bool Cursor::at_word(std::string_view word) const {
  return rest().starts_with(word) && (at_name() || at_dot_word()) && text() == word;
}

std::optional<std::uint64_t> Cursor::integer(std::string_view what, std::uint64_t most) {
  const Token number = peek();
  if (number.kind != TokenKind::Int) {
    unexpected(what);
    return std::nullopt;
  }
  take();
  if (number.value <= most) return number.value;
  error(diag(DiagKind::Overflow, "{} is too large for {}, which is at most {}",
             describe(number, lexer_.text()), what, most)
            .with_span(number.span()));
  return std::nullopt;
}

// --- errors -------------------------------------------------------------------------------------

namespace {

// What is wrong with a token that no grammar has a place for.
std::optional<Diag> problem_with(const Token& token, const std::string& shown) {
  switch (token.kind) {
    case TokenKind::BadCharacter:
      return diag(DiagKind::Syntax, "{} begins nothing that PTX knows", shown);
    case TokenKind::BadNumber:
      return diag(DiagKind::Syntax, "{} is not a number", shown)
          .with_note(
              "numbers are written 12, 12U, 0x1F, 017, 0b101, 1.5, 0f3F800000 or "
              "0d3FF0000000000000");
    case TokenKind::HugeNumber:
      return diag(DiagKind::Overflow, "{} does not fit 64 bits", shown);
    case TokenKind::OpenString:
      return diag(DiagKind::Syntax, "the string {} is not closed on its line", shown);
    case TokenKind::OpenComment:
      return diag(DiagKind::Syntax, "the comment is not closed; `*/` is missing");
    default:
      return std::nullopt;
  }
}

}  // namespace

bool Cursor::unexpected(std::string_view wanted) {
  const Token token = peek();
  const std::string shown = describe(token, lexer_.text());
  std::optional<Diag> problem = problem_with(token, shown);
  if (!problem) problem = diag(DiagKind::Syntax, "found {}, expected {}", shown, wanted);
  return error(std::move(*problem).with_span(token.span()));
}

bool Cursor::error(Diag diag) {
  if (stopped_) return false;
  errors_.push_back(std::move(diag));
  if (errors_.size() == max_errors_) {
    errors_.back().notes.push_back(
        {fmt::format("{} errors found; the rest of the text was not read", max_errors_), {}});
    stop();
  }
  return false;
}

bool Cursor::fatal(Diag diag) {
  error(std::move(diag));
  stop();
  return false;
}

void Cursor::stop() {
  stopped_ = true;
  at_ = lexer_.end();
}

}  // namespace ww::ptx
