// SPDX-License-Identifier: Apache-2.0
// Tiling and its recognition. Every answer re-tiles to what was given; a refusal is confirmed by
// working out the only candidate from the table.
#include <gtest/gtest.h>

#include <algorithm>

#include "layout/canonical.h"
#include "layout/tile.h"
#include "property/laws.h"

namespace ww::test::laws_tile_test {
namespace {

Ints times(const Ints& a, const Ints& b) {
  Ints out;
  for (std::size_t d = 0; d < a.size(); ++d) out.push_back(a[d] * b[d]);
  return out;
}

OLayout unswizzled(OLayout parts) {
  parts.swizzle = {};
  return parts;
}

/// An axis that the inner's shard names without moving along it, and that the inner's offset or
/// replica uses: whether it counts as used by the shard is a matter of spelling.
bool has_idle_axis(const OLayout& parts) {
  for (const OIter& it : parts.shard) {
    if (it.extent > 1 && it.stride != 0) continue;
    if (parts.offset.contains(it.axis)) return true;
    for (const OIter& r : parts.replica) {
      if (r.axis == it.axis) return true;
    }
  }
  return false;
}

bool fits(const Operand& inner, const Operand& outer) {
  return inner.shape.size() == outer.shape.size() && !has_idle_axis(inner.parts);
}

/// Operands: inner, outer. numbers: {1} to scale the outer's places.
Complaint tile_law(const Case& c) {
  const Operand& inner = c.operands[0];
  const Operand& outer = c.operands[1];
  if (!fits(inner, outer)) return kFine;
  const bool scale = !c.numbers.empty() && c.numbers[0] != 0;
  const auto got = layout::tile(layout_of(inner), inner.shape, layout_of(outer), outer.shape,
                                {.scale_places = scale});
  if (!got) {
    const bool possible = is_additive(table_of(unswizzled(inner.parts)), inner.shape) &&
                          is_additive(table_of(outer.parts), outer.shape);
    return possible ? Complaint(refusal("tile", got.error())) : kFine;
  }
  OLayout before_swizzle = read(*got);
  if (!(before_swizzle.swizzle == inner.parts.swizzle)) return "tile changed the swizzle";
  before_swizzle.swizzle = {};
  const Table want = tile_meaning(inner.parts, inner.shape, outer.parts, outer.shape, scale);
  if (const auto wrong = difference(table_of(before_swizzle), want)) {
    return fmt::format("tile gave {}: {}", notation(read(*got)), *wrong);
  }
  if (!(layout::canonicalize(*got) == *got)) return "the tiled layout is not canonical";
  return kFine;
}

Case inner_and_outer(Rng& rng, const Wish& wish) {
  Operand inner{.parts = random_layout(rng, wish)};
  Wish plain = wish;
  plain.swizzle = false;
  Operand outer{.parts = random_layout(rng, plain)};
  inner.shape = shape_along(rng, inner.parts);
  outer.shape = shape_along(rng, outer.parts);
  while (inner.shape.size() < outer.shape.size()) inner.shape.insert(inner.shape.begin(), 1);
  while (outer.shape.size() < inner.shape.size()) outer.shape.insert(outer.shape.begin(), 1);
  return {.operands = {inner, outer}, .numbers = {rng.one_in(3) ? 1 : 0}};
}

const Wish kShard{.max_rank = 3,
                  .max_size = 16,
                  .extents = {1, 2, 3, 4, 5, 6},
                  .negative = false,
                  .replica = false,
                  .offset = false};
Wish with(Wish wish, bool replica, bool offset, bool swizzle = false) {
  wish.replica = replica;
  wish.offset = offset;
  wish.swizzle = swizzle;
  return wish;
}

TEST(LawsTile, Random) {
  for_all(
      501, 1500, [](Rng& rng) { return inner_and_outer(rng, with(kShard, true, true)); }, tile_law);
}
TEST(LawsTile, RandomSwizzled) {
  for_all(
      502, 500, [](Rng& rng) { return inner_and_outer(rng, with(kShard, true, true, true)); },
      tile_law);
}
TEST(LawsTile, RandomNegative) {
  Wish wish = with(kShard, true, true);
  wish.negative = true;
  for_all(
      503, 500, [&](Rng& rng) { return inner_and_outer(rng, wish); }, tile_law);
}
TEST(LawsTile, AllSmallPairs) {
  Space space;
  space.max_rank = 1;
  space.extents = {1, 2, 3};
  space.strides = {0, 1, 2};
  space.all_axes = true;
  space.axes = {"m", "laneid"};
  space.replicas = {{}, {{2, 4, "m"}}, {{2, 1, "laneid"}}};
  space.offsets = {{}, {{"m", 2}}};
  for_all_small(
      space,
      [&](const OLayout& inner, const auto& visit) {
        for_each_layout(space, [&](const OLayout& outer) {
          visit({.operands = {{inner, {size_of(inner)}}, {outer, {size_of(outer)}}}});
        });
      },
      tile_law);
}

// ---- Algebraic laws -----------------------------------------------------------------------------

Complaint associative_law(const Case& c) {
  const Operand& a = c.operands[0];
  const Operand& b = c.operands[1];
  const Operand& g = c.operands[2];
  if (a.shape.size() != b.shape.size() || b.shape.size() != g.shape.size()) return kFine;
  const auto ab = layout::tile(layout_of(a), a.shape, layout_of(b), b.shape);
  const auto bg = layout::tile(layout_of(b), b.shape, layout_of(g), g.shape);
  if (!ab || !bg) return kFine;
  const auto left = layout::tile(*ab, times(a.shape, b.shape), layout_of(g), g.shape);
  const auto right = layout::tile(layout_of(a), a.shape, *bg, times(b.shape, g.shape));
  if (!left || !right) return kFine;
  // Holds where spans multiply: an axis that only some of the three use is scaled differently.
  const auto all_on_m = [](const Operand& o) {
    for (const OIter& it : o.parts.shard) {
      if (it.axis != "m" || it.extent == 1 || it.stride == 0) return false;
    }
    return !o.parts.shard.empty();
  };
  if (!all_on_m(a) || !all_on_m(b) || !all_on_m(g)) return kFine;
  return unless_table("tiling the tiled", *left, table_of(read(*right)));
}

TEST(LawsTile, AssociativeOnOneAxis) {
  for_all(
      504, 1500,
      [](Rng& rng) {
        Case c;
        for (int k = 0; k < 3; ++k) {
          // Compact layouts: the span of a tiling is then the product of the spans.
          OLayout parts = random_permutation(rng, rng.between(2, 6));
          Ints shape = shape_along(rng, parts);
          shape.resize(2, 1);
          if (product(shape) != size_of(parts)) shape = {size_of(parts), 1};
          c.operands.push_back({parts, shape});
        }
        return c;
      },
      associative_law);
}

Complaint identity_law(const Case& c) {
  const Operand& o = c.operands[0];
  const layout::Layout l = layout_of(o);
  const auto to_itself = layout::tile_to(l, o.shape, o.shape);
  const bool possible = is_additive(table_of(unswizzled(o.parts)), o.shape);
  if (!to_itself) return possible ? Complaint(refusal("tile_to", to_itself.error())) : kFine;
  if (auto wrong = unless_table("tile_to its own shape", *to_itself, table_of(o.parts)))
    return wrong;
  return same_canonical(*to_itself, l) ? kFine
                                       : Complaint("tile_to its own shape is not canonical");
}

TEST(LawsTile, ToItsOwnShapeIsCanonical) {
  for_all(
      505, 800, [](Rng& rng) { return layout_and_shape(rng, {.swizzle = true}); }, identity_law);
}

TEST(LawsTile, ToIsTilingByARowMajorGrid) {
  for_all(
      506, 500,
      [](Rng& rng) {
        Operand o{.parts = random_layout(rng, with(kShard, true, true))};
        o.shape = shape_along(rng, o.parts);
        return Case{.operands = {o}, .numbers = {rng.between(1, 3), rng.between(1, 3)}};
      },
      [](const Case& c) -> Complaint {
        const Operand& o = c.operands[0];
        Ints grid;
        for (std::size_t d = 0; d < o.shape.size(); ++d) grid.push_back(c.numbers[d % 2]);
        if (*std::ranges::min_element(grid) < 1) return kFine;
        const auto got = layout::tile_to(layout_of(o), times(o.shape, grid), o.shape);
        const auto outer = layout::TileLayout::row_major(grid).value();
        const auto want = layout::tile(layout_of(o), o.shape, outer, grid);
        if (got.has_value() != want.has_value()) return "tile_to and tile disagree on an answer";
        return !got || *got == *want ? kFine : Complaint("tile_to differs from tile");
      });
}

TEST(LawsTile, BadShapesAreRefused) {
  const layout::Layout l = parsed("S[(4,4):(4,1)]");
  const layout::Layout grid = parsed("S[(2,2):(2,1)]");
  EXPECT_FALSE(layout::tile_to(l, Ints{6, 8}, Ints{4, 4}));
  EXPECT_FALSE(layout::tile_to(l, Ints{2, 4}, Ints{4, 4}));
  EXPECT_FALSE(layout::tile_to(l, Ints{8}, Ints{4, 4}));
  EXPECT_FALSE(layout::tile_to(l, Ints{0, 4}, Ints{4, 4}));
  EXPECT_FALSE(layout::tile(l, Ints{4, 4}, grid, Ints{4}));
  EXPECT_FALSE(layout::tile(l, Ints{4, 8}, grid, Ints{2, 2}));
  EXPECT_FALSE(layout::tile(l, Ints{4, 4}, grid, Ints{2, 3}));
}

// ---- Recognition --------------------------------------------------------------------------------

Table minus_place(const Table& table, const Place& place) {
  Place back;
  for (const auto& [axis, v] : place) back[axis] = -v;
  Table out;
  for (const Places& places : table) out.push_back(sum_of(places, {back}));
  return out;
}

/// Factor per axis that the table moves along: how far it reaches.
std::map<std::string, std::int64_t> spans_of(const Table& table) {
  std::map<std::string, std::int64_t> out;
  for (const std::string& axis : axes_of(table)) {
    bool moves = false;
    for (const Places& places : table) {
      moves = moves || range_on({places}, axis) != range_on({table.front()}, axis);
    }
    const auto [low, high] = range_on(table, axis);
    if (moves) out[axis] = 1 + high - std::min<std::int64_t>(low, 0);
  }
  return out;
}

/// Is `tiled` = f·D + W(0) + inner for the D read off at the first element of each tile?
bool outer_exists(const Table& tiled, const Ints& tiled_shape, const Operand& inner,
                  const Ints& outer_shape) {
  const Table inner_table = table_of(inner.parts);
  if (!is_additive(inner_table, inner.shape)) return false;
  const auto factors = spans_of(inner_table);
  Table corner;  // tile o, first element, inner's place taken away
  for (std::int64_t o = 0; o < product(outer_shape); ++o) {
    const Ints at = times(coordinate_of(o, outer_shape), inner.shape);
    corner.push_back(tiled[static_cast<std::size_t>(flat_of(at, tiled_shape))]);
  }
  corner = minus_place(corner, *inner_table[0].begin());
  for (std::int64_t o = 0; o < product(outer_shape); ++o) {
    for (std::int64_t i = 0; i < product(inner.shape); ++i) {
      Ints at = times(coordinate_of(o, outer_shape), inner.shape);
      const Ints inside = coordinate_of(i, inner.shape);
      for (std::size_t d = 0; d < at.size(); ++d) at[d] += inside[d];
      const Places want =
          sum_of(corner[static_cast<std::size_t>(o)], inner_table[static_cast<std::size_t>(i)]);
      if (tiled[static_cast<std::size_t>(flat_of(at, tiled_shape))] != want) return false;
    }
  }
  if (!is_tile_table(corner) || !is_additive(corner, outer_shape)) return false;
  for (const auto& [axis, f] : factors) {
    const auto first = range_on({corner.front()}, axis).first;
    for (const Places& places : corner) {
      if (f == 0 || (range_on({places}, axis).first - first) % f != 0) return false;
    }
  }
  return true;
}

Ints quotient(const Ints& a, const Ints& b) {
  Ints out;
  for (std::size_t d = 0; d < a.size(); ++d) {
    if (b[d] == 0 || a[d] % b[d] != 0) return {};
    out.push_back(a[d] / b[d]);
  }
  return out;
}

/// Operands: tiled, inner.
Complaint outer_law(const Case& c) {
  const Operand& tiled = c.operands[0];
  const Operand& inner = c.operands[1];
  if (tiled.shape.size() != inner.shape.size() || has_idle_axis(inner.parts)) return kFine;
  const auto got =
      layout::outer_of_tile(layout_of(tiled), tiled.shape, layout_of(inner), inner.shape);
  const Ints outer_shape = quotient(tiled.shape, inner.shape);
  if (outer_shape.empty())
    return got ? Complaint("an outer where the shapes do not divide") : kFine;
  if (got) {
    const Table again = tile_meaning(inner.parts, inner.shape, read(*got), outer_shape, false);
    if (const auto wrong = difference(again, table_of(tiled.parts))) {
      return fmt::format("outer_of_tile gave {}, which does not re-tile: {}", notation(read(*got)),
                         *wrong);
    }
    return kFine;
  }
  const bool decided = inner.parts.replica.empty();
  if (decided && outer_exists(table_of(tiled.parts), tiled.shape, inner, outer_shape)) {
    return refusal("outer_of_tile", got.error());
  }
  return kFine;
}

/// Operands: tiled, outer. Decides existence only for outers without replica.
Complaint inner_law(const Case& c) {
  const Operand& tiled = c.operands[0];
  const Operand& outer = c.operands[1];
  if (tiled.shape.size() != outer.shape.size()) return kFine;
  const Ints inner_shape = quotient(tiled.shape, outer.shape);
  const auto got =
      layout::inner_of_tile(layout_of(tiled), tiled.shape, layout_of(outer), outer.shape);
  if (inner_shape.empty())
    return got ? Complaint("an inner where the shapes do not divide") : kFine;
  const Table table = table_of(tiled.parts);
  if (got) {
    if (has_idle_axis(read(*got))) return kFine;
    const Table again = tile_meaning(read(*got), inner_shape, outer.parts, outer.shape, false);
    if (const auto wrong = difference(again, table)) {
      return fmt::format("inner_of_tile gave {}, which does not re-tile: {}", notation(read(*got)),
                         *wrong);
    }
    return kFine;
  }
  if (!outer.parts.replica.empty()) return kFine;
  Table first_tile = slice_meaning(tiled.parts, tiled.shape, Ints(inner_shape.size()), inner_shape);
  first_tile = minus_place(first_tile, *table_of(outer.parts)[0].begin());
  if (!is_tile_table(first_tile) || !is_additive(first_tile, inner_shape)) return kFine;
  if (!is_additive(table_of(outer.parts), outer.shape)) return kFine;
  const auto factors = spans_of(first_tile);
  for (const OIter& it : outer.parts.shard) {
    // An axis on which the inner would rest away from 0: its span is a matter of spelling.
    if (!factors.contains(it.axis) &&
        range_on(first_tile, it.axis) != std::pair<std::int64_t, std::int64_t>{0, 0}) {
      return kFine;
    }
  }
  OLayout scaled_outer = outer.parts;
  for (OIter& it : scaled_outer.shard) {
    if (factors.contains(it.axis)) it.stride *= factors.at(it.axis);
  }
  for (std::int64_t x = 0; x < product(tiled.shape); ++x) {
    Ints o;
    Ints i;
    const Ints at = coordinate_of(x, tiled.shape);
    for (std::size_t d = 0; d < at.size(); ++d) {
      o.push_back(at[d] / inner_shape[d]);
      i.push_back(at[d] % inner_shape[d]);
    }
    const Places want = sum_of(places_at(scaled_outer, flat_of(o, outer.shape)),
                               first_tile[static_cast<std::size_t>(flat_of(i, inner_shape))]);
    if (table[static_cast<std::size_t>(x)] != want) return kFine;
  }
  return refusal("inner_of_tile", got.error());
}

/// The tiled layout of a random pair, sometimes spoilt, with one of the two.
Case recognisable(Rng& rng, const Wish& wish, bool keep_inner) {
  const Case pair = inner_and_outer(rng, wish);
  const Operand& inner = pair.operands[0];
  const Operand& outer = pair.operands[1];
  const auto tiled = layout::tile(layout_of(inner), inner.shape, layout_of(outer), outer.shape);
  Operand whole{.parts = tiled ? read(*tiled) : inner.parts, .shape = inner.shape};
  if (tiled) whole.shape = times(inner.shape, outer.shape);
  if (rng.one_in(5) && !whole.parts.shard.empty()) {
    whole.parts.shard[rng.below(whole.parts.shard.size())].stride += 1;
  }
  if (rng.one_in(8)) whole.parts.replica.push_back({2, rng.between(1, 4), "m"});
  return {.operands = {whole, keep_inner ? inner : outer}};
}

TEST(LawsTile, OuterIsRecognised) {
  int found = 0;
  for_all(
      507, 1500, [](Rng& rng) { return recognisable(rng, kShard, true); },
      [&](const Case& c) {
        const Operand& t = c.operands[0];
        const Operand& i = c.operands[1];
        found += layout::outer_of_tile(layout_of(t), t.shape, layout_of(i), i.shape) ? 1 : 0;
        return outer_law(c);
      });
  EXPECT_GT(found, 500);
}
TEST(LawsTile, OuterIsRecognisedWithReplicaAndOffset) {
  for_all(
      508, 1500, [](Rng& rng) { return recognisable(rng, with(kShard, true, true), true); },
      outer_law);
}
TEST(LawsTile, InnerIsRecognised) {
  int found = 0;
  for_all(
      509, 1500, [](Rng& rng) { return recognisable(rng, kShard, false); },
      [&](const Case& c) {
        const Operand& t = c.operands[0];
        const Operand& o = c.operands[1];
        found += layout::inner_of_tile(layout_of(t), t.shape, layout_of(o), o.shape) ? 1 : 0;
        return inner_law(c);
      });
  EXPECT_GT(found, 500);
}
TEST(LawsTile, InnerIsRecognisedWithReplicaAndOffset) {
  for_all(
      510, 1500, [](Rng& rng) { return recognisable(rng, with(kShard, true, true), false); },
      inner_law);
}
TEST(LawsTile, UnrelatedLayoutsAreNotRecognised) {
  const auto unrelated = [](Rng& rng) {
    Case c = inner_and_outer(rng, with(kShard, true, true));
    Operand whole{.parts = random_layout(rng, with(kShard, true, true))};
    whole.shape = shape_along(rng, whole.parts);
    whole.shape.resize(c.operands[0].shape.size(), 1);
    if (product(whole.shape) != size_of(whole.parts)) {
      whole.shape.assign(whole.shape.size(), 1);
      whole.shape[0] = size_of(whole.parts);
    }
    return Case{.operands = {whole, c.operands[rng.below(2)]}};
  };
  for_all(511, 800, unrelated, outer_law);
  for_all(512, 800, unrelated, inner_law);
}

/// On split and fused thread axes, threads are compared as linear ids.
Complaint cuda_outer_law(const Case& c) {
  const Operand& tiled = c.operands[0];
  const Operand& inner = c.operands[1];
  const auto got = layout::outer_of_tile(layout_of(tiled), tiled.shape, layout_of(inner),
                                         inner.shape, layout::Machine::Cuda);
  if (!got) return refusal("outer_of_tile", got.error());
  const Ints outer_shape = quotient(tiled.shape, inner.shape);
  const Table again = tile_meaning(inner.parts, inner.shape, read(*got), outer_shape, false);
  const auto wrong = difference(on_threads(again), on_threads(table_of(tiled.parts)));
  return wrong ? Complaint("outer_of_tile gave " + notation(read(*got)) + ": " + *wrong) : kFine;
}

TEST(LawsTile, OuterOfFusedThreadsIsRecognised) {
  // A warp fragment, repeated over warps, written with `tx` alone.
  for (const std::int64_t rows : {1, 2, 3}) {
    for (const std::int64_t cols : {1, 2, 4}) {
      const Operand inner{.parts = read(parsed("S[(8,1,4,2):(4@laneid,2,1@laneid,1)]")),
                          .shape = {8, 8}};
      OLayout fused{
          .shard = {
              {rows, 32 * cols, "tx"}, {8, 4, "tx"}, {cols, 32, "tx"}, {4, 1, "tx"}, {2, 1, "m"}}};
      for_one({.operands = {{fused, {8 * rows, 8 * cols}}, inner}}, cuda_outer_law);
    }
  }
}

}  // namespace
}  // namespace ww::test::laws_tile_test
