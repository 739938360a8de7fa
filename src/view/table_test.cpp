// SPDX-License-Identifier: Apache-2.0
#include "view/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "view/test_views.h"

namespace ww::view::table_test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Table, Registers) {
  EXPECT_EQ(to_table(make_view("S[(2,2,2):(2@laneid,1@laneid,1)]", {2, 4})),
            "S[(2,2,2):(2@laneid,1@laneid,1)]\n"
            "shape (2,4), 8 elements; laneid 0..3, m 0..1\n"
            "injective; 8 places fill their box\n"
            "cells: T laneid, r register (m)\n"
            "\n"
            "       0      1      2      3\n"
            "0  T0 r0  T0 r1  T1 r0  T1 r1\n"
            "1  T2 r0  T2 r1  T3 r0  T3 r1\n");
}

TEST(Table, RegistersWithWarpsAndReplicas) {
  EXPECT_EQ(to_table(make_view("S[(2,2):(1@warpid,9@laneid)] + R[2:4@warpid]", {2, 2})),
            "S[(2,2):(1@warpid,9@laneid)] + R[2:4@warpid]\n"
            "shape (2,2), 4 elements; laneid 0..9 (2 values), warpid 0..5 (4 values)\n"
            "injective; 8 of 60 places in their box (13.3 %)\n"
            "each element is held at 2 places: the one shown and +4@warpid\n"
            "cells: w warpid, T laneid\n"
            "\n"
            "       0      1\n"
            "0  w0 T0  w0 T9\n"
            "1  w1 T0  w1 T9\n");
}

TEST(Table, SharedShowsAddressesAndBanks) {
  EXPECT_EQ(to_table(make_view("S[(2,3):(64,1)]", {2, 3}, 16)),
            "S[(2,3):(64,1)]\n"
            "shape (2,3), 6 elements; m 0..66 (6 values)\n"
            "injective; 6 of 67 places in their box (9.0 %)\n"
            "\n"
            "address in elements\n"
            "\n"
            "    0   1   2\n"
            "0   0   1   2\n"
            "1  64  65  66\n"
            "\n"
            "line:bank of 16-bit elements\n"
            "\n"
            "      0     1     2\n"
            "0  0:00  0:00  0:01\n"
            "1  1:00  1:00  1:01\n");
}

TEST(Table, AnAssumedWidthIsSaid) {
  EXPECT_THAT(to_table(make_view("S[4:1]", {4})),
              HasSubstr("line:bank of 32-bit elements (width assumed)\n"));
}

TEST(Table, NegativeAddressesHaveNoBankGrid) {
  const std::string table = to_table(make_view("S[3:-1]", {3}));
  EXPECT_THAT(table, Not(HasSubstr("bank")));
  EXPECT_THAT(table, HasSubstr("\n    0   1   2\n0   0  -1  -2\n"));
}

TEST(Table, TensorMemory) {
  EXPECT_EQ(to_table(make_view("S[(2,1,2):(32@TLane,1@TLane,1@TCol)]", {2, 2})),
            "S[(2,1,2):(32@TLane,1@TLane,1@TCol)]\n"
            "shape (2,2), 4 elements; TCol 0..1, TLane 0..32 (2 values)\n"
            "injective; 4 of 66 places in their box (6.1 %)\n"
            "cells: TLane, TCol\n"
            "\n"
            "      0     1\n"
            "0   0,0   0,1\n"
            "1  32,0  32,1\n");
}

TEST(Table, Generic) {
  EXPECT_THAT(to_table(make_view("S[(2,2):(1@P,1@F)]", {2, 2})), HasSubstr("cells: F, P\n"
                                                                           "\n"
                                                                           "       0      1\n"
                                                                           "0  F0 P0  F1 P0\n"
                                                                           "1  F0 P1  F1 P1\n"));
}

TEST(Table, UnevenReplicasAreListedInTheCell) {
  EXPECT_THAT(to_table(make_view("ComposeLayout(0, 1, 2, S[2:1] + R[2:4])", {2})),
              HasSubstr("       0      1\n0  {0,5}  {1,4}\n"));
}

TEST(Table, OneDimensionWraps) {
  const std::string table = to_table(make_view("S[6:1@laneid]", {6}), {.width = 20});
  EXPECT_THAT(table, HasSubstr("\n   +0  +1  +2  +3\n"
                               "0  T0  T1  T2  T3\n"
                               "4  T4  T5\n"));
}

TEST(Table, SlabsHaveTitles) {
  EXPECT_THAT(to_table(make_view("S[(2,1,2):(2@laneid,2@laneid,1@laneid)]", {2, 1, 2})),
              HasSubstr("\n[0,:,:]\n    0   1\n0  T0  T1\n\n[1,:,:]\n    0   1\n0  T2  T3\n"));
}

TEST(Table, ColumnsAreLeftOutOfTheMiddle) {
  const std::string table = to_table(make_view("S[(1,20):(20,1@laneid)]", {1, 20}), {.width = 40});
  EXPECT_THAT(table, HasSubstr("\n        0       1  …      18      19\n"
                               "0   T0 r0   T1 r0  …  T18 r0  T19 r0\n"));
}

TEST(Table, LeftOutPartsAreCounted) {
  const std::string table = to_table(make_view("S[(4,100,4):(0,1,0)]", {4, 100, 4}),
                                     {.width = 160, .max_rows = 4, .max_slabs = 2});
  EXPECT_THAT(table, HasSubstr("left out: 2 of 4 slabs, 96 of 100 rows\n"));
  EXPECT_THAT(table, HasSubstr(" 1   1   1   1   1\n …\n98  98  98  98  98\n"));
}

TEST(Table, LinesKeepToTheWidth) {
  const LayoutView view = make_view("ComposeLayout(3, 3, 3, S[(64,64):(64,1)])", {64, 64}, 16);
  std::istringstream lines(to_table(view, {.width = 100}));
  const std::size_t ellipsis_bytes = 2;  // beyond its one column
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 100U + ellipsis_bytes) << line;
  }
}

}  // namespace
}  // namespace ww::view::table_test
