// SPDX-License-Identifier: Apache-2.0
// Against the host's double-precision functions, which are right to a unit or so in the last place.
#include "num/approx.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace ww::num::approx_test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr float kInfF = std::numeric_limits<float>::infinity();
constexpr float kNanF = std::numeric_limits<float>::quiet_NaN();
constexpr double kBound = 0x1p-40;

using Ours = double (*)(float);
using Hosts = double (*)(double);

// Floats over the whole range, and all of them on the way in each binade.
void expect_near(Ours ours, Hosts hosts, float low, float high) {
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32U); bits += 16381) {
    const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (!(x >= low && x <= high)) continue;
    const double wanted = hosts(x);
    ASSERT_LE(std::fabs(ours(x) - wanted), kBound * std::fabs(wanted)) << std::hexfloat << x;
  }
}

TEST(Approx, Ex2) { expect_near(ex2, std::exp2, -900, 900); }
TEST(Approx, Lg2) { expect_near(lg2, std::log2, 1e-45F, 3.4e38F); }
TEST(Approx, Sin) { expect_near(sin_of, std::sin, -3.4e38F, 3.4e38F); }
TEST(Approx, Cos) { expect_near(cos_of, std::cos, -3.4e38F, 3.4e38F); }
TEST(Approx, Tanh) { expect_near(tanh_of, std::tanh, -100, 100); }

TEST(Approx, Lg2NearOne) {
  for (int step = -2000; step <= 2000; ++step) {
    const auto x = std::bit_cast<float>(0x3F800000 + step);
    ASSERT_LE(std::fabs(lg2(x) - std::log2(double{x})), kBound * std::fabs(std::log2(double{x})));
  }
}

// The f32 that comes nearest to a multiple of pi/2, and multiples themselves.
TEST(Approx, NearMultiplesOfHalfPi) {
  const float worst = 0x1.34bde2p+73F;  // 16367173 * 2^72 and its like are far into 2/pi
  for (const float x : {worst, 16367173.0F * 0x1p72F, 0x1.921fb6p+0F, 0x1.921fb6p+1F,
                        0x1.2d97c8p+2F, 0x1.921fb6p+20F, 0x1.fffffep+127F}) {
    ASSERT_LE(std::fabs(sin_of(x) - std::sin(double{x})), kBound * std::fabs(std::sin(double{x})));
    ASSERT_LE(std::fabs(cos_of(x) - std::cos(double{x})), kBound * std::fabs(std::cos(double{x})));
  }
}

TEST(Approx, PowersOfTwoAreExact) {
  for (int n = -149; n < 128; ++n) {
    EXPECT_EQ(ex2(static_cast<float>(n)), std::ldexp(1.0, n));
    EXPECT_EQ(lg2(std::ldexp(1.0F, n)), n);
  }
}

TEST(Approx, SpecialValues) {
  EXPECT_EQ(ex2(-kInfF), 0);
  EXPECT_FALSE(std::signbit(ex2(-kInfF)));
  EXPECT_EQ(ex2(kInfF), kInf);
  EXPECT_EQ(ex2(3e38F), kInf);
  EXPECT_EQ(lg2(0.0F), -kInf);
  EXPECT_EQ(lg2(-0.0F), -kInf);
  EXPECT_TRUE(std::isnan(lg2(-1.0F)));
  EXPECT_EQ(lg2(kInfF), kInf);
  EXPECT_TRUE(std::isnan(sin_of(kInfF)));
  EXPECT_TRUE(std::isnan(cos_of(-kInfF)));
  EXPECT_EQ(tanh_of(kInfF), 1);
  EXPECT_EQ(tanh_of(-kInfF), -1);
  EXPECT_TRUE(std::signbit(sin_of(-0.0F)));
  EXPECT_TRUE(std::signbit(tanh_of(-0.0F)));
  for (const Ours f : {ex2, lg2, sin_of, cos_of, tanh_of}) EXPECT_TRUE(std::isnan(f(kNanF)));
}

// The same bits everywhere: what another host must give, too.
TEST(Approx, KnownBits) {
  const auto bits = [](double value) { return std::bit_cast<std::uint64_t>(value); };
  EXPECT_EQ(bits(ex2(0.3F)), 0x3FF3B2C47EBA969FU);
  EXPECT_EQ(bits(lg2(3.0F)), 0x3FF95C01A39FBD68U);
  EXPECT_EQ(bits(sin_of(1e10F)), 0xBFDF334C7896A4E1U);
  EXPECT_EQ(bits(cos_of(2.5F)), 0xBFE9A2F7EF858B7CU);
  EXPECT_EQ(bits(tanh_of(0.7F)), 0x3FE356FB139F397CU);
}

}  // namespace
}  // namespace ww::num::approx_test
