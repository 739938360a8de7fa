// SPDX-License-Identifier: Apache-2.0
// The lane conversions against num/float_format.h: every 16-bit code, and f32 inputs spread over
// the whole range. WW_EXHAUSTIVE=1 in the environment takes all 2^32 of them (a few minutes).
#include "num/half_lanes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>

#include "num/float_format.h"

namespace ww::num::half_lanes_test {
namespace {

std::uint32_t bits_of_f32(float value) { return std::bit_cast<std::uint32_t>(value); }

using Widen = float (*)(std::uint16_t);
using Narrow = std::uint16_t (*)(float);

void every_code_is_widened(DType type, Widen widen) {
  for (std::uint32_t code = 0; code < 65536; ++code) {
    const float value = widen(static_cast<std::uint16_t>(code));
    const double wanted = decode(type, code);
    if (std::isnan(wanted)) {
      ASSERT_TRUE(std::isnan(value)) << code;
    } else {
      ASSERT_EQ(bits_of_f32(value), bits_of_f32(static_cast<float>(wanted))) << code;
    }
  }
}

TEST(HalfLanes, EveryF16IsWidened) { every_code_is_widened(DType::Float16, f16_to_f32); }
TEST(HalfLanes, EveryBf16IsWidened) { every_code_is_widened(DType::Bfloat16, bf16_to_f32); }

TEST(HalfLanes, WideningKeepsTheBitsOfNans) {
  EXPECT_EQ(bits_of_f32(f16_to_f32(0x7E00)), 0x7FC00000U);
  EXPECT_EQ(bits_of_f32(f16_to_f32(0xFC01)), 0xFF802000U);
  EXPECT_EQ(bits_of_f32(bf16_to_f32(0xFF81)), 0xFF810000U);
}

void narrows_like_encode(DType type, Rounding rounding, Narrow narrow, std::uint64_t stride) {
  for (std::uint64_t at = 0; at < (std::uint64_t{1} << 32U); at += stride) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(at));
    ASSERT_EQ(narrow(value), encode(type, value, rounding)) << "f32 " << at;
  }
}

// The middle between two codes, and its neighbours in f32, are where roundings go wrong.
void narrows_ties_like_encode(DType type, Rounding rounding, Narrow narrow, Widen widen) {
  for (std::uint32_t code = 0; code < 65535; ++code) {
    const double low = widen(static_cast<std::uint16_t>(code));
    const double high = widen(static_cast<std::uint16_t>(code + 1));
    const auto middle = static_cast<float>((low + high) / 2);
    for (int step = -1; step <= 1; ++step) {
      const auto bits = static_cast<std::int64_t>(bits_of_f32(middle)) + step;
      const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
      ASSERT_EQ(narrow(value), encode(type, value, rounding)) << "f32 " << value;
    }
  }
}

struct Narrowing {
  const char* name;
  DType type;
  Rounding rounding;
  Narrow narrow;
  Widen widen;
};

constexpr Narrowing kNarrowings[] = {
    {"f16", DType::Float16, Rounding::NearestEven, f32_to_f16, f16_to_f32},
    {"f16_rz", DType::Float16, Rounding::TowardZero, f32_to_f16_rz, f16_to_f32},
    {"bf16", DType::Bfloat16, Rounding::NearestEven, f32_to_bf16, bf16_to_f32},
    {"bf16_rz", DType::Bfloat16, Rounding::TowardZero, f32_to_bf16_rz, bf16_to_f32},
};

class HalfNarrowing : public testing::TestWithParam<Narrowing> {};

TEST_P(HalfNarrowing, SpreadInputs) {
  const Narrowing& n = GetParam();
  const bool all = std::getenv("WW_EXHAUSTIVE") != nullptr;
  narrows_like_encode(n.type, n.rounding, n.narrow, all ? 1 : 1021);  // 1021: 2^22 of them
}

