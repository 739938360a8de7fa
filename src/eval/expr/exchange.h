// SPDX-License-Identifier: Apache-2.0
// Lanes of a warp exchange values. The scheduler has brought the lanes of the mask together before.
#pragma once

#include "eval/cta/cta.h"

namespace ww::eval {

/// Shuffles, votes, elections, reductions of warps.
Words call_exchange(Cta& cta, const ir::Expr& expr, Threads ts);
Words cta_reduce(Cta& cta, const ir::Expr& expr, Threads ts);
/// 1 for the first lane of each warp that is there; hardware may take another.
Words elect(Cta& cta, Threads ts);

}  // namespace ww::eval
