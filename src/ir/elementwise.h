// SPDX-License-Identifier: Apache-2.0
// Elementwise tile primitives: what they read, and in which type they compute. Their meaning, with
// f the function or operator and every operand stretched to the destination:
//
//     fill, memset              dst = value
//     zero                      dst = 0
//     cast                      dst = src, as `round` and `saturate` say
//     add … minimum, pow        dst = a f b
//     fma                       dst = a·b + c, rounded once
//     clamp                     dst = the minimum of high and the maximum of src and low
//     sqrt, exp, exp2, log2     dst = f(src·scale + bias), the argument rounded once
//     reciprocal … gelu_tanh    dst = f(src)
//     abs … round, bitwise_not  dst = f(src); relu is the maximum of src and 0
//     bitwise_and … right_shift dst = a f b, of integers
//     select                    dst = t where pred is not 0, else f
//     where                     dst = a where cond is not 0, else b
//     equal … greater_equal     dst = a f b, which is bool
//     logical_and … logical_not the same of bools: is each operand not 0
//
// Operands are converted to the type in which the primitive computes, the result to that of dst.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/function.h"
#include "ir/simplify/fold.h"
#include "num/float_format.h"

namespace ww::ir {

/// Elementwise primitives by the types that they accept.
enum class ElementGroup : std::uint8_t {
  Move,        // fill, zero, memset, cast
  Choice,      // select, where
  Function,    // of one float: sqrt … gelu_tanh
  Number,      // of one number of any type: abs, neg, relu, floor, ceil, round
  Arithmetic,  // add … minimum, fma, clamp
  Power,       // pow: of two floats
  Comparison,  // equal … greater_equal
  Logic,       // logical_and … logical_not
  Bits,        // bitwise_and … right_shift, bitwise_not
};
ElementGroup group_of(TileOp op);

/// Functions of one float.
bool is_function(TileOp op);
/// Has an operator of two operands: operator_of.
bool has_operator(TileOp op);

/// Does more than move or choose values.
bool computes(TileOp op);
/// Comparisons and logic, whose result is bool whatever they compute in.
bool gives_bool(TileOp op);

/// The operator of two operands that computes it: `+` of add, `&` of logical_and, `<` of less.
ExprOp operator_of(TileOp op);
/// The scalar function that computes it.
std::optional<Intrinsic> callee_of(TileOp op);
/// Does the op only test operand i, in the order of operands_of, for being 0?
bool is_condition(TileOp op, std::size_t i);

/// The arguments that the primitive reads, in the order of the table above (pred and cond last);
/// nullptr for a scale or bias that is left out. A `src` that is left out is the destination.
std::vector<const TileArg*> operands_of(const TileCall& call);

/// The settings of a `cast` for rounding and for numbers that are too large. Without them floats
/// are rounded to nearest even, and cut on their way to integers; integers wrap, floats of 8 bits
/// and fewer saturate.
struct CastSettings {
  std::optional<num::Rounding> round = {};
  std::optional<bool> saturate = {};
};
CastSettings cast_settings(const TileCall& call);

/// The number that an operand is, if it is a constant.
std::optional<Constant> constant_operand(const Function& f, const TileArg& arg);

/// The type in which an op computes. All integers: that of the destination. Otherwise the type that
/// dst and all operands have, if it is one of 16 bits or more; else float32, or float64 if one of
/// them is float64. Functions and pow compute in float32 or float64. Constants that the type holds
/// exactly do not count. A comparison ignores the destination: integers of several types are
/// compared in int64, and bools in int32.
num::DType compute_type(const Function& f, const TileCall& call);

}  // namespace ww::ir
