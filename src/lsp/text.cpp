// SPDX-License-Identifier: Apache-2.0
#include "lsp/text.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"

namespace ww::lsp {
namespace {

struct CharacterSize {
  std::size_t bytes = 1;
  std::int64_t units = 1;
};

// Of the character at the begin of a text that is not empty. A byte that is no UTF-8 is one unit.
CharacterSize character_size(std::string_view text, Encoding encoding) {
  const CodePoint read = decode_utf8(text);
  if (read.bytes == 0) return {};
  const auto bytes = static_cast<std::int64_t>(read.bytes);
  return {read.bytes, encoding == Encoding::Utf8 ? bytes : read.value > 0xFFFF ? 2 : 1};
}

}  // namespace

std::string_view name_of(Encoding encoding) {
  return encoding == Encoding::Utf8 ? "utf-8" : "utf-16";
}

Text::Text(std::string bytes) : bytes_(std::move(bytes)), starts_{0} {
  for (std::size_t i = 0; i < bytes_.size(); ++i) {
    const bool is_pair = bytes_[i] == '\r' && i + 1 < bytes_.size() && bytes_[i + 1] == '\n';
    if (bytes_[i] == '\n' || (bytes_[i] == '\r' && !is_pair)) starts_.push_back(i + 1);
  }
}

std::string_view Text::line(std::size_t number) const {
  if (number >= starts_.size()) return {};
  const std::size_t end = number + 1 < starts_.size() ? starts_[number + 1] : bytes_.size();
  std::string_view out = std::string_view(bytes_).substr(starts_[number], end - starts_[number]);
  while (!out.empty() && (out.back() == '\n' || out.back() == '\r')) out.remove_suffix(1);
  return out;
}

std::size_t Text::line_of(std::size_t offset) const {
  const auto after = std::ranges::upper_bound(starts_, std::min(offset, bytes_.size()));
  return static_cast<std::size_t>(after - starts_.begin()) - 1;
}

std::size_t Text::offset(Position position, Encoding encoding) const {
  if (position.line < 0) return 0;
  const auto number = static_cast<std::size_t>(position.line);
  if (number >= starts_.size()) return bytes_.size();
  std::string_view rest = line(number);
  std::size_t out = starts_[number];
  for (std::int64_t units = 0; !rest.empty();) {
    const CharacterSize size = character_size(rest, encoding);
    units += size.units;
    if (units > position.character) break;
    out += size.bytes;
    rest.remove_prefix(size.bytes);
  }
  return out;
}

Position Text::position(std::size_t offset, Encoding encoding) const {
  const std::size_t number = line_of(offset);
  std::string_view rest = line(number);
  rest = rest.substr(0, std::min(offset, bytes_.size()) - starts_[number]);
  Position out{.line = static_cast<std::int64_t>(number)};
  while (!rest.empty()) {
    const CharacterSize size = character_size(rest, encoding);
    out.character += size.units;
    rest.remove_prefix(size.bytes);
  }
  return out;
}

}  // namespace ww::lsp
