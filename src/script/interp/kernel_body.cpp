// SPDX-License-Identifier: Apache-2.0
#include "script/interp/kernel_body.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/fail_at.h"
#include "base/wide.h"
#include "ir/simplify/fold.h"
#include "script/api/builtins.h"
#include "script/interp/access.h"
#include "script/interp/calls.h"
#include "script/interp/conversions.h"
#include "script/interp/expressions.h"
#include "script/interp/host_stmts.h"
#include "script/interp/kernel_assign.h"
#include "script/interp/operators.h"
#include "script/interp/regions.h"

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
  const bool is_of_host = std::ranges::count(host_api::rows, row->name, &BuiltinRow::name) != 0;
  return is_of_host ? row : nullptr;
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
  if (value.is(Kind::Opaque)) return fail(needs_opaque(in, {value, in.span(s.place)}));
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
  emit_call(in, value.expr(), in.span(s.place));
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
    if (WW_TRY(truth(in, {condition, in.span(s.a)}))) return {};
    return fail_at(in.span(s.place), DiagKind::HostError, "assertion failed{}{}",
                   message.empty() ? "" : ": ", message);
  }
  ir::Stmt out = stmt_node(ir::StmtKind::Assert, in.span(s.place));
  out.expr = WW_TRY(ir::condition(in.fn(), condition.expr(), in.span(s.a)));
  out.message = std::move(message);
  emit(in, std::move(out));
  return {};
}

// --- branches, loops, blocks with attributes -----------------------------------------------------

/// Where a loop stands: its head, and what it runs over.
struct LoopSpans {
  Span head;
  Span range;
};

bool is_unsigned(ir::Type type) { return num::kind_of(type.dtype) == num::DTypeKind::Uint; }

// The number of rounds between two constants, which is counted in the type of the loop's variable.
Result<ir::ExprId> constant_trips(Context& in, std::int64_t begin, std::int64_t end,
                                  std::int64_t step, ir::Type type, Span span) {
  const auto whole = [&](std::int64_t v) {
    return is_unsigned(type) ? Wide{static_cast<std::uint64_t>(v)} : Wide{v};
  };
  const Wide distance = std::max<Wide>(0, whole(end) - whole(begin));
  const Wide trips = (distance + step - 1) / step;
  if (trips == whole(ir::wrap(type.dtype, static_cast<std::int64_t>(trips))))
    return ir::int_imm(in.fn(), type.dtype, static_cast<std::int64_t>(trips), span);
  return fail(diag_at(span, DiagKind::Overflow, "a loop of {} rounds, more than `{}` counts",
                      ir::int_text(num::DType::Uint64, static_cast<std::int64_t>(trips)),
                      num::name_of(type.dtype))
                  .with_note("give a bound with more bits: `T.int64(0)`"));
}

// How often a loop from begin to before end runs. What is computed for it must not overflow.
Result<ir::ExprId> trip_count(Context& in, ir::ExprId begin, ir::ExprId end, std::int64_t step,
                              Span span) {
  ir::Function& f = in.fn();
  const ir::Type type = f[end].type;
  const auto first = ir::const_int(f, begin);
  if (const auto last = ir::const_int(f, end); first && last)
    return constant_trips(in, *first, *last, step, type, span);
  // The difference of unsigned numbers would wrap around.
  if (is_unsigned(type) && first != 0)
    end = WW_TRY(ir::binary(f, ir::ExprOp::Max, {end, false}, {begin, false}, span));
  ir::ExprId count = WW_TRY(region_extent(in, begin, end, span));
  count = WW_TRY(ir::cast(f, count, type, span));
  if (step > 1) {
    // `begin + n * step` is how the end of n rounds is written.
    const bool is_product = f[count].op == ir::ExprOp::Mul;
    if (is_product && ir::const_int(f, f[count].args[1]) == step) return f[count].args[0];
    const ir::ExprId round = ir::int_imm(f, type.dtype, step - 1, span);
    const ir::ExprId by = ir::int_imm(f, type.dtype, step, span);
    count = ir::index_binary(f, ir::ExprOp::Add, count, round, span);
    count = ir::index_binary(f, ir::ExprOp::FloorDiv, count, by, span);
  }
  if (const auto constant = ir::const_int(f, count); constant && *constant < 0)
    return ir::int_imm(f, type.dtype, 0, span);
  return count;
}

