// SPDX-License-Identifier: Apache-2.0
// Values that the host knows before the launch.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "eval/eval.h"
#include "eval/value/arithmetic.h"

namespace ww::eval {

/// The value of each variable that is known before the launch, by VarId.
using HostValues = std::vector<std::optional<Word>>;

/// The value of an expression over constants and these variables, or nullopt if it needs more.
std::optional<Word> host_value(const ir::Function& function, const HostValues& values,
                               ir::ExprId expr);

/// Scalars get their values, runtime extents those of the arrays, and the host part's bindings
/// follow from them. BadArgument naming the parameter when something does not fit.
Result<HostValues> bind_arguments(const ir::Function& function,
                                  std::span<const Argument> arguments);

}  // namespace ww::eval
