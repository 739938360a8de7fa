// SPDX-License-Identifier: Apache-2.0
// Tables in Markdown, and how numbers are written in them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ww::bench {

/// Where there is no number.
constexpr std::string_view kNone = "-";

/// With three digits.
std::string number_text(double value);
std::string number_text(std::optional<double> value, double scale = 1);
/// Between backticks.
std::string code(std::string_view text);

class Table {
 public:
  /// Titles; those of columns with numbers begin with `>`.
  explicit Table(std::span<const std::string_view> titles);
  void add(std::span<const std::string> cells);
  /// With an empty line before it; nothing when it has no rows.
  [[nodiscard]] std::string text() const { return is_empty_ ? "" : "\n" + text_; }

 private:
  std::string text_;
  bool is_empty_ = true;
};

}  // namespace ww::bench
