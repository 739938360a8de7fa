// SPDX-License-Identifier: Apache-2.0
// A GPU's driver made of a few functions, which can be told to fail: every refusal of the real one
// becomes a message, without a GPU.
#include "runtime/cuda_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace ww::runtime {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct FakeGpu {
  std::string name;
  int major, minor;
};

/// What the fake driver has, what it is told to answer, and what was asked of it.
struct FakeDriver {
  std::vector<FakeGpu> gpus{{"Fake H200", 9, 0}};
  int version = 13000;
  std::map<std::string, int> status;  // by call; success otherwise
  std::string log;                    // of the compiler
  int required_cluster = 0;
  int queries_until_done = 2;
  std::vector<float> milliseconds{3, 1, 2};

  std::map<std::uint64_t, std::vector<std::byte>> memory;
  std::map<int, int> attributes;
  std::vector<std::uint64_t> arguments;
  CudaLaunchConfig launched;
  std::array<std::uint32_t, 3> cluster{};
  int launches = 0;
  int timed = 0;
  int open_events = 0;
  int released_contexts = 0;

  [[nodiscard]] int answer(const std::string& call) const {
    const auto found = status.find(call);
    return found == status.end() ? 0 : found->second;
  }
};
FakeDriver* fake = nullptr;

CudaCalls fake_calls() {
  CudaCalls calls;
  calls.init = [](unsigned) { return fake->answer("init"); };
  calls.driver_version = [](int* version) {
    *version = fake->version;
    return 0;
  };
  calls.error_name = [](int error, const char** name) {
    static const std::map<int, const char*> names = {
        {3, "CUDA_ERROR_NOT_INITIALIZED"}, {2, "CUDA_ERROR_OUT_OF_MEMORY"},
        {1, "CUDA_ERROR_INVALID_VALUE"},   {218, "CUDA_ERROR_INVALID_PTX"},
        {500, "CUDA_ERROR_NOT_FOUND"},     {700, "CUDA_ERROR_ILLEGAL_ADDRESS"}};
    const auto found = names.find(error);
    *name = found == names.end() ? nullptr : found->second;
    return found == names.end() ? 1 : 0;
  };
  calls.error_string = [](int error, const char** text) {
    *text = error == 700 ? "an illegal memory access was encountered" : nullptr;
    return error == 700 ? 0 : 1;
  };
  calls.device_count = [](int* count) {
    *count = static_cast<int>(fake->gpus.size());
    return fake->answer("device_count");
  };
  calls.device_get = [](int* device, int ordinal) {
    *device = ordinal;
    return 0;
  };
  calls.device_name = [](char* name, int bytes, int device) {
    std::strncpy(name, fake->gpus[static_cast<std::size_t>(device)].name.c_str(),
                 static_cast<std::size_t>(bytes));
    return 0;
  };
  calls.device_attribute = [](int* value, int attribute, int device) {
    const FakeGpu& gpu = fake->gpus[static_cast<std::size_t>(device)];
    *value = attribute == 75 ? gpu.major : gpu.minor;
    return 0;
  };
  calls.context_retain = [](void** context, int) {
    *context = fake;
    return fake->answer("context_retain");
  };
  calls.context_release = [](int) {
    ++fake->released_contexts;
    return 0;
  };
  calls.context_set = [](void*) { return 0; };
  calls.module_load = [](void** module, const void*, unsigned count, int* options, void** values) {
    *module = fake;
    if (count == 2 && options[0] == 5)
      std::memcpy(values[0], fake->log.c_str(), fake->log.size() + 1);
    return fake->answer("module_load");
  };
  calls.module_unload = [](void*) { return 0; };
  calls.module_function = [](void** function, void*, const char*) {
    *function = fake;
    return fake->answer("module_function");
  };
  calls.function_get = [](int* value, int, void*) {
    *value = fake->required_cluster;
    return 0;
  };
  calls.function_set = [](void*, int attribute, int value) {
    fake->attributes[attribute] = value;
    return fake->answer("function_set");
  };
  calls.allocate = [](std::uint64_t* address, std::size_t bytes) {
    *address = 0x1000 * (fake->memory.size() + 1);
    fake->memory[*address].resize(bytes);
    return fake->answer("allocate");
  };
  calls.release = [](std::uint64_t address) {
    fake->memory.erase(address);
    return 0;
  };
  calls.upload = [](std::uint64_t to, const void* from, std::size_t bytes) {
    std::memcpy(fake->memory[to].data(), from, bytes);
    return fake->answer("upload");
  };
  calls.download = [](void* to, std::uint64_t from, std::size_t bytes) {
    std::memcpy(to, fake->memory[from].data(), bytes);
    return fake->answer("download");
  };
  calls.copy = [](std::uint64_t to, std::uint64_t from, std::size_t bytes) {
    if (const int status = fake->answer("copy"); status != 0) return status;
    std::memcpy(fake->memory[to].data(), fake->memory[from].data(), bytes);
    return 0;
  };
  calls.launch = [](const CudaLaunchConfig* config, void*, void** arguments, void**) {
    fake->launched = *config;
    if (config->attribute_count == 1) fake->cluster = config->attributes[0].value.dims;
    fake->arguments.clear();
    for (int i = 0; i < 2; ++i)
      fake->arguments.push_back(*static_cast<std::uint64_t*>(arguments[i]));
    ++fake->launches;
    return fake->answer("launch");
  };
  calls.event_create = [](void** event, unsigned) {
    *event = fake;
    ++fake->open_events;
    return fake->answer("event_create");
  };
  calls.event_destroy = [](void*) {
    --fake->open_events;
    return 0;
  };
  calls.event_record = [](void*, void*) { return 0; };
  calls.event_query = [](void*) {
    static int asked = 0;
    if (const int status = fake->answer("event_query"); status != 0) return status;
    return ++asked % fake->queries_until_done == 0 ? 0 : 600;
  };
  calls.event_elapsed = [](float* milliseconds, void*, void*) {
    const auto which = static_cast<std::size_t>(fake->timed++) % fake->milliseconds.size();
    *milliseconds = fake->milliseconds[which];
    return 0;
  };
  calls.synchronize = [] { return fake->answer("synchronize"); };
  return calls;
}

