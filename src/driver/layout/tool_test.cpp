// SPDX-License-Identifier: Apache-2.0
#include "driver/layout/tool.h"

#include <gtest/gtest.h>

#include <string>

#include "json/json.h"

namespace ww::driver::layout_tool_test {
namespace {

std::string refusal_of(const LayoutRequest& request) {
  const LayoutOutcome outcome = run_layout(request);
  return outcome.refusal ? render(outcome.refusal->diag, outcome.refusal->source) : "";
}

std::string text_of(const LayoutRequest& request, LayoutFormat format = LayoutFormat::Text) {
  const LayoutOutcome outcome = run_layout(request);
  if (!outcome.report) return "refused";
  const auto text = render_report(*outcome.report, format, 160);
  return text ? *text : "error: " + text.error().text;
}

Json json_of(const LayoutRequest& request) {
  return Json::parse(text_of(request, LayoutFormat::Json)).value();
}

TEST(LayoutTool, OperationsApplyFromLeftToRight) {
  EXPECT_EQ(
      text_of({.notation = "row_major(8,16)", .ops = {"slice:0:4,0:16", "permute:1,0", "size"}}),
      "S[(16,4):(1,16)]\nsize: 64\n");
}

TEST(LayoutTool, TheShapeComesFromTheRequestFirst) {
  const auto named = run_layout({.notation = "mma_shared(float16,128B,64,64)"});
  EXPECT_EQ(named.report->state.shape, (layout::Shape{64, 64}));
  const auto given = run_layout({.notation = "mma_shared(float16,128B,64,64)", .shape = "4096"});
  EXPECT_EQ(given.report->state.shape, (layout::Shape{4096}));
}

TEST(LayoutTool, EachTextIsNamedInItsErrors) {
  EXPECT_EQ(refusal_of({.notation = "S[8:"}).substr(0, 9), "layout:1:");
  EXPECT_EQ(refusal_of({.notation = "S[8]", .shape = "9"}).substr(0, 12), "--shape:1:1:");
  EXPECT_EQ(refusal_of({.notation = "S[8]", .dtype = "flot"}).substr(0, 12), "--dtype:1:1:");
  EXPECT_EQ(refusal_of({.notation = "S[8]", .ops = {"canon", "slce:1"}}).substr(0, 9), "--op:1:1:");
  EXPECT_EQ(refusal_of({.notation = "S[8]", .axes = {"q=thred"}}).substr(0, 11), "--axis:1:3:");
  EXPECT_EQ(refusal_of({.notation = "S[8]", .vars = {"k=8:0"}}).substr(0, 10), "--var:1:3:");
}

TEST(LayoutTool, ATableMayBeThatOfTensorMemory) {
  LayoutRequest request = {.notation = "S[(4,2):(1@laneid,1)]",
                           .on = "S[(2,2,2):(32@TLane,1@TLane,1@TCol)]/4,2"};
  const std::string table = text_of(request, LayoutFormat::Table);
  EXPECT_NE(table.find("\n32  T2 r0  T2 r1\n"), table.npos) << table;
  EXPECT_EQ(text_of(request), "error: `--on` is for tables and pictures, but text has neither");
  EXPECT_EQ(text_of(request, LayoutFormat::Json),
            "error: `--on` is for tables and pictures, but JSON has neither");
  request.ops = {"slice:0:2,0:2"};  // what is shown is what the operations leave
  EXPECT_EQ(refusal_of(request).substr(0, 56),
            "--on:1:1: error: 8 elements are here, the layout has 4 [");
  request.on = "S[4:1]";
  EXPECT_EQ(refusal_of(request).substr(0, 10), "--on:1:1: ");
}

TEST(LayoutTool, UndeclaredAxesAreRemarkedOnce) {
  const auto outcome =
      run_layout({.notation = "S[(2,4):(1@lanid,2@lanid)]", .ops = {"equal:S[8:1@lanid]"}});
  ASSERT_EQ(outcome.remarks.size(), 1U);
  EXPECT_EQ(outcome.remarks[0],
            "note: axis `lanid` is not declared, so its kind is unknown; did you mean `laneid`?");
}

TEST(LayoutTool, DeclaredAxesAreNotRemarked) {
  const auto outcome = run_layout({.notation = "S[8:1@quad]", .axes = {"quad=thread:4:8"}});
  ASSERT_TRUE(outcome.report);
  EXPECT_TRUE(outcome.remarks.empty());
}

TEST(LayoutTool, AMissedExpectationIsReported) {
  EXPECT_TRUE(run_layout({.notation = "S[8]", .ops = {"equal:S[8]"}}).report->holds());
  EXPECT_FALSE(run_layout({.notation = "S[8]", .ops = {"equal:S[8:2]"}}).report->holds());
}

TEST(LayoutTool, JsonIsJsonAndCarriesOpsAndAnswers) {
  const Json report =
      json_of({.notation = "S[(2,2):(2,1)] + R[2:4]", .ops = {"canon", "apply:1,1", "injective"}});
  EXPECT_EQ(report["layout"], "S[4:1] + R[2:4]");
  EXPECT_EQ(report["shape"], Json::parse("[2,2]").value());
  EXPECT_EQ(report["map"][3], Json::parse(R"([{"m":3},{"m":7}])").value());
  EXPECT_EQ(report["ops"].size(), 3U);
  EXPECT_EQ(report["answers"][0]["answer"], Json::parse(R"([{"m":3},{"m":7}])").value());
  EXPECT_EQ(report["answers"][1]["answer"], true);
}

TEST(LayoutTool, WhatCannotBeEnumeratedHasNoMap) {
  const LayoutRequest request = {
      .notation = "row_major(64,128)", .ops = {"slice:0:64,16*k:16*k+16"}, .vars = {"k=0:8"}};
  const Json report = json_of(request);
  EXPECT_TRUE(report["map"].is_null());
  EXPECT_TRUE(text_of(request, LayoutFormat::Table)
                  .starts_with("S[(64,16):(128,1)] + (16*k)\nshape (64,16); no table"));
  EXPECT_TRUE(text_of(request, LayoutFormat::Svg).starts_with("error: "));
}

TEST(LayoutTool, EveryAnswerIsAJsonValue) {
  for (const LayoutOp& row : layout_ops()) {
    const auto outcome = run_layout(
        {.notation = std::string(row.example_layout), .ops = {std::string(row.example)}});
    ASSERT_TRUE(outcome.report) << row.example;
    for (const Answer& answer : outcome.report->state.answers)
      EXPECT_EQ(Json::parse(answer.json.dump()).value(), answer.json) << row.example;
  }
}

}  // namespace
}  // namespace ww::driver::layout_tool_test
