// SPDX-License-Identifier: Apache-2.0
// Atomic operations.
#pragma once

#include "emit/cuda/context.h"

namespace ww::emit::cuda {

Text atomic(Context& c, const Expr& expr);

}  // namespace ww::emit::cuda
