// SPDX-License-Identifier: Apache-2.0
// Lanes of a warp and threads of a CTA.
#pragma once

#include "emit/ptx/context.h"

namespace ww::emit::to_ptx {

/// Shuffles, votes, elections, reductions of a warp.
Lanes exchange(Context& c, const ir::Expr& expr);
Value cta_reduce(Context& c, const ir::Expr& expr);
void barrier(Context& c, const ir::Expr& expr);

}  // namespace ww::emit::to_ptx
