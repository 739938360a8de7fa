// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "soak/examine.h"

namespace ww::test::folds_test {
namespace {

WholeProgram folds_of(std::uint64_t seed, std::uint64_t number) {
  return whole_program(whole_choices(seed, number, ProgramKind::Fold));
}

// A barrier that the compiler leaves out is a find, unless the one thread writes what is there already. Both
// kinds are met often: of a unit, and of warps.
TEST(FoldSoak, NoticesAMissingBarrier) {
  std::size_t of_warps = 0, of_units = 0;
  for (std::uint64_t number = 0; number < 400 && (of_warps < 2 || of_units < 2); ++number) {
    WholeProgram made = folds_of(1, number);
    const Examined right = examine(made);
    EXPECT_FALSE(right.is_find) << right.explanation;
    made.program.edits = without_in_place_barrier(right.checked.ptx);
    if (made.program.edits.empty()) continue;
    const Examined wrong = examine(made);
    if (!wrong.is_find) continue;
    // Without a barrier behind it, an mbarrier can be met before its init.
    EXPECT_TRUE(wrong.checked.why.starts_with("race: ") ||
                wrong.checked.why.starts_with("barrier: "))
        << wrong.checked.why;
    ++(made.program.edits[0].first.starts_with("\tbar.warp") ? of_warps : of_units);
  }
  EXPECT_GE(of_warps, 2U);
  EXPECT_GE(of_units, 2U);
}

TEST(FoldSoak, SeedAndNumberDecide) {
  std::uint64_t hash = 0xCBF2'9CE4'8422'2325U;  // FNV-1a
  for (std::uint64_t number = 0; number < 300; ++number)
    for (const char c : folds_of(1, number).program.source)
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100'0000'01B3U;
  EXPECT_EQ(hash, 18431380584510264279U);
}

}  // namespace
}  // namespace ww::test::folds_test
