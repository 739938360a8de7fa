// SPDX-License-Identifier: Apache-2.0
#include "script/unicode.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>

namespace ww::script {
namespace {

std::uint32_t byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

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

CodePoint decode_utf8(std::string_view text) {
  if (text.empty()) return {};
  const std::uint32_t first = byte_at(text, 0);
  if (first < 0x80) return {first, 1};
  const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < bytes) return {};
  char32_t value = first & (0xFFU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte_at(text, i) & 0xC0U) != 0x80U) return {};
    value = (value << 6U) | (byte_at(text, i) & 0x3FU);
  }
  constexpr char32_t kFewest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < kFewest[bytes] || value > 0x10FFFF || is_surrogate) return {};
  return {value, bytes};
}

void append_utf8(std::string& out, char32_t value) {
  const auto add = [&](char32_t byte) { out += static_cast<char>(byte); };
  const auto add_rest = [&](unsigned shift) { add(0x80U | ((value >> shift) & 0x3FU)); };
  if (value < 0x80) return add(value);
  if (value < 0x800) {
    add(0xC0U | (value >> 6U));
  } else if (value < 0x10000) {
    add(0xE0U | (value >> 12U));
    add_rest(6);
  } else {
    add(0xF0U | (value >> 18U));
    add_rest(12);
    add_rest(6);
  }
  add_rest(0);
}

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
