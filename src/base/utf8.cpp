// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.h"

#include <cstdint>

namespace ww {
namespace {

std::uint32_t byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

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

}  // namespace ww
