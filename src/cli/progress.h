// SPDX-License-Identifier: Apache-2.0
// A line on stderr that is written over again and again, and is gone at the end. The one thing that
// a command prints while it works: it is worth something only then, and only to a person.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace ww::cli {

class Progress {
 public:
  Progress() = default;
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// What a run calls now and then with how much is done; none where stderr is no terminal.
  std::function<bool(std::uint64_t, std::uint64_t)> callback();

 private:
  using Clock = std::chrono::steady_clock;

  bool update(std::uint64_t done, std::uint64_t all);

  Clock::time_point last_ = Clock::now();
  bool is_shown_ = false;
};

}  // namespace ww::cli
