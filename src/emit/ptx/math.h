// SPDX-License-Identifier: Apache-2.0
// Mathematics.
#pragma once

#include <span>

#include "emit/ptx/context.h"

namespace ww::emit::to_ptx {

Value float_call(Context& c, Intrinsic callee, DType type, std::span<const Value> args);

}  // namespace ww::emit::to_ptx
