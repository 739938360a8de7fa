// SPDX-License-Identifier: Apache-2.0
#include "driver/run/device_run.h"

#include <gtest/gtest.h>

namespace ww::driver::device_kind_test {
namespace {

TEST(DeviceKind, EveryNameIsReadBack) {
  for (const DeviceKind kind :
       {DeviceKind::Auto, DeviceKind::Sim, DeviceKind::Cuda, DeviceKind::Eval})
    EXPECT_EQ(parse_device(name_of(kind)), kind);
  EXPECT_EQ(name_of(DeviceKind::Cuda), "cuda");
  EXPECT_EQ(parse_device("gpu"), std::nullopt);
  EXPECT_EQ(parse_device(""), std::nullopt);
}

}  // namespace
}  // namespace ww::driver::device_kind_test
