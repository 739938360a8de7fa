// SPDX-License-Identifier: Apache-2.0
// The text of a random kernel while it is written: its parameters, their declarations, the
// statements so far, and the names that are taken.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ww::test {

/// Where a statement stands.
struct Place {
  int depth = 0;
  std::string indent = "    ";
  bool is_split = false;   // not all units come here
  bool is_thread = false;  // not all threads of a unit do
  std::vector<std::pair<std::string, std::int64_t>> loops = {};

  [[nodiscard]] Place inside() const;
};

class ProgramText {
 public:
  /// A name that nothing else has: the kind with a number behind it.
  std::string fresh(const std::string& kind) { return kind + std::to_string(names_[kind]++); }
  /// An array parameter; its shape as it is written: "(n0, 8)".
  void param(const std::string& name, std::string_view shape, std::string_view dtype);
  /// A parameter of one number.
  void scalar(const std::string& name, std::string_view dtype);
  /// A number that launches take from the extents of arrays. Call it before the `param` with it.
  void extent(const std::string& name);
  /// The entry and the coordinates of threads; those of warps only where all warps are full.
  void entry(std::int64_t ctas, std::int64_t threads, bool has_warpgroups);
  void line(const Place& at, const std::string& text) { body_ += at.indent + text + "\n"; }
  /// A line that is formatted: `line(at, "{} = {}", name, 5)`.
  template <typename First, typename... Rest>
  void line(const Place& at, fmt::format_string<First, Rest...> text, First&& first,
            Rest&&... rest) {
    line(at, fmt::format(text, std::forward<First>(first), std::forward<Rest>(rest)...));
  }
  /// Lines as they are.
  void lines(const std::string& text) { body_ += text; }
  /// Of the statements: it grows with each line.
  [[nodiscard]] std::size_t size() const { return body_.size(); }
  /// `kernel`, whose last parameter is `p0`.
  [[nodiscard]] std::string kernel() const;

 private:
  std::map<std::string, int> names_;
  std::string params_, matches_, body_;
};

}  // namespace ww::test
