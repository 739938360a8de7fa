// SPDX-License-Identifier: Apache-2.0
// A text as tokens.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/diag.h"

namespace ww::script {

// --- tokens --------------------------------------------------------------------------------------
//
// Tokens of Python 3.11. A token is a kind and a place; its text stays in the source.
//
// Lines and blocks are tokens too: Newline ends a logical line, Indent and Dedent enclose a block.
// None of them appears inside brackets. An f-string is a sequence of tokens: FStringBegin (prefix
// and opening quotes), then FStringText and fields (`{`, tokens, `}`), then FStringEnd. The text
// between a field's `:` and its `}` is FStringText and fields again.

enum class TokenKind : std::uint8_t {
  End,
  Error,  // what is no token; the last of its list
  Newline,
  Indent,
  Dedent,
  Name,
  Int,
  Float,
  String,  // with prefix and quotes; whole, if it is no f-string
  FStringBegin,
  FStringText,
  FStringEnd,
#define WW_OPERATOR(name, text) name,
#define WW_KEYWORD(name, text)
#include "script/syntax/tokens.def"
#define WW_OPERATOR(name, text)
#define WW_KEYWORD(name, text) name,
#include "script/syntax/tokens.def"
};

struct Token {
  TokenKind kind = TokenKind::End;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  [[nodiscard]] Span span() const { return Span::at(begin, end); }
};

/// Newline, Indent, Dedent or End: what has no text of its own.
constexpr bool is_layout(TokenKind kind) {
  return kind == TokenKind::Newline || kind == TokenKind::Indent || kind == TokenKind::Dedent ||
         kind == TokenKind::End;
}
/// Whether the kind is a reserved word.
constexpr bool is_keyword(TokenKind kind) { return kind >= TokenKind::KwFalse; }
/// The text of an operator or keyword; "" for others.
std::string_view fixed_text_of(TokenKind kind);
/// The kind of a word: a keyword, or Name.
TokenKind kind_of_word(std::string_view word);
/// An operator or keyword, and its text.
struct FixedToken {
  TokenKind kind;
  std::string_view text;
};
/// The longest operator that the text begins with; null if there is none.
const FixedToken* operator_at(std::string_view text);

/// A token as messages show it: "`x`", "the end of the line". Long ones are cut.
std::string describe(const Token& token, std::string_view text);

// --- a text as tokens ----------------------------------------------------------------------------

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
