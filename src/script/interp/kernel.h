// SPDX-License-Identifier: Apache-2.0
// A kernel from its `def`.
#pragma once

#include <vector>

#include "script/interp/arguments.h"
#include "script/interp/context.h"

namespace ww::script {

/// Compiles the body of a kernel; `constants` are the values of T.constexpr parameters.
KernelObject* build_kernel(Context& in, const FunctionObject& def,
                           const std::vector<CallArgs::Named>& constants, Span span);

}  // namespace ww::script
