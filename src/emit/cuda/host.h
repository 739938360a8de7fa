// SPDX-License-Identifier: Apache-2.0
// The host program around a kernel: it puts the arguments on the device, launches the kernel and
// compares what comes back.
#pragma once

#include <string>

#include "base/result.h"
#include "emit/cuda/emit.h"

namespace ww::emit::cuda {

/// The text behind the kernel: arrays with contents, and `main`. TooLarge when the arrays have more
/// bytes than a source file should hold, BadArgument when the arguments do not fit the kernel.
Result<std::string> host_program(const ir::Function& f, const std::string& kernel,
                                 const HostProgram& host);

}  // namespace ww::emit::cuda
