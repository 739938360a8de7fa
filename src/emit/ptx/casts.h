// SPDX-License-Identifier: Apache-2.0
// Conversions by value, the same bits as another type, and operators of floats.
#pragma once

#include <span>
#include <vector>

#include "emit/ptx/context.h"

namespace ww::emit::to_ptx {

// --- floats --------------------------------------------------------------------------------------
//
// Operators of floats.

Value float_op(Context& c, ExprOp op, DType type, Value a, Value b);
Value float_compare(Context& c, ExprOp op, DType type, Value a, Value b);
Value float_unary(Context& c, ExprOp op, DType type, Value a);
/// x·y + z, rounded once.
Value fused(Context& c, DType type, Value x, Value y, Value z);

Value cast(Context& c, Value value, DType from, DType to);
Value to_f32(Context& c, Value value, DType from);
Value from_f32(Context& c, Value value, DType to);

Lanes reinterpret(Context& c, const ir::Expr& expr);
/// The bits of a value in a register of the class; what is above them is not specified.
Value raw(Context& c, Value value, DType type, Class cls);
/// The value of a type whose bits are the low ones of a register.
Value from_raw(Context& c, Value bits, DType type);
/// 32-bit words with the lanes' bits one after the other, and back.
std::vector<Value> words_of(Context& c, const Lanes& values, DType type);
Lanes lanes_of(Context& c, std::span<const Value> words, DType type, std::size_t count);

}  // namespace ww::emit::to_ptx
