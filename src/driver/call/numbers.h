// SPDX-License-Identifier: Apache-2.0
// What calls of kernels and of plain PTX check alike: numbers and arrays of the caller's. Messages
// name the parameter by `title`, which brings its own quotes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "driver/call/call.h"
#include "driver/run/device_run.h"
#include "num/dtype.h"
#include "sim/launch.h"

namespace ww::driver {

/// "1000", "0.5", "an array".
std::string number_text(const CallArg& arg);
/// The bits of a number as that type. A float is no integer; an integer may be a float. BadArgument
/// for an integer that the type does not hold, too.
Result<std::uint64_t> bits_of_number(const CallArg& arg, num::DType type, std::string_view title);

/// BadArgument for an array whose elements do not follow each other, the last dimension fastest.
Result<void> check_c_order(const CallArg& array, std::string_view title);

/// The arguments of a call in the form that the driver's runs take, if they fit the parameters: their
/// number, an array for an array, type, rank, known extents, C order, an array that may be written
/// where the kernel writes; numbers that the parameter's type holds. BadArgument with the parameter's
/// name, what came and what was expected.
Result<std::vector<KernelArg>> bind_call(const ir::Function& tile, CallArgs args);

Result<sim::RunOptions> sim_options(const CallOptions& options);

}  // namespace ww::driver
