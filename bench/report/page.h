// SPDX-License-Identifier: Apache-2.0
// A page of which parts are written by a program and others by hand. A part of ours stands between
// two lines:
//
//     <!-- measured: sim -->
//     ...
//     <!-- end of sim -->
//
// Writing a part again replaces what is between them; everything else stays as it is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ww::bench {

class Page {
 public:
  /// BadArgument, with its place, for a part that has no end, that begins inside another, or that
  /// is there twice, and for an end without a beginning.
  static Result<Page> read(std::string_view text);

  /// Puts the text of a part, whole lines, in the place of what it was, or at the end.
  void put(std::string_view name, std::string text);
  /// Parts of ours, in their order.
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] std::string text() const;

 private:
  struct Part {
    std::string name;  // "": by hand
    std::string text;
  };
  std::vector<Part> parts_;
};

}  // namespace ww::bench
