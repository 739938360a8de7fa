// SPDX-License-Identifier: Apache-2.0
// Conversions from and to formats of 8 bits and fewer, tf32 and pairs of halves, against
// num/float_format.h.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <string>

#include "num/float_format.h"
#include "sim/ops/convert_lanes.h"
#include "sim/ops/narrow_lanes.h"
#include "sim/ops/test_floats.h"
#include "sim/ops/test_warp.h"

namespace ww::sim::ops_convert_narrow_test {
namespace {

using isa::Type;
using num::DType;
using std::uint16_t;
using std::uint32_t;
using std::uint64_t;
using std::uint8_t;

struct NarrowCase {
  DType type;
  uint32_t (*from_f32)(uint32_t);
  uint32_t (*from_f32_relu)(uint32_t);
  uint32_t (*to_f16)(uint32_t);
  uint32_t (*to_f16_relu)(uint32_t);
  unsigned bits;
};
template <Narrow kFormat>
constexpr NarrowCase narrow_case(DType type) {
  return {type,
          f32_to_narrow_lane<kFormat, false>,
          f32_to_narrow_lane<kFormat, true>,
          narrow_to_f16_lane<kFormat, false>,
          narrow_to_f16_lane<kFormat, true>,
          kFormat.bits};
}
constexpr NarrowCase kNarrow[] = {
    narrow_case<kE4m3>(DType::Float8E4M3fn), narrow_case<kE5m2>(DType::Float8E5M2),
    narrow_case<kE2m3>(DType::Float6E2M3fn), narrow_case<kE3m2>(DType::Float6E3M2fn),
    narrow_case<kE2m1>(DType::Float4E2M1fn),
};

uint64_t encode_finite(DType type, double value) {
  return num::encode(type, value, Rounding::NearestEven, num::Overflow::Saturate);
}

void expect_narrow(const NarrowCase& row, uint32_t bits) {
  const double value = std::bit_cast<float>(bits);
  ASSERT_EQ(row.from_f32(bits), encode_finite(row.type, value)) << value;
  const double relu = value > 0 || std::isnan(value) ? value : 0;
  ASSERT_EQ(row.from_f32_relu(bits), encode_finite(row.type, relu)) << value;
}

TEST(NarrowLanes, FromF32) {
  for (const NarrowCase& row : kNarrow) {
    for (uint64_t bits = 0; bits >> 32U == 0; bits += 65521) {
      expect_narrow(row, static_cast<uint32_t>(bits));
    }
    for (uint32_t code = 0; code < 65536; ++code) {  // every f16: all ties are among them
      const float value = num::f16_to_f32(static_cast<uint16_t>(code));
      for (const uint32_t off : {0U, 1U, ~0U}) {
        expect_narrow(row, std::bit_cast<uint32_t>(value) + off);
      }
    }
  }
}

TEST(NarrowLanes, EveryCodeToF16) {
  for (const NarrowCase& row : kNarrow) {
    for (uint32_t code = 0; code < (1U << row.bits); ++code) {
      const double value = num::decode(row.type, code);
      ASSERT_EQ(row.to_f16(code), num::encode(DType::Float16, value)) << code;
      const double relu = value > 0 || std::isnan(value) ? value : 0;
      ASSERT_EQ(row.to_f16_relu(code), num::encode(DType::Float16, relu)) << code;
    }
  }
}

TEST(NarrowLanes, Tf32) {
  FloatBits numbers(6);
  for (int i = 0; i < 50000; ++i) {
    uint32_t bits = numbers.f32();
    if (i % 3 == 0) bits = (bits & ~0x1FFFU) | 0x1000U;  // a tie
    const double value = std::bit_cast<float>(bits);
    if (std::isnan(value)) continue;  // Tf32NansAsOnTheH200
    const auto wanted = [&](Rounding rounding, num::Overflow overflow = num::Overflow::Ieee) {
      return num::encode(DType::Tfloat32, value, rounding, overflow);
    };
    ASSERT_EQ((f32_to_tf32_lane<Rounding::NearestEven, false, false>(bits)),
              wanted(Rounding::NearestEven));
    ASSERT_EQ((f32_to_tf32_lane<Rounding::NearestAway, false, false>(bits)),
              wanted(Rounding::NearestAway));
    ASSERT_EQ((f32_to_tf32_lane<Rounding::TowardZero, false, false>(bits)),
              wanted(Rounding::TowardZero));
    ASSERT_EQ((f32_to_tf32_lane<Rounding::NearestAway, false, true>(bits)),
              wanted(Rounding::NearestAway, num::Overflow::Saturate));
  }
}

TEST(NarrowLanes, PowersOfTwo) {
  FloatBits numbers(7);
  for (int i = 0; i < 50000; ++i) {
    const uint32_t bits = numbers.f32();
    const double size = std::abs(double{std::bit_cast<float>(bits)});
    const auto wanted = [&](Rounding rounding, num::Overflow overflow) {
      return num::encode(DType::Float8E8M0, size, rounding, overflow);
    };
    ASSERT_EQ((f32_to_ue8m0_lane<true, false>(bits)), wanted(Rounding::Up, num::Overflow::Ieee))
        << size;
    ASSERT_EQ((f32_to_ue8m0_lane<true, true>(bits)), wanted(Rounding::Up, num::Overflow::Saturate));
    ASSERT_EQ((f32_to_ue8m0_lane<false, false>(bits)),
              wanted(Rounding::TowardZero, num::Overflow::Ieee));
    ASSERT_EQ((f32_to_ue8m0_lane<false, true>(bits)),
              wanted(Rounding::TowardZero, num::Overflow::Saturate));
  }
  for (uint32_t code = 0; code < 256; ++code) {
    ASSERT_EQ(ue8m0_to_bf16_lane(code),
              num::encode(DType::Bfloat16, num::decode(DType::Float8E8M0, code)));
  }
}

// As often as the part that is cut off says: of 2^13 random numbers, `cut` round up.
TEST(NarrowLanes, RoundingByChance) {
  for (const uint32_t cut : {0U, 1U, 0x1000U, 0x1FFFU}) {
    const uint32_t bits = 0x3F80'0000U + cut;  // just above 1
    uint32_t ups = 0;
    for (uint32_t random = 0; random < 8192; ++random) {
      const uint32_t code = f32_by_chance_lane<kF16Codes, false, false>(bits, random, 13);
      ASSERT_TRUE(code == 0x3C00 || code == 0x3C01);
      ups += code - 0x3C00;
    }
    EXPECT_EQ(ups, cut);
  }
}

TEST(NarrowLanes, ChanceWithoutLuckIsTowardZero) {
  FloatBits numbers(8);
  for (int i = 0; i < 20000; ++i) {
    const uint32_t bits = numbers.f32();
    const double value = std::bit_cast<float>(bits);
    const auto cut = [&](DType type, num::Overflow overflow) {
      return num::encode(type, value, Rounding::TowardZero, overflow);
    };
    const bool huge = std::abs(value) > 65504 && !std::isnan(value);
    if (!huge || std::isinf(value)) {
      ASSERT_EQ((f32_by_chance_lane<kF16Codes, false, false>(bits, 0, 13)),
                cut(DType::Float16, num::Overflow::Ieee));
    }
    ASSERT_EQ((f32_by_chance_lane<kBf16Codes, false, false>(bits, 0, 16)),
              cut(DType::Bfloat16, num::Overflow::Ieee));
    ASSERT_EQ((f32_by_chance_lane<kE4m3, false, true>(bits, 0, 8)),
              cut(DType::Float8E4M3fn, num::Overflow::Saturate));
    ASSERT_EQ((f32_by_chance_lane<kE2m1, false, true>(bits, 0, 8)),
              cut(DType::Float4E2M1fn, num::Overflow::Saturate));
  }
}

// --- narrow instructions ------------------------------------------------------------------------

template <Narrow kTo, bool kRelu>
uint16_t pair_of(uint32_t a, uint32_t b) {
  return static_cast<uint16_t>(f32_to_narrow_lane<kTo, kRelu>(a) << 8U |
                               f32_to_narrow_lane<kTo, kRelu>(b));
}
template <Narrow kTo>
uint16_t pair_of_f16x2(uint32_t a) {
  const auto one = [](uint32_t half) {
    const float value = num::f16_to_f32(static_cast<uint16_t>(half));
    return f32_to_narrow_lane<kTo, false>(std::bit_cast<uint32_t>(value));
  };
  return static_cast<uint16_t>(one(a >> 16U) << 8U | one(a));
}
template <Narrow kFrom, bool kRelu>
uint32_t halves_of(uint16_t a) {
  return narrow_to_f16_lane<kFrom, kRelu>(a >> 8U) << 16U |
         narrow_to_f16_lane<kFrom, kRelu>(a & 0xFFU);
}

TEST(ConvertOps, PairsOfHalves) {
  const auto pair = [](DType type, uint32_t a, uint32_t b, Rounding rounding) {
    const uint64_t high = num::encode(type, std::bit_cast<float>(a), rounding);
    return static_cast<uint32_t>(high << 16U |
                                 num::encode(type, std::bit_cast<float>(b), rounding));
  };
  expect_lanes<uint32_t, uint32_t, uint32_t>("cvt.rn.f16x2.f32", [&](uint32_t a, uint32_t b) {
    return pair(DType::Float16, a, b, Rounding::NearestEven);
  });
  expect_lanes<uint32_t, uint32_t, uint32_t>("cvt.rz.bf16x2.f32", [&](uint32_t a, uint32_t b) {
    return pair(DType::Bfloat16, a, b, Rounding::TowardZero);
  });
  expect_lanes<uint32_t, uint32_t, uint32_t>(
      "cvt.rn.relu.satfinite.f16x2.f32", [&](uint32_t a, uint32_t b) {
        const Conversion how{.from = Type::F32, .to = Type::F16, .clamp = kRelu | kFinite};
        return static_cast<uint32_t>(convert(how, a) << 16U | convert(how, b));
      });
}

TEST(ConvertOps, PairsOfNarrowFloats) {
  expect_lanes<uint16_t, uint32_t, uint32_t>("cvt.rn.satfinite.e4m3x2.f32", pair_of<kE4m3, false>);
  expect_lanes<uint16_t, uint32_t, uint32_t>("cvt.rn.satfinite.relu.e5m2x2.f32",
                                             pair_of<kE5m2, true>);
  expect_lanes<uint16_t, uint32_t, uint32_t>("cvt.rn.satfinite.e2m3x2.f32", pair_of<kE2m3, false>);
  expect_lanes<uint16_t, uint32_t>("cvt.rn.satfinite.e4m3x2.f16x2", pair_of_f16x2<kE4m3>);
  expect_lanes<uint32_t, uint16_t>("cvt.rn.f16x2.e4m3x2", halves_of<kE4m3, false>);
  expect_lanes<uint32_t, uint16_t>("cvt.rn.relu.f16x2.e5m2x2", halves_of<kE5m2, true>);
  expect_lanes<uint32_t, uint16_t>("cvt.rn.f16x2.e3m2x2", halves_of<kE3m2, false>);
  expect_lanes<uint8_t, uint32_t, uint32_t>(
      "cvt.rn.satfinite.e2m1x2.f32", [](uint32_t a, uint32_t b) {
        return static_cast<uint8_t>(f32_to_narrow_lane<kE2m1, false>(a) << 4U |
                                    f32_to_narrow_lane<kE2m1, false>(b));
      });
  expect_lanes<uint32_t, uint8_t>("cvt.rn.f16x2.e2m1x2", [](uint8_t a) {
    return narrow_to_f16_lane<kE2m1, false>(a >> 4U) << 16U |
           narrow_to_f16_lane<kE2m1, false>(a & 0xFU);
  });
}

TEST(ConvertOps, ScaleFactorsAndTf32) {
  expect_lanes<uint16_t, uint32_t, uint32_t>(
      "cvt.rp.satfinite.ue8m0x2.f32", [](uint32_t a, uint32_t b) {
        return static_cast<uint16_t>(f32_to_ue8m0_lane<true, true>(a) << 8U |
                                     f32_to_ue8m0_lane<true, true>(b));
      });
  expect_lanes<uint16_t, uint32_t>("cvt.rz.ue8m0x2.bf16x2", [](uint32_t a) {
    return static_cast<uint16_t>(f32_to_ue8m0_lane<false, false>(a & 0xFFFF'0000U) << 8U |
                                 f32_to_ue8m0_lane<false, false>(a << 16U));
  });
  expect_lanes<uint32_t, uint16_t>("cvt.rn.bf16x2.ue8m0x2", [](uint16_t a) {
    return ue8m0_to_bf16_lane(a >> 8U) << 16U | ue8m0_to_bf16_lane(a & 0xFFU);
  });
  expect_lanes<uint32_t, uint32_t>("cvt.rna.tf32.f32",
                                   f32_to_tf32_lane<Rounding::NearestAway, false, false>);
  expect_lanes<uint32_t, uint32_t>("cvt.rz.satfinite.relu.tf32.f32",
                                   f32_to_tf32_lane<Rounding::TowardZero, true, true>);
}

TEST(ConvertOps, ByChance) {
  expect_lanes<uint32_t, uint32_t, uint32_t, uint32_t>(
      "cvt.rs.f16x2.f32", [](uint32_t a, uint32_t b, uint32_t random) {
        return f32_by_chance_lane<kF16Codes, false, false>(a, random >> 16U, 13) << 16U |
               f32_by_chance_lane<kF16Codes, false, false>(b, random, 13);
      });
  OpsUnderTest ops("cvt.rs.satfinite.e4m3x4.f32 %r0, {%r1, %r2, %r3, %r4}, %r5;");
  ASSERT_TRUE(ops.ok());
  const float values[] = {1.0F, -2.0F, 1.0625F, 1.0625F};  // the last two halfway between codes
  for (unsigned i = 0; i < 4; ++i) {
    ops.lanes<uint32_t>(register_name<uint32_t>(i + 1))[3] = std::bit_cast<uint32_t>(values[i]);
  }
  ops.lanes<uint32_t>("%r5")[3] = 0xFFFF'7F80U;  // no luck for the third, luck for the last
  ops.run();
  EXPECT_EQ(ops.lanes<uint32_t>("%r0")[3], 0x38C0'3839U);
}

template <unsigned kBits, bool kSigned>
uint32_t clamped_bits(uint32_t bits) {
  const std::int64_t value = static_cast<std::int32_t>(bits);
  const std::int64_t high = (std::int64_t{1} << (kSigned ? kBits - 1 : kBits)) - 1;
  const std::int64_t low = kSigned ? -high - 1 : 0;
  const std::int64_t inside = std::min(std::max(value, low), high);
  return static_cast<uint32_t>(inside) & ((1U << kBits) - 1U);
}

TEST(ConvertOps, Pack) {
  expect_lanes<uint32_t, uint32_t, uint32_t>("cvt.pack.sat.u16.s32", [](uint32_t a, uint32_t b) {
    return clamped_bits<16, false>(a) << 16U | clamped_bits<16, false>(b);
  });
  expect_lanes<uint32_t, uint32_t, uint32_t, uint32_t>(
      "cvt.pack.sat.s8.s32.b32", [](uint32_t a, uint32_t b, uint32_t c) {
        return c << 16U | clamped_bits<8, true>(a) << 8U | clamped_bits<8, true>(b);
      });
  expect_lanes<uint32_t, uint32_t, uint32_t, uint32_t>(
      "cvt.pack.sat.u2.s32.b32", [](uint32_t a, uint32_t b, uint32_t c) {
        return c << 4U | clamped_bits<2, false>(a) << 2U | clamped_bits<2, false>(b);
      });
}

}  // namespace
}  // namespace ww::sim::ops_convert_narrow_test
