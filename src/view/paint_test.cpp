// SPDX-License-Identifier: Apache-2.0
#include "view/paint.h"

#include <gtest/gtest.h>

#include <string>

#include "view/test_views.h"

namespace ww::view::paint_test {
namespace {

Rgb colour_at(const LayoutView& view, std::int64_t flat) {
  return Paint(view).colour(view.first_place(flat));
}
std::string region_at(const LayoutView& view, std::int64_t flat) {
  return Paint(view).region(view.first_place(flat));
}

TEST(Paint, EqualLanesHaveEqualColours) {
  const LayoutView view = make_view("S[(2,8,2,4,2):(2,4@laneid,4,1@laneid,1)]", {16, 16});
  const auto lane = *view.index_of(layout::axes::laneid());
  for (std::int64_t flat = 0; flat < view.size(); ++flat) {
    EXPECT_EQ(colour_at(view, flat), palette_colour(view.first_place(flat)[lane]));
  }
}

TEST(Paint, LaneColoursDoNotDependOnTheAxesUsed) {
  const LayoutView split = make_view("S[(4,32):(1@warpid,1@laneid)]", {128});
  const LayoutView fused = make_view("S[128:1@tx]", {128});
  for (std::int64_t flat = 0; flat < 128; ++flat) {
    EXPECT_EQ(colour_at(split, flat), colour_at(fused, flat));
    EXPECT_EQ(region_at(split, flat), region_at(fused, flat));
  }
  EXPECT_EQ(region_at(fused, 40), "warp 1");
}

TEST(Paint, OneWarpHasNoRegions) {
  const LayoutView view = make_view("S[32:1@laneid]", {32});
  EXPECT_EQ(region_at(view, 5), "");
  EXPECT_EQ(Paint(view).legend().region_note, "");
  EXPECT_EQ(Paint(view).legend().title, "lane");
}

TEST(Paint, CtasAreRegionsToo) {
  const LayoutView view = make_view("S[(2,64):(1@cbx,1@tx)]", {128});
  EXPECT_EQ(region_at(view, 64 + 33), "cbx 1, warp 1");
  EXPECT_EQ(Paint(view).legend().region_note, "Thick lines separate cbx, warps.");
}

TEST(Paint, WarpsGiveTheColourWhereThereAreNoLanes) {
  const LayoutView view = make_view("S[(4,2):(1@warpid,1)]", {8});
  EXPECT_EQ(colour_at(view, 5), palette_colour(2));
  EXPECT_EQ(Paint(view).legend().title, "warp, modulo 32");
}

TEST(Paint, SharedIsColouredByBank) {
  const LayoutView view = make_view("S[(8,64):(64,1)]", {8, 64}, 16);
  EXPECT_EQ(colour_at(view, 64 * 3 + 8), palette_colour(4));
  EXPECT_EQ(colour_at(view, 64 * 3 + 9), palette_colour(4));
  EXPECT_EQ(Paint(view).legend().title, "bank (16-bit elements)");
}

TEST(Paint, AnAssumedWidthIsSaid) {
  EXPECT_EQ(Paint(make_view("S[4:1]", {4})).legend().title, "bank (32-bit elements, assumed)");
}

TEST(Paint, NegativeAddressesAreColouredByAddress) {
  const LayoutView view = make_view("S[3:-1]", {3});
  EXPECT_EQ(colour_at(view, 1), palette_colour(31));
  EXPECT_EQ(Paint(view).legend().title, "m, modulo 32");
}

TEST(Paint, TensorMemoryByQuarterAndColumn) {
  const LayoutView view = make_view("S[(4,16,64):(32@TLane,1@TLane,1@TCol)]", {64, 64});
  EXPECT_EQ(colour_at(view, 17 * 64), quarter_colour(1, 0.0));
  EXPECT_EQ(colour_at(view, 17 * 64 + 63), quarter_colour(1, 1.0));
  EXPECT_EQ(region_at(view, 17 * 64), "quarter 1");
  const Legend legend = Paint(view).legend();
  ASSERT_EQ(legend.rows.size(), 4U);
  EXPECT_EQ(legend.rows[3].name, "quarter 3: lanes 96–127");
  EXPECT_EQ(legend.rows[3].swatches.back().label, "63");
}

TEST(Paint, LegendShowsOnlyWhatOccurs) {
  const Legend legend =
      Paint(make_view("S[4:1@laneid] + 9@laneid", {4})).legend();  // lanes 9 to 12
  ASSERT_EQ(legend.rows.size(), 2U);
  EXPECT_EQ(legend.rows[0].swatches.front().label, "8");
  EXPECT_EQ(legend.rows[1].swatches.back().label, "15");
}

TEST(Paint, GenericUsesTheFirstAxisThatVaries) {
  const LayoutView view = make_view("S[(4,2):(1@P,1)] + 3@F", {8});
  EXPECT_EQ(colour_at(view, 7), palette_colour(3));
  EXPECT_EQ(Paint(view).legend().title, "P");
}

}  // namespace
}  // namespace ww::view::paint_test
