// SPDX-License-Identifier: Apache-2.0
// Whole runs, mostly about files that are not text; the rest of what `warpwright sim` does is in
// tests/golden/cli.
#include "driver/sim/tool.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_io.h"
#include "driver/args/array_spec.h"
#include "driver/args/npy.h"

namespace ww::driver::sim_tool_test {
namespace {

namespace fs = std::filesystem;
using num::DType;

constexpr std::string_view kDouble = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry twice(.param .u64 in, .param .u64 out, .param .u32 n)
{
  .reg .pred %p;
  .reg .b32 %r<5>;
  .reg .b64 %rd<5>;
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %ntid.x;
  mov.u32 %r2, %tid.x;
  mad.lo.u32 %r3, %r0, %r1, %r2;
  ld.param.u32 %r4, [n];
  setp.ge.u32 %p, %r3, %r4;
  @%p bra done;
  ld.param.u64 %rd0, [in];
  ld.param.u64 %rd1, [out];
  mul.wide.u32 %rd2, %r3, 4;
  add.u64 %rd3, %rd0, %rd2;
  add.u64 %rd4, %rd1, %rd2;
  ld.global.b32 %r4, [%rd3];
  add.u32 %r4, %r4, %r4;
  st.global.b32 [%rd4], %r4;
done:
  ret;
}
)";

class SimTool : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "ww_sim_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    write("k.ptx", kDouble);
    request_ = {.path = at("k.ptx"), .grid = "4", .block = "32"};
    request_.threads = 1;
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string at(std::string_view name) const { return (folder_ / name).string(); }
  void write(std::string_view name, std::string_view bytes) const {
    ASSERT_TRUE(write_file_atomically(at(name), bytes));
  }
  [[nodiscard]] Array read(std::string_view name) const {
    const auto text = read_file(at(name), 1U << 20U);
    const auto array = text ? parse_npy(std::as_bytes(std::span(*text))) : Array{};
    return array ? *array : Array{};
  }

  fs::path folder_;
  SimRequest request_;
};

TEST_F(SimTool, ReadsAndWritesArrays) {
  const Array in = *make_array(DType::Int32, {10, 10}, "arange");
  write("in.npy", to_npy(in));
  request_.args = {"0=@" + at("in.npy"), "1=int32[10,10]", "2=u32:100"};
  request_.outs = {"out=" + at("out.npy")};
  const SimOutcome outcome = run_sim(request_);
  ASSERT_EQ(outcome.errors, "");
  ASSERT_TRUE(outcome.report);
  EXPECT_TRUE(outcome.report->good());
  const Array out = read("out.npy");
  ASSERT_EQ(out.shape, in.shape);
  for (std::int64_t i = 0; i < 100; ++i) EXPECT_EQ(out.get_int(i), 2 * i);
}

TEST_F(SimTool, AFileMayBeReadAsAnotherType) {
  write("in.npy", to_npy(*make_array(DType::Bfloat16, {64}, "arange")));  // raw items in the file
  request_.args = {"0=@" + at("in.npy") + ":bf16", "1=int32[32]", "2=u32:32"};
  const SimOutcome outcome = run_sim(request_);
  ASSERT_TRUE(outcome.report) << outcome.errors;
  EXPECT_EQ(outcome.report->buffers.at(0).dtype, DType::Bfloat16);
  request_.args[0] = "0=@" + at("in.npy");
  EXPECT_FALSE(run_sim(request_).report);
}

TEST_F(SimTool, WhatIsLeftUndefinedIsCounted) {
  request_.args = {"0=i32[100]:arange", "1=i32[10,10]", "2=u32:93"};
  const SimOutcome outcome = run_sim(request_);
  ASSERT_TRUE(outcome.report) << outcome.errors;
  const BufferReport& out = outcome.report->buffers.at(1);
  EXPECT_TRUE(out.is_output);
  EXPECT_EQ(out.undefined, 7);
  EXPECT_EQ(out.first_undefined, (std::vector<std::int64_t>{9, 3}));
  EXPECT_EQ(out.first.size(), kShownElements);
  EXPECT_TRUE(outcome.report->good());
}

