// SPDX-License-Identifier: Apache-2.0
#include "explore/session.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace ww::explore {
namespace {

TEST(UnreadAnswers, AreTakenUpToTheBound) {
  UnreadAnswers unread(100);
  auto first = unread.take(60);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(unread.take(41), nullptr);
  EXPECT_EQ(unread.bytes(), 60U);
  const auto second = unread.take(40);
  EXPECT_NE(second, nullptr);
  first.reset();
  EXPECT_EQ(unread.bytes(), 40U);
  EXPECT_NE(unread.take(60), nullptr);
}

// Else nobody could ever have it.
TEST(UnreadAnswers, OneAloneMayBeLarger) {
  UnreadAnswers unread(100);
  auto large = unread.take(1000);
  ASSERT_NE(large, nullptr);
  EXPECT_EQ(unread.take(1), nullptr);
  large.reset();
  EXPECT_NE(unread.take(1), nullptr);
}

TEST(UnreadAnswers, ThreadsNeverTakeMoreThanTheBound) {
  UnreadAnswers unread(100);
  std::atomic<bool> is_over = false;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 10'000; ++i)
        if (const auto taken = unread.take(30); unread.bytes() > 100) is_over = true;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(is_over);
  EXPECT_EQ(unread.bytes(), 0U);
}

}  // namespace
}  // namespace ww::explore
