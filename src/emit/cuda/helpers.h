// SPDX-License-Identifier: Apache-2.0
// The functions before the kernel. Functions with a fixed text are rows of helpers.cpp and come
// first, in the order of the table; functions made for a type or an instruction follow, by name.
// The file contains each function once, and only if it is used.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "num/dtype.h"

namespace ww::emit::cuda {

class Helpers {
 public:
  /// Requests a fixed helper, and the helpers it needs, and returns its name.
  std::string_view use(std::string_view name);
  /// Adds a generated helper: its whole text, without a trailing empty line.
  void add(const std::string& name, const std::string& text);
  /// Notes that a type occurs, for its header.
  void note(num::DType dtype);
  /// There are tensor maps.
  void note_maps() { has_maps_ = true; }
  void note_printf() { has_printf_ = true; }

  /// The #include lines; a host program needs more of them.
  [[nodiscard]] std::string includes(bool with_host) const;
  /// All requested helpers, each followed by an empty line.
  [[nodiscard]] std::string text() const;

 private:
  std::set<std::string_view> used_;
  std::map<std::string, std::set<std::string>> made_;  // overloads of one name
  bool has_fp16_ = false, has_bf16_ = false, has_fp8_ = false, has_printf_ = false,
       has_maps_ = false;
};

}  // namespace ww::emit::cuda
