// SPDX-License-Identifier: Apache-2.0
// The software's fused multiply-add against the host's, in each of the host's rounding modes.
#include "num/fma.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <random>

namespace ww::num::fma_test {
namespace {

using Random = std::mt19937_64;

double any_bits(Random& random) { return std::bit_cast<double>(random()); }

// Around 2^exponent, often with few bits so that sums are exact, tie or vanish.
double near(Random& random, int exponent) {
  const std::uint64_t bits = random();
  const std::uint64_t mantissa =
      bits % 3 == 0 ? (bits & 0xF000000000000) : (bits & 0xFFFFFFFFFFFFF);
  const double value =
      std::ldexp(static_cast<double>(mantissa | (std::uint64_t{1} << 52U)), exponent - 52);
  return bits >> 63U != 0 ? -value : value;
}

int some_exponent(Random& random, int spread) {
  return static_cast<int>(random() % static_cast<unsigned>(2 * spread + 1)) - spread;
}

// The mode is set around a call through a volatile pointer, which the compiler cannot move.
double host_fma(double a, double b, double c, int mode) {
  double (*volatile call)(double, double, double) = std::fma;
  std::fesetround(mode);
  const double result = call(a, b, c);
  std::fesetround(FE_TONEAREST);
  return result;
}

void expect_like_host(double a, double b, double c) {
  struct Mode {
    Rounding ours;
    int host;
  };
  for (const Mode mode :
       {Mode{Rounding::NearestEven, FE_TONEAREST}, Mode{Rounding::TowardZero, FE_TOWARDZERO},
        Mode{Rounding::Down, FE_DOWNWARD}, Mode{Rounding::Up, FE_UPWARD}}) {
    const double wanted = host_fma(a, b, c, mode.host);
    const double seen = fma_f64(a, b, c, mode.ours);
    if (std::isnan(wanted)) {
      ASSERT_TRUE(std::isnan(seen));
    } else {
      ASSERT_EQ(std::bit_cast<std::uint64_t>(seen), std::bit_cast<std::uint64_t>(wanted))
          << a << " * " << b << " + " << c << " mode " << static_cast<int>(mode.ours);
    }
  }
}

TEST(Fma, AnyBits) {
  Random random(1);
  for (int i = 0; i < 50000; ++i)
    expect_like_host(any_bits(random), any_bits(random), any_bits(random));
}

TEST(Fma, NearbyTerms) {
  Random random(2);
  for (int i = 0; i < 100000; ++i) {
    const int spread = i % 3 == 0 ? 2 : i % 3 == 1 ? 60 : 140;
    expect_like_host(near(random, 0), near(random, 0), near(random, some_exponent(random, spread)));
  }
}

TEST(Fma, SmallAndLargeResults) {
  Random random(3);
  for (int i = 0; i < 50000; ++i) {
    const int around = i % 2 == 0 ? -530 : 511;
    const double a = near(random, around + some_exponent(random, 8));
    const double b = near(random, around + some_exponent(random, 8));
    expect_like_host(a, b, near(random, std::max(2 * around + some_exponent(random, 40), -1060)));
  }
}

TEST(Fma, ZerosAndInfinities) {
  const double values[] = {0.0, -0.0, 1.0, -1.0, HUGE_VAL, -HUGE_VAL, 5e-324, -5e-324};
  for (const double a : values) {
    for (const double b : values) {
      for (const double c : values) expect_like_host(a, b, c);
    }
  }
}

// What an H200 gave.
TEST(Fma, NansLikeTheDevice) {
  constexpr std::uint64_t kOne = 0x3FF0000000000000, kInf = 0x7FF0000000000000;
  constexpr std::uint64_t kA = 0x7FF800000000000A, kB = 0xFFF800000000000B;
  constexpr std::uint64_t kC = 0x7FF800000000000C, kSignalling = 0x7FF0000000000A0A;
  struct Seen {
    std::uint64_t a, b, c, result;
  };
  const Seen cases[] = {
      {kA, kOne, kOne, kA},
      {kA, kB, kOne, kB},
      {kA, kOne, kC, kC},
      {kA, kB, kC, kB},
      {kOne, kB, kC, kB},
      {kSignalling, kOne, kOne, 0x7FF8000000000A0A},
      {kSignalling, kB, kC, kB},
      {kInf, 0, kC, kC},
      {kInf, 0, kOne, 0xFFF8000000000000},
      {kInf, kOne, kInf | 1ULL << 63U, 0xFFF8000000000000},
  };
  for (const Seen& seen : cases) {
    const double result = fma_f64(std::bit_cast<double>(seen.a), std::bit_cast<double>(seen.b),
                                  std::bit_cast<double>(seen.c));
    EXPECT_EQ(std::bit_cast<std::uint64_t>(result), seen.result);
  }
}

TEST(Fma, NearestAway) {
  EXPECT_EQ(fma_f64(1, 1, 0x1p-53, Rounding::NearestAway), 1 + 0x1p-52);
  EXPECT_EQ(fma_f64(1, 1, 0x1p-54, Rounding::NearestAway), 1);
  EXPECT_EQ(fma_f64(0x1p-1074, 0.5, 0, Rounding::NearestAway), 0x1p-1074);
  EXPECT_EQ(fma_f64(0x1p-1074, 0.49, 0, Rounding::NearestAway), 0);
  EXPECT_EQ(fma_f64(0x1p-1074, 0x1p-1000, 0, Rounding::NearestAway), 0);
}

}  // namespace
}  // namespace ww::num::fma_test
