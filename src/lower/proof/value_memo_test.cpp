// SPDX-License-Identifier: Apache-2.0
// Values are computed once, and again when a variable that they were computed from has changed.
#include "lower/proof/values.h"

#include <gtest/gtest.h>

namespace ww::lower::value_memo_test {
namespace {

constexpr ir::VarId kX{0}, kY{1};
constexpr std::uint32_t kReadsX = 1, kReadsBoth = 2;

/// Of two expressions: x, and x + y. A variable below 0 cannot be computed with.
struct Sums {
  ValueMemo memo = {};
  std::int64_t x = 3, y = 4;
  int computed = 0;

  Try<const PerUnit*> of_x() {
    return memo.value(kReadsX, [&]() -> Try<PerUnit> {
      ++computed;
      memo.note_read(kX);
      if (x < 0) return unknown("x");
      return PerUnit(2, x);
    });
  }
  Try<const PerUnit*> of_both() {
    return memo.value(kReadsBoth, [&]() -> Try<PerUnit> {
      const PerUnit& left = *WW_TRY(of_x());
      ++computed;
      memo.note_read(kY);
      return left.plus(PerUnit(2, y));
    });
  }
};

TEST(ValueMemo, ComputesOnce) {
  Sums sums;
  const auto sum = sums.of_both();
  ASSERT_TRUE(sum);
  EXPECT_EQ((*sum)->front(), 7);
  EXPECT_EQ(*sums.of_both(), *sum);
  EXPECT_EQ((*sums.of_x())->front(), 3);
  EXPECT_EQ(sums.computed, 2);
}

TEST(ValueMemo, ForgetsWhatReadsAVariable) {
  Sums sums;
  ASSERT_TRUE(sums.of_x());
  ASSERT_TRUE(sums.of_both());  // and so reads x by a value that was known
  sums.y = 5;
  sums.memo.forget(kY);
  EXPECT_EQ((*sums.of_both())->front(), 8);
  EXPECT_EQ(sums.computed, 3);
  sums.x = 1;
  sums.memo.forget(kX);
  EXPECT_EQ((*sums.of_both())->front(), 6);
  EXPECT_EQ(sums.computed, 5);
  sums.memo.forget_all();
  EXPECT_EQ((*sums.of_both())->front(), 6);
  EXPECT_EQ(sums.computed, 7);
}

TEST(ValueMemo, DoesNotRememberFailures) {
  Sums sums;
  sums.x = -1;
  EXPECT_FALSE(sums.of_both());
  sums.x = 2;
  EXPECT_EQ((*sums.of_both())->front(), 6);
}

// As a load does whose index is not known.
TEST(ValueMemo, ForgetsWhatWasMadeWithoutAPartThatFailed) {
  Sums sums;
  const auto either = [&] {
    return sums.memo.value(3, [&]() -> Try<PerUnit> {
      const auto part = sums.of_x();
      return part ? **part : PerUnit(2, 100);
    });
  };
  sums.x = -1;
  EXPECT_EQ((*either())->front(), 100);
  sums.x = 2;
  sums.memo.forget(kX);
  EXPECT_EQ((*either())->front(), 2);
}

}  // namespace
}  // namespace ww::lower::value_memo_test
