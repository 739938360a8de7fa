// SPDX-License-Identifier: Apache-2.0
// A text as an editor counts it: lines end in `\n`, `\r\n` or `\r`, and a place in a line counts
// bytes or 16-bit units of UTF-16. Everything else here counts bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/diag.h"

namespace ww::lsp {

/// What `character` of a position counts.
enum class Encoding : std::uint8_t { Utf8, Utf16 };
std::string_view name_of(Encoding encoding);  // "utf-8", "utf-16"

struct Position {
  std::int64_t line = 0;  // from 0
  std::int64_t character = 0;
  friend bool operator==(const Position&, const Position&) = default;
};

class Text {
 public:
  explicit Text(std::string bytes);

  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  [[nodiscard]] std::size_t line_count() const { return starts_.size(); }
  /// Without its end; "" past the last one.
  [[nodiscard]] std::string_view line(std::size_t number) const;
  [[nodiscard]] std::size_t line_of(std::size_t offset) const;
  [[nodiscard]] std::size_t line_begin(std::size_t number) const { return starts_[number]; }

  /// What lies behind the end of a line means its end, behind the text the end of the text, inside
  /// a character its begin; negative numbers count as 0.
  [[nodiscard]] std::size_t offset(Position position, Encoding encoding) const;
  [[nodiscard]] Position position(std::size_t offset, Encoding encoding) const;

 private:
  std::string bytes_;
  std::vector<std::size_t> starts_;
};

}  // namespace ww::lsp