class Cuda : public testing::Test {
 protected:
  void SetUp() override { fake = &driver_; }
  void TearDown() override { fake = nullptr; }

  std::unique_ptr<CudaDevice> open() {
    auto device = CudaDevice::open(fake_calls());
    EXPECT_TRUE(device) << device.error().text;
    return *std::move(device);
  }
  /// A device with a loaded kernel of two parameters.
  std::unique_ptr<CudaDevice> loaded() {
    auto device = open();
    EXPECT_TRUE(device->load({.bytes = "ptx", .kernel = "scale"}));
    return device;
  }
  static Launch two_arguments() { return {.grid = {4, 1, 1}, .arguments = {{0x1000}, {7, 4}}}; }

  FakeDriver driver_;
};

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

TEST_F(Cuda, LeavesClustersToAKernelThatStatesThem) {
  driver_.required_cluster = 2;
  Launch launch = two_arguments();
  launch.cluster = Dims{2, 1, 1};
  ASSERT_TRUE(loaded()->launch(launch));
  EXPECT_EQ(driver_.launched.attribute_count, 0U);
}

TEST_F(Cuda, TimesTheMedianAndLeavesTheFirstLaunchOut) {
  driver_.milliseconds = {90, 5, 3, 4, 8};
  const auto timing = loaded()->time(two_arguments(), 4);
  ASSERT_TRUE(timing);
  EXPECT_EQ(timing->launches, 4);
  EXPECT_DOUBLE_EQ(timing->median, 0.0045);
  EXPECT_DOUBLE_EQ(timing->fastest, 0.003);
  EXPECT_DOUBLE_EQ(timing->slowest, 0.008);
  EXPECT_EQ(driver_.launches, 5);
}

TEST_F(Cuda, CopiesOnTheGpuAndTakesTheTime) {
  const auto device = loaded();
  const auto from = device->allocate(4, "A");
  const auto to = device->allocate(4, "B");
  const std::array<std::byte, 4> in{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
  std::array<std::byte, 4> out{};
  ASSERT_TRUE(device->upload(*from, in));
  ASSERT_TRUE(device->copy(*to, *from, 4));
  ASSERT_TRUE(device->copy(*to, *from, 0));
  ASSERT_TRUE(device->download(out, *to));
  EXPECT_EQ(out, in);
  driver_.milliseconds = {90, 5, 3, 4};
  const auto timing = device->time_copy(*to, *from, 4, 3);
  ASSERT_TRUE(timing);
  EXPECT_EQ(timing->launches, 3);
  EXPECT_DOUBLE_EQ(timing->median, 0.004);
  EXPECT_EQ(driver_.launches, 0);
  EXPECT_EQ(driver_.open_events, 0);
}

TEST_F(Cuda, NamesACopyOnTheGpuThatFailed) {
  const auto device = loaded();
  driver_.status["copy"] = 1;
  EXPECT_EQ(device->copy(0x1000, 0x2000, 8).error().text,
            "copying 8 bytes on the GPU failed: CUDA_ERROR_INVALID_VALUE");
  EXPECT_EQ(device->time_copy(0x1000, 0x2000, 8, 2).error().text,
            "copying 8 bytes on the GPU failed: CUDA_ERROR_INVALID_VALUE");
  driver_.status = {{"event_query", 700}};
  EXPECT_THAT(device->time_copy(0x1000, 0x2000, 0, 2).error().text,
              HasSubstr("copying 0 bytes on the GPU failed: CUDA_ERROR_ILLEGAL_ADDRESS"));
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

// --- refusals ---

TEST_F(Cuda, SaysWhyThereIsNoGpu) {
  const auto why = [&] {
    const auto device = CudaDevice::open(fake_calls(), target::Arch::Sm100a);
    EXPECT_FALSE(device);
    EXPECT_EQ(device.error().kind, DiagKind::NoDevice);
    return device ? "" : device.error().text;
  };
  EXPECT_EQ(why(), "no GPU here runs code for `sm_100a`");
  driver_.gpus.clear();
  EXPECT_EQ(why(), "there is a CUDA driver here, and no GPU");
  driver_.status["device_count"] = 999;
  EXPECT_EQ(why(), "the CUDA driver does not say which GPUs there are: CUDA error 999");
  driver_.status["init"] = 3;
  EXPECT_EQ(why(), "the CUDA driver does not start: CUDA_ERROR_NOT_INITIALIZED");
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
  }
  EXPECT_EQ(driver_.memory.size(), 1U);  // freeing it would wait
}

TEST(CudaCalls, NameTheLibraryThatIsMissing) {
  const auto calls = load_cuda_calls("libno_such_driver.so.1");
  ASSERT_FALSE(calls);
  EXPECT_EQ(calls.error().kind, DiagKind::NoDevice);
  EXPECT_EQ(calls.error().text,
            "there is no CUDA driver here: `libno_such_driver.so.1` cannot be loaded");
}

TEST(CudaCalls, NameTheFunctionThatIsMissing) {
  const auto calls = load_cuda_calls("libc.so.6");
  ASSERT_FALSE(calls);
  EXPECT_EQ(calls.error().text, "the CUDA driver `libc.so.6` is too old: it has no `cuInit`");
}

}  // namespace
}  // namespace ww::runtime
