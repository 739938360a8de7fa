// SPDX-License-Identifier: Apache-2.0
// Functions of intrinsics.def: the pure ones, shuffles and reductions, atomics, printf.
#pragma once

#include "emit/cuda/context.h"

namespace ww::emit::cuda {

Text call(Context& c, const Expr& expr, const Lane* lane);

/// Refuses instructions that the target lacks.
bool check_feature(Context& c, target::Feature feature, std::string_view what, Span span);

}  // namespace ww::emit::cuda
