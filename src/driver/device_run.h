// SPDX-License-Identifier: Apache-2.0
// A compiled kernel on a device: arguments in, results out, everything between done here. Arrays
// are given as people think of them, all elements in C order (driver/array.h says how they are
// packed); they are put where the layouts of the kernel's buffers want them, and brought back.
//
//     std::vector<float> a(n), b(n);
//     const KernelArg args[] = {input(a), output(b)};
//     const Result<DeviceRun> run = run_on(device, build, args);
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/result.h"
#include "driver/build.h"
#include "runtime/device.h"

namespace ww::driver {

/// The argument of a parameter: an array, or the bytes of a scalar.
struct KernelArg {
  std::span<std::byte> bytes = {};
  std::vector<std::int64_t> shape = {};  // where the kernel leaves extents open
  bool is_output = false;                // has no contents before the run
};

template <typename T>
KernelArg input(std::vector<T>& values, std::vector<std::int64_t> shape = {}) {
  static_assert(std::is_trivially_copyable_v<T>);
  return {.bytes = std::as_writable_bytes(std::span(values)), .shape = std::move(shape)};
}
template <typename T>
KernelArg output(std::vector<T>& values, std::vector<std::int64_t> shape = {}) {
  KernelArg out = input(values, std::move(shape));
  out.is_output = true;
  return out;
}
template <typename T>
KernelArg scalar(T& value) {
  static_assert(std::is_arithmetic_v<T>);
  return {.bytes = std::as_writable_bytes(std::span(&value, 1))};
}

struct DeviceRun {
  runtime::Launch launch = {};
  /// Per parameter: which elements of an output were written. Empty for the others.
  std::vector<std::vector<bool>> written = {};
  std::optional<runtime::Timing> timing = {};
};

struct DeviceRunOptions {
  int timed_launches = 0;  // beyond the run itself, to take the time of
};

/// Runs the kernel of a build that has PTX. Where the device does not keep track of what was
/// written, the kernel runs twice on outputs with different contents. Fails with BadArgument for
/// arguments that do not fit, and as the device does.
Result<DeviceRun> run_on(runtime::Device& device, const Build& build,
                         std::span<const KernelArg> args, const DeviceRunOptions& options = {});

/// What a device would get: the arrays as they lie in its memory, and the launch.
struct HostSide {
  std::vector<std::vector<std::byte>> memory;  // per parameter; empty for scalars
  runtime::Launch launch;                      // arguments of arrays are 0
};
Result<HostSide> host_side(const Build& build, std::span<const KernelArg> args);

}  // namespace ww::driver
