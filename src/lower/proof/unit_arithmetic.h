// SPDX-License-Identifier: Apache-2.0
// Arithmetic on integers of all threads of a unit at once, for lower/proof/values.h.
#pragma once

#include "ir/function.h"
#include "lower/proof/values.h"

namespace ww::lower {

/// What indices are made of, for all threads: a = a op b, of two operands of `type`. False, and `a` as
/// it was: something else.
bool has_operated(ir::ExprOp op, num::DType type, num::DType result, PerUnit& a, const PerUnit& b);

}  // namespace ww::lower
