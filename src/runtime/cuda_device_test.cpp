// SPDX-License-Identifier: Apache-2.0
// Every refusal of a GPU's driver becomes a message, without a GPU.
#include "runtime/cuda_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <algorithm>

#include <string>
#include <vector>

#include "runtime/cuda_calls.h"
#include "runtime/test_cuda.h"

namespace ww::runtime::cuda_device_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(Cuda, EnqueuesOnAStreamOfTheProgram) {
  auto device = CudaDevice::open_at(fake_calls(), 0, target::Arch::Sm90a);
  ASSERT_TRUE(device) << device.error().text;
  ASSERT_TRUE((*device)->load({.bytes = "ptx", .kernel = "scale"}));
  Launch launch = two_arguments();
  launch.dynamic_shared = 100000;
  int stream = 0;
  auto ready = (*device)->prepare(launch);
  ASSERT_TRUE(ready) << ready.error().text;
  EXPECT_EQ(driver_.attributes[8], 100000);
  EXPECT_EQ(driver_.launches, 0);
  ASSERT_TRUE(ready->enqueue(&stream));
  EXPECT_EQ(driver_.launches, 1);
  EXPECT_EQ(driver_.launched.stream, &stream);
  EXPECT_THAT(driver_.arguments, ElementsAre(0x1000, 7));
  EXPECT_EQ(driver_.open_events, 0);
  driver_.status["launch"] = 1;
  const auto refused = ready->enqueue(&stream);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text, HasSubstr("launching `scale` failed"));
}

// Maps are of the memory that an argument leads to, and are made again when it is other memory.
TEST_F(Cuda, MakesTensorMapsWhenItLaunches) {
  const auto device = loaded();
  Launch launch = two_arguments();
  launch.arguments[1] = {.bytes = 128, .block = std::vector<std::byte>(128)};
  MapArgument map{.argument = 1, .array = 0, .offset = 32, .name = "A_map", .array_name = "A"};
  map.map.type = sim::TensorType::F16;
  map.map.rank = 2;
  map.map.dims = {64, 8, 1, 1, 1};
  map.map.strides = {128, 0, 0, 0};
  map.map.box = {64, 4, 1, 1, 1};
  launch.maps = {map};
  ASSERT_TRUE(device->launch(launch));
  EXPECT_EQ(driver_.encoded, "tiled 6 2 dims 64,8 box 64,4 0 0 0\n");
  EXPECT_THAT(driver_.arguments, ElementsAre(0x1000, 0x1020));
  auto ready = device->prepare(launch);
  ASSERT_TRUE(ready) << ready.error().text;
  int stream = 0;
  for (const Address address : {Address{0x2000}, Address{0x2000}, Address{0x3000}}) {
    ASSERT_TRUE(ready->set_address(0, address));
    ASSERT_TRUE(ready->enqueue(&stream));
    EXPECT_THAT(driver_.arguments, ElementsAre(address, address + 0x20));
  }
  EXPECT_EQ(std::ranges::count(driver_.encoded, '\n'), 3);  // one for the same address
  // What no map can be is refused before the driver is asked.
  launch.maps[0].map.strides[0] = 120;
  const auto refused = device->launch(launch);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().text,
            "the tensor map `A_map` of `A`: `strides[0]` is 120, expected a multiple of 16");
  launch.maps[0] = map;
  launch.arguments[0].bits = 0x1008;
  const auto misplaced = device->launch(launch);
  ASSERT_FALSE(misplaced);
  EXPECT_EQ(misplaced.error().text,
            "the tensor map `A_map` of `A`: the tensor is at 0x1028, expected a multiple of 16");
}

