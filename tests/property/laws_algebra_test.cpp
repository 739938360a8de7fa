// SPDX-License-Identifier: Apache-2.0
// Layouts as functions: composition, inverse, complement, division. Answers are compared element by
// element; refusals are confirmed by the oracle's own search.
#include <gtest/gtest.h>

#include <algorithm>

#include "layout/algebra.h"
#include "property/laws.h"

namespace ww::test::laws_algebra_test {
namespace {

// ---- compose ------------------------------------------------------------------------------------

Complaint compose_law(const Case& c) {
  const Operand& a = c.operands[0];
  const Operand& b = c.operands[1];
  const auto got = layout::compose(layout_of(a), layout_of(b));
  const auto want = compose_meaning(a.parts, b.parts);
  if (!want) return got ? Complaint("compose answered where b leaves a") : kFine;
  if (got) return unless_table("compose", *got, *want);
  return is_tile_table_under(*want, a.parts.swizzle) ? Complaint(refusal("compose", got.error()))
                                                     : kFine;
}

/// A layout into [0, below) on one axis.
OLayout random_function(Rng& rng, std::int64_t below) {
  OLayout out;
  std::int64_t room = below - 1;
  for (auto rank = rng.between(0, 3); rank > 0; --rank) {
    const std::int64_t stride = rng.between(0, std::max<std::int64_t>(1, room / 2));
    const std::int64_t most = stride == 0 ? 4 : room / stride + 1;
    const std::int64_t extent = rng.between(1, std::min<std::int64_t>(most, 6));
    room -= (extent - 1) * stride;
    out.shard.insert(
        out.shard.begin() + rng.between(0, static_cast<std::int64_t>(out.shard.size())),
        OIter{extent, stride, "m"});
  }
  if (rng.one_in(3) && room > 0) {
    const std::int64_t stride = rng.between(1, room);
    out.replica.push_back({2, stride, "m"});
    room -= stride;
  }
  if (rng.one_in(2) && room > 0) out.offset["m"] = rng.between(1, room);
  if (rng.one_in(6) && !out.shard.empty() &&
      out.shard[0].stride != 0) {  // run the first iter backwards
    OIter& it = out.shard[0];
    out.offset["m"] += (it.extent - 1) * it.stride;
    it.stride = -it.stride;
    if (out.offset["m"] == 0) out.offset.erase("m");
  }
  return out;
}

TEST(LawsAlgebra, ComposeRandom) {
  int answered = 0;
  for_all(
      801, 4000,
      [](Rng& rng) {
        const OLayout a = random_layout(rng, {.max_size = 64, .swizzle = true});
        return Case{.operands = {{.parts = a}, {.parts = random_function(rng, size_of(a))}}};
      },
      [&](const Case& c) {
        answered += layout::compose(layout_of(c.operands[0]), layout_of(c.operands[1])) ? 1 : 0;
        return compose_law(c);
      });
  EXPECT_GT(answered, 800);
}
TEST(LawsAlgebra, ComposeUnrestricted) {
  // Second operands that may leave the first, or use several axes.
  for_all(
      802, 1000,
      [](Rng& rng) {
        const Wish small{.max_rank = 2, .max_size = 12, .axes = {"m", "m", "laneid"}};
        return Case{.operands = {{.parts = random_layout(rng, {.max_size = 48})},
                                 {.parts = random_layout(rng, small)}}};
      },
      compose_law);
}
TEST(LawsAlgebra, ComposeWithSwizzledSecond) {
  for_all(
      803, 500,
      [](Rng& rng) {
        OLayout b = random_permutation(rng, 16);
        b.swizzle = {static_cast<int>(rng.between(0, 1)), 1, static_cast<int>(rng.between(1, 2)),
                     true};
        OLayout a =
            rng.one_in(2) ? random_permutation(rng, 16) : random_layout(rng, {.max_size = 64});
        return Case{.operands = {{.parts = a}, {.parts = b}}};
      },
      compose_law);
}
TEST(LawsAlgebra, ComposeAllSmall) {
  Space functions;
  functions.max_rank = 2;
  functions.extents = {2, 3};
  functions.strides = {-1, 0, 1, 2, 3};
  functions.axes = {"m"};
  functions.offsets = {{}, {{"m", 2}}};
  functions.replicas = {{}, {{2, 1, "m"}}};
  Space space = functions;
  space.strides = {-1, 1, 2, 5};
  space.axes = {"m", "laneid"};
  space.offsets = {{}};
  for_all_small(
      space,
      [&](const OLayout& a, const auto& visit) {
        for_each_layout(functions, [&](const OLayout& b) {
          visit({.operands = {{.parts = a}, {.parts = b}}});
        });
      },
      compose_law);
}

TEST(LawsAlgebra, ComposeIsAssociative) {
  const Law law = [](const Case& c) -> Complaint {
    const layout::Layout a = layout_of(c.operands[0]);
    const layout::Layout b = layout_of(c.operands[1]);
    const layout::Layout g = layout_of(c.operands[2]);
    const auto ab = layout::compose(a, b);
    const auto bg = layout::compose(b, g);
    if (!ab || !bg) return kFine;
    const auto left = layout::compose(*ab, g);
    const auto right = layout::compose(a, *bg);
    if (left.has_value() != right.has_value())
      return "only one side of the associative law answers";
    return left ? unless_table("(a∘b)∘c", *left, table_of(read(*right))) : kFine;
  };
  for_all(
      804, 1000,
      [](Rng& rng) {
        const OLayout a = random_layout(rng, {.max_size = 64, .replica = false});
        OLayout b = random_function(rng, size_of(a));
        const OLayout g = random_function(rng, size_of(b));
        return Case{.operands = {{.parts = a}, {.parts = b}, {.parts = g}}};
      },
      law);
}

// ---- inverse ------------------------------------------------------------------------------------

std::vector<Side> box_of(const Table& table, const std::vector<std::string>& axes) {
  std::vector<Side> box;
  for (const std::string& axis : axes) {
    const auto [low, high] = range_on(table, axis);
    box.push_back({axis, low, high - low + 1});
  }
  return box;
}

/// numbers: the order of the axes, as a permutation; empty for the default order.
Complaint inverse_law(const Case& c) {
  const layout::Layout l = layout_of(c.operands[0]);
  const auto axes = l.tile().axes();
  std::vector<layout::Axis> order;
  std::vector<std::string> names;
  for (const std::int64_t k : c.numbers) {
    if (k < 0 || static_cast<std::size_t>(k) >= axes.size()) return kFine;
    order.push_back(axes[static_cast<std::size_t>(k)]);
    names.emplace_back(order.back().name());
  }
  if (!order.empty() && std::set<std::string>(names.begin(), names.end()).size() != axes.size())
    return kFine;
  const auto got = layout::inverse(l, order);
  const Table table = table_of(c.operands[0].parts);
  if (got) {
    std::vector<std::string> seen;
    for (const layout::BoxSide& side : got->box) seen.emplace_back(side.axis.name());
    if (!order.empty() && seen != names) return "the box does not follow the order asked for";
    for (const std::string& axis : axes_of(table)) {
      if (!std::ranges::count(seen, axis)) return "the box misses axis " + axis;
    }
    const auto box = box_of(table, seen);
    for (std::size_t k = 0; k < box.size(); ++k) {
      if (box[k].first != got->box[k].first || box[k].extent != got->box[k].extent) {
        return fmt::format("the box on {} is {}+{}", box[k].axis, got->box[k].first,
                           got->box[k].extent);
      }
    }
    Table want;
    for (const auto& held : holders(table, box)) {
      if (held.size() != 1)
        return fmt::format("inverse answered where {} elements share a place", held.size());
      const std::int64_t x = *held.begin();
      want.push_back(x == 0 ? Places{Place{}} : Places{Place{{"m", x}}});
    }
    return unless_table("inverse", got->map, want);
  }
  if (order.empty()) return kFine;
  bool shared = false;
  bool hole = false;
  Table want;
  for (const auto& held : holders(table, box_of(table, names))) {
    shared = shared || held.size() > 1;
    hole = hole || held.empty();
    const std::int64_t x = held.empty() ? 0 : *held.begin();
    want.push_back(x == 0 ? Places{Place{}} : Places{Place{{"m", x}}});
  }
  const DiagKind kind = got.error().kind;
  if (kind == DiagKind::NotInjective && !shared)
    return "NotInjective, but no two elements share a place";
  if (kind == DiagKind::NotOnto && !hole) return "NotOnto, but there is no hole";
  if (shared || hole) return kFine;
  if (kind != DiagKind::NotATile) return "a bijection refused as " + std::string(name_of(kind));
  return is_tile_table(want) ? Complaint(refusal("inverse", got.error())) : kFine;
}

TEST(LawsAlgebra, InverseRandomInjective) {
  int answered = 0;
  const Wish wish{.max_size = 96, .axes = {"m", "laneid", "warpid", "TCol"}};
  for_all(
      805, 3000,
      [&](Rng& rng) {
        Case c{.operands = {{.parts = random_injective(rng, wish)}}};
        const auto axes = layout_of(c.operands[0]).tile().axes();
        if (!rng.one_in(4)) c.numbers = random_order(rng, axes.size());
        return c;
      },
      [&](const Case& c) {
        answered += layout::inverse(layout_of(c.operands[0])) ? 1 : 0;
        return inverse_law(c);
      });
  EXPECT_GT(answered, 800);
}
TEST(LawsAlgebra, InverseAllSmall) {
  Space space;
  space.extents = {1, 2, 3};
  space.strides = {-2, -1, 1, 2, 3};
  space.axes = {"m", "laneid"};
  for_all_small(
      space,
      [](const OLayout& parts, const auto& visit) {
        const auto axes = build(parts).value().tile().axes();
        visit({.operands = {{.parts = parts}}});
        if (axes.size() == 1) visit({.operands = {{.parts = parts}}, .numbers = {0}});
        if (axes.size() == 2) visit({.operands = {{.parts = parts}}, .numbers = {1, 0}});
      },
      inverse_law);
}
TEST(LawsAlgebra, InverseWithReplicaAndOffset) { for_all_small(full_of_rank_2(), inverse_law); }
TEST(LawsAlgebra, InverseRandomAny) {
  for_all(
      806, 1000,
      [](Rng& rng) { return one_layout(rng, {.max_rank = 2, .max_size = 24, .swizzle = true}); },
      inverse_law);
}
TEST(LawsAlgebra, InverseOfAPermutationComposes) {
  const Law law = [](const Case& c) -> Complaint {
    const layout::Layout l = layout_of(c.operands[0]);
    const auto inverse = layout::inverse(l);
    if (!inverse) return kFine;
    const auto there_and_back = layout::compose(inverse->map, l);
    if (!there_and_back) return refusal("compose(inverse, l)", there_and_back.error());
    Table identity;
    for (std::int64_t x = 0; x < l.size(); ++x) {
      identity.push_back(x == 0 ? Places{Place{}} : Places{Place{{"m", x}}});
    }
    return unless_table("compose(inverse, l)", *there_and_back, identity);
  };
  for_all(
      807, 1000,
      [](Rng& rng) {
        return Case{.operands = {{.parts = random_permutation(rng, rng.between(1, 64))}}};
      },
      law);
}
TEST(LawsAlgebra, InverseOfASwizzle) {
  // A bare swizzle undoes itself.
  const auto got = layout::inverse(parsed("ComposeLayout(0,2,2, S[16:1])"));
  ASSERT_TRUE(got) << got.error().text;
  for_one({.operands = {{.parts = read(parsed("ComposeLayout(0,2,2, S[16:1])"))}}}, inverse_law);
}
TEST(LawsAlgebra, InverseRefusesABadOrder) {
  const layout::Layout l = parsed("S[(2,2):(1@laneid,1)]");
  EXPECT_FALSE(layout::inverse(l, std::vector<layout::Axis>{layout::axes::m()}));
  EXPECT_FALSE(layout::inverse(l, std::vector<layout::Axis>{layout::axes::m(), layout::axes::m()}));
}

// ---- complement ---------------------------------------------------------------------------------

/// numbers: the box extents, one per axis of the layout.
Complaint complement_law(const Case& c) {
  const layout::Layout l = layout_of(c.operands[0]);
  const auto axes = l.tile().axes();
  if (c.numbers.size() < axes.size()) return kFine;
  std::vector<layout::BoxSide> box;
  std::vector<Side> sides;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    if (c.numbers[k] < 1) return kFine;
    box.push_back({axes[k], 0, c.numbers[k]});
    sides.push_back({std::string(axes[k].name()), 0, c.numbers[k]});
  }
  const Table table = table_of(c.operands[0].parts);
  Places image;
  std::size_t counted = 0;
  for (const Places& places : table) {
    counted += places.size();
    image.insert(places.begin(), places.end());
  }
  const auto got = layout::complement(l, box);
  if (got) {
    Table sums;
    std::size_t total = 0;
    for (const Places& shift : table_of(read(*got))) {
      for (const Place& by : shift) {
        sums.push_back(sum_of(image, {by}));
        total += sums.back().size();
      }
    }
    std::size_t in_box = 1;
    for (const Side& side : sides) in_box *= static_cast<std::size_t>(side.extent);
    for (const auto& held : holders(sums, sides)) {
      if (held.size() != 1)
        return fmt::format("complement {} reaches a place {} times", notation(read(*got)),
                           held.size());
    }
    return total == in_box ? kFine
                           : Complaint("complement " + notation(read(*got)) + " leaves the box");
  }
  if (counted != image.size()) return kFine;  // two elements in one place
  for (const Side& side : sides) {
    std::set<std::int64_t> values;
    for (const Place& place : image)
      values.insert(place.contains(side.axis) ? place.at(side.axis) : 0);
    if (*values.begin() != 0 || !interval_complement(values, side.extent)) return kFine;
  }
  return refusal("complement", got.error());
}

TEST(LawsAlgebra, ComplementAllSmall) {
  Space space;
  space.max_rank = 2;
  space.extents = {1, 2, 3};
  space.strides = {-1, 0, 1, 2, 3, 4};
  space.axes = {"m", "laneid"};
  space.replicas = {{}, {{2, 1, "m"}}};
  for_all_small(
      space,
      [](const OLayout& parts, const auto& visit) {
        for (const std::int64_t n : {4, 6, 12}) {
          visit({.operands = {{.parts = parts}}, .numbers = {n, n}});
          visit({.operands = {{.parts = parts}}, .numbers = {6, n}});
        }
      },
      complement_law);
}
TEST(LawsAlgebra, ComplementRandom) {
  int answered = 0;
  for_all(
      808, 1500,
      [](Rng& rng) {
        Wish wish{.max_rank = 3, .max_size = 24, .axes = {"m", "laneid"}, .offset = false};
        Case c{.operands = {{.parts = random_injective(rng, wish)}}};
        const Table table = table_of(c.operands[0].parts);
        for (const layout::Axis axis : layout_of(c.operands[0]).tile().axes()) {
          const std::int64_t span = range_on(table, std::string(axis.name())).second + 1;
          c.numbers.push_back(rng.one_in(5) ? rng.between(1, 48) : span * rng.between(1, 4));
        }
        return c;
      },
      [&](const Case& c) {
        const auto complaint = complement_law(c);
        std::vector<layout::BoxSide> box;
        const auto axes = layout_of(c.operands[0]).tile().axes();
        for (std::size_t k = 0; k < axes.size() && k < c.numbers.size(); ++k)
          box.push_back({axes[k], 0, c.numbers[k]});
        answered += layout::complement(layout_of(c.operands[0]), box) ? 1 : 0;
        return complaint;
      });
  EXPECT_GT(answered, 400);
}

// ---- right_divide and divide --------------------------------------------------------------------

/// The only candidate: X(d(x)) = L(x).
std::optional<Table> quotient_meaning(const OLayout& whole, const OLayout& divisor) {
  const Table at = table_of(divisor);
  if (axes_of(at).size() > 1 || size_of(whole) != size_of(divisor)) return std::nullopt;
  std::map<std::int64_t, Places> values;
  for (std::size_t x = 0; x < at.size(); ++x) {
    const Places places = places_at(whole, static_cast<std::int64_t>(x));
    const Place& p = *at[x].begin();
    const auto [found, fresh] = values.try_emplace(p.empty() ? 0 : p.begin()->second, places);
    if (!fresh && found->second != places) return std::nullopt;
  }
  Table out;
  for (const auto& [p, places] : values) {
    if (p != static_cast<std::int64_t>(out.size())) return std::nullopt;  // a hole
    out.push_back(places);
  }
  return out;
}

Complaint right_divide_law(const Case& c) {
  const Operand& l = c.operands[0];
  const Operand& d = c.operands[1];
  if (!d.parts.replica.empty()) return kFine;
  const auto got = layout::right_divide(layout_of(l), layout_of(d));
  const auto want = quotient_meaning(l.parts, d.parts);
  if (got && !want)
    return "right_divide gave " + notation(read(*got)) + " where no quotient exists";
  if (got) return unless_table("right_divide", *got, *want);
  return want && is_tile_table_under(*want, l.parts.swizzle)
             ? Complaint(refusal("right_divide", got.error()))
             : kFine;
}

TEST(LawsAlgebra, RightDivideRandom) {
  int answered = 0;
  for_all(
      809, 3000,
      [](Rng& rng) {
        // Mostly products, so that a quotient exists; a divisor that repeats itself now and then.
        OLayout d = random_permutation(rng, rng.between(1, 36));
        if (rng.one_in(4)) d.shard.insert(d.shard.begin(), OIter{2, 0, "m"});
        OLayout x = random_layout(rng, {.max_size = 36});
        if (rng.one_in(2)) x = random_permutation(rng, size_of(d));
        const auto product = layout::compose(build(x).value(), build(d).value());
        return Case{.operands = {{.parts = product ? read(*product) : x}, {.parts = d}}};
      },
      [&](const Case& c) {
        answered +=
            layout::right_divide(layout_of(c.operands[0]), layout_of(c.operands[1])) ? 1 : 0;
        return right_divide_law(c);
      });
  EXPECT_GT(answered, 600);
}
TEST(LawsAlgebra, RightDivideAllSmall) {
  Space space;
  space.max_rank = 2;
  space.extents = {2, 3};
  space.strides = {-1, 0, 1, 2, 3};
  space.axes = {"m"};
  for_all_small(
      space,
      [&](const OLayout& l, const auto& visit) {
        for_each_layout(space, [&](const OLayout& d) {
          if (size_of(d) == size_of(l)) visit({.operands = {{.parts = l}, {.parts = d}}});
        });
      },
      right_divide_law);
}

/// Element (r, t) of the divided layout is element tiler(t) + C(r) of the layout, C the complement.
Complaint divide_law(const Case& c) {
  const layout::Layout l = layout_of(c.operands[0]);
  const layout::Layout tiler = layout_of(c.operands[1]);
  const auto got = layout::divide(l, tiler);
  const auto axes = tiler.tile().axes();
  const auto rest =
      axes.size() > 1 ? fail(DiagKind::BadAxis, "several axes")
                      : layout::complement(
                            tiler, std::vector<layout::BoxSide>{
                                       {axes.empty() ? layout::axes::m() : axes[0], 0, l.size()}});
  if (!rest) return got ? Complaint("divide answered where the tiler has no complement") : kFine;
  Table want;
  const Table within = table_of(c.operands[1].parts);
  for (const Places& far : table_of(read(*rest))) {
    for (const Places& near : within) {
      Places reached;
      for (const Place& p : sum_of(far, near))
        reached.merge(places_at(c.operands[0].parts, p.empty() ? 0 : p.begin()->second));
      want.push_back(reached);
    }
  }
  if (got) return unless_table("divide", *got, want);
  return is_tile_table_under(want, c.operands[0].parts.swizzle)
             ? Complaint(refusal("divide", got.error()))
             : kFine;
}

TEST(LawsAlgebra, DivideRandom) {
  int answered = 0;
  for_all(
      810, 1500,
      [](Rng& rng) {
        const OLayout l = random_layout(rng, {.max_size = 64, .swizzle = true});
        const OLayout tiler = random_injective(
            rng, {.max_rank = 2, .max_size = 8, .axes = {"m"}, .replica = false, .offset = false});
        return Case{.operands = {{.parts = l}, {.parts = tiler}}};
      },
      [&](const Case& c) {
        answered += layout::divide(layout_of(c.operands[0]), layout_of(c.operands[1])) ? 1 : 0;
        return divide_law(c);
      });
  EXPECT_GT(answered, 200);
}

}  // namespace
}  // namespace ww::test::laws_algebra_test
