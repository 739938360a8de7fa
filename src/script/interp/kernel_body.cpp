// SPDX-License-Identifier: Apache-2.0
#include "script/interp/kernel_body.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "script/api/builtins.h"
#include "script/interp/conversions.h"
#include "script/interp/expressions.h"
#include "script/interp/host_stmts.h"
#include "script/interp/kernel_assign.h"
#include "script/interp/kernel_control.h"
#include "script/interp/operators.h"
#include "script/syntax/errors.h"

namespace ww::script {
namespace {

constexpr std::size_t kMaxErrors = 50;
constexpr std::size_t kMaxBlocks = 1100;  // an `elif` is a block inside the one before

// "`try`", of statements that only a host has.
std::string_view statement_text(StmtKind kind) {
  constexpr std::pair<StmtKind, std::string_view> kTexts[] = {
      {StmtKind::ClassDef, "`class`"},    {StmtKind::Raise, "`raise`"},
      {StmtKind::Delete, "`del`"},        {StmtKind::Global, "`global`"},
      {StmtKind::Nonlocal, "`nonlocal`"}, {StmtKind::Try, "`try`"}};
  for (const auto& [each, text] : kTexts)
    if (each == kind) return text;
  return "this statement";
}

// A kernel gives nothing back; `return 0` is how its success is spelled.
Result<void> kernel_return(Context& in, const Stmt& s, Env& env) {
  if (s.a.valid()) {
    const Value value = WW_TRY(eval(in, s.a, env));
    const bool is_zero = value.is(Kind::Int) && value.integer == 0;
    if (!value.is(Kind::None) && !value.is(Kind::Poison) && !is_zero)
      return fail_at(in.span(s.a), DiagKind::BadType,
                     "`return` of {}, expected nothing or 0: a kernel has no result",
                     type_name(value));
  }
  emit(in, stmt_node(ir::StmtKind::Return, in.span(s.place)));
  return {};
}

/// What a kernel has got from its statements so far.
struct Made {
  std::size_t stmts = 0, vars = 0, buffers = 0, errors = 0;
  friend bool operator==(const Made&, const Made&) = default;
};
Made made_in(Context& in) {
  return {in.fn().stmt_count(), in.fn().var_count(), in.fn().buffer_count(),
          in.kernel->errors.size()};
}

// The row of a function of Python's that only computes a value.
const BuiltinRow* host_function(const Value& callee) {
  if (!callee.is(Kind::Builtin)) return nullptr;
  const BuiltinRow* row = callee.as<BuiltinObject>().row;
  if (row->name == "next") return nullptr;  // takes an item from its iterator
  for (const auto rows : {host_api::rows, stdlib_api::rows})
    for (const BuiltinRow& each : rows)
      if (each.name == row->name) return row;
  return nullptr;
}

constexpr const char* kUseOfValue = "`x = ...` gives its value a name, `B[...] = ...` stores it";

bool is_callable(const Value& value) {
  switch (value.kind) {
    case Kind::Function:
    case Kind::Builtin:
    case Kind::Method:
    case Kind::Inline:
    case Kind::PtxPath:
      return true;
    default:
      return false;
  }
}

// Is there a call that host values may have decided against, as in `f() if is_first else None`?
bool may_call(const Ast& ast, ExprId id) {
  const Expr& expr = ast[id];
  switch (expr.kind) {
    case ExprKind::Call:
      return true;
    case ExprKind::Conditional:
      return may_call(ast, expr.a) || may_call(ast, expr.c);
    case ExprKind::And:
    case ExprKind::Or:
      return std::ranges::any_of(ast.list(expr.items), [&](ExprId x) { return may_call(ast, x); });
    case ExprKind::ListComp:
    case ExprKind::SetComp:
      return may_call(ast, expr.a);
    default:
      return false;
  }
}

bool is_pure(const ir::Function& f, ir::ExprId id) {
  const ir::Expr& expr = f[id];
  return expr.op != ir::ExprOp::Call || ir::facts_of(expr.callee).effect == ir::Effect::Pure;
}

// The statement left the kernel as it was, so it cannot do what it is written for.
Result<void> require_effect(Context& in, const Stmt& s, const Value& value, Env& env) {
  const Expr& expr = in.ast()[s.a];
  if (value.is(Kind::Poison) || expr.kind == ExprKind::Ellipsis || expr.kind == ExprKind::Walrus)
    return {};
  if (expr.kind == ExprKind::String)
    return fail(diag_at(in.span(s.place), DiagKind::Syntax,
                        "a text in the middle of a kernel has no effect")
                    .with_note("comments begin with `#`"));
  if (expr.kind != ExprKind::Call && may_call(in.ast(), s.a)) return {};
  if (expr.kind != ExprKind::Call)
    return fail(diag_at(in.span(s.place), DiagKind::Syntax, "this expression has no effect")
                    .with_note(is_callable(value) ? "`()` behind it calls it" : kUseOfValue));
  const ExprKind callee = in.ast()[expr.a].kind;
  const bool is_named = callee == ExprKind::Name || callee == ExprKind::Attribute;
  const BuiltinRow* const row = is_named ? host_function(WW_TRY(eval(in, expr.a, env))) : nullptr;
  if (row != nullptr && row->name == "print") return fail(print_in_kernel(in.span(s.place)));
  if (row != nullptr)
    return fail_at(in.span(s.place), DiagKind::Syntax, "nothing uses the result of `{}`",
                   row->name);
  if (value.is(Kind::Ir) && is_pure(in.fn(), value.expr()))
    return fail(diag_at(in.span(s.place), DiagKind::Syntax, "nothing uses the result of this call")
                    .with_note(kUseOfValue));
  return {};
}

Result<void> kernel_expression(Context& in, const Stmt& s, Env& env) {
  const Made before = made_in(in);
  const Value value = WW_TRY(eval(in, s.a, env));
  if (value.is(Kind::Opaque)) return fail(needs_opaque(in, value, in.span(s.place)));
  if (value.is(Kind::Frame)) {
    for (const auto& [key, setting] : value.as<FrameObject>().attrs) {
      ir::Stmt attr = stmt_node(ir::StmtKind::Attr, in.span(s.place));
      attr.attr = key;
      attr.setting = setting;
      attr.is_open = true;
      emit(in, std::move(attr));
    }
    return {};
  }
  if (made_in(in) == before) WW_TRY_VOID(require_effect(in, s, value, env));
  if (!value.is(Kind::Ir) || in.fn()[value.expr()].op != ir::ExprOp::Call) return {};
  ir::Stmt out = stmt_node(ir::StmtKind::Evaluate, in.span(s.place));
  out.expr = value.expr();
  emit(in, std::move(out));
  return {};
}

Result<void> kernel_assert(Context& in, const Stmt& s, Env& env) {
  const Value condition = WW_TRY(eval(in, s.a, env));
  std::string message;
  if (s.b.valid()) {
    const Value m = WW_TRY(eval(in, s.b, env));
    message = m.is(Kind::Str) ? std::string(text_of(m)) : repr(m);
  }
  if (condition.is(Kind::Poison)) return {};
  if (!condition.is(Kind::Ir)) {
    if (WW_TRY(truth(in, condition, in.span(s.a)))) return {};
    return fail_at(in.span(s.place), DiagKind::HostError, "assertion failed{}{}",
                   message.empty() ? "" : ": ", message);
  }
  ir::Stmt out = stmt_node(ir::StmtKind::Assert, in.span(s.place));
  out.expr = WW_TRY(ir::condition(in.fn(), condition.expr(), in.span(s.a)));
  out.message = std::move(message);
  emit(in, std::move(out));
  return {};
}

Result<void> build_statement(Context& in, StmtId id, Env& env) {
  const Stmt& s = in.ast()[id];
  WW_TRY_VOID(spend(in, 1, in.span(s.head)));
  switch (s.kind) {
    case StmtKind::Expression:
      return kernel_expression(in, s, env);
    case StmtKind::Assign:
      return kernel_assign(in, s, env);
    case StmtKind::AnnAssign:
      return kernel_annotated(in, s, env);
    case StmtKind::AugAssign:
      return kernel_augmented(in, s, env);
    case StmtKind::If:
      return kernel_if(in, s, env);
    case StmtKind::While:
      return kernel_while(in, s, env);
    case StmtKind::For:
      return kernel_for(in, s, env);
    case StmtKind::With:
      return kernel_with(in, s, env);
    case StmtKind::Assert:
      return kernel_assert(in, s, env);
    case StmtKind::Break:
    case StmtKind::Continue: {
      const bool is_break = s.kind == StmtKind::Break;
      if (in.kernel->loops == 0)
        return fail_at(in.span(s.place), DiagKind::Syntax, "`{}` outside of a loop",
                       is_break ? "break" : "continue");
      emit(in,
           stmt_node(is_break ? ir::StmtKind::Break : ir::StmtKind::Continue, in.span(s.place)));
      return {};
    }
    case StmtKind::Return:
      return kernel_return(in, s, env);
    case StmtKind::FunctionDef:
    case StmtKind::Import:
    case StmtKind::ImportFrom:
    case StmtKind::Pass: {
      const Flow flow = WW_TRY(exec(in, id, env));
      static_cast<void>(flow);
      return {};
    }
    default:
      return fail(
          diag_at(in.span(s.head), DiagKind::Syntax, "{} cannot stand in a kernel",
                  statement_text(s.kind))
              .with_note("what Python does before the launch stands outside, in a builder"));
  }
}

void build_statements(Context& in, std::span<const StmtId> statements, Env& env) {
  for (const StmtId id : statements) {
    if (in.kernel->errors.size() >= kMaxErrors) return;
    Result<void> done = build_statement(in, id, env);
    if (done) continue;
    const bool is_final = done.error().kind == DiagKind::Budget;
    report_error(in, std::move(done).error().with_span(in.span(in.ast()[id].head)));
    poison_names(in, in.ast()[id], env);
    if (is_final) return;
  }
}

}  // namespace

void collect_targets(const Ast& ast, ExprId id, std::vector<Symbol>& out) {
  for_each_bound_name(ast, id, [&](const Expr& name) { out.push_back(name.name); });
}

void report_error(Context& in, Diag problem) { in.kernel->errors.push_back(std::move(problem)); }

void poison_names(Context& in, const Stmt& s, Env& env) {
  std::vector<Symbol> names;
  const bool binds = s.kind == StmtKind::Assign || s.kind == StmtKind::AnnAssign;
  if (binds)
    for (const ExprId target : in.ast().list(s.items)) collect_targets(in.ast(), target, names);
  if (s.kind == StmtKind::FunctionDef) names.push_back(s.name);
  for (const Symbol name : names)
    if (env.find(name) == nullptr) env.set(name, poison());
}

void build_block(Context& in, ListOf<StmtId> statements, Env& env) {
  build_statements(in, in.ast().list(statements), env);
}

void build_function_body(Context& in, ListOf<StmtId> statements, Env& env) {
  std::span<const StmtId> list = in.ast().list(statements);
  if (!list.empty()) {
    const Stmt& first = in.ast()[list.front()];
    const bool is_docstring =
        first.kind == StmtKind::Expression && in.ast()[first.a].kind == ExprKind::String;
    if (is_docstring) list = list.subspan(1);
  }
  build_statements(in, list, env);
}

Result<ir::Block> inner_block(Context& in, const std::function<Result<void>()>& body) {
  if (in.kernel->blocks.size() > kMaxBlocks)
    return fail(diag(DiagKind::Budget, "blocks of the kernel are nested deeper than {} levels",
                     kMaxBlocks));
  in.kernel->blocks.emplace_back();
  Result<void> done = body();
  ir::Block out = std::move(in.kernel->blocks.back());
  in.kernel->blocks.pop_back();
  if (!done) return std::move(done).failure();
  return out;
}

}  // namespace ww::script
