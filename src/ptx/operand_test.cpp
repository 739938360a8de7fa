// SPDX-License-Identifier: Apache-2.0
#include "ptx/operand.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "base/check.h"

namespace ww::ptx::operand_test {
namespace {

TEST(Operand, MakersFillInWhatTheKindUses) {
  const NameId name{7};
  EXPECT_EQ(name_operand(name).name, name);
  EXPECT_EQ(not_name(name).kind, OperandKind::NotName);
  EXPECT_EQ(sink().kind, OperandKind::Sink);
  EXPECT_EQ(name_offset(name, -8).value(), -8);
  EXPECT_TRUE(name_offset(name, -8).spelling.minus);
  EXPECT_EQ(int_operand(std::numeric_limits<std::int64_t>::min()).value(),
            std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(hex_operand(0xFF).spelling.radix, Radix::Hex);
  EXPECT_EQ(f32_operand(1.0F).bits, 0x3F800000U);
  EXPECT_EQ(f64_operand(-1.0).bits, 0xBFF0000000000000U);
}

TEST(Operand, ListsFindTheirChildren) {
  OperandPool pool;
  const Operand inner = pool.make(OperandKind::Vector, std::array{int_operand(1), int_operand(2)});
  const Operand outer = pool.make(OperandKind::Address, std::array{name_operand(NameId{3}), inner});
  const auto parts = pool.children(outer);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(pool.children(parts[1])[1].value(), 2);
  EXPECT_TRUE(pool.children(pool.make(OperandKind::List, {})).empty());
}

TEST(Operand, APoolMayAppendItsOwnNodes) {
  OperandPool pool;
  Range range = pool.append(std::array{int_operand(1), int_operand(2)});
  for (int i = 0; i < 100; ++i) range = pool.append(pool.at(range));
  EXPECT_EQ(pool.size(), 202U);
  EXPECT_EQ(pool.at(range)[1].value(), 2);
}

TEST(Operand, OnlyListsHaveChildren) {
  OperandPool pool;
  EXPECT_THROW(pool.make(OperandKind::Name, {}), BugError);
}

}  // namespace
}  // namespace ww::ptx::operand_test
