// SPDX-License-Identifier: Apache-2.0
// A text as tokens.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/diag.h"
#include "script/syntax/tokens.h"

namespace ww::script {

/// Never empty: the last token is End or Error.
struct TokenList {
  std::vector<Token> tokens;
  Diag error;  // what is wrong at Error
};

enum class Layout : std::uint8_t {
  Lines,  // a file: Newline, Indent and Dedent tokens
  Free,   // an expression: line breaks are blanks
};

/// All tokens up to the end or to the first error. The text has less than 4 GiB.
TokenList tokenize(std::string_view text, Layout layout);

/// Whether the whole text is one name.
bool is_name(std::string_view text);

}  // namespace ww::script
