// SPDX-License-Identifier: Apache-2.0
#include "view/paint.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "view/test_views.h"

namespace ww::view::label_plan_test {
namespace {

using Lines = std::vector<std::string>;

LabelPlan plan_for(const LayoutView& view, double cell) {
  return plan_labels(view, labels_of(view), cell);
}
Lines lines_for(const LayoutView& view, double cell, std::int64_t flat) {
  return label_lines(labels_of(view), plan_for(view, cell), view.first_place(flat));
}

TEST(LabelPlan, ThinsOutAsCellsShrink) {
  // Warp 3 for all; the flat index 11 is lane 5, register 1.
  const LayoutView view = make_view("S[(32,2):(1@laneid,1)] + 3@warpid", {64});
  EXPECT_EQ(lines_for(view, 46, 11), (Lines{"w3", "T5", "r1"}));
  EXPECT_EQ(lines_for(view, 22, 11), (Lines{"T5", "r1"}));
  EXPECT_EQ(lines_for(view, 17, 11), (Lines{"T5"}));
  EXPECT_EQ(plan_for(view, 17).every_col, 1);
  EXPECT_EQ(lines_for(view, 8, 11), (Lines{"T5"}));
  EXPECT_EQ(plan_for(view, 8).every_col, 4);
  EXPECT_EQ(plan_for(view, 8).every_row, 2);
  EXPECT_TRUE(plan_for(view, 4).parts.empty());
}

TEST(LabelPlan, TheWarpStaysLongerThanTheRegister) {
  const LayoutView view = make_view("S[(4,32,2):(1@warpid,1@laneid,1)]", {256});
  EXPECT_EQ(lines_for(view, 22, 3), (Lines{"w0", "T1"}));
}

TEST(LabelPlan, TensorMemoryIsJoinedWhenThinned) {
  const LayoutView view = make_view("S[(128,64):(1@TLane,1@TCol)]", {128, 64});
  EXPECT_EQ(lines_for(view, 30, 65), (Lines{"1", "1"}));
  EXPECT_EQ(lines_for(view, 10, 65), (Lines{"1,1"}));
  EXPECT_EQ(plan_for(view, 10).every_col, 4);
}

TEST(LabelPlan, FontsAreReadable) {
  const LayoutView view = make_view("S[4096:1]", {64, 64}, 16);
  for (const double cell : {6.0, 9.0, 17.0, 25.0, 46.0}) {
    const LabelPlan plan = plan_for(view, cell);
    EXPECT_GE(plan.font, 7.0);
    EXPECT_LE(plan.font * kCharWidth * 4, cell * static_cast<double>(plan.every_col));
  }
}

TEST(LabelPlan, ThinTo) {
  EXPECT_EQ(thin_to(10, 10), 1);
  EXPECT_EQ(thin_to(10, 11), 2);
  EXPECT_EQ(thin_to(3, 20), 8);
}

}  // namespace
}  // namespace ww::view::label_plan_test
