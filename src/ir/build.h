// SPDX-License-Identifier: Apache-2.0
// Typed expressions, one function per kind of node. Operands of different types meet as follows;
// what has no row is refused with BadType naming both types:
//
//   int with wider int          the wider
//   signed with unsigned int    signed, of the wider width
//   int with float              the float
//   float with wider float      the wider (float16 with bfloat16, and 8-bit floats: refused)
//   scalar with vector          the scalar is broadcast
//   constant with anything      the constant is converted, exactly or not at all for integers
//
// Constants are folded, with the wrap-around of their type; nothing else is simplified here, so
// that a printed program reads back as the same nodes.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "ir/function.h"

namespace ww::ir {

ExprId int_imm(Function& f, num::DType dtype, std::int64_t value, Span span = {});
ExprId float_imm(Function& f, num::DType dtype, double value, Span span = {});  // rounded to dtype
ExprId bool_imm(Function& f, bool value, Span span = {});
ExprId text_imm(Function& f, std::string text, Span span = {});
ExprId var_ref(Function& f, VarId var, Span span = {});

/// Brings two operands to one type by the table above. A *weak* operand is a literal of the source
/// without its own type: it takes the other's type. A weak float is a float64 constant until it
/// meets something; alone it settles as float32.
struct Operand {
  ExprId expr = {};
  bool is_weak = false;
};
ExprId settle(Function& f, ExprId literal);
Result<std::pair<ExprId, ExprId>> meet(Function& f, Operand a, Operand b, std::string_view what,
                                       Span span = {});

/// Arithmetic, comparisons and logic. BadType where the operator does not take the types.
Result<ExprId> binary(Function& f, ExprOp op, Operand a, Operand b, Span span = {});
Result<ExprId> unary(Function& f, ExprOp op, Operand a, Span span = {});
/// `binary` of two integers that meet, as index arithmetic (ir/indices.h).
ExprId index_binary(Function& f, ExprOp op, ExprId a, ExprId b, Span span = {});
/// `binary` with the operator, place and promise of a node that it replaces.
Result<ExprId> binary_like(Function& f, const Expr& old, ExprId a, ExprId b);
/// To another type by value; constants become constants. BadType for pointers and texts.
Result<ExprId> cast(Function& f, ExprId value, Type to, Span span = {});
Result<ExprId> reinterpret(Function& f, ExprId value, Type to, Span span = {});
/// A condition: bool as it is, integers compared with 0.
Result<ExprId> condition(Function& f, ExprId value, Span span = {});
Result<ExprId> choose(Function& f, ExprOp select_or_if, ExprId condition, Operand a, Operand b,
                      Span span = {});
Result<ExprId> ramp(Function& f, ExprId base, ExprId stride, std::int64_t lanes, Span span = {});
Result<ExprId> broadcast(Function& f, ExprId value, std::int64_t lanes, Span span = {});

/// Whether constant indices must be inside of the buffer. Lowering also writes accesses outside, where
/// a condition keeps them from running.
enum class Bounds : std::uint8_t { Checked, Guarded };
/// An element, or `lanes` of them from there on. Indices become int32 unless they are wider. Checks
/// rank (RankMismatch) and, for constant indices, bounds (OutOfBounds).
Result<ExprId> load(Function& f, BufferId buffer, std::span<const ExprId> indices, int lanes = 1,
                    Span span = {}, Bounds bounds = Bounds::Checked);
Result<ExprId> address_of(Function& f, BufferId buffer, std::span<const ExprId> indices,
                          Span span = {}, Bounds bounds = Bounds::Checked);
ExprId buffer_data(Function& f, BufferId buffer, Span span = {});

/// A function of intrinsics.def; checks the number and types of arguments. `declared` is the result
/// type for those whose rule is Declared or whose pointer type is given in the source.
Result<ExprId> call(Function& f, Intrinsic callee, std::span<const ExprId> args, Span span = {},
                    Type declared = {});

}  // namespace ww::ir
