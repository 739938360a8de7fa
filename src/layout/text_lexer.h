// SPDX-License-Identifier: Apache-2.0
// Tokens of the layout notation. Used by text.cpp and text_amounts.h only.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ww::layout {

enum class TokenKind : std::uint8_t { Int, Name, String, Punct, End };

struct Token {
  TokenKind kind = TokenKind::End;
  std::string_view text;   // a dotted name (`T.S`, `Axis.laneid`) keeps its last part only
  std::int64_t value = 0;  // of an Int
  Span span;
};

/// All tokens, an End token last. Fails on characters that no token starts with, unclosed strings
/// and integers beyond 64 bits.
Result<std::vector<Token>> lex_notation(std::string_view text);

/// "`x`", or "the end" for the End token: for messages.
std::string describe(const Token& token);

}  // namespace ww::layout
