// SPDX-License-Identifier: Apache-2.0
// Attributes and subscripts: `x.name` and `x[i]` for every kind of value.
#include "script/interp/evaluator.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numbers>

#include "base/ascii.h"
#include "base/fail_at.h"
#include "base/join.h"
#include "base/suggest.h"
#include "script/api/builtins.h"

namespace ww::script {
namespace {

// Names of a namespace that are values, not functions.
std::optional<Value> layout_name(Context& in, std::string_view name) {
  if (name == "S" || name == "R")
    return Value{.kind = Kind::SpecMaker, .id = static_cast<std::uint32_t>(name[0])};
  if (Result<layout::Axis> axis = layout::Axis::builtin(name))
    return in.heap.wrap(Kind::Axis, AxisObject{{}, *axis});
  if (name == "Axis") return in.heap.wrap(Kind::Namespace, NamespaceObject{{}, "layout.Axis"});
  return std::nullopt;
}

std::optional<Value> language_name(Context& in, std::string_view name) {
  if (!is_attribute("T", name)) return layout_name(in, name);
  if (name == "ptx") return in.heap.wrap(Kind::PtxPath, PtxPathObject{});
  AnnotationObject a;
  a.what = name == "handle" ? AnnotationObject::What::Handle
           : name == "let"  ? AnnotationObject::What::Let
                            : AnnotationObject::What::Constexpr;
  if (name == "handle") a.type = ir::Type::handle();
  return in.heap.wrap(Kind::Annotation, std::move(a));
}

// What other languages call something, and what it is called here.
std::optional<std::string_view> name_elsewhere(std::string_view path, std::string_view name) {
  struct Row {
    std::string_view there, here;
  };
  static constexpr Row kCuda[] = {{"syncthreads", "cta_sync"},  {"__syncthreads", "cta_sync"},
                                  {"sync_threads", "cta_sync"}, {"barrier", "cta_sync"},
                                  {"sync", "cta_sync"},         {"syncwarp", "warp_sync"},
                                  {"__syncwarp", "warp_sync"}};
  static constexpr Row kTile[] = {{"load", "copy"},   {"store", "copy"},  {"memcpy", "copy"},
                                  {"dot", "gemm"},    {"matmul", "gemm"}, {"mma", "gemm"},
                                  {"block", "cta"},   {"div", "fdiv"},    {"where", "select"},
                                  {"convert", "cast"}};
  static constexpr Row kLanguage[] = {{"blockIdx", "cta_id"},
                                      {"threadIdx", "thread_id"},
                                      {"program_id", "cta_id"},
                                      {"syncthreads", "cuda.cta_sync"},
                                      {"sync_threads", "cuda.cta_sync"},
                                      {"alloc_fragment", "alloc_local"},
                                      {"alloc_smem", "alloc_shared"}};
  const auto find = [&](std::span<const Row> rows) -> std::optional<std::string_view> {
    for (const Row& row : rows)
      if (row.there == name) return row.here;
    return std::nullopt;
  };
  if (path == "T.cuda") return find(kCuda);
  if (path == "T") return find(kLanguage);
  return is_tile_namespace(path) ? find(kTile) : std::nullopt;
}

bool is_of_kind(std::string_view name, std::string_view candidate) {
  // `T.Mod` and its like are nodes of a tree; who writes in lower case means a function.
  return name.empty() || candidate.empty() ||
         (to_lower(name[0]) != name[0]) == (to_lower(candidate[0]) != candidate[0]);
}

Diag no_such_name(const std::string& path, std::string_view name) {
  const bool is_tile = is_tile_namespace(path);
  auto reason = why_not_taken(fmt::format("{}.{}", path, name));
  if (!reason && is_tile) reason = why_not_taken(fmt::format("Tx.{}", name));
  if (reason) return diag(DiagKind::UnknownName, "`{}.{}` is not taken: {}", path, name, *reason);
  std::vector<std::string_view> known = members_of(path);
  if (is_tile)
    for (const std::string_view op : ir::all_tile_op_names()) known.push_back(op);
  if (path == "layout")
    for (const layout::Axis axis : layout::builtin_axes()) known.push_back(axis.name());
  const auto elsewhere = name_elsewhere(path, name);
  std::erase_if(known, [&](std::string_view each) { return !is_of_kind(name, each); });
  const std::string suggestion =
      elsewhere ? fmt::format("; did you mean `{}`?", *elsewhere) : did_you_mean(name, known);
  Diag out = diag(DiagKind::UnknownName, "`{}` has no `{}`{}",
                  path == "layout" ? "tvm.tirx.layout" : path, name, suggestion);
  if (is_tile && path != "T" && suggestion.empty())
    out.notes.push_back(
        {fmt::format("its primitives: {}", join(ir::all_tile_op_names(), ", ")), {}});
  return out;
}

std::optional<double> number_of_math(std::string_view name) {
  if (name == "pi") return std::numbers::pi;
  if (name == "e") return std::numbers::e;
  if (name == "tau") return 2 * std::numbers::pi;
  if (name == "inf") return std::numeric_limits<double>::infinity();
  if (name == "nan") return std::numeric_limits<double>::quiet_NaN();
  return std::nullopt;
}

Result<Value> namespace_attribute(Context& in, const std::string& path, std::string_view name,
                                  Span span, Span name_span) {
  const std::string full = path + "." + std::string(name);
  if (path == "layout" || path == "layout.Axis")
    if (std::optional<Value> value = layout_name(in, name)) return *value;
  if (const BuiltinRow* row = find_builtin(full))
    return in.heap.wrap(Kind::Builtin, BuiltinObject{{}, row});
  if (path == "T") {
    if (std::optional<Value> value = language_name(in, name)) return *value;
    const Value* const type =
        in.library == nullptr ? nullptr : in.library->find_here(in.symbols.intern(name));
    if (type != nullptr && type->is(Kind::Class)) return *type;
    if (const BuiltinRow* row = find_builtin(fmt::format("layout.{}", name)))
      return in.heap.wrap(Kind::Builtin, BuiltinObject{{}, row});
  }
  if (is_tile_namespace(full) || parse_tile_path(full) || is_namespace(full))
    return in.heap.wrap(Kind::Namespace, NamespaceObject{{}, full});
  // Last, because the answer to what is no type is a text that takes time to make.
  if (path == "T")
    if (Result<ir::Type> type = ir::parse_value_type(name)) return dtype_value(*type);
  if (path == "tvm.tirx")
    if (const BuiltinRow* row = find_builtin(fmt::format("T.{}", name)))
      return in.heap.wrap(Kind::Builtin, BuiltinObject{{}, row});
  if (path == "tvm.script.ir" && name == "constexpr") return *language_name(in, name);
  if (path.starts_with("tvm") || path == "warpwright") {
    if (const auto known = known_module(full))
      return in.heap.wrap(Kind::Namespace, NamespaceObject{{}, std::string(*known)});
    if (const auto reason = why_not_taken(full))
      return opaque_value(in, span, fmt::format("`{}` is not taken: {}", full, *reason));
    return opaque_value(in, span, fmt::format("`{}` is not modelled", full));
  }
  if (path == "math" || (path == "numpy" && name != "tau"))
    if (const auto number = number_of_math(name)) return of_float(*number);
  if (path == "functools" || path == "itertools" || path == "math" || path == "dataclasses" ||
      path == "operator" || path == "typing" || path == "numpy")
    return opaque_value(in, span, fmt::format("`{}` is not modelled", full));
  return fail(no_such_name(path, name).with_span(name_span));
}

// What the rows of its methods begin with, and its row of attributes.def.
struct TypeNames {
  Kind kind;
  std::string_view methods, attributes = {};
};
constexpr TypeNames kTypes[] = {{Kind::Buffer, "buffer", "buffer"},
                                {Kind::Layout, "layout_value", "layout"},
                                {Kind::DType, "dtype", "dtype"},
                                {Kind::Axis, "axis", "axis"},
                                {Kind::Pool, "smem_pool", "pool"},
                                {Kind::Swizzle, "", "swizzle"},
                                {Kind::Iter, "", "iter"},
                                {Kind::Region, "", "region"},
                                {Kind::Slice, "", "range"},
                                {Kind::List, "list"},
                                {Kind::Tuple, "tuple"},
                                {Kind::Dict, "dict"},
                                {Kind::Set, "set"},
                                {Kind::Str, "str"},
                                {Kind::Int, "int"},
                                {Kind::Bool, "int"},
                                {Kind::Ir, "expression"},
                                {Kind::Jit, "jit"}};
TypeNames names_of(const Value& value) {
  const auto* const row = std::ranges::find(kTypes, value.kind, &TypeNames::kind);
  if (row == std::end(kTypes)) return {value.kind, {}};
  const bool is_tensor_pool = value.is(Kind::Pool) && value.as<PoolObject>().is_tensor;
  return is_tensor_pool ? TypeNames{Kind::Pool, "tmem_pool", "pool"} : *row;
}

// The value of a constant with a type, and of a mode, which is its number.
std::optional<Value> number_attribute(const Value& number, std::string_view name) {
  if (name == "value") return untyped(number);
  const auto type = typed_as(number);
  return name == "dtype" && type ? std::optional(dtype_value(ir::Type::of(*type))) : std::nullopt;
}

std::optional<Result<Value>> special_attribute(Context& in, const Value& object,
                                               std::string_view name, Span span) {
  if (object.is(Kind::Buffer) && (name == "source" || name == "buffer") &&
      ir::has_one_element(in.fn(), in.fn()[object.buffer()]))
    return object;
  if (const std::string_view type = names_of(object).attributes;
      !type.empty() && !is_attribute(type, name))
    return std::nullopt;
  if (object.is(Kind::Buffer)) return buffer_attribute(in, object, name, span);
  if (object.is(Kind::Layout) || object.is(Kind::Swizzle) || object.is(Kind::Iter) ||
      object.is(Kind::Axis))
    return layout_attribute(in, object, name);
  if (object.is(Kind::Pool)) return pool_attribute(in, object, name, span);
  if (object.is(Kind::Ir) && (name == "source" || name == "buffer") &&
      in.fn()[object.expr()].op == ir::ExprOp::Load)
    return of_buffer(in.fn()[object.expr()].buffer);
  if (object.is(Kind::Ir) && name == "dtype") return dtype_value(in.fn()[object.expr()].type);
  if (object.is(Kind::Region) || object.is(Kind::Slice))
    return region_attribute(in, object, name, span);
  if (object.is(Kind::DType)) return dtype_attribute(in, object, name);
  if (object.is(Kind::Int) || object.is(Kind::Float)) return number_attribute(object, name);
  return std::nullopt;
}

Diag no_member(const Context& in, const Value& object, std::string_view name) {
  const bool is_instance = object.is(Kind::Instance);
  const ClassObject& type =
      is_instance ? *object.as<InstanceObject>().type : object.as<ClassObject>();
  std::vector<std::string_view> known;
  if (is_instance)
    for (const auto& [field, value] : object.as<InstanceObject>().fields)
      known.push_back(in.symbols.text(field));
  for (const auto& [member, value] : type.env->names()) known.push_back(in.symbols.text(member));
  return diag(DiagKind::UnknownName, "{} `{}` has no `{}`{}",
              is_instance ? "an object of class" : "class", type.name, name,
              did_you_mean(name, known));
}

Result<Value> annotation_item(Context& in, const Value& annotation, const Value& index, Span span) {
  AnnotationObject out = annotation.as<AnnotationObject>();
  if (out.what != AnnotationObject::What::Let)
    return fail_at(span, DiagKind::BadType, "this annotation takes no index");
  const bool is_map = index.is(Kind::Annotation) &&
                      index.as<AnnotationObject>().what == AnnotationObject::What::TensorMap;
  out.type = is_map ? ir::Type::handle() : WW_TRY(as_type(in, {index, span}, "the type"));
  return in.heap.wrap(Kind::Annotation, std::move(out));
}

// A name that is near an element type's is one that is misspelt, not an extent's.
Result<bool> names_type(const Value& last, Span span) {
  constexpr std::size_t kMinLength = 4;  // of a misspelt one: "k" and "row" are extents
  const std::string_view text = text_of(last);
  std::vector<std::string_view> known;
  for (const num::DType each : num::all_dtypes()) known.push_back(num::name_of(each));
  if (std::ranges::find(known, text) != known.end()) return true;
  const std::string meant = text.size() < kMinLength ? "" : did_you_mean(text, known);
  if (meant.empty()) return false;
  return fail_at(span, DiagKind::BadBuffer, "an element type `{}`{}", text, meant);
}

// Takes the element type off the end: one, several to choose from, or none, which is any.
Result<void> take_types(Context& in, std::vector<Value>& parts, AnnotationObject& out, Span span) {
  const Value last = parts.back();
  const bool is_choice = last.is(Kind::Set) || last.is(Kind::Tuple) || last.is(Kind::List);
  const bool is_type = last.is(Kind::Str) ? WW_TRY(names_type(last, span)) : last.is(Kind::DType);
  out.is_open = !is_type;
  if (is_type) out.args[Dtype] = last;
  if (is_choice)
    for (const Value& each : last.as<SeqObject>().items)
      out.types.push_back(WW_TRY(as_type(in, {each, span}, "an element type")));
  if (is_type || is_choice) parts.pop_back();
  return {};
}

// `ww.Tensor["n", 16, "float32"]`: extents, then the element type, if it is known.
Result<Value> tensor_item(Context& in, const Value& index, Span span) {
  std::vector<Value> parts = index.is(Kind::Tuple)
                                 ? WW_TRY(as_sequence(in, {index, span}, "the shape and the type"))
                                 : std::vector<Value>{index};
  AnnotationObject out;
  out.what = AnnotationObject::What::Buffer;
  out.args.assign(FieldCount, Value{.kind = Kind::Ellipsis});
  if (!parts.empty()) WW_TRY_VOID(take_types(in, parts, out, span));
  if (parts.empty())
    return fail_at(span, DiagKind::BadBuffer,
                   "a tensor without a shape: expected `ww.Tensor[\"n\", \"float32\"]`");
  out.args[Shape] = in.heap.tuple(std::move(parts));
  return in.heap.wrap(Kind::Annotation, std::move(out));
}

// `Annotated[ww.Tensor, "n", 16, "float32"]`: the same, for type checkers; of other types the type.
Result<Value> annotated_item(Context& in, const Value& index, Span span) {
  std::vector<Value> parts = WW_TRY(as_sequence(in, {index, span}, "a type and its annotations"));
  if (parts.empty()) return fail_at(span, DiagKind::BadType, "`Annotated` without a type");
  const Value type = parts.front();
  if (!type.is(Kind::Builtin) || type.as<BuiltinObject>().row->name != "warpwright.Tensor")
    return type;
  parts.erase(parts.begin());
  return tensor_item(in, in.heap.tuple(std::move(parts)), span);
}

}  // namespace

Result<Value> attribute(Context& in, const Value& object, std::string_view name, Span where,
                        Span name_span) {
  if (object.is(Kind::Poison)) return object;
  if (object.is(Kind::Opaque)) {
    const auto& opaque = object.as<OpaqueObject>();
    if (name == "arch" && !opaque.arch.empty()) return in.heap.str(opaque.arch);
    return opaque_value(in, opaque.span, opaque.reason);
  }
  if (object.is(Kind::Namespace))
    return namespace_attribute(in, object.as<NamespaceObject>().path, name, where, name_span);
  if (object.is(Kind::PtxPath)) return ptx_word(in, object.as<PtxPathObject>(), name);
  if (object.is(Kind::Instance) || object.is(Kind::Class)) {
    if (std::optional<Result<Value>> out = object_attribute(in, object, name, where))
      return *std::move(out);
    return fail(no_member(in, object, name).with_span(name_span));
  }
  if (std::optional<Result<Value>> out = special_attribute(in, object, name, where))
    return *std::move(out);
  // Functions of classes: `TileLayout.from_iters`, `SwizzleMode.SWIZZLE_NONE`.
  if (object.is(Kind::Builtin)) {
    const std::string_view owner = object.as<BuiltinObject>().row->name;
    if (const BuiltinRow* row = find_builtin(fmt::format("{}.{}", owner, name)))
      return in.heap.wrap(Kind::Builtin, BuiltinObject{{}, row});
    if (owner == "layout.SwizzleMode")
      if (const std::optional<Value> mode = swizzle_mode_member(name)) return *mode;
  }
  const std::string_view prefix = names_of(object).methods;
  // A type has the methods of its name.
  if (object.is(Kind::DType) && find_builtin(fmt::format("dtype.{}", name)) == nullptr)
    if (const BuiltinRow* row = find_builtin(fmt::format("str.{}", name)))
      return in.heap.wrap(
          Kind::Method,
          MethodObject{
              {}, in.heap.str(ir::to_text(type_of(object))), std::string(name), row, none()});
  if (!prefix.empty())
    if (const BuiltinRow* row = find_builtin(fmt::format("{}.{}", prefix, name)))
      return in.heap.wrap(Kind::Method, MethodObject{{}, object, std::string(name), row, none()});
  if (object.is(Kind::Layout) || object.is(Kind::Buffer)) {
    const bool is_layout = object.is(Kind::Layout);
    if (const auto reason = why_not_taken(fmt::format("{}.{}", is_layout ? "L" : "B", name)))
      return fail_at(name_span, DiagKind::UnknownName, "`{}` of a {} is not taken: {}", name,
                     is_layout ? "layout" : "buffer", *reason);
  }
  return fail_at(name_span, DiagKind::UnknownName, "{} has no `{}`{}", type_name(object), name,
                 did_you_mean(name, members_of(prefix.empty() ? "-" : prefix)));
}

Result<Value> subscript(Context& in, const Value& object, const Value& index, Span where) {
  switch (object.kind) {
    case Kind::Poison:
      return object;
    case Kind::Opaque:
      return object;
    case Kind::SpecMaker:
      return make_spec(in, object, index, where);
    case Kind::Buffer:
      return index_buffer(in, object.buffer(), index, where);
    case Kind::Accessor:
      return sub_view(in, object.as<MethodObject>().self.buffer(), index, where);
    case Kind::Tuple:
    case Kind::List:
    case Kind::Str:
    case Kind::Range:
      return item_of(in, object, index, where);
    case Kind::Dict:
      return value_of(in, object.as<DictObject>(), index, where);
    case Kind::PtxPath:
      return ptx_subscript(in, object.as<PtxPathObject>(), index, where);
    case Kind::Annotation:
      return annotation_item(in, object, index, where);
    case Kind::DType: {
      AnnotationObject out;
      out.what = AnnotationObject::What::Array;
      out.type = WW_TRY(as_type(in, {object, where}, "the type"));
      out.shape = WW_TRY(as_sequence(in, {index, where}, "the shape"));
      return in.heap.wrap(Kind::Annotation, std::move(out));
    }
    case Kind::Class:
      // `Module["main"]`: the functions of a module are the class's.
      if (index.is(Kind::Str)) return attribute(in, object, text_of(index), where, where);
      return fail_at(where, DiagKind::BadType, "class takes no index");
    case Kind::Builtin:
      if (object.as<BuiltinObject>().row->name == "warpwright.Tensor")
        return tensor_item(in, index, where);
      if (object.as<BuiltinObject>().row->name == "typing.Annotated")
        return annotated_item(in, index, where);
      return opaque_value(in, where, "type hints are not evaluated");
    case Kind::Region:
      return fail(diag_at(where, DiagKind::BadType, "a region takes no index")
                      .with_note("one index says which part of the buffer: `A[36:44]` for "
                                 "`A[32:96][4:12]`"));
    default:
      return fail_at(where, DiagKind::BadType, "{} takes no index", type_name(object));
  }
}

}  // namespace ww::script
