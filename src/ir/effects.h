// SPDX-License-Identifier: Apache-2.0
// What evaluating an expression does besides giving a value.
#pragma once

#include "ir/function.h"

namespace ww::ir {

/// Does the value depend on memory, so that evaluating it later may give another one?
bool reads_memory(const Function& function, ExprId expr);

}  // namespace ww::ir
