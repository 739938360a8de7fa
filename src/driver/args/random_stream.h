// SPDX-License-Identifier: Apache-2.0
// Random numbers that are the same on every host and in every build: SplitMix64, and what is made
// of its 64-bit words by integer arithmetic and exact operations on doubles alone. No function of
// the math library is used; its last bit differs from machine to machine.
#pragma once

#include <cstdint>

#include "base/wide.h"

namespace ww::driver {

/// Steele, Lea, Flood: "Fast splittable pseudorandom number generators" (2014).
class RandomStream {
 public:
  explicit RandomStream(std::uint64_t seed) : state_(seed) {}

  std::uint64_t word() {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
  }

  /// A multiple of 2^-53 in [0, 1).
  double unit() { return static_cast<double>(word() >> 11U) * 0x1p-53; }

  /// In [0, count), every number equally likely; any of 2^64 when `count` is 0. Lemire: "Fast
  /// random integer generation in an interval" (2019).
  std::uint64_t below(std::uint64_t count) {
    if (count == 0) return word();
    const std::uint64_t uneven = (0 - count) % count;  // 2^64 modulo count
    while (true) {
      const auto product = static_cast<UWide>(word()) * count;
      if (static_cast<std::uint64_t>(product) >= uneven)
        return static_cast<std::uint64_t>(product >> 64U);
    }
  }

  /// Nearly normal with mean 0 and deviation 1: the sum of twelve uniform numbers, less six. An
  /// exact multiple of 2^-33 within ±6; beyond ±3 a little rarer than a true normal.
  double normal() {
    std::uint64_t sum = 0;
    for (int i = 0; i < 6; ++i) {
      const std::uint64_t two = word();
      sum += (two >> 32U) + (two & 0xFFFFFFFFU);
    }
    // Each of the twelve stands for the middle of its interval of 2^-32, so that 0 is the middle.
    constexpr std::int64_t kMiddle = std::int64_t{12} << 32;
    return static_cast<double>(2 * static_cast<std::int64_t>(sum) + 12 - kMiddle) * 0x1p-33;
  }

 private:
  __extension__ using UWide = unsigned __int128;
  std::uint64_t state_;
};

}  // namespace ww::driver
