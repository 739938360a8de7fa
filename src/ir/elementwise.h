// SPDX-License-Identifier: Apache-2.0
// Elementwise tile primitives: what they read, and in which type they compute. Their meaning, with
// f the function or operator and every operand stretched to the destination:
//
//     fill, memset              dst = value
//     zero                      dst = 0
//     cast                      dst = src
//     add … minimum             dst = a f b
//     fma                       dst = a·b + c, rounded once
//     sqrt, exp, exp2, log2     dst = f(src·scale + bias), the argument rounded once
//     reciprocal, silu          dst = f(src)
//     select                    dst = t where pred is not 0, else f
//
// Operands are converted to the type in which the primitive computes, the result to that of dst.
#pragma once

#include <optional>
#include <vector>

#include "ir/function.h"
#include "ir/simplify/fold.h"

namespace ww::ir {

/// Functions of one number: sqrt, exp, exp2, log2, reciprocal, silu.
bool is_function(TileOp op);
/// add, sub, mul, fdiv, maximum, minimum.
bool is_arithmetic(TileOp op);

/// Those two and fma: what computes in a type of its own, and does not only move values.
bool computes(TileOp op);

/// The operator of an arithmetic op.
ExprOp operator_of(TileOp op);

/// The arguments that the primitive reads, in the order of the table above (pred last); nullptr for
/// a scale or bias that is left out. A `src` that is left out is the destination.
std::vector<const TileArg*> operands_of(const TileCall& call);

/// The number that an operand is, if it is a constant.
std::optional<Constant> constant_operand(const Function& f, const TileArg& arg);

/// The type in which an op that computes does so. All integers: that of the destination.
/// Otherwise the type that dst and all operands have, if it is one of 16 bits or more; else
/// float32, or float64 where one of them is that. Functions compute in float32 or float64.
/// Constants that the type holds exactly do not count.
num::DType compute_type(const Function& f, const TileCall& call);

}  // namespace ww::ir
