// SPDX-License-Identifier: Apache-2.0
// The same launch on a GPU, which is a few functions here: what it is given, what comes back, and what
// differs from the virtual GPU.
#include "driver/sim/memory.h"

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
  std::memcpy(&n, gpu.whole_arguments.at(0).data(), 4);
  std::memcpy(&in, gpu.whole_arguments.at(1).data(), 8);
  std::memcpy(&out, gpu.whole_arguments.at(2).data(), 8);
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
    gpu_.argument_bytes = {4, 8, 8};
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
  request_.device = WhichGpu::Gpu;
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
  request_.device = WhichGpu::Gpu;
  request_.expects = {"out[:4] == in[:4]"};
  EXPECT_FALSE(run_sim(request_).report->good());
}

TEST_F(GpuRun, EqualBitsAreSaid) {
  request_.device = WhichGpu::Both;
  const SimOutcome outcome = run_sim(request_);
  ASSERT_EQ(outcome.errors, "");
  EXPECT_TRUE(outcome.report->good());
  EXPECT_THAT(sim_text(*outcome.report), HasSubstr("the same bits as on the virtual GPU"));
  EXPECT_THAT(sim_text(*outcome.report), HasSubstr("findings    none"));
}

TEST_F(GpuRun, TheFirstDifferenceIsNamed) {
  gpu_.kernel = add<2>;
  request_.device = WhichGpu::Both;
  const SimOutcome outcome = run_sim(request_);
  ASSERT_EQ(outcome.errors, "");
  EXPECT_FALSE(outcome.report->good());
  EXPECT_EQ(outcome.report->gpu_differs,
            "$2 out[2]: virtual GPU 0x00000009, GPU 0x00000008; 2 of 5 elements differ");
}

TEST_F(GpuRun, UnwrittenElementsAreADifference) {
  gpu_.kernel = nullptr;
  request_.device = WhichGpu::Both;
  EXPECT_EQ(run_sim(request_).report->gpu_differs,
            "$2 out[0]: virtual GPU 0x00000007, GPU not written; 4 of 5 elements differ");
}

TEST_F(GpuRun, ClustersGoToTheLaunch) {
  request_.device = WhichGpu::Gpu;
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
  request_.device = WhichGpu::Gpu;
  ASSERT_EQ(run_sim(request_).errors, "");
  EXPECT_TRUE(gpu_.is_cooperative);
}

TEST_F(GpuRun, WatchesAreForTheVirtualGpu) {
  request_.device = WhichGpu::Gpu;
  request_.count = true;
  EXPECT_THAT(run_sim(request_).errors,
              HasSubstr("`--counters` and `--timeline` are for the virtual GPU"));
}

// What the driver wrote is where the kernel looks for its map; here it is the tensor's address.
void copy_first_word(runtime::FakeDriver& gpu) {
  std::uint64_t tensor = 0, out = 0;
  std::memcpy(&tensor, gpu.whole_arguments.at(0).data(), 8);
  std::memcpy(&out, gpu.whole_arguments.at(1).data(), 8);
  const std::uint64_t base = tensor / 0x1000 * 0x1000;
  std::memcpy(gpu.memory.at(out).data(), gpu.memory.at(base).data() + (tensor - base), 4);
}

class GpuRunMaps : public GpuRun {
 protected:
  void SetUp() override {
    GpuRun::SetUp();
    gpu_.kernel = copy_first_word;
    gpu_.argument_bytes = {128, 8};
    ASSERT_TRUE(write_file_atomically(
        folder_.file("k.ptx"),
        ".version 8.0\n.target sm_90\n.address_size 64\n"
        ".visible .entry k(.param .align 64 .b8 m[128], .param .u64 out) { ret; }\n"));
    request_.device = WhichGpu::Gpu;
  }
};

TEST_F(GpuRunMaps, TheDriverEncodesThem) {
  request_.args = {"m=tensormap(int32[4,8]:arange, box=[2,8], swizzle=32B, fill=zero, offset=32)",
                   "out=int32[1]"};
  request_.expects = {"out[0] == 8"};
  const SimOutcome outcome = run_sim(request_);
  ASSERT_EQ(outcome.errors, "");
  EXPECT_TRUE(outcome.report->good()) << sim_text(*outcome.report);
  EXPECT_THAT(gpu_.encoded, testing::StartsWith("tiled 3 2 dims 8,4 box 8,2 0 1 0\n"));
}

TEST_F(GpuRunMaps, OfTheArrayOfAnotherParameter) {
  request_.args = {"m=tensormap(out, box=[8])", "out=int32[8]:full:5"};
  const SimOutcome outcome = run_sim(request_);
  ASSERT_EQ(outcome.errors, "");
  std::uint64_t tensor = 0, out = 0;
  std::memcpy(&tensor, gpu_.whole_arguments.at(0).data(), 8);
  std::memcpy(&out, gpu_.whole_arguments.at(1).data(), 8);
  EXPECT_EQ(tensor, out);
  EXPECT_NE(out, 0U);
}

TEST_F(GpuRunMaps, ColumnsToo) {
  request_.args = {
      "m=tensormap(float16[2,6,5,16]:arange, lower=[-1,-1], upper=[1,1], channels=16, pixels=8)",
      "out=int32[1]"};
  ASSERT_EQ(run_sim(request_).errors, "");
  EXPECT_THAT(gpu_.encoded, testing::StartsWith("im2col 6 4 from -1 to 1, 16 8\n"));
}

