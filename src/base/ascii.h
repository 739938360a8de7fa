// SPDX-License-Identifier: Apache-2.0
// Character classes of ASCII, the same in every locale.
#pragma once

#include <string_view>

namespace ww {

constexpr bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
constexpr bool is_name_char(char c) { return is_letter(c) || is_digit(c); }
constexpr char to_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// A letter or underscore, then letters, digits and underscores.
constexpr bool is_identifier(std::string_view text) {
  if (text.empty() || !is_letter(text.front())) return false;
  for (const char c : text)
    if (!is_name_char(c)) return false;
  return true;
}

}  // namespace ww
