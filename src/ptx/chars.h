// SPDX-License-Identifier: Apache-2.0
// What PTX does with each character. Used inside this folder, by the lexer and by the readers that
// look at a character where a whole token would tell them no more.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/ascii.h"

namespace ww::ptx {

/// What a character begins.
enum class Start : std::uint8_t {
  Bad,
  Blank,
  Word,     // a letter, `_` or `$`
  Percent,  // a word such as `%r1`, or an operator
  Digit,
  Dot,  // a word such as `.reg`, or a number such as `.5`
  Slash,
  Quote,
  Hash,
  Punct,  // a token by itself
  End,    // no character: the end of the text
};

struct CharTable {
  std::array<Start, 256> start{};
  std::array<bool, 256> in_word{};  // letters, digits, `_`, `$`
};

constexpr CharTable make_char_table() {
  CharTable table;
  for (std::size_t i = 0; i < 128; ++i) {
    const char c = static_cast<char>(i);
    table.in_word[i] = is_name_char(c) || c == '$';
    if (is_space(c)) table.start[i] = Start::Blank;
    if (table.in_word[i]) table.start[i] = is_digit(c) ? Start::Digit : Start::Word;
  }
  for (const char c : {',', ';', ':', '{', '}', '[', ']', '(', ')', '@', '=',
                       '!', '~', '<', '>', '|', '+', '-', '*', '&', '^', '?'})
    table.start[static_cast<std::size_t>(c)] = Start::Punct;
  table.start['%'] = Start::Percent;
  table.start['.'] = Start::Dot;
  table.start['/'] = Start::Slash;
  table.start['"'] = Start::Quote;
  table.start['#'] = Start::Hash;
  return table;
}
inline constexpr CharTable kChars = make_char_table();

inline Start start_of(char c) { return kChars.start[static_cast<unsigned char>(c)]; }
inline bool in_word(char c) { return kChars.in_word[static_cast<unsigned char>(c)]; }

}  // namespace ww::ptx
