// SPDX-License-Identifier: Apache-2.0
// A device on the fake driver (runtime/test_driver.h), for tests only.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "runtime/cuda_device.h"
#include "runtime/test_driver.h"

namespace ww::runtime {

class Cuda : public testing::Test {
 protected:
  void SetUp() override { fake = &driver_; }
  void TearDown() override { fake = nullptr; }

  std::unique_ptr<CudaDevice> open(const CudaCalls& calls = fake_calls()) {
    auto device = CudaDevice::open(calls);
    EXPECT_TRUE(device) << device.error().text;
    return *std::move(device);
  }
  /// A device with a loaded kernel of two parameters.
  std::unique_ptr<CudaDevice> loaded(const CudaCalls& calls = fake_calls()) {
    auto device = open(calls);
    EXPECT_TRUE(device->load({.bytes = "ptx", .kernel = "scale"}));
    return device;
  }
  static Launch two_arguments() { return {.grid = {4, 1, 1}, .arguments = {{0x1000}, {7, 4}}}; }

  FakeDriver driver_;
};

}  // namespace ww::runtime
