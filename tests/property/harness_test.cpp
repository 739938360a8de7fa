// SPDX-License-Identifier: Apache-2.0
// Negative controls: the harness must catch what is wrong and shrink it to the smallest such case,
// and the oracle must know the values that were worked out by hand.
#include <gtest/gtest.h>

#include "property/cases.h"
#include "property/generate.h"
#include "property/oracle.h"

namespace ww::test::harness_test {
namespace {

Case random_case(Rng& rng) { return {.operands = {{.parts = random_layout(rng, {})}}}; }

TEST(Harness, WrongCanonicalizationIsCaughtAndShrunk) {
  // "Neighbours on one axis always merge": wrong unless the strides nest. The smallest pair that
  // does not: 2:s beside a unit, whose stride would replace s.
  const Law merges_always = [](const Case& c) -> Complaint {
    OLayout merged = c.operands[0].parts;
    for (std::size_t k = merged.shard.size(); k-- > 1;) {
      if (merged.shard[k].axis != merged.shard[k - 1].axis) continue;
      merged.shard[k - 1] = {merged.shard[k - 1].extent * merged.shard[k].extent,
                             merged.shard[k].stride, merged.shard[k].axis};
      merged.shard.erase(merged.shard.begin() + static_cast<std::ptrdiff_t>(k));
    }
    return difference(table_of(merged), table_of(c.operands[0].parts));
  };
  const auto failure = find_failure(1, 1000, random_case, merges_always);
  ASSERT_TRUE(failure);
  const OLayout& smallest = failure->smallest.operands[0].parts;
  ASSERT_EQ(smallest.shard.size(), 2U) << text(failure->smallest);
  EXPECT_EQ(extents_of(smallest.shard), (Ints{2, 1})) << text(failure->smallest);
  EXPECT_EQ(smallest.shard[0].stride + smallest.shard[1].stride, 1) << text(failure->smallest);
  EXPECT_EQ(smallest.shard[0].axis + smallest.shard[1].axis, "mm") << text(failure->smallest);
  EXPECT_TRUE(smallest.replica.empty());
  EXPECT_TRUE(smallest.offset.empty());
}

TEST(Harness, ForgottenReplicaIsCaughtAndShrunk) {
  const Law no_replicas = [](const Case& c) -> Complaint {
    OLayout without = c.operands[0].parts;
    without.replica.clear();
    return difference(table_of(without), table_of(c.operands[0].parts));
  };
  const auto failure = find_failure(2, 1000, random_case, no_replicas);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->smallest.operands[0].parts, (OLayout{.replica = {{2, 1, "m"}}}))
      << text(failure->smallest);
}

TEST(Harness, UnclippedWrapIsCaughtAndShrunk) {
  // A slice that just moves the begin into the offset: wrong as soon as the region crosses a digit.
  const Generator generator = [](Rng& rng) -> Case {
    Operand operand{.parts = random_layout(rng, {.replica = false, .offset = false})};
    const std::int64_t n = size_of(operand.parts);
    operand.shape = {n};
    const std::int64_t begin = rng.between(0, n - 1);
    operand.region = {{begin, rng.between(1, n - begin)}};
    return {.operands = {operand}};
  };
  const Law offset_only = [](const Case& c) -> Complaint {
    const Operand& o = c.operands[0];
    const Table want = slice_meaning(o.parts, o.shape, {o.region[0].begin}, {o.region[0].extent});
    Table got = slice_meaning(o.parts, o.shape, {0}, {o.region[0].extent});
    for (Places& places : got) places = sum_of(places, want[0]);
    return difference(got, want);
  };
  const auto failure = find_failure(3, 1000, generator, offset_only);
  ASSERT_TRUE(failure);
  const Operand& smallest = failure->smallest.operands[0];
  EXPECT_EQ(smallest.shape, (Ints{4})) << text(failure->smallest);
  EXPECT_EQ(smallest.region, (std::vector<RegionSide>{{1, 2}})) << text(failure->smallest);
}

TEST(Harness, AnExceptionIsAComplaint) {
  const Law throws = [](const Case&) -> Complaint { throw std::runtime_error("broken"); };
  const auto failure = find_failure(4, 1, random_case, throws);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->complaint, "threw: broken");
}

