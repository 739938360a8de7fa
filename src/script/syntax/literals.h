// SPDX-License-Identifier: Apache-2.0
// What numbers and strings stand for. Used by the lexer, for their extent, and by the parser, for
// their value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/utf8.h"

namespace ww::script {

/// How a string begins.
struct Quotes {
  char mark = '\0';  // `"`, `'`, or NUL: no string begins here
  bool triple = false;
  bool raw = false;
  bool bytes = false;
  bool format = false;
  std::uint8_t length = 0;  // of prefix and opening quotes
  [[nodiscard]] bool valid() const { return mark != '\0'; }
  [[nodiscard]] std::size_t closing() const { return triple ? 3 : 1; }
};
Quotes quotes_of(std::string_view text);

/// A number at the beginning of a text.
struct Number {
  std::size_t bytes = 0;
  bool is_float = false;
  const char* problem = nullptr;  // "which is not a number", after "found `0x`, "
};
/// `text` begins with a digit, or a point and a digit.
Number scan_number(std::string_view text);

/// The value of an integer that scan_number found; Overflow when it has more than 64 bits.
Result<std::uint64_t> integer_of(std::string_view text);
/// The nearest double to a float that scan_number found; infinity when too large.
double real_of(std::string_view text);

/// Appends a piece of a string between its quotes, with escapes resolved; in an f-string `{{` is
/// `{`. Spans of errors begin at `offset`, where the piece stands in the source.
Result<void> append_string(std::string& out, std::string_view piece, const Quotes& quotes,
                           std::size_t offset);

// --- characters ----------------------------------------------------------------------------------
//
// As much of Unicode as the lexer needs.

/// Where the first NUL or the first byte that is not UTF-8 is; npos when there is none.
std::size_t find_bad_byte(std::string_view text);

/// Whether a code point above U+007F can be part of a name. Wider than Python's rule: all but
/// spaces, punctuation, symbols and private ones.
bool is_wide_letter(char32_t value);

}  // namespace ww::script
