// SPDX-License-Identifier: Apache-2.0
// Control in a kernel: branches, loops, blocks with attributes.
#include "script/interp/kernel_control.h"

#include <fmt/format.h>

#include "base/wide.h"
#include "ir/simplify/fold.h"
#include "script/interp/access.h"
#include "script/interp/calls.h"
#include "script/interp/conversions.h"
#include "script/interp/expressions.h"
#include "script/interp/kernel_assign.h"
#include "script/interp/kernel_body.h"
#include "script/interp/operators.h"
#include "script/interp/regions.h"
#include "script/syntax/errors.h"

namespace ww::script {
namespace {

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
  ir::ExprId begin = WW_TRY(index_expr(in, loop.ranges[i].first, at.range));
  ir::ExprId end = WW_TRY(index_expr(in, loop.ranges[i].second, at.range));
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
  if (!loop.step.is(Kind::None)) step = WW_TRY(as_integer(in, loop.step, "the step", at.range));
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
    out.settings.emplace_back(key, WW_TRY(as_setting(in, value, key, at.range)));
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
Result<LoopObject> as_loop(Context& in, const Value& value, Span where) {
  if (value.is(Kind::Loop)) return value.as<LoopObject>();
  if (value.is(Kind::Range)) {
    const auto& range = value.as<RangeObject>();
    LoopObject loop;
    loop.ranges = {{of_int(range.begin), of_int(range.end)}};
    if (range.step != 1) loop.step = of_int(range.step);
    return loop;
  }
  if (value.is(Kind::Opaque)) return fail(needs_opaque(in, value, where));
  Diag problem =
      diag(DiagKind::BadType,
           "a loop over {}, expected `range`, `T.serial`, `T.unroll`, `T.vectorized` or `T.grid`",
           type_name(value));
  if (value.is(Kind::List) || value.is(Kind::Tuple))
    problem.notes.push_back({"write a comprehension, or call an inline function per element", {}});
  return fail(std::move(problem).with_span(where));
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
  out.expr = WW_TRY(condition_of(in, holds, span));
  out.body = WW_TRY(inner_block(in, [&]() -> Result<void> {
    WW_TRY_VOID(call_role(in, role, "role_begins", span));
    body();
    return {};
  }));
  emit(in, std::move(out));
  return {};
}

}  // namespace

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
    build_block(in, WW_TRY(truth(in, condition, in.span(s.a))) ? s.body : s.other, env);
    return {};
  }
  ir::Stmt out = stmt_node(ir::StmtKind::If, in.span(s.head));
  out.expr = WW_TRY(condition_of(in, condition, in.span(s.a)));
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
  out.expr = WW_TRY(condition_of(in, condition, in.span(s.a)));
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
  const LoopObject loop = WW_TRY(as_loop(in, iterable, in.span(s.a)));
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
                    ? needs_opaque(in, value, in.span(items[0].value))
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

}  // namespace ww::script
