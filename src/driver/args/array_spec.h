// SPDX-License-Identifier: Apache-2.0
// Arrays from a few words, as kernel arguments are given on the command line: `arange`, `full:0.5`,
// `randint:-4,4,7`. The same words give the same bytes on every host. One row per word; the rows are
// the help text, too.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/wide.h"
#include "driver/args/array.h"
#include "driver/args/text.h"
#include "num/dtype.h"

namespace ww::driver {

// --- random stream -------------------------------------------------------------------------------
//
// Random numbers that are the same on every host and in every build: SplitMix64, and what is made
// of its 64-bit words by integer arithmetic and exact operations on doubles alone. No function of
// the math library is used; its last bit differs from machine to machine.

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

struct ArrayWord {
  std::string_view name;
  /// Syntax behind `name:`, in brackets when it may be left out; empty when there is none.
  std::string_view arguments;
  std::string_view help;
};

/// All words, in the order of the help text.
std::span<const ArrayWord> array_words();

/// The array that `spec` describes. `seed` is for random arrays whose spec names none: give each
/// argument of a kernel its own.
///
///   arange      0, 1, 2, ... in C order. Integers wrap modulo 2^bits; a float type starts over at
///               the largest power of two below which it holds every integer: 2048 for float16,
///               256 for bfloat16, 16 for e4m3, 8 for e5m2, e3m2 and e2m3, 4 for e2m1. ue8m0 has
///               powers of two only and gets 1, 2, 4, ..., 128, 1, 2, ...
///   zeros, ones, eye
///   full:VALUE  any value that parse_scalar takes
///   list:VALUE,...  as many values as there are elements, in C order
///   randn       nearly normal, rounded to nearest; within ±6
///   rand        uniform in [LO,HI), [0,1) unless given, rounded to nearest (so HI may occur)
///   randint     integers in [LO,HI), all of which the type must hold exactly; unless given, as
///               much of [-8,8) as the type has (unsigned: [0,16), bool: [0,2))
///
/// Fails with UnknownName (and the nearest word), Syntax or BadArgument at a place in `spec`, and
/// like byte_size for the shape.
Result<Array> make_array(num::DType type, std::vector<std::int64_t> shape, std::string_view spec,
                         std::uint64_t seed = 0);

}  // namespace ww::driver
