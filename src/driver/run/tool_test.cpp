// SPDX-License-Identifier: Apache-2.0
#include "driver/run/tool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace ww::driver::run_tool_test {
namespace {

struct Example {
  std::string name;
  std::vector<std::string> expects;
  DeviceKind device = DeviceKind::Eval;
};

std::string example_path(const std::string& name) {
  return std::string(WW_SOURCE_DIR) + "/examples/basics/" + name + ".py";
}

RunOutcome run_example(const Example& example, const std::string& schedule = "rr") {
  RunRequest request;
  request.source.path = example_path(example.name);
  request.device = example.device;
  request.arguments.expects = example.expects;
  request.schedule = schedule;
  return run_kernel(request);
}

// The demonstration programs, in both spellings: each computes what it says, without a finding.
class Examples : public testing::TestWithParam<Example> {};

TEST_P(Examples, ComputeWhatTheySay) {
  const RunOutcome outcome = run_example(GetParam());
  ASSERT_TRUE(outcome.report.has_value()) << outcome.errors;
  EXPECT_TRUE(outcome.report->good()) << run_text(*outcome.report);
  for (const BufferReport& buffer : outcome.report->buffers)
    EXPECT_EQ(buffer.undefined, 0) << buffer.name;
}

TEST_P(Examples, DoNotDependOnTheOrderOfThreads) {
  for (const std::string schedule : {"random:1", "random:2", "random:3"}) {
    const RunOutcome outcome = run_example(GetParam(), schedule);
    ASSERT_TRUE(outcome.report.has_value()) << outcome.errors;
    EXPECT_TRUE(outcome.report->good()) << schedule << "\n" << run_text(*outcome.report);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Seeds, Examples,
    testing::Values(Example{"ldstmatrix", {"B == A"}}, Example{"ldstmatrix_new", {"B == A"}},
                    Example{"reg", {}}, Example{"reg_new", {}}, Example{"tcgen05_ldst", {"B == A"}},
                    Example{"tcgen05_ldst_new", {"B == A"}}, Example{"gemm", {"D_g ~= A_g @ B_g"}},
                    Example{"gemm_new", {"D_g ~= A_g @ B_g"}},
                    Example{"ldstmatrix", {"B == A"}, DeviceKind::Sim},
                    Example{"ldstmatrix_new", {"B == A"}, DeviceKind::Sim},
                    Example{"reg", {}, DeviceKind::Sim}, Example{"reg_new", {}, DeviceKind::Sim}),
    [](const auto& each) {
      return fmt::format("{}_{}", each.param.name, name_of(each.param.device));
    });

// B[row, column] = 100 row + column + 1, through registers and back.
TEST(RunTool, RegisterRoundTripKeepsEveryElement) {
  for (const auto& [name, device] :
       {std::pair("reg", DeviceKind::Eval), std::pair("reg_new", DeviceKind::Eval),
        std::pair("reg", DeviceKind::Sim), std::pair("reg_new", DeviceKind::Sim)}) {
    const RunOutcome outcome = run_example({name, {}, device});
    ASSERT_TRUE(outcome.report.has_value()) << outcome.errors;
    EXPECT_THAT(outcome.report->buffers[0].first,
                testing::ElementsAre("1", "2", "3", "4", "5", "6", "7", "8"));
  }
}

// The spelling decides the order of registers; forcing the other one gives other numbers.
TEST(RunTool, TheOtherDialectGivesOtherNumbers) {
  for (const auto& [name, dialect] : {std::pair("gemm", "d2"), std::pair("gemm_new", "d1")}) {
    RunRequest request;
    request.source.path = example_path(name);
    request.source.dialect = dialect;
    request.device = DeviceKind::Eval;
    request.arguments.expects = {"D_g ~= A_g @ B_g"};
    const RunOutcome outcome = run_kernel(request);
    ASSERT_TRUE(outcome.report.has_value()) << outcome.errors;
    EXPECT_FALSE(outcome.report->good()) << name;
  }
}

// What was compared before is not compared again; other results are.
TEST(RunTool, TakesOverTheVerdictOnTheSameArrays) {
  CheckedArrays checked;
  const auto is_good = [&](const std::string& arg) {
    RunRequest request;
    request.source.path = example_path("ldstmatrix");
    request.device = DeviceKind::Sim;
    request.arguments = {.args = {arg}, .expects = {"B == 0 * A"}};
    request.checked = &checked;
    const RunOutcome outcome = run_kernel(request);
    EXPECT_TRUE(outcome.report.has_value()) << outcome.errors;
    return outcome.report && outcome.report->good();
  };
  EXPECT_FALSE(is_good("A=ones"));
  EXPECT_EQ(checked.reuses, 0U);
  EXPECT_FALSE(is_good("A=ones"));
  EXPECT_EQ(checked.reuses, 1U);
  EXPECT_TRUE(is_good("A=zeros"));
  EXPECT_EQ(checked.reuses, 1U);
  EXPECT_TRUE(is_good("A=zeros"));
  EXPECT_FALSE(is_good("A=ones"));
  EXPECT_EQ(checked.reuses, 2U);
}

TEST(RunTool, SaysWhatADeviceDoesNotHave) {
  struct Row {
    DeviceKind device;
    void (*set)(RunRequest&);
    std::string text;
  };
  const std::vector<Row> rows = {
      {DeviceKind::Sim, [](RunRequest& r) { r.timed_launches = 3; },
       "`--time` with `--device sim`, which has no clock"},
      {DeviceKind::Eval, [](RunRequest& r) { r.timed_launches = 3; },
       "`--time` with `--device eval`, which has no clock"},
      {DeviceKind::Cuda, [](RunRequest& r) { r.checks = "race"; },
       "`--check` with `--device cuda`"},
      {DeviceKind::Eval, [](RunRequest& r) { r.checks = "race"; },
       "`--check` with `--device eval`"},
      {DeviceKind::Cuda, [](RunRequest& r) { r.schedule = "rr"; },
       "`--schedule` with `--device cuda`"},
      {DeviceKind::Cuda, [](RunRequest& r) { r.limits = "seconds=1"; },
       "`--limit` with `--device cuda`"},
      {DeviceKind::Sim, [](RunRequest& r) { r.checks = "luck"; }, "luck"}};
  for (const Row& row : rows) {
    RunRequest request;
    request.source.path = example_path("reg");
    request.device = row.device;
    row.set(request);
    const RunOutcome outcome = run_kernel(request);
    EXPECT_FALSE(outcome.report.has_value());
    EXPECT_THAT(outcome.errors, testing::HasSubstr(row.text));
  }
}

}  // namespace
}  // namespace ww::driver::run_tool_test
