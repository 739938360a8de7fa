// SPDX-License-Identifier: Apache-2.0
// Half precision lanes against num/float_format.h and exact arithmetic, and the instructions
// against the lanes.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "num/fma.h"
#include "sim/ops/half_arithmetic.h"
#include "sim/ops/test_floats.h"
#include "sim/ops/test_warp.h"

namespace ww::sim::ops_half_test {
namespace {

using num::DType;
using std::uint16_t;
using std::uint32_t;

template <typename Format>
constexpr DType kType = Format::kInf == 0x7C00 ? DType::Float16 : DType::Bfloat16;

template <typename Format>
double value_of(uint16_t bits) {
  return num::decode(kType<Format>, bits);
}
template <typename Format>
uint16_t code_of(double value) {
  return static_cast<uint16_t>(num::encode(kType<Format>, value));
}
template <typename Format>
uint16_t some(FloatBits& numbers) {
  return Format::kInf == 0x7C00 ? numbers.f16() : numbers.bf16();
}

// a * b + c in a double whose last bit says whether it is exact: rounds to a half like the true
// value does.
double exact_fma(double a, double b, double c) {
  const double low = num::fma_f64(a, b, c, num::Rounding::TowardZero);
  const double up = num::fma_f64(a, b, c, num::Rounding::Up);
  const double down = num::fma_f64(a, b, c, num::Rounding::Down);
  if (up == down || std::isnan(up)) return num::fma_f64(a, b, c);
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(low) | 1U);
}

template <typename Format>
void arithmetic_is_exact_and_rounded_once() {
  FloatBits numbers(3);
  for (int i = 0; i < 100000; ++i) {
    const uint16_t a = some<Format>(numbers);
    const uint16_t b = some<Format>(numbers);
    const uint16_t c = some<Format>(numbers);
    const double x = value_of<Format>(a);
    const double y = value_of<Format>(b);
    const double z = value_of<Format>(c);
    ASSERT_EQ((half_lane<HalfAdd, Format, {}>(a, b)), code_of<Format>(exact_fma(x, 1, y)))
        << x << " + " << y;
    ASSERT_EQ((half_lane<HalfSub, Format, {}>(a, b)), code_of<Format>(exact_fma(x, 1, -y)))
        << x << " - " << y;
    ASSERT_EQ((half_lane<HalfMul, Format, {}>(a, b)), code_of<Format>(x * y)) << x << " * " << y;
    ASSERT_EQ((half_fma_lane<Format, {}>(a, b, c)), code_of<Format>(exact_fma(x, y, z)))
        << x << " * " << y << " + " << z;
  }
}
TEST(HalfLanes, F16Arithmetic) { arithmetic_is_exact_and_rounded_once<F16>(); }
TEST(HalfLanes, Bf16Arithmetic) { arithmetic_is_exact_and_rounded_once<Bf16>(); }

TEST(HalfLanes, Bf16ProductsBeyondF32StillCancel) {
  const uint16_t a = code_of<Bf16>(0x1p64);
  const uint16_t c = code_of<Bf16>(-0x1.FEp127);
  EXPECT_EQ((half_fma_lane<Bf16, {}>(a, a, c)), code_of<Bf16>(0x1p120));
}

TEST(HalfLanes, Modifiers) {
  const uint16_t one = 0x3C00;
  const uint16_t minus_one = 0xBC00;
  EXPECT_EQ((half_lane<HalfAdd, F16, HalfMode{.sat = true}>(one, one)), one);
  EXPECT_EQ((half_lane<HalfAdd, F16, HalfMode{.sat = true}>(minus_one, 0)), 0);
  EXPECT_EQ((half_lane<HalfAdd, F16, HalfMode{.sat = true}>(0x7FFF, 0)), 0);
  EXPECT_EQ((half_lane<HalfMul, F16, HalfMode{.ftz = true}>(0x8001, one)), 0x8000);
  EXPECT_EQ((half_lane<HalfMul, F16, HalfMode{.ftz = true}>(0x0400, 0x3800)), 0);
  EXPECT_EQ((half_lane<HalfMul, F16, {}>(0x0400, 0x3800)), 0x0200);
  EXPECT_EQ((half_fma_lane<F16, HalfMode{.relu = true}>(minus_one, one, 0)), 0);
  EXPECT_EQ((half_fma_lane<F16, HalfMode{.relu = true}>(0xFE00, one, 0)), 0x7FFF);
  EXPECT_EQ((half_fma_lane<F16, HalfMode{.oob = true}>(kOobNan, one, one)), 0);
  EXPECT_EQ((half_fma_lane<F16, HalfMode{.oob = true}>(one, kOobNan | 0x8000, one)), 0);
  EXPECT_EQ((half_fma_lane<F16, HalfMode{.oob = true}>(one, one, kOobNan)), 0x7FFF);
  EXPECT_EQ((half_fma_lane<F16, HalfMode{.oob = true}>(one, 0x7FFF, one)), 0x7FFF);
}

TEST(HalfLanes, AsOnTheH200) {
  constexpr HalfMode kFtz{.ftz = true};
  EXPECT_EQ((half_lane<HalfMul, F16, kFtz>(0x3BFF, 0x0400)), 0);
  EXPECT_EQ((half_lane<HalfMul, F16, HalfMode{.ftz = true, .sat = true}>(0x3BFF, 0x0400)), 0);
  EXPECT_EQ((half_lane<HalfMul, F16, {}>(0x3BFF, 0x0400)), 0x0400);
  EXPECT_EQ((half_lane<HalfMul, F16, kFtz>(0x2400, 0x9BFF)), 0x8000);
  EXPECT_EQ((half_lane<HalfMul, F16, kFtz>(0xC9DA, 0x77FF)), 0xFC00);
  EXPECT_EQ((half_fma_lane<F16, kFtz>(0x8400, 0xBBFF, 0x8311)), 0);
  EXPECT_EQ((half_fma_lane<F16, HalfMode{.ftz = true, .relu = true}>(0x8400, 0xBBFF, 0x8311)), 0);
  EXPECT_EQ((half_fma_lane<F16, HalfMode{.oob = true}>(0xFFFF, 0xFFFF, 0xC000)), 0x7FFF);
  EXPECT_EQ((half_fma_lane<F16, HalfMode{.oob = true}>(0xEC00, 0xFFFF, 0xEBFF)), 0x7FFF);
  EXPECT_EQ((half_fma_lane<Bf16, HalfMode{.oob = true}>(0xFFFF, 0x811D, 0x7FFF)), 0x7FFF);
  EXPECT_EQ((half_fma_lane<Bf16, HalfMode{.oob = true}>(0x7F81, 0x011D, 0xCB81)), 0x7FFF);
}

// Products about 2^-14: with 11 bits, which a scaled f16 has, the result is below or not.
TEST(HalfLanes, FtzLooksAtAllBitsOfTheResult) {
  constexpr HalfMode kFtz{.ftz = true};
  FloatBits numbers(11);
  for (int i = 0; i < 100000; ++i) {
    const auto a =
        static_cast<uint16_t>((numbers.f16() & 0x83FFU) | (1U + numbers.any() % 15) << 10U);
    const double other = 0x1p-14 / std::abs(value_of<F16>(a));
    const auto b = static_cast<uint16_t>(code_of<F16>(other) + numbers.any() % 5 - 2);
    if (F16::is_subnormal_or_zero(b)) continue;
    const uint16_t c = i % 2 == 0 ? 0 : static_cast<uint16_t>(numbers.f16() & 0x87FFU);
    const double z = F16::is_subnormal_or_zero(c) ? 0.0 : value_of<F16>(c);
    const double exact = value_of<F16>(a) * value_of<F16>(b) + z;
    const double wide = value_of<F16>(code_of<F16>(exact * 0x1p10));
    const uint16_t sign = std::signbit(exact) ? 0x8000 : 0;
    const uint16_t wanted = std::abs(wide) < 0x1p-4 ? sign : code_of<F16>(exact);
    ASSERT_EQ((half_fma_lane<F16, kFtz>(a, b, c)), wanted) << a << ' ' << b << ' ' << c;
    if (z == 0) {
      ASSERT_EQ((half_lane<HalfMul, F16, kFtz>(a, b)), wanted) << a << ' ' << b;
    }
  }
}

// Every code of one operand, against others.
template <typename Format, MinMaxMode kMode>
void min_max_of_all_codes() {
  FloatBits numbers(4);
  for (uint32_t code = 0; code < 65536; ++code) {
    const auto a = static_cast<uint16_t>(code);
    const uint16_t b = code % 3 == 0 ? static_cast<uint16_t>(a ^ 0x8000U) : some<Format>(numbers);
    const double x = value_of<Format>(a);
    const double y = value_of<Format>(b);
    uint16_t wanted = std::isnan(x) ? b : a;
    if (std::isnan(x) && std::isnan(y)) wanted = 0x7FFF;
    if (!std::isnan(x) && !std::isnan(y)) {
      const bool a_first = x < y || (x == y && std::signbit(x));
      wanted = a_first != kMode.max ? a : b;
    }
    if (kMode.nan && (std::isnan(x) || std::isnan(y))) wanted = 0x7FFF;
    ASSERT_EQ((min_max<Format, kMode>(a, b)), wanted) << a << ' ' << b;
  }
}
TEST(HalfLanes, MinAndMaxOfEveryCode) {
  min_max_of_all_codes<F16, MinMaxMode{}>();
  min_max_of_all_codes<F16, MinMaxMode{.max = true, .nan = true}>();
  min_max_of_all_codes<Bf16, MinMaxMode{.max = true}>();
  min_max_of_all_codes<Bf16, MinMaxMode{.nan = true}>();
}

// --- instructions -------------------------------------------------------------------------------

template <auto F, typename... S>
void alone_and_in_pairs(const std::string& opcode) {
  expect_lanes<uint16_t, S...>(opcode, F);
  using Pair = uint32_t;
  const auto both = [](auto... pair) {
    const uint32_t high = F(static_cast<uint16_t>(pair >> 16U)...);
    return high << 16U | F(static_cast<uint16_t>(pair)...);
  };
  if constexpr (sizeof...(S) == 1) expect_lanes<Pair, Pair>(opcode + "x2", both);
  if constexpr (sizeof...(S) == 2) expect_lanes<Pair, Pair, Pair>(opcode + "x2", both);
  if constexpr (sizeof...(S) == 3) expect_lanes<Pair, Pair, Pair, Pair>(opcode + "x2", both);
}
template <auto F>
void one(const std::string& opcode) {
  alone_and_in_pairs<F, uint16_t>(opcode);
}
template <auto F>
void two(const std::string& opcode) {
  alone_and_in_pairs<F, uint16_t, uint16_t>(opcode);
}
template <auto F>
void three(const std::string& opcode) {
  alone_and_in_pairs<F, uint16_t, uint16_t, uint16_t>(opcode);
}

TEST(HalfOps, AddSubMul) {
  two<half_lane<HalfAdd, F16, {}>>("add.f16");
  two<half_lane<HalfAdd, F16, HalfMode{.ftz = true, .sat = true}>>("add.rn.ftz.sat.f16");
  two<half_lane<HalfSub, F16, HalfMode{.sat = true}>>("sub.sat.f16");
  two<half_lane<HalfMul, F16, HalfMode{.ftz = true}>>("mul.ftz.f16");
  two<half_lane<HalfAdd, Bf16, {}>>("add.rn.bf16");
  two<half_lane<HalfSub, Bf16, {}>>("sub.bf16");
  two<half_lane<HalfMul, Bf16, {}>>("mul.bf16");
}

TEST(HalfOps, Fma) {
  three<half_fma_lane<F16, {}>>("fma.rn.f16");
  three<half_fma_lane<F16, HalfMode{.ftz = true, .sat = true}>>("fma.rn.ftz.sat.f16");
  three<half_fma_lane<F16, HalfMode{.relu = true}>>("fma.rn.relu.f16");
  three<half_fma_lane<F16, HalfMode{.ftz = true, .relu = true}>>("fma.rn.ftz.relu.f16");
  three<half_fma_lane<F16, HalfMode{.oob = true}>>("fma.rn.oob.f16");
  three<half_fma_lane<Bf16, {}>>("fma.rn.bf16");
  three<half_fma_lane<Bf16, HalfMode{.relu = true}>>("fma.rn.relu.bf16");
  three<half_fma_lane<Bf16, HalfMode{.relu = true, .oob = true}>>("fma.rn.oob.relu.bf16");
}

TEST(HalfOps, OneOperand) {
  one<neg_lane<F16, true>>("neg.ftz.f16");
  one<neg_lane<Bf16, false>>("neg.bf16");
  one<abs_lane<F16, false>>("abs.f16");
  one<abs_lane<Bf16, false>>("abs.bf16");
}

TEST(HalfOps, MinAndMax) {
  two<min_max<F16, MinMaxMode{}>>("min.f16");
  two<min_max<F16, MinMaxMode{.max = true, .ftz = true, .nan = true}>>("max.ftz.NaN.f16");
  two<min_max<Bf16, MinMaxMode{.abs = true}>>("min.xorsign.abs.bf16");
}

TEST(HalfOps, MixedPrecision) {
  expect_lanes<uint32_t, uint16_t, uint32_t>("add.f32.f16", mixed_lane<Add, F16, {}>);
  expect_lanes<uint32_t, uint16_t, uint32_t>(
      "sub.rz.sat.f32.bf16",
      mixed_lane<Sub, Bf16, F32Mode{.rounding = Rounding::TowardZero, .sat = true}>);
  expect_lanes<uint32_t, uint16_t, uint16_t, uint32_t>("fma.rn.f32.f16", mixed_fma_lane<F16, {}>);
  expect_lanes<uint32_t, uint16_t, uint16_t, uint32_t>(
      "fma.rp.f32.bf16", mixed_fma_lane<Bf16, F32Mode{.rounding = Rounding::Up}>);
}

// Every code through an instruction, compared with a function of double.
template <typename Format, typename Function>
void every_code(const std::string& opcode, Function f) {
  OpsUnderTest ops(opcode + " %h0, %h1;");
  ASSERT_TRUE(ops.ok());
  for (uint32_t first = 0; first < 65536; first += kLanes) {
    for (unsigned l = 0; l < kLanes; ++l) {
      ops.lanes<uint16_t>("%h1")[l] = static_cast<uint16_t>(first + l);
    }
    ops.run();
    for (unsigned l = 0; l < kLanes; ++l) {
      const double wanted = f(value_of<Format>(static_cast<uint16_t>(first + l)));
      ASSERT_EQ(ops.lanes<uint16_t>("%h0")[l], code_of<Format>(wanted))
          << opcode << ' ' << first + l;
    }
  }
}

TEST(HalfOps, FunctionsOfEveryCode) {
  every_code<F16>("tanh.approx.f16", [](double x) { return std::tanh(x); });
  every_code<Bf16>("tanh.approx.bf16", [](double x) { return std::tanh(x); });
  every_code<F16>("ex2.approx.f16", [](double x) { return std::exp2(x); });
  every_code<Bf16>("ex2.approx.ftz.bf16", [](double x) {
    const double result = std::exp2(std::abs(x) < 0x1p-126 ? 0 : x);
    return result < 0x1p-126 ? 0 : result;
  });
}

}  // namespace
}  // namespace ww::sim::ops_half_test
