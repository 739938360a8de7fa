// SPDX-License-Identifier: Apache-2.0
// A compiled kernel on a device: arguments in, results out, everything between done here. Arrays
// are given as people think of them, all elements in C order (driver/args/array.h says how they are
// packed); they are put where the layouts of the kernel's buffers want them, and brought back.
//
//     std::vector<float> a(n), b(n);
//     const KernelArg args[] = {input(a), output(b), scalar(1000)};
//     const Result<DeviceRun> run = run_on(device, build, args);
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/result.h"
#include "driver/build.h"
#include "driver/launch/launch.h"
#include "eval/eval.h"
#include "eval/launch/host_values.h"
#include "ir/function.h"
#include "runtime/cuda_calls.h"
#include "runtime/device.h"
#include "runtime/sim_device.h"
#include "target/target.h"

namespace ww::driver {

/// The argument of a parameter: an array where it lies, or a number.
struct KernelArg {
  std::span<const std::byte> contents = {};  // of an array, before the run
  std::span<std::byte> results = {};         // after it, the same bytes; empty: it stays as it is
  std::vector<std::int64_t> shape = {};      // where the kernel leaves extents open
  bool is_output = false;                    // has no contents before the run
  std::uint64_t bits = 0;                    // of a number
  std::uint32_t size = 0;                    // its bytes; 0: those of the parameter
  bool is_float = false;                     // the number is
};

/// An array that the kernel reads.
template <typename T>
// NOLINTNEXTLINE(performance-unnecessary-value-param): it is moved
KernelArg input(const std::vector<T>& values, std::vector<std::int64_t> shape = {}) {
  static_assert(std::is_trivially_copyable_v<T>);
  return {.contents = std::as_bytes(std::span(values)), .shape = std::move(shape)};
}
/// An array that the kernel reads and changes.
template <typename T>
// NOLINTNEXTLINE(performance-unnecessary-value-param): it is moved
KernelArg inout(std::vector<T>& values, std::vector<std::int64_t> shape = {}) {
  static_assert(std::is_trivially_copyable_v<T>);
  KernelArg out = input(values, std::move(shape));
  out.results = std::as_writable_bytes(std::span(values));
  return out;
}
/// An array that the kernel fills; what it held before is not seen.
template <typename T>
KernelArg output(std::vector<T>& values, std::vector<std::int64_t> shape = {}) {
  KernelArg out = inout(values, std::move(shape));
  out.is_output = true;
  return out;
}
/// A number of the parameter's width: `scalar(1000)` for an int32, `scalar(1.5F)` for a float32.
template <typename T>
KernelArg scalar(T value) {
  static_assert(std::is_arithmetic_v<T>);
  KernelArg out{.size = sizeof value, .is_float = std::is_floating_point_v<T>};
  std::memcpy(&out.bits, &value, sizeof value);
  return out;
}

/// The arrays and numbers of a run where they lie, for a device and for the reference evaluator.
std::vector<KernelArg> kernel_args(LaunchValues& values);
std::vector<eval::Argument> eval_arguments(LaunchValues& values);

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
/// arguments that do not fit: numbers, shapes, the type of a scalar, an `input` that the kernel
/// writes; and as the device does.
Result<DeviceRun> run_on(runtime::Device& device, const Build& build,
                         std::span<const KernelArg> args, const DeviceRunOptions& options = {});

/// The launch for arguments whose arrays are in a device's memory already, at addresses of 0: only
/// the sizes of `contents` count. BadArgument for an array whose elements the kernel wants in
/// another order than C order, too: it would have to be moved.
Result<runtime::Launch> launch_in_place(const Build& build, std::span<const KernelArg> args);

/// The tensor maps of a lowered kernel, in the order in which it gets them behind its other parameters,
/// as arguments that a device completes by the address. BadLaunch for numbers that the launch does not
/// know.
Result<std::vector<runtime::MapArgument>> launch_maps(const ir::Function& lowered,
                                                      const eval::HostValues& values);

/// What a device would get: the arrays as they lie in its memory, and the launch.
struct HostSide {
  std::vector<std::vector<std::byte>> memory;  // per parameter; empty for scalars
  runtime::Launch launch;                      // arguments of arrays are 0
};
Result<HostSide> host_side(const Build& build, std::span<const KernelArg> args);

// --- what `--device` names -----------------------------------------------------------------------
//
// What `--device` names.

/// A report never has Auto: by then the choice is made.
enum class DeviceKind : std::uint8_t { Auto, Sim, Cuda, Eval };

struct DeviceRow {
  DeviceKind kind;
  std::string_view name;
  std::string_view help;  // a line
};
/// One row for each kind, in their order.
std::span<const DeviceRow> device_rows();

std::string_view name_of(DeviceKind kind);
std::optional<DeviceKind> parse_device(std::string_view name);

// --- the choice ----------------------------------------------------------------------------------
//
// Where a kernel runs: on a real GPU if there is one that fits, else on the virtual one.

struct DeviceChoice {
  std::unique_ptr<runtime::Device> device = {};
  runtime::SimDevice* sim = nullptr;  // the same, where it is the virtual GPU
  /// What to compile for; on the virtual GPU what was given, or default_target.
  target::Target target = {};
  std::string remark = {};  // why a GPU that is there was not taken; or empty
};

/// `wish` is not Eval; `given` is the target asked for. NoDevice when a GPU is wanted and none
/// fits; with Auto that is the virtual GPU. `calls` is the driver, or why there is none.
Result<DeviceChoice> choose_device(DeviceKind wish, const ir::Function& tile,
                                   std::optional<target::Target> given, sim::RunOptions options,
                                   const Result<runtime::CudaCalls>& calls);

}  // namespace ww::driver
