// SPDX-License-Identifier: Apache-2.0
#include "sim/timeline/watched_mbarriers.h"

#include <gtest/gtest.h>

#include "sim/timeline/test_recorded_unit.h"

namespace ww::sim::timeline_watched_mbarriers_test {
namespace {

TEST(WatchedMbarriers, OneThatIsMadeAgainIsANewRecord) {
  RecordedUnit seen;
  const std::uint64_t address = seen.cta.shared.base + 8;
  EXPECT_FALSE(seen.mbarriers.look_up(address));
  seen.make_mbarrier(8, 2);
  EXPECT_FALSE(seen.mbarriers.find(address)) << "before the first look";
  EXPECT_EQ(seen.mbarriers.look_up(address), 0U);
  seen.cta.mbarriers.clear();
  seen.context.now = 5;
  seen.mbarriers.update();
  EXPECT_FALSE(seen.mbarriers.find(address));
  EXPECT_EQ(seen.context.out.mbarriers[0].end, 6U);
  seen.make_mbarrier(8, 1);
  EXPECT_EQ(seen.mbarriers.look_up(address), 1U);
  seen.mbarriers.end(9);
  EXPECT_EQ(seen.context.out.mbarriers[0].end, 6U);
  EXPECT_EQ(seen.context.out.mbarriers[1].end, 9U);
}

TEST(WatchedMbarriers, OneStepAddsOnePoint) {
  RecordedUnit seen;
  Mbarrier& barrier = seen.make_mbarrier(0, 3);
  seen.mbarriers.update();
  for (int arrival = 0; arrival < 2; ++arrival) {
    --barrier.pending;
    seen.mbarriers.update();
  }
  const std::vector<PhasePoint>& points = seen.context.out.mbarriers[0].phases[0].points;
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[0].arrivals, 3);
  EXPECT_EQ(points[1].arrivals, 1);
  EXPECT_EQ(seen.context.records, 2U);
}

TEST(WatchedMbarriers, WorkEndsAPhaseOnlyInTheOpInWhichItArrives) {
  RecordedUnit seen;
  Mbarrier& barrier = seen.make_mbarrier(0, 1);
  seen.mbarriers.update();
  seen.context.doer = {.op = 7, .warp = 0};
  seen.mbarriers.note_arrival(0, {.op = 3, .warp = 0});
  barrier.phase = 1;
  seen.mbarriers.update();
  seen.mbarriers.forget_arrivals();
  barrier.phase = 2;
  seen.mbarriers.update();
  EXPECT_EQ(seen.mbarriers.phase(0), 2U);
  const std::vector<RecordedPhase>& phases = seen.context.out.mbarriers[0].phases;
  EXPECT_TRUE(phases[0].is_by_work);
  EXPECT_EQ(phases[0].completed_by.op, 3U);
  EXPECT_FALSE(phases[1].is_by_work);
  EXPECT_EQ(phases[1].completed_by.op, 7U);
}

}  // namespace
}  // namespace ww::sim::timeline_watched_mbarriers_test
