// SPDX-License-Identifier: Apache-2.0
// f32 and f64 lanes against the host's arithmetic in the same rounding mode, and the instructions
// against the lanes.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "sim/ops/float_lanes.h"
#include "sim/ops/test_floats.h"
#include "sim/ops/test_warp.h"

namespace ww::sim::ops_float_test {
namespace {

using std::uint32_t;
using std::uint64_t;

constexpr Rounding kNear = Rounding::NearestEven;
constexpr Rounding kZero = Rounding::TowardZero;
constexpr Rounding kDown = Rounding::Down;
constexpr Rounding kUp = Rounding::Up;

constexpr uint32_t kNan = 0x7FFF'FFFF;
constexpr uint32_t kInf = 0x7F80'0000;
constexpr uint32_t kOne = 0x3F80'0000;
constexpr uint32_t kMinus = 0x8000'0000;

float f32(uint32_t bits) { return std::bit_cast<float>(bits); }
double f64(uint64_t bits) { return std::bit_cast<double>(bits); }
uint32_t bits_of(float value) { return std::bit_cast<uint32_t>(value); }
uint64_t bits_of(double value) { return std::bit_cast<uint64_t>(value); }

// --- rounding -----------------------------------------------------------------------------------

// What the host makes of it in that rounding mode, with the chip's NaN.
template <typename T, typename Function>
T on_host(Rounding rounding, Function f) {
  const HostRounding mode(rounding);
  const volatile T result = f();
  return result;
}

constexpr int kCases = 20000;

template <typename Operation, Rounding R, typename Host>
void f32_is_hosts(Host host) {
  FloatBits numbers(1);
  for (int i = 0; i < kCases; ++i) {
    const uint32_t a = numbers.f32();
    const uint32_t b = numbers.f32();
    const uint32_t c = numbers.f32();
    const volatile float x = f32(a);
    const volatile float y = f32(b);
    const volatile float z = f32(c);
    const float wanted = on_host<float>(R, [&] { return host(x, y, z); });
    uint32_t got = 0;
    if constexpr (requires { Operation::near(1.0F, 1.0F, 1.0F); }) {
      got = f32_lane<Operation, F32Mode{R}>(a, b, c);
    } else if constexpr (requires { Operation::near(1.0F, 1.0F); }) {
      got = f32_lane<Operation, F32Mode{R}>(a, b);
    } else {
      got = f32_lane<Operation, F32Mode{R}>(a);
    }
    ASSERT_EQ(got, std::isnan(wanted) ? kNan : bits_of(wanted))
        << std::hex << a << ' ' << b << ' ' << c << " rounding " << static_cast<int>(R);
  }
}

template <typename Operation, Rounding R, typename Host>
void f64_is_hosts(Host host) {
  FloatBits numbers(2);
  for (int i = 0; i < kCases; ++i) {
    const uint64_t a = numbers.f64();
    const uint64_t b = numbers.f64();
    const uint64_t c = numbers.f64();
    const volatile double x = f64(a);
    const volatile double y = f64(b);
    const volatile double z = f64(c);
    const double wanted = on_host<double>(R, [&] { return host(x, y, z); });
    uint64_t got = 0;
    if constexpr (requires { Operation::near(1.0, 1.0, 1.0); }) {
      got = f64_lane<Operation, R>(a, b, c);
    } else if constexpr (requires { Operation::near(1.0, 1.0); }) {
      got = f64_lane<Operation, R>(a, b);
    } else {
      got = f64_lane<Operation, R>(a);
    }
    if (std::isnan(wanted)) {
      ASSERT_TRUE(std::isnan(f64(got)));
    } else {
      ASSERT_EQ(got, bits_of(wanted))
          << std::hex << a << ' ' << b << ' ' << c << " rounding " << static_cast<int>(R);
    }
  }
}

template <typename Narrow, typename Wide, typename Host>
void all_roundings(Host host) {
  f32_is_hosts<Narrow, kNear>(host);
  f32_is_hosts<Narrow, kZero>(host);
  f32_is_hosts<Narrow, kDown>(host);
  f32_is_hosts<Narrow, kUp>(host);
  f64_is_hosts<Wide, kNear>(host);
  f64_is_hosts<Wide, kZero>(host);
  f64_is_hosts<Wide, kDown>(host);
  f64_is_hosts<Wide, kUp>(host);
}

TEST(FloatLanes, Add) {
  all_roundings<Add, Add64>([](auto a, auto b, auto) { return a + b; });
}
TEST(FloatLanes, Sub) {
  all_roundings<Sub, Sub64>([](auto a, auto b, auto) { return a - b; });
}
TEST(FloatLanes, Mul) {
  all_roundings<Mul, Mul64>([](auto a, auto b, auto) { return a * b; });
}
TEST(FloatLanes, Fma) {
  all_roundings<Fma, Fma64>([](auto a, auto b, auto c) { return std::fma(a, b, c); });
}
TEST(FloatLanes, Div) {
  all_roundings<Div, Div64>([](auto a, auto b, auto) { return a / b; });
}
TEST(FloatLanes, Rcp) {
  all_roundings<Rcp, Rcp64>([](auto a, auto, auto) { return 1 / a; });
}
TEST(FloatLanes, Sqrt) {
  all_roundings<Sqrt, Sqrt64>([](auto a, auto, auto) { return std::sqrt(a); });
}

TEST(FloatLanes, AnExactZeroHasTheSignOfItsRounding) {
  EXPECT_EQ((f32_lane<Sub, F32Mode{kDown}>(kOne, kOne)), kMinus);
  EXPECT_EQ((f32_lane<Sub, F32Mode{kUp}>(kOne, kOne)), 0U);
  EXPECT_EQ((f32_lane<Add, F32Mode{kDown}>(0U, 0U)), 0U);
  EXPECT_EQ((f32_lane<Add, F32Mode{kDown}>(0U, kMinus)), kMinus);
  EXPECT_EQ((f64_lane<Sub64, kDown>(bits_of(1.5), bits_of(1.5))), F64::kSign);
}

TEST(FloatLanes, OverflowGoesWhereTheRoundingSays) {
  const uint32_t most = 0x7F7F'FFFF;
  EXPECT_EQ((f32_lane<Add, F32Mode{kNear}>(most, most)), kInf);
  EXPECT_EQ((f32_lane<Add, F32Mode{kZero}>(most, most)), most);
  EXPECT_EQ((f32_lane<Mul, F32Mode{kDown}>(most | kMinus, most)), kInf | kMinus);
  EXPECT_EQ((f32_lane<Mul, F32Mode{kUp}>(most | kMinus, most)), most | kMinus);
}

// --- modifiers ----------------------------------------------------------------------------------

TEST(FloatLanes, FtzFlushesOperandsAndResults) {
  constexpr F32Mode kFtz{.ftz = true};
  EXPECT_EQ((f32_lane<Add, kFtz>(0x0000'0001U, 0x8000'0001U)), 0U);
  EXPECT_EQ((f32_lane<Add, kFtz>(0x8040'0000U, kMinus)), kMinus);
  EXPECT_EQ((f32_lane<Mul, kFtz>(0x0080'0000U, 0xBF00'0000U)), kMinus);  // 2^-126 * -0.5
  EXPECT_EQ((f32_lane<Mul, F32Mode{}>(0x0080'0000U, 0xBF00'0000U)), 0x8040'0000U);
  EXPECT_EQ((f32_lane<Rcp, kFtz>(0x8000'0001U)), kInf | kMinus);
}

TEST(FloatLanes, SatClampsToZeroAndOne) {
  constexpr F32Mode kSat{.sat = true};
  EXPECT_EQ((f32_lane<Add, kSat>(kOne, kOne)), kOne);
  EXPECT_EQ((f32_lane<Add, kSat>(kOne | kMinus, 0U)), 0U);
  EXPECT_EQ((f32_lane<Add, kSat>(kMinus, kMinus)), 0U);
  EXPECT_EQ((f32_lane<Add, kSat>(kNan, kOne)), 0U);
  EXPECT_EQ((f32_lane<Add, kSat>(kInf, kOne)), kOne);
  EXPECT_EQ((f32_lane<Add, kSat>(0x3F00'0000U, 0U)), 0x3F00'0000U);
}

TEST(FloatLanes, NansAreCanonicalInF32AndKeepTheirPayloadInF64) {
  EXPECT_EQ((f32_lane<Add, F32Mode{}>(0xFFC1'2345U, kOne)), kNan);
  EXPECT_EQ((f32_lane<Sub, F32Mode{}>(kInf, kInf)), kNan);
  EXPECT_EQ((f64_lane<Add64, kNear>(bits_of(1.0), uint64_t{0x7FF0'0000'0000'1234})),
            0x7FF8'0000'0000'1234U);
  EXPECT_EQ((f64_lane<Mul64, kNear>(bits_of(0.0), F64::kInf)), F64::kNan);
  EXPECT_EQ((f64_lane<Mul64, kZero>(bits_of(0.0), F64::kInf)), F64::kNan);
}

// The rounded result as if exponents had no end, by scaling it into the middle of them.
template <typename Operation, Rounding R, typename... Bits>
void ftz_looks_at_all_bits(uint32_t a, Bits... others) {
  constexpr F32Mode kFtz{R, true};
  const uint32_t got = f32_lane<Operation, kFtz>(a, others...);
  // What a and the last operand of fma are scaled by; 1 / a has none.
  const uint32_t scaled_a = bits_of(f32(a) * 0x1p24F);
  uint32_t scaled = 0;
  if constexpr (sizeof...(others) == 2) {
    const uint32_t all[] = {others...};
    scaled = f32_lane<Operation, F32Mode{R}>(scaled_a, all[0], bits_of(f32(all[1]) * 0x1p24F));
  } else if constexpr (sizeof...(others) == 1) {
    scaled = f32_lane<Operation, F32Mode{R}>(scaled_a, others...);
  } else {
    scaled = f32_lane<Div, F32Mode{R}>(bits_of(0x1p24F), a);
  }
  const uint32_t wanted = std::abs(f32(scaled)) < 0x1p-102F
                              ? scaled & kMinus
                              : f32_lane<Operation, F32Mode{R}>(a, others...);
  ASSERT_EQ(got, wanted) << std::hex << a << " rounding " << static_cast<int>(R);
}

template <Rounding R>
void ftz_about_the_smallest_normal_number() {
  FloatBits numbers(9);
  for (int i = 0; i < kCases; ++i) {
    const auto random = numbers.any();
    const auto sign = static_cast<uint32_t>(random & kMinus);
    // Two factors whose product is next to 2^-126, from both sides.
    const uint32_t exponent = 1 + static_cast<uint32_t>(random % 125);
    const uint32_t mantissa = i % 3 == 0 ? 0U : numbers.f32() & 0x7F'FFFFU;
    const uint32_t a = sign | exponent << 23U | mantissa;
    const double other = 0x1p-126 / std::abs(double{f32(a)});
    const uint32_t b = bits_of(static_cast<float>(other)) + static_cast<uint32_t>(i % 5) - 2;
    ftz_looks_at_all_bits<Mul, R>(a, b);
    const uint32_t small = static_cast<uint32_t>(numbers.any() % 0x0180'0000U);
    const uint32_t c = static_cast<uint32_t>(random >> 32U & kMinus) | F32::flushed(small);
    ftz_looks_at_all_bits<Fma, R>(a, b, c);
    const uint32_t quotient = bits_of(0x1p-3F) | mantissa;
    const uint32_t divisor =
        bits_of(0x1p123F) + (quotient & 0x7F'FFFFU) + static_cast<uint32_t>(i % 5) - 2;
    ftz_looks_at_all_bits<Div, R>(quotient | sign, divisor);
    ftz_looks_at_all_bits<Rcp, R>(sign | (bits_of(0x1p126F) + static_cast<uint32_t>(i % 64) - 8));
  }
}
TEST(FloatLanes, FtzLooksAtAllBitsOfTheResult) {
  ftz_about_the_smallest_normal_number<kNear>();
  ftz_about_the_smallest_normal_number<kZero>();
  ftz_about_the_smallest_normal_number<kDown>();
  ftz_about_the_smallest_normal_number<kUp>();
}

// --- min, max -----------------------------------------------------------------------------------

// As the manual has it.
template <MinMaxMode kMode>
uint32_t min_max_by_the_manual(uint32_t a, uint32_t b) {
  const uint32_t sign = (a ^ b) & kMinus;
  if (kMode.ftz) {
    if (std::fpclassify(f32(a)) == FP_SUBNORMAL) a &= kMinus;
    if (std::fpclassify(f32(b)) == FP_SUBNORMAL) b &= kMinus;
  }
  if (kMode.abs) a &= ~kMinus, b &= ~kMinus;
  const bool a_nan = std::isnan(f32(a));
  const bool b_nan = std::isnan(f32(b));
  if ((a_nan && b_nan) || (kMode.nan && (a_nan || b_nan))) return kNan;
  uint32_t d = 0;
  if (a_nan || b_nan) {
    d = a_nan ? b : a;
  } else if (f32(a) == f32(b)) {
    d = ((a & kMinus) != 0) != kMode.max ? a : b;
  } else {
    d = (f32(a) < f32(b)) != kMode.max ? a : b;
  }
  return kMode.abs ? d | sign : d;
}

template <std::size_t kIndex>
void min_max_is_the_manuals() {
  constexpr MinMaxMode kMode{(kIndex & 1U) != 0, (kIndex & 2U) != 0, (kIndex & 4U) != 0,
                             (kIndex & 8U) != 0};
  FloatBits numbers(kIndex);
  for (int i = 0; i < 5000; ++i) {
    const uint32_t a = i % 7 == 0 ? 0 : numbers.f32();
    const uint32_t b = i % 5 == 0 ? a ^ kMinus : numbers.f32();
    const uint32_t wanted = min_max_by_the_manual<kMode>(a, b);
    ASSERT_EQ((min_max<F32, kMode>(a, b)), wanted) << std::hex << a << ' ' << b;
  }
}
TEST(FloatLanes, MinAndMaxAreTheManuals) {
  []<std::size_t... I>(std::index_sequence<I...>) { (min_max_is_the_manuals<I>(), ...); }
  (std::make_index_sequence<16>{});
}

TEST(FloatLanes, MinOfThree) {
  EXPECT_EQ((min_max3<F32, MinMaxMode{}>(kNan, kNan, kOne)), kOne);
  EXPECT_EQ((min_max3<F32, MinMaxMode{.nan = true}>(kOne, kNan, kOne)), kNan);
  EXPECT_EQ((min_max3<F32, MinMaxMode{.max = true}>(0U, kMinus, kOne | kMinus)), 0U);
  EXPECT_EQ((min_max3<F32, MinMaxMode{.max = true, .abs = true}>(0U, kInf | kMinus, kOne)), kInf);
}

// --- instructions -------------------------------------------------------------------------------

template <F32Mode kMode>
void f32_instructions(const std::string& modifiers) {
  const std::string end = modifiers + ".f32";
  expect_lanes<uint32_t, uint32_t, uint32_t>("add" + end, f32_lane<Add, kMode, uint32_t, uint32_t>);
  expect_lanes<uint32_t, uint32_t, uint32_t>("sub" + end, f32_lane<Sub, kMode, uint32_t, uint32_t>);
  expect_lanes<uint32_t, uint32_t, uint32_t>("mul" + end, f32_lane<Mul, kMode, uint32_t, uint32_t>);
  constexpr auto kFma = f32_lane<Fma, kMode, uint32_t, uint32_t, uint32_t>;
  expect_lanes<uint32_t, uint32_t, uint32_t, uint32_t>("fma" + end, kFma);
  expect_lanes<uint32_t, uint32_t, uint32_t, uint32_t>("mad" + end, kFma);
  if (kMode.sat) return;
  expect_lanes<uint32_t, uint32_t, uint32_t>("div" + end, f32_lane<Div, kMode, uint32_t, uint32_t>);
  expect_lanes<uint32_t, uint32_t>("rcp" + end, f32_lane<Rcp, kMode, uint32_t>);
  expect_lanes<uint32_t, uint32_t>("sqrt" + end, f32_lane<Sqrt, kMode, uint32_t>);
}

TEST(FloatOps, F32WithItsModifiers) {
  f32_instructions<{}>(".rn");
  f32_instructions<{kZero, true}>(".rz.ftz");
  f32_instructions<{kDown, false, true}>(".rm.sat");
  f32_instructions<{kUp, true, true}>(".rp.ftz.sat");
  expect_lanes<uint32_t, uint32_t, uint32_t>("add.f32", f32_lane<Add, {}, uint32_t, uint32_t>);
}

template <Rounding R>
void f64_instructions(const std::string& rounding) {
  const std::string end = rounding + ".f64";
  expect_lanes<uint64_t, uint64_t, uint64_t>("add" + end, f64_lane<Add64, R, uint64_t, uint64_t>);
  expect_lanes<uint64_t, uint64_t, uint64_t>("sub" + end, f64_lane<Sub64, R, uint64_t, uint64_t>);
  expect_lanes<uint64_t, uint64_t, uint64_t>("mul" + end, f64_lane<Mul64, R, uint64_t, uint64_t>);
  expect_lanes<uint64_t, uint64_t, uint64_t>("div" + end, f64_lane<Div64, R, uint64_t, uint64_t>);
  expect_lanes<uint64_t, uint64_t, uint64_t, uint64_t>(
      "fma" + end, f64_lane<Fma64, R, uint64_t, uint64_t, uint64_t>);
  expect_lanes<uint64_t, uint64_t>("rcp" + end, f64_lane<Rcp64, R, uint64_t>);
  expect_lanes<uint64_t, uint64_t>("sqrt" + end, f64_lane<Sqrt64, R, uint64_t>);
}

TEST(FloatOps, F64WithItsRoundings) {
  f64_instructions<kNear>(".rn");
  f64_instructions<kZero>(".rz");
  f64_instructions<kDown>(".rm");
  f64_instructions<kUp>(".rp");
}

template <F32Mode kMode>
uint64_t fma_of_pairs(uint64_t a, uint64_t b, uint64_t c) {
  const auto at = [](uint64_t pair, unsigned shift) {
    return static_cast<uint32_t>(pair >> shift);
  };
  const uint64_t low = f32_lane<Fma, kMode>(at(a, 0), at(b, 0), at(c, 0));
  const uint64_t high = f32_lane<Fma, kMode>(at(a, 32), at(b, 32), at(c, 32));
  return high << 32U | low;
}
TEST(FloatOps, Pairs) {
  expect_lanes<uint64_t, uint64_t, uint64_t, uint64_t>("fma.rn.f32x2", fma_of_pairs<{}>);
  expect_lanes<uint64_t, uint64_t, uint64_t, uint64_t>("fma.rp.ftz.f32x2",
                                                       fma_of_pairs<{kUp, true}>);
}

TEST(FloatOps, MinAndMax) {
  expect_lanes<uint32_t, uint32_t, uint32_t>("min.f32", min_max<F32, MinMaxMode{}>);
  expect_lanes<uint32_t, uint32_t, uint32_t>(
      "max.ftz.NaN.f32", min_max<F32, MinMaxMode{.max = true, .ftz = true, .nan = true}>);
  expect_lanes<uint32_t, uint32_t, uint32_t>("min.xorsign.abs.f32",
                                             min_max<F32, MinMaxMode{.abs = true}>);
  expect_lanes<uint64_t, uint64_t, uint64_t>("max.f64", min_max<F64, MinMaxMode{.max = true}>);
  expect_lanes<uint32_t, uint32_t, uint32_t, uint32_t>(
      "max.abs.f32", min_max3<F32, MinMaxMode{.max = true, .abs = true}>);
}

TEST(FloatOps, Bits) {
  expect_lanes<uint32_t, uint32_t, uint32_t>(
      "copysign.f32", [](uint32_t a, uint32_t b) { return (a & kMinus) | (b & ~kMinus); });
  expect_lanes<uint64_t, uint64_t, uint64_t>("copysign.f64", copysign_lane<F64>);
  expect_lanes<uint32_t, uint32_t>("abs.f32", abs_lane<F32, false>);
  expect_lanes<uint32_t, uint32_t>("neg.ftz.f32", neg_lane<F32, true>);
  expect_lanes<uint64_t, uint64_t>("neg.f64", neg_lane<F64, false>);
}

template <typename T>
T one_lane_of(const std::string& instruction, const std::vector<T>& operands) {
  std::string text = instruction + " " + register_name<T>(0);
  for (std::size_t i = 0; i < operands.size(); ++i) text += ", " + register_name<T>(i + 1);
  OpsUnderTest ops(text + ";");
  if (!ops.ok()) return 0;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    ops.lanes<T>(register_name<T>(i + 1))[0] = operands[i];
  }
  ops.run();
  return ops.lanes<T>(register_name<T>(0))[0];
}

TEST(FloatOps, F32AsOnTheH200) {
  const struct {
    const char* opcode;
    std::vector<uint32_t> operands;
    uint32_t d;
  } rows[] = {
      {"mul.ftz.f32", {0x8080'0000, 0xBF7F'FFFF}, 0},
      {"mul.ftz.f32", {0x8080'0000, 0x3F7F'FFFF}, kMinus},
      {"mul.f32", {0x8080'0000, 0xBF7F'FFFF}, 0x0080'0000},
      {"mul.ftz.sat.f32", {0x8080'0000, 0xBF7F'FFFF}, 0},
      {"mul.rm.ftz.f32", {0x0080'0000, 0xBF7F'FFFF}, kMinus},
      {"mul.rp.ftz.f32", {0x8080'0000, 0xBF7F'FFFF}, 0},
      {"mul.rp.ftz.sat.f32", {0x8080'0000, 0xBF7F'FFFF}, 0},
      {"fma.rn.ftz.f32", {0x8080'0000, 0xBF7F'FFFF, 0x0000'0001}, 0},
      {"mul.ftz.f32", {0x8080'0000, kOne}, 0x8080'0000},
      {"rcp.rm.ftz.f32", {0xFE80'0001}, kMinus},
  };
  for (const auto& row : rows)
    EXPECT_EQ(one_lane_of(row.opcode, row.operands), row.d) << row.opcode;
}

TEST(FloatOps, F64NansAsOnTheH200) {
  const uint64_t most = 0x7FFF'FFFF'FFFF'FFFF;
  const uint64_t minus_most = 0xFFFF'FFFF'FFFF'FFFF;
  const uint64_t signalling = 0xFFF0'0000'0000'0001;
  const uint64_t number = 0xD6CF'D650'A7F7'0897;
  const struct {
    const char* opcode;
    std::vector<uint64_t> operands;
    uint64_t d;
  } rows[] = {
      {"abs.f64", {F64::kNan}, F64::kNan},
      {"abs.f64", {signalling}, 0xFFF8'0000'0000'0001},
      {"neg.f64", {most}, most},
      {"neg.f64", {0x7FF0'0000'0000'0001}, 0x7FF8'0000'0000'0001},
      {"neg.f64", {number}, 0x56CF'D650'A7F7'0897},
      {"add.f64", {most, minus_most}, minus_most},
      {"add.rz.f64", {signalling, 0xFFF0'0000'0000'0002}, 0xFFF8'0000'0000'0002},
      {"sub.rm.f64", {F64::kNan, 0x7FF8'0000'0000'0000}, 0x7FF8'0000'0000'0000},
      {"sub.f64", {number, most}, most},
      {"mul.rp.f64", {most, minus_most}, minus_most},
      {"mul.f64", {signalling, number}, 0xFFF8'0000'0000'0001},
      {"mul.f64", {0, F64::kInf}, F64::kNan},
      {"fma.rn.f64", {most, number, minus_most}, minus_most},
      {"fma.rm.f64", {signalling, number, 0xFFF0'0000'0000'0002}, 0xFFF8'0000'0000'0002},
      {"mad.rz.f64", {most, minus_most, 0x7FF8'0000'0000'0000}, minus_most},
      {"fma.rp.f64", {most, number, number}, most},
      {"div.rn.f64", {most, minus_most}, most},
      {"div.rp.f64", {number, minus_most}, minus_most},
      {"min.f64", {0x7FF0'0000'0000'0001, 0x7FF0'0000'0000'0001}, 0x7FF8'0000'0000'0001},
      {"max.f64", {most, minus_most}, minus_most},
      {"max.f64", {most, number}, number},
  };
  for (const auto& row : rows)
    EXPECT_EQ(one_lane_of(row.opcode, row.operands), row.d) << row.opcode;
}

TEST(FloatOps, Testp) {
  const uint32_t values[] = {0, kMinus, 1, 0x0080'0000, kOne, kInf | kMinus, kNan};
  const struct {
    const char* word;
    Mask holds;  // by value
  } rows[] = {{"finite", 0b001'1111},     {"infinite", 0b010'0000}, {"number", 0b011'1111},
              {"notanumber", 0b100'0000}, {"normal", 0b001'1011},   {"subnormal", 0b000'0100}};
  for (const auto& row : rows) {
    OpsUnderTest ops(std::string("testp.") + row.word + ".f32 %p0, %r0;");
    ASSERT_TRUE(ops.ok());
    for (unsigned l = 0; l < kLanes; ++l) ops.lanes<uint32_t>("%r0")[l] = values[l % 7];
    ops.run();
    EXPECT_EQ(ops.pred("%p0") & 0x7FU, row.holds) << row.word;
  }
}

// --- functions ----------------------------------------------------------------------------------

template <typename T>
T one_lane(const std::string& instruction, T a, T b = 0) {
  return instruction.starts_with("div") ? one_lane_of<T>(instruction, {a, b})
                                        : one_lane_of<T>(instruction, {a});
}

TEST(FloatOps, DivApproxHasNoInverseOfHugeNumbers) {
  const uint32_t huge = bits_of(0x1p127F);
  EXPECT_EQ(one_lane("div.approx.f32", bits_of(-3.0F), huge), kMinus);
  EXPECT_EQ(one_lane("div.approx.f32", kInf, huge), kNan);
  EXPECT_EQ(one_lane("div.approx.f32", bits_of(0x1p126F), bits_of(0x1p126F)), kOne);
  EXPECT_EQ(one_lane("div.full.f32", bits_of(-0x1p127F), huge), kOne | kMinus);
}

TEST(FloatOps, FunctionsAtTheirSpecialValues) {
  const struct {
    const char* opcode;
    uint32_t a, d;
  } rows[] = {
      {"rcp.approx.f32", kMinus, kInf | kMinus},
      {"rcp.approx.ftz.f32", 1, kInf},
      {"rsqrt.approx.f32", kMinus, kInf | kMinus},
      {"rsqrt.approx.f32", kInf, 0},
      {"rsqrt.approx.f32", bits_of(4.0F), bits_of(0.5F)},
      {"sqrt.approx.f32", kOne | kMinus, kNan},
      {"sqrt.approx.ftz.f32", 0x8000'0001, kMinus},
      {"sin.approx.f32", kMinus, kMinus},
      {"sin.approx.f32", kInf, kNan},
      {"cos.approx.ftz.f32", 1, kOne},
      {"lg2.approx.f32", 0, kInf | kMinus},
      {"lg2.approx.f32", kOne | kMinus, kNan},
      {"lg2.approx.ftz.f32", 1, kInf | kMinus},
      {"lg2.approx.f32", bits_of(0.125F), bits_of(-3.0F)},
      {"ex2.approx.f32", kInf | kMinus, 0},
      {"ex2.approx.f32", kMinus, kOne},
      {"ex2.approx.f32", bits_of(-127.0F), 0x0040'0000},
      {"ex2.approx.ftz.f32", bits_of(-127.0F), 0},
      {"tanh.approx.f32", kInf | kMinus, kOne | kMinus},
      {"tanh.approx.f32", kMinus, kMinus},
  };
  for (const auto& row : rows) EXPECT_EQ(one_lane(row.opcode, row.a), row.d) << row.opcode;
}

TEST(FloatOps, F64ByUpperWords) {
  EXPECT_EQ(one_lane("rcp.approx.ftz.f64", bits_of(-4.0) | 0xFFFFU), bits_of(-0.25));
  EXPECT_EQ(one_lane("rcp.approx.ftz.f64", bits_of(3.0)), uint64_t{0x3FD5'5555'0000'0000});
  EXPECT_EQ(one_lane("rcp.approx.ftz.f64", uint64_t{1}), F64::kInf);
  EXPECT_EQ(one_lane("rsqrt.approx.ftz.f64", bits_of(16.0)), bits_of(0.25));
  EXPECT_EQ(one_lane("rsqrt.approx.f64", bits_of(2.0)), bits_of(1 / std::sqrt(2.0)));
}

}  // namespace
}  // namespace ww::sim::ops_float_test
