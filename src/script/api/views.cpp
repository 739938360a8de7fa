// SPDX-License-Identifier: Apache-2.0
// What a buffer offers: views of its storage (view, local, permute, sub), pointers to its elements,
// vector accesses, and its facts. Views are compile-time only; each becomes a declaration.
#include <fmt/format.h>

#include <numeric>

#include "base/fail_at.h"
#include "infer/infer.h"
#include "layout/canonical.h"
#include "layout/group.h"
#include "layout/slice.h"
#include "layout/views.h"
#include "script/api/builtins.h"
#include "script/interp/evaluator.h"

namespace ww::script::views_api {
namespace {

using num::DType;

// A view of the same elements, to be changed.
ir::Buffer view_of(const ir::Function& f, ir::BufferId id, Span span) {
  ir::Buffer out = f[id];
  out.base = ir::storage_of(f, id);
  if (f[id].origin != ir::BufferOrigin::Pointer) out.origin = ir::BufferOrigin::View;
  out.param = {};  // that of the base
  // Tensor memory is addressed, not allocated: a view repeats the address.
  if (out.scope == ir::Scope::Tmem) {
    out.origin = ir::BufferOrigin::Alloc;
    out.base = {};
  }
  out.name.clear();
  out.is_scalar = false;
  out.is_annotation = false;
  out.span = span;
  return out;
}

Result<layout::Layout> known_layout(Context& in, ir::BufferId id, std::string_view what,
                                    Span span) {
  if (infer::is_auto(in.fn()[id]))
    return fail(auto_view(in.fn(), id, fmt::format("`{}`", what), span));
  std::optional<layout::Layout> layout = ir::layout_of(in.fn(), in.fn()[id]);
  if (!layout)
    return fail_at(span, DiagKind::NeedsConstant,
                   "`{}` of `{}`, whose extents are known at launch only", what, in.fn()[id].name);
  return *std::move(layout);
}

// Contiguous storage needs no layout of its own.
void set_view_layout(ir::Buffer& buffer, layout::Layout layout) {
  if (!layout::is_trivial(layout)) return set_layout(buffer, std::move(layout));
  buffer.layout.reset();
  buffer.layout_kind = ir::LayoutKind::RowMajor;
}

void set_shape(Context& in, ir::Buffer& buffer, std::span<const std::int64_t> shape, Span span) {
  buffer.shape.clear();
  for (const std::int64_t extent : shape)
    buffer.shape.push_back(ir::int_imm(in.fn(), DType::Int32, extent, span));
}

// `f(4, 8)`, or `f((4, 8))`.
Result<layout::Shape> integers(Context& in, const Args& a, std::string_view all,
                               std::string_view one) {
  if (a.rest.size() == 1 && !a.rest[0].is(Kind::Int) && !a.rest[0].is(Kind::Ir))
    return as_int_list(in, a.rest[0], all);
  layout::Shape out;
  for (std::size_t i = 0; i < a.rest.size(); ++i)
    out.push_back(WW_TRY(as_integer(in, a.rest[i], one)));
  return out;
}

// Shape arguments, `view(4, 8)` or `view((4, 8))`, one of them -1.
Result<layout::Shape> shape_args(Context& in, const Args& a, std::int64_t total) {
  layout::Shape shape = WW_TRY(integers(in, a, "the shape", "an extent"));
  std::int64_t known = 1;
  int holes = 0;
  for (const std::int64_t extent : shape) {
    if (extent == -1)
      ++holes;
    else if (extent < 1)
      return fail_at(a.call, DiagKind::BadExtent, "an extent of {}, expected 1 or more", extent);
    else
      known *= extent;
  }
  if (holes > 1)
    return fail_at(a.call, DiagKind::BadExtent, "{} extents of -1, expected one at most", holes);
  if (holes == 1) {
    if (total % known != 0)
      return fail_at(a.call, DiagKind::Indivisible,
                     "{} elements, no multiple of the {} that the other extents take", total,
                     known);
    for (std::int64_t& extent : shape)
      if (extent == -1) extent = total / known;
  }
  return shape;
}

std::int64_t product(const layout::Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

// --- view ----------------------------------------------------------------------------------------

// Elements of another width over the same bytes: the last dimension scales.
Result<Value> retyped(Context& in, ir::BufferId id, ir::Type type, Span span) {
  ir::Buffer view = view_of(in.fn(), id, span);
  const int from = num::storage_bits(view.dtype);
  const int to = num::storage_bits(type.dtype);
  view.dtype = type.dtype;
  if (from == to) return declare_view(in, std::move(view));
  layout::Layout layout = WW_TRY(known_layout(in, id, "view", span));
  layout::Shape shape = *ir::const_shape(in.fn(), in.fn()[id]);
  if (shape.empty()) shape.push_back(1);
  const bool widens = to > from;
  const std::int64_t ratio = widens ? to / from : from / to;
  if (widens && shape.back() % ratio != 0)
    return fail_at(
        span, DiagKind::Indivisible,
        "a view of `{}` as `{}`: {} elements in the last dimension are not a multiple of {}",
        in.fn()[id].name, ir::to_text(type), shape.back(), ratio);
  layout = WW_TRY(widens ? layout::pack(layout, ratio) : layout::unpack(layout, ratio));
  shape.back() = widens ? shape.back() / ratio : shape.back() * ratio;
  set_shape(in, view, shape, span);
  set_view_layout(view, std::move(layout));
  if (view.elem_offset.valid()) {
    const ir::ExprId by = ir::int_imm(in.fn(), DType::Int32, ratio, span);
    view.elem_offset = WW_TRY(ir::binary(in.fn(), widens ? ir::ExprOp::FloorDiv : ir::ExprOp::Mul,
                                         {view.elem_offset, false}, {by, true}, span));
  }
  return declare_view(in, std::move(view));
}

Result<Value> view(Context& in, Args& a) {
  const ir::BufferId id = a.self.buffer();
  if (infer::is_auto(in.fn()[id])) return fail(auto_view(in.fn(), id, "`view`", a.call));
  const bool is_type = a.rest.size() == 1 && (a.rest[0].is(Kind::Str) || a.rest[0].is(Kind::DType));
  if (is_type) return retyped(in, id, WW_TRY(as_type(in, a.rest[0], "the type")), a.call);
  const CallArgs::Named* given = WW_TRY(only_keyword(a, "view", "layout"));
  ir::Buffer out = view_of(in.fn(), id, a.call);
  const auto old_shape = ir::const_shape(in.fn(), in.fn()[id]);
  const std::int64_t total = old_shape ? product(*old_shape) : 0;
  std::optional<layout::Layout> layout;
  if (given != nullptr && !given->is(Kind::None))
    layout = WW_TRY(as_layout(in, {*given, a.call}, "`layout`"));
  const layout::Shape shape = WW_TRY(shape_args(in, a, layout ? layout->size() : total));
  set_shape(in, out, shape, a.call);
  if (layout) {
    if (layout->tile().has_unknown_extent() || layout->size() != product(shape))
      return fail_at(a.call, DiagKind::NotAdmitted, "a layout of {} elements for a view of {}",
                     layout->size(), product(shape));
    set_layout(out, *std::move(layout));
  } else if (!old_shape || total != product(shape)) {
    return fail(diag_at(a.call, DiagKind::NotAdmitted,
                        "a view of {} elements over `{}`, which has {}", product(shape),
                        in.fn()[id].name, old_shape ? std::to_string(total) : "extents of run time")
                    .with_note("declared here", in.fn()[id].span));
  }
  return declare_view(in, std::move(out));
}

// --- local ---------------------------------------------------------------------------------------

// Of a tile whose layout is inferred later: so is whether a thread holds that many.
Result<Value> late_local(Context& in, Args& a, ir::BufferId id) {
  const bool is_tile = in.fn()[id].origin == ir::BufferOrigin::Alloc;
  if (a.rest.empty() || !a.extra.empty() || !is_tile)
    return fail(auto_view(in.fn(), id, is_tile ? "`local` without its extents" : "`local`", a.call)
                    .with_note("`local(n)` can be had: n registers of a thread"));
  const layout::Shape shape = WW_TRY(shape_args(in, a, 0));
  if (product(shape) == 0)
    return fail(auto_view(in.fn(), id, "`local` with an extent of -1", a.call));
  ir::Buffer out = view_of(in.fn(), id, a.call);
  set_shape(in, out, shape, a.call);
  return declare_view(in, std::move(out));
}

// This thread's registers. The two spellings of the language count them differently: by the
// layout's iters in their order (D1), or by place (D2).
Result<Value> local(Context& in, Args& a) {
  const ir::BufferId id = a.self.buffer();
  const ir::Buffer& source = in.fn()[id];
  if (source.scope != ir::Scope::Local)
    return fail(diag_at(a.call, DiagKind::BadBuffer, "`local` of `{}`, which is in \"{}\"",
                        source.name, ir::name_of(source.scope))
                    .with_note("declared here", source.span));
  if (infer::is_auto(source)) return late_local(in, a, id);
  const layout::Layout whole = WW_TRY(known_layout(in, id, "local", a.call));
  layout::Layout mine = WW_TRY(layout::storage(whole));
  ir::Buffer out = view_of(in.fn(), id, a.call);
  std::int64_t total = mine.size();
  bool by_place = in.dialect == Dialect::D2;
  if (const CallArgs::Named* given = WW_TRY(only_keyword(a, "local", "layout"))) {
    mine = WW_TRY(as_layout(in, *given, "`layout`"));
    total = mine.size();
    by_place = false;
  }
  if (by_place) {
    total = WW_TRY(layout::memory_span(mine));
    const std::int64_t span[] = {total};
    mine = layout::Layout(WW_TRY(layout::TileLayout::row_major(span)));
  }
  layout::Shape shape = WW_TRY(shape_args(in, a, total));
  if (a.rest.empty()) shape.push_back(total);
  if (product(shape) != total)
    return fail(diag_at(a.call, DiagKind::NotAdmitted,
                        "`local` of {} elements over `{}`, of which a thread holds {}",
                        product(shape), source.name, total)
                    .with_note("declared here", source.span));
  set_shape(in, out, shape, a.call);
  set_view_layout(out, std::move(mine));
  return declare_view(in, std::move(out));
}

// --- permute, sub --------------------------------------------------------------------------------

Result<Value> permute(Context& in, Args& a) {
  const ir::BufferId id = a.self.buffer();
  const layout::Shape order = WW_TRY(integers(in, a, "the order", "a dimension"));
  ir::Buffer out = view_of(in.fn(), id, a.call);
  const auto shape = ir::const_shape(in.fn(), in.fn()[id]);
  const layout::Layout layout = WW_TRY(known_layout(in, id, "permute", a.call));
  set_view_layout(out, WW_TRY(layout::permute_dims(layout, *shape, order)));
  out.shape.clear();
  for (const std::int64_t d : order)
    out.shape.push_back(in.fn()[id].shape[static_cast<std::size_t>(d)]);
  return declare_view(in, std::move(out));
}

// --- pointers and vectors ------------------------------------------------------------------------

Result<std::vector<ir::ExprId>> indices_of(Context& in, const Given& value) {
  std::vector<ir::ExprId> out;
  for (const Value& item : WW_TRY(as_sequence(in, value, "the indices")))
    out.push_back(WW_TRY(index_expr(in, {item, value.span})));
  return out;
}

Result<Value> ptr_to(Context& in, Args& a) {
  const std::vector<ir::ExprId> indices = WW_TRY(indices_of(in, a[0]));
  return of_expr(ir::address_of(in.fn(), a.self.buffer(), indices, a.call));
}

// `B.access_ptr("rw", offset=n)`: the pointer to place n of the storage, whatever the layout says.
Result<Value> access_ptr(Context& in, Args& a) {
  const ir::BufferId id = a.self.buffer();
  const std::optional<layout::Layout> layout = ir::layout_of(in.fn(), in.fn()[id]);
  if (layout && !layout->tile().offset().empty())
    return fail_at(
        a.call, DiagKind::BadBuffer,
        "`access_ptr` of `{}`, whose layout has an offset; `ptr_to` is the address of an "
        "element",
        in.fn()[id].name);
  const std::vector<ir::ExprId> origin(in.fn()[id].shape.size(),
                                       ir::int_imm(in.fn(), DType::Int32, 0, a.call));
  const ir::ExprId first = WW_TRY(ir::address_of(in.fn(), id, origin, a.call));
  if (!a.has(3) || (a[3].is(Kind::Int) && a[3].integer == 0)) return of_expr(first);
  const ir::ExprId args[] = {first, WW_TRY(index_expr(in, a[3]))};
  return of_expr(ir::call(in.fn(), ir::Intrinsic::PointerOffset, args, a.call));
}

Result<Value> vload(Context& in, Args& a) {
  const std::vector<ir::ExprId> indices = WW_TRY(indices_of(in, a[0]));
  int lanes = 1;
  if (a.has(1)) {
    const ir::Type type = WW_TRY(as_type(in, a[1], "`dtype`"));
    if (type.dtype != in.fn()[a.self.buffer()].dtype)
      return fail(diag_at(a.span(1), DiagKind::BadType, "`vload` as `{}` from `{}` of `{}`",
                          ir::to_text(type), in.fn()[a.self.buffer()].name,
                          num::name_of(in.fn()[a.self.buffer()].dtype))
                      .with_note("use `.view(dtype)` to read other elements"));
    lanes = type.lanes;
  }
  return of_expr(ir::load(in.fn(), a.self.buffer(), indices, lanes, a.call));
}

Result<Value> vstore(Context& in, Args& a) {
  const ir::BufferId id = a.self.buffer();
  const std::vector<ir::ExprId> indices = WW_TRY(indices_of(in, a[0]));
  const ir::ExprId given = WW_TRY(expression(in, a[1]));
  const std::uint16_t lanes = in.fn()[given].type.lanes;
  const ir::ExprId place = WW_TRY(ir::load(in.fn(), id, indices, lanes, a.call));
  const ir::Buffer& buffer = in.fn()[id];
  const Assigned to{.name = buffer.name, .is_name = false, .declared = buffer.span};
  const ir::ExprId value = WW_TRY(assigned_value(in, a[1], in.fn()[place].type, to));
  emit_store(in, place, value, a.call);
  return none();
}

Result<Value> scope_name(Context& in, Args& a) {
  return in.heap.str(std::string(ir::name_of(in.fn()[a.self.buffer()].scope)));
}

constexpr std::string_view kAccess = "access_mask, ptr_type?, content_lanes?, offset?, extent?";

constexpr BuiltinRow kRows[] = {
    {"buffer.view", "*shape, **layout", view, true},
    {"buffer.local", "*shape, **layout", local, true},
    {"buffer.permute", "*dims", permute, true},
    {"buffer.ptr_to", "indices", ptr_to, true},
    {"buffer.access_ptr", kAccess, access_ptr, true},
    {"buffer.vload", "indices, dtype?", vload, true},
    {"buffer.vstore", "indices, value", vstore, true},
    {"buffer.scope", "", scope_name, true},
};

// The stride of a dimension that is one run of addresses, for offsets of run time.
std::optional<std::int64_t> run_stride(const layout::Grouped& grouped, std::size_t dim) {
  layout::Iters iters;
  for (const layout::Iter& iter : grouped.dim(dim)) iters.push_back(iter);
  layout::merge_iters(iters);
  if (iters.empty()) return 0;
  if (iters.size() != 1 || !(iters[0].axis == layout::Axis())) return std::nullopt;
  return iters[0].stride;
}

}  // namespace

constinit const std::span<const BuiltinRow> rows = kRows;

}  // namespace ww::script::views_api

namespace ww::script {

std::optional<Result<Value>> buffer_attribute(Context& in, const Value& value,
                                              std::string_view name, Span span) {
  ir::Function& f = in.fn();
  const ir::Buffer& buffer = f[value.buffer()];
  const auto offset = [&](ir::ExprId e) { return e.valid() ? of_expr(e) : of_int(0); };
  if (name == "shape") {
    std::vector<Value> items;
    for (const ir::ExprId extent : buffer.shape) {
      const auto constant = ir::const_int(f, extent);
      items.push_back(constant ? of_int(*constant) : of_expr(extent));
    }
    return in.heap.tuple(std::move(items));
  }
  if (name == "dtype")
    return Value{.kind = Kind::DType, .id = static_cast<std::uint32_t>(buffer.dtype)};
  if (name == "name") return in.heap.str(buffer.name);
  if (name == "data") return of_expr(ir::buffer_data(f, value.buffer(), span));
  if (name == "elem_offset") return offset(buffer.elem_offset);
  if (name == "byte_offset") return offset(buffer.byte_offset);
  if (name == "align") return of_int(buffer.align);
  if (name == "layout") {
    if (infer::is_auto(buffer)) return fail(auto_view(f, value.buffer(), "`layout`", span));
    const std::optional<layout::Layout> layout = ir::layout_of(f, buffer);
    return layout ? layout_value(in, *layout) : none();
  }
  if (name == "allocated_addr") {
    if (!buffer.allocated_addr.valid()) return none();
    return in.heap.list({of_expr(buffer.allocated_addr)});
  }
  if (name == "sub")
    return in.heap.wrap(Kind::Accessor, MethodObject{{}, value, "sub", nullptr, none()});
  return std::nullopt;
}

// --- sub -----------------------------------------------------------------------------------------

// A dimension of n elements by steps of s is n/s rows of s, and one element of each.
Result<ir::BufferId> every_nth(Context& in, ir::BufferId id, const std::vector<Every>& dims,
                               Span span) {
  const layout::Layout layout = WW_TRY(views_api::known_layout(in, id, "a step", span));
  const layout::Shape shape = *ir::const_shape(in.fn(), in.fn()[id]);
  layout::Shape split, kept;
  std::vector<layout::Slice1> region;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    kept.push_back(shape[d] / dims[d].step);
    split.push_back(kept.back());
    region.push_back({layout::Expr(0), kept.back()});
    if (dims[d].step == 1) continue;
    split.push_back(dims[d].step);
    region.push_back({layout::Expr(dims[d].first), 1});
  }
  Result<layout::Layout> part = layout::slice(layout, split, region, layout::Machine::Cuda);
  if (!part) return fail(std::move(part).error().with_span(span));
  layout::Iters iters;
  for (const layout::Iter& iter : part->tile().shard())
    if (iter.extent != 1) iters.push_back(iter);
  ir::Buffer out = views_api::view_of(in.fn(), id, span);
  out.name = fmt::format("{}_by_step", in.fn()[id].name);
  views_api::set_shape(in, out, kept, span);
  views_api::set_view_layout(out,
                             iters.empty() ? *part : WW_TRY(part->with_shard(std::move(iters))));
  return WW_TRY(declare_view(in, std::move(out))).buffer();
}

Result<Value> sub_view(Context& in, ir::BufferId id, const Value& index, Span span) {
  std::vector<bool> dropped;
  if (index.is(Kind::Tuple)) {
    for (const Value& item : index.as<SeqObject>().items) dropped.push_back(!item.is(Kind::Slice));
  } else {
    dropped.push_back(!index.is(Kind::Slice));
  }
  const std::size_t rank = in.fn()[id].shape.size();
  dropped.resize(rank, false);
  BufferIndex at = WW_TRY(buffer_index(in, id, index, span));
  if (!at.is_element) id = at.buffer;
  if (at.is_element)
    for (const ir::ExprId i : at.indices)
      at.ranges.push_back({i, ir::int_imm(in.fn(), num::DType::Int32, 1, span)});
  const layout::Layout layout = WW_TRY(views_api::known_layout(in, id, "sub", span));
  const layout::Shape shape = *ir::const_shape(in.fn(), in.fn()[id]);
  const layout::Grouped grouped = WW_TRY(layout::group(layout, shape));
  ir::Buffer out = views_api::view_of(in.fn(), id, span);
  std::vector<layout::Slice1> region;
  layout::Shape kept;
  Value moved = out.elem_offset.valid() ? of_expr(out.elem_offset) : of_int(0);
  for (std::size_t d = 0; d < rank; ++d) {
    const std::int64_t extent =
        WW_TRY(as_integer(in, {of_expr(at.ranges[d].extent), span}, "the extent of a view"));
    const auto begin = ir::const_int(in.fn(), at.ranges[d].min);
    region.push_back({layout::Expr(begin.value_or(0)), extent});
    if (!dropped[d]) kept.push_back(extent);
    if (begin) continue;
    const std::optional<std::int64_t> stride = views_api::run_stride(grouped, d);
    if (!stride || layout.is_swizzled())
      return fail_at(span, DiagKind::NeedsConstant,
                     "a view of `{}` from an index of run time in dimension {}, which is not a "
                     "plain run of addresses",
                     in.fn()[id].name, d);
    Value step = of_expr(at.ranges[d].min);
    if (*stride != 1) step = WW_TRY(binary(in, Op::Mul, step, of_int(*stride), span));
    moved = moved.is(Kind::Int) ? step : WW_TRY(binary(in, Op::Add, moved, step, span));
  }
  Result<layout::Layout> part = layout::slice(layout, shape, region, layout::Machine::Cuda);
  if (!part) return fail(std::move(part).error().with_span(span));
  views_api::set_shape(in, out, kept, span);
  views_api::set_view_layout(out, *std::move(part));
  if (moved.is(Kind::Ir)) out.elem_offset = moved.expr();
  return declare_view(in, std::move(out));
}

}  // namespace ww::script
