// SPDX-License-Identifier: Apache-2.0
// Launches and copies that are timed, one by one, in a row and in graphs, without a GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/cuda_device.h"
#include "runtime/test_cuda.h"

namespace ww::runtime::cuda_timing_test {
namespace {

using testing::HasSubstr;

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
  const auto timing = time_copy(*device, *to, *from, 4, 3);
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
  EXPECT_EQ(time_copy(*device, 0x1000, 0x2000, 8, 2).error().text,
            "copying 8 bytes on the GPU failed: CUDA_ERROR_INVALID_VALUE");
  driver_.status = {{"event_query", 700}};
  EXPECT_THAT(time_copy(*device, 0x1000, 0x2000, 0, 2).error().text,
              HasSubstr("copying 0 bytes on the GPU failed: CUDA_ERROR_ILLEGAL_ADDRESS"));
}

// All launches between two events, not an event around each.
TEST_F(Cuda, TimesLaunchesInARow) {
  const auto device = loaded();
  driver_.milliseconds = {12};
  EXPECT_DOUBLE_EQ(*time_in_a_row(*device, two_arguments(), 5), 0.012);
  EXPECT_EQ(driver_.launches, 5);
  EXPECT_EQ(driver_.timed, 1);
  int asked = 0;
  const GpuWork refusing{[&](void*) -> Result<void> {
                           if (++asked == 2) return fail(DiagKind::DeviceError, "enough");
                           return {};
                         },
                         "asking"};
  EXPECT_EQ(time_in_a_row(*device, refusing, 5).error().text, "enough");
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(driver_.open_events, 0);
}

// Where the driver can, they are recorded, and the graph is all that is timed.
TEST_F(Cuda, TimesAGraphOfLaunches) {
  const auto device = loaded(fake_calls_with_graphs());
  driver_.milliseconds = {12};
  EXPECT_DOUBLE_EQ(*time_in_a_row(*device, two_arguments(), 5), 0.012);
  EXPECT_EQ(driver_.launches, 5);
  EXPECT_EQ(driver_.graph_launches, 1);
  EXPECT_EQ(driver_.timed, 1);
  EXPECT_EQ(driver_.open_graphs, 0);
}

TEST_F(Cuda, EndsARecordingThatFails) {
  const auto device = loaded(fake_calls_with_graphs());
  const GpuWork refusing{
      [](void*) -> Result<void> { return fail(DiagKind::DeviceError, "enough"); }, "asking"};
  EXPECT_EQ(time_in_a_row(*device, refusing, 5).error().text, "enough");
  EXPECT_EQ(driver_.open_graphs, 0);
  for (const std::string call : {"stream_create", "capture_begin", "capture_end",
                                 "graph_instantiate", "graph_upload", "graph_launch"}) {
    driver_.status = {{call, 2}};
    EXPECT_THAT(time_in_a_row(*device, two_arguments(), 5).error().text,
                HasSubstr("CUDA_ERROR_OUT_OF_MEMORY"))
        << call;
    EXPECT_EQ(driver_.open_graphs, 0) << call;
    EXPECT_EQ(driver_.graph_launches, 0) << call;
  }
  EXPECT_FALSE(driver_.is_recording);
  EXPECT_EQ(driver_.open_events, 0);
}

}  // namespace
}  // namespace ww::runtime::cuda_timing_test
