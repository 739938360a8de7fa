// SPDX-License-Identifier: Apache-2.0
// Every code of every narrow format goes through decode and encode; rounding is compared with an
// oracle that looks for the neighbours among all codes, and single precision with the host.
#include "num/float_format.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace ww::num::float_format_test {
namespace {

constexpr DType kNarrow[] = {DType::Float16,      DType::Bfloat16,     DType::Float8E4M3fn,
                             DType::Float8E5M2,   DType::Float6E2M3fn, DType::Float6E3M2fn,
                             DType::Float4E2M1fn, DType::Float8E8M0};
constexpr Rounding kRoundings[] = {Rounding::NearestEven, Rounding::NearestAway,
                                   Rounding::TowardZero, Rounding::Down, Rounding::Up};

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::numeric_limits<double>::quiet_NaN();

std::uint64_t codes_of(DType type) {
  const FloatFormat& f = format_of(type);
  return std::uint64_t{1} << (f.exponent_bits + f.mantissa_bits + (f.has_sign ? 1 : 0));
}

TEST(FloatFormat, EveryCodeComesBack) {
  for (const DType type : kNarrow) {
    for (std::uint64_t code = 0; code < codes_of(type); ++code) {
      const double value = decode(type, code);
      if (std::isnan(value)) continue;
      for (const Rounding rounding : kRoundings) {
        ASSERT_EQ(encode(type, value, rounding), code) << name_of(type) << " code " << code;
      }
    }
  }
}

TEST(FloatFormat, KnownValues) {
  EXPECT_EQ(decode(DType::Float16, 0x3C00), 1.0);
  EXPECT_EQ(decode(DType::Float16, 0x7BFF), 65504.0);
  EXPECT_EQ(decode(DType::Float16, 0x0001), std::ldexp(1.0, -24));
  EXPECT_EQ(decode(DType::Bfloat16, 0xC040), -3.0);
  EXPECT_EQ(decode(DType::Float8E4M3fn, 0x7E), 448.0);
  EXPECT_TRUE(std::isnan(decode(DType::Float8E4M3fn, 0x7F)));
  EXPECT_TRUE(std::isnan(decode(DType::Float8E4M3fn, 0xFF)));
  EXPECT_EQ(decode(DType::Float8E5M2, 0x7B), 57344.0);
  EXPECT_EQ(decode(DType::Float8E5M2, 0x7C), kInf);
  EXPECT_EQ(decode(DType::Float6E3M2fn, 0x1F), 28.0);
  EXPECT_EQ(decode(DType::Float6E2M3fn, 0x1F), 7.5);
  const double fp4[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  for (std::uint64_t code = 0; code < 8; ++code) {
    EXPECT_EQ(decode(DType::Float4E2M1fn, code), fp4[code]);
    EXPECT_EQ(decode(DType::Float4E2M1fn, code + 8), -fp4[code]);
  }
  EXPECT_EQ(decode(DType::Float8E8M0, 0), std::ldexp(1.0, -127));
  EXPECT_EQ(decode(DType::Float8E8M0, 127), 1.0);
  EXPECT_TRUE(std::isnan(decode(DType::Float8E8M0, 0xFF)));
}

TEST(FloatFormat, Tf32SitsInTheUpperBits) {
  EXPECT_EQ(encode(DType::Tfloat32, 1.0), 0x3F800000U);
  EXPECT_EQ(decode(DType::Tfloat32, 0x3F801FFF), 1.0);  // the low 13 bits do not count
  EXPECT_EQ(encode(DType::Tfloat32, 1.0 + std::ldexp(1.0, -11), Rounding::NearestAway),
            0x3F802000U);
  EXPECT_EQ(encode(DType::Tfloat32, 1.0 + std::ldexp(1.0, -11)), 0x3F800000U);
  EXPECT_EQ(encode(DType::Tfloat32, -0.0), 0x80000000U);
}

TEST(FloatFormat, LargestNumbers) {
  EXPECT_EQ(largest(DType::Float16), 65504.0);
  EXPECT_EQ(largest(DType::Float8E4M3fn), 448.0);
  EXPECT_EQ(largest(DType::Float4E2M1fn), 6.0);
  EXPECT_EQ(largest(DType::Float8E8M0), std::ldexp(1.0, 127));
  EXPECT_EQ(largest(DType::Float32), static_cast<double>(std::numeric_limits<float>::max()));
  EXPECT_EQ(largest(DType::Float64), std::numeric_limits<double>::max());
}

TEST(FloatFormat, Overflow) {
  EXPECT_EQ(encode(DType::Float16, 65520.0), 0x7C00U);  // half a unit above the largest
  EXPECT_EQ(encode(DType::Float16, 65519.9), 0x7BFFU);
  EXPECT_EQ(encode(DType::Float16, 1e9, Rounding::TowardZero), 0x7BFFU);
  EXPECT_EQ(encode(DType::Float16, -1e9, Rounding::Up), 0xFBFFU);
  EXPECT_EQ(encode(DType::Float16, -1e9, Rounding::Down), 0xFC00U);
  EXPECT_EQ(encode(DType::Float16, kInf, Rounding::TowardZero), 0x7C00U);
  EXPECT_EQ(encode(DType::Float16, kInf, Rounding::NearestEven, Overflow::Saturate), 0x7BFFU);
  EXPECT_EQ(encode(DType::Float8E4M3fn, 1e9), 0x7FU);
  EXPECT_EQ(encode(DType::Float8E4M3fn, -1e9, Rounding::NearestEven, Overflow::Saturate), 0xFEU);
  EXPECT_EQ(encode(DType::Float8E5M2, -kInf), 0xFCU);
  EXPECT_EQ(encode(DType::Float4E2M1fn, 100.0), 0x7U);
  EXPECT_EQ(encode(DType::Float6E3M2fn, -kInf), 0x3FU);
  EXPECT_EQ(encode(DType::Float8E8M0, 1e300), 0xFFU);
  EXPECT_EQ(encode(DType::Float8E8M0, 1e300, Rounding::Up, Overflow::Saturate), 0xFEU);
}

TEST(FloatFormat, NotANumber) {
  EXPECT_EQ(encode(DType::Float16, kNan), 0x7FFFU);
  EXPECT_EQ(encode(DType::Float8E4M3fn, kNan, Rounding::NearestEven, Overflow::Saturate), 0x7FU);
  EXPECT_EQ(encode(DType::Float8E8M0, kNan), 0xFFU);
  EXPECT_EQ(encode(DType::Float4E2M1fn, kNan), 0x7U);
  EXPECT_EQ(encode(DType::Float32, kNan), 0x7FFFFFFFU);
}

TEST(FloatFormat, PowersOfTwoOnly) {
  EXPECT_EQ(encode(DType::Float8E8M0, 3.0, Rounding::TowardZero), 128U);
  EXPECT_EQ(encode(DType::Float8E8M0, 3.0, Rounding::Up), 129U);
  EXPECT_EQ(encode(DType::Float8E8M0, 2.9), 128U);
  EXPECT_EQ(encode(DType::Float8E8M0, 3.1), 129U);
  EXPECT_EQ(encode(DType::Float8E8M0, 0.0), 0U);
  EXPECT_EQ(encode(DType::Float8E8M0, 1e-300), 0U);
  EXPECT_EQ(encode(DType::Float8E8M0, -4.0), 129U);
}

// --- rounding against an oracle: the two numbers around a value are found by search ---

std::vector<double> numbers_of(DType type) {
  std::vector<double> numbers;
  for (std::uint64_t code = 0; code < codes_of(type); ++code) {
    const double value = decode(type, code);
    if (std::isfinite(value)) numbers.push_back(value);
  }
  std::ranges::sort(numbers);
  return numbers;
}

double pick(double value, double below, double above, Rounding rounding, bool below_is_even) {
  switch (rounding) {
    case Rounding::Down:
      return below;
    case Rounding::Up:
      return above;
    case Rounding::TowardZero:
      return value < 0 ? above : below;
    default:
      break;
  }
  const double to_below = value - below;  // exact: the neighbours are close and coarse
  const double to_above = above - value;
  if (to_below != to_above) return to_below < to_above ? below : above;
  if (rounding == Rounding::NearestAway) return value < 0 ? below : above;
  return below_is_even ? below : above;
}

TEST(FloatFormat, RoundsToTheRightNeighbour) {
  std::mt19937_64 random(7);
  for (const DType type : kNarrow) {
    if (type == DType::Float8E8M0) continue;  // has no sign; PowersOfTwoOnly
    const std::vector<double> numbers = numbers_of(type);
    for (int i = 0; i < 20000; ++i) {
      const std::size_t at = random() % (numbers.size() - 1);
      const double below = numbers[at];
      const double above = numbers[at + 1];
      if (below == above) continue;  // -0 and 0
      const double fractions[] = {0.5, 0.25, 0.75, 0.5000001, 0.4999999, std::ldexp(1.0, -20)};
      const double value = below + (above - below) * fractions[random() % 6];
      for (const Rounding rounding : kRoundings) {
        const bool even = encode(type, below) % 2 == 0;
        ASSERT_EQ(decode(type, encode(type, value, rounding)),
                  pick(value, below, above, rounding, even))
            << name_of(type) << " " << value << " rounding " << static_cast<int>(rounding);
      }
    }
  }
}

// The host rounds to single precision itself; both must agree bit for bit, subnormals included.
TEST(FloatFormat, SinglePrecisionLikeTheHost) {
  struct Mode {
    Rounding rounding;
    int host;
  };
  const Mode modes[] = {{Rounding::NearestEven, FE_TONEAREST},
                        {Rounding::TowardZero, FE_TOWARDZERO},
                        {Rounding::Down, FE_DOWNWARD},
                        {Rounding::Up, FE_UPWARD}};
  std::mt19937_64 random(11);
  for (const Mode& mode : modes) {
    for (int i = 0; i < 100000; ++i) {
      const int exponent = static_cast<int>(random() % 320) - 190;
      volatile double value = std::ldexp(static_cast<double>(random() >> 11U), exponent - 53);
      if (random() % 2 == 0) value = -value;
      std::fesetround(mode.host);
      volatile float rounded = static_cast<float>(value);
      std::fesetround(FE_TONEAREST);
      ASSERT_EQ(encode(DType::Float32, value, mode.rounding),
                std::bit_cast<std::uint32_t>(static_cast<float>(rounded)))
          << static_cast<double>(value);
    }
  }
}

TEST(FloatFormat, DoubleIsItself) {
  for (const double value : {0.0, -0.0, 1.5, -1e308, 5e-324, 1e-310, kInf, -kInf}) {
    EXPECT_EQ(encode(DType::Float64, value), std::bit_cast<std::uint64_t>(value));
    EXPECT_EQ(
        std::bit_cast<std::uint64_t>(decode(DType::Float64, std::bit_cast<std::uint64_t>(value))),
        std::bit_cast<std::uint64_t>(value));
  }
}

}  // namespace
}  // namespace ww::num::float_format_test
