// SPDX-License-Identifier: Apache-2.0
// Operators of floats.
#pragma once

#include "emit/ptx/context.h"

namespace ww::emit::to_ptx {

Value float_op(Context& c, ExprOp op, DType type, Value a, Value b);
Value float_compare(Context& c, ExprOp op, DType type, Value a, Value b);
Value float_unary(Context& c, ExprOp op, DType type, Value a);
/// x·y + z, rounded once.
Value fused(Context& c, DType type, Value x, Value y, Value z);

}  // namespace ww::emit::to_ptx
