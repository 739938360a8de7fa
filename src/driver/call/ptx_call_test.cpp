// SPDX-License-Identifier: Apache-2.0
// Calls of PTX on a GPU, which is a function here, and on both.
#include "driver/call/ptx_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "runtime/test_driver.h"

namespace ww::driver::ptx_call_test {
namespace {

using testing::Each;
using testing::HasSubstr;

constexpr std::string_view kPtx = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry add(.param .u64 a, .param .u64 b, .param .u32 n)
{
  .reg .b64 %rd<6>;
  .reg .b32 %r<5>;
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd2, [b];
  ld.param.u32 %r2, [n];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd4, %rd1, %rd3;
  add.s64 %rd5, %rd2, %rd3;
  ld.global.u32 %r3, [%rd4];
  add.u32 %r4, %r3, %r2;
  st.global.u32 [%rd5], %r4;
  ret;
}
)";

// The same, and `kMore` for element 3.
template <std::uint32_t kMore>
void add(runtime::FakeDriver& gpu) {
  std::uint64_t a = 0, b = 0;
  std::uint32_t n = 0;
  std::memcpy(&a, gpu.whole_arguments.at(0).data(), 8);
  std::memcpy(&b, gpu.whole_arguments.at(1).data(), 8);
  std::memcpy(&n, gpu.whole_arguments.at(2).data(), 4);
  for (std::uint32_t i = 0; i < gpu.launched.block[0]; ++i) {
    std::uint32_t value = 0;
    std::memcpy(&value, gpu.memory.at(a).data() + std::size_t{i} * 4, 4);
    value += n + (i == 3 ? kMore : 0);
    std::memcpy(gpu.memory.at(b).data() + std::size_t{i} * 4, &value, 4);
  }
}

class PtxOnGpu : public testing::Test {
 protected:
  void SetUp() override {
    runtime::fake = &gpu_;
    gpu_.kernel = add<0>;
    gpu_.argument_bytes = {8, 8, 4};
  }
  void TearDown() override { runtime::fake = nullptr; }

  [[nodiscard]] static CallArg view(std::vector<std::uint32_t>& values) {
    static constexpr std::int64_t kShape[] = {32};
    return {.dtype = num::DType::Uint32,
            .bits = std::bit_cast<std::uintptr_t>(values.data()),
            .shape = kShape};
  }
  Result<PtxReport> call(WhichGpu device) {
    const PtxCallRequest call{
        .text = std::string(kPtx), .block = {block_, 1, 1}, .device = device, .driver = &calls_};
    return call_ptx(call, std::vector{view(a_), view(b_), number_arg(5)});
  }

  runtime::FakeDriver gpu_;
  Result<runtime::CudaCalls> calls_ = runtime::fake_calls();
  std::vector<std::uint32_t> a_ = std::vector<std::uint32_t>(32, 2);
  std::vector<std::uint32_t> b_ = std::vector<std::uint32_t>(32);
  std::uint32_t block_ = 32;
};

TEST_F(PtxOnGpu, Alone) {
  const auto report = call(WhichGpu::Gpu);
  ASSERT_TRUE(report) << report.error().text;
  EXPECT_TRUE(report->run.good());
  EXPECT_EQ(report->run.device, DeviceKind::Cuda);
  EXPECT_THAT(report->gpu, HasSubstr("Fake H200"));
  EXPECT_EQ(gpu_.launches, 1);
  EXPECT_THAT(b_, Each(7U));
}

TEST_F(PtxOnGpu, BothWithTheSameBits) {
  const auto report = call(WhichGpu::Both);
  ASSERT_TRUE(report) << report.error().text;
  EXPECT_TRUE(report->run.good());
  EXPECT_EQ(report->run.device, DeviceKind::Sim);
  EXPECT_THAT(report->gpu, HasSubstr("Fake H200"));
  EXPECT_EQ(report->gpu_differs, "");
  EXPECT_THAT(ptx_text(*report), HasSubstr("the same bits as on the virtual GPU, in every array"));
  EXPECT_THAT(b_, Each(7U));
}

TEST_F(PtxOnGpu, TheFirstDifferenceIsNamed) {
  gpu_.kernel = add<1>;
  const auto report = call(WhichGpu::Both);
  ASSERT_TRUE(report) << report.error().text;
  EXPECT_THAT(report->gpu_differs,
              HasSubstr("[3]: virtual GPU 0x00000007, GPU 0x00000008; 1 of 32 elements differ"));
  EXPECT_THAT(ptx_text(*report), HasSubstr(" differs: " + report->gpu_differs));
  EXPECT_THAT(b_, Each(7U));  // those of the virtual GPU
}

TEST_F(PtxOnGpu, TheVirtualGpuAloneNeedsNoDriver) {
  calls_ = fail(DiagKind::NoDriver, "there is none");
  ASSERT_TRUE(call(WhichGpu::Virtual));
  EXPECT_THAT(b_, Each(7U));
  b_.assign(32, 0);
  for (const WhichGpu device : {WhichGpu::Gpu, WhichGpu::Both}) {
    const auto report = call(device);
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().kind, DiagKind::NoDriver);
    EXPECT_THAT(b_, Each(0U));
  }
}

TEST_F(PtxOnGpu, WhatDoesNotFinishStaysOnTheVirtualGpu) {
  const std::string text =
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { trap; }\n";
  const auto report = call_ptx({.text = text, .device = WhichGpu::Both, .driver = &calls_}, {});
  ASSERT_TRUE(report) << report.error().text;
  EXPECT_EQ(report->run.outcome, sim::Outcome::Trapped);
  EXPECT_EQ(report->gpu, "");
  EXPECT_EQ(gpu_.launches, 0);
}

}  // namespace
}  // namespace ww::driver::ptx_call_test
