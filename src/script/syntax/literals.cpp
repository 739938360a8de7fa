// SPDX-License-Identifier: Apache-2.0
#include "script/syntax/literals.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <system_error>

#include "base/ascii.h"

namespace ww::script {

Quotes quotes_of(std::string_view text) {
  Quotes quotes;
  std::size_t at = 0;
  bool plain = false;
  for (; at < text.size() && is_letter(text[at]); ++at) {
    const char c = to_lower(text[at]);
    bool* const flag = c == 'r'   ? &quotes.raw
                       : c == 'b' ? &quotes.bytes
                       : c == 'f' ? &quotes.format
                       : c == 'u' ? &plain
                                  : nullptr;
    if (flag == nullptr || *flag) return {};
    *flag = true;
  }
  const bool clash = (quotes.bytes && quotes.format) || (plain && at > 1);
  if (clash || at == text.size() || (text[at] != '"' && text[at] != '\'')) return {};
  quotes.mark = text[at];
  quotes.triple = text.substr(at).starts_with(std::string(3, quotes.mark));
  quotes.length = static_cast<std::uint8_t>(at + quotes.closing());
  return quotes;
}

// --- numbers ------------------------------------------------------------------------------------

namespace {

constexpr const char* kNoNumber = "which is neither a number nor a name";

int digit_value(char c) {
  if (is_digit(c)) return c - '0';
  const char lower = to_lower(c);
  return lower >= 'a' && lower <= 'z' ? lower - 'a' + 10 : 99;
}

// Past digits with single underscores between them; false when there are none or an underscore
// stands elsewhere.
bool skip_digits(std::string_view text, std::size_t& at, int base) {
  const std::size_t begin = at;
  while (at < text.size()) {
    const bool is_joint = text[at] == '_' && at > begin && text[at - 1] != '_';
    if (!is_joint && digit_value(text[at]) >= base) break;
    ++at;
  }
  return at > begin && text[at - 1] != '_';
}

int base_of(std::string_view text) {
  if (text.size() < 2 || text[0] != '0') return 10;
  const char letter = to_lower(text[1]);
  return letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 10;
}

bool has_exponent(std::string_view text, std::size_t at) {
  if (at >= text.size() || to_lower(text[at]) != 'e') return false;
  ++at;
  if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
  return at < text.size() && is_digit(text[at]);
}

// Digits, a point and an exponent; false for misplaced underscores.
bool scan_decimal(std::string_view text, Number& out) {
  std::size_t& at = out.bytes;
  bool good = text[0] == '.' || skip_digits(text, at, 10);
  if (at < text.size() && text[at] == '.') {
    out.is_float = true;
    ++at;
    if (at < text.size() && (is_digit(text[at]) || text[at] == '_'))
      good = skip_digits(text, at, 10) && good;
  }
  if (has_exponent(text, at)) {
    out.is_float = true;
    at += is_digit(text[at + 1]) ? 1U : 2U;
    good = skip_digits(text, at, 10) && good;
  }
  return good;
}

bool has_leading_zero(std::string_view digits) {
  return digits.size() > 1 && digits[0] == '0' &&
         digits.find_first_not_of("0_") != std::string_view::npos;
}

// `1if x else y` is Python.
bool may_follow_number(std::string_view word) {
  constexpr std::string_view kWords[] = {"and", "else", "for", "if", "in", "is", "not", "or"};
  return std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords);
}

std::string without_underscores(std::string_view text) {
  std::string out(text);
  std::erase(out, '_');
  return out;
}

}  // namespace

Number scan_number(std::string_view text) {
  Number out;
  const int base = base_of(text);
  bool good = false;
  if (base == 10) {
    good = scan_decimal(text, out);
  } else {
    out.bytes = 2;
    if (out.bytes < text.size() && text[out.bytes] == '_') ++out.bytes;
    good = skip_digits(text, out.bytes, base);
  }
  std::size_t end = out.bytes;
  while (end < text.size() && is_name_char(text[end])) ++end;
  const std::string_view word = text.substr(out.bytes, end - out.bytes);
  if (!good || !(word.empty() || may_follow_number(word))) {
    const bool imaginary = good && base == 10 && (word == "j" || word == "J");
    out.problem = imaginary ? "which is imaginary; complex numbers are not supported" : kNoNumber;
    out.bytes = end;
  } else if (base == 10 && !out.is_float && has_leading_zero(text.substr(0, out.bytes))) {
    out.problem = "expected no leading zero; an octal number begins with `0o`";
  }
  return out;
}

