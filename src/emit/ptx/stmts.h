// SPDX-License-Identifier: Apache-2.0
// Statements.
#pragma once

#include "emit/ptx/context.h"

namespace ww::emit::to_ptx {

void emit_block(Context& c, const ir::Block& block);

}  // namespace ww::emit::to_ptx
