// SPDX-License-Identifier: Apache-2.0
// Lanes of a warp and threads of a CTA.
#pragma once

#include "emit/cuda/context.h"

namespace ww::emit::cuda {

/// Shuffles, votes, elections.
Text exchange(Context& c, const Expr& expr, const Lane* lane);
/// Of a warp or a CTA.
Text reduction(Context& c, const Expr& expr);

}  // namespace ww::emit::cuda
