// SPDX-License-Identifier: Apache-2.0
#include "num/host_lanes.h"

#include <gtest/gtest.h>

#include <cmath>

namespace ww::num::host_lanes_test {
namespace {

// Which of two ways is taken; one of them with an instruction that plain lanes lack.
float way(float a, float b, float c) {
  return in_lanes([=] { return std::fma(a, b, c) + 100; }, [=] { return a * b + c; });
}

TEST(HostLanes, TakeTheWayThatTheyAreToldTo) {
  const bool before = use_wide_lanes(false);
  EXPECT_EQ(way(2, 3, 4), 10);
  use_wide_lanes(true);
  const bool are_wide = use_wide_lanes(true);
  EXPECT_EQ(way(2, 3, 4), are_wide ? 110 : 10);
  use_wide_lanes(before);
  if (!are_wide) GTEST_SKIP() << "needs a processor of x86-64-v3";
}

}  // namespace
}  // namespace ww::num::host_lanes_test
