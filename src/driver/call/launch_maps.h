// SPDX-License-Identifier: Apache-2.0
// The tensor maps of a kernel (ir/tensor_map.h) with the numbers of a launch.
#pragma once

#include <vector>

#include "base/result.h"
#include "eval/launch/host_values.h"
#include "ir/function.h"
#include "runtime/device.h"

namespace ww::driver {

/// The maps of a lowered kernel, in the order in which it gets them behind its other parameters, as
/// arguments that a device completes by the address. BadLaunch for numbers that the launch does not
/// know.
Result<std::vector<runtime::MapArgument>> launch_maps(const ir::Function& lowered,
                                                      const eval::HostValues& values);

}  // namespace ww::driver
