// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/fail_at.h"
#include "base/wide.h"
#include "ir/below.h"
#include "ir/simplify/fold.h"
#include "script/api/builtins.h"
#include "script/interp/evaluator.h"

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

// --- assignments ---------------------------------------------------------------------------------
//
// Assignments in a kernel: what a name becomes, and stores.

namespace {

bool is_storable(const Value& v) {
  return v.is(Kind::Int) || v.is(Kind::Bool) || v.is(Kind::Float) || v.is(Kind::Ir);
}

// Just made by a call (a scope id, a loop variable), so that the name is its name; or an id of the
// launch, which several names may stand for.
bool is_fresh_var(const KernelContext& k, const Value& v) {
  if (!v.is(Kind::Ir)) return false;
  if (k.launch.reads.contains(v.id)) return true;
  const ir::Expr& e = k.function[v.expr()];
  return e.op == ir::ExprOp::Var && k.function[e.var].name.empty();
}

std::string_view kind_text(const ir::Var& var) {
  switch (var.kind) {
    case ir::VarKind::Param:
      return "a parameter";
    case ir::VarKind::Extent:
      return "an extent of a shape";
    case ir::VarKind::ScopeId:
      return "a scope id";
    case ir::VarKind::Loop:
      return "a loop variable";
    case ir::VarKind::Let:
      return var.type.is_pointer() ? "a pointer (bound once)" : "bound by `T.let`";
    case ir::VarKind::Launch:
      return "a launch variable";
  }
  return "immutable";
}

// Does the value of an expression depend on the storage of a buffer?
bool reads(const ir::Function& f, ir::ExprId id, ir::BufferId storage) {
  return ir::any_below(f, id, [&](const ir::Expr& e) {
    return e.op == ir::ExprOp::Load && ir::storage_of(f, e.buffer) == storage;
  });
}

Diag read_only(const ir::Var& var, std::string_view name, Span span) {
  return diag_at(span, DiagKind::ReadOnly, "`{}` is {} and cannot be assigned", name,
                 kind_text(var))
      .with_note("bound here", var.span);
}

Diag no_value(Span span) {
  return diag_at(span, DiagKind::BadType, "this call returns nothing, expected a value");
}

// The same for a call that has become the given statement.
Diag no_result(Context& in, ir::StmtId call, Span span) {
  Diag diag = no_value(span);
  if (in.fn()[call].kind != ir::StmtKind::Tile) return diag;
  return std::move(diag).with_note(
      "a tile primitive writes into its first argument, as in `Tx.cta.exp(y, x)`");
}

Assigned assigned_to(Context& in, ir::BufferId id) {
  const ir::Buffer& buffer = in.fn()[id];
  return {.name = buffer.name,
          .is_name = buffer.is_scalar,
          .is_inferred = in.kernel->inferred.contains(id.index),
          .declared = buffer.span};
}

// `B[i, 0:4] = vector`: from the first element on.
std::optional<std::vector<ir::ExprId>> vector_place(const ir::Function& f, const BufferIndex& index,
                                                    ir::ExprId value) {
  const std::uint16_t lanes = f[value].type.lanes;
  std::vector<ir::ExprId> out;
  for (std::size_t d = 0; d < index.ranges.size(); ++d) {
    const std::int64_t wanted = d + 1 == index.ranges.size() ? lanes : 1;
    if (lanes < 2 || ir::const_int(f, index.ranges[d].extent) != wanted) return std::nullopt;
    out.push_back(index.ranges[d].min);
  }
  return out;
}

// Binds a value to a new immutable variable.
ir::ExprId bind_value(Context& in, std::string_view name, ir::ExprId value, Span span) {
  ir::Stmt out = stmt_node(ir::StmtKind::Bind, span);
  const ir::VarId id = new_var(in, ir::VarKind::Let, in.fn()[value].type, span, name);
  out.var = id;
  out.expr = value;
  emit(in, std::move(out));
  return ir::var_ref(in.fn(), id, span);
}

const Value* field_of(const Value& object, Symbol name) {
  return object.is(Kind::Instance) ? object.as<InstanceObject>().find(name) : nullptr;
}

// What a name, or an attribute of one, stands for: found without carrying anything out.
const Value* looked_up(Context& in, ExprId id, const Env& env) {
  const Expr& e = in.ast()[id];
  if (e.kind == ExprKind::Name) return env.find(e.name);
  if (e.kind != ExprKind::Attribute) return nullptr;
  const Value* object = looked_up(in, e.a, env);
  return object == nullptr ? nullptr : field_of(*object, e.name);
}

// The scalar that an attribute stands for: a buffer of one element, or what was read of one when the
// object was made.
std::optional<ir::BufferId> scalar_behind(Context& in, const Value* field) {
  std::optional<ir::BufferId> buffer;
  if (field != nullptr && field->is(Kind::Buffer)) buffer = field->buffer();
  if (field != nullptr && field->is(Kind::Ir) && in.fn()[field->expr()].op == ir::ExprOp::Load)
    buffer = in.fn()[field->expr()].buffer;
  if (!buffer || !ir::has_one_element(in.fn(), in.fn()[*buffer])) return std::nullopt;
  return buffer;
}

bool is_scalar_value(Context& in, const Value& value) {
  if (value.is(Kind::Buffer)) return in.fn()[value.buffer()].is_scalar;
  return is_storable(value) && !is_fresh_var(*in.kernel, value);
}

// `a, b = b, a` is a swap: all values are those before the first store. What reads a buffer that an
// earlier target stores to is computed first; where it is not known which, whatever reads memory.
Result<void> keep_old_values(Context& in, std::vector<std::pair<ExprId, Value>>& pairs, Env& env,
                             Span span) {
  std::vector<ir::BufferId> stored;
  bool is_any_stored = false;
  for (auto& [target, value] : pairs) {
    const Expr& e = in.ast()[target];
    const Value* known = looked_up(in, e.kind == ExprKind::Subscript ? e.a : target, env);
    std::optional<ir::BufferId> to;
    if (e.kind == ExprKind::Attribute) to = scalar_behind(in, known);
    if (e.kind != ExprKind::Attribute && known != nullptr && known->is(Kind::Buffer))
      to = known->buffer();
    if (to && value.is(Kind::Buffer) && is_scalar_value(in, value))
      value = of_expr(WW_TRY(expression(in, {value, span})));
    const auto is_read = [&in, &v = value](ir::BufferId id) {
      return reads(in.fn(), v.expr(), id);
    };
    if (value.is(Kind::Ir) && (std::ranges::any_of(stored, is_read) ||
                               (is_any_stored && in.fn()[value.expr()].reads_memory)))
      value = of_expr(bind_value(in, "old", value.expr(), span));
    if (to) stored.push_back(ir::storage_of(in.fn(), *to));
    is_any_stored |= known == nullptr && e.kind != ExprKind::Name;
  }
  return {};
}

Result<void> let_name(Context& in, Symbol name, ir::ExprId value, Env& env, Span where) {
  env.set(name, of_expr(bind_value(in, in.symbols.text(name), value, where)));
  return {};
}

Result<void> new_scalar(Context& in, Symbol name, ir::Type type, const Value* value, Env& env,
                        const AssignSpans& at) {
  const Span where = at.all;
  std::optional<ir::ExprId> initial;
  if (value != nullptr)
    initial = WW_TRY(assigned_value(in, {*value, at.value}, type, {.name = in.symbols.text(name)}));
  const std::int64_t shape[] = {type.lanes};
  ir::Buffer buffer = new_buffer(in, ir::Scope::Local, type.dtype, shape, where);
  buffer.name = std::string(in.symbols.text(name));
  buffer.is_scalar = type.lanes == 1;
  ir::Stmt alloc = stmt_node(ir::StmtKind::Alloc, where);
  alloc.buffer = in.fn().add(std::move(buffer));
  const ir::BufferId id = alloc.buffer;
  emit(in, std::move(alloc));
  env.set(name, of_buffer(id));
  if (!initial) return {};
  ir::Stmt out = stmt_node(ir::StmtKind::Store, where);
  out.buffer = id;
  out.args.push_back(ir::int_imm(in.fn(), num::DType::Int32, 0, where));
  out.expr = *initial;
  emit(in, std::move(out));
  return {};
}

// `x = 0`: the type is that of the value.
Result<void> new_inferred(Context& in, Symbol name, ir::Type type, const Value& value, Env& env,
                          const AssignSpans& at) {
  WW_TRY_VOID(new_scalar(in, name, type, &value, env, at));
  in.kernel->inferred.insert(env.find(name)->buffer().index);
  return {};
}

Result<void> store_element(Context& in, ir::BufferId buffer, const Value& index, const Value& value,
                           Span target, const AssignSpans& at) {
  if (value.is(Kind::Poison) || is_in_error(index)) return {};
  const BufferIndex place = WW_TRY(buffer_index(in, buffer, index, target));
  if (value.is(Kind::Region))
    return fail(diag_at(at.value, DiagKind::BadType,
                        "a region is assigned to `{}`, expected a number or an "
                        "expression",
                        in.fn()[buffer].name)
                    .with_note("`Tx.copy(dst, src)` copies regions, by a thread; `Tx.warp.copy`, "
                               "`Tx.wg.copy`, `Tx.cta.copy` by more"));
  const ir::ExprId raw = WW_TRY(expression(in, {value, at.value}));
  if (in.fn()[raw].type.kind == ir::Type::Kind::Void) return fail(no_value(at.value));
  std::vector<ir::ExprId> indices = place.indices;
  if (!place.is_element) {
    const auto run = vector_place(in.fn(), place, raw);
    if (!run || place.buffer != buffer)  // another one: by steps
      return fail(diag_at(target, DiagKind::RankMismatch,
                          "a store to a region of `{}`, expected one index per dimension",
                          in.fn()[buffer].name)
                      .with_note("use a tile primitive (`Tx.copy`, `Tx.fill`) for regions"));
    indices = *run;
  }
  // The load checks rank, bounds and types of the indices.
  const std::uint16_t lanes = in.fn()[raw].type.lanes;
  const bool is_ramp =
      place.is_element && !indices.empty() && in.fn()[indices.back()].type.lanes > 1;
  const ir::ExprId element =
      WW_TRY(ir::load(in.fn(), buffer, indices, is_ramp ? 1 : lanes, target));
  const ir::ExprId stored =
      WW_TRY(assigned_value(in, {value, at.value}, in.fn()[element].type, assigned_to(in, buffer)));
  emit_store(in, element, stored, at.all);
  return {};
}

Result<void> assign_name(Context& in, Symbol name, Value value, Env& env, Span name_span,
                         const AssignSpans& at) {
  const std::string_view text = in.symbols.text(name);
  if (value.is(Kind::Poison)) {
    if (env.find(name) == nullptr) env.set(name, value);
    return {};
  }
  const Value* known = env.find(name);
  if (known != nullptr && is_storable(value) && !is_fresh_var(*in.kernel, value)) {
    if (known->is(Kind::Buffer) && ir::has_one_element(in.fn(), in.fn()[known->buffer()]))
      return store_element(in, known->buffer(), of_int(0), value, name_span, at);
    if (known->is(Kind::Ir) && in.fn()[known->expr()].op == ir::ExprOp::Var)
      return fail(read_only(in.fn()[in.fn()[known->expr()].var], text, name_span));
  }
  // `n = T.int32()` behind parameters whose shapes have it says it once more.
  const auto is_extent = [&](const Value& v) {
    return v.is(Kind::Ir) && in.fn()[v.expr()].op == ir::ExprOp::Var &&
           in.fn()[in.fn()[v.expr()].var].kind == ir::VarKind::Extent;
  };
  if (known != nullptr && is_extent(*known) && is_extent(value) && is_fresh_var(*in.kernel, value))
    return {};
  if (value.is(Kind::Meta)) {
    value = value.as<MetaObject>().value;
  } else if (value.is(Kind::Ir) && !is_fresh_var(*in.kernel, value)) {
    const ir::Type type = in.fn()[value.expr()].type;
    if (type.kind == ir::Type::Kind::Void) return fail(no_value(at.value));
    if (type.is_pointer() || type.lanes > 1) return let_name(in, name, value.expr(), env, at.all);
    if (type.is_value()) return new_inferred(in, name, type, value, env, at);
  } else if (value.is(Kind::Int) || value.is(Kind::Bool) || value.is(Kind::Float)) {
    const ir::ExprId constant = WW_TRY(expression(in, {value, at.value}));
    return new_inferred(in, name, in.fn()[constant].type, value, env, at);
  }
  give_name(in, value, text);
  env.set(name, value);
  return {};
}

Result<void> new_array(Context& in, Symbol name, const AnnotationObject& annotation,
                       const std::optional<Value>& value, Env& env, const AssignSpans& at) {
  if (value)
    return fail_at(at.value, DiagKind::BadBuffer,
                   "an initial value for the array `{}`, which cannot have one",
                   in.symbols.text(name));
  const Value buffer = WW_TRY(alloc_local(in, annotation.shape, annotation.type.dtype, at.all));
  give_name(in, buffer, in.symbols.text(name));
  env.set(name, buffer);
  return {};
}

// Both are pointers to elements, of different types.
bool points_elsewhere(ir::Type declared, ir::Type given) {
  return declared.is_pointer() && given.is_pointer() && !declared.opaque && !given.opaque &&
         declared.dtype != given.dtype;
}

Result<void> annotated_let(Context& in, Symbol name, const AnnotationObject& annotation,
                           const std::optional<Value>& value, Env& env, const AssignSpans& at) {
  if (!value)
    return fail_at(at.all, DiagKind::NotBound, "`{}` is immutable and has no value",
                   in.symbols.text(name));
  // A tensor map that is still to be encoded: the name is its name.
  if (is_fresh_var(*in.kernel, *value) && in.fn()[value->expr()].type.is_pointer()) {
    give_name(in, *value, in.symbols.text(name));
    env.set(name, *value);
    return {};
  }
  if (is_sequence(*value))
    return fail(
        diag_at(at.value, DiagKind::BadType, "`{}: T.let` binds one value, not a {}",
                in.symbols.text(name), type_name(*value))
            .with_note(fmt::format("`{} = (…)` without an annotation names a tuple of values",
                                   in.symbols.text(name))));
  const ir::ExprId expr = annotation.type.is_value()
                              ? WW_TRY(assigned_value(in, {*value, at.value}, annotation.type,
                                                      {.name = in.symbols.text(name)}))
                              : WW_TRY(expression(in, {*value, at.value}));
  const ir::Type type = in.fn()[expr].type;
  if (type.kind == ir::Type::Kind::Void) return fail(no_value(at.value));
  if (annotation.type.is_pointer() && !type.is_pointer())
    return fail_at(at.value, DiagKind::BadType, "`{}` is `{}`, expected a pointer",
                   in.symbols.text(name), ir::to_text(type));
  if (points_elsewhere(annotation.type, type))
    return fail(diag_at(at.value, DiagKind::BadType,
                        "`{}` is annotated as `{}`, but its value is `{}`", in.symbols.text(name),
                        ir::to_text(annotation.type), ir::to_text(type))
                    .with_note("`T.decl_buffer(shape, dtype, data=B.data)` reads the memory of `B` "
                               "as another type"));
  return let_name(in, name, expr, env, at.all);
}

}  // namespace

