// SPDX-License-Identifier: Apache-2.0
// What `--device` names.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ir/function.h"
#include "runtime/cuda_calls.h"
#include "runtime/sim_device.h"
#include "target/target.h"

namespace ww::driver {

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
