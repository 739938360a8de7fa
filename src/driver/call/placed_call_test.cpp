// SPDX-License-Identifier: Apache-2.0
// Kernels over the caller's memory, where it lies.
#include "driver/call/ptx_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ww::driver::placed_call_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// b[block] = a[block] + 1 by one thread, at lines 3 and 4 of `k.py`.
constexpr std::string_view kPtx = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry add(.param .u64 a, .param .u64 b)
{
  .reg .b64 %rd<6>;
  .reg .b32 %r<5>;
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd2, [b];
  mov.u32 %r1, %ctaid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd4, %rd1, %rd3;
  add.s64 %rd5, %rd2, %rd3;
  .loc 1 3 5
  ld.global.u32 %r3, [%rd4];
  add.u32 %r4, %r3, 1;
  .loc 1 4 5
  st.global.u32 [%rd5], %r4;
  ret;
}
.file 1 "k.py"
)";
constexpr runtime::Address kA = std::uint64_t{1} << 40U;
constexpr runtime::Address kB = kA + (std::uint64_t{1} << 24U);

class PlacedCall : public testing::Test {
 protected:
  PlacedReport launch(PlacedLaunch call = {}) {
    const auto kernel = PlacedKernel::load(std::string(kPtx), "add");
    EXPECT_TRUE(kernel) << render(kernel.error());
    EXPECT_THAT(kernel->params(), SizeIs(2));
    call.launch.grid = {8, 1, 1};
    call.launch.arguments = {{.bits = kA}, {.bits = kB}};
    call.memory = {{kB, std::as_writable_bytes(std::span(b_)), b_undefined_.data(), "`b`"},
                   {kA, std::as_writable_bytes(std::span(a_)), a_undefined_.data(), "`a`"}};
    auto report = kernel->launch(call, {});
    EXPECT_TRUE(report) << render(report.error());
    return *report;
  }

  std::vector<std::uint32_t> a_{0, 1, 2, 3, 4, 5, 6, 7};
  std::vector<std::uint32_t> b_ = std::vector<std::uint32_t>(8);
  std::vector<std::uint8_t> a_undefined_ = std::vector<std::uint8_t>(32, 0);
  std::vector<std::uint8_t> b_undefined_ = std::vector<std::uint8_t>(32, 0xFF);
};

TEST_F(PlacedCall, ReadsAndWritesMemoryWhereItLies) {
  EXPECT_THAT(launch().run.findings, IsEmpty());
  EXPECT_THAT(b_, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_THAT(b_undefined_, testing::Each(0));
}

TEST_F(PlacedCall, WhatNothingWroteIsUndefinedFromLaunchToLaunch) {
  a_undefined_[20] = 0xFF;
  const PlacedReport report = launch();
  ASSERT_THAT(report.run.findings, SizeIs(1));
  const RunFinding& finding = report.run.findings[0];
  EXPECT_EQ(finding.check, "uninit");
  EXPECT_EQ(finding.block, 5U);
  EXPECT_EQ(finding.at.file, "k.py");
}

TEST_F(PlacedCall, FindingsHaveTheirAddressAndTheFileOfLoc) {
  a_.pop_back();
  const PlacedReport report = launch();
  ASSERT_THAT(report.run.findings, SizeIs(1));
  const RunFinding& finding = report.run.findings[0];
  EXPECT_THAT(finding.text, HasSubstr("just past the end of `a` (28 bytes)"));
  EXPECT_EQ(finding.address, kA + 28);
  EXPECT_EQ(finding.at.line, 3U);
  EXPECT_EQ(finding.at.ptx_line, 15U);
}

TEST_F(PlacedCall, ASampleRunsTheFirstTheLastAndSomeBetween) {
  const PlacedReport report = launch({.sample = 3});
  EXPECT_EQ(report.blocks_left_out, 5U);
  EXPECT_THAT(b_, ElementsAre(1, 0, 0, 4, 0, 0, 0, 8));
  EXPECT_EQ(launch({.sample = 9}).blocks_left_out, 0U);
}

TEST_F(PlacedCall, WhatAnEarlierKernelMayStillWriteIsAwaited) {
  const PlacedReport report = launch({.launch = {.awaits = {kA}}});
  ASSERT_THAT(report.run.findings, SizeIs(1));
  EXPECT_EQ(report.run.findings[0].check, "race");
  EXPECT_THAT(report.run.findings[0].text, HasSubstr("an earlier grid may still write"));
}

TEST(PlacedKernels, RefuseAKernelThatIsNotThere) {
  EXPECT_EQ(PlacedKernel::load(std::string(kPtx), "sub").error().kind, DiagKind::UnknownName);
}

// Which of two warps is first says which number each draws; memory is as the first order left it.
TEST_F(PlacedCall, RunsInSeveralOrders) {
  const auto kernel = PlacedKernel::load(R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry draw(.param .u64 taken, .param .u64 drawn)
{
  .reg .b64 %rd<5>;
  .reg .b32 %r<4>;
  .reg .pred %p<2>;
  mov.u32 %r0, %tid.x;
  and.b32 %r1, %r0, 31;
  setp.ne.u32 %p0, %r1, 0;
  @%p0 ret;
  ld.param.u64 %rd0, [taken];
  ld.param.u64 %rd1, [drawn];
  atom.global.add.u32 %r2, [%rd0], 1;
  shr.u32 %r3, %r0, 5;
  mul.wide.u32 %rd3, %r3, 4;
  add.s64 %rd4, %rd1, %rd3;
  st.global.u32 [%rd4], %r2;
  ret;
}
)",
                                         "draw");
  ASSERT_TRUE(kernel) << render(kernel.error());
  PlacedLaunch call;
  call.launch.block = {64, 1, 1};
  call.launch.arguments = {{.bits = kA}, {.bits = kB}};
  call.memory = {{kA, std::as_writable_bytes(std::span(a_)), nullptr, "`taken`"},
                 {kB, std::as_writable_bytes(std::span(b_)), b_undefined_.data(), "`drawn`"}};
  const auto report = kernel->launch(call, {});
  ASSERT_TRUE(report) << render(report.error());
  EXPECT_TRUE(report->run.good());
  EXPECT_THAT(report->run.schedules.run, SizeIs(12));
  EXPECT_EQ(report->run.schedules.first_difference, "reverse");
  EXPECT_EQ(a_[0], 2U);
  EXPECT_EQ(b_[1], 1U);
  call.sample = 1;
  EXPECT_THAT(kernel->launch(call, {})->run.schedules.run, IsEmpty());
}

}  // namespace
}  // namespace ww::driver::placed_call_test
