// SPDX-License-Identifier: Apache-2.0
#include "explore/export.h"

#include <gtest/gtest.h>

namespace ww::explore::snapshots_test {
namespace {

using Moments = std::vector<std::uint64_t>;

TEST(Snapshots, TellingMomentsAreEndsFindingsAndBarriersThatLetGo) {
  sim::History history;
  history.findings.push_back({.moment = 40});
  const sim::BarrierStatus first{.is_alive = true, .phase = 0, .expected = 2, .pending = 2};
  sim::BarrierStatus one_came = first, second = first;
  one_came.pending = 1;
  second.phase = 1;
  history.barriers.push_back(
      {.is_mbarrier = true, .changes = {{5, first}, {10, one_came}, {20, second}}});
  const sim::BarrierStatus filling{.is_alive = true, .expected = 64, .pending = 32};
  history.barriers.push_back({.changes = {{30, filling}, {35, {}}}});
  EXPECT_EQ(telling_moments(history, 100), (Moments{0, 20, 35, 40, 100}));
  EXPECT_EQ(telling_moments(history, 36), (Moments{0, 20, 35, 36}));
  EXPECT_EQ(telling_moments({}, 0), (Moments{0}));
}

}  // namespace
}  // namespace ww::explore::snapshots_test
