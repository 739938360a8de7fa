// SPDX-License-Identifier: Apache-2.0
// As much of Unicode as the lexer needs.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ww::script {

/// A code point and the bytes it takes; no bytes when the text does not begin with valid UTF-8.
struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 0;
};
CodePoint decode_utf8(std::string_view text);

/// Appends a code point, which is no surrogate and at most U+10FFFF.
void append_utf8(std::string& out, char32_t value);

/// Where the first NUL or the first byte that is not UTF-8 is; npos when there is none.
std::size_t find_bad_byte(std::string_view text);

/// Whether a code point above U+007F can be part of a name. Wider than Python's rule: all but
/// spaces, punctuation, symbols and private ones.
bool is_wide_letter(char32_t value);

}  // namespace ww::script
