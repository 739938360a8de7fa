// SPDX-License-Identifier: Apache-2.0
#include "ptx/lexer.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>

#include "base/check.h"
#include "base/printable.h"

namespace ww::ptx {

namespace {

// Of a UTF-8 sequence, all bytes but the first.
bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

const char* find(const char* begin, const char* end, char wanted) {
  if (begin == end) return end;
  const void* found = std::memchr(begin, wanted, static_cast<std::size_t>(end - begin));
  return found == nullptr ? end : static_cast<const char*>(found);
}

}  // namespace

Lexer::Lexer(std::string_view text, bool keep_comments)
    : text_(text), end_(text.data() + text.size()), keep_comments_(keep_comments) {}

Token Lexer::make(TokenKind kind, const char* begin, const char* end) const {
  return {.kind = kind, .begin = offset_of(begin), .end = offset_of(end)};
}

Token Lexer::token(const char* at) const {
  if (at == end()) return make(TokenKind::End, at, at);
  const bool has_word = end() - at > 1 && in_word(at[1]);
  switch (start_of(*at)) {
    case Start::Word:
      return make(TokenKind::Word, at, end_of_word(at));
    case Start::Percent:
      if (has_word) return make(TokenKind::Word, at, end_of_word(at));
      break;
    case Start::Dot:
      if (has_word && is_digit(at[1])) return other_number(at);
      if (has_word) return make(TokenKind::DotWord, at, end_of_dot_word(at));
      return bad_character(at);
    case Start::Digit:
      return number(at);
    case Start::Quote:
      return string(at);
    case Start::Slash:
      if (end() - at > 1 && at[1] == '*') return make(TokenKind::OpenComment, at, end());
      break;
    case Start::Punct:
      break;
    case Start::Hash:
    case Start::Blank:
    case Start::End:
    case Start::Bad:
      return bad_character(at);
  }
  return make(TokenKind::Punct, at, at + 1);
}

// --- words --------------------------------------------------------------------------------------

namespace {

// Sixteen characters of a word at once: words end after an unforeseeable number of steps, and one
// wrong guess of the processor costs more than all of this.
using Bytes [[gnu::vector_size(16)]] = unsigned char;
using Pairs [[gnu::vector_size(16)]] = std::uint16_t;
using Nibbles [[gnu::vector_size(8)]] = unsigned char;

// How many of the 16 bytes at `at`, from the first on, are letters, digits, `_`, `$` or `.`.
inline std::size_t word_bytes(const char* at) {
  static_assert(std::endian::native == std::endian::little, "the first byte is the lowest");
  Bytes text;
  std::memcpy(&text, at, sizeof text);
  const auto inside = ((text | 0x20) - 'a' < 26) | (text - '0' < 10) | (text == '_') |
                      (text == '$') | (text == '.');
  // The middle of each pair of bytes has four bits of either: 16 nibbles, all ones or all zeros.
  const auto outside = __builtin_convertvector(std::bit_cast<Pairs>(~inside) >> 4, Nibbles);
  return static_cast<std::size_t>(std::countr_zero(std::bit_cast<std::uint64_t>(outside))) / 4;
}

// The end of a run of such characters.
inline const char* end_of_run(const char* at, const char* end) {
  while (end - at >= 16) {
    const std::size_t bytes = word_bytes(at);
    at += bytes;
    if (bytes < 16) return at;
  }
  while (at != end && (in_word(*at) || *at == '.')) ++at;
  return at;
}

}  // namespace

// Identifiers joined by `.` or `::`; a dot at the end does not belong to it.
const char* Lexer::end_of_word(const char* at) const {
  const char* const stop = end();
  at = end_of_run(at + 1, stop);
  while (stop - at > 2 && at[0] == ':' && at[1] == ':' && in_word(at[2]))
    at = end_of_run(at + 2, stop);
  while (at[-1] == '.') --at;
  return at;
}

// Directives may be glued together: `.reg.b32` is two of them.
const char* Lexer::end_of_dot_word(const char* at) const {
  const char* const stop = end_of_word(at);
  return std::find(at + 1, stop, '.');
}

// --- numbers ------------------------------------------------------------------------------------

Token Lexer::number(const char* begin) const {
  std::uint64_t value = 0;
  const char* const end = end_of_plain_int(begin, value);
  if (end == nullptr) return other_number(begin);
  Token out = make(TokenKind::Int, begin, end);
  out.value = value;
  return out;
}

namespace {

// The radix of an integer's text, and its digits.
struct Digits {
  Radix radix = Radix::Decimal;
  std::string_view text;
};
Digits digits_of(std::string_view text) {
  if (text.size() < 2 || text[0] != '0') return {Radix::Decimal, text};
  if (to_lower(text[1]) == 'x') return {Radix::Hex, text.substr(2)};
  if (to_lower(text[1]) == 'b') return {Radix::Binary, text.substr(2)};
  return {Radix::Octal, text.substr(1)};
}
int base_of(Radix radix) {
  switch (radix) {
    case Radix::Decimal:
      return 10;
    case Radix::Hex:
      return 16;
    case Radix::Octal:
      return 8;
    case Radix::Binary:
      return 2;
  }
  return 10;
}

TokenKind read_digits(std::string_view digits, int base, std::uint64_t& value) {
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value, base);
  if (stop != end || digits.empty() || error == std::errc::invalid_argument)
    return TokenKind::BadNumber;
  return error == std::errc() ? TokenKind::Int : TokenKind::HugeNumber;
}

// `0f` and 8 hex digits, `0d` and 16: the bits of a number.
bool is_exact_float(std::string_view text, char letter) {
  return text.size() >= 2 && text[0] == '0' && to_lower(text[1]) == letter;
}
TokenKind read_exact_float(std::string_view text, std::uint64_t& value) {
  const bool is_single = to_lower(text[1]) == 'f';
  if (text.size() != (is_single ? 10U : 18U)) return TokenKind::BadNumber;
  if (read_digits(text.substr(2), 16, value) != TokenKind::Int) return TokenKind::BadNumber;
  return is_single ? TokenKind::F32 : TokenKind::F64;
}

// Digits with a point, an exponent or both.
bool is_decimal_float(std::string_view text) {
  std::size_t at = 0;
  const auto skip_digits = [&] {
    const std::size_t before = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    return at - before;
  };
  std::size_t mantissa = skip_digits();
  bool marked = false;
  if (at < text.size() && text[at] == '.') {
    ++at;
    mantissa += skip_digits();
    marked = true;
  }
  if (mantissa == 0) return false;
  if (at < text.size() && to_lower(text[at]) == 'e') {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (skip_digits() == 0) return false;
    marked = true;
  }
  return marked && at == text.size();
}

// Everything that could be meant as one number: an exponent's sign belongs to it.
const char* end_of_number(const char* begin, const char* end) {
  const std::string_view rest(begin, static_cast<std::size_t>(end - begin));
  const bool has_prefix =
      digits_of(rest).radix == Radix::Hex || is_exact_float(rest, 'f') || is_exact_float(rest, 'd');
  const char* at = begin;
  while (at != end && (in_word(*at) || *at == '.')) {
    const bool is_exponent = !has_prefix && to_lower(*at) == 'e';
    ++at;
    if (is_exponent && at != end && (*at == '+' || *at == '-')) ++at;
  }
  return at;
}

}  // namespace

