// SPDX-License-Identifier: Apache-2.0
// Statements of host Python.
#pragma once

#include <cstdint>

#include "script/interp/context.h"

namespace ww::script {

/// Where the program goes on behind a statement.
enum class Flow : std::uint8_t { Next, Break, Continue, Return };

/// Executes the statements of a file. What fails in Python, too (an `assert`, a `raise`, a division by
/// zero), ends it with HostError, and used up steps or memory with Budget. Any other statement that
/// fails is not modelled: what it could change becomes opaque.
Result<void> run_module(Context& in, const Unit& unit);
/// The same for statements of a caller's, which never end with HostError: what they need may come later.
Result<void> run_prelude(Context& in, const Unit& unit);
/// Evaluates an expression in the module's scope.
Result<Value> eval_in_module(Context& in, const Unit& unit, ExprId expr);

Result<Flow> exec(Context& in, StmtId id, Env& env);
Result<Flow> exec_block(Context& in, ListOf<StmtId> block, Env& env);

}  // namespace ww::script
