// SPDX-License-Identifier: Apache-2.0
#include "driver/timeline/timeline.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "sim/program.h"

namespace ww::driver::timeline_timeline_test {
namespace {

using testing::HasSubstr;
using testing::Not;

// A program with one kernel `k`, whose ops recordings name.
std::shared_ptr<const sim::Program> program() {
  return sim::load(
             ".version 8.8\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\n"
             ".shared .align 8 .b64 full[2];\n.reg .b32 %r;\nmov.u32 %r, 1;\nret;\n}\n",
             "k<1>.ptx")
      .program;
}

Timeline timeline_of(const sim::Recording& recording, std::optional<StepRange> range = {}) {
  const auto loaded = program();
  return make_timeline(
      recording,
      {.program = loaded.get(), .kernel = loaded->kernels()[0], .file = "a<b>&\"c\".ptx"}, range);
}

// So many warps that each wait for an mbarrier in every other step.
sim::Recording recording_of(std::size_t warps, std::uint64_t spans) {
  sim::Recording out;
  out.ctas = {0};
  out.warps_per_cta = static_cast<std::uint32_t>(warps);
  out.steps = spans;
  out.counts_rounds = true;
  out.mbarriers.push_back({.cta = 0, .offset = 8, .op = 0, .end = spans});
  out.mbarriers[0].phases.push_back({.number = 0, .end = spans, .points = {{0, 1, 0}}});
  for (std::size_t w = 0; w < warps; ++w) {
    sim::RecordedWarp& warp = out.warps.emplace_back();
    warp.path = w;
    for (std::uint64_t at = 0; at < spans; ++at) {
      sim::WarpSpan span{.begin = at, .end = at + 1, .op = 0};
      if (at % 2 == 1) span.state = sim::WarpState::AtMbarrier;
      warp.spans.push_back(span);
    }
  }
  return out;
}

TEST(Timelines, WarpsThatDoTheSameShareALane) {
  sim::Recording recording = recording_of(4, 6);
  EXPECT_EQ(timeline_of(recording).lanes.size(), 5U);
  for (sim::RecordedWarp& warp : recording.warps) warp.path = 0;
  const Timeline shared = timeline_of(recording);
  ASSERT_EQ(shared.lanes.size(), 2U);
  EXPECT_EQ(shared.lanes[0].name, "warps 0-3");
  EXPECT_EQ(shared.lanes[1].name, "full[1]");
  recording.warps[3].spans.back().end += 3;
  EXPECT_EQ(timeline_of(recording).lanes[0].name, "warps 0-2");
}

TEST(Timelines, TooManySpansAreCutOffWithANote) {
  const Timeline whole = timeline_of(recording_of(2, 100));
  EXPECT_TRUE(whole.notes.empty());
  const Timeline cut = timeline_of(recording_of(2, 10'000));
  std::size_t spans = 0;
  for (const TimelineLane& lane : cut.lanes) spans += lane.spans.size();
  EXPECT_LE(spans, kMaxTimelineSpans);
  EXPECT_GT(spans, kMaxTimelineSpans / 2);
  ASSERT_EQ(cut.notes.size(), 1U);
  EXPECT_THAT(cut.notes[0], HasSubstr("of 10000"));
  EXPECT_THAT(timeline_svg(cut), HasSubstr("Note: steps 0 to 1999 of 10000"));
}

TEST(Timelines, APartOfTheSteps) {
  const Timeline part = timeline_of(recording_of(1, 100), StepRange{40, 44});
  EXPECT_EQ(part.from, 40U);
  EXPECT_EQ(part.lanes[0].spans.size(), 4U);
  const Timeline beyond = timeline_of(recording_of(1, 100), StepRange{98, 400});
  EXPECT_EQ(beyond.to, 100U);
}

TEST(Timelines, NamesAreEscaped) {
  const std::string svg = timeline_svg(timeline_of(recording_of(1, 4)));
  EXPECT_THAT(svg, HasSubstr("a&lt;b&gt;&amp;&quot;c&quot;.ptx"));
  EXPECT_THAT(svg, Not(HasSubstr("a<b>")));
  const std::string json = timeline_json(timeline_of(recording_of(1, 4)));
  EXPECT_THAT(json, HasSubstr(R"(a<b>&\"c\".ptx)"));
}

TEST(Timelines, NothingRecorded) {
  const Timeline empty = timeline_of(sim::Recording{});
  EXPECT_TRUE(empty.lanes.empty());
  EXPECT_THAT(timeline_svg(empty), HasSubstr("</svg>"));
  EXPECT_THAT(timeline_text(empty), HasSubstr("steps 0 to 0 of 0"));
}

TEST(Timelines, TheFormFollowsTheEnding) {
  EXPECT_EQ(*timeline_form("a.svg"), TimelineForm::Svg);
  EXPECT_EQ(*timeline_form("a.json"), TimelineForm::Json);
  EXPECT_EQ(*timeline_form("a.txt"), TimelineForm::Text);
  EXPECT_FALSE(timeline_form("a.png"));
  EXPECT_FALSE(timeline_form(""));
}

}  // namespace
}  // namespace ww::driver::timeline_timeline_test
