// SPDX-License-Identifier: Apache-2.0
// Shapes, regions and dimensions.
#include <array>
#include <vector>

#include "driver/layout/op_parts.h"
#include "layout/apply.h"
#include "layout/slice.h"
#include "layout/views.h"

namespace ww::driver {
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
