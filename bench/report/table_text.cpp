// SPDX-License-Identifier: Apache-2.0
#include "table_text.h"

#include "base/append.h"

namespace ww::bench {

std::string number_text(double value) {
  return value >= 99.95   ? fmt::format("{:.0f}", value)
         : value >= 9.995 ? fmt::format("{:.1f}", value)
                          : fmt::format("{:.2f}", value);
}

std::string number_text(std::optional<double> value, double scale) {
  return value ? number_text(*value * scale) : std::string(kNone);
}

std::string code(std::string_view text) { return fmt::format("`{}`", text); }

Table::Table(std::span<const std::string_view> titles) {
  std::string rule;
  for (std::string_view title : titles) {
    const bool is_number = title.starts_with('>');
    append(text_, "| {} ", title.substr(is_number));
    rule += is_number ? "|--:" : "|---";
  }
  append(text_, "|\n{}|\n", rule);
}

void Table::add(std::span<const std::string> cells) {
  for (const std::string& cell : cells) append(text_, "| {} ", cell);
  text_ += "|\n";
  is_empty_ = false;
}

}  // namespace ww::bench
