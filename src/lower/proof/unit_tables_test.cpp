// SPDX-License-Identifier: Apache-2.0
// What was computed for the threads of a unit is found again, and taken for nothing else.
#include "lower/proof/per_unit.h"

#include <gtest/gtest.h>

namespace ww::lower::unit_tables_test {
namespace {

using Ints = std::vector<std::int64_t>;
using Operation = UnitTables::Operation;

const PerUnit kThreads{Ints{0, 1, 2, 3}};
const PerUnit kOthers{Ints{7, -5, 0, 9}};
const PerUnit kTwo(4, 2);

Operation divided(const PerUnit& a, const PerUnit& b) {
  return {ir::ExprOp::FloorDiv, num::DType::Int32, num::DType::Int32, a, b};
}

TEST(UnitTables, FindWhatWasComputed) {
  UnitTables tables;
  EXPECT_EQ(tables.find(divided(kThreads, kTwo)), nullptr);
  tables.keep(divided(kThreads, kTwo), PerUnit(Ints{0, 0, 1, 1}));
  const PerUnit* found = tables.find(divided(kThreads, PerUnit(4, 2)));
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->expanded(), (Ints{0, 0, 1, 1}));
}

TEST(UnitTables, TellOperationsApart) {
  UnitTables tables;
  tables.keep(divided(kThreads, kTwo), PerUnit(Ints{0, 0, 1, 1}));
  EXPECT_EQ(tables.find(divided(kThreads, PerUnit(4, 3))), nullptr);
  EXPECT_EQ(tables.find(divided(kThreads.plus(kTwo), kTwo)), nullptr);
  EXPECT_EQ(tables.find(divided(kThreads.times(3), kTwo)), nullptr);
  EXPECT_EQ(tables.find(divided(kOthers, kTwo)), nullptr);
  EXPECT_EQ(tables.find(divided(kTwo, kThreads)), nullptr);
  Operation other = divided(kThreads, kTwo);
  other.op = ir::ExprOp::FloorMod;
  EXPECT_EQ(tables.find(other), nullptr);
  other = divided(kThreads, kTwo);
  other.type = num::DType::Uint32;
  EXPECT_EQ(tables.find(other), nullptr);
  other.type = num::DType::Int32;
  other.result = num::DType::Int64;
  EXPECT_EQ(tables.find(other), nullptr);
}

TEST(UnitTables, KeepWhatTakesALookAtEveryThread) {
  const auto is_kept = [](ir::ExprOp op, const PerUnit& a, const PerUnit& b) {
    return Operation{op, num::DType::Int32, num::DType::Int32, a, b}.is_worth_keeping();
  };
  EXPECT_TRUE(is_kept(ir::ExprOp::FloorDiv, kThreads, kTwo));
  EXPECT_TRUE(is_kept(ir::ExprOp::Add, kThreads, kOthers));
  EXPECT_TRUE(is_kept(ir::ExprOp::Mul, kThreads, kThreads));
  EXPECT_FALSE(is_kept(ir::ExprOp::Add, kThreads, kThreads.times(5)));
  EXPECT_FALSE(is_kept(ir::ExprOp::Mul, kThreads, kTwo));
  EXPECT_FALSE(is_kept(ir::ExprOp::FloorDiv, kTwo, kTwo));
}

TEST(UnitTables, KnowIdsByTheirVariable) {
  UnitTables tables;
  EXPECT_EQ(tables.find(ir::VarId{3}), nullptr);
  tables.keep(ir::VarId{3}, kThreads);
  ASSERT_NE(tables.find(ir::VarId{3}), nullptr);
  EXPECT_EQ(*tables.find(ir::VarId{3}), kThreads);
  EXPECT_EQ(tables.find(ir::VarId{4}), nullptr);
}

}  // namespace
}  // namespace ww::lower::unit_tables_test
