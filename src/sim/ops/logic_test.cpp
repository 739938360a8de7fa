// SPDX-License-Identifier: Apache-2.0
// Logic and shifts, bit by bit.
#include <gtest/gtest.h>

#include <algorithm>

#include "sim/ops/test_warp.h"

namespace ww::sim::ops_logic_test {
namespace {

using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

template <typename T>
void expect_logic(const std::string& type) {
  expect_lanes<T, T, T>("and." + type, [](T a, T b) { return static_cast<T>(a & b); });
  expect_lanes<T, T, T>("or." + type, [](T a, T b) { return static_cast<T>(a | b); });
  expect_lanes<T, T, T>("xor." + type, [](T a, T b) { return static_cast<T>(a ^ b); });
  expect_lanes<T, T>("not." + type, [](T a) { return static_cast<T>(~a); });
  expect_lanes<T, T>("cnot." + type, [](T a) { return static_cast<T>(a == 0); });
}
TEST(LogicOps, CombinesBits) {
  expect_logic<U16>("b16");
  expect_logic<U32>("b32");
  expect_logic<U64>("b64");
  expect_lanes<U32, U32>(
      "and.b32", [](U32 a) { return a & 0xFFU; }, ", 255");
}

struct PredCase {
  std::string text;  // of %p1 and %p2 into %p0
  Mask (*expected)(Mask a, Mask b);
};
TEST(LogicOps, CombinesPredicates) {
  const PredCase cases[] = {
      {"and.pred %p0, %p1, %p2;", [](Mask a, Mask b) { return a & b; }},
      {"or.pred %p0, %p1, %p2;", [](Mask a, Mask b) { return a | b; }},
      {"xor.pred %p0, %p1, %p2;", [](Mask a, Mask b) { return a ^ b; }},
      {"xor.pred %p0, %p2, %p2; not.pred %p0, %p1;", [](Mask a, Mask) { return ~a; }},
      {"and.pred %p0, !%p1, %p2;", [](Mask a, Mask b) { return ~a & b; }},
      {"or.pred %p0, %p1, !%p2;", [](Mask a, Mask b) { return a | ~b; }},
      {"or.pred %p0, %p2, %p1; not.pred %p0, !%p0;", [](Mask a, Mask b) { return a | b; }},
  };
  Numbers numbers;
  for (const PredCase& it : cases) {
    SCOPED_TRACE(it.text);
    OpsUnderTest ops(it.text);
    ASSERT_TRUE(ops.ok());
    for (const Mask exec : {kAllLanes, Mask{0xFF00'0F01}}) {
      const auto a = ops.pred("%p1") = static_cast<Mask>(numbers.bits());
      const auto b = ops.pred("%p2") = static_cast<Mask>(numbers.bits());
      const auto before = ops.pred("%p0") = static_cast<Mask>(numbers.bits());
      ops.run(exec);
      EXPECT_EQ(ops.pred("%p0"), (it.expected(a, b) & exec) | (before & ~exec));
    }
  }
}

// --- lop3 ----------------------------------------------------------------------------------------

U32 looked_up(unsigned table, U32 a, U32 b, U32 c) {
  U32 result = 0;
  for (unsigned i = 0; i < 32; ++i) {
    const unsigned row = 4 * ((a >> i) & 1U) + 2 * ((b >> i) & 1U) + ((c >> i) & 1U);
    result |= ((table >> row) & 1U) << i;
  }
  return result;
}

TEST(LogicOps, LooksUpThreeBits) {
  for (unsigned table = 0; table < 256; ++table) {
    expect_lanes<U32, U32, U32, U32>(
        "lop3.b32", [table](U32 a, U32 b, U32 c) { return looked_up(table, a, b, c); },
        ", " + std::to_string(table));
  }
}

TEST(LogicOps, LooksUpThreeBitsAndTells) {
  for (const bool is_and : {false, true}) {
    for (const bool is_negated : {false, true}) {
      OpsUnderTest ops(std::string(is_and ? "lop3.and" : "lop3.or") +
                       ".b32 %r0|%p0, %r1, %r2, %r3, 128, " + (is_negated ? "!" : "") + "%p1;");
      ASSERT_TRUE(ops.ok());
      Numbers numbers;
      for (unsigned l = 0; l < kLanes; ++l) {
        for (const char* name : {"%r1", "%r2", "%r3"}) {
          ops.lanes<U32>(name)[l] = numbers.next<U32>() & (l % 3 == 0 ? 1U << l : kAllLanes);
        }
      }
      const auto q = ops.pred("%p1") = static_cast<Mask>(numbers.bits());
      ops.run();
      for (unsigned l = 0; l < kLanes; ++l) {
        const U32 wanted =
            ops.lanes<U32>("%r1")[l] & ops.lanes<U32>("%r2")[l] & ops.lanes<U32>("%r3")[l];
        const bool other = has_lane(q, l) != is_negated;
        EXPECT_EQ(ops.lanes<U32>("%r0")[l], wanted);
        EXPECT_EQ(has_lane(ops.pred("%p0"), l),
                  is_and ? wanted != 0 && other : wanted != 0 || other);
      }
    }
  }
}

TEST(LogicOps, DropsTheLookedUpWord) {
  OpsUnderTest ops("lop3.or.b32 _|%p0, %r1, %r1, %r1, 128, %p1;");
  ASSERT_TRUE(ops.ok());
  ops.pred("%p1") = 0;
  for (unsigned l = 0; l < kLanes; ++l) ops.lanes<U32>("%r1")[l] = l / 8;
  ops.run();
  EXPECT_EQ(ops.pred("%p0"), 0xFFFF'FF00U);
}

// --- shifts --------------------------------------------------------------------------------------

template <typename T>
bool bit(T value, std::int64_t i) {
  return ((static_cast<U64>(value) >> i) & 1U) != 0;
}
template <typename T>
T shifted(T a, std::int64_t left, bool fill) {
  constexpr std::int64_t kWidth = 8 * sizeof(T);
  U64 result = 0;
  for (std::int64_t i = 0; i < kWidth; ++i) {
    const std::int64_t from = i - left;
    const bool one = from >= kWidth ? fill : from >= 0 && bit(a, from);
    result |= static_cast<U64>(one) << i;
  }
  return static_cast<T>(result);
}

template <typename T>
void expect_shift(const std::string& opcode, std::int64_t direction) {
  const auto expected = [=](T a, U32 n) {
    return shifted(a, direction * std::int64_t{n}, std::is_signed_v<T> && a < 0);
  };
  expect_lanes<T, T, U32>(opcode, expected);
  for (const U32 n : {0U, 1U, 8U, 15U, 16U, 31U, 32U, 63U, 64U, 255U, 256U, 0x80000003U}) {
    expect_lanes<T, T>(
        opcode, [&](T a) { return expected(a, n); }, ", " + std::to_string(n));
  }
}
TEST(LogicOps, ShiftsAndClamps) {
  expect_shift<U16>("shl.b16", 1);
  expect_shift<U32>("shl.b32", 1);
  expect_shift<U64>("shl.b64", 1);
  expect_shift<U16>("shr.b16", -1);
  expect_shift<U32>("shr.b32", -1);
  expect_shift<U64>("shr.b64", -1);
  expect_shift<U16>("shr.u16", -1);
  expect_shift<U32>("shr.u32", -1);
  expect_shift<U64>("shr.u64", -1);
  expect_shift<std::int16_t>("shr.s16", -1);
  expect_shift<std::int32_t>("shr.s32", -1);
  expect_shift<std::int64_t>("shr.s64", -1);
}

TEST(LogicOps, ShiftsPairsOfWords) {
  for (const bool is_left : {false, true}) {
    for (const bool wraps : {false, true}) {
      const std::string opcode =
          std::string("shf.") + (is_left ? "l" : "r") + (wraps ? ".wrap" : ".clamp") + ".b32";
      const auto expected = [=](U32 a, U32 b, U32 c) {
        const U32 n = wraps ? c % 32 : std::min(c, 32U);
        if (n == 0) return is_left ? b : a;
        if (n == 32) return is_left ? a : b;
        return is_left ? b << n | a >> (32 - n) : b << (32 - n) | a >> n;
      };
      expect_lanes<U32, U32, U32, U32>(opcode, expected);
      for (const U32 n : {0U, 7U, 16U, 32U, 35U}) {
        expect_lanes<U32, U32, U32>(
            opcode, [&](U32 a, U32 b) { return expected(a, b, n); }, ", " + std::to_string(n));
      }
    }
  }
}

}  // namespace
}  // namespace ww::sim::ops_logic_test