// The loop over one range, without its body.
Result<ir::Stmt> loop_node(Context& in, const LoopObject& loop, std::size_t i, LoopSpans at) {
  ir::Function& f = in.fn();
  ir::Stmt out = stmt_node(ir::StmtKind::For, at.head);
  out.loop = loop.loop;
  out.hardware = loop.hardware;
  ir::ExprId begin = WW_TRY(index_expr(in, {loop.ranges[i].first, at.range}));
  ir::ExprId end = WW_TRY(index_expr(in, {loop.ranges[i].second, at.range}));
  ir::Type type = loop.type;
  for (const ir::ExprId bound : {begin, end}) {
    const ir::Expr& e = f[bound];
    const bool is_held =
        e.op == ir::ExprOp::IntImm && ir::fits(type.dtype, e.integer, e.type.dtype);
    if (!is_held && num::bits_of(e.type.dtype) > num::bits_of(type.dtype)) type = e.type;
  }
  for (ir::ExprId* bound : {&begin, &end}) {
    *bound = WW_TRY(ir::cast(f, *bound, type, at.range));
    if (f[*bound].op == ir::ExprOp::Cast) f.set_no_wrap(*bound);  // a bound is no other number
  }
  std::int64_t step = 1;
  if (!loop.step.is(Kind::None)) step = WW_TRY(as_integer(in, {loop.step, at.range}, "the step"));
  if (step < 1)
    return fail(
        diag_at(at.range, DiagKind::BadArgument, "a step of {}, expected 1 or more", step)
            .with_note("count up, and index from the end: `for i in range(n)`, `x[n - 1 - i]`"));
  const ir::ExprId count = WW_TRY(trip_count(in, begin, end, step, at.range));
  if (loop.loop == ir::LoopKind::Unroll && !ir::const_int(f, count))
    return fail_at(at.range, DiagKind::NeedsConstant,
                   "`T.unroll` over a number of rounds that is known at run time only");
  out.args.push_back(begin);
  out.args.push_back(count);
  if (step > 1) out.args.push_back(ir::int_imm(f, type.dtype, step, at.range));
  for (const auto& [key, value] : loop.annotations)
    out.settings.emplace_back(key, WW_TRY(as_setting(in, {value, at.range}, key)));
  out.var = new_var(in, ir::VarKind::Loop, type, at.head);
  return out;
}

Result<void> build_loops(Context& in, const LoopObject& loop, const std::vector<std::string>& names,
                         LoopSpans at,
                         const std::function<Result<void>(const std::vector<Value>&)>& body) {
  std::vector<ir::Stmt> made;
  std::vector<Value> vars;
  for (std::size_t i = 0; i < loop.ranges.size(); ++i) {
    made.push_back(WW_TRY(loop_node(in, loop, i, at)));
    if (i < names.size()) in.fn().at(made.back().var).name = names[i];
    vars.push_back(of_expr(ir::var_ref(in.fn(), made.back().var, at.head)));
  }
  const Saved loops(in.kernel->loops, in.kernel->loops + 1);
  ir::Block block = WW_TRY(inner_block(in, [&] { return body(vars); }));
  for (std::size_t i = made.size(); i-- > 1;) {
    made[i].body = std::move(block);
    block = {in.fn().add(std::move(made[i]))};
  }
  made[0].body = std::move(block);
  emit(in, std::move(made[0]));
  return {};
}
// `range` at compile time is a serial loop in a kernel.
Result<LoopObject> as_loop(Context& in, const Given& value) {
  if (value.is(Kind::Loop)) return value.as<LoopObject>();
  if (value.is(Kind::Range)) {
    const auto& range = value.as<RangeObject>();
    LoopObject loop;
    loop.ranges = {{of_int(range.begin), of_int(range.end)}};
    if (range.step != 1) loop.step = of_int(range.step);
    return loop;
  }
  if (value.is(Kind::Opaque)) return fail(needs_opaque(in, value));
  Diag problem =
      diag(DiagKind::BadType,
           "a loop over {}, expected `range`, `T.serial`, `T.unroll`, `T.vectorized` or `T.grid`",
           type_name(value));
  if (value.is(Kind::List) || value.is(Kind::Tuple))
    problem.notes.push_back({"write a comprehension, or call an inline function per element", {}});
  return fail(std::move(problem).with_span(value.span));
}

