// SPDX-License-Identifier: Apache-2.0
// Expressions: each kind of node, evaluated over values of the host and of the kernel alike.
#include <fmt/format.h>

#include <algorithm>

#include "base/suggest.h"
#include "script/api/params.h"
#include "script/interp/interp.h"
#include "script/syntax/lexer.h"

namespace ww::script {
namespace {

constexpr std::ptrdiff_t kMaxStack = std::ptrdiff_t{5} << 20;
constexpr std::size_t kMaxNodes = std::size_t{2} << 20U;  // of a kernel

// Functions and types of Python that are known to exist, and no more.
constexpr std::string_view kOpaqueNames[] = {
    "open",
    "input",
    "id",
    "hash",
    "vars",
    "globals",
    "locals",
    "super",
    "object",
    "bytes",
    "callable",
    "setattr",
    "issubclass",
    "chr",
    "ord",
    "hex",
    "bin",
    "exit",
    "__file__",
    "complex",
    "memoryview",
    "Exception",
    "BaseException",
    "ValueError",
    "TypeError",
    "RuntimeError",
    "ImportError",
    "ModuleNotFoundError",
    "KeyError",
    "IndexError",
    "OSError",
    "NameError",
    "AttributeError",
    "StopIteration",
    "ZeroDivisionError",
    "NotImplementedError",
    "AssertionError",
    "NotImplemented",
};

}  // namespace

Result<void> Interp::spend(std::uint64_t steps, Span where) {
  if (steps_left_ < steps) {
    steps_left_ = 0;
    return fail(
        diag(DiagKind::Budget, "compile-time evaluation takes too many steps").with_span(where));
  }
  steps_left_ -= steps;
  const bool is_large = in_kernel() && fn().expr_count() > kMaxNodes;
  if (heap.is_full() || is_large)
    return fail(
        diag(DiagKind::Budget, "compile-time evaluation takes too much memory").with_span(where));
  if (stack_base_ - static_cast<const char*>(__builtin_frame_address(0)) > kMaxStack)
    return fail(
        diag(DiagKind::Budget, "compile-time evaluation is nested too deeply").with_span(where));
  return {};
}

Result<Value> Interp::eval(ExprId id, Env& env) {
  const Expr& e = (*ast_)[id];
  const Saved depth(depth_, depth_ + 1);
  if (depth_ > kMaxDepth)
    return fail(diag(DiagKind::Budget, "compile-time evaluation is nested too deeply")
                    .with_span(span(e.place)));
  WW_TRY_VOID(spend(1, span(e.place)));
  return eval_kind(e, id, env);
}

Result<Value> Interp::eval_kind(const Expr& e, ExprId id, Env& env) {
  switch (e.kind) {
    case ExprKind::Name:
      return eval_name(e, env);
    case ExprKind::Int:
      return of_int(static_cast<Wide>(e.integer));
    case ExprKind::Float:
      return of_float(e.real);
    case ExprKind::String:
      return heap.str(ast_->strings[e.text]);
    case ExprKind::FString:
    case ExprKind::Formatted:
      return eval_fstring(e, env);
    case ExprKind::True:
      return of_bool(true);
    case ExprKind::False:
      return of_bool(false);
    case ExprKind::None:
      return none();
    case ExprKind::Ellipsis:
      return Value{.kind = Kind::Ellipsis};
    case ExprKind::Tuple:
      return eval_items(e, Kind::Tuple, env);
    case ExprKind::List:
      return eval_items(e, Kind::List, env);
    case ExprKind::Set:
      return eval_items(e, Kind::Set, env);
    case ExprKind::Dict:
      return eval_dict(e, env);
    case ExprKind::Unary:
      return unary(e.op, WW_TRY(eval(e.a, env)), span(e.place));
    case ExprKind::Binary: {
      const Value left = WW_TRY(eval(e.a, env));
      Result<Value> right = eval(e.b, env);
      if (!right && e.op == Op::MatMul && right.error().kind == DiagKind::UnknownName &&
          right.error().notes.empty())
        right.error().notes.push_back({std::string(kAxisNote), {}});
      return binary(e.op, left, WW_TRY(std::move(right)), span(e.place));
    }
    case ExprKind::And:
    case ExprKind::Or:
      return eval_logic(e, env);
    case ExprKind::Compare:
      return eval_compare(e, env);
    case ExprKind::Conditional:
      return eval_conditional(e, env);
    case ExprKind::Lambda:
      return eval_lambda(e, id, env);
    case ExprKind::Call:
      return eval_call(e, env);
    case ExprKind::Attribute:
      return eval_attribute(e, env);
    case ExprKind::Subscript:
      return eval_subscript(e, env);
    case ExprKind::Slice:
      return eval_slice(e, env);
    case ExprKind::Starred:
      return fail(diag(DiagKind::Syntax, "found `*` outside of a list, tuple or call")
                      .with_span(span(e.place)));
    case ExprKind::ListComp:
    case ExprKind::SetComp:
    case ExprKind::GeneratorExp:
    case ExprKind::DictComp:
      return eval_comprehension(e, env);
    case ExprKind::Walrus:
      return eval_walrus(e, env);
    case ExprKind::Unsupported:
      return eval_unsupported(e);
  }
  return none();
}

Result<Value> Interp::eval_lambda(const Expr& e, ExprId id, Env& env) {
  FunctionObject f;
  f.unit = unit_;
  f.lambda = id;
  f.env = &env;
  f.name = "<lambda>";
  for (const Param& p : ast_->list(e.params))
    f.defaults.push_back(p.default_value.valid() ? WW_TRY(eval(p.default_value, env)) : none());
  return heap.wrap(Kind::Function, std::move(f));
}

Result<Value> Interp::eval_walrus(const Expr& e, Env& env) {
  const Value value = WW_TRY(eval(e.a, env));
  Env* scope = &env;
  while (scope->is_comprehension) scope = scope->parent();
  WW_TRY_VOID(bind(*scope, e.name, value, span(e.place)));
  return value;
}

Value Interp::eval_unsupported(const Expr& e) {
  const std::string_view word = symbols.text(e.name);
  if (word.starts_with("yield")) yielded_ = span(e.place);
  return opaque(span(e.place), fmt::format("`{}` is not modelled", word));
}

// --- names ---------------------------------------------------------------------------------------

Result<Value> Interp::eval_name(const Expr& e, Env& env) {
  if (const Value* value = env.find(e.name)) {
    // A scalar's name stands for its value.
    if (in_kernel() && value->is(Kind::Buffer) && fn()[value->buffer()].is_scalar)
      return of_expr(WW_TRY(ir::load(fn(), value->buffer(), {}, 1, span(e.place))));
    if (in_kernel() && value->is(Kind::Opaque) && value->as<OpaqueObject>().extent)
      return of_expr(host_extent(*this, value->as<OpaqueObject>(), symbols.text(e.name)));
    return *value;
  }
  const std::string_view name = symbols.text(e.name);
  if (const BuiltinRow* row = find_builtin(name))
    return heap.wrap(Kind::Builtin, BuiltinObject{{}, row});
  // The names that a kernel may use without importing them.
  if (name == "T" || name == "Tx")
    return heap.wrap(Kind::Namespace, NamespaceObject{{}, std::string(name)});
  if (name == "Axis")  // TVM prints kernels without their imports
    return heap.wrap(Kind::Namespace, NamespaceObject{{}, "layout.Axis"});
  if (std::find(std::begin(kOpaqueNames), std::end(kOpaqueNames), name) != std::end(kOpaqueNames))
    return opaque(span(e.place), fmt::format("`{}` is not modelled", name));
  return name_error(e.name, span(e.place), env);
}

namespace {

bool encloses(Place outer, Place inner) {
  return outer.begin <= inner.begin && inner.end <= outer.end;
}

// Where the function around a place binds the name, if it does so anywhere.
std::optional<Place> bound_elsewhere(const Ast& ast, Place at, Symbol name) {
  const Stmt* function = nullptr;
  for (const Stmt& s : ast.stmts)
    if (s.kind == StmtKind::FunctionDef && encloses(s.place, at) &&
        (function == nullptr || encloses(function->place, s.place)))
      function = &s;
  if (function == nullptr) return std::nullopt;
  for (const Stmt& s : ast.stmts) {
    const bool binds =
        s.kind == StmtKind::Assign || s.kind == StmtKind::AnnAssign || s.kind == StmtKind::For;
    if (!binds || !encloses(function->place, s.place)) continue;
    std::optional<Place> found;
    for (const ExprId target : ast.list(s.items))
      for_each_bound_name(ast, target, [&](const Expr& bound) {
        if (!found && bound.name == name) found = bound.place;
      });
    if (found) return found;
  }
  return std::nullopt;
}

}  // namespace

Result<Value> Interp::name_error(Symbol name, Span where, Env& env) {
  const Place at{static_cast<std::uint32_t>(where.begin - unit_->base),
                 static_cast<std::uint32_t>(where.end - unit_->base)};
  if (const auto bound = bound_elsewhere(*ast_, at, name))
    return fail(diag(DiagKind::NotBound, "`{}` has no value here", symbols.text(name))
                    .with_note(bound->begin > at.begin
                                   ? "it gets one further down"
                                   : "it is bound in a block that has ended, and gone with it",
                               span(*bound))
                    .with_span(where));
  std::vector<std::string_view> known;
  for (const Env* scope = &env; scope != nullptr; scope = scope->parent())
    for (const auto& [symbol, value] : scope->names()) known.push_back(symbols.text(symbol));
  for (const std::string_view builtin : members_of("")) known.push_back(builtin);
  const std::string_view text = symbols.text(name);
  const bool is_module = known_module(text).has_value();
  const bool is_of_language = find_builtin(fmt::format("T.{}", text)) != nullptr;
  const std::string meant = is_module        ? ""
                            : is_of_language ? fmt::format("; did you mean `T.{}`?", text)
                                             : did_you_mean(text, known);
  Diag out = diag(DiagKind::UnknownName, "`{}` has no value here{}", text, meant).with_span(where);
  if (layout::Axis::builtin(text) || find_builtin(fmt::format("layout.{}", text)) != nullptr)
    out.notes.push_back({fmt::format("`from tvm.tirx.layout import {}` brings it", text), {}});
  if (is_module) out.notes.push_back({fmt::format("`import {}` brings it", text), {}});
  return fail(std::move(out));
}

// --- logic ---------------------------------------------------------------------------------------

Result<bool> Interp::truth(const Value& value, Span where) {
  switch (value.kind) {
    case Kind::None:
      return false;
    case Kind::Bool:
      return value.truth;
    case Kind::Int:
      return value.integer != 0;
    case Kind::Float:
      return value.real != 0;
    case Kind::Str:
      return !text_of(value).empty();
    case Kind::Tuple:
    case Kind::List:
    case Kind::Set:
      return !value.as<SeqObject>().items.empty();
    case Kind::Dict:
      return !value.as<DictObject>().items.empty();
    case Kind::Range:
      return value.as<RangeObject>().size() != 0;
    case Kind::Opaque:
      return fail(needs_opaque(value, where));
    case Kind::Ir: {
      if (const auto constant = ir::const_int(fn(), value.expr())) return *constant != 0;
      return fail(
          diag(DiagKind::BadType,
               "a value of run time, expected one that is known when the kernel is compiled")
              .with_span(where));
    }
    default:
      return true;
  }
}

Result<Value> Interp::eval_logic(const Expr& e, Env& env) {
  const bool is_and = e.kind == ExprKind::And;
  const std::span<const ExprId> items = ast_->list(e.items);
  Value result = WW_TRY(eval(items[0], env));
  for (const ExprId id : items.subspan(1)) {
    // What stands behind an unknown value may not be meant for it: `x is None or x.size > 2`.
    if (result.is(Kind::Opaque) || result.is(Kind::Poison)) return result;
    if (!result.is(Kind::Ir)) {
      // A host value decides at once, and what is behind it is not even looked at.
      if (WW_TRY(truth(result, span(e.place))) != is_and) return result;
      result = WW_TRY(eval(id, env));
      continue;
    }
    const Value next = WW_TRY(eval(id, env));
    if (next.is(Kind::Opaque) || next.is(Kind::Poison)) return next;
    const ir::Operand a = WW_TRY(operand(result, span(e.place)));
    const ir::Operand b = WW_TRY(operand(next, span(id)));
    result = of_expr(
        WW_TRY(ir::binary(fn(), is_and ? ir::ExprOp::And : ir::ExprOp::Or, a, b, span(e.place))));
  }
  return result;
}

Result<Value> Interp::eval_compare(const Expr& e, Env& env) {
  const std::span<const ExprId> operands = ast_->list(e.items);
  const std::span<const Op> ops = ast_->list(e.compares);
  Value left = WW_TRY(eval(operands[0], env));
  Value result = of_bool(true);
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const Value right = WW_TRY(eval(operands[i + 1], env));
    const Value one = WW_TRY(compare(ops[i], left, right, span(e.place)));
    if (i != 0 && (result.is(Kind::Ir) || one.is(Kind::Ir)) && !one.is(Kind::Opaque)) {
      const ir::Operand a = WW_TRY(operand(result, span(e.place)));
      const ir::Operand b = WW_TRY(operand(one, span(e.place)));
      result = of_expr(WW_TRY(ir::binary(fn(), ir::ExprOp::And, a, b, span(e.place))));
    } else {
      result = one;
    }
    if (result.is(Kind::Opaque) || result.is(Kind::Poison)) return result;
    if (!result.is(Kind::Ir) && !WW_TRY(truth(result, span(e.place)))) return result;
    left = right;
  }
  return result;
}

