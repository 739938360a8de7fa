// SPDX-License-Identifier: Apache-2.0
// What host statements bind, store and delete.
#pragma once

#include <utility>
#include <vector>

#include "script/interp/context.h"

namespace ww::script {

Result<void> exec_assign(Context& in, const Stmt& s, Env& env);
Result<void> exec_delete(Context& in, const Stmt& s, Env& env);

Result<void> bind_name(Context& in, Env& env, Symbol name, const Value& value, Span span);
/// Stores a value of the host in any target: a name, an item, a field, or several of them.
Result<void> assign_host(Context& in, ExprId target, const Value& value, Env& env);
Result<void> assign_field(Context& in, const Value& object, Symbol name, const Value& value,
                          Span span);
Result<void> assign_item(Context& in, const Value& object, const Value& index, const Value& value,
                         Span span);
/// The targets of `a, *b = value`, each with its part.
Result<std::vector<std::pair<ExprId, Value>>> unpack(Context& in, const Expr& e,
                                                     const Value& value);

}  // namespace ww::script
