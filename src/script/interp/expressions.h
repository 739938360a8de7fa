// SPDX-License-Identifier: Apache-2.0
// Expressions: each kind of node, evaluated over values of the host and of the kernel alike.
#pragma once

#include "script/interp/context.h"

namespace ww::script {

Result<Value> eval(Context& in, ExprId id, Env& env);

/// What is indexed in a store or a load: a buffer of one element stays a buffer.
Result<Value> eval_buffer_base(Context& in, ExprId id, Env& env);

}  // namespace ww::script
