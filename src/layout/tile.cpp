// SPDX-License-Identifier: Apache-2.0
#include "layout/tile.h"

#include <algorithm>

#include "base/wide.h"
#include "layout/canonical.h"
#include "layout/group.h"
#include "layout/replica.h"
#include "layout/text.h"

namespace ww::layout {
namespace {

// How far one tile reaches on an axis that its shard uses; 1 on every other axis.
std::int64_t footprint(const TileLayout& inner, Axis axis) {
  const bool used = std::any_of(inner.shard().begin(), inner.shard().end(),
                                [&](const Iter& iter) { return iter.axis == axis; });
  if (!used) return 1;
  const Range range = inner.range_on(axis);
  return 1 + range.max - std::min<std::int64_t>(range.min, 0);
}

Result<std::int64_t> scaled(std::int64_t value, std::int64_t factor) {
  const auto product = checked_mul(value, factor);
  if (!product || *product > kMaxPlace || *product < -kMaxPlace)
    return fail(DiagKind::Overflow, "tile stride {} · {} leaves ±2^60", value, factor);
  return *product;
}

Result<Iters> scale_iters(std::span<const Iter> iters, const TileLayout& inner) {
  Iters out;
  for (const Iter& iter : iters)
    out.push_back(
        {iter.extent, WW_TRY(scaled(iter.stride, footprint(inner, iter.axis))), iter.axis});
  return out;
}

Result<void> check_ranks(std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
  if (a.size() == b.size()) return {};
  return fail(DiagKind::RankMismatch, "shapes {} and {} differ in rank", shape_text(a),
              shape_text(b));
}

// How far a tile reaches is not one number where the inner's offset is only known at run time.
Result<void> check_footprints(const TileLayout& inner, const TileLayout& outer) {
  for (const Axis axis : moving_axes(outer)) {
    const bool used = std::any_of(inner.shard().begin(), inner.shard().end(),
                                  [&](const Iter& iter) { return iter.axis == axis; });
    if (used && !inner.offset().on(axis).is_constant())
      return fail(DiagKind::NeedsConstant,
                  "tiling along `{}` needs a constant offset there, and the inner's is {}",
                  axis.name(), inner.offset().on(axis).text());
  }
  return {};
}

// whole / part per dimension.
Result<Shape> quotient(std::span<const std::int64_t> whole, std::span<const std::int64_t> part) {
  WW_TRY_VOID(check_ranks(whole, part));
  Shape out;
  for (std::size_t d = 0; d < whole.size(); ++d) {
    if (whole[d] < 1 || part[d] < 1 || whole[d] % part[d] != 0)
      return fail(DiagKind::Indivisible, "dimension {} of {} is not a multiple of that of {}", d,
                  shape_text(whole), shape_text(part));
    out.push_back(whole[d] / part[d]);
  }
  return out;
}

Shape interleave(std::span<const std::int64_t> outer, std::span<const std::int64_t> inner) {
  Shape out;
  for (std::size_t d = 0; d < outer.size(); ++d) {
    out.push_back(outer[d]);
    out.push_back(inner[d]);
  }
  return out;
}

// The iters of every second dimension, starting with `first`.
Iters every_second(const Grouped& grouped, std::size_t rank, std::size_t first) {
  Iters out;
  for (std::size_t d = first; d < rank; d += 2) out.append(grouped.dim(d));
  return out;
}

Result<Layout> verified_part(const Layout& answer, const Layout& retiled, const Layout& tiled) {
  if (WW_TRY(same_places(retiled, tiled))) return canonicalize(answer);
  return fail(DiagKind::NotTiled, "the only candidate, `{}`, tiles to `{}` and not to `{}`",
              to_text(answer), to_text(retiled), to_text(tiled));
}

Result<void> require_known_tiles(const Layout& layout) {
  if (!layout.tile().has_unknown_extent()) return {};
  return fail(DiagKind::NeedsConstant, "tiling needs known extents, and `{}` has `?`",
              to_text(layout));
}

// What is left of the tiled layout's replica without the part's.
Result<Iters> other_replica(const Layout& tiled, const Layout& part) {
  auto out = divide_replicas(tiled.tile().replica(), part.tile().replica());
  if (!out) out.error().kind = DiagKind::NotTiled;
  return out;
}

struct Pair {
  Layout whole;
  Layout part;
};

// Both on the same thread axes: fused, then the whole split where the part is finer.
Result<Pair> on_common_axes(const Layout& tiled, const Layout& part, Machine machine) {
  Pair out{fuse_threads(tiled, machine), fuse_threads(part, machine)};
  out.whole = WW_TRY(split_like(out.whole, out.part, machine));
  return out;
}

}  // namespace

Result<Layout> tile(const Layout& inner, std::span<const std::int64_t> inner_shape,
                    const Layout& outer, std::span<const std::int64_t> outer_shape,
                    TileOptions options) {
  WW_TRY_VOID(check_ranks(inner_shape, outer_shape));
  WW_TRY_VOID(require_known_tiles(inner));
  WW_TRY_VOID(require_known_tiles(outer));
  if (outer.is_swizzled())
    return fail(DiagKind::BadSwizzle, "the outer of a tiling cannot be swizzled: `{}`",
                to_text(outer));
  const Layout plain = canonicalize(inner);
  const Grouped fine = WW_TRY(group(plain, inner_shape));
  const Grouped coarse = WW_TRY(group(canonicalize(outer), outer_shape));
  const TileLayout& in = fine.layout.tile();
  const TileLayout& out = coarse.layout.tile();
  const TileLayout& reach = plain.tile();  // without the units that grouping adds
  WW_TRY_VOID(check_footprints(reach, out));
  Iters shard;
  for (std::size_t d = 0; d < inner_shape.size(); ++d) {
    shard.append(WW_TRY(scale_iters(coarse.dim(d), reach)));
    shard.append(fine.dim(d));
  }
  Iters replica = in.replica();
  replica.append(options.scale_places ? WW_TRY(scale_iters(out.replica(), reach)) : out.replica());
  Offsets offset = in.offset();
  for (const Axis axis : out.offset().axes()) {
    const std::int64_t factor = options.scale_places ? footprint(reach, axis) : 1;
    for (const OffsetTerm& term : out.offset().terms())
      if (term.axis == axis) WW_TRY_VOID(scaled(term.coef, factor));
    offset.add(axis, out.offset().on(axis) * factor);
  }
  auto tiled = TileLayout::make(std::move(shard), std::move(replica), std::move(offset));
  return canonicalize(WW_TRY(Layout::make(WW_TRY(std::move(tiled)), inner.swizzle())));
}

Result<Layout> tile_to(const Layout& inner, std::span<const std::int64_t> to,
                       std::span<const std::int64_t> from) {
  const Shape grid = WW_TRY(quotient(to, from));
  const Layout outer = WW_TRY(TileLayout::row_major(grid));
  return tile(inner, from, outer, grid);
}

Result<Layout> outer_of_tile(const Layout& tiled, std::span<const std::int64_t> tiled_shape,
                             const Layout& inner, std::span<const std::int64_t> inner_shape,
                             Machine machine) {
  const Shape grid = WW_TRY(quotient(tiled_shape, inner_shape));
  WW_TRY_VOID(require_known_tiles(tiled));
  WW_TRY_VOID(require_known_tiles(inner));
  if (!(tiled.swizzle() == inner.swizzle()))
    return fail(DiagKind::NotTiled, "`{}` and `{}` are swizzled differently", to_text(tiled),
                to_text(inner));
  const Pair on = WW_TRY(on_common_axes(tiled, inner, machine));
  const Grouped parts = WW_TRY(group(on.whole, interleave(grid, inner_shape)));
  const TileLayout& part = on.part.tile();
  Iters shard = every_second(parts, 2 * grid.size(), 0);
  for (Iter& iter : shard) {
    const std::int64_t f = footprint(part, iter.axis);
    if (iter.extent > 1 && iter.stride % f != 0)
      return fail(DiagKind::NotTiled,
                  "stride {} is not a multiple of the tile's span {} on that axis",
                  place_text(iter.stride, iter.axis), f);
    iter.stride /= f;
  }
  Iters replica = WW_TRY(other_replica(on.whole, on.part));
  Offsets offset = on.whole.tile().offset();
  offset.subtract(part.offset());
  const Layout outer =
      WW_TRY(TileLayout::make(std::move(shard), std::move(replica), std::move(offset)));
  return verified_part(outer, WW_TRY(tile(on.part, inner_shape, outer, grid)), on.whole);
}

Result<Layout> inner_of_tile(const Layout& tiled, std::span<const std::int64_t> tiled_shape,
                             const Layout& outer, std::span<const std::int64_t> outer_shape,
                             Machine machine) {
  const Shape inner_shape = WW_TRY(quotient(tiled_shape, outer_shape));
  WW_TRY_VOID(require_known_tiles(tiled));
  WW_TRY_VOID(require_known_tiles(outer));
  if (outer.is_swizzled())
    return fail(DiagKind::NotTiled, "the outer of a tiling cannot be swizzled: `{}`",
                to_text(outer));
  const Pair on = WW_TRY(on_common_axes(tiled, outer, machine));
  const Grouped parts = WW_TRY(group(on.whole, interleave(outer_shape, inner_shape)));
  Iters replica = WW_TRY(other_replica(on.whole, on.part));
  Offsets offset = on.whole.tile().offset();
  offset.subtract(on.part.tile().offset());
  const Layout inner =
      WW_TRY(Layout::make(WW_TRY(TileLayout::make(every_second(parts, 2 * inner_shape.size(), 1),
                                                  std::move(replica), std::move(offset))),
                          tiled.swizzle()));
  return verified_part(inner, WW_TRY(tile(inner, inner_shape, on.part, outer_shape)), on.whole);
}

}  // namespace ww::layout