TEST_P(HalfNarrowing, Ties) {
  const Narrowing& n = GetParam();
  narrows_ties_like_encode(n.type, n.rounding, n.narrow, n.widen);
}

INSTANTIATE_TEST_SUITE_P(HalfLanes, HalfNarrowing, testing::ValuesIn(kNarrowings),
                         [](const auto& row) { return std::string(row.param.name); });

// --- rounding to odd -----------------------------------------------------------------------------

// A random f32 near another one's exponent, so that sums cancel, tie and round.
float some_f32(std::mt19937_64& random, int around, int spread) {
  const auto bits = static_cast<std::uint32_t>(random());
  const int exponent =
      around + static_cast<int>(random() % static_cast<unsigned>(2 * spread + 1)) - spread;
  const auto biased = static_cast<std::uint32_t>(std::clamp(exponent + 127, 0, 254));
  const std::uint32_t mantissa = random() % 3 == 0 ? bits & 0x7F0000U : bits & 0x7FFFFFU;
  return std::bit_cast<float>((bits & 0x80000000U) | (biased << 23U) | mantissa);
}

// std::fma rounds an f32's a * b + c once; through round-to-odd it must come out the same.
TEST(HalfLanes, FmaOddThenF32IsFma) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 1000000; ++i) {
    const int around = i % 5 == 0 ? -70 : 0;
    const float a = some_f32(random, around, 12);
    const float b = some_f32(random, around, 12);
    const float c = some_f32(random, 2 * around, 40);
    const auto narrow = static_cast<float>(fma_odd(a, b, c));
    ASSERT_EQ(bits_of_f32(narrow), bits_of_f32(std::fma(a, b, c))) << a << " * " << b << " + " << c;
  }
}

TEST(HalfLanes, RoundingToOddHasNoSecondTie) {
  // 1 + 2^-11 is the middle between two f16 values. 2^-30 more decides it, but not in f32.
  const double sum = fma_odd(1, 1 + 0x1p-11, 0x1p-60);
  EXPECT_NE(sum, 1 + 0x1p-11);
  EXPECT_EQ(f32_to_f16(static_cast<float>(sum)), 0x3C00U);  // wrong: rounded twice
  EXPECT_EQ(f32_to_f16(odd_to_f32(sum)), 0x3C01U);
}

TEST(HalfLanes, OddToF32ThenNarrowIsEncode) {
  std::mt19937_64 random(12);
  for (int i = 0; i < 1000000; ++i) {
    const float high = some_f32(random, i % 2 == 0 ? -130 : -12, 30);
    const double value = high * (1 + std::ldexp(static_cast<double>(random() % 5) - 2, -40));
    ASSERT_EQ(f32_to_f16(odd_to_f32(value)), encode(DType::Float16, value)) << value;
    ASSERT_EQ(f32_to_bf16(odd_to_f32(value)), encode(DType::Bfloat16, value)) << value;
  }
  EXPECT_EQ(f32_to_bf16(odd_to_f32(0x1p-150)), encode(DType::Bfloat16, 0x1p-150));
  EXPECT_EQ(f32_to_bf16(odd_to_f32(1e300)), 0x7F80U);
}

TEST(HalfLanes, FmaOddOfSpecialValues) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(fma_odd(kInf, 2, 1), kInf);
  EXPECT_EQ(fma_odd(1, 1, -kInf), -kInf);
  EXPECT_TRUE(std::isnan(fma_odd(kInf, 0, 1)));
  EXPECT_TRUE(std::isnan(fma_odd(kInf, 1, -kInf)));
  EXPECT_FALSE(std::signbit(fma_odd(1, 1, -1)));
  EXPECT_TRUE(std::signbit(fma_odd(-1, 0, -0.0)));
  EXPECT_EQ(odd_to_f32(-kInf), -std::numeric_limits<float>::infinity());
}

}  // namespace
}  // namespace ww::num::half_lanes_test
