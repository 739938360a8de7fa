// SPDX-License-Identifier: Apache-2.0
// Direct sums: places add over interleaved dimensions; each part is recovered from the sum and the
// other.
#include <gtest/gtest.h>

#include "layout/canonical.h"
#include "layout/direct_sum.h"
#include "property/laws.h"

namespace ww::test::laws_direct_sum_test {
namespace {

const Wish kPart{.max_rank = 3, .max_size = 12, .extents = {1, 2, 3, 4, 5}};

Case two_parts(Rng& rng, const Wish& wish) {
  Operand a{.parts = random_layout(rng, wish)};
  Operand b{.parts = random_layout(rng, wish)};
  a.shape = shape_along(rng, a.parts);
  b.shape = shape_along(rng, b.parts);
  while (a.shape.size() < b.shape.size()) a.shape.insert(a.shape.begin(), 1);
  while (b.shape.size() < a.shape.size()) b.shape.insert(b.shape.begin(), 1);
  return {.operands = {a, b}};
}

Ints interleaved(const Ints& a, const Ints& b) {
  Ints out;
  for (std::size_t d = 0; d < a.size(); ++d) {
    out.push_back(a[d]);
    out.push_back(b[d]);
  }
  return out;
}

Complaint sum_law(const Case& c) {
  const Operand& a = c.operands[0];
  const Operand& b = c.operands[1];
  if (a.shape.size() != b.shape.size()) return kFine;
  const auto got = layout::direct_sum(layout_of(a), a.shape, layout_of(b), b.shape);
  if (!got) {
    const bool possible =
        is_additive(table_of(a.parts), a.shape) && is_additive(table_of(b.parts), b.shape);
    return possible ? Complaint(refusal("direct_sum", got.error())) : kFine;
  }
  const Table want = direct_sum_meaning(a.parts, a.shape, b.parts, b.shape);
  if (auto wrong = unless_table("direct_sum", *got, want)) return wrong;
  return layout::canonicalize(*got) == *got ? kFine : Complaint("the direct sum is not canonical");
}

TEST(LawsDirectSum, Random) {
  for_all(
      601, 1500, [](Rng& rng) { return two_parts(rng, kPart); }, sum_law);
}
TEST(LawsDirectSum, AllSmallPairs) {
  Space space;
  space.max_rank = 1;
  space.extents = {1, 2, 3};
  space.strides = {-1, 0, 2};
  space.all_axes = true;
  space.axes = {"m", "laneid"};
  space.replicas = {{}, {{2, 4, "m"}}, {{2, 1, "laneid"}}};
  space.offsets = {{}, {{"m", -2}}};
  for_all_small(
      space,
      [&](const OLayout& a, const auto& visit) {
        for_each_layout(space, [&](const OLayout& b) {
          visit({.operands = {{a, {size_of(a)}}, {b, {size_of(b)}}}});
        });
      },
      sum_law);
}

TEST(LawsDirectSum, SwizzledPart) {
  // One part may be swizzled if the other leaves `m` alone.
  const layout::Layout a = parsed("ComposeLayout(0,2,2, S[(4,4):(4,1)])");
  const layout::Layout b = parsed("S[(2,3):(4@laneid,1@laneid)]");
  const auto got = layout::direct_sum(a, Ints{4, 4}, b, Ints{2, 3});
  ASSERT_TRUE(got) << got.error().text;
  EXPECT_EQ(table_of(read(*got)), direct_sum_meaning(read(a), {4, 4}, read(b), {2, 3}));
  EXPECT_FALSE(layout::direct_sum(a, Ints{4, 4}, parsed("S[(2,3):(3,1)]"), Ints{2, 3}));
  EXPECT_FALSE(layout::direct_sum(a, Ints{4, 4}, a, Ints{4, 4}));
}

/// The only table X with X + known = sum: what the sum says where the known part is at its first
/// element.
Table difference_at_origin(const Operand& sum, const Operand& known, const Ints& shape, bool left) {
  const Places origin = places_at(known.parts, 0);
  Place back;
  for (const auto& [axis, v] : *origin.begin()) back[axis] = -v;
  Table out;
  for (std::int64_t x = 0; x < product(shape); ++x) {
    const Ints at = coordinate_of(x, shape);
    const Ints none(at.size());
    const Ints whole = left ? interleaved(at, none) : interleaved(none, at);
    out.push_back(sum_of(places_at(sum.parts, flat_of(whole, sum.shape)), {back}));
  }
  return out;
}

/// Operands: sum over the interleaved shape, the known part.
Complaint recognition_law(const Case& c, bool left) {
  const Operand& sum = c.operands[0];
  const Operand& known = c.operands[1];
  if (sum.shape.size() != 2 * known.shape.size()) return kFine;
  Ints shape;
  for (std::size_t d = 0; d < known.shape.size(); ++d) {
    if (sum.shape[2 * d + (left ? 1 : 0)] != known.shape[d]) return kFine;
    shape.push_back(sum.shape[2 * d + (left ? 0 : 1)]);
  }
  const auto got =
      left ? layout::left_of_sum(layout_of(sum), sum.shape, layout_of(known), known.shape)
           : layout::right_of_sum(layout_of(sum), sum.shape, layout_of(known), known.shape);
  const Table want = table_of(sum.parts);
  if (got) {
    const Table again = left ? direct_sum_meaning(read(*got), shape, known.parts, known.shape)
                             : direct_sum_meaning(known.parts, known.shape, read(*got), shape);
    const auto wrong = difference(again, want);
    return wrong ? Complaint("gave " + notation(read(*got)) + ", which does not add up: " + *wrong)
                 : kFine;
  }
  if (!known.parts.replica.empty() || !is_additive(table_of(known.parts), known.shape))
    return kFine;
  const Table part = difference_at_origin(sum, known, shape, left);
  if (!is_tile_table(part) || !is_additive(part, shape)) return kFine;
  const Table other = table_of(known.parts);
  for (std::int64_t x = 0; x < size_of(sum.parts); ++x) {
    const Ints at = coordinate_of(x, sum.shape);
    Ints in_part;
    Ints in_known;
    for (std::size_t d = 0; d < at.size(); d += 2) {
      in_part.push_back(at[d + (left ? 0 : 1)]);
      in_known.push_back(at[d + (left ? 1 : 0)]);
    }
    const Places total = sum_of(part[static_cast<std::size_t>(flat_of(in_part, shape))],
                                other[static_cast<std::size_t>(flat_of(in_known, known.shape))]);
    if (total != want[static_cast<std::size_t>(x)]) return kFine;
  }
  return refusal(left ? "left_of_sum" : "right_of_sum", got.error());
}

Case recognisable(Rng& rng, const Wish& wish, bool left) {
  const Case pair = two_parts(rng, wish);
  const Operand& a = pair.operands[0];
  const Operand& b = pair.operands[1];
  const auto sum = layout::direct_sum(layout_of(a), a.shape, layout_of(b), b.shape);
  if (!sum) return {};
  Operand whole{.parts = read(*sum), .shape = interleaved(a.shape, b.shape)};
  if (rng.one_in(5) && !whole.parts.shard.empty()) {
    whole.parts.shard[rng.below(whole.parts.shard.size())].stride += 1;
  }
  if (rng.one_in(6)) whole.parts.offset["m"] += 7;
  if (rng.one_in(8)) whole.parts.replica.push_back({2, rng.between(1, 4), "m"});
  return {.operands = {whole, left ? b : a}};
}

TEST(LawsDirectSum, LeftIsRecognised) {
  int found = 0;
  for_all(
      602, 1500, [](Rng& rng) { return recognisable(rng, kPart, true); },
      [&](const Case& c) -> Complaint {
        if (c.operands.empty()) return kFine;
        const auto complaint = recognition_law(c, true);
        const Operand& s = c.operands[0];
        const Operand& b = c.operands[1];
        found += layout::left_of_sum(layout_of(s), s.shape, layout_of(b), b.shape) ? 1 : 0;
        return complaint;
      });
  EXPECT_GT(found, 500);
}
TEST(LawsDirectSum, RightIsRecognised) {
  for_all(
      603, 1500, [](Rng& rng) { return recognisable(rng, kPart, false); },
      [](const Case& c) -> Complaint {
        return c.operands.empty() ? kFine : recognition_law(c, false);
      });
}

TEST(LawsDirectSum, BadShapesAreRefused) {
  const layout::Layout a = parsed("S[(2,2):(8,2)]");
  EXPECT_FALSE(layout::direct_sum(a, Ints{2, 2}, a, Ints{4}));
  EXPECT_FALSE(layout::direct_sum(a, Ints{2, 3}, a, Ints{2, 2}));
  EXPECT_FALSE(layout::left_of_sum(parsed("S[16:1]"), Ints{16}, a, Ints{2, 2}));
  EXPECT_FALSE(layout::right_of_sum(parsed("S[16:1]"), Ints{2, 2, 2}, a, Ints{2, 2}));
}

}  // namespace
}  // namespace ww::test::laws_direct_sum_test
