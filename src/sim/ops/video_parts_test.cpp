// SPDX-License-Identifier: Apache-2.0
// Video instructions on selected parts of words, against the manual's words: `%r1.b2`, `%r1.h10`,
// and results that are merged into c. 2228 such instructions gave the same bits on an H200, 64 cases
// each.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "base/wide.h"
#include "sim/ops/test_warp.h"
#include "sim/test_run.h"

namespace ww::sim::ops_video_parts_test {
namespace {

using U32 = std::uint32_t;
using Int = ww::Wide;

const std::vector<std::string> kSelections = {"", ".b0", ".b1", ".b2", ".b3", ".h0", ".h1"};

unsigned width_of(const std::string& selection) {
  return selection.empty() ? 32 : selection[1] == 'b' ? 8 : 16;
}
unsigned first_of(const std::string& selection) {
  return selection.empty() ? 0 : width_of(selection) * static_cast<unsigned>(selection[2] - '0');
}
Int bits_of(U32 word, unsigned first, unsigned width, bool is_signed) {
  const Int value = (Int{word} >> first) % (Int{1} << width);
  return is_signed && value >= Int{1} << (width - 1) ? value - (Int{1} << width) : value;
}
Int selected(U32 word, const std::string& selection, bool is_signed) {
  return bits_of(word, first_of(selection), width_of(selection), is_signed);
}
// `word` with the low part of the value in place of the part.
U32 merged(U32 word, const std::string& selection, Int value) {
  const Int part = (Int{1} << width_of(selection)) - 1;
  const Int cut = ((value % (part + 1)) + part + 1) % (part + 1);
  const Int rest = Int{word} - selected(word, selection, false) * (Int{1} << first_of(selection));
  return static_cast<U32>(rest + cut * (Int{1} << first_of(selection)));
}

using Expected = std::function<U32(U32 a, U32 b, U32 c)>;

// Runs `opcode d, a, b[, c]` on registers with selections and compares all lanes.
void expect_parts(const std::string& opcode, const std::string& d, const std::string& a,
                  const std::string& b, bool has_c, const Expected& expected) {
  const std::string text =
      opcode + " %r0" + d + ", %r1" + a + ", %r2" + b + (has_c ? ", %r3" : "") + ";";
  SCOPED_TRACE(text);
  OpsUnderTest ops(text);
  if (!ops.ok()) return;
  static Numbers numbers;
  U32 wanted[kLanes];
  for (unsigned l = 0; l < kLanes; ++l) {
    const U32 x = numbers.next<U32>(), y = numbers.next<U32>(), z = numbers.next<U32>();
    ops.lanes<U32>("%r1" + a)[l] = x;
    ops.lanes<U32>("%r2" + b)[l] = y;
    if (has_c) ops.lanes<U32>("%r3")[l] = z;
    wanted[l] = expected(x, y, z);
  }
  ops.run(kAllLanes);
  for (unsigned l = 0; l < kLanes; ++l) ASSERT_EQ(ops.lanes<U32>("%r0" + d)[l], wanted[l]) << l;
}

TEST(VideoParts, SourcesOfWords) {
  for (const std::string& a : kSelections)
    for (const std::string& b : kSelections) {
      expect_parts("vadd.s32.s32.u32", "", a, b, false, [&](U32 x, U32 y, U32) {
        return static_cast<U32>(selected(x, a, true) + selected(y, b, false));
      });
      expect_parts("vabsdiff.u32.u32.s32.add", "", a, b, true, [&](U32 x, U32 y, U32 z) {
        const Int distance = selected(x, a, false) - selected(y, b, true);
        return static_cast<U32>((distance < 0 ? -distance : distance) + z);
      });
      expect_parts("vset.s32.s32.lt", "", a, b, false, [&](U32 x, U32 y, U32) {
        return selected(x, a, true) < selected(y, b, true) ? 1U : 0U;
      });
      expect_parts("vmad.s32.s32.s32.shr7", "", a, b, true, [&](U32 x, U32 y, U32 z) {
        return static_cast<U32>(
            (selected(x, a, true) * selected(y, b, true) + bits_of(z, 0, 32, true)) >> 7);
      });
      expect_parts("vshr.s32.s32.u32.clamp", "", a, b, false, [&](U32 x, U32 y, U32) {
        return static_cast<U32>(selected(x, a, true) >>
                                static_cast<int>(std::min(selected(y, b, false), Int{32})));
      });
    }
}

TEST(VideoParts, ResultsAreMergedIntoC) {
  for (const std::string& d : kSelections)
    for (const std::string& a : kSelections) {
      if (d == ".h1") continue;  // refused, below
      expect_parts("vsub.s32.s32.s32", d, a, ".b1", true, [&](U32 x, U32 y, U32 z) {
        return merged(z, d, selected(x, a, true) - selected(y, ".b1", true));
      });
      expect_parts("vset.u32.u32.ge", d, a, "", true, [&](U32 x, U32 y, U32 z) {
        return merged(z, d, selected(x, a, false) >= Int{y} ? 1 : 0);
      });
      expect_parts("vshl.u32.u32.u32.wrap", d, a, ".b0", true, [&](U32 x, U32 y, U32 z) {
        return merged(z, d, selected(x, a, false) << static_cast<int>(y % 32));
      });
    }
}

// A number of two halves or four bytes of a and b, as its digit says.
Int listed(U32 a, U32 b, char digit, unsigned parts, bool is_signed) {
  const auto number = static_cast<unsigned>(digit - '0');
  const unsigned width = 32 / parts;
  return bits_of(number < parts ? a : b, number % parts * width, width, is_signed);
}

void expect_lists(unsigned parts, const std::string& mask, const std::string& a,
                  const std::string& b) {
  const unsigned width = 32 / parts;
  const std::string letter = parts == 2 ? ".h" : ".b";
  const std::string count = std::to_string(parts);
  const auto difference = [&](U32 x, U32 y, unsigned i) {
    return listed(x, y, a[parts - 1 - i], parts, true) -
           listed(x, y, b[parts - 1 - i], parts, false);
  };
  const auto writes = [&](unsigned i) { return mask.contains(static_cast<char>('0' + i)); };
  expect_parts("vsub" + count + ".s32.s32.u32", letter + mask, letter + a, letter + b, true,
               [&](U32 x, U32 y, U32 z) {
                 for (unsigned i = 0; i < parts; ++i)
                   if (writes(i)) z = merged(z, letter + std::to_string(i), difference(x, y, i));
                 return z;
               });
  expect_parts("vsub" + count + ".s32.s32.u32.sat", letter + mask, letter + a, letter + b, true,
               [&](U32 x, U32 y, U32 z) {
                 const Int most = (Int{1} << (width - 1)) - 1;
                 for (unsigned i = 0; i < parts; ++i)
                   if (writes(i))
                     z = merged(z, letter + std::to_string(i),
                                std::clamp(difference(x, y, i), -most - 1, most));
                 return z;
               });
  expect_parts("vsub" + count + ".s32.s32.u32.add", letter + mask, letter + a, letter + b, true,
               [&](U32 x, U32 y, U32 z) {
                 Int sum = z;
                 for (unsigned i = 0; i < parts; ++i)
                   if (writes(i)) sum += difference(x, y, i);
                 return static_cast<U32>(sum);
               });
}

TEST(VideoParts, ListsTakePartsOfBothWords) {
  for (const std::string mask : {"0", "1", "10"})
    for (const std::string a : {"10", "32", "03", "22"})
      for (const std::string b : {"32", "01", "13"}) expect_lists(2, mask, a, b);
  for (const std::string mask : {"0", "3", "20", "321", "3210"})
    for (const std::string a : {"3210", "7654", "0706", "4444"})
      for (const std::string b : {"7654", "0123", "5172"}) expect_lists(4, mask, a, b);
}

TEST(VideoParts, WhatNoAssemblerTakes) {
  const std::pair<std::string, std::string> kCases[] = {
      {"vadd.u32.u32.u32 %r0, %r1.b4, %r2;",
       "`%r1.b4` selects `.b4`; operand `a` of `vadd` takes `.b0` to `.b3`, `.h0`, `.h1`"},
      {"vadd.u32.u32.u32 %r0.b0, %r1, %r2;",
       "operand `d` of `vadd` is a part of a register, a register is wanted"},
      {"vadd.u32.u32.u32.add %r0.b0, %r1, %r2, %r3;",
       "operand `d` of `vadd` is a part of a register, a register is wanted"},
      {"vadd.u32.u32.u32.add %r0, %r1, %r2, %r3.b0;",
       "operand `c` of `vadd` is a part of a register"},
      {"vmad.u32.u32.u32 %r0.h0, %r1, %r2, %r3;", "operand `d` of `vmad` is a part of a register"},
      {"vadd2.u32.u32.u32 %r0, %r1.h1, %r2, %r3;", "takes `.hXY` with digits from 0 to 3"},
      {"vadd2.u32.u32.u32 %r0.h01, %r1, %r2, %r3;", "takes `.h0`, `.h1`, `.h10`"},
      {"vadd4.u32.u32.u32 %r0, %r1.b8210, %r2, %r3;", "takes `.bXYZW` with digits from 0 to 7"},
      {"vadd4.u32.u32.u32 %r0.b02, %r1, %r2, %r3;",
       "takes `.b` and some of 3, 2, 1, 0 in this order"},
      {"add.u32 %r0, %r1.b2, %r2;", "operand `a` of `add` is a part of a register"},
      {"vadd.u32.u32.u32 %r0, %r1.b2+4, %r2;", "found `+`"},
      {"ld.shared.u32 %r0, [%r1.b0];", "a part of a register is not an address"},
      {"vadd.u32.u32.u32 %r0, %d1.b0, %r2;", "`%d1.b0` is not declared"},
  };
  for (const auto& [text, wanted] : kCases) {
    const std::string errors = TestRun(text, 0).errors();
    EXPECT_TRUE(errors.contains(wanted)) << text << '\n' << errors;
  }
}

// ptxas clamps there as if the type were unsigned and differences never negative, and writes the upper
// half of the value to `.h1`.
TEST(VideoParts, RefuseWhatTheAssemblerDoesOtherwise) {
  for (const std::string text :
       {"vsub.s32.s32.s32.sat %r1.h0, %r2, %r2, %r2;", "vadd.u32.u32.u32 %r1.h1, %r2, %r2, %r2;",
        "vadd.u32.s32.s32.sat %r1.b0, %r2.b1, %r2, %r2;"})
    EXPECT_TRUE(TestRun("mov.b32 %r2, 0; " + text, 0)
                    .errors()
                    .contains("the assembler emits other arithmetic"))
        << text;
}

// What is left of c must be defined; what it gives way to need not.
TEST(VideoParts, UseOfTheThirdSource) {
  const auto undefined = [](const std::string& text) {
    TestRun run("mov.b32 %r2, 1; " + text + " st.global.b32 [%a0], %r1;", 1);
    run.output<U32>(1).run();
    return run.count(Check::Uninit);
  };
  EXPECT_EQ(undefined("vadd.u32.u32.u32 %r1.b0, %r2, %r2, %r3;"), 1U);
  EXPECT_EQ(undefined("vadd.u32.u32.u32 %r1, %r2, %r2, %r3;"), 0U);
  EXPECT_EQ(undefined("vadd4.u32.u32.u32 %r1.b210, %r2, %r2, %r3;"), 1U);
  EXPECT_EQ(undefined("vadd4.u32.u32.u32 %r1.b3210, %r2, %r2, %r3;"), 0U);
}

}  // namespace
}  // namespace ww::sim::ops_video_parts_test
