// SPDX-License-Identifier: Apache-2.0
// The same launch on a GPU, which is a few functions here: what it is given, what comes back, and what
// differs from the virtual GPU.
#include "driver/sim/gpu_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "base/file_io.h"
#include "base/process.h"
#include "driver/sim/tool.h"
#include "runtime/test_driver.h"

namespace ww::driver::gpu_run_test {
namespace {

using testing::HasSubstr;

constexpr std::string_view kKernel = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry add(.param .u32 n, .param .u64 in, .param .u64 out)
{
  .reg .b32 %r<5>;
  .reg .b64 %rd<5>;
  ld.param.u32 %r1, [n];
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd3, %r2, 4;
  add.u64 %rd1, %rd1, %rd3;
  add.u64 %rd2, %rd2, %rd3;
  ld.global.b32 %r3, [%rd1];
  add.u32 %r3, %r3, %r1;
  st.global.b32 [%rd2], %r3;
  ret;
}
)";

// What the kernel does, on the fake GPU: `less` elements are off by one.
template <std::uint32_t kLess>
void add(runtime::FakeDriver& gpu) {
  std::uint32_t n = 0;
  std::uint64_t in = 0, out = 0;
  std::memcpy(&n, gpu.parameter_block.data(), 4);
  std::memcpy(&in, gpu.parameter_block.data() + 8, 8);
  std::memcpy(&out, gpu.parameter_block.data() + 16, 8);
  for (std::uint32_t i = 0; i < gpu.launched.block[0]; ++i) {
    std::uint32_t value = 0;
    std::memcpy(&value, gpu.memory.at(in).data() + std::size_t{i} * 4, 4);
    value += n - (i >= 2 && i < 2 + kLess ? 1 : 0);
    std::memcpy(gpu.memory.at(out).data() + std::size_t{i} * 4, &value, 4);
  }
}

class GpuRun : public testing::Test {
 protected:
  void SetUp() override {
    runtime::fake = &gpu_;
    gpu_.kernel = add<0>;
    ASSERT_TRUE(write_file_atomically(folder_.file("k.ptx"), kKernel));
    request_ = {.path = folder_.file("k.ptx"), .grid = "1", .block = "4"};
    request_.args = {"n=u32:7", "in=u32[5]:arange", "out=u32[5]"};
    request_.threads = 1;
    request_.driver = &calls_;
  }

  ScratchFolder folder_ = ScratchFolder::make().value();
  runtime::FakeDriver gpu_;
  Result<runtime::CudaCalls> calls_ = runtime::fake_calls();
  SimRequest request_;
};

TEST_F(GpuRun, TakesTheSameArgumentsAndExpectations) {
  request_.device = SimDevice::Gpu;
  request_.expects = {"out[:4] == in[:4] + 7"};
  const SimOutcome outcome = run_sim(request_);
  ASSERT_EQ(outcome.errors, "");
  EXPECT_TRUE(outcome.report->good());
  EXPECT_FALSE(outcome.report->simulated);
  EXPECT_EQ(gpu_.launches, 2);  // to tell what was written
  EXPECT_EQ(outcome.report->buffers.at(1).undefined, 1);
  EXPECT_THAT(sim_text(*outcome.report), HasSubstr("device      Fake H200"));
  EXPECT_THAT(sim_text(*outcome.report), testing::Not(HasSubstr("findings")));
}

TEST_F(GpuRun, FailedExpectationsShow) {
  request_.device = SimDevice::Gpu;
  request_.expects = {"out[:4] == in[:4]"};
  EXPECT_FALSE(run_sim(request_).report->good());
}

TEST_F(GpuRun, EqualBitsAreSaid) {
  request_.device = SimDevice::Both;
  const SimOutcome outcome = run_sim(request_);
  ASSERT_EQ(outcome.errors, "");
  EXPECT_TRUE(outcome.report->good());
  EXPECT_THAT(sim_text(*outcome.report), HasSubstr("the same bits as on the virtual GPU"));
  EXPECT_THAT(sim_text(*outcome.report), HasSubstr("findings    none"));
}

TEST_F(GpuRun, TheFirstDifferenceIsNamed) {
  gpu_.kernel = add<2>;
  request_.device = SimDevice::Both;
  const SimOutcome outcome = run_sim(request_);
  ASSERT_EQ(outcome.errors, "");
  EXPECT_FALSE(outcome.report->good());
  EXPECT_EQ(outcome.report->gpu_differs,
            "$2 out[2]: virtual GPU 0x00000009, GPU 0x00000008; 2 of 5 elements differ");
}

TEST_F(GpuRun, UnwrittenElementsAreADifference) {
  gpu_.kernel = nullptr;
  request_.device = SimDevice::Both;
  EXPECT_EQ(run_sim(request_).report->gpu_differs,
            "$2 out[0]: virtual GPU 0x00000007, GPU not written; 4 of 5 elements differ");
}

TEST_F(GpuRun, ClustersGoToTheLaunch) {
  request_.device = SimDevice::Gpu;
  request_.grid = "4";
  request_.cluster = "2";
  ASSERT_EQ(run_sim(request_).errors, "");
  EXPECT_EQ(gpu_.cluster, (std::array<std::uint32_t, 3>{2, 1, 1}));
  EXPECT_FALSE(gpu_.is_cooperative);
}

TEST_F(GpuRun, GridBarriersMakeACooperativeLaunch) {
  std::string text(kKernel);
  text.insert(text.find("  ld.param.u32"), "  mov.u32 %r4, %envreg2;\n");
  ASSERT_TRUE(write_file_atomically(request_.path, text));
  request_.device = SimDevice::Gpu;
  ASSERT_EQ(run_sim(request_).errors, "");
  EXPECT_TRUE(gpu_.is_cooperative);
}

TEST_F(GpuRun, WatchesAreForTheVirtualGpu) {
  request_.device = SimDevice::Gpu;
  request_.count = true;
  EXPECT_THAT(run_sim(request_).errors, HasSubstr("`--counters` are for the virtual GPU"));
}

TEST_F(GpuRun, TensorMapsAreForTheVirtualGpu) {
  ASSERT_TRUE(write_file_atomically(folder_.file("k.ptx"),
                                    ".version 8.0\n.target sm_90\n.address_size 64\n"
                                    ".visible .entry k(.param .align 64 .b8 m[128]) { ret; }\n"));
  request_.args = {"m=tensormap(float32[4,8]:arange, box=[4,8])"};
  EXPECT_EQ(run_sim(request_).errors, "");
  for (const SimDevice device : {SimDevice::Gpu, SimDevice::Both}) {
    request_.device = device;
    EXPECT_THAT(run_sim(request_).errors, HasSubstr("tensor maps are for the virtual GPU"));
  }
}
TEST_F(GpuRun, AMachineWithoutAGpuIsTold) {
  gpu_.gpus.clear();
  request_.device = SimDevice::Gpu;
  EXPECT_THAT(run_sim(request_).errors, HasSubstr("[NoDevice]"));
  gpu_.gpus = {{"Fake A100", 8, 0}};
  EXPECT_THAT(run_sim(request_).errors, HasSubstr("[NoDevice]"));
}

}  // namespace
}  // namespace ww::driver::gpu_run_test