TEST_F(Cuda, OpensTheGpuOfANumber) {
  driver_.gpus = {{"Fake T4", 7, 5}, {"Fake H200", 9, 0}};
  EXPECT_TRUE(CudaDevice::open_at(fake_calls(), 1, target::Arch::Sm90a));
  const auto old = CudaDevice::open_at(fake_calls(), 0, target::Arch::Sm90a);
  ASSERT_FALSE(old);
  EXPECT_EQ(old.error().text, "Fake T4 (sm_75) does not run code for sm_90a");
  const auto none = CudaDevice::open_at(fake_calls(), 2, target::Arch::Sm90a);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().text, "there is no GPU 2: the driver has 2");
  driver_.status["init"] = 3;
  EXPECT_FALSE(CudaDevice::open_at(fake_calls(), 1, target::Arch::Sm90a));
}

TEST_F(Cuda, RunsAKernelAndGivesMemoryBack) {
  {
    const auto device = loaded();
    EXPECT_EQ(device->name(), "Fake H200 (sm_90), driver 13.0");
    const auto target = device->native_target();
    ASSERT_TRUE(target.has_value());
    EXPECT_EQ(target->arch, target::Arch::Sm90a);
    EXPECT_EQ(target->ptx, 90);
    const auto address = device->allocate(4, "A");
    ASSERT_TRUE(address);
    const std::array<std::byte, 4> in{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
    std::array<std::byte, 4> out{};
    EXPECT_TRUE(device->upload(*address, in));
    Launch launch = two_arguments();
    launch.dynamic_shared = 100000;
    launch.cluster = Dims{16, 1, 1};
    ASSERT_TRUE(device->launch(launch));
    EXPECT_TRUE(device->download(out, *address));
    EXPECT_EQ(out, in);
  }
  EXPECT_THAT(driver_.arguments, ElementsAre(0x1000, 7));
  EXPECT_EQ(driver_.launched.grid[0], 4U);
  EXPECT_EQ(driver_.attributes[8], 100000);
  EXPECT_EQ(driver_.attributes[14], 1);
  EXPECT_EQ(driver_.cluster[0], 16U);
  EXPECT_TRUE(driver_.memory.empty());
  EXPECT_EQ(driver_.open_events, 0);
  EXPECT_EQ(driver_.released_contexts, 1);
}

// A kernel whose text says what its parameters are.
constexpr std::string_view kAligned = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry other(.param .u64 p) { ret; }
.visible .entry scale(.param .u64 .ptr .global .align 8192 a, .param .u32 n) { ret; }
)";

TEST_F(Cuda, ChecksWhatParametersSayOfTheirPointers) {
  const auto device = open();
  ASSERT_TRUE(device->load({.bytes = std::string(kAligned), .kernel = "scale"}));
  ASSERT_TRUE(device->launch({.arguments = {{0x4000}, {7, 4}}}));
  const Launch unaligned{.arguments = {{0x5000}, {7, 4}}};
  const auto refused = device->launch(unaligned);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, DiagKind::BadLaunch);
  EXPECT_EQ(refused.error().text,
            "`a` is given address 0x5000, expected a multiple of 8192: the kernel declares it with "
            "`.ptr .align 8192`");
  EXPECT_EQ(device->time(unaligned, 1).error().kind, DiagKind::BadLaunch);
  EXPECT_EQ(driver_.launches, 1);
  EXPECT_EQ(device->launch({.arguments = {{0x4000}}}).error().text,
            "1 arguments for `scale`, which has 2 parameters");
}

TEST_F(Cuda, AllocatesAsParametersWantIt) {
  const auto device = open();
  ASSERT_TRUE(device->load({.bytes = std::string(kAligned), .kernel = "scale"}));
  for (const char* const name : {"A", "B", "C"})
    EXPECT_EQ(device->allocate(4, name).value() % 8192, 0U);
  for (const auto& [address, bytes] : driver_.memory)
    EXPECT_GE(address + bytes.size(), (address + 8191) / 8192 * 8192 + 4);
  ASSERT_TRUE(device->load({.bytes = std::string(kAligned), .kernel = "other"}));
  EXPECT_TRUE(driver_.memory.empty());
  EXPECT_EQ(device->allocate(4, "A").value(), 0x1000U);
  EXPECT_EQ(driver_.memory.at(0x1000).size(), 4U);
}

