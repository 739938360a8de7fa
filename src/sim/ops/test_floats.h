// SPDX-License-Identifier: Apache-2.0
// For tests of floating point ops: problematic numbers, and the host's own arithmetic in another
// rounding mode as the reference.
#pragma once

#include <bit>
#include <cfenv>
#include <cstdint>
#include <random>

#include "num/float_format.h"

namespace ww::sim {

/// f32 and f64 bits: special values, subnormals, neighbours of powers of two, numbers whose sums
/// cancel or tie, and any bits.
class FloatBits {
 public:
  explicit FloatBits(std::uint64_t seed) : random_(seed) {}

  std::uint32_t f32() { return static_cast<std::uint32_t>(next(8, 23)); }
  std::uint64_t f64() { return next(11, 52); }
  std::uint16_t f16() { return static_cast<std::uint16_t>(next(5, 10)); }
  std::uint16_t bf16() { return static_cast<std::uint16_t>(next(8, 7)); }
  std::uint64_t any() { return random_(); }

 private:
  std::uint64_t next(unsigned exponent_bits, unsigned mantissa_bits) {
    const std::uint64_t x = random_();
    const std::uint64_t sign = (x & 1U) << (exponent_bits + mantissa_bits);
    const std::uint64_t ones = (std::uint64_t{1} << exponent_bits) - 1;
    const std::uint64_t all = (std::uint64_t{1} << mantissa_bits) - 1;
    const std::uint64_t mantissa = random_() & all;
    const std::uint64_t near_one = ones / 2 + (x >> 8U) % 13 - 6;
    switch ((x >> 1U) % 8) {
      case 0:
        return sign | (mantissa >> (x >> 8U) % mantissa_bits);  // subnormal
      case 1:
        return sign | ones << mantissa_bits | ((x >> 9U) % 4 / 3);  // infinity, NaN
      case 2:
        return sign | near_one << mantissa_bits;  // a power of two
      case 3:
        return sign | ((near_one << mantissa_bits) + (x >> 20U) % 3 - 1);
      case 4:
      case 5:
        return sign | near_one << mantissa_bits | mantissa;
      case 6:
        return sign | (ones - 1) << mantissa_bits | all >> (x >> 8U) % mantissa_bits;
      default:
        return sign | (random_() & ((std::uint64_t{1} << (exponent_bits + mantissa_bits)) - 1));
    }
  }
  std::mt19937_64 random_;
};

/// Sets the host's rounding while it lives. What is calculated must be volatile.
class HostRounding {
 public:
  explicit HostRounding(num::Rounding rounding) { std::fesetround(mode_of(rounding)); }
  ~HostRounding() { std::fesetround(FE_TONEAREST); }
  HostRounding(const HostRounding&) = delete;
  HostRounding& operator=(const HostRounding&) = delete;

 private:
  static int mode_of(num::Rounding rounding) {
    switch (rounding) {
      case num::Rounding::TowardZero:
        return FE_TOWARDZERO;
      case num::Rounding::Down:
        return FE_DOWNWARD;
      case num::Rounding::Up:
        return FE_UPWARD;
      default:
        return FE_TONEAREST;
    }
  }
};

}  // namespace ww::sim
