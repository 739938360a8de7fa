// SPDX-License-Identifier: Apache-2.0
// printf and assert.
#pragma once

#include "emit/ptx/context.h"

namespace ww::emit::to_ptx {

void print(Context& c, const ir::Expr& expr);
void check_assert(Context& c, const ir::Stmt& stmt);

}  // namespace ww::emit::to_ptx