bool is_launch_id(Context& in, const Value& value) {
  if (!value.is(Kind::Ir) || in.fn()[value.expr()].op != ir::ExprOp::Var) return false;
  const ir::VarKind kind = in.fn()[in.fn()[value.expr()].var].kind;
  return kind == ir::VarKind::ScopeId || kind == ir::VarKind::Launch;
}

// A role, which is an object that says when it holds (script/library.py).
bool is_role(Context& in, const Value& value) {
  return value.is(Kind::Instance) &&
         value.as<InstanceObject>().type->find(in.symbols.intern("role_holds")) != nullptr;
}

Result<Value> call_role(Context& in, const Value& role, std::string_view method, Span span) {
  return call(in, WW_TRY(attribute(in, role, method, span, span)), {}, span);
}

// `with role:` is a branch for the threads that have it.
Result<void> build_role(Context& in, const Value& role, Span span,
                        const std::function<void()>& body) {
  const Value holds = WW_TRY(call_role(in, role, "role_holds", span));
  ir::Stmt out = stmt_node(ir::StmtKind::If, span);
  out.expr = WW_TRY(condition_of(in, {holds, span}));
  out.body = WW_TRY(inner_block(in, [&]() -> Result<void> {
    WW_TRY_VOID(call_role(in, role, "role_begins", span));
    body();
    return {};
  }));
  emit(in, std::move(out));
  return {};
}

Result<void> kernel_if(Context& in, const Stmt& s, Env& env) {
  const Value condition = WW_TRY(eval(in, s.a, env));
  if (condition.is(Kind::Poison)) {
    // Look at both arms for what else is wrong.
    build_block(in, s.body, *new_env(in, &env));
    build_block(in, s.other, *new_env(in, &env));
    return {};
  }
  const bool is_constant =
      condition.is(Kind::Ir) && ir::const_int(in.fn(), condition.expr()).has_value();
  const bool is_runtime = (condition.is(Kind::Ir) && !is_constant) || condition.is(Kind::Buffer) ||
                          condition.is(Kind::Region);
  if (!is_runtime) {
    build_block(in, WW_TRY(truth(in, {condition, in.span(s.a)})) ? s.body : s.other, env);
    return {};
  }
  ir::Stmt out = stmt_node(ir::StmtKind::If, in.span(s.head));
  out.expr = WW_TRY(condition_of(in, {condition, in.span(s.a)}));
  const auto arm = [&](ListOf<StmtId> statements) {
    return inner_block(in, [&]() -> Result<void> {
      build_block(in, statements, *new_env(in, &env));
      return {};
    });
  };
  out.body = WW_TRY(arm(s.body));
  out.other = WW_TRY(arm(s.other));
  emit(in, std::move(out));
  return {};
}

Result<void> kernel_while(Context& in, const Stmt& s, Env& env) {
  const Value condition = WW_TRY(eval(in, s.a, env));
  if (condition.is(Kind::Poison)) return {};
  if (s.other.count != 0)
    return fail_at(in.span(s.head), DiagKind::Syntax, "`else` of a loop in a kernel");
  ir::Stmt out = stmt_node(ir::StmtKind::While, in.span(s.head));
  out.expr = WW_TRY(condition_of(in, {condition, in.span(s.a)}));
  const Saved loops(in.kernel->loops, in.kernel->loops + 1);
  out.body = WW_TRY(inner_block(in, [&]() -> Result<void> {
    build_block(in, s.body, *new_env(in, &env));
    return {};
  }));
  emit(in, std::move(out));
  return {};
}