TEST(Harness, TheSameSeedGivesTheSameCases) {
  std::string first;
  for (int round = 0; round < 2; ++round) {
    std::string seen;
    find_failure(5, 50, random_case, [&](const Case& c) -> Complaint {
      seen += text(c);
      return std::nullopt;
    });
    if (round == 0) first = seen;
    EXPECT_EQ(seen, first);
  }
}

// ---- The oracle itself, against values worked out by hand ---------------------------------------

OLayout case_study() {
  return {.shard = {{8, 4, "laneid"}, {2, 1, "warpid"}, {4, 1, "laneid"}, {2, 1, "m"}},
          .replica = {{2, 4, "warpid"}},
          .offset = {{"warpid", 5}}};
}

TEST(Oracle, CaseStudyPlaces) {
  EXPECT_EQ(
      places_at(case_study(), flat_of({1, 3}, {8, 16})),
      (Places{{{"laneid", 5}, {"warpid", 5}, {"m", 1}}, {{"laneid", 5}, {"warpid", 9}, {"m", 1}}}));
  EXPECT_EQ(places_at(case_study(), flat_of({0, 8}, {8, 16})),
            (Places{{{"warpid", 6}}, {{"warpid", 10}}}));
}

TEST(Oracle, Swizzle) {
  const OSwizzle s{3, 3, 3, true};
  EXPECT_EQ(swizzled(s, 64 * 3 + 17), 201);
  EXPECT_EQ(swizzled({0, 3, 3, true}, 33), 37);
}

TEST(Oracle, KnowsWhatIsATileTable) {
  const auto table = [](const Ints& values) {
    Table out;
    for (const std::int64_t v : values)
      out.push_back(v == 0 ? Places{Place{}} : Places{Place{{"m", v}}});
    return out;
  };
  EXPECT_TRUE(is_tile_table(table({12, 13, 100, 101})));
  EXPECT_TRUE(is_tile_table(table({5})));
  EXPECT_FALSE(is_tile_table(table({0, 1, 3})));
  EXPECT_FALSE(is_tile_table(table({0, 1, 2, 4})));
  // The greedy longest run is not needed for the answer: 0 1 2 3 8 9 10 11 is (2,4), and (2,2,2)
  // too.
  EXPECT_TRUE(is_tile_table(table({0, 1, 2, 3, 8, 9, 10, 11})));
  EXPECT_FALSE(is_tile_table({{{{"m", 0}}}, {{{"laneid", 1}, {"m", 1}}}}));
}

TEST(Oracle, KnowsWhatIsAReplicaSet) {
  const auto set = [](const Ints& values) {
    Places out;
    for (const std::int64_t v : values) out.insert(v == 0 ? Place{} : Place{{"m", v}});
    return out;
  };
  EXPECT_TRUE(is_replica_set(set({0, 1, 2, 3})));
  EXPECT_TRUE(is_replica_set(set({0, 3, 4, 7})));
  EXPECT_TRUE(is_replica_set(set({5, 7, 8, 10})));
  EXPECT_FALSE(is_replica_set(set({0, 1, 3})));
  EXPECT_FALSE(is_replica_set(set({0, 2, 3})));
  EXPECT_FALSE(is_replica_set({Place{}, Place{{"laneid", 1}, {"m", 1}}}));
}

TEST(Oracle, Additive) {
  const auto table = [](const OLayout& l) { return table_of(l); };
  EXPECT_TRUE(is_additive(table({.shard = {{3, 4, "m"}, {4, 1, "m"}}}), {2, 6}));
  EXPECT_FALSE(is_additive(table({.shard = {{4, 1, "m"}, {6, 4, "m"}}}), {6, 4}));
}

TEST(Oracle, IntervalComplement) {
  EXPECT_EQ(interval_complement({0, 1}, 6), (std::set<std::int64_t>{0, 2, 4}));
  EXPECT_EQ(interval_complement({0, 2}, 8), (std::set<std::int64_t>{0, 1, 4, 5}));
  EXPECT_EQ(interval_complement({0, 2}, 6), std::nullopt);
}

}  // namespace
}  // namespace ww::test::harness_test
