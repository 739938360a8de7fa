// SPDX-License-Identifier: Apache-2.0
#include "view/layout_view.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "view/test_views.h"

namespace ww::view::layout_view_test {
namespace {

TEST(LayoutView, KindFollowsFromTheAxes) {
  const std::vector<std::pair<std::string, PictureKind>> cases{
      {"S[(8,4):(1@laneid,1)]", PictureKind::Registers},
      {"S[32:1@laneid]", PictureKind::Registers},
      {"S[32:1] + R[2:1@warpid]", PictureKind::Registers},
      {"S[32:1]", PictureKind::Shared},
      {"ComposeLayout(0, 2, 2, S[32:1])", PictureKind::Shared},
      {"S[(8,4):(1@TLane,1@TCol)]", PictureKind::TensorMemory},
      {"S[32:1@TLane]", PictureKind::TensorMemory},
      {"S[(8,4):(1@P,1@F)]", PictureKind::Generic},
      {"S[(8,4):(1@TLane,1)]", PictureKind::Generic},
      {"S[(8,4):(1@laneid,1@TCol)]", PictureKind::Generic},
      {"S[32:1@stage]", PictureKind::Generic},
  };
  for (const auto& [text, kind] : cases) EXPECT_EQ(make_view(text, {32}).kind(), kind) << text;
}

TEST(LayoutView, PlacesAreSortedAndEachOnce) {
  // The replica of stride 0 adds nothing; the negative one comes first.
  const LayoutView view = make_view("S[2:10] + R[(2,2):(-3,0)] + 5", {2});
  EXPECT_EQ(view.copies(), 2);
  EXPECT_EQ(view.places(0), (std::vector<PlaceValues>{{2}, {5}}));
  EXPECT_EQ(view.places(1), (std::vector<PlaceValues>{{12}, {15}}));
  EXPECT_EQ(view.first_place(1), PlaceValues{12});
}

TEST(LayoutView, AxesComeByName) {
  const LayoutView view = make_view("S[(2,2):(1@warpid,1@laneid)] + 7", {4});
  ASSERT_EQ(view.axes().size(), 3U);
  EXPECT_EQ(view.axes()[0].name(), "laneid");
  EXPECT_EQ(view.axes()[2].name(), "warpid");
  EXPECT_EQ(view.first_place(3), (PlaceValues{1, 7, 1}));
}

TEST(LayoutView, BanksUseTheGivenWidth) {
  // 16-bit element 201 is byte 402, word 100: line 3, bank 4.
  const LayoutView view = make_view("ComposeLayout(3, 3, 3, S[(8,64):(64,1)])", {8, 64}, 16);
  const layout::BankPlace place = view.bank(view.first_place(3 * 64 + 17));
  EXPECT_EQ(place.byte, 402);
  EXPECT_EQ(place.line, 3);
  EXPECT_EQ(place.bank, 4);
}

TEST(LayoutView, WithoutWidthElementsAreWords) {
  const LayoutView view = make_view("S[64:1]", {64});
  EXPECT_FALSE(view.is_element_bits_given());
  EXPECT_EQ(view.bank(view.first_place(33)).bank, 1);
}

TEST(LayoutView, NegativeAddressesHaveNoBanks) {
  EXPECT_FALSE(make_view("S[4:-1]", {4}).has_banks());
  EXPECT_TRUE(make_view("S[4:-1] + 3", {4}).has_banks());
  EXPECT_FALSE(make_view("S[4:1@laneid]", {4}).has_banks());
}

TEST(LayoutView, OneElementWithoutAxes) {
  const LayoutView view = make_view("S[]", {1});
  EXPECT_EQ(view.kind(), PictureKind::Shared);
  EXPECT_EQ(view.bank(view.first_place(0)).bank, 0);
}

TEST(LayoutView, CoordinateText) {
  EXPECT_EQ(coordinate_text(make_view("S[128:1]", {8, 16}), 19), "(1,3)");
}

TEST(LayoutView, RefusesAnotherNumberOfElements) {
  EXPECT_EQ(view_error("S[8:1]", {9}), DiagKind::NotAdmitted);
}

TEST(LayoutView, RefusesAnImpossibleWidth) {
  EXPECT_EQ(view_error("S[8:1]", {8}, 0), DiagKind::BadArgument);
  EXPECT_EQ(view_error("S[8:1]", {8}, 1025), DiagKind::BadArgument);
}

TEST(LayoutView, RefusesAnUnknownExtent) {
  EXPECT_EQ(view_error("S[(?,8):(8,1)]", {8}), DiagKind::NeedsConstant);
}

TEST(LayoutView, RefusesWhatCannotBeEnumerated) {
  EXPECT_EQ(view_error("S[100000000:1]", {100000000}), DiagKind::TooLarge);
}

}  // namespace
}  // namespace ww::view::layout_view_test
