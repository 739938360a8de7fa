// SPDX-License-Identifier: Apache-2.0
// From tables back to layouts: found whenever one exists, and only then.
#include <gtest/gtest.h>

#include "layout/canonical.h"
#include "layout/fit.h"
#include "property/laws.h"

namespace ww::test::laws_fit_test {
namespace {

/// Columns over m and laneid, and the fit of them.
Result<layout::TileLayout> fit_columns(const std::map<std::string, Ints>& columns) {
  std::vector<layout::Column> out;
  for (const auto& [axis, values] : columns) out.push_back({axis_named(axis), values});
  return layout::fit(out);
}

std::map<std::string, Ints> columns_of(const Table& table, const std::set<std::string>& axes) {
  std::map<std::string, Ints> out;
  for (const std::string& axis : axes) {
    for (const Places& places : table) {
      const Place& p = *places.begin();
      out[axis].push_back(p.contains(axis) ? p.at(axis) : 0);
    }
  }
  return out;
}

Complaint finds_layouts(const Case& c) {
  OLayout parts = c.operands[0].parts;
  parts.replica.clear();
  std::set<std::string> axes = {"m"};
  for (const OIter& it : parts.shard) axes.insert(it.axis);
  for (const auto& entry : parts.offset) axes.insert(entry.first);
  const auto got = fit_columns(columns_of(table_of(parts), axes));
  if (!got) return refusal("fit", got.error());
  if (auto wrong = unless_table("fit", *got, table_of(parts))) return wrong;
  const layout::Layout fitted(*got);
  return layout::canonicalize(fitted) == fitted
             ? kFine
             : Complaint("the fit is not canonical: " + notation(read(fitted)));
}

TEST(LawsFit, FindsEverySmallLayout) { for_all_small(shards_of_rank_3(), finds_layouts); }
TEST(LawsFit, FindsRandomLayouts) {
  const Wish wish{.max_rank = 6, .max_size = 512, .axes = many_axes()};
  for_all(
      1401, 800, [&](Rng& rng) { return one_layout(rng, wish); }, finds_layouts);
}

/// Every table of n elements on one axis that any layout has, with values in [-reach, reach] from
/// 0: all ordered factorizations, all strides that stay inside.
std::set<Ints> all_layout_tables(std::int64_t n, std::int64_t reach) {
  std::set<Ints> out;
  for (const Ints& extents : all_shapes(n, 8)) {
    const Ints choices(extents.size(), 2 * reach + 1);
    for (std::int64_t k = 0; k < product(choices); ++k) {
      OLayout parts;
      const Ints pick = coordinate_of(k, choices);
      for (std::size_t d = 0; d < extents.size(); ++d)
        parts.shard.push_back({extents[d], pick[d] - reach, "m"});
      Ints values;
      bool inside = true;
      for (std::int64_t x = 0; x < n; ++x) {
        const Place p = place_at_replica_0(parts, x);
        values.push_back(p.empty() ? 0 : p.begin()->second);
        inside = inside && values.back() >= -reach && values.back() <= reach;
      }
      if (inside) out.insert(values);
    }
  }
  return out;
}

TEST(LawsFit, RefusesExactlyWhatIsNoLayoutOnOneAxis) {
  // All tables for the sizes where that is few, starting at 0 (a start elsewhere is an offset).
  for (const auto& [n, reach] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {1, 3}, {2, 3}, {3, 3}, {4, 3}, {5, 2}, {6, 1}, {8, 1}}) {
    const std::set<Ints> good = all_layout_tables(n, reach);
    const Ints choices(static_cast<std::size_t>(n - 1), 2 * reach + 1);
    for (std::int64_t k = 0; k < product(choices); ++k) {
      Ints values = coordinate_of(k, choices);
      for (std::int64_t& v : values) v -= reach;
      values.insert(values.begin(), 0);
      const auto got = fit_columns({{"m", values}});
      ASSERT_EQ(got.has_value(), good.contains(values)) << text(values);
      if (got) {
        ASSERT_EQ(columns_of(table_of(read(*got)), {"m"}).at("m"), values);
      }
    }
  }
}

TEST(LawsFit, RefusesExactlyWhatIsNoLayoutOnTwoAxes) {
  for (const std::int64_t n : {2, 3, 4}) {
    const Ints choices(static_cast<std::size_t>(2 * (n - 1)), 3);
    for (std::int64_t k = 0; k < product(choices); ++k) {
      const Ints pick = coordinate_of(k, choices);
      std::map<std::string, Ints> columns = {{"laneid", {0}}, {"m", {0}}};
      Table table = {{Place{}}};
      for (std::size_t x = 0; x + 1 < static_cast<std::size_t>(n); ++x) {
        columns["laneid"].push_back(pick[2 * x] - 1);
        columns["m"].push_back(pick[2 * x + 1] - 1);
        Place p;
        if (pick[2 * x] != 1) p["laneid"] = pick[2 * x] - 1;
        if (pick[2 * x + 1] != 1) p["m"] = pick[2 * x + 1] - 1;
        table.push_back({p});
      }
      const auto got = fit_columns(columns);
      ASSERT_EQ(got.has_value(), is_tile_table(table))
          << text(columns["laneid"]) << " " << text(columns["m"]);
      if (got) {
        ASSERT_EQ(table_of(read(*got)), table);
      }
    }
  }
}

TEST(LawsFit, RefusesExactlyWhatIsNoLayoutAtRandom) {
  // A layout's table with one entry moved, and tables of random small steps.
  int refused = 0;
  int found = 0;
  Rng rng(1402);
  for (int round = 0; round < 3000; ++round) {
    const OLayout parts = random_layout(rng, {.max_size = 48, .replica = false});
    Table table = table_of(parts);
    if (rng.one_in(2)) {
      Places& moved = table[rng.below(table.size())];
      moved = sum_of(moved, {Place{{rng.one_in(3) ? "laneid" : "m", rng.between(1, 3)}}});
    }
    const auto got = fit_columns(columns_of(table, {"laneid", "m", "warpid"}));
    ASSERT_EQ(got.has_value(), is_tile_table(table)) << notation(parts);
    (got ? found : refused) += 1;
    if (got) {
      ASSERT_EQ(table_of(read(*got)), table);
    }
  }
  EXPECT_GT(refused, 500);
  EXPECT_GT(found, 500);
}

// ---- With replicas ------------------------------------------------------------------------------

/// The image with this table, replicas in a random order per element.
layout::Image image_of(Rng& rng, const Table& table, const std::vector<std::string>& axes) {
  layout::Image image;
  image.size = static_cast<std::int64_t>(table.size());
  image.copies = static_cast<std::int64_t>(table[0].size());
  for (const std::string& axis : axes) {
    image.axes.push_back(axis_named(axis));
    image.values.emplace_back(table.size() * table[0].size());
  }
  for (std::size_t x = 0; x < table.size(); ++x) {
    const std::vector<Place> places(table[x].begin(), table[x].end());
    const Ints order = random_order(rng, places.size());
    for (std::size_t r = 0; r < places.size(); ++r) {
      const Place& p = places[static_cast<std::size_t>(order[r])];
      for (std::size_t a = 0; a < axes.size(); ++a) {
        image.values[a][r * table.size() + x] = p.contains(axes[a]) ? p.at(axes[a]) : 0;
      }
    }
  }
  return image;
}

TEST(LawsFit, ImagesWithReplicas) {
  Rng rng(1403);
  int refused = 0;
  for (int round = 0; round < 2000; ++round) {
    OLayout parts = random_layout(rng, {.max_rank = 3, .max_size = 24, .extents = {1, 2, 3, 4}});
    parts.swizzle = {};
    Table table = table_of(parts);
    if (rng.one_in(3)) {  // another set, the same for all elements: may or may not be a sum of runs
      Places set;
      for (auto n = rng.between(1, 6); n > 0; --n) {
        Place p;
        if (const auto v = rng.between(0, 6); v != 0) p["m"] = v;
        if (const auto v = rng.between(0, 8) - 7; v > 0) p["laneid"] = v;
        set.insert(p);
      }
      parts.replica.clear();
      table = table_of(parts);
      for (Places& places : table) places = sum_of(places, set);
    }
    if (rng.one_in(6)) {
      Places& places = table[rng.below(table.size())];
      places = sum_of(places, {Place{{"m", 1}}});
    }
    const auto got = layout::fit_image(image_of(rng, table, {"laneid", "m", "warpid"}));
    ASSERT_EQ(got.has_value(), is_tile_table(table))
        << notation(parts) << " element 0 at " << text(table[0]);
    refused += got ? 0 : 1;
    if (got) {
      ASSERT_EQ(difference(table_of(read(*got)), table), std::nullopt) << notation(parts);
    }
  }
  EXPECT_GT(refused, 200);
}

}  // namespace
}  // namespace ww::test::laws_fit_test
