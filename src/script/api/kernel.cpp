// SPDX-License-Identifier: Apache-2.0
// What shapes a kernel: its entry, scope ids, loops, attributes, and names for compile-time values.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/fail_at.h"
#include "ir/engine_fallback.h"
#include "script/api/builtins.h"
#include "script/interp/evaluator.h"

namespace ww::script::kernel_api {
namespace {

using num::DType;

// What comes is for the GPU. The frame is for `with T.device_entry():`.
Result<Value> enter_device(Context& in, Span call) {
  KernelContext& k = *in.kernel;
  if (k.in_device) return fail_at(call, DiagKind::BadScopeIds, "a second `T.device_entry()`");
  k.in_device = true;
  if (k.blocks.size() != 1)
    return fail_at(call, DiagKind::BadScopeIds,
                   "`T.device_entry()` inside of a block, expected at the top of the kernel");
  k.function.has_device_entry = true;
  k.function.host = std::move(k.blocks[0]);
  k.blocks[0].clear();
  return in.heap.wrap(Kind::Frame, FrameObject{});
}

Result<Value> device_entry(Context& in, Args& a) {
  const Value entered = WW_TRY(enter_device(in, a.call));
  if (a.given(0)) WW_TRY_VOID(declare_launch(in, a[0]));
  if (a.given(1)) WW_TRY_VOID(take_kernel_options(in, a[1]));
  return entered;
}

// --- scope ids -----------------------------------------------------------------------------------

template <ir::ScopeIdKind kKind>
Result<Value> scope_id(Context& in, Args& a) {
  const ir::ScopeIdFacts& facts = ir::facts_of(kKind);
  if (!in.kernel->in_device)
    return fail(
        diag_at(a.call, DiagKind::BadScopeIds, "`T.{}` before `T.device_entry()`", facts.name)
            .with_note("put `T.device_entry()` behind the buffers of the parameters: what "
                       "follows it runs on the GPU"));
  ir::Stmt out = stmt_node(ir::StmtKind::ScopeIds, a.call);
  out.scope_id = kKind;
  ir::Type type = ir::Type::of(DType::Int32);
  if (a.has(2)) type = WW_TRY(as_type(in, a[2], "`dtype`"));
  if (!type.is_int() || type.lanes != 1)
    return fail_at(a.span(2), DiagKind::BadType, "an id of type `{}`, expected an integer",
                   ir::to_text(type));
  std::size_t count = 1;
  if (a.given(0)) {
    const std::vector<Value> extents = WW_TRY(as_sequence(in, a[0], "the extents"));
    if (extents.empty() || extents.size() > static_cast<std::size_t>(facts.max_dims))
      return fail_at(a.span(0), DiagKind::BadScopeIds, "`T.{}` with {} extents, expected {}",
                     facts.name, extents.size(),
                     facts.max_dims == 1 ? "1" : fmt::format("1 to {}", facts.max_dims));
    for (const Value& extent : extents)
      out.args.push_back(WW_TRY(index_expr(in, {extent, a.span(0)})));
    count = extents.size();
  }
  if (a.given(1)) {
    if (kKind != ir::ScopeIdKind::CtaIdInCluster)
      return fail_at(a.span(1), DiagKind::BadArgument, "`T.{}` has no parameter `preferred`",
                     facts.name);
    for (const std::int64_t extent : WW_TRY(as_int_list(in, a[1], "`preferred`")))
      out.settings.emplace_back(fmt::format("preferred{}", out.settings.size()), extent);
  }
  std::vector<Value> values;
  for (std::size_t i = 0; i < count; ++i) {
    out.vars.push_back(new_var(in, ir::VarKind::ScopeId, type, a.call));
    values.push_back(of_expr(ir::var_ref(in.fn(), out.vars.back(), a.call)));
  }
  emit(in, std::move(out));
  return count == 1 ? values[0] : in.heap.tuple(std::move(values));
}

Result<ir::HardwareId> hardware_id(Context& in, const Args& a) {
  const auto out = ir::parse_hardware_id(WW_TRY(as_text(in, a[0], "the tag")));
  if (!out) return fail(Diag(out.error()).with_span(a.call));
  return *out;
}

ir::ExprId new_launch_id(Context& in, const Args& a) {
  const ir::VarId id = new_var(in, ir::VarKind::Launch, ir::Type::of(DType::Int32), a.call);
  return ir::var_ref(in.fn(), id, a.call);
}

// `bx = T.env_thread("blockIdx.x")` names an id, and `T.launch_thread(bx, 4)` launches it.
Result<Value> env_thread(Context& in, Args& a) {
  if (!in.kernel->in_device) WW_TRY_VOID(enter_device(in, a.call));
  const ir::HardwareId hardware = WW_TRY(hardware_id(in, a));
  const ir::ExprId id = new_launch_id(in, a);
  in.kernel->open_ids.emplace(in.fn()[id].var.index, hardware);
  return of_expr(id);
}

// The lowered form: a hardware id and its extent.
Result<Value> launch_thread(Context& in, Args& a) {
  ir::Stmt out = stmt_node(ir::StmtKind::LaunchThread, a.call);
  ir::ExprId id;
  const bool is_named = a[0].is(Kind::Ir) && in.fn()[a[0].expr()].op == ir::ExprOp::Var;
  if (is_named) {
    const auto found = in.kernel->open_ids.find(in.fn()[a[0].expr()].var.index);
    if (found == in.kernel->open_ids.end())
      return fail_at(a.span(0), DiagKind::BadArgument,
                     "`T.launch_thread` of a value that is not the name of a `T.env_thread`, or is "
                     "launched already");
    id = a[0].expr();
    out.hardware = found->second;
    in.kernel->open_ids.erase(found);
  } else {
    out.hardware = WW_TRY(hardware_id(in, a));
    id = new_launch_id(in, a);
  }
  out.args.push_back(WW_TRY(index_expr(in, a[1])));
  out.var = in.fn()[id].var;
  emit(in, std::move(out));
  in.fn().level = ir::Level::Lowered;
  return of_expr(id);
}

// --- loops ---------------------------------------------------------------------------------------

Result<ir::Type> loop_type(Context& in, const Given& value) {
  const ir::Type type = WW_TRY(as_type(in, value, "`dtype`"));
  if (type.is_int()) return type;
  return fail_at(value.span, DiagKind::BadType, "a loop variable of type `{}`, expected an integer",
                 ir::to_text(type));
}

template <ir::LoopKind kKind>
Result<Value> loop(Context& in, Args& a) {
  LoopObject out;
  out.loop = kKind;
  out.ranges = {a.has(1) ? std::pair(a[0], a[1]) : std::pair(of_int(0), a[0])};
  if (a.has(2)) out.step = a[2];
  if (a.given(3)) {
    if (!a[3].is(Kind::Dict))
      return fail_at(a.span(3), DiagKind::BadType, "`annotations` is {}, expected a dict",
                     type_name(a[3]));
    for (const auto& [key, value] : a[3].as<DictObject>().items)
      out.annotations.emplace_back(WW_TRY(as_text(in, {key, a.span(3)}, "a key")), value);
  }
  if (a.given(4)) out.annotations.emplace_back("unroll", a[4]);
  if (a.has(5)) out.type = WW_TRY(loop_type(in, a[5]));
  return in.heap.wrap(Kind::Loop, std::move(out));
}
constexpr std::string_view kLoop = "start, stop?, step?, annotations?, unroll?, dtype?";

Result<Value> thread_binding(Context& in, Args& a) {
  LoopObject out;
  out.loop = ir::LoopKind::ThreadBinding;
  const bool has_start = a.has(1) && !a[1].is(Kind::Str);
  out.ranges = {has_start ? std::pair(a[0], a[1]) : std::pair(of_int(0), a[0])};
  const std::size_t tag = has_start || a.has(2) ? 2 : 1;  // by name it is always the third
  if (!a.has(tag))
    return fail_at(a.call, DiagKind::BadArgument, "`T.thread_binding` without `thread`");
  const std::string text = WW_TRY(as_text(in, a[tag], "`thread`"));
  const auto id = ir::parse_hardware_id(text);
  if (!id || id->kind == ir::HardwareId::Kind::ClusterCtaIdx) {
    Diag problem = diag_at(
        a.span(tag), DiagKind::BadArgument,
        "a loop over `{}`, expected `blockIdx` or `threadIdx` with `.x`, `.y` or `.z`", text);
    if (id) problem.notes.push_back({"`T.cta_id_in_cluster([n])` declares this id", {}});
    return fail(std::move(problem));
  }
  out.hardware = *id;
  return in.heap.wrap(Kind::Loop, std::move(out));
}

Result<Value> grid(Context& in, Args& a) {
  LoopObject out;
  if (a.rest.empty()) return fail_at(a.call, DiagKind::BadArgument, "`T.grid` without extents");
  for (std::size_t i = 0; i < a.rest.size(); ++i) {
    if (!is_sequence(a.rest[i])) {
      out.ranges.emplace_back(of_int(0), a.rest[i]);
      continue;
    }
    const std::vector<Value> bounds = WW_TRY(as_sequence(in, a.rest[i], "a range"));
    if (bounds.size() != 2)
      return fail_at(a.rest[i].span, DiagKind::BadArgument,
                     "a range of {} numbers, expected (start, stop)", bounds.size());
    out.ranges.emplace_back(bounds[0], bounds[1]);
  }
  if (const CallArgs::Named* given = WW_TRY(only_keyword(a, "T.grid", "dtype")))
    out.type = WW_TRY(loop_type(in, *given));
  return in.heap.wrap(Kind::Loop, std::move(out));
}

// --- attributes and names ------------------------------------------------------------------------

// TVM prints `T.device_entry()` as an attribute.
bool is_device_entry(const Value& attributes) {
  const auto& items = attributes.as<DictObject>().items;
  return items.size() == 1 && items[0].first.is(Kind::Str) &&
         text_of(items[0].first) == "tirx.device_entry";
}

Result<Value> attr(Context& in, Args& a) {
  FrameObject frame;
  if (a[0].is(Kind::Dict) && is_device_entry(a[0])) return enter_device(in, a.call);
  if (a[0].is(Kind::Dict)) {
    for (const auto& [key, value] : a[0].as<DictObject>().items)
      frame.attrs.emplace_back(WW_TRY(as_text(in, {key, a.span(0)}, "a key")),
                               WW_TRY(as_setting(in, {value, a.span(0)}, "an attribute")));
  } else if (a.has(1)) {
    frame.attrs.emplace_back(WW_TRY(as_text(in, a[0], "a key")),
                             WW_TRY(as_setting(in, a[1], "an attribute")));
  } else {
    return fail_at(a.span(0), DiagKind::BadType, "`T.attr` of {}, expected a dict",
                   type_name(a[0]));
  }
  return in.heap.wrap(Kind::Frame, std::move(frame));
}

Result<Value> func_attr(Context& in, Args& a) {
  if (!a[0].is(Kind::Dict))
    return fail_at(a.span(0), DiagKind::BadType, "`T.func_attr` of {}, expected a dict",
                   type_name(a[0]));
  for (const auto& [key, value] : a[0].as<DictObject>().items) {
    const std::string name = WW_TRY(as_text(in, {key, a.span(0)}, "a key"));
    ir::Setting setting = WW_TRY(as_setting(in, {value, a.span(0)}, "an attribute"));
    const auto* word = std::get_if<std::string>(&setting);
    if (name == ir::kEngineFallback && (word == nullptr || *word != ir::kByCpAsync))
      return fail_at(a.span(0), DiagKind::BadArgument, "`{}` is {}, expected \"{}\"", name,
                     word == nullptr ? std::string("not a text") : fmt::format("\"{}\"", *word),
                     ir::kByCpAsync);
    in.fn().attrs.emplace_back(name, std::move(setting));
  }
  return none();
}

Result<Value> hint(Context& in, Args& a) {
  FrameObject frame;
  for (std::size_t i = 0; i < a.rest.size(); ++i)
    frame.attrs.emplace_back("tirx.hint", WW_TRY(as_setting(in, a.rest[i], "a hint")));
  for (const CallArgs::Named& named : a.extra)
    frame.attrs.emplace_back(fmt::format("tirx.hint.{}", named.name),
                             WW_TRY(as_setting(in, named, named.name)));
  return in.heap.wrap(Kind::Frame, std::move(frame));
}

Result<Value> meta_var(Context& in, Args& a) {
  return in.heap.wrap(Kind::Meta, MetaObject{{}, a[0]});
}

Result<Value> evaluate(Context& in, Args& a) {
  if (a[0].is(Kind::None)) return none();  // an instruction, which stands where it was written
  emit_call(in, WW_TRY(expression(in, a[0])), a.call);
  return none();
}

Result<Value> static_assert_row(Context& in, Args& a) {
  if (WW_TRY(truth(in, a[0]))) return none();
  return fail_at(a.call, DiagKind::HostError, "static assertion failed{}{}", a.has(1) ? ": " : "",
                 a.has(1) ? WW_TRY(as_text(in, a[1], "the message")) : "");
}

// --- annotations ---------------------------------------------------------------------------------

Value annotation(Context& in, AnnotationObject::What what, ir::Type type = {}) {
  AnnotationObject out;
  out.what = what;
  out.type = type;
  return in.heap.wrap(Kind::Annotation, std::move(out));
}

Result<Value> buffer_annotation(Context& in, Args& a) {
  AnnotationObject out;
  out.what = AnnotationObject::What::Buffer;
  for (std::size_t i = 0; i < a.values.size(); ++i)
    out.args.push_back(a.get(i, Value{.kind = Kind::Ellipsis}));
  return in.heap.wrap(Kind::Annotation, std::move(out));
}
Result<Value> tensor_map(Context& in, Args&) {
  return annotation(in, AnnotationObject::What::TensorMap);
}
Result<Value> optional(Context& in, Args& a) {
  const Value out = annotation(in, AnnotationObject::What::Optional);
  out.as<AnnotationObject>().inner = a[0];
  return out;
}

Result<Value> annotated(Context&, Args& a) {
  return fail_at(a.call, DiagKind::BadType, "`Annotated` is written with brackets, not called");
}

// Decorators are looked at where they stand; called by hand they leave their argument as it is.
Result<Value> decorator(Context&, Args& a) { return a.get(0); }

constexpr std::string_view kBuffer =
    "shape, dtype?, data?, strides?, elem_offset?, scope?, align?, offset_factor?, buffer_type?, "
    "axis_separators?, layout?, byte_offset?, allocated_addr?";

constexpr BuiltinRow kRows[] = {
    {"T.device_entry", "launch?, options?", device_entry, true},
#define WW_SCOPE_ID(id, name, parent, child, dims, fixed) \
  {"T." name, "extents?, preferred?, dtype?", scope_id<ir::ScopeIdKind::id>, true},
#include "ir/scope_ids.def"
#undef WW_SCOPE_ID
    {"T.launch_thread", "tag, extent", launch_thread, true},
    {"T.env_thread", "tag, dtype?", env_thread, true},
    {"T.serial", kLoop, loop<ir::LoopKind::Serial>, true},
    {"T.unroll", kLoop, loop<ir::LoopKind::Unroll>, true},
    {"T.vectorized", kLoop, loop<ir::LoopKind::Vectorized>, true},
    {"T.parallel", kLoop, loop<ir::LoopKind::Parallel>, true},
    {"T.thread_binding", "start, stop?, thread?, annotations?", thread_binding, true},
    {"T.grid", "*extents, **dtype", grid, true},
    {"T.attr", "attributes, value?, rest?", attr, true},
    {"T.func_attr", "attributes", func_attr, true},
    {"T.hint", "*hints, **settings", hint, true},
    {"T.meta_var", "value", meta_var, true},
    {"tvm.script.ir.meta_var", "value", meta_var, true},
    {"T.evaluate", "value", evaluate, true},
    {"T.static_assert", "condition, message?", static_assert_row},
    {"T.Buffer", kBuffer, buffer_annotation},
    {"T.Tensor", kBuffer, buffer_annotation},
    {"T.TensorMap", "", tensor_map},
    {"T.Optional", "annotation", optional},
    {"T.prim_func", "function?, **options", decorator},
    {"T.function", "function?, **options", decorator},
    {"T.jit", "function?, **options", decorator},
    {"warpwright.kernel", "function?, **options", decorator},
    {"warpwright.autotune", "function?, **options", decorator},
    {"warpwright.Tensor", kBuffer, buffer_annotation},
    {"typing.Annotated", "type, *remarks", annotated},
    {"T.inline", "function?, **options", decorator},
    {"T.macro", "function?, **options", decorator},
    {"T.meta_class", "type?", decorator},
};

}  // namespace

constinit const std::span<const BuiltinRow> rows = kRows;

}  // namespace ww::script::kernel_api

