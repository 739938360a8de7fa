// SPDX-License-Identifier: Apache-2.0
// Expressions. The value of an expression for n threads is n words; that of a vector of L lanes is
// L·n words, lane by lane.
#pragma once

#include "eval/cta/cta.h"

namespace ww::eval {

Words evaluate(Cta& cta, ir::ExprId id, Threads ts);
/// The same for a value that is only passed on: it keeps its undefined bits, which are not found.
Contents evaluate_copied(Cta& cta, ir::ExprId id, Threads ts);
/// One word for all.
Words constant(Cta& cta, Word value, std::size_t size);
/// Zeros.
Contents empty_contents(Cta& cta, std::size_t size);

/// The last value of a loop's variable must be in its type.
void check_last(Cta& cta, const ir::Stmt& loop, Thread t, Word first, std::int64_t trips);
/// 1 for the first lane of each warp that is there; hardware may take another.
Words elect(Cta& cta, Threads ts);

}  // namespace ww::eval
