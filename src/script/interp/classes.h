// SPDX-License-Identifier: Apache-2.0
// Classes of the source, and their instances.
#pragma once

#include <optional>
#include <string_view>

#include "script/interp/arguments.h"
#include "script/interp/context.h"

namespace ww::script {

Result<void> exec_class(Context& in, const Stmt& s, Env& env);
/// An instance, made with the arguments of its `__init__` or of its fields.
Result<Value> call_class(Context& in, ClassObject& type, CallArgs& args);
/// A field, method or property of an instance or a class; nothing for other values.
std::optional<Result<Value>> object_attribute(Context& in, const Value& object,
                                              std::string_view name, Span span);

}  // namespace ww::script
