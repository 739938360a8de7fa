// SPDX-License-Identifier: Apache-2.0
// Where a kernel runs: on a real GPU if there is one that fits, else on the virtual one.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "driver/run/device_kind.h"
#include "ir/function.h"
#include "runtime/cuda_calls.h"
#include "runtime/sim_device.h"
#include "target/target.h"

namespace ww::driver {

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
