// SPDX-License-Identifier: Apache-2.0
// Layouts as functions (inverse, composition, complement, division), and operations that bring a
// layout into another form, tile it, or take a region of it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "driver/layout/op_parts.h"
#include "layout/algebra.h"
#include "layout/apply.h"
#include "layout/canonical.h"
#include "layout/direct_sum.h"
#include "layout/fit.h"
#include "layout/group.h"
#include "layout/image.h"
#include "layout/slice.h"
#include "layout/tile.h"
#include "layout/views.h"

namespace ww::driver {

namespace {

using layout::Axis;
using layout::BoxSide;
using layout::Shape;

// ---- inverse

std::string box_words(const std::vector<BoxSide>& box) {
  std::string out;
  for (const BoxSide& side : box)
    out += fmt::format("{}{} {}..{}", out.empty() ? "" : ", ", side.axis.name(), side.first,
                       side.first + side.extent - 1);
  return out.empty() ? "one place" : out;
}

Json box_json(const std::vector<BoxSide>& box) {
  Json out = Json::array();
  for (const BoxSide& side : box)
    out.push_back({{"axis", side.axis.name()}, {"first", side.first}, {"extent", side.extent}});
  return out;
}

Result<void> inverse(LayoutState& state, Piece arguments) {
  std::vector<Axis> order;
  for (const Piece& piece : split_top(arguments, ','))
    order.push_back(WW_TRY(find_axis(piece, state.layout, state.names)));
  layout::Inverse inverted = WW_TRY(layout::inverse(state.layout, order));
  Shape shape;
  for (const BoxSide& side : inverted.box) shape.push_back(side.extent);
  add_answer(state, "from places " + box_words(inverted.box), box_json(inverted.box));
  set_layout(state, std::move(inverted.map), std::move(shape));
  state.bits.reset();
  return {};
}

// ---- complement

// EXTENT or AXIS=EXTENT
Result<BoxSide> parse_side(const LayoutState& state, Piece piece) {
  const auto sides = cut_first(piece, '=');
  BoxSide side;
  side.axis = sides ? WW_TRY(find_axis(sides->first, state.layout, state.names))
                    : WW_TRY(bare_axis(piece, state.layout));
  side.extent = WW_TRY(parse_int(sides ? sides->second : piece));
  return side;
}

Result<void> complement(LayoutState& state, Piece arguments) {
  std::vector<BoxSide> box;
  for (const Piece& piece : split_top(arguments, ',')) {
    const BoxSide side = WW_TRY(parse_side(state, piece));
    const bool is_twice = std::any_of(
        box.begin(), box.end(), [&](const BoxSide& known) { return known.axis == side.axis; });
    if (is_twice)
      return fail(diag(DiagKind::BadArgument, "axis `{}` is given twice", side.axis.name())
                      .with_span(piece.span()));
    box.push_back(side);
  }
  layout::Layout rest = WW_TRY(layout::complement(state.layout, box));
  state.shape = reading_shape(rest);
  state.layout = std::move(rest);
  return {};
}

// ---- composition and division

Result<void> compose(LayoutState& state, Piece arguments) {
  ShapedLayout first = WW_TRY(parse_shaped(arguments, state.names));
  layout::Layout both = WW_TRY(layout::compose(state.layout, first.layout));
  set_layout(state, std::move(both), std::move(first.shape));
  return {};
}

Result<void> right_divide(LayoutState& state, Piece arguments) {
  const NotatedLayout divisor = WW_TRY(parse_notation_at(arguments, state.names));
  layout::Layout quotient_layout = WW_TRY(layout::right_divide(state.layout, divisor.layout));
  set_layout(state, std::move(quotient_layout), state.shape);
  return {};
}

Result<void> divide(LayoutState& state, Piece arguments) {
  const NotatedLayout tiler = WW_TRY(parse_notation_at(arguments, state.names));
  layout::Layout divided = WW_TRY(layout::divide(state.layout, tiler.layout));
  const std::int64_t part = tiler.layout.size();
  set_layout(state, std::move(divided), {state.layout.size() / part, part});
  return {};
}

constexpr std::array kAlgebraOps = {
    LayoutOp{"inverse", "", "[AXIS,...]", "from place to element, over the box of places",
             "mma_frag(A,16,float16)", "inverse", inverse},
    LayoutOp{"compose", "", "NOTATION[/SHAPE]",
             "this layout after another: x goes to this(other(x))", "S[(4,8):(8,1)]",
             "compose:S[(8,4):(1,8)]", compose},
    LayoutOp{"complement", "", "EXTENT | AXIS=EXTENT,...", "what the layout leaves free in a box",
             "S[(4,2):(1,16)]", "complement:64", complement},
    LayoutOp{"right_divide", "", "NOTATION", "the X for which this layout is X after the other",
             "S[(8,4):(1,8)]", "right_divide:S[(8,4):(4,1)]", right_divide},
    LayoutOp{"divide", "", "NOTATION",
             "cut into the elements a tiler selects and their repetitions", "S[64:2]",
             "divide:S[8:2]", divide},
};

}  // namespace

std::span<const LayoutOp> algebra_ops() { return kAlgebraOps; }

// --- ops form ------------------------------------------------------------------------------------
//
// Other spellings of the same places.

namespace {

Result<void> canon(LayoutState& state, Piece) {
  state.layout = layout::canonicalize(state.layout);
  return {};
}

std::string seps_text(const layout::Seps& seps) {
  return layout::shape_text(std::vector<std::int64_t>(seps.begin(), seps.end()));
}

Result<void> group(LayoutState& state, Piece arguments) {
  layout::Shape shape = WW_TRY(parse_shape_at(arguments));
  layout::Grouped grouped = WW_TRY(layout::group(state.layout, shape));
  add_answer(state, "dimensions begin at iters " + seps_text(grouped.seps), grouped.seps);
  state.layout = std::move(grouped.layout);
  state.shape = std::move(shape);
  return {};
}

Result<void> group_many(LayoutState& state, Piece arguments) {
  std::vector<layout::Shape> shapes;
  for (const Piece& piece : split_top(arguments, '/'))
    shapes.push_back(WW_TRY(parse_shape_at(piece)));
  layout::GroupedMany grouped = WW_TRY(layout::group_many(state.layout, shapes));
  std::string text;
  for (const layout::Seps& seps : grouped.seps)
    text += (text.empty() ? "" : ", ") + seps_text(seps);
  add_answer(state, "dimensions begin at iters " + text, grouped.seps);
  state.layout = std::move(grouped.layout);
  state.shape = std::move(shapes.front());
  return {};
}

Result<void> refit(LayoutState& state, Piece) {
  if (!state.layout.tile().replica().empty())
    return fail(DiagKind::NotATile,
                "the layout has replicas, and `refit` reads one place per element");
  const layout::Image image = WW_TRY(layout::enumerate(state.layout));
  std::vector<layout::Column> columns;
  for (std::size_t i = 0; i < image.axes.size(); ++i)
    columns.push_back({image.axes[i], image.values[i]});
  state.layout = WW_TRY(layout::fit(columns));
  return {};
}

constexpr std::array kFormOps = {
    LayoutOp{"canon", "canonicalize", "", "the shortest spelling of the same places",
             "S[(2,3,6):(18,6,1)]", "canon", canon},
    LayoutOp{"group", "", "SHAPE",
             "iters cut so that each dimension of the shape owns a run of them", "S[24:1]",
             "group:6,4", group},
    LayoutOp{"group_many", "", "SHAPE/SHAPE/...",
             "iters cut at the boundaries of several shapes at once", "S[30:1]",
             "group_many:6,5/2,15", group_many},
    LayoutOp{"refit", "", "",
             "one plain tile layout with the same places (no swizzle), if there is one",
             "ComposeLayout(3,3,3,S[(8,8):(64,1)])", "refit", refit},
};

}  // namespace

std::span<const LayoutOp> form_ops() { return kFormOps; }

// --- ops tiling ----------------------------------------------------------------------------------
//
// Tiles and direct sums, made and recognised.

namespace {

using layout::Shape;

// ---- tiles

Result<void> tile_with(LayoutState& state, Piece arguments, layout::TileOptions options) {
  const ShapedLayout outer = WW_TRY(parse_shaped(arguments, state.names));
  state.layout =
      WW_TRY(layout::tile(state.layout, state.shape, outer.layout, outer.shape, options));
  state.shape = product(outer.shape, state.shape);
  return {};
}

Result<void> tile(LayoutState& state, Piece arguments) { return tile_with(state, arguments, {}); }

Result<void> tile_scaled(LayoutState& state, Piece arguments) {
  return tile_with(state, arguments, {.scale_places = true});
}

// TO or TO/FROM; FROM is the present shape unless it is given.
Result<void> tile_to(LayoutState& state, Piece arguments) {
  const auto sides = cut_first(arguments, '/');
  Shape to = WW_TRY(parse_shape_at(sides ? sides->first : arguments));
  const Shape from = sides ? WW_TRY(parse_shape_at(sides->second)) : state.shape;
  state.layout = WW_TRY(layout::tile_to(state.layout, to, from));
  state.shape = std::move(to);
  return {};
}

Result<void> tile_outer(LayoutState& state, Piece arguments) {
  const ShapedLayout inner = WW_TRY(parse_shaped(arguments, state.names));
  Shape grid = WW_TRY(quotient(state.shape, inner.shape));
  state.layout = WW_TRY(
      layout::outer_of_tile(state.layout, state.shape, inner.layout, inner.shape, state.machine));
  state.shape = std::move(grid);
  return {};
}

Result<void> tile_inner(LayoutState& state, Piece arguments) {
  const ShapedLayout outer = WW_TRY(parse_shaped(arguments, state.names));
  Shape part = WW_TRY(quotient(state.shape, outer.shape));
  state.layout = WW_TRY(
      layout::inner_of_tile(state.layout, state.shape, outer.layout, outer.shape, state.machine));
  state.shape = std::move(part);
  return {};
}

// ---- direct sums

Result<void> direct_sum(LayoutState& state, Piece arguments) {
  const ShapedLayout right = WW_TRY(parse_shaped(arguments, state.names));
  state.layout = WW_TRY(layout::direct_sum(state.layout, state.shape, right.layout, right.shape));
  Shape interleaved;
  for (std::size_t d = 0; d < state.shape.size(); ++d) {
    interleaved.push_back(state.shape[d]);
    interleaved.push_back(right.shape[d]);
  }
  state.shape = std::move(interleaved);
  return {};
}

// Every second dimension of an interleaved shape.
Shape every_second(const Shape& shape, std::size_t first) {
  Shape out;
  for (std::size_t d = first; d < shape.size(); d += 2) out.push_back(shape[d]);
  return out;
}

Result<void> sum_left(LayoutState& state, Piece arguments) {
  const ShapedLayout right = WW_TRY(parse_shaped(arguments, state.names));
  layout::Layout left =
      WW_TRY(layout::left_of_sum(state.layout, state.shape, right.layout, right.shape));
  set_layout(state, std::move(left), every_second(state.shape, 0));
  return {};
}

Result<void> sum_right(LayoutState& state, Piece arguments) {
  const ShapedLayout left = WW_TRY(parse_shaped(arguments, state.names));
  layout::Layout right =
      WW_TRY(layout::right_of_sum(state.layout, state.shape, left.layout, left.shape));
  set_layout(state, std::move(right), every_second(state.shape, 1));
  return {};
}

constexpr std::array kTilingOps = {
    LayoutOp{"tile", "", "OUTER[/SHAPE]", "the layout repeated over an outer grid",
             "S[(2,4):(1,2)]", "tile:S[(8,8):(8,1)]", tile},
    LayoutOp{"tile_scaled", "", "OUTER[/SHAPE]",
             "tile, with the outer offset and replicas in tiles", "S[8:1]", "tile_scaled:S[4:1]+2",
             tile_scaled},
    LayoutOp{"tile_to", "", "SHAPE[/FROM]", "the layout repeated in row-major order up to a shape",
             "S[(8,8):(8,1)]", "tile_to:64,64/8,8", tile_to},
    LayoutOp{"tile_outer", "", "INNER[/SHAPE]", "the outer grid over which INNER is repeated here",
             "S[(2,8,2,4):(64,4,32,1)]", "tile_outer:S[(8,4):(4,1)]", tile_outer},
    LayoutOp{"tile_inner", "", "OUTER[/SHAPE]", "the inner layout that OUTER repeats here",
             "S[(2,8,2,4):(64,4,32,1)]", "tile_inner:S[(2,2):(2,1)]", tile_inner},
    LayoutOp{"direct_sum", "", "RIGHT[/SHAPE]", "places added over interleaved dimensions",
             "S[(2,2):(8,2)]", "direct_sum:S[(2,2):(4,1)]", direct_sum},
    LayoutOp{"sum_left", "", "RIGHT[/SHAPE]",
             "the left part of a direct sum whose right part is known", "row_major(2,2,2,2)",
             "sum_left:S[(2,2):(4,1)]", sum_left},
    LayoutOp{"sum_right", "", "LEFT[/SHAPE]",
             "the right part of a direct sum whose left part is known", "row_major(2,2,2,2)",
             "sum_right:S[(2,2):(8,2)]", sum_right},
};

}  // namespace

std::span<const LayoutOp> tiling_ops() { return kTilingOps; }

// --- ops region ----------------------------------------------------------------------------------
//
// Shapes, regions and dimensions.

namespace {

using layout::Expr;
using layout::Shape;
using layout::Slice1;

Result<void> reshape(LayoutState& state, Piece arguments) {
  Shape shape = WW_TRY(parse_shape_at(arguments));
  WW_TRY_VOID(layout::require_admitted(state.layout.tile(), shape));
  state.shape = std::move(shape);
  return {};
}

// ---- slice

Diag open_end(Piece piece) {
  return diag(DiagKind::BadExtent,
              "`{}` has no end, and the extent of its dimension is only known at "
              "run time",
              piece.text)
      .with_span(piece.span());
}

// BEGIN:END, with either side left out, or a single INDEX.
Result<Slice1> parse_range(Piece piece, std::int64_t extent, const layout::Names& names) {
  const auto sides = cut_first(piece, ':');
  if (!sides) return Slice1{WW_TRY(parse_expr_at(piece, names)), 1};
  const Expr begin = sides->first.empty() ? Expr(0) : WW_TRY(parse_expr_at(sides->first, names));
  const bool unknown_end = sides->second.empty() && extent == layout::kUnknownExtent;
  if (unknown_end && begin == Expr(0)) return Slice1{0, layout::kUnknownExtent};
  if (unknown_end) return fail(open_end(piece));
  const Expr end =
      sides->second.empty() ? Expr(extent) : WW_TRY(parse_expr_at(sides->second, names));
  const Expr length = end - begin;
  if (!length.is_constant())
    return fail(diag(DiagKind::NeedsConstant, "`{}` holds {} elements; the number must be constant",
                     piece.text, length.text())
                    .with_span(piece.span()));
  if (length.constant() < 1)
    return fail(diag(DiagKind::BadExtent, "`{}` holds {} elements; a region needs at least one",
                     piece.text, length.constant())
                    .with_span(piece.span()));
  return Slice1{begin, length.constant()};
}

Result<void> slice(LayoutState& state, Piece arguments) {
  const std::vector<Piece> pieces = split_top(arguments, ',');
  if (pieces.size() != state.shape.size())
    return fail(diag(DiagKind::RankMismatch, "the region has rank {}, the shape {} has rank {}",
                     pieces.size(), layout::shape_text(state.shape), state.shape.size())
                    .with_span(arguments.span()));
  std::vector<Slice1> region;
  Shape shape;
  for (std::size_t d = 0; d < pieces.size(); ++d) {
    region.push_back(WW_TRY(parse_range(pieces[d], state.shape[d], state.names)));
    shape.push_back(region.back().extent);
  }
  state.layout = WW_TRY(layout::slice(state.layout, state.shape, region, state.machine));
  state.shape = std::move(shape);
  return {};
}

// ---- permutations

Result<void> permute(LayoutState& state, Piece arguments) {
  const Shape order = WW_TRY(parse_ints(arguments));
  state.layout = WW_TRY(layout::permute_dims(state.layout, state.shape, order));
  Shape shape;
  for (const std::int64_t d : order) shape.push_back(state.shape[static_cast<std::size_t>(d)]);
  state.shape = std::move(shape);
  return {};
}

Result<void> permute_iters(LayoutState& state, Piece arguments) {
  const Shape order = WW_TRY(parse_ints(arguments));
  layout::Layout permuted = WW_TRY(layout::permute_iters(state.layout, order));
  state.shape = reading_shape(permuted);
  state.layout = std::move(permuted);
  return {};
}

constexpr std::array kRegionOps = {
    LayoutOp{"shape", "", "SHAPE", "the same elements numbered over another shape",
             "S[(8,16):(16,1)]", "shape:4,32", reshape},
    LayoutOp{"slice", "", "BEGIN:END,...",
             "the layout of a region; INDEX, BEGIN: and :END work, too", "S[(8,16):(16,1)]",
             "slice:0:4,2:6", slice},
    LayoutOp{"permute", "", "DIM,...", "dimensions of the shape in another order",
             "S[(8,16):(16,1)]", "permute:1,0", permute},
    LayoutOp{"permute_iters", "", "ITER,...", "iters in another order", "S[(2,3,4):(12,4,1)]",
             "permute_iters:2,0,1", permute_iters},
};

}  // namespace

std::span<const LayoutOp> region_ops() { return kRegionOps; }

}  // namespace ww::driver
