// SPDX-License-Identifier: Apache-2.0
#include "view/layout_view.h"

#include <gtest/gtest.h>

#include <array>

namespace ww::view::grid_test {
namespace {

TEST(Grid, TwoDimensionsAreOneSlab) {
  const Grid grid = make_grid(std::array<std::int64_t, 2>{3, 5}, 99);
  EXPECT_EQ(grid.rows, 3);
  EXPECT_EQ(grid.cols, 5);
  EXPECT_EQ(grid.slabs, 1);
  EXPECT_EQ(grid.element(0, 2, 4), 14);
  EXPECT_EQ(grid.slab_name(0), "");
  EXPECT_EQ(grid.col_name(4), "4");
}

TEST(Grid, OneDimensionIsWrapped) {
  const Grid grid = make_grid(std::array<std::int64_t, 1>{10}, 4);
  EXPECT_EQ(grid.rows, 3);
  EXPECT_EQ(grid.element(0, 2, 1), 9);
  EXPECT_EQ(grid.element(0, 2, 2), std::nullopt);
  EXPECT_EQ(grid.row_name(2), "8");
  EXPECT_EQ(grid.col_name(3), "+3");
}

TEST(Grid, OneRowIsNotWrapped) {
  const Grid grid = make_grid(std::array<std::int64_t, 1>{4}, 4);
  EXPECT_EQ(grid.rows, 1);
  EXPECT_EQ(grid.col_name(3), "3");
}

TEST(Grid, LeadingDimensionsCountSlabs) {
  const Grid grid = make_grid(std::array<std::int64_t, 4>{2, 3, 4, 5}, 99);
  EXPECT_EQ(grid.slabs, 6);
  EXPECT_EQ(grid.slab_name(4), "[1,1,:,:]");
  EXPECT_EQ(grid.element(4, 1, 2), 4 * 20 + 1 * 5 + 2);
}

TEST(Grid, NoDimensionIsOneCell) {
  const Grid grid = make_grid({}, 99);
  EXPECT_EQ(grid.rows, 1);
  EXPECT_EQ(grid.cols, 1);
}

}  // namespace
}  // namespace ww::view::grid_test
