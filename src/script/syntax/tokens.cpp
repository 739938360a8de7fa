// SPDX-License-Identifier: Apache-2.0
#include "script/syntax/tokens.h"

#include <fmt/format.h>

#include <array>
#include <iterator>

#include "base/printable.h"

namespace ww::script {
namespace {

constexpr FixedToken kOperators[] = {
#define WW_OPERATOR(name, text) {TokenKind::name, text},
#include "script/syntax/tokens.def"
};
constexpr FixedToken kKeywords[] = {
#define WW_KEYWORD(name, text) {TokenKind::name, text},
#include "script/syntax/tokens.def"
};

// For each character, where in a table the rows begin that start with it.
template <std::size_t N>
constexpr std::array<std::uint8_t, 128> first_rows(const FixedToken (&table)[N]) {
  std::array<std::uint8_t, 128> rows{};
  rows.fill(N);
  for (std::size_t i = N; i-- > 0;)
    rows[static_cast<std::size_t>(table[i].text[0])] = static_cast<std::uint8_t>(i);
  return rows;
}
constexpr auto kFirstOperators = first_rows(kOperators);
constexpr auto kFirstKeywords = first_rows(kKeywords);

}  // namespace

TokenKind kind_of_word(std::string_view word) {
  const auto first = static_cast<unsigned char>(word[0]);
  if (first >= 128) return TokenKind::Name;
  for (std::size_t i = kFirstKeywords[first]; i < std::size(kKeywords); ++i) {
    if (kKeywords[i].text[0] != word[0]) break;
    if (kKeywords[i].text == word) return kKeywords[i].kind;
  }
  return TokenKind::Name;
}

const FixedToken* operator_at(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first >= 128) return nullptr;
  for (std::size_t i = kFirstOperators[first]; i < std::size(kOperators); ++i) {
    if (kOperators[i].text[0] != text[0]) break;
    if (text.starts_with(kOperators[i].text)) return &kOperators[i];
  }
  return nullptr;
}

std::string_view fixed_text_of(TokenKind kind) {
  for (const FixedToken& fixed : kOperators)
    if (fixed.kind == kind) return fixed.text;
  for (const FixedToken& fixed : kKeywords)
    if (fixed.kind == kind) return fixed.text;
  return "";
}

std::string describe(const Token& token, std::string_view text) {
  switch (token.kind) {
    case TokenKind::End:
      return "the end of the text";
    case TokenKind::Newline:
      return "the end of the line";
    case TokenKind::Indent:
      return "an indented line";
    case TokenKind::Dedent:
      return "the end of the block";
    case TokenKind::FStringEnd:
      return "the end of the string";
    default:
      return fmt::format("`{}`",
                         printable_excerpt(text.substr(token.begin, token.end - token.begin)));
  }
}

}  // namespace ww::script