Result<std::uint64_t> integer_of(std::string_view text) {
  const int base = base_of(text);
  std::string cleaned;
  std::string_view digits = text.substr(base == 10 ? 0 : 2);
  if (digits.find('_') != std::string_view::npos) digits = cleaned = without_underscores(digits);
  std::uint64_t value = 0;
  const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (end.ec == std::errc::result_out_of_range)
    return fail(DiagKind::Overflow, "`{}` is too large for an integer, which is at most {}", text,
                std::numeric_limits<std::uint64_t>::max());
  return value;
}

namespace {

// Whether a number that no double holds is one of the large ones: its first digit that is not zero
// stands before the point, the exponent counted.
bool is_huge(std::string_view text) {
  const std::size_t mark = std::min(text.find_first_of("eE"), text.size());
  const std::string_view mantissa = text.substr(0, mark);
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
  const std::size_t first = std::min(mantissa.find_first_of("123456789"), mantissa.size());
  if (mark == text.size()) return first < point;
  if (text[mark + 1] == '-') return false;
  long exponent = std::numeric_limits<long>::max() / 2;
  const char* const digits = text.data() + mark + (text[mark + 1] == '+' ? 2 : 1);
  std::from_chars(digits, text.data() + text.size(), exponent);
  return static_cast<long>(point) - static_cast<long>(first) + exponent > 0;
}

}  // namespace

double real_of(std::string_view text) {
  std::string cleaned;
  if (text.find('_') != std::string_view::npos) text = cleaned = without_underscores(text);
  double value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end.ec == std::errc::result_out_of_range)
    return is_huge(text) ? std::numeric_limits<double>::infinity() : 0.0;
  return value;
}

// --- strings ------------------------------------------------------------------------------------

namespace {

// Reads one piece of a string.
class Unescape {
 public:
  Unescape(std::string& out, std::string_view piece, const Quotes& quotes, std::size_t offset)
      : out_(out), piece_(piece), quotes_(quotes), offset_(offset) {}

  Result<void> run() {
    while (at_ < piece_.size()) {
      const char c = piece_[at_];
      if (c == '\\' && !quotes_.raw) {
        WW_TRY_VOID(escape());
      } else if (quotes_.bytes && static_cast<unsigned char>(c) >= 0x80) {
        return fail(problem(at_, at_ + 1, "a bytes string has ASCII characters only"));
      } else if (c == '\r') {
        line_break();
      } else {
        out_ += c;
        at_ += quotes_.format && (c == '{' || c == '}') ? 2 : 1;
      }
    }
    return {};
  }

 private:
  [[nodiscard]] char peek(std::size_t ahead) const {
    return at_ + ahead < piece_.size() ? piece_[at_ + ahead] : '\0';
  }
  [[nodiscard]] Diag problem(std::size_t begin, std::size_t end, std::string text) const {
    return {DiagKind::Syntax, std::move(text), Span::at(offset_ + begin, offset_ + end), {}};
  }
  void add(char32_t value) {
    if (quotes_.bytes)
      out_ += static_cast<char>(value & 0xFFU);
    else
      append_utf8(out_, value);
  }
  // All kinds of line ends are `\n` in a string.
  void line_break() {
    out_ += '\n';
    at_ += peek(1) == '\n' ? 2U : 1U;
  }

  Result<void> escape();
  Result<void> coded(std::size_t digits);
  void octal();

