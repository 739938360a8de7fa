// SPDX-License-Identifier: Apache-2.0
// What builtins ask of values: numbers, texts, types, lists, and expressions of the kernel. `what`
// names the value in messages.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "script/interp/context.h"

namespace ww::script {

/// An IR expression from a number or an expression; a (1,)-buffer is loaded.
Result<ir::Operand> operand(Context& in, const Given& value);
Result<ir::ExprId> expression(Context& in, const Given& value);
/// Converted by a cast of the program, whatever is lost.
Result<ir::ExprId> cast_as(Context& in, const Given& value, ir::Type type);
/// What a branch or a guard asks for.
Result<ir::ExprId> condition_of(Context& in, const Given& value);
/// An int32, or wider.
Result<ir::ExprId> index_expr(Context& in, const Given& value);

Result<std::int64_t> as_integer(Context& in, const Given& value, std::string_view what);
Result<double> as_number(Context& in, const Given& value, std::string_view what);
Result<bool> as_bool(Context& in, const Given& value, std::string_view what);
Result<std::string> as_text(Context& in, const Given& value, std::string_view what);
Result<ir::Type> as_type(Context& in, const Given& value, std::string_view what);
Result<std::vector<Value>> as_sequence(Context& in, const Given& value, std::string_view what);
Result<layout::Shape> as_int_list(Context& in, const Given& value, std::string_view what);
Result<ir::Setting> as_setting(Context& in, const Given& value, std::string_view what);

Value layout_value(Context& in, layout::Layout layout);
/// A value that nothing is known of, made at `span`.
Value opaque_value(Context& in, Span span, std::string reason);
/// The error for using an opaque value where its content matters.
Diag needs_opaque(Context& in, const Given& value);
/// Gives an unnamed buffer or variable the name it is bound to.
void give_name(Context& in, const Value& value, std::string_view name);

// --- numbers with a type -------------------------------------------------------------------------
//
// Numbers of the host that have an element type: what `T.float16(1.5)`, `T.cast(x, "int8")`,
// `T.FloatImm(dtype, x)` and `T.IntImm(dtype, x)` give outside of kernels. They count as the
// numbers they are; arithmetic rounds or wraps as the type does, and a kernel takes them with their
// type, not as literals that adapt.

/// The type of such a number; nothing for plain ones and all other values.
std::optional<num::DType> typed_as(const Value& value);

/// The number without its type.
Value untyped(const Value& value);

enum class Conversion : std::uint8_t { Cast, Exact };
/// The number as one of the type. `Exact` refuses what the type does not hold, as in a kernel;
/// `Cast` wraps and drops fractions. Opaque values stay as they are.
Result<Value> typed_constant(Context& in, const Given& value, ir::Type type, Conversion how);

/// The result of an operator as a number of the type that its operands have: where both have one,
/// the float, or the wider one. BadType for others, as for float16 and bfloat16.
Result<Value> typed_result(Context& in, const Value& a, const Value& b, const Value& result,
                           Span span);

/// What the text of a float that is no digits stands for: "inf", "-inf", "nan".
std::optional<double> special_float(const Value& value);

// --- conversions that are not written ------------------------------------------------------------
//
// Conversions that the program does not write, in assignments, stores and arguments. The rule:
//
//   - a float never becomes an integer or a bool: that takes a cast
//   - a constant must be one that the type holds; a float constant may be rounded
//   - a declared type (of a buffer, or `x: T.int32`) takes wider values of its own kind: integers
//     wrap, floats are rounded. A scalar that has the type of its first value (`x = 0`) does not,
//     because the program never chose that type

/// Converted to a type where the program writes no cast: BadType for a float that would become an
/// integer, and for a constant that the type does not hold.
Result<ir::ExprId> expression_as(Context& in, const Given& value, ir::Type type);

/// The value by the name of a type, `T.int32(x)`: a cast, but a constant must be exact.
Result<ir::ExprId> exact_value(Context& in, const Given& value, ir::Type type);

/// What a value is assigned to, for messages: a name or a buffer, and where it is declared.
struct Assigned {
  std::string_view name;
  bool is_name = true;       // a scalar; otherwise elements of a buffer
  bool is_inferred = false;  // it has the type of its first value
  Span declared = {};
};

/// The value as it is assigned, or BadType by the rule above.
Result<ir::ExprId> assigned_value(Context& in, const Given& value, ir::Type type,
                                  const Assigned& to);

}  // namespace ww::script
