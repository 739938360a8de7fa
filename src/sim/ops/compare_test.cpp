// SPDX-License-Identifier: Apache-2.0
// Comparisons of every type against the manual's table, in double precision; selections.
#include <gtest/gtest.h>

#include <cmath>

#include "num/float_format.h"
#include "sim/ops/test_warp.h"

namespace ww::sim::ops_compare_test {
namespace {

using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

// --- what is expected ----------------------------------------------------------------------------

template <typename T>
bool is_nan(T value) {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(value);
  return false;
}

template <typename T>
bool ordered(std::string_view cmp, T a, T b) {
  if (cmp == "eq") return a == b;
  if (cmp == "ne") return !is_nan(a) && !is_nan(b) && a != b;
  if (cmp == "lt" || cmp == "lo") return a < b;
  if (cmp == "le" || cmp == "ls") return a <= b;
  if (cmp == "gt" || cmp == "hi") return a > b;
  if (cmp == "ge" || cmp == "hs") return a >= b;
  ADD_FAILURE() << cmp;
  return false;
}
template <typename T>
bool compared(std::string_view cmp, T a, T b) {
  const bool unordered = is_nan(a) || is_nan(b);
  if (cmp == "num") return !unordered;
  if (cmp == "nan") return unordered;
  if (cmp.size() == 3) return unordered || ordered(cmp.substr(0, 2), a, b);
  return ordered(cmp, a, b);
}
bool joined(std::string_view op, bool test, bool c) {
  if (op == "and") return test && c;
  if (op == "or") return test || c;
  if (op == "xor") return test != c;
  return test;
}

// --- what is compared ----------------------------------------------------------------------------

// A type: how wide its register is, how many numbers are in it, and what number its bits are.
struct Kind {
  std::string type;  // ".ftz" before it where that is meant
  unsigned bytes;
  unsigned parts;
  double (*value)(U64 bits);  // nullptr: whole numbers
  bool is_signed = false;
};

double f16(U64 bits) { return num::decode(num::DType::Float16, bits & 0xFFFFU); }
double bf16(U64 bits) { return num::decode(num::DType::Bfloat16, bits & 0xFFFFU); }
double f32(U64 bits) { return num::decode(num::DType::Float32, bits & 0xFFFFFFFFU); }
double f64(U64 bits) { return std::bit_cast<double>(bits); }
double flushed32(U64 bits) { return (bits & 0x7F800000U) == 0 ? 0 : f32(bits); }
double flushed16(U64 bits) { return (bits & 0x7C00U) == 0 ? 0 : f16(bits); }

const std::vector<Kind>& whole_kinds() {
  static const std::vector<Kind> kinds = {
      {"b16", 2, 1, nullptr},       {"b32", 4, 1, nullptr},       {"b64", 8, 1, nullptr},
      {"u16", 2, 1, nullptr},       {"u32", 4, 1, nullptr},       {"u64", 8, 1, nullptr},
      {"s16", 2, 1, nullptr, true}, {"s32", 4, 1, nullptr, true}, {"s64", 8, 1, nullptr, true}};
  return kinds;
}
const std::vector<Kind>& float_kinds() {
  static const std::vector<Kind> kinds = {
      {"f32", 4, 1, f32},   {"ftz.f32", 4, 1, flushed32},   {"f64", 8, 1, f64},
      {"f16", 2, 1, f16},   {"ftz.f16", 2, 1, flushed16},   {"bf16", 2, 1, bf16},
      {"f16x2", 4, 2, f16}, {"ftz.f16x2", 4, 2, flushed16}, {"bf16x2", 4, 2, bf16}};
  return kinds;
}

std::vector<std::string> comparisons(const Kind& kind) {
  if (kind.type[0] == 'b' && kind.value == nullptr) return {"eq", "ne"};
  std::vector<std::string> all = {"eq", "ne", "lt", "le", "gt", "ge"};
  const auto add = [&](std::initializer_list<const char*> more) {
    all.insert(all.end(), more.begin(), more.end());
  };
  if (kind.type[0] == 'u') add({"lo", "ls", "hi", "hs"});
  if (kind.value != nullptr) add({"equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"});
  return all;
}

std::string name_for(const Kind& kind, unsigned i) {
  return kind.bytes == 8   ? register_name<U64>(i)
         : kind.bytes == 4 ? register_name<U32>(i)
                           : register_name<U16>(i);
}
U64 lane_bits(OpsUnderTest& ops, const Kind& kind, unsigned i, unsigned l) {
  U64 bits = 0;
  std::memcpy(&bits, ops.lanes<std::uint8_t>(name_for(kind, i)) + l * kind.bytes, kind.bytes);
  return bits;
}

// A number with a fair chance of being special, and of being equal to another one.
U64 float_bits(Numbers& numbers, unsigned exponent, unsigned mantissa) {
  const U64 top = (U64{1} << exponent) - 1;
  const U64 x = numbers.bits();
  const U64 e = x % 4 == 0 ? top : x % 4 == 1 ? 0 : x % 4 == 2 ? top / 2 : (x >> 8U) % top;
  const U64 y = numbers.bits();
  const U64 m = y % 3 == 0 ? 0 : y % 3 == 1 ? 1 : (y >> 8U) & ((U64{1} << mantissa) - 1);
  return (numbers.bits() & 1U) << (exponent + mantissa) | e << mantissa | m;
}
U64 source_bits(Numbers& numbers, const Kind& kind) {
  if (kind.value == nullptr)
    return numbers.bits() % 3 == 0 ? numbers.bits() % 2 : numbers.next<U64>();
  if (kind.value == f64) return float_bits(numbers, 11, 52);
  if (kind.value == f32 || kind.value == flushed32) return float_bits(numbers, 8, 23);
  const unsigned exponent = kind.value == bf16 ? 8 : 5;
  return float_bits(numbers, exponent, 15 - exponent) | float_bits(numbers, exponent, 15 - exponent)
                                                            << 16U;
}
void fill(OpsUnderTest& ops, const Kind& kind, Numbers& numbers) {
  for (unsigned l = 0; l < kLanes; ++l) {
    U64 bits[2] = {source_bits(numbers, kind), source_bits(numbers, kind)};
    if (numbers.bits() % 4 == 0) bits[1] = bits[0];
    for (unsigned i = 0; i < 2; ++i) {
      std::memcpy(ops.lanes<std::uint8_t>(name_for(kind, i + 1)) + l * kind.bytes, &bits[i],
                  kind.bytes);
    }
  }
}

// Whether the comparison holds between part `part` of the two sources.
bool expected(OpsUnderTest& ops, const Kind& kind, std::string_view cmp, unsigned l,
              unsigned part) {
  const U64 a = lane_bits(ops, kind, 1, l) >> (16 * part);
  const U64 b = lane_bits(ops, kind, 2, l) >> (16 * part);
  if (kind.value != nullptr) return compared(cmp, kind.value(a), kind.value(b));
  if (!kind.is_signed) return compared(cmp, a, b);
  const unsigned above = 64 - 8 * kind.bytes;
  const auto number = [above](U64 bits) {
    return static_cast<std::int64_t>(bits << above) >> above;
  };
  return compared(cmp, number(a), number(b));
}

// --- setp and set --------------------------------------------------------------------------------

void expect_setp(const Kind& kind, const std::string& cmp, const std::string& combine, bool negated,
                 bool has_second) {
  const std::string text = "setp." + cmp + (combine.empty() ? "" : "." + combine) + "." +
                           kind.type + " %p0" + (has_second ? "|%p1" : "") + ", " +
                           name_for(kind, 1) + ", " + name_for(kind, 2) +
                           (combine.empty() ? ""
                            : negated       ? ", !%p0"
                                            : ", %p0") +
                           ";";
  SCOPED_TRACE(text);
  OpsUnderTest ops(text);
  ASSERT_TRUE(ops.ok());
  Numbers numbers;
  for (const Mask exec : {kAllLanes, kAllLanes, Mask{0xF0F0'0003}}) {
    fill(ops, kind, numbers);
    const auto p = ops.pred("%p0") = static_cast<Mask>(numbers.bits());
    const Mask q = has_second ? ops.pred("%p1") = static_cast<Mask>(numbers.bits()) : 0;
    ops.run(exec);
    for (unsigned l = 0; l < kLanes; ++l) {
      const bool c = has_lane(p, l) != negated;
      const bool test = expected(ops, kind, cmp, l, 0);
      const bool second = kind.parts == 2 ? expected(ops, kind, cmp, l, 1) : !test;
      const bool runs = has_lane(exec, l);
      ASSERT_EQ(has_lane(ops.pred("%p0"), l), runs ? joined(combine, test, c) : has_lane(p, l))
          << l;
      if (!has_second) continue;
      ASSERT_EQ(has_lane(ops.pred("%p1"), l), runs ? joined(combine, second, c) : has_lane(q, l));
    }
  }
}

bool may_have_second(const Kind& kind) { return kind.parts == 2 || kind.bytes != 2 || !kind.value; }

TEST(CompareOps, ComparesEveryType) {
  for (const auto* kinds : {&whole_kinds(), &float_kinds()}) {
    for (const Kind& kind : *kinds) {
      for (const std::string& cmp : comparisons(kind)) {
        expect_setp(kind, cmp, "", false, false);
        if (may_have_second(kind)) expect_setp(kind, cmp, "", false, true);
      }
    }
  }
}

TEST(CompareOps, CombinesWithAPredicate) {
  for (const auto* kinds : {&whole_kinds(), &float_kinds()}) {
    for (const Kind& kind : *kinds) {
      for (const char* combine : {"and", "or", "xor"}) {
        for (const bool negated : {false, true}) {
          expect_setp(kind, comparisons(kind).back(), combine, negated, may_have_second(kind));
        }
      }
    }
  }
}

TEST(CompareOps, DropsOneOfTwoPredicates) {
  OpsUnderTest ops("setp.lt.s32 _|%p1, %r1, 5;");
  ASSERT_TRUE(ops.ok());
  for (unsigned l = 0; l < kLanes; ++l) ops.lanes<U32>("%r1")[l] = l;
  ops.run();
  EXPECT_EQ(ops.pred("%p1"), 0xFFFF'FFE0U);
}

struct Result {
  std::string type;
  unsigned bytes;
  U64 yes;
};
std::vector<Result> results_of(const Kind& kind) {
  const bool is_brain = kind.value == bf16;
  const Result half{"f16", 2, 0x3C00}, brain{"bf16", 2, 0x3F80};
  if (kind.parts == 2)
    return {{is_brain ? "bf16x2" : "f16x2", 4, is_brain ? brain.yes : half.yes},
            {"u32", 4, 0xFFFF},
            {"s32", 4, 0xFFFF}};
  std::vector<Result> out = {{"u32", 4, 0xFFFFFFFF}, {"s32", 4, 0xFFFFFFFF}};
  if (!is_brain) out.push_back(half);
  if (!kind.type.starts_with("ftz.")) out.push_back(brain);
  if (is_brain || kind.value == f16 || kind.value == flushed16)
    out.insert(out.end(), {{"u16", 2, 0xFFFF}, {"s16", 2, 0xFFFF}});
  else
    out.push_back({"f32", 4, 0x3F800000});
  return out;
}

void expect_set(const Kind& kind, const Result& result, const std::string& cmp,
                const std::string& combine) {
  const bool ftz = kind.type.starts_with("ftz.");
  const Kind to{result.type, result.bytes, 1, nullptr};
  const std::string text =
      "set." + cmp + (combine.empty() ? "" : "." + combine) + (ftz ? ".ftz." : ".") + result.type +
      "." + kind.type.substr(ftz ? 4 : 0) + " " + name_for(to, 0) + ", " + name_for(kind, 1) +
      ", " + name_for(kind, 2) + (combine.empty() ? "" : ", %p0") + ";";
  SCOPED_TRACE(text);
  OpsUnderTest ops(text);
  ASSERT_TRUE(ops.ok());
  Numbers numbers;
  for (const Mask exec : {kAllLanes, Mask{0x0000'FFF0}}) {
    fill(ops, kind, numbers);
    const Mask c = combine.empty() ? 0 : ops.pred("%p0") = static_cast<Mask>(numbers.bits());
    U64 before[kLanes];
    for (unsigned l = 0; l < kLanes; ++l) before[l] = lane_bits(ops, to, 0, l);
    ops.run(exec);
    for (unsigned l = 0; l < kLanes; ++l) {
      U64 wanted = 0;
      for (unsigned part = 0; part < kind.parts; ++part) {
        const bool holds = joined(combine, expected(ops, kind, cmp, l, part), has_lane(c, l));
        if (holds) wanted |= result.yes << (16 * part);
      }
      ASSERT_EQ(lane_bits(ops, to, 0, l), has_lane(exec, l) ? wanted : before[l]);
    }
  }
}

TEST(CompareOps, SetsNumbersAndMasks) {
  for (const auto* kinds : {&whole_kinds(), &float_kinds()}) {
    for (const Kind& kind : *kinds) {
      for (const Result& result : results_of(kind)) {
        for (const std::string& cmp : comparisons(kind)) expect_set(kind, result, cmp, "");
        expect_set(kind, result, "ne", "and");
        expect_set(kind, result, "eq", "xor");
      }
    }
  }
}

// --- selections ----------------------------------------------------------------------------------

template <typename T>
void expect_selp(const std::string& type, bool negated) {
  const std::string a = register_name<T>(1);
  const std::string b = register_name<T>(2);
  for (const std::string& d : {register_name<T>(0), a, b}) {
    OpsUnderTest ops("selp." + type + " " + d + ", " + a + ", " + b +
                     (negated ? ", !%p0;" : ", %p0;"));
    ASSERT_TRUE(ops.ok());
    Numbers numbers;
    for (const Mask exec : {kAllLanes, Mask{0x8421'8421}}) {
      T before[kLanes];
      T values[2][kLanes];
      for (unsigned l = 0; l < kLanes; ++l) {
        values[1][l] = ops.lanes<T>(a)[l] = numbers.next<T>();
        values[0][l] = ops.lanes<T>(b)[l] = numbers.next<T>();
        before[l] = ops.lanes<T>(d)[l];
      }
      const auto c = ops.pred("%p0") = static_cast<Mask>(numbers.bits());
      ops.run(exec);
      for (unsigned l = 0; l < kLanes; ++l) {
        const T wanted = values[has_lane(c, l) != negated ? 1 : 0][l];
        ASSERT_EQ(ops.lanes<T>(d)[l], has_lane(exec, l) ? wanted : before[l]);
      }
    }
  }
}
TEST(CompareOps, SelectsByPredicate) {
  expect_selp<U16>("b16", false);
  expect_selp<U32>("f32", true);
  expect_selp<U64>("s64", false);
  expect_selp<U64>("f64", true);
}

TEST(CompareOps, SelectsBySign) {
  using S32 = std::int32_t;
  const auto by_int = [](auto a, auto b, S32 c) { return c >= 0 ? a : b; };
  expect_lanes<U16, U16, U16, S32>("slct.u16.s32", by_int);
  expect_lanes<U32, U32, U32, S32>("slct.f32.s32", by_int);
  expect_lanes<U64, U64, U64, S32>("slct.b64.s32", by_int);
  const auto by_float = [](auto a, auto b, U32 c) { return f32(c) >= 0 ? a : b; };
  const auto by_flushed = [](auto a, auto b, U32 c) { return flushed32(c) >= 0 ? a : b; };
  expect_lanes<U32, U32, U32, U32>("slct.u32.f32", by_float);
  expect_lanes<U64, U64, U64, U32>("slct.f64.f32", by_float);
  expect_lanes<U32, U32, U32, U32>("slct.ftz.s32.f32", by_flushed);
}

}  // namespace
}  // namespace ww::sim::ops_compare_test
