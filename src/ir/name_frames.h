// SPDX-License-Identifier: Apache-2.0
// Names that do not clash: each block of a printed program forgets the names that it has bound, and
// a name that is taken where it is wanted gets `_1`, `_2` … behind it.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ww::ir {

class NameFrames {
 public:
  /// Taken everywhere.
  void reserve(std::string name) { visible_.insert(std::move(name)); }

  /// The name, or the nearest that is free; visible until the present frame ends.
  std::string bind(const std::string& name) {
    std::string out = name;
    for (int i = 1; visible_.contains(out); ++i) out = fmt::format("{}_{}", name, i);
    visible_.insert(out);
    frame_.push_back(out);
    return out;
  }

  /// Calls `body`, and forgets what it has bound.
  template <typename Body>
  void in_frame(Body&& body) {
    std::vector<std::string> outer = std::exchange(frame_, {});
    body();
    for (const std::string& name : frame_) visible_.erase(name);
    frame_ = std::move(outer);
  }

 private:
  std::set<std::string, std::less<>> visible_;
  std::vector<std::string> frame_;  // names of the innermost frame
};

}  // namespace ww::ir
