// SPDX-License-Identifier: Apache-2.0
#include "view/layout_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "view/svg.h"
#include "view/table.h"
#include "view/test_views.h"

namespace ww::view::memory_grid_test {
namespace {

using testing::HasSubstr;

Grid grid_of(std::string_view notation, std::vector<std::int64_t> shape) {
  Result<Grid> grid = memory_grid(make_view(notation, std::move(shape)));
  if (!grid) throw std::runtime_error(grid.error().text);
  return *std::move(grid);
}

Diag refusal(std::string_view notation, std::vector<std::int64_t> shape) {
  const Result<Grid> grid = memory_grid(make_view(notation, std::move(shape)));
  if (grid) throw std::runtime_error("the grid was not refused");
  return grid.error();
}

TEST(MemoryGrid, ElementsAreWhereTheMemoryHasThem) {
  const Grid grid = grid_of("S[(2,2,3):(32@TLane,1@TLane,2@TCol)] + 4@TCol", {4, 3});
  EXPECT_EQ(grid.rows, 34);
  EXPECT_EQ(grid.cols, 5);
  EXPECT_EQ(grid.element(0, 0, 0), 0);
  EXPECT_EQ(grid.element(0, 33, 4), 11);
  EXPECT_EQ(grid.element(0, 33, 3), std::nullopt) << "between two columns";
  EXPECT_EQ(grid.element(0, 2, 0), std::nullopt) << "a lane without elements";
  EXPECT_EQ(grid.row_name(33), "33");
  EXPECT_EQ(grid.col_name(4), "8");
}

TEST(MemoryGrid, ReplicasAreInAllTheirCells) {
  const Grid grid = grid_of("S[2:1@TLane] + R[2:2@TLane]", {2});
  EXPECT_EQ(grid.rows, 4);
  for (std::int64_t row = 0; row < 4; ++row) EXPECT_EQ(grid.element(0, row, 0), row % 2);
}

TEST(MemoryGrid, TheFirstLaneNeedNotBeZero) {
  const Grid grid = grid_of("S[2:1@TLane] + 16@TLane", {2});
  EXPECT_EQ(grid.rows, 2);
  EXPECT_EQ(grid.row_name(0), "16");
}

TEST(MemoryGrid, Refusals) {
  const Diag other = refusal("S[(2,2):(1@laneid,1)]", {2, 2});
  EXPECT_EQ(other.kind, DiagKind::BadArgument);
  EXPECT_THAT(other.text, HasSubstr("`S[(2,2):(1@laneid,1)]` has laneid, m"));
  const Diag twice = refusal("S[(2,2):(1@TLane,0@TCol)]", {2, 2});
  EXPECT_EQ(twice.kind, DiagKind::NotInjective);
  EXPECT_EQ(twice.text, "elements (0,0) and (0,1) are both in lane 0, column 0");
  const Diag large = refusal("S[(2,2):(1@TLane,1048576@TCol)]", {2, 2});
  EXPECT_EQ(large.kind, DiagKind::TooLarge);
  EXPECT_THAT(large.text, HasSubstr("2 lanes by 1048577 columns"));
}

TEST(MemoryGrid, ATableShowsRegistersThere) {
  const LayoutView registers = make_view("S[(4,2):(1@laneid,1)]", {4, 2});
  const TableOptions options{.grid = grid_of("S[(2,2,2):(3@TLane,1@TLane,1@TCol)]", {4, 2})};
  EXPECT_EQ(to_table(registers, options),
            "S[(4,2):(1@laneid,1)]\n"
            "shape (4,2), 8 elements; laneid 0..3, m 0..1\n"
            "injective; 8 places fill their box\n"
            "cells: T laneid, r register (m)\n"
            "rows are lanes, columns are columns of S[(2,2,2):(3@TLane,1@TLane,1@TCol)]\n"
            "\n"
            "       0      1\n"
            "0  T0 r0  T0 r1\n"
            "1  T1 r0  T1 r1\n"
            "…\n"
            "3  T2 r0  T2 r1\n"
            "4  T3 r0  T3 r1\n");
}

TEST(MemoryGrid, APictureLeavesHolesOpen) {
  const LayoutView registers = make_view("S[(2,2,2):(1@warpid,1@laneid,1)]", {4, 2});
  const Grid grid = grid_of("S[(2,2,2):(3@TLane,1@TLane,1@TCol)]", {4, 2});
  const auto drawn = to_svg(registers, grid);
  const auto plain = to_svg(registers);
  ASSERT_TRUE(drawn && plain);
  const auto cells = [](std::string_view svg) {
    std::size_t found = 0;
    for (std::size_t at = svg.find("<rect"); at != svg.npos; at = svg.find("<rect", at + 1))
      ++found;
    return found;
  };
  EXPECT_EQ(cells(*drawn), cells(*plain)) << "a cell per element, none for the hole";
  EXPECT_THAT(*drawn, HasSubstr("rows are lanes"));
  EXPECT_THAT(*drawn, HasSubstr(">warp 1<"));
}

}  // namespace
}  // namespace ww::view::memory_grid_test
