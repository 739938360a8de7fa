// SPDX-License-Identifier: Apache-2.0
// Index arithmetic that leaves its type (ir/indices.h), found with the numbers that did it.
#pragma once

#include "eval/cta/cta.h"

namespace ww::eval {

/// The operands of an operator: `b` alone for a negation, first and stride for a ramp.
void check_overflow(Cta& cta, ir::ExprId id, const Words& a, const Words& b, Threads ts);
/// A bound that is converted must be the same number afterwards.
void check_cast(Cta& cta, ir::ExprId id, const Words& values, Threads ts);
/// The last value of a loop's variable must be in its type.
void check_last(Cta& cta, const ir::Stmt& loop, Thread t, Word first, std::int64_t trips);

}  // namespace ww::eval
