// SPDX-License-Identifier: Apache-2.0
// Names that do not clash: each block of a printed program drops the names that it bound when it
// ends, and a name that is already taken gets the suffix `_1`, `_2` ….
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <system_error>
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
    if (visible_.contains(out)) {
      int& next = next_.try_emplace(name, 1).first->second;
      do {
        out = fmt::format("{}_{}", name, next++);
      } while (visible_.contains(out));
    }
    visible_.insert(out);
    frame_.push_back(out);
    return out;
  }

  /// Calls `body`, then drops the names that it bound.
  template <typename Body>
  void in_frame(Body&& body) {
    std::vector<std::string> outer = std::exchange(frame_, {});
    body();
    for (const std::string& name : frame_) forget(name);
    frame_ = std::move(outer);
  }

 private:
  // `x_3` is free again, and next for `x` unless an earlier one is.
  void forget(const std::string& name) {
    visible_.erase(name);
    const std::size_t at = name.rfind('_');
    if (at == std::string::npos) return;
    const auto base = next_.find(name.substr(0, at));
    if (base == next_.end()) return;
    int number = 0;
    const char* end = name.data() + name.size();
    const auto read = std::from_chars(name.data() + at + 1, end, number);
    if (read.ec == std::errc() && read.ptr == end && number >= 1)
      base->second = std::min(base->second, number);
  }

  std::set<std::string, std::less<>> visible_;
  std::vector<std::string> frame_;                // names of the innermost frame
  std::map<std::string, int, std::less<>> next_;  // by name: all numbers below are taken
};

}  // namespace ww::ir
