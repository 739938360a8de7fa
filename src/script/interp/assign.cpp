// SPDX-License-Identifier: Apache-2.0
// What host statements bind, store and delete.
#include "script/interp/assign.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/fail_at.h"
#include "script/interp/collections.h"
#include "script/interp/conversions.h"
#include "script/interp/expressions.h"
#include "script/interp/operators.h"

namespace ww::script {
namespace {

Result<void> exec_augmented(Context& in, const Stmt& s, Env& env) {
  const ExprId target = in.ast().list(s.items)[0];
  const Value old = WW_TRY(eval(in, target, env));
  const Value value = WW_TRY(eval(in, s.a, env));
  if (old.is(Kind::List) && s.op == Op::Add && !value.is(Kind::Opaque)) {  // in place
    for (const Value& item : WW_TRY(iterate(in, {value, in.span(s.a)})))
      WW_TRY_VOID(append(in, old.as<SeqObject>(), item, in.span(s.a)));
    return {};
  }
  return assign_host(in, target, WW_TRY(binary(in, s.op, old, value, in.span(s.place))), env);
}

Result<void> assign_unpacked(Context& in, const Expr& e, const Value& value, Env& env) {
  if (value.is(Kind::Opaque) || value.is(Kind::Poison)) {
    for (const ExprId target : in.ast().list(e.items))
      WW_TRY_VOID(assign_host(in, target, value, env));
    return {};
  }
  for (const auto& [target, item] : WW_TRY(unpack(in, e, value)))
    WW_TRY_VOID(assign_host(in, target, item, env));
  return {};
}

}  // namespace

Result<void> assign_field(Context& in, const Value& object, Symbol name, const Value& value,
                          Span where) {
  if (object.is(Kind::Opaque) || object.is(Kind::Poison)) return {};
  if (object.is(Kind::Class)) {
    WW_TRY_VOID(check_holds(in, object.as<ClassObject>(), value, where));
    object.as<ClassObject>().env->set(name, value);
    return {};
  }
  if (!object.is(Kind::Instance))
    return fail_at(where, DiagKind::ReadOnly, "cannot assign an attribute of {}",
                   type_name(object));
  WW_TRY_VOID(check_holds(in, object.as<InstanceObject>(), value, where));
  if (Value* found = object.as<InstanceObject>().find(name)) {
    *found = value;
    return {};
  }
  in.heap.count_values(1);
  object.as<InstanceObject>().fields.emplace_back(name, value);
  return {};
}

Result<void> exec_assign(Context& in, const Stmt& s, Env& env) {
  if (s.kind == StmtKind::AugAssign) return exec_augmented(in, s, env);
  if (!s.a.valid()) return {};  // `x: int`
  const Value value = WW_TRY(eval(in, s.a, env));
  for (const ExprId target : in.ast().list(s.items))
    WW_TRY_VOID(assign_host(in, target, value, env));
  return {};
}

// A name that is bound further out (by `global`) must not hold a part of a kernel.
Result<void> bind_name(Context& in, Env& env, Symbol name, const Value& value, Span where) {
  if (in.in_kernel() && env.redirected(name) != nullptr)
    WW_TRY_VOID(check_holds(in, {}, value, where));
  env.set(name, value);
  return {};
}

Result<void> assign_host(Context& in, ExprId target, const Value& value, Env& env) {
  const Expr& e = in.ast()[target];
  switch (e.kind) {
    case ExprKind::Name:
      return bind_name(in, env, e.name, value, in.span(e.place));
    case ExprKind::Subscript: {
      const Value object = WW_TRY(eval(in, e.a, env));
      return assign_item(in, object, WW_TRY(eval(in, e.b, env)), value, in.span(e.place));
    }
    case ExprKind::Attribute:
      return assign_field(in, WW_TRY(eval(in, e.a, env)), e.name, value, in.span(e.place));
    case ExprKind::Tuple:
    case ExprKind::List:
      return assign_unpacked(in, e, value, env);
    case ExprKind::Starred:
      return assign_host(in, e.a, value, env);
    default:
      return fail_at(in.span(e.place), DiagKind::Syntax, "cannot assign to this");
  }
}

// Pairs the targets of a tuple with the elements of a value; `*rest` takes what is left.
Result<std::vector<std::pair<ExprId, Value>>> unpack(Context& in, const Expr& e,
                                                     const Value& value) {
  const std::span<const ExprId> targets = in.ast().list(e.items);
  const std::vector<Value> items = WW_TRY(iterate(in, {value, in.span(e.place)}));
  const auto star = std::find_if(targets.begin(), targets.end(),
                                 [&](ExprId t) { return in.ast()[t].kind == ExprKind::Starred; });
  const bool has_star = star != targets.end();
  const bool fits = has_star ? items.size() + 1 >= targets.size() : items.size() == targets.size();
  if (!fits)
    return fail_at(in.span(e.place), DiagKind::HostError, "{} value{} for {} name{}", items.size(),
                   items.size() == 1 ? "" : "s", targets.size(), targets.size() == 1 ? "" : "s");
  std::vector<std::pair<ExprId, Value>> out;
  std::size_t next = 0;
  for (const ExprId target : targets) {
    if (!has_star || target != *star) {
      out.emplace_back(target, items[next++]);
      continue;
    }
    const std::size_t count = items.size() + 1 - targets.size();
    const auto first = items.begin() + static_cast<std::ptrdiff_t>(next);
    out.emplace_back(target, in.heap.list({first, first + static_cast<std::ptrdiff_t>(count)}));
    next += count;
  }
  return out;
}

Result<void> assign_item(Context& in, const Value& object, const Value& index, const Value& value,
                         Span where) {
  if (object.is(Kind::Opaque) || object.is(Kind::Poison)) return {};
  if (object.is(Kind::Dict)) return put(in, object.as<DictObject>(), index, value, where);
  if (object.is(Kind::List)) {
    auto& items = object.as<SeqObject>().items;
    const std::size_t place = WW_TRY(place_in(in, object, index, items.size(), where));
    WW_TRY_VOID(check_holds(in, object.as<SeqObject>(), value, where));
    items[place] = value;
    return {};
  }
  if (object.is(Kind::Buffer))
    return fail(diag_at(where, DiagKind::BadType, "a store to `{}` in a host function",
                        in.fn()[object.buffer()].name)
                    .with_note("decorate the function with `@T.inline` to make its statements part "
                               "of the kernel"));
  return fail_at(where, DiagKind::ReadOnly, "cannot assign an item of {}", type_name(object));
}

// `del` of an item; a name may stay, as no program asks for it again.
Result<void> exec_delete(Context& in, const Stmt& s, Env& env) {
  for (const ExprId target : in.ast().list(s.items)) {
    const Expr& e = in.ast()[target];
    if (e.kind != ExprKind::Subscript) continue;
    const Value object = WW_TRY(eval(in, e.a, env));
    const Value index = WW_TRY(eval(in, e.b, env));
    if (object.is(Kind::Opaque)) continue;
    if (object.is(Kind::Dict)) {
      auto& items = object.as<DictObject>().items;
      const Value* found = WW_TRY(find_key(in, object.as<DictObject>(), index, in.span(e.place)));
      if (found == nullptr)
        return fail_at(in.span(e.place), DiagKind::HostError, "no key {} in the dict", repr(index));
      std::erase_if(items, [&](const auto& item) { return &item.second == found; });
      continue;
    }
    if (!object.is(Kind::List) || index.is(Kind::Slice))
      return fail_at(in.span(e.place), DiagKind::BadType, "`del` of an item of {}",
                     type_name(object));
    auto& items = object.as<SeqObject>().items;
    const std::size_t place = WW_TRY(place_in(in, object, index, items.size(), in.span(e.place)));
    items.erase(items.begin() + static_cast<std::ptrdiff_t>(place));
  }
  return {};
}

}  // namespace ww::script
