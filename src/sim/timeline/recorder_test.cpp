// SPDX-License-Identifier: Apache-2.0
#include "sim/timeline/recorder.h"

#include <gtest/gtest.h>

#include <string>

#include "sim/test_run.h"

namespace ww::sim::timeline_recorder_test {
namespace {

// The spans of a warp: `runs 0-9, mbarrier 9-20, …`.
std::string spans_of(const Recording& recording, std::size_t warp) {
  constexpr const char* kNames[] = {"runs",      "mbarrier", "barrier",   "cluster",
                                    "warpgroup", "columns",  "registers", "lanes"};
  std::string out;
  for (const WarpSpan& span : recording.warps[warp].spans)
    out += fmt::format("{}{} {}-{}{}", out.empty() ? "" : ", ",
                       kNames[static_cast<std::size_t>(span.state)], span.begin, span.end,
                       span.is_open ? " open" : "");
  return out;
}

Recording record(TestRun& test, std::uint32_t threads, bool stepwise = true) {
  test.launch.block = {threads};
  if (stepwise) test.options.schedule.turns = Turns::Stepwise;
  test.options.record = RecordRequest{};
  const LaunchReport& report = test.run();
  EXPECT_TRUE(report.recording.has_value()) << test.errors() << test.refusal();
  return report.recording.value_or(Recording{});
}

// Warp 0 makes an mbarrier for one arrival; warp 1 works a while and does `arrive`; warp 0 waits.
std::string handshake(std::string_view arrive) {
  return fmt::format(
      ".shared .align 8 .b64 bar;\n"
      "mov.u32 %r0, %tid.x; setp.ge.u32 %p0, %r0, 32; setp.ne.u32 %p1, %r0, 0;\n"
      "@%p1 bra made; mbarrier.init.shared.b64 [bar], 1; made: bar.sync 0;\n"
      "@%p0 bra other;\n"
      "wait: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0; @!%p2 bra wait; bra end;\n"
      "other: add.u32 %r1, %r0, 1; add.u32 %r1, %r1, 1; add.u32 %r1, %r1, 1;\n"
      "setp.ne.u32 %p3, %r0, 32; @%p3 bra end;\n{}\nend:",
      arrive);
}

TEST(Recorder, WarpsRunAndWaitAtMbarriers) {
  TestRun test(handshake("mbarrier.arrive.shared.b64 _, [bar];"), 0);
  const Recording seen = record(test, 64);
  EXPECT_EQ(spans_of(seen, 0), "runs 0-9, mbarrier 9-14, runs 14-18");
  EXPECT_EQ(spans_of(seen, 1), "runs 0-5, barrier 5-6, runs 6-15");
  ASSERT_EQ(seen.mbarriers.size(), 1U);
  ASSERT_EQ(seen.mbarriers[0].phases.size(), 2U);
  const RecordedPhase& phase = seen.mbarriers[0].phases[0];
  EXPECT_TRUE(phase.is_over);
  EXPECT_FALSE(phase.is_by_work);
  EXPECT_EQ(phase.completed_by.warp, 1U);
  EXPECT_EQ(phase.end, 14U);
  EXPECT_EQ(seen.warps[0].spans[1].phase, 0U);
}

TEST(Recorder, AWaitThatNeverEndsIsOpen) {
  TestRun test(handshake(""), 0);
  const Recording seen = record(test, 64);
  EXPECT_EQ(test.report().outcome, Outcome::Deadlocked);
  ASSERT_FALSE(seen.warps[0].spans.empty());
  const WarpSpan& last = seen.warps[0].spans.back();
  EXPECT_EQ(last.state, WarpState::AtMbarrier);
  EXPECT_TRUE(last.is_open);
  EXPECT_EQ(last.end, seen.steps);
  // Hundreds of looks at the barrier are one wait.
  EXPECT_EQ(seen.warps[0].spans.size(), 2U) << spans_of(seen, 0);
  EXPECT_LT(seen.steps, 64U);
}

TEST(Recorder, OtherSchedulesCountInstructions) {
  TestRun test(handshake("mbarrier.arrive.shared.b64 _, [bar];"), 0);
  const Recording seen = record(test, 64, false);
  EXPECT_FALSE(seen.counts_rounds);
  EXPECT_EQ(seen.steps, test.report().counters.instructions);
}

TEST(Recorder, WorkLastsUntilItIsSeen) {
  TestRun test(
      ".shared .align 16 .b8 tile[64]; .shared .align 8 .b64 bar;\n"
      "mbarrier.init.shared.b64 [bar], 1; mbarrier.arrive.expect_tx.shared.b64 _, [bar], 64;\n"
      "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [tile], [%a0], 64, [bar];\n"
      "add.u32 %r0, 1, 1;\n"
      "wait: mbarrier.try_wait.parity.shared.b64 %p0, [bar], 0; @!%p0 bra wait;\n"
      "cp.async.bulk.global.shared::cta.bulk_group [%a1], [tile], 64;\n"
      "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0; cp.async.bulk.wait_group 0;",
      2);
  test.input(std::vector<std::uint32_t>(16, 7)).output<std::uint32_t>(16);
  const Recording seen = record(test, 1);
  EXPECT_EQ(test.findings(), "");
  ASSERT_EQ(seen.work.size(), 2U);
  EXPECT_EQ(seen.work[0].kind, AsyncKind::Signalled);
  EXPECT_EQ(seen.work[0].bytes, 64U);
  EXPECT_EQ(seen.work[0].mbarrier, 0U);
  EXPECT_EQ(seen.work[1].kind, AsyncKind::BulkGroup);
  EXPECT_LT(seen.work[1].read, seen.work[1].end);
  EXPECT_TRUE(seen.mbarriers[0].phases[0].is_by_work);
  EXPECT_EQ(seen.mbarriers[0].phases[0].bytes, 64);
  for (const AsyncRecord& work : seen.work) EXPECT_FALSE(work.is_open);
  // There is nothing else to do, so the copy lands in the step in which it is waited for.
  EXPECT_EQ(seen.warps[0].spans.size(), 1U) << spans_of(seen, 0);
}

// Whether a warp waits at a barrier or is the last to come, and what its guards leave out.
TEST(Recorder, WarpsThatMeetHaveOnePath) {
  TestRun test("add.u32 %r0, 1, 1; bar.sync 0; add.u32 %r0, 1, 1;", 0);
  const Recording seen = record(test, 128);
  for (const RecordedWarp& warp : seen.warps) EXPECT_EQ(warp.path, seen.warps[0].path);
  TestRun other("mov.u32 %r0, %tid.x; setp.lt.u32 %p0, %r0, 32; @%p0 add.u32 %r0, 1, 1;", 0);
  const Recording apart = record(other, 64);
  EXPECT_NE(apart.warps[0].path, apart.warps[1].path);
}

TEST(Recorder, GroupsOfCopiesAreOneEach) {
  TestRun test(
      ".shared .align 16 .b8 tile[64];\n"
      "cp.async.ca.shared.global [tile], [%a0], 16; cp.async.ca.shared.global [tile+16], [%a0], "
      "16;\n"
      "cp.async.commit_group; cp.async.ca.shared.global [tile+32], [%a0], 16;\n"
      "cp.async.commit_group; cp.async.wait_group 1; cp.async.wait_group 0;",
      1);
  test.input(std::vector<std::uint32_t>(4, 7));
  const Recording seen = record(test, 1);
  ASSERT_EQ(seen.work.size(), 2U);
  EXPECT_EQ(seen.work[0].count, 2U);
  EXPECT_EQ(seen.work[0].bytes, 32U);
  EXPECT_EQ(seen.work[1].count, 1U);
  EXPECT_EQ(seen.work[0].end + 1, seen.work[1].end);
}

// Warp 0 waits for warp 1 in every round.
constexpr std::string_view kRounds =
    "mov.u32 %r0, 0; mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 32;\n"
    "loop: @%p1 bra skip; add.u32 %r2, %r1, 1; add.u32 %r2, %r2, 1; skip: bar.sync 0;"
    "add.u32 %r0, %r0, 1; setp.lt.u32 %p0, %r0, 105000; @%p0 bra loop;";

std::uint64_t steps_of(const RecordedWarp& warp, WarpState state) {
  std::uint64_t sum = 0;
  for (const StateSteps& each : warp.merged) sum += each.state == state ? each.steps : 0;
  for (const WarpSpan& span : warp.spans)
    if (span.merged == 0 && span.state == state) sum += span.end - span.begin;
  return sum;
}

TEST(Recorder, LongRunsAreCoveredWithShortSpansMerged) {
  TestRun test(kRounds, 0);
  const Recording seen = record(test, 64);
  EXPECT_EQ(test.report().outcome, Outcome::Finished);
  EXPECT_FALSE(seen.is_cut);
  EXPECT_GE(seen.grain, 16U);
  EXPECT_GT(seen.steps, 600'000U);
  EXPECT_LE(seen.warps[0].spans.size() + seen.warps[1].spans.size(), Recorder::kMaxRecords);
  EXPECT_GT(seen.warps[0].spans.front().merged, 1U);
  for (const RecordedWarp& warp : seen.warps) {
    EXPECT_EQ(warp.spans.back().end, seen.steps);
    for (std::size_t i = 1; i < warp.spans.size(); ++i)
      ASSERT_EQ(warp.spans[i].begin, warp.spans[i - 1].end) << i;
    // No step is lost in what is added up.
    EXPECT_EQ(steps_of(warp, WarpState::Runs) + steps_of(warp, WarpState::AtBarrier), seen.steps);
  }
  // Three instructions of the loop are warp 1's alone.
  EXPECT_GE(steps_of(seen.warps[0], WarpState::AtBarrier), 200'000U);
}

TEST(Recorder, TheClusterOfABlock) {
  TestRun test("add.u32 %r0, 1, 1;", 0);
  test.launch.grid = {8};
  test.launch.cluster = Dim3{2};
  test.launch.block = {32};
  test.options.record = RecordRequest{5};
  const LaunchReport& report = test.run();
  ASSERT_TRUE(report.recording.has_value());
  EXPECT_EQ(report.recording->ctas, (std::vector<std::uint64_t>{4, 5}));
  EXPECT_EQ(report.recording->warps.size(), 2U);
}

// The schedule itself finds what others find, and computes the same.
TEST(Recorder, SingleStepsComputeTheSame) {
  TestRun test(
      ".shared .b32 s[64]; mov.u32 %r0, %tid.x; shl.b32 %r1, %r0, 2; mov.u32 %r2, s;"
      "add.u32 %r3, %r2, %r1; st.shared.u32 [%r3], %r0; bar.sync 0; xor.b32 %r4, %r1, 252;"
      "add.u32 %r4, %r4, %r2; ld.shared.u32 %r5, [%r4]; cvt.u64.u32 %d0, %r1;"
      "add.u64 %d0, %a0, %d0; st.global.u32 [%d0], %r5;",
      1);
  test.output<std::uint32_t>(64);
  record(test, 64);
  EXPECT_EQ(test.findings(), "");
  EXPECT_EQ(test.read<std::uint32_t>(0)[0], 63U);
  EXPECT_EQ(test.read<std::uint32_t>(0)[63], 0U);
}

}  // namespace
}  // namespace ww::sim::timeline_recorder_test
