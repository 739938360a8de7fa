// SPDX-License-Identifier: Apache-2.0
#include "eval/launch/placement.h"

#include <gtest/gtest.h>

#include "layout/text.h"

namespace ww::eval::launch_placement_test {
namespace {

Result<Placement> placed(std::string_view text) {
  return Placement::make(layout::parse_layout(text).value());
}

TEST(Placement, FollowsShardAndReplica) {
  const auto placement = placed("S[(4, 8) : (1@laneid, 1)] + R[2 : 4@laneid]");
  ASSERT_TRUE(placement);
  EXPECT_EQ(placement->copies(), 2U);
  const Spot spot = placement->spot(19, 1);  // row 2, column 3; the second copy
  EXPECT_EQ(spot.memory, 3);
  EXPECT_EQ(spot.owner, 2 + 4);
}

TEST(Placement, RefusesThreadAxesThatOverlap) {
  const auto refused = placed("S[(4, 8) : (1@laneid, 1@tx)]");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, DiagKind::NotEvaluated);
  EXPECT_EQ(refused.error().text,
            "thread axes `laneid` and `tx` overlap: both read the same digits of the thread id");
}

// The digits between lane and warpgroup take every value.
TEST(Placement, TakesThreadAxesWithAGap) {
  const auto placement = placed("S[(2, 32) : (1@wgid, 1@laneid)]");
  ASSERT_TRUE(placement);
  ASSERT_EQ(placement->digits().size(), 2U);
  EXPECT_EQ(placement->digits()[0].end, 32);
  EXPECT_EQ(placement->digits()[1].begin, 128);
  EXPECT_EQ(holders_of(*placement, 0, 256).spread, (std::vector<std::int64_t>{0, 32, 64, 96}));
}

}  // namespace
}  // namespace ww::eval::launch_placement_test