namespace ww::script {
namespace {

// `T.handle("float16", storage_scope="shared")`. The value that is bound has the scope.
Result<Value> call_handle(Context& in, const AnnotationObject& handle, CallArgs& args) {
  AnnotationObject out = handle;
  Value element = args.plain.empty() ? none() : args.plain[0];
  Span where = args.plain.empty() ? args.call : args.plain[0].span;
  for (const CallArgs::Named& named : args.named) {
    if (named.name == "storage_scope" || named.name == "is_size_var") continue;
    if (named.name != "dtype")
      return fail_at(named.span, DiagKind::BadArgument,
                     "`T.handle` has no parameter `{}`; it takes dtype, storage_scope", named.name);
    element = named;
    where = named.span;
  }
  if (element.is(Kind::None)) return in.heap.wrap(Kind::Annotation, std::move(out));
  if (element.is(Kind::Str) && text_of(element) == "tensormap") {
    out.what = AnnotationObject::What::TensorMap;
    return in.heap.wrap(Kind::Annotation, std::move(out));
  }
  const ir::Type type = WW_TRY(as_type(in, {element, where}, "the element type"));
  out.type = type.is_value() ? ir::Type::pointer(type.dtype) : ir::Type::handle();
  return in.heap.wrap(Kind::Annotation, std::move(out));
}

}  // namespace

Result<Value> call_annotation(Context& in, const Value& value, CallArgs& args) {
  const auto& a = value.as<AnnotationObject>();
  // `if T.constexpr(is_first):` says that the host decides.
  if (a.what == AnnotationObject::What::Constexpr && args.plain.size() == 1 && args.named.empty()) {
    if (!args.plain[0].is(Kind::Ir)) return args.plain[0];
    return fail_at(args.plain[0].span, DiagKind::NeedsConstant,
                   "`T.constexpr` of a value that is known when the kernel runs, expected one of "
                   "the host");
  }
  if (a.what != AnnotationObject::What::Handle)
    return fail_at(args.call, DiagKind::BadType, "this annotation cannot be called");
  return call_handle(in, a, args);
}

}  // namespace ww::script
