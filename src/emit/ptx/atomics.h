// SPDX-License-Identifier: Apache-2.0
// Atomic operations.
#pragma once

#include "emit/ptx/context.h"

namespace ww::emit::to_ptx {

/// The old value, where it is used.
Value atomic(Context& c, const ir::Expr& expr, bool is_used);

}  // namespace ww::emit::to_ptx
