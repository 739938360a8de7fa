// SPDX-License-Identifier: Apache-2.0
// What builtins ask of values: numbers, texts, types, lists, and expressions of the kernel. `what`
// names the value in messages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "script/interp/context.h"

namespace ww::script {

/// An IR expression from a number or an expression; a (1,)-buffer is loaded.
Result<ir::Operand> operand(Context& in, const Value& value, Span span);
Result<ir::ExprId> expression(Context& in, const Value& value, Span span);
/// Converted by a cast of the program, whatever is lost.
Result<ir::ExprId> cast_as(Context& in, const Value& value, ir::Type type, Span span);
/// What a branch or a guard asks for.
Result<ir::ExprId> condition_of(Context& in, const Value& value, Span span);
/// An int32, or wider.
Result<ir::ExprId> index_expr(Context& in, const Value& value, Span span);

Result<std::int64_t> as_integer(Context& in, const Value& value, std::string_view what, Span span);
Result<double> as_number(Context& in, const Value& value, std::string_view what, Span span);
Result<bool> as_bool(Context& in, const Value& value, std::string_view what, Span span);
Result<std::string> as_text(Context& in, const Value& value, std::string_view what, Span span);
Result<ir::Type> as_type(Context& in, const Value& value, std::string_view what, Span span);
Result<std::vector<Value>> as_sequence(Context& in, const Value& value, std::string_view what,
                                       Span span);
Result<layout::Shape> as_int_list(Context& in, const Value& value, std::string_view what,
                                  Span span);
Result<ir::Setting> as_setting(Context& in, const Value& value, std::string_view what, Span span);

Value layout_value(Context& in, layout::Layout layout);
/// A value that nothing is known of, made at `span`.
Value opaque_value(Context& in, Span span, std::string reason);
/// The error for using an opaque value where its content matters.
Diag needs_opaque(Context& in, const Value& value, Span span);
/// Gives an unnamed buffer or variable the name it is bound to.
void give_name(Context& in, const Value& value, std::string_view name);

}  // namespace ww::script
