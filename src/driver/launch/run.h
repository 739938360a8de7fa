// SPDX-License-Identifier: Apache-2.0
// A launch with the memory that it works on, on any device: contents in, results out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/cuda_device.h"
#include "runtime/device.h"

namespace ww::driver {

/// Memory of a device for a launch.
struct DeviceMemory {
  std::string name = {};
  runtime::Address address = 0;  // or the handle of a texture
  std::unique_ptr<runtime::CudaTexture> texture = {};
  std::span<const std::byte> contents = {};  // before the launch
  std::span<std::byte> results = {};         // after it, also the same bytes; empty: not wanted
  /// By byte, of memory whose results are wanted: not 0 where it has no contents, and after the
  /// launch where nothing was written, either. Empty: all of it has contents.
  std::span<std::uint8_t> undefined = {};
};

/// Runs the loaded kernel. Where the device does not keep track of what is written and some bytes have
/// no contents, it runs twice, with two patterns there: bytes that keep both were not written.
/// Elsewhere memory is without contents wholly or not at all.
Result<void> run_launch(runtime::Device& device, const runtime::Launch& launch,
                        std::span<DeviceMemory> memory);

}  // namespace ww::driver
