// SPDX-License-Identifier: Apache-2.0
#include "base/cancel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace ww {
namespace {

TEST(Cancel, OnlyInAScopeWhoseFlagIsSet) {
  EXPECT_NO_THROW(stop_if_cancelled());
  std::atomic<bool> outer = false;
  const CancelScope scope(outer);
  EXPECT_NO_THROW(stop_if_cancelled());
  {
    std::atomic<bool> inner = true;
    const CancelScope within(inner);
    EXPECT_THROW(stop_if_cancelled(), Cancelled);
  }
  EXPECT_NO_THROW(stop_if_cancelled());
  outer = true;
  EXPECT_THROW(stop_if_cancelled(), Cancelled);
  std::thread([] { EXPECT_NO_THROW(stop_if_cancelled()); }).join();
}

}  // namespace
}  // namespace ww
