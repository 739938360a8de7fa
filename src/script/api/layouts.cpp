// SPDX-License-Identifier: Apache-2.0
// Layouts: the constructors of the layout module, and the methods of layout values.
#include <fmt/format.h>

#include <algorithm>

#include "base/join.h"
#include "layout/canonical.h"
#include "layout/direct_sum.h"
#include "layout/group.h"
#include "layout/ready_made.h"
#include "layout/slice.h"
#include "layout/tile.h"
#include "layout/views.h"
#include "script/api/builtins.h"
#include "script/interp/conversions.h"
#include "script/interp/layouts.h"
#include "script/syntax/errors.h"

namespace ww::script::layouts_api {
namespace {

using layout::Layout;

const Layout& self(const Args& a) { return a.self.as<LayoutObject>().layout; }

// --- constructors --------------------------------------------------------------------------------

Result<Value> tile_layout(Context& in, Args& a) {
  return layout_result(in, as_layout(in, a[0], "the specification", a.spans[0]), a.call);
}

Result<layout::Swizzle> swizzle_of(Context& in, const Args& a, std::size_t first,
                                   std::optional<std::size_t> inner_at = {}) {
  bool inner = true;
  if (inner_at && a.has(*inner_at))
    inner = WW_TRY(as_bool(in, a[*inner_at], "`swizzle_inner`", a.spans[*inner_at]));
  for (const CallArgs::Named& named : a.extra) {
    if (named.name == "swizzle_inner")
      inner = WW_TRY(as_bool(in, named.value, "`swizzle_inner`", named.span));
  }
  return layout::Swizzle::make(
      static_cast<int>(WW_TRY(as_integer(in, a[first], "per_element", a.spans[first]))),
      static_cast<int>(WW_TRY(as_integer(in, a[first + 1], "swizzle_len", a.spans[first + 1]))),
      static_cast<int>(WW_TRY(as_integer(in, a[first + 2], "atom_len", a.spans[first + 2]))),
      inner);
}

Result<Value> swizzle_layout(Context& in, Args& a) {
  return in.heap.wrap(Kind::Swizzle, SwizzleObject{{}, WW_TRY(swizzle_of(in, a, 0))});
}

// ComposeLayout(SwizzleLayout(…), TileLayout(…)), or ComposeLayout(p, sw, at, TileLayout(…), inner).
Result<Value> compose_layout(Context& in, Args& a) {
  if (a[0].is(Kind::Opaque)) return a[0];
  const bool has_object = a[0].is(Kind::Swizzle);
  const std::size_t at = has_object ? 1 : 3;
  if (!a.has(at))
    return fail_at(a.call, DiagKind::BadArgument, "`ComposeLayout` without its tile layout");
  const layout::Swizzle swizzle =
      has_object ? a[0].as<SwizzleObject>().swizzle : WW_TRY(swizzle_of(in, a, 0, 4));
  const Layout inner = WW_TRY(as_layout(in, a[at], "the tile layout", a.spans[at]));
  return layout_result(in, Layout::make(inner.tile(), swizzle), a.call);
}

Result<Value> axis_get(Context& in, Args& a) {
  const std::string name = WW_TRY(as_text(in, a[0], "the name", a.spans[0]));
  Result<layout::Axis> axis = layout::Axis::builtin(name);
  if (!axis) axis = layout::Axis::declare(name, layout::AxisKind::Unknown);
  if (!axis) return std::move(axis).failure();
  return in.heap.wrap(Kind::Axis, AxisObject{{}, *axis});
}

// Iter(extent, stride, axis)
Result<Value> make_iter(Context& in, Args& a) {
  const std::int64_t extent = WW_TRY(as_integer(in, a[0], "the extent", a.spans[0]));
  const std::int64_t stride = WW_TRY(as_integer(in, a[1], "the stride", a.spans[1]));
  layout::Axis axis;
  if (a[2].is(Kind::Axis))
    axis = a[2].as<AxisObject>().axis;
  else
    axis = WW_TRY(layout::Axis::builtin(WW_TRY(as_text(in, a[2], "the axis", a.spans[2]))));
  return in.heap.wrap(Kind::Iter, IterObject{{}, {extent, stride, axis}});
}

Result<layout::Iters> iters_of(Context& in, const Args& a, std::size_t i, std::string_view what) {
  layout::Iters out;
  if (!a.given(i)) return out;
  for (const Value& item : WW_TRY(as_sequence(in, a[i], what, a.spans[i]))) {
    if (!item.is(Kind::Iter))
      return fail_at(a.spans[i], DiagKind::BadType,
                     "{} holds {}, expected `Iter(extent, stride, axis)`", what, type_name(item));
    out.push_back(item.as<IterObject>().iter);
  }
  return out;
}

// TileLayout.from_iters(shard, replica, offset), the offset a dict of axes.
Result<Value> from_iters(Context& in, Args& a) {
  layout::Offsets offset;
  if (a.given(2)) {
    if (!a[2].is(Kind::Dict))
      return fail_at(a.spans[2], DiagKind::BadType, "the offset is {}, expected a dict by axis",
                     type_name(a[2]));
    for (const auto& [axis, amount] : a[2].as<DictObject>().items) {
      if (!axis.is(Kind::Axis))
        return fail_at(a.spans[2], DiagKind::BadType,
                       "the offset has {} as a key, expected an axis", type_name(axis));
      offset.add(axis.as<AxisObject>().axis,
                 WW_TRY(as_integer(in, amount, "an offset", a.spans[2])));
    }
  }
  Result<layout::TileLayout> tile =
      layout::TileLayout::make(WW_TRY(iters_of(in, a, 0, "the shard")),
                               WW_TRY(iters_of(in, a, 1, "the replica")), std::move(offset));
  if (!tile) return fail(std::move(tile).error().with_span(a.call));
  return layout_value(in, *std::move(tile));
}

// --- methods -------------------------------------------------------------------------------------

Result<Value> tile_to(Context& in, Args& a) {
  const layout::Shape to = WW_TRY(as_int_list(in, a[0], "the shape to tile to", a.spans[0]));
  const layout::Shape from = WW_TRY(as_int_list(in, a[1], "the current shape", a.spans[1]));
  return layout_result(in, layout::tile_to(self(a), to, from), a.call);
}

Result<Value> tile(Context& in, Args& a) {
  const Layout outer = WW_TRY(as_layout(in, a[0], "the outer layout", a.spans[0]));
  const layout::Shape outer_shape = WW_TRY(as_int_list(in, a[1], "the outer shape", a.spans[1]));
  const layout::Shape inner_shape = WW_TRY(as_int_list(in, a[2], "the inner shape", a.spans[2]));
  return layout_result(in, layout::tile(self(a), inner_shape, outer, outer_shape), a.call);
}

Result<Value> direct_sum(Context& in, Args& a) {
  const Layout other = WW_TRY(as_layout(in, a[0], "the other layout", a.spans[0]));
  const layout::Shape left = WW_TRY(as_int_list(in, a[1], "the left shape", a.spans[1]));
  const layout::Shape right = WW_TRY(as_int_list(in, a[2], "the right shape", a.spans[2]));
  // `L.direct_sum(left, left_shape, right_shape)`: the other operand comes first.
  return layout_result(in, layout::direct_sum(other, left, self(a), right), a.call);
}

Result<Value> apply(Context& in, Args& a) {
  std::optional<std::vector<Value>> shape;
  if (const CallArgs::Named* given = WW_TRY(only_keyword(a, "apply", "shape")))
    shape = WW_TRY(as_sequence(in, given->value, "`shape`", given->span));
  std::vector<Value> coordinate = a.rest;
  if (coordinate.size() == 1 && (coordinate[0].is(Kind::List) || coordinate[0].is(Kind::Tuple)))
    coordinate = std::vector<Value>(coordinate[0].as<SeqObject>().items);
  return apply_layout(in, self(a), coordinate, shape, a.call);
}

Result<Value> size(Context& in, Args& a) {
  if (!a.has(0)) return of_int(self(a).size());
  const std::string axis = WW_TRY(as_text(in, a[0], "the axis", a.spans[0]));
  return of_int(layout::size_on(self(a).tile(), WW_TRY(layout::Axis::builtin(axis))));
}

Result<Value> span_row(Context& in, Args& a) {
  if (!a.has(0)) return of_int(WW_TRY(layout::memory_span(self(a))));
  const std::string axis = WW_TRY(as_text(in, a[0], "the axis", a.spans[0]));
  return of_int(WW_TRY(layout::span_on(self(a), WW_TRY(layout::Axis::builtin(axis)))));
}

Result<Value> storage(Context& in, Args& a) {
  return layout_result(in, layout::storage(self(a)), a.call);
}
Result<Value> canonicalize(Context& in, Args& a) {
  return layout_value(in, layout::canonicalize(self(a)));
}

Result<Value> group(Context& in, Args& a) {
  const layout::Grouped grouped =
      WW_TRY(layout::group(self(a), WW_TRY(as_int_list(in, a[0], "the shape", a.spans[0]))));
  std::vector<Value> seps;
  for (const std::int32_t s : grouped.seps) seps.push_back(of_int(s));
  return in.heap.tuple({layout_value(in, grouped.layout), in.heap.list(std::move(seps))});
}

// Several shapes at once; one list of separators for each.
Result<Value> group_many(Context& in, Args& a) {
  std::vector<layout::Shape> shapes;
  for (const Value& shape : WW_TRY(as_sequence(in, a[0], "the shapes", a.spans[0])))
    shapes.push_back(WW_TRY(as_int_list(in, shape, "a shape", a.spans[0])));
  const layout::GroupedMany grouped = WW_TRY(layout::group_many(self(a), shapes));
  std::vector<Value> all;
  for (const layout::Seps& each : grouped.seps) {
    std::vector<Value> seps;
    for (const std::int32_t s : each) seps.push_back(of_int(s));
    all.push_back(in.heap.list(std::move(seps)));
  }
  return in.heap.tuple({layout_value(in, grouped.layout), in.heap.list(std::move(all))});
}

Result<Value> permute_dims(Context& in, Args& a) {
  const layout::Shape order = WW_TRY(as_int_list(in, a[0], "the order", a.spans[0]));
  if (a.has(1))
    return layout_result(
        in,
        layout::permute_dims(self(a), WW_TRY(as_int_list(in, a[1], "the shape", a.spans[1])),
                             order),
        a.call);
  return layout_result(in, layout::permute_iters(self(a), order), a.call);
}

// The groups that `seps` separates, in another order: what `group` gives comes with its separators.
Result<Value> permute_by_groups(Context& in, Args& a) {
  const layout::Shape seps = WW_TRY(as_int_list(in, a[0], "the separators", a.spans[0]));
  const layout::Shape order = WW_TRY(as_int_list(in, a[1], "the order", a.spans[1]));
  const auto iters = static_cast<std::int64_t>(self(a).tile().shard().size());
  const bool is_whole =
      !seps.empty() && seps.front() == 0 && seps.back() == iters && std::ranges::is_sorted(seps);
  if (!is_whole)
    return fail_at(a.spans[0], DiagKind::BadArgument,
                   "separators ({}) of {} iters, expected 0 to {} in ascending order",
                   join(seps, ", "), iters, iters);
  layout::Shape places;
  for (const std::int64_t group : order) {
    if (group < 0 || group + 1 >= static_cast<std::int64_t>(seps.size()))
      return fail_at(a.spans[1], DiagKind::OutOfBounds, "group {}, expected 0 to {}", group,
                     seps.size() - 2);
    const auto at = static_cast<std::size_t>(group);
    for (std::int64_t i = seps[at]; i < seps[at + 1]; ++i) places.push_back(i);
  }
  return layout_result(in, layout::permute_iters(self(a), places), a.call);
}

Result<Value> slice(Context& in, Args& a) {
  const layout::Shape shape = WW_TRY(as_int_list(in, a[0], "the shape", a.spans[0]));
  std::vector<layout::Slice1> region;
  for (const Value& range : WW_TRY(as_sequence(in, a[1], "the region", a.spans[1]))) {
    const layout::Shape bounds = WW_TRY(as_int_list(in, range, "(begin, end)", a.spans[1]));
    if (bounds.size() != 2)
      return fail_at(a.spans[1], DiagKind::RankMismatch, "{} bounds, expected (begin, end)",
                     bounds.size());
    region.push_back({layout::Expr(bounds[0]), bounds[1] - bounds[0]});
  }
  return layout_result(in, layout::slice(self(a), shape, region, layout::Machine::Cuda), a.call);
}

Result<Value> pack(Context& in, Args& a) {
  return layout_result(
      in, layout::pack(self(a), WW_TRY(as_integer(in, a[0], "the factor", a.spans[0]))), a.call);
}
Result<Value> unpack(Context& in, Args& a) {
  return layout_result(
      in, layout::unpack(self(a), WW_TRY(as_integer(in, a[0], "the factor", a.spans[0]))), a.call);
}
Result<Value> broadcast(Context& in, Args& a) {
  const std::int64_t position =
      a.has(1) ? WW_TRY(as_integer(in, a[1], "the position", a.spans[1])) : -1;
  return layout_result(
      in,
      layout::broadcast(self(a), WW_TRY(as_integer(in, a[0], "the extent", a.spans[0])), position),
      a.call);
}
Result<Value> axis_is_thread(Context&, Args& a) {
  return of_bool(a.self.as<AxisObject>().axis.is_thread());
}
Result<Value> axis_is_memory(Context&, Args& a) {
  return of_bool(!a.self.as<AxisObject>().axis.is_thread());
}
Result<Value> is_trivial(Context&, Args& a) { return of_bool(layout::is_trivial(self(a))); }
Result<Value> is_swizzle(Context&, Args& a) { return of_bool(self(a).is_swizzled()); }

Result<Value> is_trainium(Context&, Args&) { return of_bool(false); }
// Only layouts that are get made.
Result<Value> verify_well_formed(Context&, Args&) { return of_bool(true); }

constexpr BuiltinRow kRows[] = {
    {"layout.TileLayout", "spec", tile_layout},
    {"layout.SwizzleLayout", "per_element, swizzle_len, atom_len, **options", swizzle_layout},
    {"layout.ComposeLayout", "first, second, third?, fourth?, swizzle_inner?, **options",
     compose_layout},
    {"layout.Axis.get", "name", axis_get},
    {"layout.Iter", "extent, stride, axis", make_iter},
    {"layout.TileLayout.from_iters", "shard, replica?, offset?", from_iters},
    {"layout_value.tile_to", "to_shape, current_shape", tile_to},
    {"layout_value.tile", "outer, outer_shape, inner_shape", tile},
    {"layout_value.direct_sum", "other, other_shape, own_shape", direct_sum},
    {"layout_value.apply", "*coordinate, **shape", apply},
    {"layout_value.size", "axis?", size},
    {"layout_value.span", "axis?", span_row},
    {"layout_value.storage", "", storage},
    {"layout_value.canonicalize", "", canonicalize},
    {"layout_value.group", "shape", group},
    {"layout_value.group_many", "shapes", group_many},
    {"layout_value.permute_dims", "order, shape?", permute_dims},
    {"layout_value.permute_by_groups", "seps, order", permute_by_groups},
    {"layout_value.slice", "shape, region", slice},
    {"layout_value.pack", "factor", pack},
    {"layout_value.unpack", "factor", unpack},
    {"layout_value.broadcast", "extent, position?", broadcast},
    {"layout_value.is_trivial", "", is_trivial},
    {"layout_value.is_swizzle", "", is_swizzle},
    {"layout_value.is_trainium", "", is_trainium},
    {"layout_value.verify_well_formed", "", verify_well_formed},
    {"axis.is_thread", "", axis_is_thread},
    {"axis.is_memory", "", axis_is_memory},
};

}  // namespace

constinit const std::span<const BuiltinRow> rows = kRows;

}  // namespace ww::script::layouts_api
