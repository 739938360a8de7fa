// SPDX-License-Identifier: Apache-2.0
// Grouping: refines without moving anything, and refuses exactly when the map is no sum of
// functions of the shape's dimensions.
#include <gtest/gtest.h>

#include <algorithm>

#include "layout/canonical.h"
#include "layout/group.h"
#include "property/laws.h"

namespace ww::test::laws_group_test {
namespace {

Complaint seps_fit(const layout::Layout& l, const layout::Seps& seps, const Ints& shape) {
  const auto& shard = l.tile().shard();
  if (seps.size() != shape.size() + 1 || seps.front() != 0) return "seps do not start right";
  if (static_cast<std::size_t>(seps.back()) != shard.size())
    return "seps do not end at the last iter";
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (seps[d] > seps[d + 1]) return "seps descend";
    std::int64_t n = 1;
    for (auto k = seps[d]; k < seps[d + 1]; ++k) n *= shard[static_cast<std::size_t>(k)].extent;
    if (n != shape[d]) return fmt::format("dimension {} holds {} elements", d, n);
  }
  return kFine;
}

OLayout unswizzled(OLayout parts) {
  parts.swizzle = {};
  return parts;
}

Complaint group_law(const Case& c) {
  const Operand& o = c.operands[0];
  const layout::Layout l = layout_of(o);
  const auto grouped = layout::group(l, o.shape);
  const bool possible = is_additive(table_of(unswizzled(o.parts)), o.shape);
  if (!grouped) return possible ? Complaint(refusal("group", grouped.error())) : kFine;
  if (!possible) return "group answered though the map is not a sum over the dimensions";
  if (auto wrong = unless_table("group", grouped->layout, table_of(o.parts))) return wrong;
  if (auto wrong = seps_fit(grouped->layout, grouped->seps, o.shape)) return wrong;
  const auto& before = l.tile();
  const auto& after = grouped->layout.tile();
  if (!(before.replica() == after.replica()) || !(before.offset() == after.offset()) ||
      !(l.swizzle() == grouped->layout.swizzle())) {
    return "group changed replica, offset or swizzle";
  }
  if (!same_canonical(grouped->layout, l)) {
    return "canonical forms before and after group differ: " + notation(read(grouped->layout));
  }
  const auto again = layout::group(grouped->layout, o.shape);
  if (!again || !(again->layout == grouped->layout)) return "grouping twice differs from once";
  return kFine;
}

void every_shape(const OLayout& parts, const std::function<void(const Case&)>& visit) {
  for (const Ints& shape : all_shapes(size_of(parts), 3)) {
    visit({.operands = {{.parts = parts, .shape = shape}}});
  }
}

TEST(LawsGroup, SmallShards) {
  Space space = shards_of_rank_3();
  space.strides = {-1, 0, 1, 3};
  space.extents = {1, 2, 3, 4};
  space.axes = {"m", "laneid"};
  for_all_small(
      space,
      [](const OLayout& parts, const auto& visit) {
        if (size_of(parts) <= 12) every_shape(parts, visit);
      },
      group_law);
}
TEST(LawsGroup, SmallFull) { for_all_small(full_of_rank_2(), every_shape, group_law); }
TEST(LawsGroup, Random) {
  int grouped = 0;
  int refused = 0;
  for_all(
      301, 3000, [](Rng& rng) { return layout_and_shape(rng, {.swizzle = true}); },
      [&](const Case& c) {
        const Operand& o = c.operands[0];
        (layout::group(layout_of(o), o.shape) ? grouped : refused) += 1;
        return group_law(c);
      });
  EXPECT_GT(grouped, 500);
  EXPECT_GT(refused, 100);
}

// ---- Several shapes at once ---------------------------------------------------------------------

/// The common refinement of shapes, if their boundaries divide one another.
std::optional<Ints> refinement(const std::vector<Ints>& shapes) {
  std::set<std::int64_t> boundaries;  // products of prefixes
  for (const Ints& shape : shapes) {
    std::int64_t p = 1;
    for (const std::int64_t e : shape) boundaries.insert(p *= e);
  }
  Ints out;
  std::int64_t previous = 1;
  for (const std::int64_t b : boundaries) {
    if (b % previous != 0) return std::nullopt;
    if (b != previous) out.push_back(b / previous);
    previous = b;
  }
  return out;
}

Complaint group_many_law(const Case& c) {
  const Operand& o = c.operands[0];
  const layout::Layout l = layout_of(o);
  std::vector<Ints> shapes;
  std::vector<layout::Shape> wanted;
  for (const Operand& operand : c.operands) {
    if (product(operand.shape) != size_of(o.parts)) return kFine;
    shapes.push_back(operand.shape);
    wanted.push_back(shape_of(operand.shape));
  }
  const auto fine = refinement(shapes);
  const bool possible = fine && is_additive(table_of(unswizzled(o.parts)), *fine);
  const auto grouped = layout::group_many(l, wanted);
  if (!grouped) return possible ? Complaint(refusal("group_many", grouped.error())) : kFine;
  if (!possible) return "group_many answered though no common refinement exists";
  if (auto wrong = unless_table("group_many", grouped->layout, table_of(o.parts))) return wrong;
  if (grouped->seps.size() != shapes.size()) return "a seps list is missing";
  for (std::size_t k = 0; k < shapes.size(); ++k) {
    if (auto wrong = seps_fit(grouped->layout, grouped->seps[k], shapes[k])) return wrong;
  }
  if (!same_canonical(grouped->layout, l)) {
    return "canonical forms before and after group_many differ";
  }
  return kFine;
}

TEST(LawsGroup, ManyRandom) {
  int grouped = 0;
  for_all(
      302, 2000,
      [](Rng& rng) {
        Case c = layout_and_shape(rng);
        const OLayout parts = c.operands[0].parts;
        for (auto n = rng.between(0, 2); n > 0; --n) {
          Operand other{.parts = parts};
          other.shape = rng.one_in(2) ? shape_along(rng, parts) : random_shape(rng, size_of(parts));
          c.operands.push_back(other);
        }
        return c;
      },
      [&](const Case& c) {
        const auto complaint = group_many_law(c);
        grouped += c.operands.size() > 1 && !complaint ? 1 : 0;
        return complaint;
      });
  EXPECT_GT(grouped, 500);
}

TEST(LawsGroup, ManySmall) {
  Space space = shards_of_rank_3();
  space.max_rank = 2;
  space.extents = {1, 2, 4, 6};
  space.strides = {0, 1, 6};
  for_all_small(
      space,
      [](const OLayout& parts, const auto& visit) {
        const auto shapes = all_shapes(size_of(parts), 3);
        for (const Ints& a : shapes) {
          for (const Ints& b : shapes) {
            visit({.operands = {{.parts = parts, .shape = a}, {.parts = parts, .shape = b}}});
          }
        }
      },
      group_many_law);
}

TEST(LawsGroup, BadShapesAreRefused) {
  const layout::Layout l = parsed("S[12:1]");
  EXPECT_FALSE(layout::group(l, Ints{6}));
  EXPECT_FALSE(layout::group(l, Ints{24}));
  EXPECT_FALSE(layout::group(l, Ints{0, 12}));
  EXPECT_FALSE(layout::group(l, Ints{-3, -4}));
  EXPECT_FALSE(layout::group_many(l, {}));
}

TEST(LawsGroup, UnknownFirstExtent) {
  const layout::Layout l = parsed("S[(?,8,4):(64,1,8)]");
  const auto grouped = layout::group(l, Ints{layout::kUnknownExtent, 4, 8});
  ASSERT_TRUE(grouped) << grouped.error().text;
  for (std::int64_t n = 1; n <= 5; ++n) {
    EXPECT_EQ(table_of(read(grouped->layout, {}, n)), table_of(read(l, {}, n)));
  }
}

}  // namespace
}  // namespace ww::test::laws_group_test
