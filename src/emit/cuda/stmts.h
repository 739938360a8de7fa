// SPDX-License-Identifier: Apache-2.0
// Statements.
#pragma once

#include "emit/cuda/context.h"

namespace ww::emit::cuda {

void emit_block(Context& c, const ir::Block& block);

}  // namespace ww::emit::cuda
