// SPDX-License-Identifier: Apache-2.0
// Buffers: T.match_buffer, T.alloc_buffer, T.decl_buffer and their short forms.
#include <fmt/format.h>

#include "base/fail_at.h"
#include "infer/infer.h"
#include "layout/ready_made.h"
#include "script/api/builtins.h"
#include "script/interp/evaluator.h"

namespace ww::script::buffers_api {
namespace {

using num::DType;

// What all declarations share, by the name of their parameters.
constexpr std::string_view kMatch =
    "param, shape, dtype?, data?, strides?, elem_offset?, scope?, align?, offset_factor?, "
    "buffer_type?, axis_separators?, layout?, byte_offset?";
constexpr std::string_view kDeclare =
    "shape, dtype?, data?, strides?, elem_offset?, scope?, align?, offset_factor?, buffer_type?, "
    "axis_separators?, layout?, byte_offset?, allocated_addr?";

// The number that a quoted name stands for where a constant of the kernel has it.
const Value* constant_extent(Context& in, const Value& item) {
  if (!item.is(Kind::Str) || in.kernel->constants == nullptr) return nullptr;
  const Value* value = in.kernel->constants->find_here(in.symbols.intern(text_of(item)));
  return value != nullptr && value->is(Kind::Int) ? value : nullptr;
}

Result<std::vector<ir::ExprId>> shape_of(Context& in, const Given& value) {
  std::vector<ir::ExprId> out;
  const std::vector<Value> items =
      value.is(Kind::Str) ? std::vector<Value>{value} : WW_TRY(as_sequence(in, value, "the shape"));
  for (Value item : items) {
    if (const Value* constant = constant_extent(in, item)) item = *constant;
    if (item.is(Kind::Str)) {  // a quoted name declares an extent of run time
      out.push_back(WW_TRY(named_extent(in, text_of(item), value.span)));
      continue;
    }
    const ir::ExprId extent = WW_TRY(index_expr(in, {item, value.span}));
    const auto constant = ir::const_int(in.fn(), extent);
    if (constant && *constant < 1)
      return fail_at(value.span, DiagKind::BadExtent, "an extent of {}, expected 1 or more",
                     *constant);
    out.push_back(extent);
  }
  return out;
}

// Strides given one by one are a layout, too.
Result<void> apply_strides(Context& in, ir::Buffer& buffer, const Given& strides) {
  const std::vector<Value> items = WW_TRY(as_sequence(in, strides, "the strides"));
  if (items.empty()) return {};
  layout::Iters iters;
  for (std::size_t d = 0; d < items.size(); ++d) {
    if (d >= buffer.shape.size())
      return fail_at(strides.span, DiagKind::CountMismatch, "{} strides for {} dimensions",
                     items.size(), buffer.shape.size());
    const std::int64_t extent = WW_TRY(
        as_integer(in, {of_expr(buffer.shape[d]), strides.span}, "an extent beside strides"));
    iters.push_back(
        {extent, WW_TRY(as_integer(in, {items[d], strides.span}, "a stride")), layout::Axis()});
  }
  Result<layout::TileLayout> tile = layout::TileLayout::make(iters);
  if (!tile) return fail(std::move(tile).error().with_span(strides.span));
  set_layout(buffer, layout::Layout(*std::move(tile)));
  return {};
}

Result<void> apply_layout_arg(Context& in, ir::Buffer& buffer, const Given& value) {
  if (value.is(Kind::None)) {
    buffer.layout_kind = ir::LayoutKind::None;
    return {};
  }
  if (value.is(Kind::Str) && text_of(value) == "default") return {};
  if (value.is(Kind::Str) && text_of(value) == "auto") {
    if (buffer.scope != ir::Scope::Local && !ir::is_shared(buffer.scope))
      return fail(diag_at(value.span, DiagKind::BadBuffer,
                          "`layout=\"auto\"` for a buffer in \"{}\", expected local, shared or "
                          "shared.dyn",
                          ir::name_of(buffer.scope))
                      .with_note("write its layout, or leave it out for row-major order"));
    buffer.layout.reset();
    buffer.layout_kind = ir::LayoutKind::Explicit;  // and missing: infer/infer.h
    return {};
  }
  Result<layout::Layout> layout = as_layout(in, value, "`layout`");
  if (!layout && value.is(Kind::Str))
    return fail(
        std::move(layout).error().with_note("`\"auto\"` infers the layout, `\"default\"` is "
                                            "row-major; other texts are layouts, such as "
                                            "`\"S[(8,8):(8,1)]\"`"));
  set_layout(buffer, WW_TRY(std::move(layout)));
  return {};
}

Result<Value> match_buffer(Context& in, Args& a) {
  if (!a[0].is(Kind::Ir) || in.fn()[a[0].expr()].op != ir::ExprOp::Var ||
      in.fn()[in.fn()[a[0].expr()].var].kind != ir::VarKind::Param ||
      !in.fn()[a[0].expr()].type.is_pointer())
    return fail_at(a.span(0), DiagKind::BadArgument,
                   "`T.match_buffer` of {}, expected a parameter of type `T.handle`",
                   a[0].is(Kind::Ir) ? fmt::format("`{}`", ir::to_text(in.fn()[a[0].expr()].type))
                                     : std::string(type_name(a[0])));
  ir::Buffer buffer = WW_TRY(read_buffer_fields(in, a, 1, ir::Scope::Global));
  buffer.origin = ir::BufferOrigin::Param;
  buffer.param = in.fn()[a[0].expr()].var;
  return declare_buffer(in, std::move(buffer), ir::StmtKind::Declare);
}

template <ir::Scope kScope>
Result<Value> alloc(Context& in, Args& a) {
  return declare_buffer(in, WW_TRY(read_buffer_fields(in, a, 0, kScope)), ir::StmtKind::Alloc);
}

Result<Value> decl_buffer(Context& in, Args& a) {
  ir::Buffer buffer = WW_TRY(read_buffer_fields(in, a, 0, ir::Scope::Global));
  if (a.given(AllocatedAddr)) {
    Value address = a[AllocatedAddr];
    if (address.is(Kind::Tuple) || address.is(Kind::List)) {
      const auto& items = address.as<SeqObject>().items;
      if (items.size() == 1) address = items[0];
    }
    buffer.allocated_addr =
        WW_TRY(expression_as(in, {address, a.span(AllocatedAddr)}, ir::Type::of(DType::Uint32)));
  }
  if (a.given(Data)) {
    WW_TRY_VOID(apply_data(in, buffer, a[Data]));
    if (infer::is_auto(buffer) && !ir::is_shared(buffer.scope))
      return fail(diag_at(a.call, DiagKind::BadBuffer,
                          "`layout=\"auto\"` for a view of storage in \"{}\"",
                          ir::name_of(buffer.scope))
                      .with_note("allocate the tile, `T.alloc_local(…, layout=\"auto\")`, or write "
                                 "its layout"));
    // Storage knows its scope; a view says it again or leaves it out.
    if (buffer.origin == ir::BufferOrigin::View) {
      const ir::Scope scope = in.fn()[buffer.base].scope;
      if (!a.has(ScopeName)) buffer.scope = scope;
      if (buffer.scope != scope)
        return fail_at(a.call, DiagKind::BadBuffer,
                       "scope \"{}\" for a view of `{}`, which is in \"{}\"",
                       ir::name_of(buffer.scope), in.fn()[buffer.base].name, ir::name_of(scope));
    }
    return declare_buffer(in, std::move(buffer), ir::StmtKind::Declare);
  }
  if (buffer.scope == ir::Scope::Tmem) {
    buffer.origin = ir::BufferOrigin::Alloc;
    return declare_buffer(in, std::move(buffer), ir::StmtKind::Declare);
  }
  return declare_buffer(in, std::move(buffer), ir::StmtKind::Alloc);
}

// T.cuda.decl_tmem(address, ty_args=[T.Tensor(shape, dtype, scope="tmem", layout=…)])
Result<Value> decl_tmem(Context& in, Args& a) {
  const std::vector<Value> types = WW_TRY(as_sequence(in, a[1], "`ty_args`"));
  const auto* type = types.size() == 1 && types[0].is(Kind::Annotation)
                         ? &types[0].as<AnnotationObject>()
                         : nullptr;
  if (type == nullptr || type->what != AnnotationObject::What::Buffer)
    return fail_at(a.span(1), DiagKind::BadArgument,
                   "`ty_args` of `T.cuda.decl_tmem`, expected `[T.Tensor(shape, dtype, "
                   "scope=\"tmem\", layout=…)]`");
  Args fields;
  fields.row = a.row;
  fields.call = a.call;
  fields.values.resize(FieldCount);
  for (std::size_t i = 0; i < type->args.size(); ++i)
    if (!type->args[i].is(Kind::Ellipsis)) fields.values[i] = Given{type->args[i], a[1].span};
  if (!fields.has(ScopeName)) fields.values[ScopeName] = Given{in.heap.str("tmem"), a[1].span};
  fields.values[AllocatedAddr] = a[0];
  return decl_buffer(in, fields);
}

Result<Value> scalar(Context& in, Args& a, ir::Scope scope) {
  const ir::Type type = WW_TRY(as_type(in, a[0], "`dtype`"));
  ir::Buffer buffer = new_buffer(in, scope, type.dtype, kOne, a.call);
  buffer.is_scalar = true;
  return declare_buffer(in, std::move(buffer), ir::StmtKind::Alloc);
}
// A view of one element; its name stands for the value.
Result<Value> decl_scalar(Context& in, Args& a) {
  Args fields;
  fields.row = a.row;
  fields.call = a.call;
  fields.values.resize(AllocatedAddr + 1);
  fields.values[0] = Given{in.heap.tuple({of_int(1)}), a.call};
  std::size_t from = 0;
  for (const BufferField field : {Dtype, Data, ScopeName, ElemOffset, ByteOffset})
    fields.values[field] = a.values[from++];
  return decl_buffer(in, fields);
}
Result<Value> local_scalar(Context& in, Args& a) { return scalar(in, a, ir::Scope::Local); }
Result<Value> shared_scalar(Context& in, Args& a) { return scalar(in, a, ir::Scope::Shared); }
Result<Value> alloc_scalar(Context& in, Args& a) {
  const std::string name = WW_TRY(as_text(in, a[1], "`scope`"));
  const std::optional<ir::Scope> found = ir::find_scope(name);
  if (!found)
    return fail_at(a.span(1), DiagKind::BadBuffer, "scope \"{}\", expected local or shared", name);
  return scalar(in, a, *found);
}

// T.wg_reg_tile(n, dtype): one row of n registers per thread of a warpgroup.
Result<Value> wg_reg_tile(Context& in, Args& a) {
  const std::int64_t n = WW_TRY(as_integer(in, a[0], "the number of columns"));
  const ir::Type type =
      a.has(1) ? WW_TRY(as_type(in, a[1], "`dtype`")) : ir::Type::of(DType::Float32);
  const std::int64_t shape[] = {128, n};
  ir::Buffer buffer = new_buffer(in, ir::Scope::Local, type.dtype, shape, a.call);
  set_layout(buffer, WW_TRY(placed(layout::wg_local(n), a.call)));
  return declare_buffer(in, std::move(buffer), ir::StmtKind::Alloc);
}

// T.alloc_tcgen05_ldst_frag(shape, (rows, cols), dtype): registers of a warpgroup, and their view
// as the tile that the instructions of that shape move.
Result<Value> alloc_ldst_frag(Context& in, Args& a) {
  const std::string shape = WW_TRY(as_text(in, a[0], "the shape"));
  const layout::Shape size = WW_TRY(as_int_list(in, a[1], "(rows, cols)"));
  const ir::Type type = WW_TRY(as_type(in, a[2], "`dtype`"));
  if (size.size() != 2)
    return fail_at(a.span(1), DiagKind::RankMismatch, "{} extents, expected (rows, cols)",
                   size.size());
  const int bits = num::bits_of(type.dtype);
  layout::Layout atom = WW_TRY(placed(layout::tcgen05_atom(shape, size[0], size[1], bits), a.call));
  const Value registers =
      WW_TRY(alloc_local(in, {of_int(size[0] * size[1] / 128)}, type.dtype, a.call));
  ir::Buffer view = new_buffer(in, ir::Scope::Local, type.dtype, size, a.call);
  view.origin = ir::BufferOrigin::View;
  view.base = registers.buffer();
  set_layout(view, std::move(atom));
  return declare_buffer(in, std::move(view), ir::StmtKind::Declare);
}

// T.alloc_cast_frag(src, dtype): a fragment of src's shape and layout with other elements.
Result<Value> alloc_cast_frag(Context& in, Args& a) {
  if (!a[0].is(Kind::Buffer))
    return fail_at(a.span(0), DiagKind::BadType, "`T.alloc_cast_frag` of {}, expected a buffer",
                   type_name(a[0]));
  const ir::Buffer& src = in.fn()[a[0].buffer()];
  ir::Buffer buffer;
  buffer.shape = src.shape;
  buffer.layout = src.layout;
  buffer.layout_kind = src.layout_kind;
  buffer.scope = src.scope;
  buffer.span = a.call;
  buffer.dtype = WW_TRY(as_type(in, a[1], "`dtype`")).dtype;
  return declare_buffer(in, std::move(buffer), ir::StmtKind::Alloc);
}

constexpr BuiltinRow kRows[] = {
    {"T.match_buffer", kMatch, match_buffer, true},
    {"T.alloc_buffer", kDeclare, alloc<ir::Scope::Global>, true},
    {"T.alloc_shared", kDeclare, alloc<ir::Scope::Shared>, true},
    {"T.alloc_local", kDeclare, alloc<ir::Scope::Local>, true},
    {"T.decl_buffer", kDeclare, decl_buffer, true},
    {"T.match_tensor", kMatch, match_buffer, true},
    {"T.alloc_tensor", kDeclare, alloc<ir::Scope::Global>, true},
    {"T.decl_tensor", kDeclare, decl_buffer, true},
    {"T.cuda.decl_tmem", "address, ty_args", decl_tmem, true},
    {"T.local_scalar", "dtype", local_scalar, true},
    {"T.shared_scalar", "dtype", shared_scalar, true},
    {"T.alloc_scalar", "dtype, scope", alloc_scalar, true},
    {"T.decl_scalar", "dtype, data, scope, elem_offset?, byte_offset?", decl_scalar, true},
    {"T.wg_reg_tile", "cols, dtype?", wg_reg_tile, true},
    {"T.alloc_tcgen05_ldst_frag", "shape, size, dtype", alloc_ldst_frag, true},
    {"T.alloc_cast_frag", "src, dtype", alloc_cast_frag, true},
};

}  // namespace

constinit const std::span<const BuiltinRow> rows = kRows;

}  // namespace ww::script::buffers_api

