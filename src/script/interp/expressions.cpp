// SPDX-License-Identifier: Apache-2.0
// Expressions: each kind of node, evaluated over values of the host and of the kernel alike.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/fail_at.h"
#include "base/split.h"
#include "base/suggest.h"
#include "script/api/builtins.h"
#include "script/interp/evaluator.h"
#include "script/syntax/lexer.h"

namespace ww::script {
namespace {

// Functions and types of Python that are known to exist, and no more.
constexpr std::string_view kOpaqueNames =
    "open input id hash vars globals locals super object bytes callable setattr "
    "issubclass chr ord hex bin exit __file__ complex memoryview Exception BaseException "
    "ValueError TypeError RuntimeError ImportError ModuleNotFoundError KeyError "
    "IndexError OSError NameError AttributeError StopIteration ZeroDivisionError "
    "NotImplementedError AssertionError NotImplemented";

Result<Value> eval_lambda(Context& in, const Expr& e, ExprId id, Env& env) {
  FunctionObject f;
  f.unit = in.unit;
  f.lambda = id;
  f.env = &env;
  f.name = "<lambda>";
  for (const Param& p : in.ast().list(e.params))
    f.defaults.push_back(p.default_value.valid() ? WW_TRY(eval(in, p.default_value, env)) : none());
  return in.heap.wrap(Kind::Function, std::move(f));
}

Result<Value> eval_walrus(Context& in, const Expr& e, Env& env) {
  const Value value = WW_TRY(eval(in, e.a, env));
  Env* scope = &env;
  while (scope->is_comprehension) scope = scope->parent();
  WW_TRY_VOID(bind_name(in, *scope, e.name, value, in.span(e.place)));
  return value;
}

Value eval_unsupported(Context& in, const Expr& e) {
  const std::string_view word = in.symbols.text(e.name);
  if (word.starts_with("yield")) in.host_call.yielded = in.span(e.place);
  return opaque_value(in, in.span(e.place), fmt::format("`{}` is not modelled", word));
}

// --- names ---------------------------------------------------------------------------------------

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

Result<Value> name_error(Context& in, Symbol name, Span where, Env& env) {
  const Place at{static_cast<std::uint32_t>(where.begin - in.unit->base),
                 static_cast<std::uint32_t>(where.end - in.unit->base)};
  if (const auto bound = bound_elsewhere(in.ast(), at, name))
    return fail(diag_at(where, DiagKind::NotBound, "`{}` has no value here", in.symbols.text(name))
                    .with_note(bound->begin > at.begin
                                   ? "it gets one further down"
                                   : "it is bound in a block that has ended, and gone with it",
                               in.span(*bound)));
  std::vector<std::string_view> known;
  for (const Env* scope = &env; scope != nullptr; scope = scope->parent())
    for (const auto& [symbol, value] : scope->names()) known.push_back(in.symbols.text(symbol));
  for (const std::string_view builtin : members_of("")) known.push_back(builtin);
  const std::string_view text = in.symbols.text(name);
  const bool is_module = known_module(text).has_value();
  const bool is_of_language = find_builtin(fmt::format("T.{}", text)) != nullptr;
  const std::string meant = is_module        ? ""
                            : is_of_language ? fmt::format("; did you mean `T.{}`?", text)
                                             : did_you_mean(text, known);
  Diag out = diag_at(where, DiagKind::UnknownName, "`{}` has no value here{}", text, meant);
  if (layout::Axis::builtin(text) || find_builtin(fmt::format("layout.{}", text)) != nullptr)
    out.notes.push_back({fmt::format("`from tvm.tirx.layout import {}` brings it", text), {}});
  if (is_module) out.notes.push_back({fmt::format("`import {}` brings it", text), {}});
  return fail(std::move(out));
}

Result<Value> eval_name(Context& in, const Expr& e, Env& env) {
  if (const Value* value = env.find(e.name)) {
    // A scalar's name stands for its value.
    if (in.in_kernel() && value->is(Kind::Buffer) && in.fn()[value->buffer()].is_scalar)
      return of_expr(ir::load(in.fn(), value->buffer(), {}, 1, in.span(e.place)));
    if (in.in_kernel() && value->is(Kind::Opaque) && value->as<OpaqueObject>().extent)
      return of_expr(host_extent(in, value->as<OpaqueObject>(), in.symbols.text(e.name)));
    return *value;
  }
  const std::string_view name = in.symbols.text(e.name);
  if (const BuiltinRow* row = find_builtin(name))
    return in.heap.wrap(Kind::Builtin, BuiltinObject{{}, row});
  // The names that a kernel may use without importing them.
  if (name == "T" || name == "Tx")
    return in.heap.wrap(Kind::Namespace, NamespaceObject{{}, std::string(name)});
  if (name == "Axis")  // TVM prints kernels without their imports
    return in.heap.wrap(Kind::Namespace, NamespaceObject{{}, "layout.Axis"});
  if (std::ranges::count(split_words(kOpaqueNames), name) != 0)
    return opaque_value(in, in.span(e.place), fmt::format("`{}` is not modelled", name));
  return name_error(in, e.name, in.span(e.place), env);
}

// --- logic ---------------------------------------------------------------------------------------

Result<Value> eval_logic(Context& in, const Expr& e, Env& env) {
  const bool is_and = e.kind == ExprKind::And;
  const std::span<const ExprId> items = in.ast().list(e.items);
  Value result = WW_TRY(eval(in, items[0], env));
  for (const ExprId id : items.subspan(1)) {
    // What stands behind an unknown value may not be meant for it: `x is None or x.size > 2`.
    if (result.is(Kind::Opaque) || result.is(Kind::Poison)) return result;
    if (!result.is(Kind::Ir)) {
      // A host value decides at once, and what is behind it is not even looked at.
      if (WW_TRY(truth(in, {result, in.span(e.place)})) != is_and) return result;
      result = WW_TRY(eval(in, id, env));
      continue;
    }
    const Value next = WW_TRY(eval(in, id, env));
    if (next.is(Kind::Opaque) || next.is(Kind::Poison)) return next;
    const ir::Operand a = WW_TRY(operand(in, {result, in.span(e.place)}));
    const ir::Operand b = WW_TRY(operand(in, {next, in.span(id)}));
    result = of_expr(WW_TRY(
        ir::binary(in.fn(), is_and ? ir::ExprOp::And : ir::ExprOp::Or, a, b, in.span(e.place))));
  }
  return result;
}

Result<Value> eval_compare(Context& in, const Expr& e, Env& env) {
  const std::span<const ExprId> operands = in.ast().list(e.items);
  const std::span<const Op> ops = in.ast().list(e.compares);
  Value left = WW_TRY(eval(in, operands[0], env));
  Value result = of_bool(true);
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const Value right = WW_TRY(eval(in, operands[i + 1], env));
    const Value one = WW_TRY(compare(in, ops[i], left, right, in.span(e.place)));
    if (i != 0 && (result.is(Kind::Ir) || one.is(Kind::Ir)) && !one.is(Kind::Opaque)) {
      const ir::Operand a = WW_TRY(operand(in, {result, in.span(e.place)}));
      const ir::Operand b = WW_TRY(operand(in, {one, in.span(e.place)}));
      result = of_expr(WW_TRY(ir::binary(in.fn(), ir::ExprOp::And, a, b, in.span(e.place))));
    } else {
      result = one;
    }
    if (result.is(Kind::Opaque) || result.is(Kind::Poison)) return result;
    if (!result.is(Kind::Ir) && !WW_TRY(truth(in, {result, in.span(e.place)}))) return result;
    left = right;
  }
  return result;
}

Result<Value> eval_conditional(Context& in, const Expr& e, Env& env) {
  const Value condition = WW_TRY(eval(in, e.b, env));
  if (condition.is(Kind::Poison)) return condition;
  if (condition.is(Kind::Opaque)) return condition;
  if (!condition.is(Kind::Ir))
    return eval(in, WW_TRY(truth(in, {condition, in.span(e.b)})) ? e.a : e.c, env);
  const Value yes = WW_TRY(eval(in, e.a, env));
  const Value no = WW_TRY(eval(in, e.c, env));
  const ir::Operand a = WW_TRY(operand(in, {yes, in.span(e.a)}));
  const ir::Operand b = WW_TRY(operand(in, {no, in.span(e.c)}));
  return of_expr(
      ir::choose(in.fn(), ir::ExprOp::IfThenElse, condition.expr(), a, b, in.span(e.place)));
}

// --- calls, attributes, subscripts ---------------------------------------------------------------

Result<void> collect_keyword(CallArgs::Named arg, CallArgs& out) {
  for (const CallArgs::Named& known : out.named)
    if (known.name == arg.name)
      return fail_at(arg.name_span, DiagKind::BadArgument, "`{}` is given twice", arg.name);
  out.named.push_back(std::move(arg));
  return {};
}

// `*value` and `**value`.
Result<void> collect_pack(Context& in, const Arg& arg, const Value& value, CallArgs& out) {
  const Span where = in.span(arg.value);
  if (arg.kind == Arg::Kind::Star) {
    for (const Value& item : WW_TRY(iterate(in, {value, where})))
      out.plain.push_back({item, where});
    return {};
  }
  if (!value.is(Kind::Dict))
    return fail_at(where, DiagKind::HostError, "`**` of {}, expected a dict", type_name(value));
  for (const auto& [key, item] : value.as<DictObject>().items) {
    std::string name = WW_TRY(as_text(in, {key, where}, "a keyword"));
    if (!is_name(name))
      return fail_at(where, DiagKind::HostError, "keyword {}, expected a name", repr(key));
    WW_TRY_VOID(collect_keyword({{item, where}, std::move(name), where}, out));
  }
  return {};
}

// The arguments of a call; or an unknown value that stands for some of them (`*unknown`), which
// makes the call's result unknown.
Result<std::optional<Value>> collect_args(Context& in, const Expr& e, Env& env, CallArgs& out) {
  for (const Arg& arg : in.ast().list(e.args)) {
    const Span where = in.span(arg.value);
    const Value value = WW_TRY(eval(in, arg.value, env));
    if (arg.kind == Arg::Kind::Plain) {
      out.plain.push_back({value, where});
    } else if (arg.kind == Arg::Kind::Keyword) {
      WW_TRY_VOID(collect_keyword(
          {{value, where}, std::string(in.symbols.text(arg.name)), in.span(arg.name_place)}, out));
    } else if (value.is(Kind::Opaque) || value.is(Kind::Poison)) {
      return std::optional(value);
    } else {
      WW_TRY_VOID(collect_pack(in, arg, value, out));
    }
  }
  return std::optional<Value>();
}

Result<Value> eval_call(Context& in, const Expr& e, Env& env) {
  const Value callee = WW_TRY(eval(in, e.a, env));
  CallArgs args;
  args.call = in.span(e.place);
  const Expr& name = in.ast()[e.a];
  args.callee = name.kind == ExprKind::Attribute ? in.span(name.name_place) : in.span(name.place);
  if (const std::optional<Value> unknown = WW_TRY(collect_args(in, e, env, args))) return *unknown;
  return call(in, callee, args);
}

Result<Value> eval_attribute(Context& in, const Expr& e, Env& env) {
  const Value object = WW_TRY(eval_buffer_base(in, e.a, env));
  return attribute(in, object, in.symbols.text(e.name), in.span(e.place), in.span(e.name_place));
}

Result<Value> eval_subscript(Context& in, const Expr& e, Env& env) {
  const Value object = WW_TRY(eval_buffer_base(in, e.a, env));
  const Value index = WW_TRY(eval(in, e.b, env));
  return subscript(in, object, index, in.span(e.place));
}

// --- all kinds -----------------------------------------------------------------------------------

Result<Value> eval_kind(Context& in, const Expr& e, ExprId id, Env& env) {
  switch (e.kind) {
    case ExprKind::Name:
      return eval_name(in, e, env);
    case ExprKind::Int:
      return of_int(static_cast<Wide>(e.integer));
    case ExprKind::Float:
      return of_float(e.real);
    case ExprKind::String:
      return in.heap.str(in.ast().strings[e.text]);
    case ExprKind::FString:
    case ExprKind::Formatted:
      return eval_fstring(in, e, env);
    case ExprKind::True:
      return of_bool(true);
    case ExprKind::False:
      return of_bool(false);
    case ExprKind::None:
      return none();
    case ExprKind::Ellipsis:
      return Value{.kind = Kind::Ellipsis};
    case ExprKind::Tuple:
      return eval_items(in, e, Kind::Tuple, env);
    case ExprKind::List:
      return eval_items(in, e, Kind::List, env);
    case ExprKind::Set:
      return eval_items(in, e, Kind::Set, env);
    case ExprKind::Dict:
      return eval_dict(in, e, env);
    case ExprKind::Unary:
      return unary(in, e.op, WW_TRY(eval(in, e.a, env)), in.span(e.place));
    case ExprKind::Binary: {
      const Value left = WW_TRY(eval(in, e.a, env));
      Result<Value> right = eval(in, e.b, env);
      if (!right && e.op == Op::MatMul && right.error().kind == DiagKind::UnknownName &&
          right.error().notes.empty())
        right.error().notes.push_back({std::string(kAxisNote), {}});
      return binary(in, e.op, left, WW_TRY(std::move(right)), in.span(e.place));
    }
    case ExprKind::And:
    case ExprKind::Or:
      return eval_logic(in, e, env);
    case ExprKind::Compare:
      return eval_compare(in, e, env);
    case ExprKind::Conditional:
      return eval_conditional(in, e, env);
    case ExprKind::Lambda:
      return eval_lambda(in, e, id, env);
    case ExprKind::Call:
      return eval_call(in, e, env);
    case ExprKind::Attribute:
      return eval_attribute(in, e, env);
    case ExprKind::Subscript:
      return eval_subscript(in, e, env);
    case ExprKind::Slice:
      return eval_slice(in, e, env);
    case ExprKind::Starred:
      return fail_at(in.span(e.place), DiagKind::Syntax,
                     "found `*` outside of a list, tuple or call");
    case ExprKind::ListComp:
    case ExprKind::SetComp:
    case ExprKind::GeneratorExp:
    case ExprKind::DictComp:
      return eval_comprehension(in, e, env);
    case ExprKind::Walrus:
      return eval_walrus(in, e, env);
    case ExprKind::Unsupported:
      return eval_unsupported(in, e);
  }
  return none();
}

}  // namespace

