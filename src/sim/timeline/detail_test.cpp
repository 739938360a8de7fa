// SPDX-License-Identifier: Apache-2.0
#include "sim/timeline/detail.h"

#include <gtest/gtest.h>

#include <string>

namespace ww::sim::timeline_detail_test {
namespace {

std::string text_of(const std::vector<WarpSpan>& spans) {
  std::string out;
  for (const WarpSpan& s : spans)
    out += fmt::format("{}{}-{} {} x{} runs {}", out.empty() ? "" : ", ", s.begin, s.end,
                       static_cast<int>(s.state), s.merged, s.runs);
  return out;
}

WarpSpan span(WarpState state, std::uint64_t begin, std::uint64_t end, std::uint32_t subject = 0) {
  return {.state = state, .begin = begin, .end = end, .subject = subject};
}

TEST(Detail, ShortNeighboursBecomeOneOfWhatTookLongest) {
  std::vector<WarpSpan> spans = {
      span(WarpState::Runs, 0, 2),        span(WarpState::AtMbarrier, 2, 4, 7),
      span(WarpState::Runs, 4, 5),        span(WarpState::AtMbarrier, 5, 8, 7),
      span(WarpState::AtBarrier, 8, 108), span(WarpState::Runs, 108, 110)};
  std::vector<StateSteps> sums;
  merge_spans(spans, 16, 0, &sums);
  EXPECT_EQ(text_of(spans), "0-8 1 x4 runs 3, 8-108 2 x0 runs 0, 108-110 0 x0 runs 0");
  EXPECT_EQ(spans[0].subject, 7U);
  ASSERT_EQ(sums.size(), 2U);
  EXPECT_EQ(sums[0].steps, 3U);
  EXPECT_EQ(sums[1].steps, 5U);
  // What was added up once is not added again.
  merge_spans(spans, 512, 0, &sums);
  EXPECT_EQ(text_of(spans), "0-110 2 x6 runs 5");
  std::uint64_t all = 0;
  for (const StateSteps& each : sums) all += each.steps;
  EXPECT_EQ(all, 110U);
}

TEST(Detail, TheLastSpansAndOpenOnesStay) {
  std::vector<WarpSpan> spans;
  for (std::uint64_t i = 0; i < 10; ++i) spans.push_back(span(WarpState::Runs, i, i + 1));
  std::vector<WarpSpan> kept = spans;
  merge_spans(kept, 100, 3);
  EXPECT_EQ(kept.size(), 4U);
  EXPECT_EQ(kept[0].merged, 7U);
  spans.back().is_open = true;
  merge_spans(spans, 100, 0);
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_TRUE(spans[1].is_open);
}

TEST(Detail, PhasesKeepTheirNumbers) {
  std::vector<RecordedPhase> phases;
  for (std::uint64_t i = 0; i < 8; ++i)
    phases.push_back({.number = i,
                      .begin = 4 * i,
                      .end = 4 * i + 4,
                      .is_over = i < 7,
                      .bytes = static_cast<std::int64_t>(i),
                      .points = {{4 * i, 1, 0}}});
  merge_phases(phases, 16, 0);
  ASSERT_EQ(phases.size(), 3U);
  EXPECT_EQ(phases[0].merged, 4U);
  EXPECT_EQ(phases[1].number, 4U);
  EXPECT_EQ(phases[1].merged, 3U);
  EXPECT_EQ(phases[1].bytes, 6);
  EXPECT_EQ(phases[2].number, 7U);
  EXPECT_FALSE(phases[2].is_over);
}

TEST(Detail, WorkIsMergedByInstructionAndIndicesFollow) {
  std::vector<AsyncRecord> work;
  for (std::uint32_t i = 0; i < 6; ++i)
    work.push_back({.kind = AsyncKind::Signalled,
                    .issued_by = {i % 2, 0},
                    .begin = i,
                    .end = i + 3,
                    .count = 1,
                    .bytes = 10});
  const std::vector<std::uint32_t> place =
      merge_all_work(work, 16, {false, false, false, true, false, false});
  // Op 0: pieces 0, 2, 4. Op 1: pieces 1 and 5; 3 is live.
  ASSERT_EQ(work.size(), 3U);
  EXPECT_EQ(place, (std::vector<std::uint32_t>{0, 1, 0, 2, 0, 1}));
  EXPECT_EQ(work[0].merged, 3U);
  EXPECT_EQ(work[0].bytes, 30U);
  EXPECT_EQ(work[0].end, 7U);
  EXPECT_EQ(work[2].merged, 0U);
}

}  // namespace
}  // namespace ww::sim::timeline_detail_test
