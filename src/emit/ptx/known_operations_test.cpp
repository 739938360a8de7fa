// SPDX-License-Identifier: Apache-2.0
#include "emit/ptx/kernel_code.h"

#include <gtest/gtest.h>

namespace ww::emit::to_ptx {
namespace {

class Known : public testing::Test {
 protected:
  /// Makes `add x, number` known in the scope of that level.
  Value add(std::int64_t number, int level) {
    EXPECT_EQ(find(number), Value());
    const Value result = registers_.add({.level = level});
    known_.add(result, level);
    return result;
  }
  Value find(std::int64_t number) { return known_.find(kAdd, 1, args(number)); }
  std::vector<Arg> args(std::int64_t number) { return {x_, int_value(number)}; }

  static constexpr ptx::NameId kAdd{1};
  ptx::NamePool words_;
  Registers registers_;
  Value x_ = registers_.add({});
  KnownOperations known_{registers_, words_};
};

TEST_F(Known, ForgetsWithTheScope) {
  const Value outer = add(1, 0);
  known_.open_scope(false);
  const Value inner = add(2, 1);
  EXPECT_EQ(find(1), outer);
  EXPECT_EQ(find(2), inner);
  EXPECT_EQ(known_.find(kAdd, 2, args(2)), Value());
  known_.close_scope();
  EXPECT_EQ(find(1), outer);
  EXPECT_EQ(find(2), Value());
}

TEST_F(Known, KeepsWhatAMergedScopeComputed) {
  known_.open_scope(false);
  const Value inner = add(1, 1);
  known_.merge_scope();
  EXPECT_EQ(known_.level(), 0);
  EXPECT_EQ(find(1), inner);
}

TEST_F(Known, ForgetsAnOperationWhoseRegisterIsTaken) {
  add(1, 0);
  const Value other = add(2, 0);
  known_.forget(kAdd, args(1));
  EXPECT_EQ(find(1), Value());
  EXPECT_EQ(find(2), other);
}

TEST_F(Known, LeavesLoopsAndNotBranches) {
  known_.open_scope(false);
  known_.open_scope(true);
  known_.open_scope(true);
  EXPECT_EQ(known_.level_for(args(1)), 1);
  EXPECT_EQ(known_.level_for(std::vector<Arg>{registers_.add({.level = 2})}), 2);
  EXPECT_EQ(known_.level_for(std::vector<Arg>{registers_.add({.writes = 1})}), 3);
}

// A variable has other contents after a write, and perhaps in the next round of a loop.
TEST_F(Known, HoldsForOneVersionOfAVariable) {
  x_ = registers_.add({.writes = 1});
  const Value first = add(1, 0);
  EXPECT_EQ(find(1), first);
  registers_.touch(x_);
  const Value second = add(1, 0);
  EXPECT_EQ(find(1), second);
  registers_.enter_loop();
  EXPECT_EQ(find(1), Value());
}

}  // namespace
}  // namespace ww::emit::to_ptx