TEST_F(SimTool, AFileThatCannotBeWrittenLosesNoReport) {
  request_.args = {"0=i32[128]:arange", "1=i32[128]", "2=u32:128"};
  request_.outs = {"1=/dev/full"};
  const SimOutcome outcome = run_sim(request_);
  EXPECT_TRUE(outcome.report);
  EXPECT_NE(outcome.errors.find("[Io]"), std::string::npos) << outcome.errors;
}

TEST_F(SimTool, WhatCanBeToldBeforeIsSaidBefore) {
  request_.args = {"0=i32[128]:arange", "1=i32[128]", "2=u32:128"};
  request_.outs = {"1=" + at("nowhere/out.npy")};
  const SimOutcome outcome = run_sim(request_);
  EXPECT_FALSE(outcome.report);
  EXPECT_NE(outcome.errors.find("[Io]"), std::string::npos) << outcome.errors;
}

TEST_F(SimTool, FilesCountAgainstTheMemory) {
  write("in.npy", to_npy(*make_array(DType::Int32, {1 << 20}, "zeros")));
  request_.args = {"0=@" + at("in.npy"), "1=i32[128]", "2=u32:128"};
  request_.limits = "memory=1M";
  const SimOutcome outcome = run_sim(request_);
  EXPECT_FALSE(outcome.report);
  EXPECT_NE(outcome.errors.find("[TooLarge]"), std::string::npos) << outcome.errors;
}

TEST_F(SimTool, TracesCountAgainstTheMemory) {
  write("k.ptx", R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry count()
{
  .reg .pred %p;
  .reg .b32 %r<2>;
  mov.u32 %r0, 0;
again:
  add.u32 %r0, %r0, 1;
  setp.lt.u32 %p, %r0, 1000;
  @%p bra again;
  ret;
}
)");
  request_.grid = "1";
  request_.trace = "0:0";
  const SimOutcome all = run_sim(request_);
  ASSERT_TRUE(all.report) << all.errors;
  EXPECT_GT(all.report->shown.size(), 64U << 10U);
  EXPECT_EQ(all.report->shown_left_out, 0U);
  request_.limits = "memory=64K";
  const SimOutcome cut = run_sim(request_);
  ASSERT_TRUE(cut.report) << cut.errors;
  EXPECT_EQ(cut.report->run.outcome, sim::Outcome::Finished);
  EXPECT_LE(cut.report->shown.size(), 64U << 10U);
  EXPECT_TRUE(all.report->shown.starts_with(cut.report->shown));
  EXPECT_GT(cut.report->shown_left_out, 0U);
}

TEST_F(SimTool, ProgressMayStopARun) {
  request_.args = {"0=i32[128]:arange", "1=i32[128]", "2=u32:128"};
  std::uint64_t seen = 0;
  request_.progress = [&](std::uint64_t done, std::uint64_t all) {
    seen = done;
    EXPECT_EQ(all, 4U);
    return done < 2;
  };
  const SimOutcome outcome = run_sim(request_);
  ASSERT_TRUE(outcome.report) << outcome.errors;
  EXPECT_EQ(outcome.report->run.outcome, sim::Outcome::Stopped);
  EXPECT_FALSE(outcome.report->good());
  EXPECT_EQ(seen, 2U);
}

TEST_F(SimTool, ScalarsAreArraysOfAnExpectation) {
  request_.args = {"0=u32[128]:arange", "1=u32[128]", "2=u32:128"};
  request_.expects = {"out == in * 2", "u32(max(out)) == 254", "n == 128",
                      "out == 2 * in * (n / 128)"};
  const SimOutcome outcome = run_sim(request_);
  ASSERT_TRUE(outcome.report) << outcome.errors;
  EXPECT_TRUE(outcome.report->good()) << sim_text(*outcome.report);
}

}  // namespace
}  // namespace ww::driver::sim_tool_test
