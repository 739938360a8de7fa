// SPDX-License-Identifier: Apache-2.0
// Functions that no module defines and every CUDA program may call: printf, assert, malloc, free.
// And the call of functions that modules do define.
#pragma once

#include <optional>
#include <string_view>

#include "sim/op.h"

namespace ww::sim {

/// The op that does what the function of this name does.
std::optional<RunOp> find_builtin(std::string_view name);

/// `call`: CallOp names its CallSite.
void run_call(Warp& warp, const Op& op);

}  // namespace ww::sim
