// SPDX-License-Identifier: Apache-2.0
// PTX instructions.
#pragma once

#include "emit/cuda/context.h"

namespace ww::emit::cuda {

void ptx_call(Context& c, const Stmt& stmt);
/// What follows a statement that waits for registers of `tcgen05.ld`.
void settle(Context& c, const Stmt& stmt);

}  // namespace ww::emit::cuda