Result<void> kernel_assign(Context& in, const Stmt& s, Env& env) {
  const std::span<const ExprId> targets = in.ast().list(s.items);
  if (targets.size() > 1)
    return fail_at(in.span(targets[1]), DiagKind::Syntax,
                   "found a second `=`, expected one assignment per statement in a kernel");
  const std::size_t before = in.kernel->blocks.back().size();
  const Value value = WW_TRY(eval(in, s.a, env));
  // An instruction, a tile primitive or an inline function.
  const bool is_call = in.ast()[s.a].kind == ExprKind::Call;
  if (is_call && value.is(Kind::None) && in.kernel->blocks.back().size() != before)
    return fail(no_result(in, in.kernel->blocks.back().back(), in.span(s.a)));
  return assign_in_kernel(in, targets[0], value, env, {in.span(s.place), in.span(s.a)});
}

Result<void> assign_in_kernel(Context& in, ExprId target, Value value, Env& env,
                              const AssignSpans& at) {
  const Expr& e = in.ast()[target];
  switch (e.kind) {
    case ExprKind::Name:
      return assign_name(in, e.name, value, env, in.span(e.place), at);
    case ExprKind::Starred:
      return assign_in_kernel(in, e.a, value, env, at);
    case ExprKind::Tuple:
    case ExprKind::List: {
      if (value.is(Kind::Poison)) {
        for (const ExprId item : in.ast().list(e.items))
          WW_TRY_VOID(assign_in_kernel(in, item, value, env, at));
        return {};
      }
      const bool is_meta = value.is(Kind::Meta);
      auto pairs = WW_TRY(unpack(in, e, is_meta ? value.as<MetaObject>().value : value));
      if (is_meta)
        for (auto& [item, part] : pairs) part = in.heap.wrap(Kind::Meta, MetaObject{{}, part});
      WW_TRY_VOID(keep_old_values(in, pairs, env, at.all));
      for (const auto& [item, part] : pairs) WW_TRY_VOID(assign_in_kernel(in, item, part, env, at));
      return {};
    }
    case ExprKind::Subscript: {
      const Value object = WW_TRY(eval_buffer_base(in, e.a, env));
      const Value index = WW_TRY(eval(in, e.b, env));
      if (object.is(Kind::Buffer))
        return store_element(in, object.buffer(), index, value, in.span(e.place), at);
      return assign_item(in, object, index, value, at.all);
    }
    case ExprKind::Attribute: {
      const Value object = WW_TRY(eval(in, e.a, env));
      const auto scalar = scalar_behind(in, field_of(object, e.name));
      if (scalar && is_scalar_value(in, value))
        return store_element(in, *scalar, of_int(0), value, in.span(e.place), at);
      return assign_field(in, object, e.name, value, in.span(e.place));
    }
    default:
      return assign_host(in, target, value, env);
  }
}

