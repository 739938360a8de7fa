// SPDX-License-Identifier: Apache-2.0
// Calls of everything that can be called, and what decorators make of a function.
#include "script/interp/evaluator.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/fail_at.h"
#include "base/suggest.h"
#include "script/api/builtins.h"

namespace ww::script {
namespace {

constexpr std::size_t kCallsShown = 3;
constexpr int kMaxInlineDepth = 100;
constexpr int kDepthOfCall = 2;  // a call takes more of the C++ stack than an expression does

bool any_in_error(const CallArgs& args) {
  return std::ranges::any_of(args.plain, is_in_error) ||
         std::ranges::any_of(args.named, is_in_error);
}

// Functions of Python may be given unknown values; what they make of one is unknown, too. The
// language's own functions need to know.
bool passes_unknowns(const BuiltinRow& row) {
  return !row.only_in_kernel && !row.name.starts_with("T.") && !row.name.starts_with("layout") &&
         !row.name.starts_with("buffer.");
}

Result<Value> call_method(Context& in, const MethodObject& method, CallArgs& args) {
  if (method.row != nullptr) return call_builtin(in, *method.row, args, method.self);
  CallArgs with_self = args.with_first(method.self);
  return call(in, method.function, with_self);
}

// `Tx.copy`, `T.warp.copy`: the primitives hang off every scope, so they are no rows of a table.
Result<Value> call_namespace(Context& in, std::string_view path, CallArgs& args) {
  if (const std::optional<TilePath> tile = parse_tile_path(path)) return call_tile(in, *tile, args);
  return fail_at(args.callee, DiagKind::BadType, "`{}` cannot be called", path);
}

// Where the code of a function stands for the user, if not where it was written.
std::optional<Span> library_call(const Context& in, const FunctionObject& function, Span call) {
  return function.unit->is_library && !in.unit->is_library ? call : in.library_call;
}

Result<Value> run_function(Context& in, const FunctionObject& function, Env& env) {
  const Saved depth(in.budget.depth, in.budget.depth + kDepthOfCall);
  const Saved unit(in.unit, function.unit);
  if (function.lambda.valid()) return eval(in, in.ast()[function.lambda].a, env);
  const Saved host_call(in.host_call, HostCall());
  WW_TRY_VOID(exec_block(in, in.ast()[function.def].body, env));
  if (in.host_call.ambiguous_return) return fail(*in.host_call.ambiguous_return);
  if (in.host_call.yielded)
    return opaque_value(in, *in.host_call.yielded, "functions with `yield` are not modelled");
  return in.host_call.returned;
}

Result<Value> call_function(Context& in, const FunctionObject& function, CallArgs& args) {
  Env& env = *new_env(in, function.env);
  WW_TRY_VOID(bind_params(in, function, args, env));
  const Saved place(in.library_call, library_call(in, function, args.call));
  Result<Value> out = run_function(in, function, env);
  if (out || out.error().notes.size() >= kCallsShown || function.unit->is_library) return out;
  return fail(
      std::move(out).error().with_note(fmt::format("in a call of `{}`", function.name), args.call));
}

// The body of an inline function is part of the kernel that calls it: its statements are the
// kernel's.
Result<Value> call_inline(Context& in, const FunctionObject& function, CallArgs& args) {
  if (!in.in_kernel())
    return fail_at(args.call, DiagKind::BadType,
                   "the inline function `{}` is called outside of a kernel", function.name);
  Env& env = *new_env(in, function.env);
  WW_TRY_VOID(bind_params(in, function, args, env));
  const Saved place(in.library_call, library_call(in, function, args.call));
  const Saved unit(in.unit, function.unit);
  const Saved depth(in.budget.inline_depth, in.budget.inline_depth + 1);
  if (in.budget.inline_depth > kMaxInlineDepth)
    return fail_at(args.call, DiagKind::Budget, "inline functions call each other without end");
  build_function_body(in, in.ast()[function.def].body, env);
  return none();
}

// The values of a kernel mean nothing in another one, so a kernel may not be made while one is.
Result<Value> make_kernel(Context& in, const FunctionObject& def,
                          const std::vector<CallArgs::Named>& constants, Span where) {
  if (in.in_kernel())
    return fail(diag_at(where, DiagKind::BadType, "kernel `{}` inside of kernel `{}`", def.name,
                        in.fn().name)
                    .with_note("a function decorated with `@T.inline` becomes part of the kernel "
                               "that calls it"));
  KernelObject* kernel = build_kernel(in, def, constants, where);
  const ir::Function& made = kernel->function;
  in.heap.count((made.expr_count() * sizeof(ir::Expr) + made.stmt_count() * sizeof(ir::Stmt) +
                 made.buffer_count() * sizeof(ir::Buffer) + made.var_count() * sizeof(ir::Var)) /
                8);
  return Value{.kind = Kind::Kernel, .object = kernel};
}

Result<Value> apply_decorator(Context& in, const Value& function, ExprId id, Span head, Env& env) {
  // `@T.prim_func(private=True)`: the call only sets options.
  const Expr& e = in.ast()[id];
  const bool is_call = e.kind == ExprKind::Call;
  const Value decorator = WW_TRY(eval(in, is_call ? e.a : id, env));
  // A mark of a test framework leaves the function as it is.
  if (decorator.is(Kind::Opaque)) return function;
  const std::string_view name =
      decorator.is(Kind::Builtin) ? decorator.as<BuiltinObject>().row->name : "";
  if (function.is(Kind::Function)) {
    FunctionObject& f = function.as<FunctionObject>();
    using Binding = FunctionObject::Binding;
    if (name == "T.prim_func" || name == "T.function") return make_kernel(in, f, {}, head);
    // A kernel of the Python package may have constants, and need not.
    if (name == "T.jit" || name == "warpwright.kernel") return in.heap.wrap(Kind::Jit, f);
    if (name == "T.inline" || name == "T.macro") return in.heap.wrap(Kind::Inline, f);
    if (name == "property" || name == "staticmethod" || name == "classmethod") {
      f.binding = name == "property"       ? Binding::Property
                  : name == "staticmethod" ? Binding::Static
                                           : Binding::Class;
      return function;
    }
  }
  CallArgs args = CallArgs::at(in.span(id), {function});
  args.plain[0].span = head;
  // Those of ours that take options (`functools.lru_cache(maxsize=None)`) give the function back.
  if (decorator.is(Kind::Builtin)) return call(in, decorator, args);
  return call(in, is_call ? WW_TRY(eval(in, id, env)) : decorator, args);
}

// A kernel is launched, not called: neither by the host here nor by another kernel.
Diag kernel_call(Context& in, const std::string& kernel, Span where) {
  if (in.in_kernel())
    return diag_at(where, DiagKind::BadType, "kernel `{}` calls kernel `{}`", in.fn().name, kernel)
        .with_note(
            fmt::format("decorate `{}` with `@T.inline`: its body becomes part of the kernel "
                        "that calls it",
                        kernel));
  return diag_at(where, DiagKind::BadType, "kernel `{}` cannot be called", kernel)
      .with_note(fmt::format(
          "name it without parentheses; `warpwright run --kernel {}` launches it", kernel));
}

Result<Value> specialize(Context& in, const FunctionObject& function, CallArgs& args) {
  if (!args.plain.empty())
    return fail_at(args.plain[0].span, DiagKind::BadArgument,
                   "a constant of `{}` without a name, expected `name=value`", function.name);
  return make_kernel(in, function, args.named, args.call);
}

}  // namespace

// Lists may hold each other, or themselves, and be long: a few values are looked at. An error that
// is overlooked shows where its value is used.
bool is_in_error(const Value& value) {
  constexpr int kMaxLooks = 256;
  std::vector<Value> left = {value};
  for (int looks = 0; !left.empty() && looks < kMaxLooks; ++looks) {
    const Value next = left.back();
    left.pop_back();
    if (next.is(Kind::Poison)) return true;
    if (next.is(Kind::Slice)) {
      const auto& slice = next.as<SliceObject>();
      for (const Value& part : {slice.begin, slice.end, slice.step})
        if (part.is(Kind::Poison)) return true;
    }
    const bool is_outer = next.is(Kind::Tuple) && looks == 0;
    if (!is_outer && !next.is(Kind::List)) continue;
    const auto& items = next.as<SeqObject>().items;
    const std::size_t count = std::min<std::size_t>(items.size(), kMaxLooks);
    left.insert(left.end(), items.begin(), items.begin() + static_cast<std::ptrdiff_t>(count));
  }
  return false;
}

// --- calling -------------------------------------------------------------------------------------

Result<Value> call(Context& in, const Value& callee, CallArgs& args) {
  if (callee.is(Kind::Poison) || (in.in_kernel() && any_in_error(args))) return poison();
  switch (callee.kind) {
    case Kind::Function:
      return call_function(in, callee.as<FunctionObject>(), args);
    case Kind::Inline:
      return call_inline(in, callee.as<FunctionObject>(), args);
    case Kind::Builtin:
      return call_builtin(in, *callee.as<BuiltinObject>().row, args, none());
    case Kind::Method:
      return call_method(in, callee.as<MethodObject>(), args);
    case Kind::Class:
      return call_class(in, callee.as<ClassObject>(), args);
    case Kind::DType:
      return call_dtype(in, callee, args);
    case Kind::PtxPath:
      return call_ptx(in, callee.as<PtxPathObject>(), args);
    case Kind::Namespace:
      return call_namespace(in, callee.as<NamespaceObject>().path, args);
    case Kind::Annotation:
      return call_annotation(in, callee, args);
    case Kind::Jit:
      return specialize(in, callee.as<FunctionObject>(), args);
    case Kind::Kernel:
      return fail(kernel_call(in, callee.as<KernelObject>().function.name, args.call));
    case Kind::Opaque:
      return opaque_value(in, args.call, callee.as<OpaqueObject>().reason);
    case Kind::SpecMaker:
      return fail(
          diag_at(args.call, DiagKind::BadType, "a layout is written with brackets, not called")
              .with_note("`S[extents : strides]`, as in `S[(8, 4) : (4, 1)]`"));
    default:
      return fail_at(args.call, DiagKind::BadType, "{} cannot be called", type_name(callee));
  }
}

Result<Value> call(Context& in, const Value& callee, std::vector<Value> plain, Span span) {
  CallArgs args = CallArgs::at(span, std::move(plain));
  return call(in, callee, args);
}

Result<Value> call_builtin(Context& in, const BuiltinRow& row, CallArgs& args, Value self) {
  if (row.only_in_kernel && !in.in_kernel())
    return fail_at(args.call, DiagKind::BadType, "`{}` outside of a kernel", row.name);
  Args bound = WW_TRY(bind_args(row, args, self));
  Result<Value> out = row.run(in, bound);
  if (out) return out;
  if (out.error().kind == DiagKind::Opaque && in.last_needed && passes_unknowns(row))
    return *in.last_needed;
  return fail(std::move(out).error().with_span(args.call));
}

// --- definitions ---------------------------------------------------------------------------------

Result<Value> make_function(Context& in, StmtId def, Env& env) {
  const Stmt& s = in.ast()[def];
  FunctionObject f;
  f.unit = in.unit;
  f.def = def;
  f.env = &env;
  f.name = std::string(in.symbols.text(s.name));
  for (const Param& p : in.ast().list(s.params))
    f.defaults.push_back(p.default_value.valid() ? WW_TRY(eval(in, p.default_value, env)) : none());
  return in.heap.wrap(Kind::Function, std::move(f));
}

Result<Value> decorate(Context& in, Value function, const Stmt& s, Env& env) {
  const std::span<const ExprId> decorators = in.ast().list(s.decorators);
  for (auto it = decorators.rbegin(); it != decorators.rend(); ++it)
    function = WW_TRY(apply_decorator(in, function, *it, in.span(s.head), env));
  return function;
}

// --- classes -------------------------------------------------------------------------------------
//
// Every class takes its annotated names as arguments when it has no `__init__`, as dataclasses do.

namespace {

using Binding = FunctionObject::Binding;

// Fields of the bases come first; a name that is given again keeps its place.
void add_field(ClassObject& type, Symbol name, const std::optional<Value>& value) {
  const auto known =
      std::ranges::find_if(type.fields, [&](const auto& field) { return field.first == name; });
  if (known == type.fields.end())
    type.fields.emplace_back(name, value);
  else
    known->second = value;
}

constexpr std::size_t kMaxBases = 100;

// A class and what it inherits from, depth first; each counts once.
void add_bases(ClassObject& type, const ClassObject& direct) {
  const auto add = [&](const ClassObject* base) {
    if (std::ranges::find(type.bases, base) == type.bases.end()) type.bases.push_back(base);
  };
  add(&direct);
  for (const ClassObject* base : direct.bases) add(base);
}

Result<void> exec_class_body(Context& in, const Stmt& s, ClassObject& type) {
  for (const StmtId id : in.ast().list(s.body)) {
    const Stmt& inner = in.ast()[id];
    const bool is_field = inner.kind == StmtKind::AnnAssign &&
                          in.ast()[in.ast().list(inner.items)[0]].kind == ExprKind::Name;
    if (!is_field) {
      const Flow flow = WW_TRY(exec(in, id, *type.env));
      static_cast<void>(flow);
      continue;
    }
    std::optional<Value> value;
    if (inner.a.valid()) value = WW_TRY(eval(in, inner.a, *type.env));
    const Symbol name = in.ast()[in.ast().list(inner.items)[0]].name;
    add_field(type, name, value);
    if (value) type.env->set(name, *value);
  }
  // Methods do not see the names of their class.
  for (const auto& [name, value] : type.env->names())
    if (value.is(Kind::Function) || value.is(Kind::Inline)) {
      FunctionObject& method = value.as<FunctionObject>();
      if (method.env == type.env) method.env = type.env->parent();
    }
  return {};
}

Result<void> fill_fields(Context& in, const Value& self, CallArgs& args) {
  const ClassObject& type = *self.as<InstanceObject>().type;
  auto& fields = self.as<InstanceObject>().fields;
  if (args.plain.size() > type.fields.size())
    return fail_at(args.plain[type.fields.size()].span, DiagKind::BadArgument,
                   "`{}` with {} arguments, expected at most {}", type.name, args.plain.size(),
                   type.fields.size());
  std::vector<std::string_view> known;
  for (const auto& [name, value] : type.fields) known.push_back(in.symbols.text(name));
  for (const CallArgs::Named& arg : args.named)
    if (std::ranges::find(known, arg.name) == known.end())
      return fail_at(arg.name_span, DiagKind::BadArgument, "`{}` has no field `{}`{}", type.name,
                     arg.name, did_you_mean(arg.name, known));
  for (std::size_t i = 0; i < type.fields.size(); ++i) {
    const auto& [name, default_value] = type.fields[i];
    const std::string_view text = in.symbols.text(name);
    const auto named = std::ranges::find(args.named, text, &CallArgs::Named::name);
    const bool is_plain = i < args.plain.size();
    if (is_plain && named != args.named.end())
      return fail_at(named->span, DiagKind::BadArgument, "`{}` of `{}` is given twice", text,
                     type.name);
    if (!is_plain && named == args.named.end() && !default_value)
      return fail_at(args.call, DiagKind::BadArgument, "`{}` without `{}`", type.name, text);
    fields.emplace_back(name, is_plain                    ? args.plain[i]
                              : named != args.named.end() ? *named
                                                          : *default_value);
  }
  in.heap.count_values(fields.size());
  return {};
}

}  // namespace

Result<void> exec_class(Context& in, const Stmt& s, Env& env) {
  ClassObject type;
  type.name = std::string(in.symbols.text(s.name));
  type.env = new_env(in, &env);
  for (const Arg& arg : in.ast().list(s.args)) {
    const Value base = WW_TRY(eval(in, arg.value, env));
    if (arg.kind != Arg::Kind::Plain) continue;
    if (!base.is(Kind::Class)) {
      // What it inherits is unknown, so its objects are.
      const std::string reason = base.is(Kind::Opaque) ? base.as<OpaqueObject>().reason
                                                       : fmt::format("class `{}` has {} as base",
                                                                     type.name, type_name(base));
      return bind_name(in, env, s.name, opaque_value(in, in.span(s.head), reason), in.span(s.head));
    }
    const auto& direct = base.as<ClassObject>();
    add_bases(type, direct);
    if (type.bases.size() > kMaxBases)
      return fail_at(in.span(s.head), DiagKind::Budget,
                     "class `{}` inherits from more than {} classes", type.name, kMaxBases);
    for (const auto& [name, value] : direct.fields) add_field(type, name, value);
  }
  WW_TRY_VOID(exec_class_body(in, s, type));
  const Value made = in.heap.wrap(Kind::Class, std::move(type));
  return bind_name(in, env, s.name, WW_TRY(decorate(in, made, s, env)), in.span(s.head));
}

Result<Value> call_class(Context& in, ClassObject& type, CallArgs& args) {
  InstanceObject instance;
  instance.type = &type;
  const Value self = in.heap.wrap(Kind::Instance, std::move(instance));
  if (const Value* init = type.find(in.symbols.intern("__init__"))) {
    CallArgs with_self = args.with_first(self);
    WW_TRY_VOID(call(in, *init, with_self));
    return self;
  }
  WW_TRY_VOID(fill_fields(in, self, args));
  if (const Value* init = type.find(in.symbols.intern("__post_init__")))
    WW_TRY_VOID(call(in, *init, {self}, args.call));
  return self;
}

// A field, a method bound to its object, a property's value, or a name of the class.
std::optional<Result<Value>> object_attribute(Context& in, const Value& object,
                                              std::string_view name, Span where) {
  const Symbol symbol = in.symbols.intern(name);
  const bool is_instance = object.is(Kind::Instance);
  if (is_instance)
    if (const Value* value = object.as<InstanceObject>().find(symbol)) return *value;
  ClassObject& type = is_instance ? *object.as<InstanceObject>().type : object.as<ClassObject>();
  if (name == "__name__" && !is_instance) return in.heap.str(type.name);
  const Value* member = type.find(symbol);
  if (member == nullptr) return std::nullopt;
  if (!member->is(Kind::Function) && !member->is(Kind::Inline)) return *member;
  const Binding binding = member->as<FunctionObject>().binding;
  const bool of_class = binding == Binding::Class;
  if (binding == Binding::Static || (!is_instance && !of_class)) return *member;
  const Value self = of_class ? Value{.kind = Kind::Class, .object = &type} : object;
  if (binding == Binding::Property) return call(in, *member, {self}, where);
  return in.heap.wrap(Kind::Method, MethodObject{{}, self, std::string(name), nullptr, *member});
}

}  // namespace ww::script
