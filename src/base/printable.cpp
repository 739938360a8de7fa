// SPDX-License-Identifier: Apache-2.0
#include "base/printable.h"

#include <algorithm>

#include "base/append.h"
#include "base/ascii.h"
#include "base/utf8.h"

namespace ww {
namespace {

bool is_plain(char c) { return c >= ' ' && c <= '~'; }

bool is_break(char32_t value) { return value == U'\n' || value == U'\t'; }

bool is_in(char32_t value, char32_t first, char32_t last) {
  return value >= first && value <= last;
}

// Characters that are not shown but change what is: controls of ASCII and of Latin 1, separators of
// lines, marks and overrides of direction, a byte order mark.
bool is_control(char32_t value) {
  return value < 0x20 || is_in(value, 0x7F, 0x9F) || value == 0x61C ||
         is_in(value, 0x200E, 0x200F) || is_in(value, 0x2028, 0x202E) ||
         is_in(value, 0x2066, 0x2069) || value == 0xFEFF;
}

// Calls `write` with each character that is a control or a byte that is not UTF-8 (its value is
// that of the byte, with `bytes` 0), and copies the others.
template <typename Write>
std::string rewritten(std::string_view text, Write write) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto* const end = std::ranges::find_if_not(text, is_plain);
    const auto plain = static_cast<std::size_t>(end - text.begin());
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    CodePoint point = decode_utf8(text.substr(0, 4));
    if (point.bytes == 0) point.value = static_cast<unsigned char>(text.front());
    const std::size_t bytes = std::max<std::size_t>(point.bytes, 1);
    if (point.bytes == 0 || is_control(point.value))
      write(out, point);
    else
      out += text.substr(0, bytes);
    text.remove_prefix(bytes);
  }
  return out;
}

void spell(std::string& out, CodePoint point) {
  const auto value = static_cast<std::uint32_t>(point.value);
  if (value == '\n')
    out += "\\n";
  else if (value == '\t')
    out += "\\t";
  else if (value == '\r')
    out += "\\r";
  else if (point.bytes < 2)
    append(out, "\\x{:02x}", value);
  else
    append(out, "\\u{:04x}", value);
}

}  // namespace

std::string printable(std::string_view text, Breaks breaks) {
  return rewritten(text, [breaks](std::string& out, CodePoint point) {
    if (breaks == Breaks::Keep && is_break(point.value))
      out += static_cast<char>(point.value);
    else
      spell(out, point);
  });
}

std::string printable_excerpt(std::string_view text) {
  constexpr std::size_t kMaxBytes = 40;
  const auto continues_character = [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
  };
  std::size_t most = kMaxBytes;
  while (most < text.size() && continues_character(text[most])) ++most;
  return printable_name(text.substr(0, most)) + (text.size() > most ? "…" : "");
}

std::string printable_columns(std::string_view text) {
  return rewritten(text, [](std::string& out, CodePoint point) {
    const bool is_blank = point.value < 0x80 && is_space(static_cast<char>(point.value));
    out += is_blank ? " " : "\xEF\xBF\xBD";
  });
}

std::string printable_json(std::string_view text) {
  return rewritten(text, [](std::string& out, CodePoint point) {
    if (is_break(point.value))
      out += static_cast<char>(point.value);
    else
      append(out, "\\u{:04x}", static_cast<std::uint32_t>(point.value));
  });
}

std::string path_in_code(std::string_view path) {
  std::string out;
  for (const char c : path) {
    if (is_plain(c) && c != '"' && c != '\\')
      out += c;
    else
      append(out, "\\{:03o}", static_cast<unsigned>(static_cast<unsigned char>(c)));
  }
  return out;
}

std::string path_from_code(std::string_view text) {
  std::string out;
  const auto digit = [&](std::size_t at) {
    return at < text.size() && text[at] >= '0' && text[at] <= '7' ? text[at] - '0' : -1;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_escape = text[i] == '\\' && i + 1 < text.size();
    if (is_escape && digit(i + 1) >= 0 && digit(i + 2) >= 0 && digit(i + 3) >= 0) {
      out += static_cast<char>(digit(i + 1) * 64 + digit(i + 2) * 8 + digit(i + 3));
      i += 3;
    } else if (is_escape && (text[i + 1] == '\\' || text[i + 1] == '"')) {
      out += text[++i];
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace ww
