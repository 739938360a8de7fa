// SPDX-License-Identifier: Apache-2.0
// Applying a layout: all ways of naming an element agree with the definition.
#include <gtest/gtest.h>

#include "layout/apply.h"
#include "property/laws.h"

namespace ww::test::laws_apply_test {
namespace {

Place plain(const layout::Place& place) {
  Place out;
  for (const auto& [axis, value] : place) {
    if (value != 0) out[std::string(axis.name())] = value;
  }
  return out;
}

bool names_all_axes(const layout::Place& place, const layout::Layout& l) {
  const auto axes = l.tile().axes();
  if (place.size() != axes.size()) return false;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    if (!(place[k].axis == axes[k])) return false;
  }
  return true;
}

Complaint flat_law(const Case& c) {
  const layout::Layout l = layout_of(c.operands[0]);
  const OLayout& parts = c.operands[0].parts;
  for (std::int64_t x = 0; x < size_of(parts); ++x) {
    const auto place = layout::apply(l, x);
    if (!place) return refusal("apply", place.error());
    if (!names_all_axes(*place, l)) return fmt::format("apply({}) does not name every axis", x);
    if (plain(*place) != place_at_replica_0(parts, x)) {
      return fmt::format("apply({}) is {}", x, text(plain(*place)));
    }
    const layout::Shape digits = layout::split_digits(l.tile(), x);
    if (Ints(digits.begin(), digits.end()) != coordinate_of(x, extents_of(parts.shard))) {
      return fmt::format("split_digits({}) is {}", x, text(Ints(digits.begin(), digits.end())));
    }
    const auto by_digits = layout::apply_digits(l, digits);
    if (!by_digits || !(*by_digits == *place)) return fmt::format("apply_digits differs at {}", x);
  }
  return kFine;
}

Complaint all_places_law(const Case& c) {
  const layout::Layout l = layout_of(c.operands[0]);
  for (std::int64_t x = 0; x < size_of(c.operands[0].parts); ++x) {
    const auto places = layout::apply_all(l, x);
    if (!places) return refusal("apply_all", places.error());
    Places seen;
    for (const layout::Place& place : *places) {
      if (!seen.insert(plain(place)).second) return fmt::format("apply_all({}) repeats a place", x);
    }
    if (seen != places_at(c.operands[0].parts, x)) {
      return fmt::format("apply_all({}) is {}", x, text(seen));
    }
  }
  return kFine;
}

Complaint shape_law(const Case& c) {
  const Operand& o = c.operands[0];
  const layout::Layout l = layout_of(o);
  for (std::int64_t x = 0; x < size_of(o.parts); ++x) {
    const Ints coordinate = coordinate_of(x, o.shape);
    const auto flat = layout::flatten(coordinate, o.shape);
    if (!flat || *flat != x) return fmt::format("flatten{} is not {}", text(coordinate), x);
    const layout::Shape back = layout::unflatten(x, o.shape);
    if (Ints(back.begin(), back.end()) != coordinate) return fmt::format("unflatten({})", x);
    const auto place = layout::apply(l, coordinate, o.shape);
    if (!place) return refusal("apply with a shape", place.error());
    if (plain(*place) != place_at_replica_0(o.parts, x)) {
      return fmt::format("apply{} is {}", text(coordinate), text(plain(*place)));
    }
  }
  return kFine;
}

/// A bare variable per dimension splits into digits without any doubt, so where the layout groups
/// by the shape the symbolic place must exist, and be right for every value.
Complaint symbolic_law(const Case& c) {
  const Operand& o = c.operands[0];
  layout::Layout l = layout_of(o);
  std::vector<layout::Expr> coordinate;
  for (std::size_t d = 0; d < o.shape.size(); ++d) {
    coordinate.emplace_back(layout::Sym::make(fmt::format("x{}", d), {0, o.shape[d] - 1}).value());
  }
  const auto place = layout::apply_symbolic(l, coordinate, o.shape);
  OLayout unswizzled = o.parts;
  unswizzled.swizzle = {};
  if (!place) {
    return is_additive(table_of(unswizzled), o.shape) ? refusal("apply_symbolic", place.error())
                                                      : kFine;
  }
  for (std::int64_t x = 0; x < size_of(o.parts); ++x) {
    const Ints at = coordinate_of(x, o.shape);
    Symbols symbols;
    for (std::size_t d = 0; d < at.size(); ++d) symbols[fmt::format("x{}", d)] = at[d];
    Place got;
    for (const auto& [axis, value] : place->values) {
      const std::int64_t v = value_of(value, symbols);
      if (v != 0) got[std::string(axis.name())] = v;
    }
    if (got != place_at_replica_0(unswizzled, x)) {
      return fmt::format("the symbolic place at {} is {}", text(at), text(got));
    }
  }
  return kFine;
}

const Wish kRich{.axes = {"m", "laneid", "warpid", "TCol", "reg", "gpu", "pid"}, .swizzle = true};

TEST(LawsApply, FlatSmall) { for_all_small(shards_of_rank_3(), flat_law); }
TEST(LawsApply, FlatSmallFull) { for_all_small(full_of_rank_2(), flat_law); }
TEST(LawsApply, FlatRandom) {
  for_all(
      101, 1500, [](Rng& rng) { return one_layout(rng, kRich); }, flat_law);
}
TEST(LawsApply, AllPlacesSmall) { for_all_small(full_of_rank_2(), all_places_law); }
TEST(LawsApply, AllPlacesRandom) {
  for_all(
      102, 1000, [](Rng& rng) { return one_layout(rng, kRich); }, all_places_law);
}
TEST(LawsApply, ShapeRandom) {
  for_all(
      103, 1500, [](Rng& rng) { return layout_and_shape(rng, kRich); }, shape_law);
}
TEST(LawsApply, SymbolicRandom) {
  for_all(
      104, 1000, [](Rng& rng) { return layout_and_shape(rng, kRich); }, symbolic_law);
}
TEST(LawsApply, SymbolicSmall) {
  Space space = full_of_rank_2();
  space.replicas = {{}};
  for_all_small(
      space,
      [](const OLayout& parts, const auto& visit) {
        for (const Ints& shape : all_shapes(size_of(parts), 2)) {
          visit({.operands = {{.parts = parts, .shape = shape}}});
        }
      },
      symbolic_law);
}

TEST(LawsApply, PastTheEndContinuesAlongTheFirstIter) {
  const layout::Layout l = parsed("S[(3,4):(10,1)]");
  EXPECT_EQ(plain(layout::apply(l, 12).value()), (Place{{"m", 30}}));
  EXPECT_EQ(plain(layout::apply(l, 23).value()), (Place{{"m", 53}}));
}

TEST(LawsApply, BadElementsAreRefused) {
  const layout::Layout l = parsed("S[(3,4):(10,1)]");
  EXPECT_FALSE(layout::apply(l, -1));
  EXPECT_FALSE(layout::apply(l, Ints{3, 0}, Ints{3, 4}));
  EXPECT_FALSE(layout::apply(l, Ints{0, -1}, Ints{3, 4}));
  EXPECT_FALSE(layout::apply(l, Ints{0}, Ints{3, 4}));
  EXPECT_FALSE(layout::apply(l, Ints{0, 0}, Ints{3, 5}));
  EXPECT_FALSE(layout::apply_digits(l, Ints{0}));
  EXPECT_FALSE(layout::apply_digits(l, Ints{0, 0, 0}));
}

TEST(LawsApply, DigitsInShapeLeadToTheSamePlace) {
  // (16,4,4) over (16,16): 5 and 7 = 1·4 + 3.
  const layout::Layout l = parsed("S[(16,4,4):(16,4,1)]");
  const auto digits = layout::digits_in_shape(l, Ints{5, 7}, Ints{16, 16}).value();
  EXPECT_EQ(Ints(digits.begin(), digits.end()), (Ints{5, 1, 3}));
}

}  // namespace
}  // namespace ww::test::laws_apply_test