Result<Value> Interp::eval_conditional(const Expr& e, Env& env) {
  const Value condition = WW_TRY(eval(e.b, env));
  if (condition.is(Kind::Poison)) return condition;
  if (condition.is(Kind::Opaque)) return condition;
  if (!condition.is(Kind::Ir)) return eval(WW_TRY(truth(condition, span(e.b))) ? e.a : e.c, env);
  const Value yes = WW_TRY(eval(e.a, env));
  const Value no = WW_TRY(eval(e.c, env));
  const ir::Operand a = WW_TRY(operand(yes, span(e.a)));
  const ir::Operand b = WW_TRY(operand(no, span(e.c)));
  return of_expr(
      WW_TRY(ir::choose(fn(), ir::ExprOp::IfThenElse, condition.expr(), a, b, span(e.place))));
}

// --- calls, attributes, subscripts ---------------------------------------------------------------

// The arguments of a call; or an unknown value that stands for some of them (`*unknown`), so that
// nobody can tell what the call gives.
Result<std::optional<Value>> Interp::collect_args(const Expr& e, Env& env, CallArgs& out) {
  for (const Arg& arg : ast_->list(e.args)) {
    const Span where = span(arg.value);
    const Value value = WW_TRY(eval(arg.value, env));
    if (arg.kind == Arg::Kind::Plain) {
      out.plain.push_back(value);
      out.spans.push_back(where);
    } else if (arg.kind == Arg::Kind::Keyword) {
      WW_TRY_VOID(collect_keyword(
          {std::string(symbols.text(arg.name)), value, where, span(arg.name_place)}, out));
    } else if (value.is(Kind::Opaque) || value.is(Kind::Poison)) {
      return std::optional(value);
    } else {
      WW_TRY_VOID(collect_pack(arg, value, out));
    }
  }
  return std::optional<Value>();
}

