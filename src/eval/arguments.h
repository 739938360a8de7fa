// SPDX-License-Identifier: Apache-2.0
// Arguments and memory of parameters: what the host does before and after a launch.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "eval/eval.h"
#include "eval/kernel.h"
#include "eval/storage.h"

namespace ww::eval {

/// Scalars get their values, runtime extents those of the arrays, and the host part's bindings
/// follow from them. BadArgument naming the parameter when something does not fit.
Result<HostValues> bind_arguments(const ir::Function& function,
                                  std::span<const Argument> arguments);

/// The memory of a parameter, filled from its argument through the layout of the buffer.
Storage load_argument(const Kernel& kernel, const Root& root, const BufferArg& argument);
/// The other way round; `written` gets a flag for each element.
void store_argument(const Kernel& kernel, const Root& root, Storage& storage,
                    const BufferArg& argument, std::vector<bool>& written);

}  // namespace ww::eval