TEST_F(Cuda, LeavesClustersToAKernelThatStatesThem) {
  driver_.required_cluster = 2;
  Launch launch = two_arguments();
  launch.cluster = Dims{2, 1, 1};
  ASSERT_TRUE(loaded()->launch(launch));
  EXPECT_EQ(driver_.launched.attribute_count, 0U);
}

TEST_F(Cuda, RefusesBlocksWithTooMuchSharedMemory) {
  driver_.function[1] = 1024;
  Launch launch = two_arguments();
  launch.dynamic_shared = 231424;
  const auto device = loaded();
  EXPECT_TRUE(device->launch(launch));
  launch.dynamic_shared += 16;
  const auto refused = device->launch(launch);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, DiagKind::BadLaunch);
  EXPECT_EQ(refused.error().text,
            "`scale` needs 232464 bytes of shared memory (1024 static, 231440 dynamic), and the "
            "GPU gives a block at most 232448");
  EXPECT_EQ(driver_.launches, 1);
}

TEST_F(Cuda, RefusesClustersThatTheGpuCannotHold) {
  driver_.active_clusters = 0;
  driver_.function[1] = 512;
  Launch launch = two_arguments();
  launch.block = {256, 1, 1};
  launch.dynamic_shared = 100000;
  launch.cluster = Dims{16, 1, 1};
  const auto device = loaded();
  const auto refused = device->launch(launch);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, DiagKind::BadLaunch);
  EXPECT_EQ(refused.error().text,
            "clusters of 16 CTAs for `scale`: the GPU can hold none with blocks of 256 threads and "
            "100512 bytes of shared memory");
  EXPECT_THAT(refused.error().notes[0].text, HasSubstr("at most 8 CTAs of such blocks"));
  EXPECT_FALSE(device->prepare(launch));
  EXPECT_EQ(driver_.launches, 0);
  // A driver that cannot say leaves it to the launch.
  driver_.status["active_clusters"] = 1;
  EXPECT_TRUE(device->launch(launch));
}

TEST_F(Cuda, RefusesCooperativeLaunchesThatDoNotFit) {
  Launch launch = two_arguments();
  launch.is_cooperative = true;
  launch.grid = {4 * 132, 1, 1};
  const auto device = loaded();
  EXPECT_TRUE(device->launch(launch));
  launch.grid[1] = 2;
  EXPECT_THAT(device->launch(launch).error().text,
              HasSubstr("a cooperative launch of `scale` with 1056 blocks: the GPU holds 528 at "
                        "once, as blocks of "));
  launch.cluster = Dims{2, 1, 1};  // 66 of them
  EXPECT_THAT(device->launch(launch).error().text, HasSubstr("the GPU holds 132 at once"));
}

TEST_F(Cuda, ProgrammaticLaunches) {
  Launch launch = two_arguments();
  const auto device = loaded();
  ASSERT_TRUE(device->launch(launch));
  EXPECT_FALSE(driver_.is_programmatic);
  launch.is_programmatic = true;
  ASSERT_TRUE(device->launch(launch));
  EXPECT_TRUE(driver_.is_programmatic);
}

TEST_F(Cuda, ChoosesAGpuThatRunsTheCode) {
  driver_.gpus = {{"Fake A100", 8, 0}, {"Fake H200", 9, 0}};
  const auto device = CudaDevice::open(fake_calls(), target::Arch::Sm90a);
  ASSERT_TRUE(device);
  EXPECT_THAT((*device)->name(), HasSubstr("Fake H200"));
}

TEST_F(Cuda, OldDriversReadOldPtx) {
  driver_.version = 12060;
  EXPECT_EQ(open()->native_target()->ptx, 85);
}

TEST_F(Cuda, KnowsWhatAKernelTakes) {
  driver_.function = {{1, 2048}, {3, 16}, {4, 40}};
  const auto device = loaded();
  const auto seen = device->resources();
  ASSERT_TRUE(seen.has_value());
  EXPECT_EQ(seen->static_shared, 2048U);
  EXPECT_EQ(seen->local, 16U);
  EXPECT_EQ(seen->registers, 40U);
  driver_.status["function_get"] = 1;
  EXPECT_FALSE(device->resources().has_value());
}

