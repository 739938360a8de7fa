// SPDX-License-Identifier: Apache-2.0
// Calls of every kind of value, functions from their definitions, and classes with their instances.
#pragma once

#include <optional>
#include <string_view>
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

Result<void> exec_class(Context& in, const Stmt& s, Env& env);
/// An instance, made with the arguments of its `__init__` or of its fields.
Result<Value> call_class(Context& in, ClassObject& type, CallArgs& args);
/// A field, method or property of an instance or a class; nothing for other values.
std::optional<Result<Value>> object_attribute(Context& in, const Value& object,
                                              std::string_view name, Span span);

}  // namespace ww::script
