// SPDX-License-Identifier: Apache-2.0
// The model of the tensor cores: laws, and results that an H200 gave. The device itself is asked by
// scripts/device_numbers.sh.
#include "num/matrix_unit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "num/float_format.h"

namespace ww::num::matrix_unit_test {
namespace {

using Words = std::vector<std::uint32_t>;

std::uint32_t f32(float value) { return std::bit_cast<std::uint32_t>(value); }
std::uint32_t f16(double value) {
  return static_cast<std::uint32_t>(encode(DType::Float16, value));
}

std::uint32_t dot16(const Words& a, const Words& b, std::uint32_t c) {
  return dot_f32(kHopper16, DType::Float16, DType::Float16, a, b, c);
}

TEST(MatrixUnit, SmallIntegersAreExact) {
  EXPECT_EQ(dot16({f16(1), f16(2), f16(3)}, {f16(4), f16(5), f16(6)}, f32(7)), f32(39));
  EXPECT_EQ(dot16({f16(-1.5)}, {f16(2)}, f32(0.25)), f32(-2.75));
}

TEST(MatrixUnit, CutsOffInsteadOfRounding) {
  // 1 + 2^-24 + 2^-24 would be 1 + 2^-23 exactly; with 25 bits kept it still is.
  const Words small = {f16(std::ldexp(1, -12)), f16(std::ldexp(1, -12))};
  EXPECT_EQ(dot16(small, small, f32(1)), f32(1.0F + std::ldexp(1.0F, -23)));
  // Three quarters of a unit in the last place are lost, up and down alike.
  const Words three = {f16(std::ldexp(3, -13))};
  EXPECT_EQ(dot16(three, {f16(std::ldexp(1, -12))}, f32(1)), f32(1));
  EXPECT_EQ(dot16({f16(-std::ldexp(3, -13))}, {f16(std::ldexp(1, -12))}, f32(-1)), f32(-1));
  // Below the 25th bit a term counts for nothing, even if it is subtracted.
  EXPECT_EQ(dot16({f16(-std::ldexp(1, -13))}, {f16(std::ldexp(1, -13))}, f32(1)), f32(1));
}

TEST(MatrixUnit, SpecialValues) {
  const std::uint32_t inf = f16(HUGE_VAL);
  EXPECT_EQ(dot16({inf}, {f16(1)}, f32(0)), 0x7F800000U);
  EXPECT_EQ(dot16({inf}, {f16(-1)}, f32(5)), 0xFF800000U);
  EXPECT_EQ(dot16({inf}, {f16(0)}, f32(0)), 0x7FFFFFFFU);
  EXPECT_EQ(dot16({inf, inf}, {f16(1), f16(-1)}, f32(0)), 0x7FFFFFFFU);
  EXPECT_EQ(dot16({f16(1)}, {f16(1)}, 0x7FC00001U), 0x7FFFFFFFU);
  EXPECT_EQ(dot16({f16(0)}, {f16(-1)}, 0x80000000U), 0U);  // every zero sum is +0
}

TEST(MatrixUnit, OrderInsideABlockDoesNotMatter) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 2000; ++i) {
    Words a(16);
    Words b(16);
    for (std::size_t k = 0; k < 16; ++k) {
      a[k] = static_cast<std::uint32_t>(random()) & 0xFFFFU;
      b[k] = static_cast<std::uint32_t>(random()) & 0xFFFFU;
    }
    const auto c = static_cast<std::uint32_t>(random());
    const std::uint32_t before = dot16(a, b, c);
    std::rotate(a.begin(), a.begin() + 5, a.end());
    std::rotate(b.begin(), b.begin() + 5, b.end());
    EXPECT_EQ(dot16(a, b, c), before);
  }
}

TEST(MatrixUnit, BlocksGoOneAfterTheOther) {
  Words a(32, f16(1));
  Words b(32, f16(1));
  b[0] = f16(std::ldexp(1, -14));  // lost in its own block beside 2^15, kept in a block without it
  a[31] = f16(32768);
  const std::uint32_t first =
      dot16({a.begin(), a.begin() + 16}, {b.begin(), b.begin() + 16}, f32(0));
  EXPECT_EQ(dot16(a, b, f32(0)),
            dot16({a.begin() + 16, a.end()}, {b.begin() + 16, b.end()}, first));
}

TEST(MatrixUnit, HalfPrecisionResultsRoundToNearestEven) {
  const auto half = [](const Words& a, const Words& b, double c) {
    return dot_f16(kHopper16Half, DType::Float16, DType::Float16, a, b,
                   static_cast<std::uint16_t>(f16(c)));
  };
  EXPECT_EQ(half({f16(1)}, {f16(std::ldexp(1, -11))}, 1), f16(1));  // a tie, to even
  EXPECT_EQ(half({f16(3)}, {f16(std::ldexp(1, -11))}, 1), f16(1 + std::ldexp(1, -9)));
  EXPECT_EQ(half({f16(65504)}, {f16(2)}, 0), 0x7C00U);
}

// What an H200 gave where everything is tiny: terms are aligned to at least 2^-133.
TEST(MatrixUnit, LowerEndLikeTheDevice) {
  struct Seen {
    std::uint32_t result;
    Words a, b;
  };
  const Seen cases[] = {
      {0x8000EC76U,
       {0x0f4d, 0x04cf, 0x040c, 0x0bdf, 0x9cab, 0x8c6d, 0x96a3, 0x9867},
       {0x8744, 0x95b7, 0x1fff, 0x09ae, 0x1fb1, 0x05b8, 0x8646, 0x9745}},
      {0x80003D47U,
       {0x8311, 0x8052, 0x98c1, 0x0eef, 0x1d26, 0x0dab, 0x86d7, 0x1752},
       {0x9427, 0x954c, 0x96c1, 0x9ca4, 0x9e3d, 0x827a, 0x1739, 0x0f08}},
      {0x00000A95U,
       {0x0e24, 0x1a24, 0x9fac, 0x0e84, 0x94b7, 0x12fd, 0x1178, 0x92f1},
       {0x8fc6, 0x94b4, 0x9a7c, 0x05c8, 0x06e6, 0x92d4, 0x01ef, 0x095b}},
  };
  for (const Seen& seen : cases) {
    EXPECT_EQ(dot_f32(kHopper16, DType::Bfloat16, DType::Bfloat16, seen.a, seen.b, 0), seen.result);
  }
}

TEST(MatrixUnit, Tf32IgnoresTheLowBits) {
  const auto dot = [](std::uint32_t a, std::uint32_t b) {
    return dot_f32(kHopperTf32, DType::Tfloat32, DType::Tfloat32, Words{a}, Words{b}, 0);
  };
  EXPECT_EQ(dot(f32(1.5F) | 0x1FFFU, f32(2.0F)), f32(3.0F));
}

TEST(MatrixUnit, Fp8Inputs) {
  const Words a = {0x7E, 0x38};  // 448, 1
  const Words b = {0x38, 0x40};  // 1, 2
  EXPECT_EQ(dot_f32(kHopper16, DType::Float8E4M3fn, DType::Float8E4M3fn, a, b, f32(0.5F)),
            f32(450.5F));
  EXPECT_EQ(
      dot_f32(kHopper16, DType::Float8E4M3fn, DType::Float8E4M3fn, Words{0x7F}, Words{0x38}, 0),
      0x7FFFFFFFU);
}

}  // namespace
}  // namespace ww::num::matrix_unit_test
