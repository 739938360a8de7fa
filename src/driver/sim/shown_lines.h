// SPDX-License-Identifier: Apache-2.0
// What a run shows while it goes on: lines of `--trace` and `--break`.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "driver/sim/tool.h"

namespace ww::driver {

/// Lines up to a number of bytes; further ones are counted.
class ShownLines {
 public:
  void bound(std::uint64_t bytes) { most_ = std::min<std::uint64_t>(most_, bytes); }
  [[nodiscard]] std::function<void(std::string_view)> writer() {
    return [this](std::string_view line) {
      if (text_.size() + line.size() > most_) {
        left_out_ += static_cast<std::uint64_t>(std::ranges::count(line, '\n'));
      } else {
        text_ += line;
      }
    };
  }
  std::string take(std::uint64_t& left_out) {
    left_out = left_out_;
    return std::move(text_);
  }

 private:
  std::string text_;
  std::uint64_t most_ = kMaxShownBytes;
  std::uint64_t left_out_ = 0;
};

}  // namespace ww::driver