Result<void> kernel_annotated(Context& in, const Stmt& s, Env& env) {
  const Expr& target = in.ast()[in.ast().list(s.items)[0]];
  const AssignSpans at{in.span(s.place), s.a.valid() ? in.span(s.a) : in.span(s.place)};
  const Value annotation = WW_TRY(eval(in, s.b, env));
  std::optional<Value> value;
  if (s.a.valid()) value = WW_TRY(eval(in, s.a, env));
  if (annotation.is(Kind::Poison) || (value && value->is(Kind::Poison))) {
    poison_names(in, s, env);
    return {};
  }
  if (target.kind != ExprKind::Name)
    return fail_at(in.span(target.place), DiagKind::Syntax, "only a name can be annotated");
  if (annotation.is(Kind::DType)) {
    const ir::Type type = WW_TRY(as_type(in, {annotation, in.span(s.b)}, "the type"));
    return new_scalar(in, target.name, type, value ? &*value : nullptr, env, at);
  }
  using What = AnnotationObject::What;
  const What what =
      annotation.is(Kind::Annotation) ? annotation.as<AnnotationObject>().what : What::Constexpr;
  if (what == What::Array)
    return new_array(in, target.name, annotation.as<AnnotationObject>(), value, env, at);
  if (what == What::Let || what == What::Handle)
    return annotated_let(in, target.name, annotation.as<AnnotationObject>(), value, env, at);
  if (value) return assign_name(in, target.name, *value, env, in.span(target.place), at);
  return fail_at(in.span(s.b), DiagKind::BadType,
                 "`{}` is annotated with {}, expected a type such as `T.int32`, or `T.let`",
                 in.symbols.text(target.name), type_name(annotation));
}

Result<void> kernel_augmented(Context& in, const Stmt& s, Env& env) {
  const ExprId target = in.ast().list(s.items)[0];
  const Expr& e = in.ast()[target];
  const Value old = WW_TRY(eval(in, target, env));
  const Value right = WW_TRY(eval(in, s.a, env));
  if (old.is(Kind::Region))
    return fail_at(in.span(e.place), DiagKind::BadType, "`{}=` of a region; give all indices",
                   text_of(s.op));
  const Value value = WW_TRY(binary(in, s.op, old, right, in.span(s.place)));
  return assign_in_kernel(in, target, value, env, {in.span(s.place), in.span(s.place)});
}

}  // namespace ww::script