TEST_F(GpuRunMaps, WhatTheDriverRefusesIsTold) {
  request_.args = {"m=tensormap(int32[4,8]:arange, box=[4,8])", "out=int32[1]"};
  gpu_.status["encode_tiled"] = 1;
  EXPECT_THAT(run_sim(request_).errors, HasSubstr("encoding a tensor map"));
  calls_->encode_tiled = nullptr;
  EXPECT_THAT(run_sim(request_).errors, HasSubstr("too old for tensor maps"));
}

// What the kernel does on the fake GPU: the first word of the texels, whose handle is their address.
class GpuRunTextures : public GpuRun {
 protected:
  void SetUp() override {
    GpuRun::SetUp();
    gpu_.kernel = copy_first_word;
    gpu_.argument_bytes = {8, 8};
    ASSERT_TRUE(
        write_file_atomically(folder_.file("k.ptx"),
                              ".version 8.0\n.target sm_90\n.address_size 64\n"
                              ".visible .entry k(.param .u64 image, .param .u64 out) { ret; }\n"));
    request_.device = WhichGpu::Gpu;
  }
  // Twice, as the kernel runs.
  void expect_made(const std::string& image, const std::string& made) {
    gpu_.textures.clear();
    request_.args = {"image=" + image, "out=u32[1]"};
    ASSERT_EQ(run_sim(request_).errors, "");
    EXPECT_EQ(gpu_.textures, made);
    EXPECT_EQ(gpu_.open_textures, 0);
  }
};

TEST_F(GpuRunTextures, AreArraysWithObjects) {
  request_.args = {"image=texture(u32[4,8]:full:7)", "out=u32[1]"};
  request_.expects = {"out[0] == 7"};
  const SimOutcome outcome = run_sim(request_);
  ASSERT_EQ(outcome.errors, "");
  EXPECT_TRUE(outcome.report->good()) << sim_text(*outcome.report);
  EXPECT_EQ(outcome.report->buffers.at(0).undefined, 0);
}

TEST_F(GpuRunTextures, HaveTheSettingsOfTheArgument) {
  expect_made("texture(u32[4,8]:zeros)",
              "array 8x4x0 format 0x3 channels 1 flags 0x8\ntexture address 1,1,1 filter 0 flags "
              "0x1\n");
  expect_made("texture(f16[2,3,4,2]:zeros, channels=2, filter=linear, address=border)",
              "array 4x3x2 format 0x10 channels 2 flags 0x0\ntexture address 3,3,3 filter 1 flags "
              "0x0\n");
  expect_made(
      "texture(s8[5,9]:zeros, layered=true, read=fractions, coordinates=normalized, "
      "address=mirror)",
      "array 9x0x5 format 0x8 channels 1 flags 0x1\ntexture address 2,2,2 filter 0 flags "
      "0x2\n");
  expect_made("surface(f32[6,4]:zeros)", "array 4x6x0 format 0x20 channels 1 flags 0x2\nsurface\n");
  expect_made("surface(u16[2,3,5]:zeros, layered=true)",
              "array 5x3x2 format 0x2 channels 1 flags 0x3\nsurface\n");
}

TEST_F(GpuRunTextures, WhatASurfaceGetsComesBack) {
  gpu_.kernel = [](runtime::FakeDriver& gpu) {
    std::uint64_t image = 0;
    std::memcpy(&image, gpu.whole_arguments.at(0).data(), 8);
    const std::uint32_t nine = 9;
    std::memcpy(gpu.memory.at(image).data() + 4, &nine, 4);
  };
  request_.args = {"image=surface(u32[2,2])", "out=u32[1]:zeros"};
  request_.expects = {"image[0,1] == 9"};
  const SimOutcome outcome = run_sim(request_);
  ASSERT_EQ(outcome.errors, "");
  EXPECT_TRUE(outcome.report->good()) << sim_text(*outcome.report);
  EXPECT_EQ(outcome.report->buffers.at(0).undefined, 3);
}

TEST_F(GpuRunTextures, WhatTheDriverRefusesIsTold) {
  request_.args = {"image=texture(u32[4,8]:zeros)", "out=u32[1]"};
  const auto error_with = [&](const char* call) {
    gpu_.status = {{call, 1}};
    return run_sim(request_).errors;
  };
  EXPECT_THAT(error_with("array_create"), HasSubstr("making an array of 8 x 4 x 0 texels"));
  EXPECT_THAT(error_with("texture_create"), HasSubstr("making a texture object for"));
  EXPECT_THAT(error_with("array_upload"), HasSubstr("copying 128 bytes to the array"));
  EXPECT_THAT(error_with("array_download"), HasSubstr("copying 128 bytes from the array"));
  EXPECT_EQ(gpu_.open_textures, 0);
  request_.args[0] = "image=surface(u32[4,8]:zeros)";
  EXPECT_THAT(error_with("surface_create"), HasSubstr("making a surface object for"));
  calls_->texture_create = nullptr;
  EXPECT_THAT(run_sim(request_).errors, HasSubstr("too old for texture objects"));
}

TEST_F(GpuRun, AMachineWithoutAGpuIsTold) {
  gpu_.gpus.clear();
  request_.device = WhichGpu::Gpu;
  EXPECT_THAT(run_sim(request_).errors, HasSubstr("[NoDevice]"));
  gpu_.gpus = {{"Fake A100", 8, 0}};
  EXPECT_THAT(run_sim(request_).errors, HasSubstr("[NoDevice]"));
}

}  // namespace
}  // namespace ww::driver::gpu_run_test
