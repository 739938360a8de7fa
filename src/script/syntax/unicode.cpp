// SPDX-License-Identifier: Apache-2.0
#include "script/syntax/unicode.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>

namespace ww::script {
namespace {

// Whether eight bytes are all ASCII and none is NUL.
bool are_plain(const char* at) {
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, at, sizeof bytes);
  constexpr std::uint64_t kHigh = 0x8080808080808080U;
  constexpr std::uint64_t kOnes = 0x0101010101010101U;
  return ((bytes | (bytes - kOnes)) & kHigh) == 0;
}

struct Range {
  char32_t first;
  char32_t last;
};
constexpr Range kNoLetters[] = {
    {0x80, 0xA9},       {0xAB, 0xB4},       {0xB6, 0xB6},     {0xB8, 0xB9},
    {0xBB, 0xBF},       {0xD7, 0xD7},       {0xF7, 0xF7},     {0x2000, 0x203E},
    {0x2041, 0x2053},   {0x2055, 0x2070},   {0x20A0, 0x20CF}, {0x2190, 0x2BFF},
    {0x3000, 0x3004},   {0x3008, 0x3020},   {0x3030, 0x3030}, {0xD800, 0xF8FF},
    {0xFD3E, 0xFD3F},   {0xFE10, 0xFE1F},   {0xFE30, 0xFE32}, {0xFE45, 0xFE4C},
    {0xFE50, 0xFE6F},   {0xFEFF, 0xFF0F},   {0xFF1A, 0xFF20}, {0xFF3B, 0xFF3E},
    {0xFF40, 0xFF40},   {0xFF5B, 0xFF65},   {0xFFE0, 0xFFFF}, {0x1F000, 0x1FBEF},
    {0xE0000, 0xE00FF}, {0xF0000, 0x10FFFF}};

}  // namespace

std::size_t find_bad_byte(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    if (text.size() - at >= 8 && are_plain(text.data() + at)) {
      at += 8;
      continue;
    }
    const CodePoint point = decode_utf8(text.substr(at, 4));
    if (point.bytes == 0 || point.value == 0) return at;
    at += point.bytes;
  }
  return std::string_view::npos;
}

bool is_wide_letter(char32_t value) {
  const auto* const found =
      std::lower_bound(std::begin(kNoLetters), std::end(kNoLetters), value,
                       [](const Range& range, char32_t wanted) { return range.last < wanted; });
  return found == std::end(kNoLetters) || value < found->first;
}

}  // namespace ww::script
