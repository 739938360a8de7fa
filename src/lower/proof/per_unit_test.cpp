// SPDX-License-Identifier: Apache-2.0
// Numbers of all threads are the same however they are held.
#include "lower/proof/per_unit.h"

#include <gtest/gtest.h>

#include <limits>

namespace ww::lower {
namespace {

using Int = std::int64_t;
using Ints = std::vector<Int>;
constexpr Int kMaxInt = std::numeric_limits<Int>::max();
constexpr Int kMost32 = std::numeric_limits<std::int32_t>::max();

const PerUnit kThree(4, 3);
const PerUnit kThreads{Ints{0, 1, 2, 3}};
const PerUnit kOthers{Ints{7, -5, 0, 9}};

TEST(PerUnit, HoldsWhatIsTheSameOnce) {
  EXPECT_TRUE(kThree.is_uniform());
  EXPECT_TRUE(PerUnit(Ints{5, 5, 5}).is_uniform());
  EXPECT_FALSE(kThreads.is_uniform());
  EXPECT_EQ(kThree.distinct(), 1);
  EXPECT_EQ(kThreads.distinct(), 4);
  EXPECT_EQ(kThree.expanded(), (Ints{3, 3, 3, 3}));
  EXPECT_EQ(PerUnit(Ints{5, 5, 5}).expanded(), (Ints{5, 5, 5}));
}

TEST(PerUnit, AddsAndMultiplies) {
  EXPECT_EQ(kThree.plus(kThreads, 10).expanded(), (Ints{3, 13, 23, 33}));
  EXPECT_EQ(kThreads.plus(kThree, -2).expanded(), (Ints{-6, -5, -4, -3}));
  EXPECT_EQ(kThreads.plus(kOthers).expanded(), (Ints{7, -4, 2, 12}));
  EXPECT_EQ(kThreads.times(16).plus(kThree).plus(kThreads, 4).expanded(), (Ints{3, 23, 43, 63}));
  EXPECT_TRUE(kThreads.times(3).plus(kThreads, -3).is_uniform());
  EXPECT_TRUE(kThreads.times(0).is_uniform());
}

TEST(PerUnit, KeepsACopyWhenTheOtherChanges) {
  PerUnit copy = kThreads;
  const PerUnit moved = std::move(copy);
  copy = PerUnit(4, 1);
  EXPECT_EQ(moved, kThreads);
  EXPECT_EQ(copy.expanded(), (Ints{1, 1, 1, 1}));
  copy = moved.plus(copy);
  EXPECT_EQ(copy.expanded(), (Ints{1, 2, 3, 4}));
  EXPECT_EQ(kThreads.expanded(), (Ints{0, 1, 2, 3}));
}

TEST(PerUnit, DividesTowardsZero) {
  EXPECT_EQ(kThreads.times(16).plus(PerUnit(4, -8)).divided_by(8).expanded(), (Ints{-1, 1, 3, 5}));
  EXPECT_EQ(kThreads.times(3).plus(PerUnit(4, -4)).divided_by(2).expanded(), (Ints{-2, 0, 1, 2}));
  EXPECT_EQ(PerUnit(4, -7).divided_by(2).expanded(), (Ints{-3, -3, -3, -3}));
}

TEST(PerUnit, KnowsItsBounds) {
  EXPECT_EQ(kThreads.times(-4).plus(kThree).bounds(), (std::pair<Int, Int>(-9, 3)));
  EXPECT_FALSE(kThreads.times(kMaxInt).bounds().has_value());
  EXPECT_TRUE(kOthers.is_within(-5, 9));
  EXPECT_FALSE(kOthers.is_within(-4, 9));
}

TEST(PerUnit, KnowsItsDivisors) {
  EXPECT_TRUE(kThreads.times(16).plus(PerUnit(4, 8)).is_multiple_of(8));
  EXPECT_FALSE(kThreads.times(16).plus(PerUnit(4, 8)).is_multiple_of(16));
  EXPECT_TRUE(PerUnit(Ints{0, 6, -12, 18}).is_multiple_of(6));  // of its values, not of its scale
  EXPECT_TRUE(PerUnit(4, -32).is_multiple_of(16));
  EXPECT_FALSE(kThreads.is_multiple_of(2));
}

TEST(PerUnit, IsReadAsItIsHeld) {
  const PerUnit values = kThreads.times(3).plus(kThree);
  const PerUnit::Reader reader(values), uniform(kThree);
  for (std::size_t t = 0; t < 4; ++t) {
    EXPECT_EQ(reader[t], values[t]);
    EXPECT_EQ(uniform[t], 3);
  }
  EXPECT_TRUE(values.is_held_like(kThreads.times(3).plus(kThree)));
  EXPECT_FALSE(values.is_held_like(kThreads.times(3)));
  EXPECT_TRUE(values.shares_table(kThreads));
  EXPECT_EQ(values.identity(), PerUnit(values).identity());
}

TEST(PerUnit, IsEqualByValue) {
  EXPECT_EQ(kThreads, PerUnit(Ints{0, 1, 2, 3}));
  EXPECT_EQ(kThreads.times(2), PerUnit(Ints{0, 2, 4, 6}));
  EXPECT_FALSE(kThreads == kOthers);
  EXPECT_FALSE(PerUnit(3, 0) == PerUnit(4, 0));
}

// The table may stay only where no thread's sum leaves int32.
TEST(PerUnit, WrapsEachThreadByItself) {
  const auto add = [](const PerUnit& a, Int b) {
    return unit_operated(ir::ExprOp::Add, num::DType::Int32, num::DType::Int32, a, PerUnit(4, b))
        ->expanded();
  };
  EXPECT_EQ(add(kThreads, kMost32 - 3), (Ints{kMost32 - 3, kMost32 - 2, kMost32 - 1, kMost32}));
  EXPECT_EQ(add(kThreads, kMost32 - 1), (Ints{kMost32 - 1, kMost32, -kMost32 - 1, -kMost32}));
}

// Against one thread at a time, for operands with and without a table.
TEST(PerUnit, OperatesOnEachThread) {
  const PerUnit sides[] = {kThree,        kThreads,          kOthers,
                           PerUnit(4, 8), kThreads.times(3), kOthers.times(-(Int{1} << 31))};
  using enum ir::ExprOp;
  for (const ir::ExprOp op : {Add, Sub, Mul, BitXor, Lt, Ge, FloorDiv, FloorMod})
    for (const num::DType type : {num::DType::Int32, num::DType::Int64})
      for (const PerUnit& a : sides)
        for (const PerUnit& b : sides) {
          const num::DType result = op == Lt || op == Ge ? num::DType::Bool : type;
          const auto all = unit_operated(op, type, result, a, b);
          for (std::size_t t = 0; all && t < 4; ++t)
            EXPECT_EQ((*all)[t],
                      unit_operated(op, type, result, PerUnit(1, a[t]), PerUnit(1, b[t]))->front())
                << ir::name_of(op) << " of " << a[t] << " and " << b[t];
        }
}

}  // namespace
}  // namespace ww::lower
