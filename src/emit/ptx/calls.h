// SPDX-License-Identifier: Apache-2.0
// Functions of the language.
#pragma once

#include "emit/ptx/context.h"

namespace ww::emit::to_ptx {

Lanes call(Context& c, const ir::Expr& expr);

}  // namespace ww::emit::to_ptx
