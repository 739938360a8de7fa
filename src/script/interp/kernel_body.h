// SPDX-License-Identifier: Apache-2.0
// Statements of a kernel: each becomes IR, or is decided at compile time when host values decide
// it.
//
// An error in one statement is noted, the names it would have bound are poisoned, and the next
// statement is looked at: one compilation reports as many independent errors as it can.
#pragma once

#include <functional>
#include <vector>

#include "script/interp/context.h"

namespace ww::script {

/// The names that a target binds.
void collect_targets(const Ast& ast, ExprId id, std::vector<Symbol>& out);

/// Builds statements into the innermost block.
void build_block(Context& in, ListOf<StmtId> statements, Env& env);
/// The statements of a function: a text in front of them says what it is for.
void build_function_body(Context& in, ListOf<StmtId> statements, Env& env);
/// The block of what `body` emits.
Result<ir::Block> inner_block(Context& in, const std::function<Result<void>()>& body);

void report_error(Context& in, Diag problem);
/// Poisons the names that a statement in error would have bound.
void poison_names(Context& in, const Stmt& s, Env& env);

}  // namespace ww::script
