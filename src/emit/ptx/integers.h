// SPDX-License-Identifier: Apache-2.0
// Operators of integers and bools.
#pragma once

#include <string_view>

#include "emit/ptx/context.h"

namespace ww::emit::to_ptx {

/// `type` is that of the operands; `expr`, when it has operands, tells their ranges.
Value int_op(Context& c, ExprOp op, DType type, Value a, Value b, const ir::Expr& expr);
Value int_unary(Context& c, ExprOp op, DType type, Value a);
Value bool_op(Context& c, ExprOp op, Value a, Value b);
/// "eq", "ne", "lt" …, as `setp` has it for integers.
std::string_view compare_word(ExprOp op);
Value compare(Context& c, ExprOp op, DType type, Value a, Value b);
Value shift(Context& c, ExprOp op, DType type, Value a, Value b);
/// a·b + c in one instruction; none when neither side is a product that needs one, or when it
/// matters which side comes first.
Value mad(Context& c, const ir::Expr& sum);

/// `suffix` is the type of the instruction. They do not wrap 8 and 16 bits.
Value sum(Context& c, std::string_view suffix, Value a, Value b);
Value product(Context& c, std::string_view suffix, Value a, Value b);
/// To the width of the type.
Value wrap(Context& c, DType type, Value value);

Value negated(Context& c, Value predicate);
/// 0 or 1 in 32 bits.
Value as_int(Context& c, Value predicate);
/// Of any type.
Value is_not_zero(Context& c, DType type, Value value);

}  // namespace ww::emit::to_ptx
