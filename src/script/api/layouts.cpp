// SPDX-License-Identifier: Apache-2.0
// Layouts: constructors and methods, and those that the hardware prescribes, by the names that TVM's
// modules give them: those of tvm.tirx.layout, and of `tma_utils` and `gemm_async` among its tile
// primitives, in all releases that have them (`tma_…` before `mma_…`).
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/fail_at.h"
#include "base/join.h"
#include "layout/canonical.h"
#include "layout/direct_sum.h"
#include "layout/group.h"
#include "layout/ready_made.h"
#include "layout/slice.h"
#include "layout/tile.h"
#include "layout/views.h"
#include "script/api/builtins.h"
#include "script/interp/evaluator.h"

namespace ww::script::layouts_api {
namespace {

using layout::Layout;

const Layout& self(const Args& a) { return a.self.as<LayoutObject>().layout; }

// --- constructors --------------------------------------------------------------------------------

Result<Value> tile_layout(Context& in, Args& a) {
  return layout_result(in, as_layout(in, a[0], "the specification"), a.call);
}

Result<layout::Swizzle> swizzle_of(Context& in, const Args& a, std::size_t first,
                                   std::optional<std::size_t> inner_at = {}) {
  bool inner = true;
  if (inner_at && a.has(*inner_at)) inner = WW_TRY(as_bool(in, a[*inner_at], "`swizzle_inner`"));
  for (const CallArgs::Named& named : a.extra) {
    if (named.name == "swizzle_inner") inner = WW_TRY(as_bool(in, named, "`swizzle_inner`"));
  }
  return layout::Swizzle::make(
      static_cast<int>(WW_TRY(as_integer(in, a[first], "per_element"))),
      static_cast<int>(WW_TRY(as_integer(in, a[first + 1], "swizzle_len"))),
      static_cast<int>(WW_TRY(as_integer(in, a[first + 2], "atom_len"))), inner);
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
  const Layout inner = WW_TRY(as_layout(in, a[at], "the tile layout"));
  return layout_result(in, Layout::make(inner.tile(), swizzle), a.call);
}

Result<Value> axis_get(Context& in, Args& a) {
  const std::string name = WW_TRY(as_text(in, a[0], "the name"));
  Result<layout::Axis> axis = layout::Axis::builtin(name);
  if (!axis) axis = layout::Axis::declare(name, layout::AxisKind::Unknown);
  if (!axis) return std::move(axis).failure();
  return in.heap.wrap(Kind::Axis, AxisObject{{}, *axis});
}

// Iter(extent, stride, axis)
Result<Value> make_iter(Context& in, Args& a) {
  const std::int64_t extent = WW_TRY(as_integer(in, a[0], "the extent"));
  const std::int64_t stride = WW_TRY(as_integer(in, a[1], "the stride"));
  layout::Axis axis;
  if (a[2].is(Kind::Axis))
    axis = a[2].as<AxisObject>().axis;
  else
    axis = WW_TRY(layout::Axis::builtin(WW_TRY(as_text(in, a[2], "the axis"))));
  return in.heap.wrap(Kind::Iter, IterObject{{}, {extent, stride, axis}});
}

Result<layout::Iters> iters_of(Context& in, const Args& a, std::size_t i, std::string_view what) {
  layout::Iters out;
  if (!a.given(i)) return out;
  for (const Value& item : WW_TRY(as_sequence(in, a[i], what))) {
    if (!item.is(Kind::Iter))
      return fail_at(a.span(i), DiagKind::BadType,
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
      return fail_at(a.span(2), DiagKind::BadType, "the offset is {}, expected a dict by axis",
                     type_name(a[2]));
    for (const auto& [axis, amount] : a[2].as<DictObject>().items) {
      if (!axis.is(Kind::Axis))
        return fail_at(a.span(2), DiagKind::BadType, "the offset has {} as a key, expected an axis",
                       type_name(axis));
      offset.add(axis.as<AxisObject>().axis,
                 WW_TRY(as_integer(in, {amount, a.span(2)}, "an offset")));
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
  const layout::Shape to = WW_TRY(as_int_list(in, a[0], "the shape to tile to"));
  const layout::Shape from = WW_TRY(as_int_list(in, a[1], "the current shape"));
  return layout_result(in, layout::tile_to(self(a), to, from), a.call);
}

Result<Value> tile(Context& in, Args& a) {
  const Layout outer = WW_TRY(as_layout(in, a[0], "the outer layout"));
  const layout::Shape outer_shape = WW_TRY(as_int_list(in, a[1], "the outer shape"));
  const layout::Shape inner_shape = WW_TRY(as_int_list(in, a[2], "the inner shape"));
  return layout_result(in, layout::tile(self(a), inner_shape, outer, outer_shape), a.call);
}

Result<Value> direct_sum(Context& in, Args& a) {
  const Layout other = WW_TRY(as_layout(in, a[0], "the other layout"));
  const layout::Shape left = WW_TRY(as_int_list(in, a[1], "the left shape"));
  const layout::Shape right = WW_TRY(as_int_list(in, a[2], "the right shape"));
  // `L.direct_sum(left, left_shape, right_shape)`: the other operand comes first.
  return layout_result(in, layout::direct_sum(other, left, self(a), right), a.call);
}

Result<Value> apply(Context& in, Args& a) {
  std::optional<std::vector<Value>> shape;
  if (const CallArgs::Named* given = WW_TRY(only_keyword(a, "apply", "shape")))
    shape = WW_TRY(as_sequence(in, *given, "`shape`"));
  std::vector<Value> coordinate(a.rest.begin(), a.rest.end());
  if (coordinate.size() == 1 && (coordinate[0].is(Kind::List) || coordinate[0].is(Kind::Tuple)))
    coordinate = std::vector<Value>(coordinate[0].as<SeqObject>().items);
  return apply_layout(in, self(a), coordinate, shape, a.call);
}

Result<Value> size(Context& in, Args& a) {
  if (!a.has(0)) return of_int(self(a).size());
  const std::string axis = WW_TRY(as_text(in, a[0], "the axis"));
  return of_int(layout::size_on(self(a).tile(), WW_TRY(layout::Axis::builtin(axis))));
}

Result<Value> span_row(Context& in, Args& a) {
  if (!a.has(0)) return of_int(WW_TRY(layout::memory_span(self(a))));
  const std::string axis = WW_TRY(as_text(in, a[0], "the axis"));
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
      WW_TRY(layout::group(self(a), WW_TRY(as_int_list(in, a[0], "the shape"))));
  std::vector<Value> seps;
  for (const std::int32_t s : grouped.seps) seps.push_back(of_int(s));
  return in.heap.tuple({layout_value(in, grouped.layout), in.heap.list(std::move(seps))});
}

// Several shapes at once; one list of separators for each.
Result<Value> group_many(Context& in, Args& a) {
  std::vector<layout::Shape> shapes;
  for (const Value& shape : WW_TRY(as_sequence(in, a[0], "the shapes")))
    shapes.push_back(WW_TRY(as_int_list(in, {shape, a.span(0)}, "a shape")));
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
  const layout::Shape order = WW_TRY(as_int_list(in, a[0], "the order"));
  if (a.has(1))
    return layout_result(
        in, layout::permute_dims(self(a), WW_TRY(as_int_list(in, a[1], "the shape")), order),
        a.call);
  return layout_result(in, layout::permute_iters(self(a), order), a.call);
}

// The groups that `seps` separates, in another order: what `group` gives comes with its separators.
Result<Value> permute_by_groups(Context& in, Args& a) {
  const layout::Shape seps = WW_TRY(as_int_list(in, a[0], "the separators"));
  const layout::Shape order = WW_TRY(as_int_list(in, a[1], "the order"));
  const auto iters = static_cast<std::int64_t>(self(a).tile().shard().size());
  const bool is_whole =
      !seps.empty() && seps.front() == 0 && seps.back() == iters && std::ranges::is_sorted(seps);
  if (!is_whole)
    return fail_at(a.span(0), DiagKind::BadArgument,
                   "separators ({}) of {} iters, expected 0 to {} in ascending order",
                   join(seps, ", "), iters, iters);
  layout::Shape places;
  for (const std::int64_t group : order) {
    if (group < 0 || group + 1 >= static_cast<std::int64_t>(seps.size()))
      return fail_at(a.span(1), DiagKind::OutOfBounds, "group {}, expected 0 to {}", group,
                     seps.size() - 2);
    const auto at = static_cast<std::size_t>(group);
    for (std::int64_t i = seps[at]; i < seps[at + 1]; ++i) places.push_back(i);
  }
  return layout_result(in, layout::permute_iters(self(a), places), a.call);
}

Result<Value> slice(Context& in, Args& a) {
  const layout::Shape shape = WW_TRY(as_int_list(in, a[0], "the shape"));
  std::vector<layout::Slice1> region;
  for (const Value& range : WW_TRY(as_sequence(in, a[1], "the region"))) {
    const layout::Shape bounds = WW_TRY(as_int_list(in, {range, a.span(1)}, "(begin, end)"));
    if (bounds.size() != 2)
      return fail_at(a.span(1), DiagKind::RankMismatch, "{} bounds, expected (begin, end)",
                     bounds.size());
    region.push_back({layout::Expr(bounds[0]), bounds[1] - bounds[0]});
  }
  return layout_result(in, layout::slice(self(a), shape, region, layout::Machine::Cuda), a.call);
}

Result<Value> pack(Context& in, Args& a) {
  return layout_result(in, layout::pack(self(a), WW_TRY(as_integer(in, a[0], "the factor"))),
                       a.call);
}
Result<Value> unpack(Context& in, Args& a) {
  return layout_result(in, layout::unpack(self(a), WW_TRY(as_integer(in, a[0], "the factor"))),
                       a.call);
}
Result<Value> broadcast(Context& in, Args& a) {
  const std::int64_t position = a.has(1) ? WW_TRY(as_integer(in, a[1], "the position")) : -1;
  return layout_result(
      in, layout::broadcast(self(a), WW_TRY(as_integer(in, a[0], "the extent")), position), a.call);
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

// --- ready layouts -------------------------------------------------------------------------------

using layout::SwizzleMode;

Result<int> bits_arg(Context& in, const Args& a, std::size_t i, int missing) {
  if (!a.has(i)) return missing;
  if (a[i].is(Kind::Int)) return static_cast<int>(WW_TRY(as_integer(in, a[i], "the width")));
  return num::bits_of(WW_TRY(as_type(in, a[i], "`dtype`")).dtype);
}

// An operand or a datapath.
Result<char> letter_arg(Context& in, const Args& a, std::string_view what,
                        std::string_view expected, std::string_view letters = {}) {
  const std::string text = WW_TRY(as_text(in, a[0], fmt::format("the {}", what)));
  if (text.size() == 1 && (letters.empty() || letters.contains(text[0]))) return text[0];
  return fail_at(a.span(0), DiagKind::BadArgument, "{} \"{}\", expected {}", what, text, expected);
}

// --- register tiles of warps and threads ---------------------------------------------------------

// mma_tile_layout(operand, shape, dtype, warps=(1, 1), transposed=False)
Result<Value> mma_tile_layout(Context& in, Args& a) {
  enum : std::size_t { Operand, Shape, Dtype, Warps, Transposed };
  const char letter = WW_TRY(letter_arg(in, a, "operand", "\"A\", \"B\", \"C\" or \"D\""));
  const layout::Shape shape = WW_TRY(as_int_list(in, a[Shape], "the shape"));
  const int bits = WW_TRY(bits_arg(in, a, Dtype, 16));
  layout::WarpGrid warps;
  if (a.has(Warps)) {
    const layout::Shape grid = WW_TRY(as_int_list(in, a[Warps], "`warps`"));
    if (grid.size() != 2)
      return fail_at(a.span(Warps), DiagKind::RankMismatch,
                     "{} numbers of warps, expected (along M, along N)", grid.size());
    warps = {grid[0], grid[1]};
  }
  const bool is_transposed =
      a.has(Transposed) && WW_TRY(as_bool(in, a[Transposed], "`transposed`"));
  return layout_result(in, layout::mma_tile(letter, shape, bits, warps, is_transposed), a.call);
}

// wgmma_tile_layout(operand, shape, dtype, warpgroups=1)
Result<Value> wgmma_tile_layout(Context& in, Args& a) {
  const char letter = WW_TRY(letter_arg(in, a, "operand", "\"A\", \"C\" or \"D\""));
  const layout::Shape shape = WW_TRY(as_int_list(in, a[1], "the shape"));
  const int bits = WW_TRY(bits_arg(in, a, 2, 32));
  const std::int64_t groups = WW_TRY(integer_or(in, a, 3, "`warpgroups`", 1));
  return layout_result(in, layout::wgmma_tile(letter, shape, bits, groups), a.call);
}

Result<layout::Axis> axis_arg(Context& in, const Args& a, std::size_t i) {
  if (!a.has(i)) return layout::axes::tx();
  if (!a[i].is(Kind::Axis)) return layout::Axis::builtin(WW_TRY(as_text(in, a[i], "`axis`")));
  return a[i].as<AxisObject>().axis;
}

// coalesced_layout(shape, threads, dtype, axis=tx)
Result<Value> coalesced_layout(Context& in, Args& a) {
  const layout::Shape shape = WW_TRY(as_int_list(in, a[0], "the shape"));
  const std::int64_t threads = WW_TRY(as_integer(in, a[1], "`threads`"));
  const int bits = WW_TRY(bits_arg(in, a, 2, 32));
  return layout_result(in, layout::coalesced(shape, threads, bits, WW_TRY(axis_arg(in, a, 3))),
                       a.call);
}

// row_layout(shape, threads, axis=tx), and of columns.
template <auto kMake>
Result<Value> owned_layout(Context& in, Args& a) {
  const layout::Shape shape = WW_TRY(as_int_list(in, a[0], "the shape"));
  const std::int64_t threads = WW_TRY(as_integer(in, a[1], "`threads`"));
  return layout_result(in, kMake(shape, threads, WW_TRY(axis_arg(in, a, 2))), a.call);
}

// reduced_layout(layout, shape, axes): one axis, or several.
Result<Value> reduced_layout(Context& in, Args& a) {
  const Layout layout = WW_TRY(as_layout(in, a[0], "the layout"));
  const layout::Shape shape = WW_TRY(as_int_list(in, a[1], "the shape"));
  layout::Shape axes;
  if (a[2].is(Kind::Int))
    axes.push_back(WW_TRY(as_integer(in, a[2], "`axes`")));
  else
    axes = WW_TRY(as_int_list(in, a[2], "`axes`"));
  for (std::int64_t& each : axes)
    if (each < 0) each += static_cast<std::int64_t>(shape.size());
  return layout_result(in, layout::reduced(layout, shape, axes), a.call);
}

// --- registers and tensor memory -----------------------------------------------------------------

Result<Value> wg_local_layout(Context& in, Args& a) {
  const std::int64_t cols = WW_TRY(as_integer(in, a[0], "`cols`"));
  return layout_result(in, layout::wg_local(cols, WW_TRY(integer_or(in, a, 1, "`rows`", 128))),
                       a.call);
}

Result<Value> tcgen05_atom_layout(Context& in, Args& a) {
  const std::string shape = WW_TRY(as_text(in, a[0], "the shape"));
  const layout::Shape size = WW_TRY(as_int_list(in, a[1], "(rows, cols)"));
  if (size.size() != 2)
    return fail_at(a.span(1), DiagKind::RankMismatch, "{} extents, expected (rows, cols)",
                   size.size());
  return layout_result(
      in, layout::tcgen05_atom(shape, size[0], size[1], WW_TRY(bits_arg(in, a, 2, 32))), a.call);
}

Result<Value> tmem_datapath_layout(Context& in, Args& a) {
  const char letter = WW_TRY(letter_arg(in, a, "datapath", "A to G"));
  const std::int64_t rows = WW_TRY(as_integer(in, a[1], "`rows`"));
  const std::int64_t cols = WW_TRY(as_integer(in, a[2], "`cols`"));
  const std::int64_t slab = WW_TRY(integer_or(in, a, 3, "`sub_slab`", 0));
  return layout_result(in, layout::tmem_datapath(letter, rows, cols, static_cast<int>(slab)),
                       a.call);
}

// tmem_mma_operand_layout(operand, shape, dtype, M=, cta_group=, ws=, sparse=, group=)
Result<Value> tmem_mma_operand_layout(Context& in, Args& a) {
  enum : std::size_t { Operand, Shape, Dtype, M, CtaGroup, Ws, Sparse, Group };
  layout::TmemOperand operand;
  operand.operand = WW_TRY(letter_arg(in, a, "operand", "\"A\" or \"D\"", "AD"));
  operand.m = static_cast<int>(WW_TRY(as_integer(in, a[M], "`M`")));
  operand.cta_group = static_cast<int>(WW_TRY(as_integer(in, a[CtaGroup], "`cta_group`")));
  if (a.has(Ws)) operand.ws = WW_TRY(as_bool(in, a[Ws], "`ws`"));
  if (a.has(Sparse)) operand.sparse = WW_TRY(as_bool(in, a[Sparse], "`sparse`"));
  if (a.given(Group))
    for (const std::int64_t extent : WW_TRY(as_int_list(in, a[Group], "`group`")))
      operand.group.push_back(extent);
  const layout::Shape shape = WW_TRY(as_int_list(in, a[Shape], "the shape"));
  return layout_result(in, layout::tmem_mma_operand(shape, operand), a.call);
}

// sf_tmem_layout(rows, SF_K, sf_per_mma, sf_reuse=1, pipe_depth=None), and in shared memory.
template <auto kMake>
Result<Value> scale_factors(Context& in, Args& a) {
  const std::int64_t rows = WW_TRY(as_integer(in, a[0], "`rows`"));
  const std::int64_t factors = WW_TRY(as_integer(in, a[1], "`SF_K`"));
  const std::int64_t per_mma = WW_TRY(as_integer(in, a[2], "`sf_per_mma`"));
  const std::int64_t reuse = WW_TRY(integer_or(in, a, 3, "`sf_reuse`", 1));
  const std::int64_t depth = WW_TRY(integer_or(in, a, 4, "`pipe_depth`", 1));
  return layout_result(in, kMake(rows, factors, per_mma, reuse, depth), a.call);
}

// --- shared memory -------------------------------------------------------------------------------

constexpr std::array<std::string_view, 4> kModes = {"SWIZZLE_NONE", "SWIZZLE_32B_ATOM",
                                                    "SWIZZLE_64B_ATOM", "SWIZZLE_128B_ATOM"};

Result<Value> mma_shared_layout(Context& in, Args& a) {
  const int bits = WW_TRY(bits_arg(in, a, 0, 16));
  const layout::Shape shape = WW_TRY(as_int_list(in, a[2], "the shape"));
  const SwizzleMode mode = WW_TRY(tile_swizzle_arg(in, a[1], shape, bits));
  return layout_result(in, layout::mma_shared(shape, mode, bits), a.call);
}

Result<Value> mma_atom_layout(Context& in, Args& a) {
  const int bits = WW_TRY(bits_arg(in, a, 0, 16));
  return layout_result(in, layout::mma_atom(WW_TRY(swizzle_mode_arg(in, a[1])), bits), a.call);
}

// With a shape, as many dimensions as it has.
Result<Value> mma_atom_shape(Context& in, Args& a) {
  const int bits = WW_TRY(bits_arg(in, a, 0, 16));
  const SwizzleMode mode = WW_TRY(swizzle_mode_arg(in, a[1]));
  const layout::Shape atom = WW_TRY(layout::mma_atom_shape(mode, bits));
  const std::size_t rank =
      a.given(2) ? WW_TRY(as_int_list(in, a[2], "the shape")).size() : atom.size();
  if (rank < atom.size())
    return fail_at(a.span(2), DiagKind::RankMismatch,
                   "a shape of {} dimensions, expected {} or more", rank, atom.size());
  std::vector<Value> out(rank - atom.size(), of_int(1));
  for (const std::int64_t extent : atom) out.push_back(of_int(extent));
  return in.heap.list(std::move(out));
}

// SwizzleMode(3): modes are their numbers.
Result<Value> swizzle_mode(Context& in, Args& a) {
  const SwizzleMode mode = WW_TRY(swizzle_mode_arg(in, a[0]));
  return of_int(static_cast<int>(mode));
}

Result<Value> mode_of_layout(Context& in, Args& a) {
  const Layout layout = WW_TRY(as_layout(in, a[0], "the layout"));
  if (!layout.is_swizzled()) return of_int(0);
  const layout::Swizzle& swizzle = layout.swizzle();
  if (!swizzle.inner() || swizzle.atom() != 3 || swizzle.len() > 3)
    return fail_at(a.span(0), DiagKind::BadSwizzle,
                   "Swizzle({},{},{}) is not a mode of the hardware, expected `atom_len` 3 and "
                   "`swizzle_len` 1 to 3",
                   swizzle.per_element(), swizzle.len(), swizzle.atom());
  return of_int(swizzle.len());
}

constexpr std::string_view kScaleFactors = "rows, SF_K, sf_per_mma, sf_reuse?, pipe_depth?";

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
    {"layout.mma_tile_layout", "operand, shape, dtype, warps?, transposed?", mma_tile_layout},
    {"layout.wgmma_tile_layout", "operand, shape, dtype, warpgroups?", wgmma_tile_layout},
    {"layout.coalesced_layout", "shape, threads, dtype, axis?", coalesced_layout},
    {"layout.row_layout", "shape, threads, axis?", owned_layout<layout::row_owned>},
    {"layout.column_layout", "shape, threads, axis?", owned_layout<layout::column_owned>},
    {"layout.reduced_layout", "layout, shape, axes", reduced_layout},
    {"layout.wg_local_layout", "cols, rows?", wg_local_layout},
    {"layout.tcgen05_atom_layout", "instr_shape, tensor_shape, dtype?", tcgen05_atom_layout},
    {"layout.tmem_datapath_layout", "datapath, rows, cols, sub_slab?", tmem_datapath_layout},
    {"layout.tmem_mma_operand_layout", "operand, shape, dtype, M, cta_group, ws?, sparse?, group?",
     tmem_mma_operand_layout},
    {"layout.sf_tmem_layout", kScaleFactors, scale_factors<layout::scale_factor_tmem>},
    {"layout.sf_smem_layout", kScaleFactors, scale_factors<layout::scale_factor_smem>},
    {"layout.mma_shared_layout", "dtype, swizzle_mode, shape", mma_shared_layout},
    {"layout.mma_atom_layout", "dtype, swizzle_mode", mma_atom_layout},
    {"layout.mma_atom_shape", "dtype, swizzle_mode, shape?", mma_atom_shape},
    {"layout.tma_shared_layout", "dtype, swizzle_mode, shape", mma_shared_layout},
    {"layout.tma_atom_layout", "dtype, swizzle_mode", mma_atom_layout},
    {"layout.tma_atom_shape", "dtype, swizzle_mode, shape?", mma_atom_shape},
    {"layout.get_swizzle_mode_from_layout", "layout", mode_of_layout},
    {"layout.SwizzleMode", "value", swizzle_mode},
};

}  // namespace

constinit const std::span<const BuiltinRow> rows = kRows;

}  // namespace ww::script::layouts_api

namespace ww::script {

std::optional<Value> swizzle_mode_member(std::string_view name) {
  for (std::size_t i = 0; i < layouts_api::kModes.size(); ++i)
    if (layouts_api::kModes[i] == name) return of_int(static_cast<Wide>(i));
  return std::nullopt;
}

Result<layout::SwizzleMode> tile_swizzle_arg(Context& in, const Given& value,
                                             const layout::Shape& shape, int bits) {
  if (value.is(Kind::Str) && text_of(value) == "auto") return layout::widest_swizzle(shape, bits);
  return swizzle_mode_arg(in, value);
}

Result<layout::SwizzleMode> swizzle_mode_arg(Context& in, const Given& value) {
  if (value.is(Kind::Int)) {
    const std::int64_t n = WW_TRY(as_integer(in, value, "the swizzle"));
    if (n < 0 || n > 3)
      return fail_at(value.span, DiagKind::BadSwizzle, "swizzle mode {}, expected 0 to 3", n);
    return static_cast<layout::SwizzleMode>(n);
  }
  return layout::swizzle_mode(WW_TRY(as_text(in, value, "the swizzle")));
}

}  // namespace ww::script
