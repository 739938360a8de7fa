// SPDX-License-Identifier: Apache-2.0
#include "driver/timeline/timeline.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "driver/report_parts.h"
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

Timeline timeline_of(const sim::Recording& recording, std::optional<StepRange> range = {},
                     const std::vector<WarpRole>& roles = {}) {
  const auto loaded = program();
  return make_timeline(recording,
                       {.program = loaded.get(),
                        .kernel = loaded->kernels()[0],
                        .file = "a<b>&\"c\".ptx",
                        .roles = roles},
                       {.range = range});
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

// Warps of two CTAs have lanes of their own, even where all do the same.
TEST(Timelines, LanesEndWithTheirCta) {
  sim::Recording recording = recording_of(4, 6);
  recording.ctas = {0, 1};
  recording.warps_per_cta = 2;
  recording.mbarriers.clear();
  for (sim::RecordedWarp& warp : recording.warps) warp.path = 0;
  std::vector<std::string> lanes;
  for (const TimelineLane& lane : timeline_of(recording).lanes)
    lanes.push_back(fmt::format("{}: {} to {}", lane.name, lane.first_warp, lane.last_warp));
  EXPECT_THAT(lanes, testing::ElementsAre("warps 0-1: 0 to 1", "warps 0-1: 2 to 3"));
}

TEST(Timelines, OfTooManySpansShortOnesAreMergedWithANote) {
  const Timeline whole = timeline_of(recording_of(2, 100));
  EXPECT_TRUE(whole.notes.empty());
  EXPECT_EQ(whole.grain, 0U);
  const Timeline merged = timeline_of(recording_of(2, 10'000));
  std::size_t spans = 0;
  for (const TimelineLane& lane : merged.lanes) spans += lane.spans.size();
  EXPECT_LE(spans, kMaxTimelineSpans);
  EXPECT_GT(spans, kMaxTimelineSpans / 4);
  EXPECT_EQ(merged.to, 10'000U);
  EXPECT_EQ(merged.lanes[0].spans.back().end, 10'000U);
  EXPECT_EQ(merged.grain, 8U);
  const TimelineSpan& first = merged.lanes[0].spans.front();
  EXPECT_EQ(first.merged, 8U);
  EXPECT_EQ(first.runs, 4U);
  ASSERT_EQ(merged.notes.size(), 1U);
  EXPECT_THAT(merged.notes[0], HasSubstr("neighbours of fewer than 8 steps are merged"));
  EXPECT_THAT(timeline_svg(merged), HasSubstr("8 spans merged: runs in 4 of 8 steps"));
  EXPECT_THAT(json_text(timeline_json(merged)), HasSubstr("\"merged\": 8"));
}

TEST(Timelines, AMergedSpanSaysItsRunsWhereAWarpRuns) {
  Timeline timeline = timeline_of(recording_of(1, 2));
  TimelineSpan& span = timeline.lanes[0].spans.front();
  const auto keys = [&](SpanKind kind, std::uint32_t merged) {
    span.kind = kind;
    span.merged = merged;
    std::string out;
    for (const std::string_view key : {"merged", "runs"}) {
      if (timeline_json(timeline)["lanes"][0]["spans"][0].contains(key)) out += key;
    }
    return out;
  };
  for (const SpanKind kind : {SpanKind::Runs, SpanKind::AtMbarrier, SpanKind::AtOther})
    EXPECT_EQ(keys(kind, 3), "mergedruns");
  for (const SpanKind kind : {SpanKind::Work, SpanKind::Phase}) EXPECT_EQ(keys(kind, 3), "merged");
  EXPECT_EQ(keys(SpanKind::Runs, 1), "");
}

// The part that is long enough stays as it was.
TEST(Timelines, WhatTookLongIsNotMerged) {
  sim::Recording recording = recording_of(1, 10'000);
  recording.warps[0].spans.push_back({.state = sim::WarpState::AtMbarrier,
                                      .begin = 10'000,
                                      .end = 10'500,
                                      .op = 0,
                                      .is_open = true});
  recording.steps = 10'500;
  const Timeline merged = timeline_of(recording);
  const TimelineSpan& last = merged.lanes[0].spans.back();
  EXPECT_EQ(last.begin, 10'000U);
  EXPECT_FALSE(last.is_merged());
  EXPECT_TRUE(last.is_open);
}

TEST(Timelines, RolesHaveNamesAndTheirLanesStandTogether) {
  sim::Recording recording = recording_of(4, 8);
  recording.warps[2].path = recording.warps[1].path;
  const std::vector<WarpRole> roles = {
      {.name = "producer", .condition = "warp == 0", .source = "a.py:7", .warps = {0}},
      {.condition = "warp > 1", .warps = {2, 3}}};
  const Timeline out = timeline_of(recording, {}, roles);
  std::vector<std::string> names;
  for (const TimelineLane& lane : out.lanes)
    names.push_back(
        fmt::format("{}{}", lane.name, lane.role ? fmt::format(" of {}", *lane.role) : ""));
  EXPECT_THAT(names, testing::ElementsAre("warp 0 of 0", "warp 2 of 1", "warp 3 of 1", "warp 1",
                                          "full[1]"));
  const RoleUse& use = out.roles[1].use;
  EXPECT_EQ(use.steps, 16U);
  EXPECT_EQ(use.runs, 8U);
  ASSERT_EQ(use.waits.size(), 1U);
  EXPECT_EQ(use.waits[0].what, "full");
  EXPECT_EQ(use.waited(), 8U);
  const std::string text = timeline_text(out);
  EXPECT_THAT(text, HasSubstr("role producer: warp 0, `warp == 0` (a.py:7)\n"
                              "  runs 50 %, waits 50 % (full 50 %)\n"));
  EXPECT_THAT(text, HasSubstr("role warps 2-3, `warp > 1`\n"));
  EXPECT_THAT(text, HasSubstr("\nrole warp > 1\nwarp 2\n"));
  EXPECT_THAT(timeline_svg(out), HasSubstr(">producer</text>"));
  EXPECT_THAT(json_text(timeline_json(out)), HasSubstr("\"name\": \"producer\""));
}

// A warp that ends early counts until it does.
TEST(Timelines, SharesAreOfTheTimeUntilWarpsEnd) {
  sim::Recording recording = recording_of(2, 10);
  recording.warps[1].spans.resize(1);
  recording.work.push_back(
      {.kind = sim::AsyncKind::Signalled, .issued_by = {0, 1}, .begin = 2, .end = 6, .count = 1});
  recording.work.push_back(recording.work[0]);
  recording.work.back().end = 7;
  const Timeline out = timeline_of(recording, {}, {{.condition = "all", .warps = {0, 1}}});
  EXPECT_EQ(out.roles[0].use.steps, 11U);
  EXPECT_EQ(out.roles[0].use.runs, 6U);
  EXPECT_EQ(out.roles[0].use.copies, 5U);
  EXPECT_EQ(out.roles[0].use.run_steps, 10U);
}

// Commits and what issued nothing are no work of their own; another CTA's stands with that CTA.
TEST(Timelines, WhichWorkHasALane) {
  const auto lanes = [](sim::AsyncRecord work) {
    sim::Recording recording = recording_of(2, 4);
    recording.ctas = {0, 1};
    recording.warps_per_cta = 1;
    recording.work = {std::move(work)};
    std::string out;
    for (const TimelineLane& lane : timeline_of(recording).lanes)
      if (lane.kind == LaneKind::Work) out += fmt::format("{} of {};", lane.name, lane.first_warp);
    return out;
  };
  sim::AsyncRecord work{.kind = sim::AsyncKind::Signalled,
                        .issued_by = {.op = 0, .warp = 0},
                        .begin = 1,
                        .end = 3,
                        .count = 1};
  EXPECT_EQ(lanes(work), "mov, warp 0 of 0;");
  work.issued_by.warp = 1;
  EXPECT_EQ(lanes(work), "mov, warp 0 of 1;");
  work.count = 0;
  EXPECT_EQ(lanes(work), "");
  work.count = 1;
  work.kind = sim::AsyncKind::Commit;
  EXPECT_EQ(lanes(work), "");
}

// An arrow leads from a warp that ended a phase to another that waited for it, if both are shown.
TEST(Timelines, ArrowsEndWaits) {
  using Wait = sim::WarpSpan;
  using Phase = sim::RecordedPhase;
  const auto arrows = [](const std::function<void(Wait&, Phase&)>& edit,
                         std::optional<StepRange> range = {}) {
    sim::Recording recording = recording_of(2, 6);
    recording.warps[0].spans = {{.begin = 0, .end = 6, .op = 0}};
    recording.warps[1].spans = {
        {.state = sim::WarpState::AtMbarrier, .begin = 0, .end = 4, .op = 0},
        {.begin = 4, .end = 6, .op = 0}};
    sim::RecordedPhase& phase = recording.mbarriers[0].phases[0];
    phase.end = 4;
    phase.is_over = true;
    phase.completed_by = {.op = 0, .warp = 0};
    edit(recording.warps[1].spans[0], phase);
    std::string out;
    for (const TimelineArrow& each : timeline_of(recording, range).arrows)
      out += fmt::format("{} to {} at {};", each.from_lane, each.to_lane, each.step);
    return out;
  };
  EXPECT_EQ(arrows([](Wait&, Phase&) {}), "0 to 1 at 4;");
  EXPECT_EQ(arrows([](Wait&, Phase& phase) { phase.is_over = false; }), "");
  EXPECT_EQ(arrows([](Wait&, Phase& phase) { phase.is_by_work = true; }), "");
  EXPECT_EQ(arrows([](Wait&, Phase& phase) { phase.merged = 2; }), "");
  EXPECT_EQ(arrows([](Wait&, Phase& phase) { phase.number = 1; }), "");
  EXPECT_EQ(arrows([](Wait&, Phase& phase) { phase.completed_by.op = sim::kNoOp; }), "");
  EXPECT_EQ(arrows([](Wait&, Phase& phase) { phase.completed_by.warp = 1; }), "");
  EXPECT_EQ(arrows([](Wait& wait, Phase&) { wait.is_open = true; }), "");
  EXPECT_EQ(arrows([](Wait& wait, Phase&) { wait.state = sim::WarpState::Runs; }), "");
  EXPECT_EQ(arrows([](Wait&, Phase&) {}, StepRange{0, 3}), "");
  EXPECT_EQ(arrows([](Wait&, Phase&) {}, StepRange{0, 4}), "0 to 1 at 4;");
  EXPECT_EQ(arrows([](Wait&, Phase&) {}, StepRange{3, 6}), "0 to 1 at 4;");
  EXPECT_EQ(arrows([](Wait&, Phase&) {}, StepRange{4, 6}), "");
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
  const std::string json = json_text(timeline_json(timeline_of(recording_of(1, 4))));
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
