// SPDX-License-Identifier: Apache-2.0
// Statements of a kernel: each becomes IR, or is decided at compile time when host values decide
// it.
#pragma once

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "script/interp/interp.h"

namespace ww::script {

/// Where a loop stands: its head, and what it runs over.
struct LoopSpans {
  Span head;
  Span range;
};

/// Where an assignment stands: all of it, and its right side.
struct AssignSpans {
  Span all;
  Span value;
};

ir::Stmt stmt_node(ir::StmtKind kind, Span span);
/// The names that a target binds.
void collect_targets(const Ast& ast, ExprId id, std::vector<Symbol>& out);

/// Runs statements of the kernel under construction. An error in one statement is noted, the names
/// it would have bound are poisoned, and the next statement is looked at: one compilation reports
/// as many independent errors as it can.
struct KernelBody {
  explicit KernelBody(Interp& interp) : in(interp) {}

  void block(ListOf<StmtId> statements, Env& env);
  /// Those of a function: a text in front of them says what it is for.
  void function_body(ListOf<StmtId> statements, Env& env);
  void run(std::span<const StmtId> statements, Env& env);
  Result<void> stmt(StmtId id, Env& env);

  // Assignments
  Result<void> assign_stmt(const Stmt& s, Env& env);
  Result<void> annotated(const Stmt& s, Env& env);
  Result<void> augmented(const Stmt& s, Env& env);
  Result<void> assign(ExprId target, Value value, Env& env, const AssignSpans& at);
  void keep_old_values(std::vector<std::pair<ExprId, Value>>& pairs, Env& env, Span span);
  ir::ExprId bind_value(std::string name, ir::ExprId value, Span span);
  Result<void> assign_name(Symbol name, Value value, Env& env, Span name_span,
                           const AssignSpans& at);
  Result<void> new_scalar(Symbol name, ir::Type type, const Value* value, Env& env,
                          const AssignSpans& at);
  Result<void> new_inferred(Symbol name, ir::Type type, const Value& value, Env& env,
                            const AssignSpans& at);
  Result<void> new_array(Symbol name, const AnnotationObject& annotation,
                         const std::optional<Value>& value, Env& env, const AssignSpans& at);
  Result<void> annotated_let(Symbol name, const AnnotationObject& annotation,
                             const std::optional<Value>& value, Env& env, const AssignSpans& at);
  Result<void> let(Symbol name, ir::ExprId value, Env& env, Span span);
  Result<void> store(ir::BufferId buffer, const Value& index, const Value& value, Span target,
                     const AssignSpans& at);

  // Control
  Result<void> for_stmt(const Stmt& s, Env& env);
  Result<void> while_stmt(const Stmt& s, Env& env);
  Result<void> if_stmt(const Stmt& s, Env& env);
  Result<void> with_stmt(const Stmt& s, Env& env);
  Result<void> return_stmt(const Stmt& s, Env& env);
  Result<void> expression_stmt(const Stmt& s, Env& env);
  Result<void> require_effect(const Stmt& s, const Value& value, Env& env) const;
  Result<void> assert_stmt(const Stmt& s, Env& env);
  /// Nested loops, one per range, around what `body` emits; the variables are given to it.
  Result<void> loops(const LoopObject& loop, const std::vector<std::string>& names, LoopSpans at,
                     const std::function<Result<void>(const std::vector<Value>&)>& body);
  Result<ir::Stmt> loop_node(const LoopObject& loop, std::size_t i, LoopSpans at);
  Result<ir::Block> inner(const std::function<Result<void>()>& body);

  void report(Diag problem);
  void poison_names(const Stmt& s, Env& env);

  Interp& in;
};

}  // namespace ww::script
