// SPDX-License-Identifier: Apache-2.0
// Classes of the source: their bodies, their objects, and what an object's attribute is. Every
// class takes its annotated names as arguments when it has no `__init__`, as dataclasses do.
#include "script/interp/classes.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/suggest.h"
#include "script/interp/assign.h"
#include "script/interp/calls.h"
#include "script/interp/conversions.h"
#include "script/interp/expressions.h"
#include "script/interp/host_stmts.h"
#include "script/syntax/errors.h"

namespace ww::script {
namespace {

using Binding = FunctionObject::Binding;

// Fields of the bases come first; a name that is given again keeps its place.
void add_field(ClassObject& type, Symbol name, const std::optional<Value>& value) {
  const auto known = std::find_if(type.fields.begin(), type.fields.end(),
                                  [&](const auto& field) { return field.first == name; });
  if (known == type.fields.end())
    type.fields.emplace_back(name, value);
  else
    known->second = value;
}

constexpr std::size_t kMaxBases = 100;

// A class and what it inherits from, depth first; each counts once.
void add_bases(ClassObject& type, const ClassObject& direct) {
  const auto add = [&](const ClassObject* base) {
    if (std::find(type.bases.begin(), type.bases.end(), base) == type.bases.end())
      type.bases.push_back(base);
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
    return fail_at(args.spans[type.fields.size()], DiagKind::BadArgument,
                   "`{}` with {} arguments, expected at most {}", type.name, args.plain.size(),
                   type.fields.size());
  std::vector<std::string_view> known;
  for (const auto& [name, value] : type.fields) known.push_back(in.symbols.text(name));
  for (const CallArgs::Named& arg : args.named)
    if (std::find(known.begin(), known.end(), arg.name) == known.end())
      return fail_at(arg.name_span, DiagKind::BadArgument, "`{}` has no field `{}`{}", type.name,
                     arg.name, did_you_mean(arg.name, known));
  for (std::size_t i = 0; i < type.fields.size(); ++i) {
    const auto& [name, default_value] = type.fields[i];
    const std::string_view text = in.symbols.text(name);
    const auto named = std::find_if(args.named.begin(), args.named.end(),
                                    [&](const auto& arg) { return arg.name == text; });
    const bool is_plain = i < args.plain.size();
    if (is_plain && named != args.named.end())
      return fail_at(named->span, DiagKind::BadArgument, "`{}` of `{}` is given twice", text,
                     type.name);
    if (!is_plain && named == args.named.end() && !default_value)
      return fail_at(args.call, DiagKind::BadArgument, "`{}` without `{}`", type.name, text);
    fields.emplace_back(name, is_plain                    ? args.plain[i]
                              : named != args.named.end() ? named->value
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
    for (const auto& [field, value] : object.as<InstanceObject>().fields)
      if (field == symbol) return value;
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