// --- refusals ---

TEST_F(Cuda, SaysWhyThereIsNoGpu) {
  const auto why = [&](DiagKind kind = DiagKind::NoDevice) {
    const auto device = CudaDevice::open(fake_calls(), target::Arch::Sm100a);
    EXPECT_FALSE(device);
    EXPECT_EQ(device.error().kind, kind);
    return device ? "" : device.error().text;
  };
  EXPECT_EQ(why(), "no GPU here runs code for `sm_100a`");
  driver_.gpus.clear();
  EXPECT_EQ(why(), "there is a CUDA driver here, and no GPU");
  driver_.status["device_count"] = 999;
  EXPECT_EQ(why(DiagKind::NoDriver),
            "the CUDA driver does not say which GPUs there are: CUDA error 999");
  driver_.status["init"] = 3;
  EXPECT_EQ(why(DiagKind::NoDriver), "the CUDA driver does not start: CUDA_ERROR_NOT_INITIALIZED");
}

TEST_F(Cuda, ListsTheGpusThatDoNotFit) {
  driver_.gpus = {{"Fake A100", 8, 0}, {"Fake V100", 7, 0}};
  const auto device = CudaDevice::open(fake_calls(), target::Arch::Sm90a);
  ASSERT_FALSE(device);
  ASSERT_EQ(device.error().notes.size(), 2U);
  EXPECT_EQ(device.error().notes[0].text, "GPU 0 is Fake A100 (sm_80)");
  driver_.gpus = {{"Fake V100", 7, 0}};
  EXPECT_EQ(CudaDevice::open(fake_calls()).error().text, "no GPU here is `sm_75` or later");
}

TEST_F(Cuda, ShowsTheLogOfTheCompiler) {
  driver_.status["module_load"] = 218;
  driver_.log = "ptxas application ptx input, line 9; error   : Unknown symbol\n\nfatal\n";
  const auto result = open()->load({.bytes = "ptx", .kernel = "scale"});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, DiagKind::DeviceError);
  EXPECT_EQ(result.error().text, "loading `scale` failed: CUDA_ERROR_INVALID_PTX");
  ASSERT_EQ(result.error().notes.size(), 2U);
  EXPECT_THAT(result.error().notes[0].text, HasSubstr("line 9"));
}

TEST_F(Cuda, SaysWhichPtxAnOldDriverReads) {
  driver_.status["module_load"] = 222;
  driver_.version = 12040;
  const auto result = open()->load({.bytes = "ptx", .kernel = "scale"});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, DiagKind::OldDriver);
  EXPECT_EQ(result.error().text, "loading `scale` failed: CUDA_ERROR_UNSUPPORTED_PTX_VERSION");
  ASSERT_EQ(result.error().notes.size(), 1U);
  EXPECT_EQ(result.error().notes[0].text, "the driver is for CUDA 12.4 and reads PTX up to 8.4");
}

TEST_F(Cuda, KindsTellWhatACallerCanDo) {
  EXPECT_EQ(kind_of_cuda_status(2), DiagKind::OutOfMemory);
  EXPECT_EQ(kind_of_cuda_status(209), DiagKind::NoDevice);
  for (const int trap : {700, 710, 715, 716, 717, 719})
    EXPECT_EQ(kind_of_cuda_status(trap), DiagKind::Trapped) << trap;
  EXPECT_EQ(kind_of_cuda_status(1), DiagKind::DeviceError);
  const auto device = loaded();
  driver_.status["allocate"] = 2;
  EXPECT_EQ(device->allocate(64, "A").error().kind, DiagKind::OutOfMemory);
  driver_.status["event_query"] = 716;
  EXPECT_EQ(device->launch(two_arguments()).error().kind, DiagKind::Trapped);
}

