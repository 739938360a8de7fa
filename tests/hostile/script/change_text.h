// SPDX-License-Identifier: Apache-2.0
// Source texts near a given one: bytes and tokens changed by chance.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <utility>

namespace ww::script {

class Chance {
 public:
  explicit Chance(std::uint32_t seed) : engine_(seed) {}
  std::size_t below(std::size_t bound) { return engine_() % bound; }

 private:
  std::mt19937 engine_;
};

inline constexpr std::string_view kMarks{"{}[]()<>;:,.|+-!@\"'/*#%\0\n\t 09azT_=~", 35};
inline constexpr std::string_view kWords[] = {
    "n",   "tid",   "kernel", "T",        "Tx",  "0",     "1",      "-1",      "2**70",
    "1.5", "None",  "True",   "[]",       "()",  "{}",    "\"x\"",  "lambda:", "*",
    "**",  "==",    "in",     "is",       "not", "and",   "or",     "if",      "else",
    "for", "while", "return", "break",    "def", "class", "global", "with",    "try:",
    "del", "yield", "[0]",    "[::2]",    ".x",  ".view", "(tid)",  "range",   "B",
    "S",   "@",     "laneid", "f\"{n}\"", ":=",
};

inline bool is_word(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// The bounds of the token around a place: a word, or one other byte.
inline std::pair<std::size_t, std::size_t> token_at(const std::string& text, std::size_t at) {
  std::size_t begin = at;
  std::size_t end = at + 1;
  if (!is_word(text[at])) return {begin, end};
  while (begin > 0 && is_word(text[begin - 1])) --begin;
  while (end < text.size() && is_word(text[end])) ++end;
  return {begin, end};
}

inline std::string changed(std::string text, Chance& chance) {
  const std::size_t edits = 1 + chance.below(3);
  for (std::size_t i = 0; i < edits && !text.empty(); ++i) {
    const std::size_t at = chance.below(text.size());
    const auto [begin, end] = token_at(text, at);
    const auto [other, other_end] = token_at(text, chance.below(text.size()));
    const std::string word = text.substr(other, other_end - other);
    switch (chance.below(7)) {
      case 0:
        text[at] = static_cast<char>(chance.below(256));
        break;
      case 1:
        text.erase(begin, end - begin);
        break;
      case 2:
        text.insert(at, 1, kMarks[chance.below(kMarks.size())]);
        break;
      case 3:
        text.insert(begin, word + " ");
        break;
      case 4:
        text.replace(begin, end - begin, word);
        break;
      default:
        text.replace(begin, end - begin, kWords[chance.below(std::size(kWords))]);
        break;
    }
  }
  return text;
}

/// Words that can stand for each other, so that what comes out often compiles.
inline constexpr std::string_view kAlike[][12] = {
    {"0", "1", "2", "3", "7", "16", "31", "32", "64", "128", "4096", "2147483648"},
    {"float16", "float32", "float64", "bfloat16", "int8", "uint8", "int32", "int64", "bool",
     "float8_e4m3fn", "uint32", "int16"},
    {"warp", "cta", "wg", "thread", "cluster"},
    {"laneid", "warpid", "tx", "tid_in_wg", "wid_in_wg", "wgid", "TLane", "TCol"},
    {"shared", "local", "global", "tmem"},
    {"copy", "copy_async", "add", "fill", "gemm", "cast", "maximum", "sum", "zero", "select"},
    {"range", "serial", "unroll", "vectorized"},
};

/// Words exchanged for others of their kind.
inline std::string exchanged(std::string text, Chance& chance) {
  const std::size_t edits = 1 + chance.below(3);
  for (std::size_t i = 0, tries = 0; i < edits && tries < 200 && !text.empty(); ++tries) {
    const auto [begin, end] = token_at(text, chance.below(text.size()));
    const std::string_view word = std::string_view(text).substr(begin, end - begin);
    const bool is_number = word.find_first_not_of("0123456789") == std::string_view::npos;
    for (const auto& row : kAlike) {
      const bool has_it =
          std::ranges::find(row, word) != std::end(row) || (is_number && &row == &kAlike[0]);
      if (!has_it || word.empty()) continue;
      const std::size_t count =
          static_cast<std::size_t>(std::ranges::find(row, std::string_view()) - std::begin(row));
      text.replace(begin, end - begin, row[chance.below(count)]);
      ++i;
      break;
    }
  }
  return text;
}

}  // namespace ww::script
