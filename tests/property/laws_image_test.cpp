// SPDX-License-Identifier: Apache-2.0
// What enumeration tells: places, extents, injectivity, coverage, look-up; and spans without
// enumeration.
#include <gtest/gtest.h>

#include "layout/image.h"
#include "property/laws.h"

namespace ww::test::laws_image_test {
namespace {

Complaint enumerate_law(const Case& c) {
  const layout::Layout l = layout_of(c.operands[0]);
  const auto image = layout::enumerate(l);
  if (!image) return refusal("enumerate", image.error());
  const Table want = table_of(c.operands[0].parts);
  if (image->size != static_cast<std::int64_t>(want.size())) return "enumerate has the wrong size";
  Table got(want.size());
  for (std::int64_t r = 0; r < image->copies; ++r) {
    for (std::int64_t x = 0; x < image->size; ++x) {
      Place place;
      for (std::size_t a = 0; a < image->axes.size(); ++a) {
        const std::int64_t v = image->values[a][static_cast<std::size_t>(r * image->size + x)];
        if (v != 0) place[std::string(image->axes[a].name())] = v;
      }
      if (r == 0 && place != place_at_replica_0(c.operands[0].parts, x))
        return fmt::format("replica 0 of element {}", x);
      got[static_cast<std::size_t>(x)].insert(place);
    }
  }
  if (const auto wrong = difference(got, want)) return wrong;
  for (const layout::Axis axis : l.tile().axes()) {
    std::vector<std::int64_t> values(want.size());
    layout::enumerate_axis(l, axis, values);
    for (std::size_t x = 0; x < values.size(); ++x) {
      const Place place = place_at_replica_0(c.operands[0].parts, static_cast<std::int64_t>(x));
      const auto found = place.find(std::string(axis.name()));
      if (values[x] != (found == place.end() ? 0 : found->second))
        return fmt::format("enumerate_axis at {}", x);
    }
  }
  return kFine;
}

Complaint facts_law(const Case& c) {
  const layout::Layout l = layout_of(c.operands[0]);
  const auto facts = layout::image_facts(l);
  if (!facts) return refusal("image_facts", facts.error());
  const Table table = table_of(c.operands[0].parts);
  std::map<Place, std::set<std::size_t>> at;
  for (std::size_t x = 0; x < table.size(); ++x) {
    for (const Place& place : table[x]) at[place].insert(x);
  }
  bool injective = true;
  for (const auto& entry : at) injective = injective && entry.second.size() == 1;
  if (facts->size != static_cast<std::int64_t>(table.size())) return "size";
  if (facts->copies != static_cast<std::int64_t>(table[0].size()))
    return fmt::format("copies is {}", facts->copies);
  if (facts->places != static_cast<std::int64_t>(at.size()))
    return fmt::format("places is {}", facts->places);
  if (facts->is_injective != injective) return "is_injective is wrong";
  const auto shortcut = layout::is_injective(l);
  if (!shortcut || *shortcut != injective) return "the function is_injective is wrong";
  std::int64_t box = 1;
  for (const layout::AxisExtent& extent : facts->extents) {
    const std::string axis(extent.axis.name());
    const auto [low, high] = range_on(table, axis);
    std::set<std::int64_t> values;
    for (const auto& entry : at)
      values.insert(entry.first.contains(axis) ? entry.first.at(axis) : 0);
    if (extent.min != low || extent.max != high)
      return fmt::format("{} reaches {}..{}", axis, extent.min, extent.max);
    if (extent.distinct != static_cast<std::int64_t>(values.size()))
      return axis + " has another number of values";
    box *= high - low + 1;
  }
  for (const std::string& axis : axes_of(table)) {
    bool listed = false;
    for (const layout::AxisExtent& extent : facts->extents)
      listed = listed || extent.axis.name() == axis;
    if (!listed) return "extents miss " + axis;
  }
  if (facts->box != box) return fmt::format("box is {}, should be {}", facts->box, box);
  if (facts->is_onto_box != (box == static_cast<std::int64_t>(at.size())))
    return "is_onto_box is wrong";
  if (facts->collision.has_value() == injective)
    return "collision present or absent in the wrong case";
  if (facts->collision) {
    Place place;
    for (const auto& [axis, value] : facts->collision->place) {
      if (value != 0) place[std::string(axis.name())] = value;
    }
    const auto held = at.find(place);
    const auto first = static_cast<std::size_t>(facts->collision->first);
    const auto second = static_cast<std::size_t>(facts->collision->second);
    if (held == at.end() || first == second || !held->second.contains(first) ||
        !held->second.contains(second)) {
      return "the collision named is none";
    }
  }
  return kFine;
}

Complaint lookup_law(const Case& c) {
  const layout::Layout l = layout_of(c.operands[0]);
  const Table table = table_of(c.operands[0].parts);
  std::map<Place, Ints> at;
  for (std::size_t x = 0; x < table.size(); ++x) {
    for (const Place& place : table[x]) at[place].push_back(static_cast<std::int64_t>(x));
  }
  at.try_emplace(Place{{"m", 977}});  // most likely empty
  at.try_emplace(Place{{"m", 1}, {"laneid", 1}});
  for (const auto& [place, elements] : at) {
    layout::Place asked;
    for (const auto& [axis, value] : place) asked.push_back({axis_named(axis), value});
    const auto got = layout::elements_at(l, asked);
    if (!got) return refusal("elements_at", got.error());
    if (*got != elements) return fmt::format("elements_at({}) is {}", text(place), text(*got));
  }
  return kFine;
}

/// Spans and ranges are computed from the iters; they must equal what enumeration finds.
Complaint span_law(const Case& c) {
  const layout::Layout l = layout_of(c.operands[0]);
  const Table table = table_of(c.operands[0].parts);
  OLayout before_swizzle = c.operands[0].parts;
  before_swizzle.swizzle = {};
  const Table plain = table_of(before_swizzle);
  auto axes = l.tile().axes();
  axes.push_back(axis_named("TLane"));
  for (const layout::Axis axis : axes) {
    const std::string name(axis.name());
    const auto span = layout::span_on(l, axis);
    if (!span) return refusal("span_on", span.error());
    if (*span != range_on(table, name).second + 1)
      return fmt::format("span_on {} is {}", name, *span);
    const layout::Range range = l.tile().range_on(axis);
    if (std::pair(range.min, range.max) != range_on(plain, name)) {
      return fmt::format("range_on {} is {}..{}", name, range.min, range.max);
    }
    std::int64_t size = 1;
    for (const OIter& it : c.operands[0].parts.shard) size *= it.axis == name ? it.extent : 1;
    if (layout::size_on(l.tile(), axis) != size) return "size_on " + name;
  }
  return l.size() == static_cast<std::int64_t>(table.size()) ? kFine : Complaint("size");
}

const Wish kRich{.axes = {"m", "m", "laneid", "warpid", "TCol"}, .swizzle = true};

TEST(LawsImage, EnumerateSmall) { for_all_small(full_of_rank_2(), enumerate_law); }
TEST(LawsImage, EnumerateRandom) {
  for_all(
      1201, 1000, [](Rng& rng) { return one_layout(rng, kRich); }, enumerate_law);
}
TEST(LawsImage, FactsSmall) { for_all_small(full_of_rank_2(), facts_law); }
TEST(LawsImage, FactsSmallShards) {
  Space space = shards_of_rank_3();
  space.extents = {1, 2, 3};
  for_all_small(space, facts_law);
}
TEST(LawsImage, FactsRandom) {
  for_all(
      1202, 1000, [](Rng& rng) { return one_layout(rng, kRich); }, facts_law);
  for_all(
      1203, 500,
      [](Rng& rng) { return Case{.operands = {{.parts = random_injective(rng, kRich)}}}; },
      facts_law);
}
TEST(LawsImage, LookupSmall) { for_all_small(full_of_rank_2(), lookup_law); }
TEST(LawsImage, LookupRandom) {
  for_all(
      1204, 300, [](Rng& rng) { return one_layout(rng, {.max_size = 48, .swizzle = true}); },
      lookup_law);
}
TEST(LawsImage, SpanSmall) { for_all_small(full_of_rank_2(), span_law); }
TEST(LawsImage, SpanRandom) {
  for_all(
      1205, 1500, [](Rng& rng) { return one_layout(rng, kRich); }, span_law);
}

TEST(LawsImage, LargeLayoutsAreRefusedNotEnumerated) {
  const layout::Layout l = parsed("S[100000000]");
  EXPECT_FALSE(layout::enumerate(l));
  EXPECT_EQ(layout::span_on(l, layout::axes::m()).value(), 100000000);
}

TEST(LawsImage, MemorySpan) {
  EXPECT_EQ(layout::memory_span(parsed("S[(8,6):(8,1)]")).value(), 62);
  EXPECT_EQ(layout::memory_span(parsed("S[32:1@laneid]")).value(), 1);
  EXPECT_EQ(layout::memory_span(parsed("S[(32,4):(1@laneid,2)] + 3")).value(), 10);
  EXPECT_FALSE(layout::memory_span(parsed("S[(2,128,112):(112@TCol,1@TLane,1@TCol)]")));
  EXPECT_FALSE(layout::memory_span(parsed("S[(2,2):(1@pid,1)]")));
}

}  // namespace
}  // namespace ww::test::laws_image_test