TEST_F(Cuda, NamesWhatFailedAndTheError) {
  struct Row {
    const char* call;
    int status;
    const char* text;
  };
  const std::vector<Row> rows = {
      {"launch", 1, "launching `scale` failed: CUDA_ERROR_INVALID_VALUE"},
      {"event_query", 700,
       "running `scale` failed: CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was "
       "encountered)"},
      {"synchronize", 999, "running `scale` failed: CUDA error 999"},
      {"function_set", 1,
       "giving `scale` 64 bytes of shared memory failed: CUDA_ERROR_INVALID_VALUE"},
      {"event_create", 2, "making an event failed: CUDA_ERROR_OUT_OF_MEMORY"}};
  for (const Row& row : rows) {
    driver_ = {};
    const auto device = loaded();
    driver_.status[row.call] = row.status;
    Launch launch = two_arguments();
    launch.dynamic_shared = 64;
    const auto result = device->launch(launch);
    ASSERT_FALSE(result) << row.call;
    EXPECT_EQ(result.error().text, row.text);
  }
}

TEST_F(Cuda, NamesWhatCouldNotBeCopiedOrFound) {
  const auto device = loaded();
  std::array<std::byte, 4> bytes{};
  const auto address = device->allocate(4, "A");
  driver_.status = {{"allocate", 2}, {"upload", 700}, {"download", 700}, {"module_function", 500}};
  EXPECT_EQ(device->allocate(8, "B").error().text,
            "allocating 8 bytes for `B` failed: CUDA_ERROR_OUT_OF_MEMORY");
  EXPECT_THAT(device->upload(*address, bytes).error().text,
              HasSubstr("copying 4 bytes to the GPU"));
  EXPECT_THAT(device->download(bytes, *address).error().text, HasSubstr("from the GPU"));
  EXPECT_EQ(device->load({.bytes = "ptx", .kernel = "gone"}).error().text,
            "finding `gone` in its module failed: CUDA_ERROR_NOT_FOUND");
  driver_.status = {{"context_retain", 2}};
  EXPECT_THAT(CudaDevice::open(fake_calls()).error().text, HasSubstr("starting on Fake H200"));
}

TEST_F(Cuda, DoesNotWaitForeverAndThenTouchesNothing) {
  {
    const auto device = loaded();
    ASSERT_TRUE(device->allocate(4, "A"));
    driver_.status["event_query"] = 600;
    device->set_patience(0);
    EXPECT_EQ(device->launch(two_arguments()).error().text,
              "running `scale` did not end within 0 seconds");
    EXPECT_TRUE(device->hangs());
  }
  EXPECT_EQ(driver_.memory.size(), 1U);  // freeing it would wait
  EXPECT_EQ(driver_.released_contexts, 0);
  EXPECT_EQ(driver_.reset_contexts, 0);
}

// What failed stays in the context, so that the next device needs a new one.
TEST_F(Cuda, LeavesAFreshContextAfterAFailure) {
  {
    const auto device = loaded();
    driver_.status["event_query"] = 700;
    EXPECT_FALSE(device->launch(two_arguments()));
  }
  EXPECT_EQ(driver_.released_contexts, 1);
  EXPECT_EQ(driver_.reset_contexts, 1);
  driver_.status.clear();
  EXPECT_TRUE(loaded()->launch(two_arguments()));
}

TEST(CudaCalls, NameTheLibraryThatIsMissing) {
  const auto calls = load_cuda_calls("libno_such_driver.so.1");
  ASSERT_FALSE(calls);
  EXPECT_EQ(calls.error().kind, DiagKind::NoDriver);
  EXPECT_EQ(calls.error().text,
            "there is no CUDA driver here: `libno_such_driver.so.1` cannot be loaded");
}

TEST(CudaCalls, NameTheFunctionThatIsMissing) {
  const auto calls = load_cuda_calls("libc.so.6");
  ASSERT_FALSE(calls);
  EXPECT_EQ(calls.error().kind, DiagKind::OldDriver);
  EXPECT_EQ(calls.error().text, "the CUDA driver `libc.so.6` is too old: it has no `cuInit`");
}

}  // namespace
}  // namespace ww::runtime::cuda_device_test
