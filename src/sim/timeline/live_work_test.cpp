// SPDX-License-Identifier: Apache-2.0
#include "sim/timeline/live_work.h"

#include <gtest/gtest.h>

#include "sim/timeline/test_recorded_unit.h"

namespace ww::sim::timeline_live_work_test {
namespace {

struct Followed : RecordedUnit {
  void copy(std::uint32_t group) {
    PendingCopy& made = warp.pending.copies.emplace_back();
    made.number = warp.pending.copies_issued++;
    made.lanes = 1;
    made.bytes = 16;
    made.group[0] = group;
  }
  void signal(std::uint32_t bytes) {
    PendingJob& job = unit.jobs.emplace_back();
    job.mbarrier = cta.shared.base;
    job.warp = &warp;
    job.bytes = bytes;
  }

  LiveWork work{context, mbarriers};
  const std::vector<AsyncRecord>& records = context.out.work;
};

TEST(LiveWork, PiecesOfAGroupShareARecordUntilOneEnds) {
  Followed seen;
  for (const std::uint32_t group : {0U, 0U, 1U}) seen.copy(group);
  seen.work.op_done(seen.warp);
  ASSERT_EQ(seen.records.size(), 2U);
  EXPECT_EQ(seen.records[0].count, 2U);
  EXPECT_EQ(seen.records[0].bytes, 32U);
  seen.context.now = 4;
  seen.warp.pending.copies.erase(seen.warp.pending.copies.begin());
  seen.work.catch_up();
  EXPECT_EQ(seen.records[0].end, 5U);
  for (const std::uint32_t group : {0U, 1U}) seen.copy(group);
  seen.work.op_done(seen.warp);
  ASSERT_EQ(seen.records.size(), 3U);
  EXPECT_EQ(seen.records[1].count, 2U) << "group 1 still grows";
  EXPECT_EQ(seen.records[2].begin, 4U);
}

TEST(LiveWork, ACommitCoversTheWorkBeforeIt) {
  Followed seen;
  seen.make_mbarrier(0, 1);
  seen.copy(0);
  seen.work.op_done(seen.warp);
  seen.signal(0);
  seen.work.op_done(seen.warp);
  seen.copy(0);
  seen.work.op_done(seen.warp);
  ASSERT_EQ(seen.records.size(), 3U);
  EXPECT_EQ(seen.records[0].mbarrier, 0U);
  EXPECT_EQ(seen.records[1].kind, AsyncKind::Commit);
  EXPECT_FALSE(seen.records[2].mbarrier);
}

TEST(LiveWork, WhatIsUnderWayStaysOpenAndIsNotMerged) {
  Followed seen;
  for (int i = 0; i < 3; ++i) {
    seen.signal(16);
    seen.work.catch_up();
    if (i < 2) seen.unit.jobs.clear();
    seen.work.catch_up();
  }
  ASSERT_EQ(seen.records.size(), 3U);
  seen.context.out.grain = 16;
  seen.work.merge_ended();
  ASSERT_EQ(seen.records.size(), 2U);
  EXPECT_EQ(seen.records[0].merged, 2U);
  seen.work.end();
  EXPECT_FALSE(seen.records[0].is_open);
  EXPECT_TRUE(seen.records[1].is_open);
}

}  // namespace
}  // namespace ww::sim::timeline_live_work_test
