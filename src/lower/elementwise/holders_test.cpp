// SPDX-License-Identifier: Apache-2.0
// Registers of all threads in order, through a table or by sorting.
#include "lower/elementwise/holders.h"

#include <gtest/gtest.h>

namespace ww::lower::holders_test {
namespace {

using Cells = std::vector<std::array<std::int64_t, 3>>;  // register, thread, element

Cells sorted(const OperandPlaces& side, std::int64_t threads) {
  Cells out;
  for (const ElementCell& cell : cells_by_slot(side, threads))
    out.push_back({cell.slot, cell.thread, cell.x});
  return out;
}

TEST(Holders, ListCellsByRegisterAndThread) {
  OperandPlaces side;
  side.linear = {1, 0, 1, 0};
  side.owner = {1, 1, 0, 0};
  EXPECT_TRUE(register_table(side, 2).has_value());
  EXPECT_EQ(sorted(side, 2), (Cells{{0, 0, 3}, {0, 1, 1}, {1, 0, 2}, {1, 1, 0}}));
}

TEST(Holders, ListReplicatedCells) {
  OperandPlaces side;
  side.linear = {0, 1};
  side.owner = {0, 0};
  side.replicas = {{}, {.thread = 2}};
  side.spread = {0, 1};
  EXPECT_TRUE(register_table(side, 4).has_value());
  EXPECT_EQ(
      sorted(side, 4),
      (Cells{
          {0, 0, 0}, {0, 1, 0}, {0, 2, 0}, {0, 3, 0}, {1, 0, 1}, {1, 1, 1}, {1, 2, 1}, {1, 3, 1}}));
}

// Both are listed, so that the collision is found.
TEST(Holders, ListElementsThatShareARegister) {
  OperandPlaces side;
  side.linear = {0, 0};
  side.owner = {1, 1};
  EXPECT_FALSE(register_table(side, 2).has_value());
  EXPECT_EQ(sorted(side, 2), (Cells{{0, 1, 0}, {0, 1, 1}}));
}

TEST(Holders, ListRegistersFarApart) {
  OperandPlaces side;
  side.linear = {1 << 20, -4};
  side.owner = {0, 1};
  EXPECT_FALSE(register_table(side, 2).has_value());
  EXPECT_EQ(sorted(side, 2), (Cells{{-4, 1, 1}, {1 << 20, 0, 0}}));
}

}  // namespace
}  // namespace ww::lower::holders_test
