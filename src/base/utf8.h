// SPDX-License-Identifier: Apache-2.0
// UTF-8: one character read, one written.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ww {

/// A code point and the bytes it takes; no bytes when the text does not begin with valid UTF-8.
struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 0;
};
CodePoint decode_utf8(std::string_view text);

/// Appends a code point, which must not be a surrogate and must be at most U+10FFFF.
void append_utf8(std::string& out, char32_t value);

}  // namespace ww