// `*value` and `**value`.
Result<void> Interp::collect_pack(const Arg& arg, const Value& value, CallArgs& out) {
  const Span where = span(arg.value);
  if (arg.kind == Arg::Kind::Star) {
    for (const Value& item : WW_TRY(iterate(value, where))) {
      out.plain.push_back(item);
      out.spans.push_back(where);
    }
    return {};
  }
  if (!value.is(Kind::Dict))
    return fail(diag(DiagKind::HostError, "`**` of {}, expected a dict", type_name(value))
                    .with_span(where));
  for (const auto& [key, item] : value.as<DictObject>().items) {
    std::string name = WW_TRY(text(key, "a keyword", where));
    if (!is_name(name))
      return fail(
          diag(DiagKind::HostError, "keyword {}, expected a name", repr(key)).with_span(where));
    WW_TRY_VOID(collect_keyword({std::move(name), item, where, where}, out));
  }
  return {};
}

Result<void> Interp::collect_keyword(CallArgs::Named arg, CallArgs& out) {
  for (const CallArgs::Named& known : out.named)
    if (known.name == arg.name)
      return fail(
          diag(DiagKind::BadArgument, "`{}` is given twice", arg.name).with_span(arg.name_span));
  out.named.push_back(std::move(arg));
  return {};
}

