// SPDX-License-Identifier: Apache-2.0
// As much of Unicode as the lexer needs.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/utf8.h"

namespace ww::script {

/// Where the first NUL or the first byte that is not UTF-8 is; npos when there is none.
std::size_t find_bad_byte(std::string_view text);

/// Whether a code point above U+007F can be part of a name. Wider than Python's rule: all but
/// spaces, punctuation, symbols and private ones.
bool is_wide_letter(char32_t value);

}  // namespace ww::script
