// SPDX-License-Identifier: Apache-2.0
// Items as one text: join(names, ", "). fmt::join does the same, but compiles a good part of fmt into each
// folder that calls it.
#pragma once

#include <concepts>
#include <cstdint>
#include <ranges>
#include <string>
#include <string_view>

namespace ww {

void append_item(std::string& out, std::string_view item);
void append_item(std::string& out, std::int64_t item);
void append_item(std::string& out, std::uint64_t item);

/// The items, texts or whole numbers, with `separator` between them.
template <std::ranges::input_range Range>
std::string join(const Range& items, std::string_view separator) {
  std::string out;
  bool is_first = true;
  for (const auto& item : items) {
    if (!is_first) append_item(out, separator);
    is_first = false;
    if constexpr (std::constructible_from<std::string_view, decltype(item)>)
      append_item(out, std::string_view(item));
    else if constexpr (std::signed_integral<std::ranges::range_value_t<Range>>)
      append_item(out, static_cast<std::int64_t>(item));
    else
      append_item(out, std::uint64_t{item});
  }
  return out;
}

}  // namespace ww