Token Lexer::other_number(const char* begin) const {
  Token out = make(TokenKind::Decimal, begin, end_of_number(begin, end()));
  std::string_view text = text_.substr(out.begin, out.end - out.begin);
  if (is_exact_float(text, 'f') || is_exact_float(text, 'd')) {
    out.kind = read_exact_float(text, out.value);
  } else if (!is_decimal_float(text)) {
    out.spelling.has_u_suffix = text.ends_with('U');
    if (out.spelling.has_u_suffix) text.remove_suffix(1);
    const Digits digits = digits_of(text);
    out.spelling.radix = digits.radix;
    out.kind = read_digits(digits.text, base_of(digits.radix), out.value);
  }
  return out;
}

// --- strings and other characters ---------------------------------------------------------------

// A backslash is a character like any other.
Token Lexer::string(const char* begin) const {
  const char* at = begin + 1;
  while (at != end() && *at != '"' && *at != '\n') ++at;
  if (at == end() || *at == '\n') return make(TokenKind::OpenString, begin, at);
  return make(TokenKind::String, begin, at + 1);
}

// A whole UTF-8 sequence, so that a caret covers one character.
Token Lexer::bad_character(const char* begin) const {
  const char* at = begin + 1;
  while (at != end() && continues_character(*at)) ++at;
  return make(TokenKind::BadCharacter, begin, at);
}

