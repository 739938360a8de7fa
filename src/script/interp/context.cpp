// SPDX-License-Identifier: Apache-2.0
#include "script/interp/context.h"

#include "base/cancel.h"
#include "base/fail_at.h"

namespace ww::script {
namespace {

constexpr std::ptrdiff_t kMaxStack = std::ptrdiff_t{5} << 20;
constexpr std::size_t kMaxNodes = std::size_t{2} << 20U;  // of a kernel

}  // namespace

Context::Context(const Options& options, Dialect file_dialect, SymbolTable names)
    : symbols(std::move(names)),
      dialect(file_dialect),
      target(options.target),
      budget{.steps_left = options.max_steps,
             .stack_base = static_cast<const char*>(__builtin_frame_address(0))} {
  module = new_env(*this, nullptr);
  module->set(symbols.intern("__name__"), heap.str("__kernels__"));
}

Env* new_env(Context& in, Env* parent) {
  in.envs.push_back(std::make_unique<Env>(parent));
  in.heap.count(sizeof(Env) / 8 + Heap::kPerObject + 2 * Heap::kPerValue);
  return in.envs.back().get();
}

Result<void> spend(Context& in, std::uint64_t steps, Span where) {
  stop_if_cancelled();
  if (in.budget.steps_left < steps) {
    in.budget.steps_left = 0;
    return fail_at(where, DiagKind::Budget, "compile-time evaluation takes too many steps");
  }
  in.budget.steps_left -= steps;
  const bool is_large = in.in_kernel() && in.fn().expr_count() > kMaxNodes;
  if (in.heap.is_full() || is_large)
    return fail_at(where, DiagKind::Budget, "compile-time evaluation takes too much memory");
  if (in.budget.stack_base - static_cast<const char*>(__builtin_frame_address(0)) > kMaxStack)
    return fail_at(where, DiagKind::Budget, "compile-time evaluation is nested too deeply");
  return {};
}

Result<void> spend(Context& in, const Comparison& comparison, const Value& a, const Value& b,
                   Span where) {
  if (comparison.gave_up())
    return fail_at(where, DiagKind::Budget, "comparing {} with {} takes too long", type_name(a),
                   type_name(b));
  return spend(in, comparison.visits(), where);
}

ir::Stmt stmt_node(ir::StmtKind kind, Span span) {
  ir::Stmt s;
  s.kind = kind;
  s.span = span;
  return s;
}

ir::VarId new_var(Context& in, ir::VarKind kind, ir::Type type, Span span, std::string_view name) {
  ir::Var var;
  var.name = name;
  var.type = type;
  var.kind = kind;
  var.span = span;
  return in.fn().add(std::move(var));
}

ir::StmtId emit(Context& in, ir::Stmt stmt) {
  const ir::StmtId id = in.fn().add(std::move(stmt));
  in.kernel->blocks.back().push_back(id);
  return id;
}

void emit_call(Context& in, ir::ExprId call, Span span) {
  ir::Stmt out = stmt_node(ir::StmtKind::Evaluate, span);
  out.expr = call;
  emit(in, std::move(out));
}

void emit_store(Context& in, ir::ExprId place, ir::ExprId value, Span span) {
  ir::Stmt out = stmt_node(ir::StmtKind::Store, span);
  out.buffer = in.fn()[place].buffer;
  out.args = in.fn()[place].args;
  out.expr = value;
  emit(in, std::move(out));
}

}  // namespace ww::script
