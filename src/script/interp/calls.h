// SPDX-License-Identifier: Apache-2.0
// Calls of every kind of value, and functions from their definitions.
#pragma once

#include <vector>

#include "script/interp/arguments.h"
#include "script/interp/context.h"

namespace ww::script {

Result<Value> call(Context& in, const Value& callee, CallArgs& args);
/// With these arguments.
Result<Value> call(Context& in, const Value& callee, std::vector<Value> plain, Span span);
Result<Value> call_builtin(Context& in, const BuiltinRow& row, CallArgs& args, Value self);
/// Was it made by something in error, whole or in part?
bool is_in_error(const Value& value);

/// A `def`, without its decorators.
Result<Value> make_function(Context& in, StmtId def, Env& env);
/// What the decorators of a `def` or a `class` make of it, the innermost first.
Result<Value> decorate(Context& in, Value function, const Stmt& s, Env& env);

}  // namespace ww::script
