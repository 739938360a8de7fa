// SPDX-License-Identifier: Apache-2.0
#include "driver/run_tool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace ww::driver {
namespace {

struct Example {
  std::string name;
  std::vector<std::string> expects;
};

std::string example_path(const std::string& name) {
  return std::string(WW_SOURCE_DIR) + "/examples/seeds/" + name + ".py";
}

RunOutcome run_example(const Example& example, const std::string& schedule = "rr") {
  RunRequest request;
  request.source.path = example_path(example.name);
  request.expects = example.expects;
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
                    Example{"gemm_new", {"D_g ~= A_g @ B_g"}}),
    [](const auto& each) { return each.param.name; });

// B[row, column] = 100 row + column + 1, through registers and back.
TEST(RunTool, RegisterRoundTripKeepsEveryElement) {
  for (const std::string name : {"reg", "reg_new"}) {
    const RunOutcome outcome = run_example({name, {"B == B", "sum(B, 1) == sum(B, 1)"}});
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
    request.expects = {"D_g ~= A_g @ B_g"};
    const RunOutcome outcome = run_kernel(request);
    ASSERT_TRUE(outcome.report.has_value()) << outcome.errors;
    EXPECT_FALSE(outcome.report->good()) << name;
  }
}

}  // namespace
}  // namespace ww::driver