Result<Value> Interp::eval_call(const Expr& e, Env& env) {
  const Value callee = WW_TRY(eval(e.a, env));
  CallArgs args;
  args.call = span(e.place);
  const Expr& name = (*ast_)[e.a];
  args.callee = name.kind == ExprKind::Attribute ? span(name.name_place) : span(name.place);
  if (const std::optional<Value> unknown = WW_TRY(collect_args(e, env, args))) return *unknown;
  return call(callee, args);
}

// The object of an attribute or subscript: here a scalar's name means the buffer itself.
Result<Value> Interp::eval_buffer_base(ExprId id, Env& env) {
  const Expr& e = (*ast_)[id];
  if (e.kind == ExprKind::Name)
    if (const Value* value = env.find(e.name); value != nullptr && value->is(Kind::Buffer))
      return *value;
  return eval(id, env);
}

Result<Value> Interp::eval_attribute(const Expr& e, Env& env) {
  const Value object = WW_TRY(eval_buffer_base(e.a, env));
  return attribute(object, symbols.text(e.name), span(e.place), span(e.name_place));
}

Result<Value> Interp::eval_subscript(const Expr& e, Env& env) {
  const Value object = WW_TRY(eval_buffer_base(e.a, env));
  const Value index = WW_TRY(eval(e.b, env));
  return subscript(object, index, span(e.place));
}

}  // namespace ww::script
