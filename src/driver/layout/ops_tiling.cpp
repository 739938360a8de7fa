// SPDX-License-Identifier: Apache-2.0
// Tiles and direct sums, made and recognised.
#include <array>

#include "driver/layout/op_parts.h"
#include "layout/direct_sum.h"
#include "layout/tile.h"

namespace ww::driver {
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

}  // namespace ww::driver