Result<void> kernel_for(Context& in, const Stmt& s, Env& env) {
  const Value iterable = WW_TRY(eval(in, s.a, env));
  if (s.other.count != 0)
    return fail_at(in.span(s.head), DiagKind::Syntax, "`else` of a loop in a kernel");
  std::vector<Symbol> targets;
  collect_targets(in.ast(), in.ast().list(s.items)[0], targets);
  if (iterable.is(Kind::Poison)) {
    Env& scope = *new_env(in, &env);
    for (const Symbol name : targets) scope.set(name, poison());
    const Saved loops(in.kernel->loops, in.kernel->loops + 1);
    static_cast<void>(inner_block(in, [&]() -> Result<void> {
      build_block(in, s.body, scope);
      return {};
    }));
    return {};
  }
  const LoopObject loop = WW_TRY(as_loop(in, {iterable, in.span(s.a)}));
  // `for (*all,) in T.grid(…)`: a list of the variables.
  const ExprId target = in.ast().list(s.items)[0];
  const Expr& whole = in.ast()[target];
  const bool is_list = whole.kind == ExprKind::Tuple && in.ast().list(whole.items).size() == 1 &&
                       in.ast()[in.ast().list(whole.items)[0]].kind == ExprKind::Starred;
  if (is_list)
    return build_loops(in, loop, {}, {in.span(s.head), in.span(s.a)},
                       [&](const std::vector<Value>& vars) -> Result<void> {
                         Env& scope = *new_env(in, &env);
                         scope.set(targets[0], in.heap.list(vars));
                         build_block(in, s.body, scope);
                         return {};
                       });
  if (targets.size() != loop.ranges.size())
    return fail_at(in.span(s.head), DiagKind::BadArgument, "{} loop variable{} for {} extent{}",
                   targets.size(), targets.size() == 1 ? "" : "s", loop.ranges.size(),
                   loop.ranges.size() == 1 ? "" : "s");
  std::vector<std::string> names;
  for (const Symbol name : targets) names.emplace_back(in.symbols.text(name));
  return build_loops(in, loop, names, {in.span(s.head), in.span(s.a)},
                     [&](const std::vector<Value>& vars) -> Result<void> {
                       Env& scope = *new_env(in, &env);
                       for (std::size_t i = 0; i < targets.size(); ++i)
                         scope.set(targets[i], vars[i]);
                       build_block(in, s.body, scope);
                       return {};
                     });
}

Result<void> kernel_with(Context& in, const Stmt& s, Env& env) {
  const std::span<const WithItem> items = in.ast().list(s.withs);
  if (items.size() != 1)
    return fail_at(in.span(s.head), DiagKind::Syntax, "found {} items behind `with`, expected one",
                   items.size());
  const Value value = WW_TRY(eval(in, items[0].value, env));
  Env& scope = *new_env(in, &env);
  if (value.is(Kind::Loop)) {
    const auto& loop = value.as<LoopObject>();
    return build_loops(
        in, loop, {}, {in.span(s.head), in.span(items[0].value)},
        [&](const std::vector<Value>& vars) -> Result<void> {
          const Value bound = vars.size() == 1 ? vars[0] : in.heap.list(vars);
          if (items[0].target.valid())
            WW_TRY_VOID(assign_in_kernel(in, items[0].target, bound, scope,
                                         {in.span(s.head), in.span(items[0].value)}));
          build_block(in, s.body, scope);
          return {};
        });
  }
  // `with T.launch_thread("blockIdx.x", 4) as bx`: the id is there until the end of the kernel.
  if (is_launch_id(in, value)) {
    if (items[0].target.valid())
      WW_TRY_VOID(assign_in_kernel(in, items[0].target, value, scope,
                                   {in.span(s.head), in.span(items[0].value)}));
    build_block(in, s.body, scope);
    return {};
  }
  if (is_role(in, value))
    return build_role(in, value, in.span(s.head), [&] { build_block(in, s.body, scope); });
  if (!value.is(Kind::Frame))
    return fail(value.is(Kind::Opaque)
                    ? needs_opaque(in, {value, in.span(items[0].value)})
                    : diag_at(in.span(items[0].value), DiagKind::BadType,
                              "`with` {}, expected `T.attr`, a role or a loop", type_name(value)));
  ir::Block content = WW_TRY(inner_block(in, [&]() -> Result<void> {
    build_block(in, s.body, scope);
    return {};
  }));
  const auto& attrs = value.as<FrameObject>().attrs;
  for (std::size_t i = attrs.size(); i-- > 0;) {
    ir::Stmt attr = stmt_node(ir::StmtKind::Attr, in.span(s.head));
    attr.attr = attrs[i].first;
    attr.setting = attrs[i].second;
    attr.body = std::move(content);
    content = {in.fn().add(std::move(attr))};
  }
  for (const ir::StmtId id : content) in.kernel->blocks.back().push_back(id);
  return {};
}

// --- all statements ------------------------------------------------------------------------------

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
