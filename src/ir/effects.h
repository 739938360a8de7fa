// SPDX-License-Identifier: Apache-2.0
// What evaluating an expression does besides giving a value.
#pragma once

#include <cstdint>

#include "base/id_map.h"
#include "ir/function.h"

namespace ww::ir {

/// Does the value depend on memory, so that evaluating it later may give another one?
bool reads_memory(const Function& function, ExprId expr);

/// Does a call in the expression do more than compute or read? `known` keeps answers between calls.
using Effects = IdMap<bool>;
bool has_effect(const Function& function, ExprId expr, Effects& known);

}  // namespace ww::ir