Result<Value> eval(Context& in, ExprId id, Env& env) {
  const Expr& e = in.ast()[id];
  const Saved depth(in.budget.depth, in.budget.depth + 1);
  if (in.budget.depth > Budget::kMaxDepth)
    return fail_at(in.span(e.place), DiagKind::Budget,
                   "compile-time evaluation is nested too deeply");
  WW_TRY_VOID(spend(in, 1, in.span(e.place)));
  return eval_kind(in, e, id, env);
}

// The object of an attribute or subscript: here a scalar's name means the buffer itself.
Result<Value> eval_buffer_base(Context& in, ExprId id, Env& env) {
  const Expr& e = in.ast()[id];
  if (e.kind == ExprKind::Name)
    if (const Value* value = env.find(e.name); value != nullptr && value->is(Kind::Buffer))
      return *value;
  return eval(in, id, env);
}

// --- texts ---------------------------------------------------------------------------------------
//
// Texts from values: `str()` and f-strings.

namespace {

constexpr std::size_t kLongestText = std::size_t{1} << 20U;
constexpr std::size_t kWidestField = 10000;
constexpr std::string_view kAlignments = "<>^";

// The largest number in a format specification: a width of a billion is a way to take all memory.
std::size_t largest_number(std::string_view spec) {
  std::size_t largest = 0;
  for (std::size_t i = 0; i < spec.size(); ++i) {
    std::size_t number = 0;
    const char* begin = spec.data() + i;
    const auto [end, error] = std::from_chars(begin, spec.data() + spec.size(), number);
    if (error == std::errc::result_out_of_range) return kWidestField + 1;
    if (error == std::errc{}) largest = std::max(largest, number);
  }
  return largest;
}

// `,` and `_` between groups of three digits.
std::string grouped(const std::string& digits, char mark) {
  const std::size_t first = digits.find_first_of("0123456789");
  if (first == std::string::npos) return digits;
  const std::size_t end = std::min(digits.find_first_not_of("0123456789", first), digits.size());
  std::string out = digits.substr(0, first);
  for (std::size_t i = first; i < end; ++i) {
    if (i != first && (end - i) % 3 == 0) out += mark;
    out += digits[i];
  }
  return out + digits.substr(end);
}

// Python's format specifications are fmt's, as far as numbers and texts go.
std::string formatted(const Value& value, const std::string& text, std::string_view spec) {
  const std::string pattern = fmt::format("{{:{}}}", spec);
  if (value.is(Kind::Bool)) return fmt::format(fmt::runtime(pattern), value.truth ? 1 : 0);
  if (value.is(Kind::Int)) {
    constexpr std::string_view kReal = "eEfFgG%";
    if (kReal.find(spec.back()) != std::string_view::npos)
      return fmt::format(fmt::runtime(pattern), static_cast<double>(value.integer));
    return fmt::format(fmt::runtime(pattern), value.integer);
  }
  if (value.is(Kind::Float)) return fmt::format(fmt::runtime(pattern), value.real);
  return fmt::format(fmt::runtime(pattern), text);
}

Result<std::string> format_value(const Value& value, char conversion, std::string_view spec,
                                 Span where) {
  std::string text = WW_TRY(str_of(value, where));
  const bool is_repr = conversion == 'r' || conversion == 'a';
  if (is_repr && value.is(Kind::Str)) text = full_repr(value, text.size() + 1).value_or(text);
  if (spec.empty()) return text;
  const auto refused = [&](std::string_view why) {
    return fail_at(where, DiagKind::Opaque, "format `{}` of {}: {}", spec, type_name(value), why);
  };
  const bool aligns = kAlignments.find(spec[0]) != std::string_view::npos ||
                      (spec.size() > 1 && kAlignments.find(spec[1]) != std::string_view::npos);
  const bool is_number = value.is(Kind::Int) || value.is(Kind::Bool) || value.is(Kind::Float);
  const bool takes_format = is_number || value.is(Kind::Str) || value.is(Kind::DType) || is_repr;
  if (!takes_format) return refused(fmt::format("{} takes no format", type_name(value)));
  if (spec.find_first_of("{}") != std::string_view::npos) return refused("it has a brace");
  if (largest_number(spec) > kWidestField) return refused("it is too wide");
  try {
    if ((spec == "," || spec == "_") && is_number) return grouped(text, spec[0]);
    if (spec.ends_with('%') && is_number && !aligns) {
      const double real = value.is(Kind::Float) ? value.real : static_cast<double>(value.integer);
      const std::string digits = fmt::format("{}f", spec.substr(0, spec.size() - 1));
      return formatted(of_float(real * 100), "", digits) + "%";
    }
    const bool as_text = is_repr && !value.is(Kind::Str);
    return formatted(as_text ? none() : value, text, spec);
  } catch (const fmt::format_error& problem) {
    return refused(problem.what());
  }
}

}  // namespace