namespace ww::script {

Args as_fields(const Args& a, std::span<const BufferField> places) {
  Args out = a;
  out.values.assign(FieldCount, std::nullopt);
  for (std::size_t i = 0; i < places.size(); ++i) out.values[places[i]] = a.values[i];
  return out;
}

Result<ir::Buffer> read_buffer_fields(Context& in, const Args& a, std::size_t at, ir::Scope scope) {
  ir::Buffer out;
  out.span = a.call;
  out.scope = scope;
  out.shape = WW_TRY(buffers_api::shape_of(in, a[at + Shape]));
  if (a.given(at + Dtype)) {
    const ir::Type type = WW_TRY(as_type(in, a[at + Dtype], "`dtype`"));
    if (!type.is_scalar())
      return fail_at(a.span(at + Dtype), DiagKind::BadBuffer,
                     "elements of type `{}`, expected a scalar type", ir::to_text(type));
    out.dtype = type.dtype;
  }
  if (a.has(at + ScopeName)) {
    const std::string name = WW_TRY(as_text(in, a[at + ScopeName], "`scope`"));
    const std::optional<ir::Scope> found = ir::find_scope(name);
    if (!found)
      return fail_at(a.span(at + ScopeName), DiagKind::BadBuffer,
                     "scope \"{}\", expected global, shared, shared.dyn, local or tmem", name);
    out.scope = *found;
  }
  if (a.given(at + Align)) {
    out.align = WW_TRY(as_integer(in, a[at + Align], "`align`"));
    if (out.align == -1) out.align = 0;
    if (out.align < 0 || (out.align & (out.align - 1)) != 0)
      return fail_at(a.span(at + Align), DiagKind::BadBuffer,
                     "an alignment of {}, expected a power of two", out.align);
  }
  if (a.given(at + Strides)) WW_TRY_VOID(buffers_api::apply_strides(in, out, a[at + Strides]));
  if (a.has(at + LayoutArg)) WW_TRY_VOID(buffers_api::apply_layout_arg(in, out, a[at + LayoutArg]));
  const auto offset = [&](std::size_t field, ir::ExprId& to) -> Result<void> {
    if (!a.given(field)) return {};
    const ir::ExprId e = WW_TRY(index_expr(in, a[field]));
    if (ir::const_int(in.fn(), e) != 0) to = e;
    return {};
  };
  WW_TRY_VOID(offset(at + ElemOffset, out.elem_offset));
  WW_TRY_VOID(offset(at + ByteOffset, out.byte_offset));
  if (out.elem_offset.valid() && out.byte_offset.valid())
    return fail_at(a.call, DiagKind::BadArgument, "`elem_offset` and `byte_offset` together");
  return out;
}

ir::Buffer new_buffer(Context& in, ir::Scope scope, num::DType dtype,
                      std::span<const std::int64_t> shape, Span span) {
  ir::Buffer out;
  out.dtype = dtype;
  out.scope = scope;
  out.span = span;
  for (const std::int64_t extent : shape)
    out.shape.push_back(ir::int_imm(in.fn(), num::DType::Int32, extent, span));
  return out;
}

void set_layout(ir::Buffer& buffer, layout::Layout layout) {
  buffer.layout = std::move(layout);
  buffer.layout_kind = ir::LayoutKind::Explicit;
}

Value declare_buffer(Context& in, ir::Buffer buffer, ir::StmtKind kind) {
  ir::Stmt stmt = stmt_node(kind, buffer.span);
  stmt.buffer = in.fn().add(std::move(buffer));
  const ir::BufferId id = stmt.buffer;
  emit(in, std::move(stmt));
  return of_buffer(id);
}

Diag auto_view(const ir::Function& f, ir::BufferId id, std::string_view what, Span span) {
  return diag_at(span, DiagKind::BadBuffer,
                 "{} of `{}`, whose layout is inferred after the kernel is read", what, f[id].name)
      .with_note(
          "write its layout in the place of \"auto\"; `warpwright explain` prints what is "
          "inferred",
          f[id].span);
}

Result<void> apply_data(Context& in, ir::Buffer& buffer, const Given& data) {
  ir::Function& f = in.fn();
  const auto view_storage = [&](ir::BufferId of) -> Result<void> {
    buffer.origin = ir::BufferOrigin::View;
    buffer.base = ir::storage_of(f, of);
    if (f[buffer.base].scope == ir::Scope::Local && infer::is_auto(f[buffer.base]))
      return fail(auto_view(f, buffer.base, "`data`", data.span));
    return {};
  };
  if (data.is(Kind::Buffer)) return view_storage(data.buffer());
  const ir::ExprId pointer = WW_TRY(expression(in, data));
  if (!f[pointer].type.is_pointer())
    return fail_at(data.span, DiagKind::BadType, "`data` is `{}`, expected a pointer",
                   ir::to_text(f[pointer].type));
  if (f[pointer].op == ir::ExprOp::BufferData) return view_storage(f[pointer].buffer);
  buffer.origin = ir::BufferOrigin::Pointer;
  buffer.pointer = pointer;
  return {};
}

Result<Value> alloc_local(Context& in, const std::vector<Value>& shape, num::DType dtype,
                          Span span) {
  ir::Buffer buffer;
  buffer.dtype = dtype;
  buffer.scope = ir::Scope::Local;
  buffer.span = span;
  buffer.shape = WW_TRY(buffers_api::shape_of(in, {in.heap.tuple(shape), span}));
  return declare_buffer(in, std::move(buffer), ir::StmtKind::Alloc);
}

Result<ir::ExprId> alloc_register(Context& in, num::DType dtype, Span span) {
  const Value place = WW_TRY(alloc_local(in, {of_int(1)}, dtype, span));
  const ir::ExprId zero = ir::int_imm(in.fn(), num::DType::Int32, 0, span);
  return ir::load(in.fn(), place.buffer(), std::span(&zero, 1), 1, span);
}

Result<Value> declare_view(Context& in, ir::Buffer view) {
  return declare_buffer(in, std::move(view), ir::StmtKind::Declare);
}

Result<Value> buffer_param(Context& in, const AnnotationObject& annotation, ir::VarId var,
                           Span span) {
  Args a;
  a.call = span;
  for (const Value& value : annotation.args)
    a.values.push_back(value.is(Kind::Ellipsis) ? std::nullopt : std::optional(Given{value, span}));
  ir::Buffer buffer = WW_TRY(read_buffer_fields(in, a, 0, ir::Scope::Global));
  buffer.origin = ir::BufferOrigin::Param;
  buffer.param = var;
  buffer.is_annotation = true;
  return of_buffer(in.fn().add(std::move(buffer)));
}

}  // namespace ww::script