// --- what stands between tokens -----------------------------------------------------------------

// As skip_blanks, from a place that may be a comment or a line directive.
const char* Lexer::skip_comments(const char* at) {
  for (;;) {
    while (at != end() && start_of(*at) == Start::Blank) ++at;
    if (at == end()) return at;
    const char* next = at;
    if (*at == '/') next = skip_comment(at);
    if (*at == '#') next = end_of_line_directive(at);
    if (next == at) return at;
    at = next;
  }
}

// Where the comment that begins here ends; `begin` itself when there is none, or no end of it.
const char* Lexer::skip_comment(const char* begin) {
  if (end() - begin < 2) return begin;
  if (begin[1] == '/') {
    const char* const stop = find(begin, end(), '\n');
    keep(begin, stop);
    return stop;
  }
  if (begin[1] != '*') return begin;
  const std::size_t mark = text_.find("*/", offset_of(begin) + 2);
  if (mark == std::string_view::npos) return begin;
  keep(begin, text_.data() + mark);
  return text_.data() + mark + 2;
}

// `# 12 "file.cu"`, which preprocessors leave behind. `hash` itself when it is something else.
const char* Lexer::end_of_line_directive(const char* hash) const {
  if (!begins_line(hash)) return hash;
  const char* digit = hash + 1;
  while (digit != end() && (*digit == ' ' || *digit == '\t')) ++digit;
  return digit != end() && is_digit(*digit) ? find(digit, end(), '\n') : hash;
}

bool Lexer::begins_line(const char* at) const {
  while (at != text_.data() && (at[-1] == ' ' || at[-1] == '\t')) --at;
  return at == text_.data() || at[-1] == '\n';
}

// [begin, end) is a comment from its first slash to before its end mark.
void Lexer::keep(const char* begin, const char* end) {
  if (!keep_comments_ || offset_of(begin) < comments_seen_ || !begins_line(begin)) return;
  comments_seen_ = offset_of(end);
  for (const char* line = begin + 2;;) {
    const char* const stop = find(line, end, '\n');
    const std::uint32_t offset = offset_of(line);
    if (line != stop && *line == ' ') ++line;
    const bool has_return = line != stop && stop[-1] == '\r';
    comments_.push_back({{line, has_return ? stop - 1 : stop}, offset});
    if (stop == end) return;
    line = stop + 1;
  }
}

std::vector<Lexer::Comment> Lexer::take_comments() { return std::exchange(comments_, {}); }

// --- messages -----------------------------------------------------------------------------------

std::string describe(const Token& token, std::string_view text) {
  if (token.kind == TokenKind::End) return "the end of the text";
  const std::string_view own = text.substr(token.begin, token.end - token.begin);
  const bool is_lone_byte = own.size() == 1 && static_cast<unsigned char>(own[0]) >= 0x80;
  if (is_lone_byte) return fmt::format("`\\x{:02x}`", static_cast<unsigned char>(own[0]));
  return fmt::format("`{}`", printable_excerpt(own));
}

bool is_plain_name(std::string_view text) {
  const auto is_joint = [](char c) { return c == '.' || c == ':'; };
  return !text.empty() && text != "_" && std::none_of(text.begin(), text.end(), is_joint);
}

// --- cursor --------------------------------------------------------------------------------------

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
