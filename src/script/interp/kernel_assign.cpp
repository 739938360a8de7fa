// SPDX-License-Identifier: Apache-2.0
// Assignments in a kernel: what a name becomes, and stores.
#include "script/interp/kernel_assign.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/fail_at.h"
#include "ir/below.h"
#include "script/api/buffer_fields.h"
#include "script/interp/assign.h"
#include "script/interp/calls.h"
#include "script/interp/conversions.h"
#include "script/interp/expressions.h"
#include "script/interp/kernel_body.h"
#include "script/interp/operators.h"
#include "script/interp/regions.h"

namespace ww::script {
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
