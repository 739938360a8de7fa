// SPDX-License-Identifier: Apache-2.0
// PTX instructions that the program contains.
#pragma once

#include "emit/ptx/context.h"

namespace ww::emit::to_ptx {

void ptx_call(Context& c, const ir::PtxCall& call);

}  // namespace ww::emit::to_ptx
