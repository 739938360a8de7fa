// SPDX-License-Identifier: Apache-2.0
// Conversions against the host's own in the same rounding mode, against exact integers, and against
// num/float_format.h.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "num/float_format.h"
#include "sim/ops/convert_lanes.h"
#include "sim/ops/narrow_lanes.h"
#include "sim/ops/test_floats.h"
#include "sim/ops/test_warp.h"

namespace ww::sim::ops_convert_test {
namespace {

using isa::Type;
using num::DType;
using std::uint16_t;
using std::uint32_t;
using std::uint64_t;
using std::uint8_t;

constexpr Rounding kFour[] = {Rounding::NearestEven, Rounding::TowardZero, Rounding::Down,
                              Rounding::Up};
constexpr Type kInts[] = {Type::U8, Type::U16, Type::U32, Type::U64,
                          Type::S8, Type::S16, Type::S32, Type::S64};
constexpr Type kFloats[] = {Type::F16, Type::Bf16, Type::F32, Type::F64};

DType dtype_of(Type type) {
  if (type == Type::F16) return DType::Float16;
  if (type == Type::Bf16) return DType::Bfloat16;
  return type == Type::F32 ? DType::Float32 : DType::Float64;
}
bool is_signed(Type type) { return isa::info(type).cls == isa::TypeClass::Signed; }
unsigned bits_of(Type type) { return static_cast<unsigned>(isa::info(type).bits); }

// Exact integers, wide enough for every type.
__extension__ using Exact = __int128;

Exact exact(Type type, uint64_t bits) {
  const Exact all = Exact{1} << bits_of(type);
  const Exact low = static_cast<Exact>(bits) & (all - 1);
  return is_signed(type) && low >= all / 2 ? low - all : low;
}
Exact lowest(Type type) { return is_signed(type) ? -(Exact{1} << (bits_of(type) - 1)) : 0; }
Exact highest(Type type) { return (Exact{1} << (bits_of(type) - (is_signed(type) ? 1U : 0U))) - 1; }
Exact clamp(Type type, Exact value) {
  return std::min(std::max(value, lowest(type)), highest(type));
}
uint64_t some_bits(FloatBits& numbers, int i) {
  const uint64_t bits = numbers.any();
  return i % 3 == 0 ? bits >> (bits % 64) : (i % 3 == 1 ? 0 - (bits >> (bits % 64)) : bits);
}

// --- integers -----------------------------------------------------------------------------------

TEST(Convert, IntegersToIntegers) {
  FloatBits numbers(1);
  for (const Type to : kInts) {
    for (const Type from : kInts) {
      for (int i = 0; i < 300; ++i) {
        const uint64_t bits = some_bits(numbers, i);
        const Exact value = exact(from, bits);
        const auto plain = static_cast<uint64_t>(exact(to, static_cast<uint64_t>(value)));
        const auto sat = static_cast<uint64_t>(clamp(to, value));
        ASSERT_EQ(convert({.from = from, .to = to}, bits), plain);
        ASSERT_EQ(convert({.from = from, .to = to, .clamp = kSat}, bits), sat);
      }
    }
  }
}

template <typename To, typename From>
To cast_in(Rounding rounding, From from) {
  const HostRounding mode(rounding);
  const volatile From value = from;
  const volatile To result = static_cast<To>(value);
  return result;
}

TEST(Convert, IntegersToFloats) {
  FloatBits numbers(2);
  for (const Type from : kInts) {
    for (const Rounding rounding : kFour) {
      for (int i = 0; i < 500; ++i) {
        const uint64_t bits = extended(from, some_bits(numbers, i));
        const auto to = [&](Type type) {
          return convert({.from = from, .to = type, .rounding = rounding}, bits);
        };
        const auto host = [&]<typename T>(T) {
          return is_signed(from) ? cast_in<T>(rounding, static_cast<std::int64_t>(bits))
                                 : cast_in<T>(rounding, bits);
        };
        ASSERT_EQ(to(Type::F32), std::bit_cast<uint32_t>(host(0.0F))) << std::hex << bits;
        ASSERT_EQ(to(Type::F64), std::bit_cast<uint64_t>(host(0.0))) << std::hex << bits;
        if (bits_of(from) > 32) continue;  // exact in double
        const double value = static_cast<double>(exact(from, bits));
        ASSERT_EQ(to(Type::F16), num::encode(DType::Float16, value, rounding));
        ASSERT_EQ(to(Type::Bf16), num::encode(DType::Bfloat16, value, rounding));
      }
    }
  }
}

TEST(Convert, LargeIntegersToHalvesAreRoundedOnce) {
  const uint64_t tie = (uint64_t{0x181} << 55U);  // between two bf16
  const Conversion how{.from = Type::U64, .to = Type::Bf16};
  EXPECT_EQ(convert(how, tie), 0x5F40U);
  EXPECT_EQ(convert(how, tie + 1), 0x5F41U);
  EXPECT_EQ(convert(how, tie - 1), 0x5F40U);
  EXPECT_EQ(convert({.from = Type::S64, .to = Type::F16}, 70000), 0x7C00U);
  EXPECT_EQ(convert({.from = Type::S64, .to = Type::F16, .rounding = Rounding::TowardZero}, 70000),
            0x7BFFU);
}

// --- floats to integers -------------------------------------------------------------------------

double whole_on_host(double value, Rounding rounding) {
  const HostRounding mode(rounding);
  const volatile double x = value;
  const volatile double result = std::nearbyint(x);
  return result;
}

uint64_t some_float(FloatBits& numbers, Type type) {
  switch (type) {
    case Type::F16:
      return numbers.f16();
    case Type::Bf16:
      return numbers.bf16();
    case Type::F32:
      return numbers.f32();
    default:
      return numbers.f64();
  }
}

Exact wanted_integer(Type to, Type from, double value, Rounding rounding) {
  if (std::isnan(value)) {
    const bool is_wide = from == Type::F64 || bits_of(to) == 64;
    const Exact top = Exact{1} << (bits_of(to) - 1);
    return is_wide ? (is_signed(to) ? -top : top) : 0;
  }
  const double whole = whole_on_host(value, rounding);
  if (whole >= 0x1p100 || whole <= -0x1p100) return whole > 0 ? highest(to) : lowest(to);
  return clamp(to, static_cast<Exact>(whole));
}

TEST(Convert, FloatsToIntegers) {
  FloatBits numbers(3);
  for (const Type from : kFloats) {
    for (const Type to : kInts) {
      for (int i = 0; i < 2000; ++i) {
        uint64_t bits = some_float(numbers, from);
        if (i % 4 == 0) {  // about the ends of the range
          const double end = static_cast<double>(i % 8 == 0 ? lowest(to) : highest(to));
          bits = num::encode(dtype_of(from), end) + static_cast<uint64_t>(i / 8 % 5) - 2;
        }
        const double value = num::decode(dtype_of(from), bits);
        const Rounding rounding = kFour[i % 4];
        const Exact wanted = wanted_integer(to, from, value, rounding);
        ASSERT_EQ(convert({.from = from, .to = to, .rounding = rounding, .integral = true}, bits),
                  static_cast<uint64_t>(wanted))
            << value << " to " << isa::info(to).name;
      }
    }
  }
}

// --- floats to floats ---------------------------------------------------------------------------

TEST(Convert, F64ToF32) {
  FloatBits numbers(4);
  for (int i = 0; i < 20000; ++i) {
    uint64_t bits = numbers.f64();
    if (i % 2 == 0) {  // in f32's range, with a tail that decides
      const double near = std::bit_cast<float>(numbers.f32());
      bits = std::bit_cast<uint64_t>(near) + (i % 3 == 0 ? 1U : 0x1000'0000U);
    }
    const Rounding rounding = kFour[i / 2 % 4];
    const float host = cast_in<float>(rounding, std::bit_cast<double>(bits));
    if (std::isnan(host)) continue;  // AsOnTheH200
    ASSERT_EQ(convert({.from = Type::F64, .to = Type::F32, .rounding = rounding}, bits),
              std::bit_cast<uint32_t>(host));
  }
}

TEST(Convert, FloatsToFloatsWithModifiers) {
  const auto f32 = [](float value) { return uint64_t{std::bit_cast<uint32_t>(value)}; };
  const Conversion sat{.from = Type::F32, .to = Type::F32, .clamp = kSat};
  EXPECT_EQ(convert(sat, f32(2)), f32(1));
  EXPECT_EQ(convert(sat, f32(-0.0F)), 0U);
  EXPECT_EQ(convert(sat, 0xFFC0'0000U), 0U);
  const Conversion ftz{.from = Type::F32, .to = Type::F64, .ftz = true};
  EXPECT_EQ(convert(ftz, 0x8000'0001U), F64::kSign);
  // (1 - 2^-24) 2^-126 has 24 bits and is tiny, although IEEE 754 rounds it up.
  EXPECT_EQ(convert({.from = Type::F64, .to = Type::F32, .ftz = true},
                    std::bit_cast<std::uint64_t>(0x1.FFFFFEp-127)),
            0U);
  EXPECT_EQ(convert({.from = Type::F64, .to = Type::F32, .ftz = true},
                    std::bit_cast<uint64_t>(-0x1p-130)),
            0x8000'0000U);
  const Conversion whole{
      .from = Type::F32, .to = Type::F32, .rounding = Rounding::NearestEven, .integral = true};
  EXPECT_EQ(convert(whole, f32(-0.5F)), f32(-0.0F));
  EXPECT_EQ(convert(whole, f32(2.5F)), f32(2));
  const Conversion relu{.from = Type::F32, .to = Type::F16, .clamp = kRelu | kFinite};
  EXPECT_EQ(convert(relu, f32(-3)), 0U);
  EXPECT_EQ(convert(relu, f32(INFINITY)), 0x7BFFU);
  EXPECT_EQ(convert(relu, 0xFFC0'0000U), 0x7FFFU);
  EXPECT_EQ(convert({.from = Type::F32, .to = Type::F64}, 0xFF80'0001U), 0xFFF8'0000'2000'0000U);
  EXPECT_EQ(convert({.from = Type::F16, .to = Type::F32}, 0xFC01U), 0x7FFF'FFFFU);
}

TEST(Convert, AsOnTheH200) {
  constexpr Rounding kDown = Rounding::Down;
  constexpr Rounding kUp = Rounding::Up;
  const uint64_t signalling = 0x7FF0'0000'0000'0001;
  const uint64_t minus_most = 0xFFFF'FFFF'FFFF'FFFF;
  const struct {
    Conversion how;
    uint64_t a, d;
  } rows[] = {
      // moves
      {{.from = Type::F32, .to = Type::F32}, 0xFF80'0001, 0xFF80'0001},
      {{.from = Type::F64, .to = Type::F64}, signalling, signalling},
      {{.from = Type::F32, .to = Type::F32, .ftz = true}, 0xFF80'0001, 0x7FFF'FFFF},
      {{.from = Type::F16, .to = Type::F16}, 0xFC01, 0x7FFF},
      // to f64
      {{.from = Type::F32, .to = Type::F64, .ftz = true}, 0x7FC0'0000, 0x7FFF'FFFF'E000'0000},
      {{.from = Type::F32, .to = Type::F64, .ftz = true}, 0xFF80'0001, 0x7FFF'FFFF'E000'0000},
      {{.from = Type::F32, .to = Type::F64}, 0xFF80'0001, 0xFFF8'0000'2000'0000},
      {{.from = Type::Bf16, .to = Type::F64}, 0xFF81, 0xFFF8'2000'0000'0000},
      {{.from = Type::F16, .to = Type::F64}, 0x7C01, 0x7FF8'0400'0000'0000},
      {{.from = Type::F16, .to = Type::F64}, 0xFFFF, 0xFFFF'FC00'0000'0000},
      // from f64
      {{.from = Type::F64, .to = Type::F32}, signalling, 0x7FC0'0000},
      {{.from = Type::F64, .to = Type::F32, .rounding = kUp, .ftz = true}, F64::kNan, 0xFFC0'0000},
      {{.from = Type::F64, .to = Type::F32, .rounding = kDown}, minus_most, 0xFFFF'FFFF},
      {{.from = Type::F64, .to = Type::F32, .clamp = kSat}, minus_most, 0},
      {{.from = Type::F64, .to = Type::F16}, signalling, 0x7E00},
      {{.from = Type::F64, .to = Type::F16}, minus_most, 0xFFFF},
      {{.from = Type::F64, .to = Type::Bf16, .rounding = kUp}, signalling, 0x7FC0},
      {{.from = Type::F64, .to = Type::Bf16}, minus_most, 0xFFFF},
      // bf16 is the upper half of f32
      {{.from = Type::Bf16, .to = Type::F32}, 0x7F81, 0x7F81'0000},
      {{.from = Type::Bf16, .to = Type::F32, .rounding = kDown}, 0xFFFF, 0xFFFF'0000},
      {{.from = Type::Bf16, .to = Type::F32, .ftz = true}, 0x7F81, 0x7FFF'FFFF},
      // .ftz of what becomes f16
      {{.from = Type::F32, .to = Type::F16, .rounding = kDown, .ftz = true}, 0x8000'0001, 0x8001},
      {{.from = Type::F32, .to = Type::F16, .rounding = kUp, .ftz = true, .clamp = kSat}, 1, 1},
      {{.from = Type::F32, .to = Type::F16, .ftz = true}, 0x8000'0001, 0x8000},
      {{.from = Type::F32, .to = Type::Bf16, .rounding = kDown, .ftz = true}, 0x8000'0001, 0x8000},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(convert(row.how, row.a), row.d)
        << isa::info(row.how.from).name << " to " << isa::info(row.how.to).name;
  }
}

TEST(NarrowLanes, Tf32NansAsOnTheH200) {
  const struct {
    uint32_t a, rna, rna_satfinite;
  } rows[] = {
      {0x7FC0'0000, 0x7FC0'0000, 0x7FBF'E000},
      {0xFF80'0001, 0xFF80'0000, 0xFF7F'E000},
      {0xFFFF'FFFF, 0xFFFF'E000, 0xFFFF'C000},
  };
  for (const auto& row : rows) {
    EXPECT_EQ((f32_to_tf32_lane<Rounding::NearestEven, false, false>(row.a)), 0x7FFF'E000U);
    EXPECT_EQ((f32_to_tf32_lane<Rounding::TowardZero, true, false>(row.a)), 0x7FFF'E000U);
    EXPECT_EQ((f32_to_tf32_lane<Rounding::NearestAway, false, false>(row.a)), row.rna);
    EXPECT_EQ((f32_to_tf32_lane<Rounding::NearestAway, false, true>(row.a)), row.rna_satfinite);
  }
}

// NaNs through the run functions of common pairs and through `convert`.
template <typename D, typename S>
void nans_are_converted(const std::string& opcode, const Conversion& how, S nan) {
  OpsUnderTest ops(opcode + " " + register_name<D>(0) + ", " + register_name<S>(1) + ";");
  ASSERT_TRUE(ops.ok());
  const std::string from = register_name<S>(1);
  for (unsigned l = 0; l < kLanes; ++l) {
    const S sign = l % 2 == 0 ? S{0} : static_cast<S>(S{1} << (sizeof(S) * 8 - 1));
    ops.lanes<S>(from)[l] = static_cast<S>((nan + l) | sign);
  }
  ops.run();
  for (unsigned l = 0; l < kLanes; ++l) {
    EXPECT_EQ(ops.lanes<D>(register_name<D>(0))[l],
              static_cast<D>(convert(how, ops.lanes<S>(from)[l])))
        << opcode << " lane " << l;
  }
}
TEST(ConvertOps, NansAsTheLanes) {
  const uint64_t f64 = 0x7FF0'0000'0000'0001;
  nans_are_converted<uint32_t>("cvt.rn.f32.f64", {.from = Type::F64, .to = Type::F32}, f64);
  nans_are_converted<uint32_t>("cvt.rp.f32.f64", {.from = Type::F64, .to = Type::F32}, f64);
  nans_are_converted<uint16_t>("cvt.rz.f16.f64", {.from = Type::F64, .to = Type::F16}, f64);
  nans_are_converted<uint64_t>("cvt.f64.f64", {.from = Type::F64, .to = Type::F64}, f64);
  const uint32_t f32 = 0x7F80'0001;
  nans_are_converted<uint32_t>("cvt.f32.f32", {.from = Type::F32, .to = Type::F32}, f32);
  nans_are_converted<uint64_t>("cvt.f64.f32", {.from = Type::F32, .to = Type::F64}, f32);
  const uint16_t bf16 = 0x7F81;
  nans_are_converted<uint32_t>("cvt.f32.bf16", {.from = Type::Bf16, .to = Type::F32}, bf16);
  nans_are_converted<uint32_t>("cvt.rm.f32.bf16", {.from = Type::Bf16, .to = Type::F32}, bf16);
}

// --- instructions between numbers ---------------------------------------------------------------

std::string word_of(std::string_view rounding) {
  return rounding.empty() ? "" : "." + std::string(rounding);
}

// The instruction with registers of types D and S, against `convert`.
template <typename D, typename S>
void cvt(Type to, Type from, std::string_view rounding = "", std::string_view others = "") {
  Conversion how{.from = from, .to = to};
  const auto at = std::string_view("nzmp").find(rounding.size() > 1 ? rounding[1] : 'n');
  how.rounding = kFour[at];
  how.integral = rounding.ends_with('i');
  how.ftz = others.find(".ftz") != others.npos;
  if (others.find(".sat") != others.npos && others.find("finite") == others.npos) how.clamp = kSat;
  if (others.find(".relu") != others.npos) how.clamp |= kRelu;
  if (others.find(".satfinite") != others.npos) how.clamp |= kFinite;
  const std::string opcode = "cvt" + word_of(rounding) + std::string(others) + "." +
                             std::string(isa::info(to).name) + "." +
                             std::string(isa::info(from).name);
  expect_lanes<D, S>(opcode, [&](S bits) { return static_cast<D>(convert(how, bits)); });
}

TEST(ConvertOps, IntegersOfAllWidths) {
  cvt<uint32_t, uint64_t>(Type::U32, Type::U64);
  cvt<uint64_t, uint32_t>(Type::U64, Type::U32);
  cvt<uint64_t, uint32_t>(Type::S64, Type::S32);
  cvt<uint32_t, uint16_t>(Type::U32, Type::U16);
  cvt<uint32_t, uint16_t>(Type::S32, Type::S16);
  cvt<uint16_t, uint32_t>(Type::U16, Type::U32);
  cvt<uint32_t, uint32_t>(Type::S16, Type::U32);  // cut off, then extended by the sign
  cvt<uint32_t, uint16_t>(Type::U32, Type::S8);
  cvt<uint64_t, uint32_t>(Type::U32, Type::S16);  // extended twice, by the sign and by zeros
  cvt<uint64_t, uint64_t>(Type::S8, Type::U64);
  cvt<uint16_t, uint16_t>(Type::U8, Type::S8);
  cvt<uint32_t, uint64_t>(Type::S32, Type::S64, "", ".sat");
  cvt<uint32_t, uint32_t>(Type::U8, Type::S32, "", ".sat");
}

TEST(ConvertOps, IntegersAndFloats) {
  for (const std::string_view r : {"rn", "rz", "rm", "rp"}) {
    cvt<uint32_t, uint32_t>(Type::F32, Type::S32, r);
    cvt<uint32_t, uint32_t>(Type::F32, Type::U32, r);
    cvt<uint64_t, uint64_t>(Type::F64, Type::S64, r);
    cvt<uint32_t, uint64_t>(Type::F32, Type::U64, r);
    cvt<uint16_t, uint16_t>(Type::F16, Type::U16, r);
    cvt<uint16_t, uint32_t>(Type::Bf16, Type::S32, r);
    cvt<uint32_t, uint32_t>(Type::F16, Type::S8, r);
    cvt<uint16_t, uint32_t>(Type::F16, Type::S32, r);
    cvt<uint16_t, uint32_t>(Type::F16, Type::U32, r);
  }
  for (const std::string_view r : {"rni", "rzi", "rmi", "rpi"}) {
    cvt<uint32_t, uint32_t>(Type::S32, Type::F32, r);
    cvt<uint32_t, uint32_t>(Type::U32, Type::F32, r);
    cvt<uint64_t, uint32_t>(Type::S64, Type::F32, r);
    cvt<uint64_t, uint32_t>(Type::U64, Type::F32, r, ".ftz");
    cvt<uint64_t, uint64_t>(Type::U64, Type::F64, r);
    cvt<uint32_t, uint64_t>(Type::S32, Type::F64, r);
    cvt<uint16_t, uint16_t>(Type::S16, Type::F16, r);
    cvt<uint32_t, uint32_t>(Type::U8, Type::F32, r, ".sat");
    cvt<uint32_t, uint16_t>(Type::S32, Type::Bf16, r);
    cvt<uint32_t, uint16_t>(Type::U32, Type::F16, r);
  }
}

TEST(ConvertOps, Floats) {
  for (const std::string_view r : {"rn", "rz", "rm", "rp"}) {
    cvt<uint16_t, uint32_t>(Type::F16, Type::F32, r);
    cvt<uint32_t, uint32_t>(Type::F16, Type::F32, r, ".ftz");
    cvt<uint16_t, uint32_t>(Type::Bf16, Type::F32, r);
    cvt<uint32_t, uint64_t>(Type::F32, Type::F64, r);
    cvt<uint16_t, uint64_t>(Type::F16, Type::F64, r);
    cvt<uint32_t, uint64_t>(Type::F32, Type::F64, r, ".ftz.sat");
  }
  cvt<uint32_t, uint16_t>(Type::F32, Type::F16);
  cvt<uint64_t, uint16_t>(Type::F64, Type::F16);
  cvt<uint64_t, uint32_t>(Type::F64, Type::F32);
  cvt<uint32_t, uint16_t>(Type::F32, Type::Bf16);
  cvt<uint32_t, uint32_t>(Type::F32, Type::F32, "rmi");
  cvt<uint32_t, uint32_t>(Type::F32, Type::F32, "", ".ftz.sat");
  cvt<uint64_t, uint64_t>(Type::F64, Type::F64, "rpi");
  cvt<uint16_t, uint32_t>(Type::F16, Type::F32, "rn", ".relu.satfinite");
  cvt<uint32_t, uint32_t>(Type::F16, Type::F32, "rz", ".relu");
  cvt<uint16_t, uint32_t>(Type::Bf16, Type::F32, "rz", ".satfinite");
}

TEST(ConvertOps, UndefinedBytesMoveAlong) {
  const struct {
    const char* text;
    uint8_t before, after;
  } rows[] = {
      {"cvt.u32.u64 %r0, %d0;", 0b1111'0010, 0b0010},
      {"cvt.u64.u32 %d0, %r0;", 0b1000, 0b1000},
      {"cvt.s64.s32 %d0, %r0;", 0b1000, 0b1111'1000},
      {"cvt.s64.s32 %d0, %r0;", 0b0100, 0b0000'0100},
      {"cvt.s32.u8 %r0, %h0;", 0b10, 0},
      {"cvt.s8.s32 %r0, %r1;", 0b0001, 0b1111},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.text);
    OpsUnderTest ops(row.text, true);
    ASSERT_TRUE(ops.ok());
    const std::string text = row.text;
    const std::string to = text.substr(text.find('%'), 3);
    const std::string from = text.substr(text.rfind('%'), 3);
    for (unsigned l = 0; l < kLanes; ++l) ops.undefined(from)[l] = row.before;
    ops.run(0x0000'FFFF);
    EXPECT_EQ(ops.undefined(to)[0], row.after);
    EXPECT_EQ(ops.undefined(to)[15], row.after);
    EXPECT_EQ(ops.undefined(to)[16], 0);
  }
}

}  // namespace
}  // namespace ww::sim::ops_convert_test
