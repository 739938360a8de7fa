// SPDX-License-Identifier: Apache-2.0
#include "ir/print/name_frames.h"

#include <gtest/gtest.h>

namespace ww::ir::print_name_frames_test {
namespace {

TEST(NameFrames, NearestFreeName) {
  NameFrames frames;
  frames.reserve("x_2");
  EXPECT_EQ(frames.bind("x"), "x");
  EXPECT_EQ(frames.bind("x"), "x_1");
  EXPECT_EQ(frames.bind("x"), "x_3");
  EXPECT_EQ(frames.bind("x_1"), "x_1_1");
  EXPECT_EQ(frames.bind("y"), "y");
}

TEST(NameFrames, BlocksForget) {
  NameFrames frames;
  EXPECT_EQ(frames.bind("x"), "x");
  frames.in_frame([&] {
    EXPECT_EQ(frames.bind("x"), "x_1");
    EXPECT_EQ(frames.bind("x"), "x_2");
    EXPECT_EQ(frames.bind("x_1"), "x_1_1");
  });
  EXPECT_EQ(frames.bind("x"), "x_1");
  EXPECT_EQ(frames.bind("x_1"), "x_1_1");
  EXPECT_EQ(frames.bind("x"), "x_2");
}

// A name that is taken often is not looked for from the beginning each time.
TEST(NameFrames, ManyOfOneName) {
  NameFrames frames;
  std::string last;
  for (int i = 0; i <= 20'000; ++i) last = frames.bind("x");
  EXPECT_EQ(last, "x_20000");
}

}  // namespace
}  // namespace ww::ir::print_name_frames_test
