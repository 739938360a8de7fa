// SPDX-License-Identifier: Apache-2.0
// Statements of host Python.
#pragma once

#include <cstdint>

#include "script/interp/context.h"

namespace ww::script {

/// Where the program goes on behind a statement.
enum class Flow : std::uint8_t { Next, Break, Continue, Return };

/// Executes the statements of a file. Statements that fail become opaque; only when the steps or
/// the memory are used up is it an error.
Result<void> run_module(Context& in, const Unit& unit);
/// Evaluates an expression in the module's scope.
Result<Value> eval_in_module(Context& in, const Unit& unit, ExprId expr);

Result<Flow> exec(Context& in, StmtId id, Env& env);
Result<Flow> exec_block(Context& in, ListOf<StmtId> block, Env& env);

}  // namespace ww::script