Result<std::string> str_of(const Value& value, Span where) {
  if (value.is(Kind::Str)) return std::string(text_of(value));
  if (std::optional<std::string> text = full_repr(value, kLongestText)) return *std::move(text);
  return fail_at(where, DiagKind::Budget, "the text of a {} is too long", type_name(value));
}

Result<Value> eval_fstring(Context& in, const Expr& e, Env& env) {
  std::string out;
  for (const ExprId id : in.ast().list(e.items)) {
    const Expr& part = in.ast()[id];
    if (part.kind == ExprKind::String) {
      out += in.ast().strings[part.text];
      continue;
    }
    const Value value = WW_TRY(eval(in, part.a, env));
    if (value.is(Kind::Opaque) || value.is(Kind::Poison)) return value;
    std::string spec;
    if (part.b.valid()) {
      const Value given = WW_TRY(eval(in, part.b, env));
      if (!given.is(Kind::Str)) return given;  // of an unknown value
      spec = std::string(text_of(given));
    }
    out += WW_TRY(format_value(value, part.conversion, spec, in.span(part.place)));
    if (!in.heap.has_room(out.size() / 8))
      return fail_at(in.span(part.place), DiagKind::Budget, "a text too long");
  }
  return in.heap.str(std::move(out));
}

}  // namespace ww::script
