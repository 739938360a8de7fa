// SPDX-License-Identifier: Apache-2.0
// Conversions that the program does not write, in assignments, stores and arguments. The rule:
//
//   - a float never becomes an integer or a bool: that takes a cast
//   - a constant must be one that the type holds; a float constant may be rounded
//   - a declared type (of a buffer, or `x: T.int32`) takes wider values of its own kind: integers
//     wrap, floats are rounded. A scalar that has the type of its first value (`x = 0`) does not,
//     because the program never chose that type
#pragma once

#include "script/interp/context.h"

namespace ww::script {

/// Converted to a type where the program writes no cast: BadType for a float that would become an
/// integer, and for a constant that the type does not hold.
Result<ir::ExprId> expression_as(Context& in, const Value& value, ir::Type type, Span span);

/// The value by the name of a type, `T.int32(x)`: a cast, but a constant must be exact.
Result<ir::ExprId> exact_value(Context& in, const Value& value, ir::Type type, Span span);

/// What a value is assigned to, for messages: a name or a buffer, and where it is declared.
struct Assigned {
  std::string_view name;
  bool is_name = true;       // a scalar; otherwise elements of a buffer
  bool is_inferred = false;  // it has the type of its first value
  Span declared = {};
};

/// The value as it is assigned, or BadType by the rule above.
Result<ir::ExprId> assigned_value(Context& in, const Value& value, ir::Type type,
                                  const Assigned& to, Span span);

}  // namespace ww::script
