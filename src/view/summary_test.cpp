// SPDX-License-Identifier: Apache-2.0
#include "view/table.h"

#include <gtest/gtest.h>

#include "view/test_views.h"

namespace ww::view::summary_test {
namespace {

TEST(Summary, SizeAndRanges) {
  EXPECT_EQ(size_sentence(make_view("S[(8,4,2):(4@laneid,1@laneid,1)]", {8, 8})),
            "shape (8,8), 64 elements; laneid 0..31, m 0..1");
  EXPECT_EQ(size_sentence(make_view("S[4:3] + 5@warpid", {4})),
            "shape (4), 4 elements; m 0..9 (4 values), warpid 5");
}

TEST(Summary, InjectiveAndOnto) {
  EXPECT_EQ(image_sentence(make_view("S[(8,8):(8,1)]", {8, 8})),
            "injective; 64 places fill their box");
}

TEST(Summary, Holes) {
  EXPECT_EQ(image_sentence(make_view("S[4:2]", {4})),
            "injective; 4 of 7 places in their box (57.1 %)");
}

TEST(Summary, CollisionsNameTheElements) {
  EXPECT_EQ(image_sentence(make_view("S[(2,2):(0,1@laneid)]", {2, 2})),
            "not injective: (0,0) and (1,0) share laneid 0, m 0; 2 places fill their box");
}

TEST(Summary, ReplicasAreSteps) {
  EXPECT_EQ(replica_sentence(make_view("S[4:1@laneid] + R[2:4@warpid] + 5@warpid", {4})),
            "each element is held at 2 places: the one shown and +4@warpid");
  EXPECT_EQ(replica_sentence(make_view("S[4:1] + R[10:4]", {4})),
            "each element is held at 10 places: the one shown and +4, +8, +12, +16, +20, +24, +28, "
            "+32, …");
  EXPECT_EQ(replica_sentence(make_view("S[4:1]", {4})), "");
}

TEST(Summary, ASwizzleMovesReplicasUnevenly) {
  // Copies 0 and 4 of element 0 go to 0 and 5; those of element 1 (1 and 5) go to 1 and 4.
  const LayoutView view = make_view("ComposeLayout(0, 1, 2, S[4:1] + R[2:4])", {4});
  EXPECT_EQ(replica_steps(view), std::nullopt);
  EXPECT_EQ(replica_sentence(view), "each element is held at 2 places");
}

}  // namespace
}  // namespace ww::view::summary_test
