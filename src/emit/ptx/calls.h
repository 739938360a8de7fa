// SPDX-License-Identifier: Apache-2.0
// Functions of the language: the pure ones, shuffles and barriers, atomics, printf.
#pragma once

#include "emit/ptx/context.h"

namespace ww::emit::to_ptx {

// --- atomics -------------------------------------------------------------------------------------
//
// Atomic operations.

/// The old value, where it is used.
Value atomic(Context& c, const ir::Expr& expr, bool is_used);

// --- prints --------------------------------------------------------------------------------------
//
// printf and assert.

void print(Context& c, const ir::Expr& expr);
void check_assert(Context& c, const ir::Stmt& stmt);

Lanes call(Context& c, const ir::Expr& expr);

}  // namespace ww::emit::to_ptx