  std::string& out_;
  std::string_view piece_;
  const Quotes& quotes_;
  std::size_t offset_;
  std::size_t at_ = 0;
};

// At a backslash.
Result<void> Unescape::escape() {
  const char c = peek(1);
  constexpr std::string_view kLetters = "\\'\"abfnrtv";
  constexpr std::string_view kValues = "\\'\"\a\b\f\n\r\t\v";
  const std::size_t simple = c == '\0' ? std::string_view::npos : kLetters.find(c);
  if (simple != std::string_view::npos) {
    out_ += kValues[simple];
    at_ += 2;
  } else if (c == '\n') {
    at_ += 2;
  } else if (c == '\r') {
    at_ += peek(2) == '\n' ? 3U : 2U;
  } else if (c == 'x') {
    return coded(2);
  } else if ((c == 'u' || c == 'U') && !quotes_.bytes) {
    return coded(c == 'u' ? 4 : 8);
  } else if (c == 'N' && !quotes_.bytes) {
    return fail(problem(at_, at_ + 2,
                        "found `\\N`, which is not supported; write the character "
                        "itself or its `\\u` code"));
  } else if (c >= '0' && c <= '7') {
    octal();
  } else {
    out_ += '\\';  // an unknown escape stands for itself
    ++at_;
  }
  return {};
}

Result<void> Unescape::coded(std::size_t digits) {
  char32_t value = 0;
  std::size_t count = 0;
  for (; count < digits && digit_value(peek(2 + count)) < 16; ++count)
    value = value * 16 + static_cast<char32_t>(digit_value(peek(2 + count)));
  const std::string_view own = piece_.substr(at_, 2 + count);
  if (count < digits)
    return fail(problem(at_, at_ + own.size(),
                        fmt::format("found `{}`, expected {} hexadecimal digits after `{}`", own,
                                    digits, own.substr(0, 2))));
  if (value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF))
    return fail(
        problem(at_, at_ + own.size(), fmt::format("found `{}`, which is not a character", own)));
  add(value);
  at_ += own.size();
  return {};
}

void Unescape::octal() {
  char32_t value = 0;
  std::size_t count = 0;
  for (; count < 3 && peek(1 + count) >= '0' && peek(1 + count) <= '7'; ++count)
    value = value * 8 + static_cast<char32_t>(peek(1 + count) - '0');
  add(value);
  at_ += 1 + count;
}

}  // namespace

Result<void> append_string(std::string& out, std::string_view piece, const Quotes& quotes,
                           std::size_t offset) {
  const bool is_plain = piece.find_first_of(quotes.raw ? "\r" : "\\\r") == std::string_view::npos;
  if (is_plain && !quotes.bytes && !quotes.format) {
    out += piece;
    return {};
  }
  return Unescape(out, piece, quotes, offset).run();
}

// --- characters ----------------------------------------------------------------------------------

namespace {

// Whether eight bytes are all ASCII and none is NUL.
bool are_plain(const char* at) {
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, at, sizeof bytes);
  constexpr std::uint64_t kHigh = 0x8080808080808080U;
  constexpr std::uint64_t kOnes = 0x0101010101010101U;
  return ((bytes | (bytes - kOnes)) & kHigh) == 0;
}

struct Range {
  char32_t first;
  char32_t last;
};
constexpr Range kNoLetters[] = {
    {0x80, 0xA9},       {0xAB, 0xB4},       {0xB6, 0xB6},     {0xB8, 0xB9},
    {0xBB, 0xBF},       {0xD7, 0xD7},       {0xF7, 0xF7},     {0x2000, 0x203E},
    {0x2041, 0x2053},   {0x2055, 0x2070},   {0x20A0, 0x20CF}, {0x2190, 0x2BFF},
    {0x3000, 0x3004},   {0x3008, 0x3020},   {0x3030, 0x3030}, {0xD800, 0xF8FF},
    {0xFD3E, 0xFD3F},   {0xFE10, 0xFE1F},   {0xFE30, 0xFE32}, {0xFE45, 0xFE4C},
    {0xFE50, 0xFE6F},   {0xFEFF, 0xFF0F},   {0xFF1A, 0xFF20}, {0xFF3B, 0xFF3E},
    {0xFF40, 0xFF40},   {0xFF5B, 0xFF65},   {0xFFE0, 0xFFFF}, {0x1F000, 0x1FBEF},
    {0xE0000, 0xE00FF}, {0xF0000, 0x10FFFF}};

}  // namespace

std::size_t find_bad_byte(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    if (text.size() - at >= 8 && are_plain(text.data() + at)) {
      at += 8;
      continue;
    }
    const CodePoint point = decode_utf8(text.substr(at, 4));
    if (point.bytes == 0 || point.value == 0) return at;
    at += point.bytes;
  }
  return std::string_view::npos;
}

bool is_wide_letter(char32_t value) {
  const auto* const found =
      std::lower_bound(std::begin(kNoLetters), std::end(kNoLetters), value,
                       [](const Range& range, char32_t wanted) { return range.last < wanted; });
  return found == std::end(kNoLetters) || value < found->first;
}

}  // namespace ww::script
