// SPDX-License-Identifier: Apache-2.0
// Video instructions against the manual's words, part by part in 128-bit arithmetic. All forms that are
// simulated gave the same bits on an H200, 2048 cases each.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/wide.h"
#include "sim/ops/test_warp.h"
#include "sim/test_run.h"

namespace ww::sim::ops_video_test {
namespace {

using U32 = std::uint32_t;
using Int = ww::Wide;

// Part `i` of a word of so many bits each.
Int part_of(U32 word, unsigned i, unsigned bits, bool is_signed) {
  const Int value = (Int{word} >> (i * bits)) % (Int{1} << bits);
  return is_signed && value >= Int{1} << (bits - 1) ? value - (Int{1} << bits) : value;
}

Int exact(const std::string& op, Int a, Int b) {
  if (op == "vadd") return a + b;
  if (op == "vsub") return a - b;
  if (op == "vabsdiff") return a > b ? a - b : b - a;
  if (op == "vmin") return std::min(a, b);
  if (op == "vmax") return std::max(a, b);
  // vavrg rounds halves away from minus infinity, but for negative sums
  const Int sum = a + b;
  return sum >= 0 ? (sum + 1) / 2 : -((-sum + 1) / 2);
}

Int clamped(Int value, unsigned bits, bool is_signed) {
  const Int most = (Int{1} << (is_signed ? bits - 1 : bits)) - 1;
  const Int least = is_signed ? -most - 1 : Int{0};
  return std::clamp(value, least, most);
}

struct Signs {
  bool d, a, b;
};
constexpr Signs kSigns[] = {{false, false, false}, {true, true, true},  {true, false, true},
                            {false, true, false},  {false, true, true}, {true, true, false}};

std::string types_of(const Signs& signs) {
  const auto word = [](bool is_signed) { return is_signed ? ".s32" : ".u32"; };
  return std::string(word(signs.d)) + word(signs.a) + word(signs.b);
}

TEST(VideoOps, WorkOnHalvesAndBytes) {
  for (const std::string op : {"vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax"})
    for (const unsigned parts : {2U, 4U})
      for (const Signs& signs : kSigns)
        for (const bool saturates : {false, true}) {
          const unsigned bits = 32 / parts;
          const std::string opcode =
              op + std::to_string(parts) + types_of(signs) + (saturates ? ".sat" : "");
          expect_lanes<U32, U32, U32, U32>(opcode, [&](U32 a, U32 b, U32) {
            U32 packed = 0;
            for (unsigned i = 0; i < parts; ++i) {
              Int value = exact(op, part_of(a, i, bits, signs.a), part_of(b, i, bits, signs.b));
              if (saturates) value = clamped(value, bits, signs.d);
              const auto cut = static_cast<U32>(value) & ((1U << bits) - 1U);
              packed |= cut << (i * bits);
            }
            return packed;
          });
        }
}

TEST(VideoOps, AddUpParts) {
  for (const std::string op : {"vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax"})
    for (const unsigned parts : {2U, 4U})
      for (const Signs& signs : kSigns) {
        const unsigned bits = 32 / parts;
        expect_lanes<U32, U32, U32, U32>(
            op + std::to_string(parts) + types_of(signs) + ".add", [&](U32 a, U32 b, U32 c) {
              Int sum = c;
              for (unsigned i = 0; i < parts; ++i)
                sum += exact(op, part_of(a, i, bits, signs.a), part_of(b, i, bits, signs.b));
              return static_cast<U32>(sum);
            });
      }
}

TEST(VideoOps, CompareParts) {
  expect_lanes<U32, U32, U32, U32>("vset4.s32.u32.lt", [](U32 a, U32 b, U32) {
    U32 out = 0;
    for (unsigned i = 0; i < 4; ++i)
      if (part_of(a, i, 8, true) < part_of(b, i, 8, false)) out |= 1U << (8 * i);
    return out;
  });
  expect_lanes<U32, U32, U32, U32>("vset2.u32.u32.ge.add", [](U32 a, U32 b, U32 c) {
    for (unsigned i = 0; i < 2; ++i) c += part_of(a, i, 16, false) >= part_of(b, i, 16, false);
    return c;
  });
}

TEST(VideoOps, WorkOnWords) {
  for (const std::string op : {"vadd", "vsub", "vabsdiff", "vmin", "vmax"})
    for (const Signs& signs : kSigns) {
      const auto value = [&](U32 a, U32 b) {
        return exact(op, part_of(a, 0, 32, signs.a), part_of(b, 0, 32, signs.b));
      };
      expect_lanes<U32, U32, U32>(op + types_of(signs),
                                  [&](U32 a, U32 b) { return static_cast<U32>(value(a, b)); });
      expect_lanes<U32, U32, U32, U32>(op + types_of(signs) + ".add", [&](U32 a, U32 b, U32 c) {
        return static_cast<U32>(value(a, b) + c);
      });
      if (!signs.d) continue;
      expect_lanes<U32, U32, U32>(op + types_of(signs) + ".sat", [&](U32 a, U32 b) {
        return static_cast<U32>(clamped(value(a, b), 32, true));
      });
    }
}

TEST(VideoOps, ShiftMultiplyAndCompareWords) {
  expect_lanes<U32, U32, U32>("vshl.u32.u32.u32.clamp",
                              [](U32 a, U32 b) { return b >= 32 ? 0U : a << b; });
  expect_lanes<U32, U32, U32>("vshl.u32.u32.u32.wrap", [](U32 a, U32 b) { return a << (b % 32); });
  expect_lanes<U32, U32, U32>("vshr.s32.s32.u32.clamp", [](U32 a, U32 b) {
    return static_cast<U32>(part_of(a, 0, 32, true) >> std::min(b, 32U));
  });
  expect_lanes<U32, U32, U32, U32>("vmad.s32.s32.s32.sat.shr7", [](U32 a, U32 b, U32 c) {
    const Int sum = part_of(a, 0, 32, true) * part_of(b, 0, 32, true) + part_of(c, 0, 32, true);
    return static_cast<U32>(clamped(sum >> 7, 32, true));
  });
  expect_lanes<U32, U32, U32, U32>("vmad.u32.u32.u32",
                                   [](U32 a, U32 b, U32 c) { return a * b + c; });
  expect_lanes<U32, U32, U32>("vset.s32.u32.gt", [](U32 a, U32 b) {
    return part_of(a, 0, 32, true) > part_of(b, 0, 32, false) ? 1U : 0U;
  });
}

// What ptxas does there is not what the manual says.
TEST(VideoOps, RefuseWhatTheAssemblerDoesOtherwise) {
  for (const std::string text :
       {"vadd.u32.u32.u32.sat %r1, %r2, %r3;", "vshl.s32.s32.u32.sat.wrap %r1, %r2, %r3;",
        "vmin.s32.s32.s32.max %r1, %r2, %r3, %r4;", "vmad.u32.u32.u32.shr7 %r1, %r2, %r3, %r4;"})
    EXPECT_NE(TestRun("mov.b32 %r2, 0; mov.b32 %r3, 0; mov.b32 %r4, 0; " + text, 0)
                  .errors()
                  .find("the assembler emits other arithmetic"),
              std::string::npos)
        << text;
}

// Where the parts fill the word, nothing of c is left, and it may be undefined.
TEST(VideoOps, UseOfTheThirdSource) {
  TestRun packed("mov.b32 %r2, 1; vadd4.u32.u32.u32 %r1, %r2, %r2, %r3; st.global.b32 [%a0], %r1;",
                 1);
  packed.output<U32>(1).run();
  EXPECT_EQ(packed.findings(), "");
  TestRun added(
      "mov.b32 %r2, 1; vadd4.u32.u32.u32.add %r1, %r2, %r2, %r3; st.global.b32 [%a0], %r1;", 1);
  added.output<U32>(1).run();
  EXPECT_EQ(added.count(Check::Uninit), 1U);
}

}  // namespace
}  // namespace ww::sim::ops_video_test
