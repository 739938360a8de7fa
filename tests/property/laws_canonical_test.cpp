// SPDX-License-Identifier: Apache-2.0
// Canonical forms: the meaning stays, the spelling becomes the shortest and the only one.
#include <gtest/gtest.h>

#include <algorithm>

#include "layout/canonical.h"
#include "property/laws.h"

namespace ww::test::laws_canonical_test {
namespace {

Complaint keeps_places(const Case& c) {
  const layout::Layout l = layout_of(c.operands[0]);
  const layout::Layout canonical = layout::canonicalize(l);
  if (auto wrong = unless_table("canonicalize", canonical, table_of(c.operands[0].parts)))
    return wrong;
  if (!(layout::canonicalize(canonical) == canonical)) {
    return "canonicalize is not idempotent: " + notation(read(canonical)) + " becomes " +
           notation(read(layout::canonicalize(canonical)));
  }
  return kFine;
}

bool is_shard_canonical(const std::vector<OIter>& shard) {
  if (shard.size() <= 1) return true;
  for (std::size_t k = 0; k < shard.size(); ++k) {
    if (shard[k].extent == 1) return false;
    if (k == 0) continue;
    const OIter& a = shard[k - 1];
    const OIter& b = shard[k];
    const bool same_axis = a.axis == b.axis || (a.stride == 0 && b.stride == 0);
    if (same_axis && a.stride == b.extent * b.stride) return false;
  }
  return true;
}

Complaint is_shortest(const Case& c) {
  const OLayout canonical = read(layout::canonicalize(layout_of(c.operands[0])));
  if (!is_shard_canonical(canonical.shard)) {
    return "the shard of " + notation(canonical) + " can be shorter";
  }
  std::size_t distinct_replicas = 1;
  for (const OIter& it : canonical.replica) {
    if (it.extent == 1 || it.stride <= 0) return "the replica of " + notation(canonical);
    distinct_replicas *= static_cast<std::size_t>(it.extent);
  }
  const auto key = [](const OIter& it) { return std::tuple(it.axis, it.stride, it.extent); };
  if (!std::ranges::is_sorted(canonical.replica, {}, key)) {
    return "the replica of " + notation(canonical) + " is not sorted";
  }
  return kFine;
}

/// An iter of stride 0 moves nothing whatever its axis is called; neither does a lone unit.
OLayout without_idle_labels(OLayout parts) {
  for (OIter& it : parts.shard) {
    if (it.stride == 0) it.axis = "m";
  }
  if (parts.shard.size() == 1 && parts.shard[0].extent == 1) parts.shard.clear();
  return parts;
}

TEST(LawsCanonical, KeepsPlacesSmall) { for_all_small(shards_of_rank_3(), keeps_places); }
TEST(LawsCanonical, KeepsPlacesSmallFull) { for_all_small(full_of_rank_2(), keeps_places); }
TEST(LawsCanonical, KeepsPlacesRandom) {
  const Wish wish{.axes = many_axes(), .swizzle = true};
  for_all(
      201, 1500, [&](Rng& rng) { return one_layout(rng, wish); }, keeps_places);
}
TEST(LawsCanonical, ShortestSmall) { for_all_small(shards_of_rank_3(), is_shortest); }
TEST(LawsCanonical, ShortestSmallFull) { for_all_small(full_of_rank_2(), is_shortest); }
TEST(LawsCanonical, ShortestRandom) {
  for_all(
      202, 3000, [](Rng& rng) { return one_layout(rng); }, is_shortest);
}

TEST(LawsCanonical, EqualMapsHaveOneSpelling) {
  Space space = shards_of_rank_3();
  space.extents = {1, 2, 3};
  std::map<Table, std::pair<OLayout, OLayout>> seen;  // table -> canonical form, where it came from
  for_each_layout(space, [&](const OLayout& parts) {
    if (testing::Test::HasFailure()) return;
    const OLayout canonical = without_idle_labels(read(layout::canonicalize(build(parts).value())));
    const auto [at, fresh] = seen.try_emplace(table_of(parts), canonical, parts);
    if (fresh) return;
    ASSERT_EQ(notation(at->second.first), notation(canonical))
        << notation(at->second.second) << " and " << notation(parts) << " have the same places";
  });
  EXPECT_GT(seen.size(), 1000U);
}

// ---- Equality by meaning ------------------------------------------------------------------------

Complaint same_places_law(const Case& c) {
  const auto same = layout::same_places(layout_of(c.operands[0]), layout_of(c.operands[1]));
  if (!same) return refusal("same_places", same.error());
  const bool want = table_of(c.operands[0].parts) == table_of(c.operands[1].parts);
  if (*same == want) return kFine;
  return want ? "same_places denies equal layouts" : "same_places confuses different layouts";
}

/// Another spelling of the same layout: iters cut, units added, replicas turned round and cut.
OLayout respelled(Rng& rng, const OLayout& parts) {
  OLayout out = parts;
  const auto cut = [&](std::vector<OIter>& iters) {
    for (std::size_t k = 0; k < iters.size(); ++k) {
      for (const std::int64_t e : {2, 3}) {
        if (iters[k].extent % e != 0 || iters[k].extent == e || !rng.one_in(2)) continue;
        const OIter inner{e, iters[k].stride, iters[k].axis};
        iters[k] = {iters[k].extent / e, iters[k].stride * e, iters[k].axis};
        iters.insert(iters.begin() + static_cast<std::ptrdiff_t>(k) + 1, inner);
      }
    }
    if (rng.one_in(3)) {
      iters.insert(iters.begin() + rng.between(0, static_cast<std::int64_t>(iters.size())),
                   OIter{1, rng.between(0, 9), rng.one_in(2) ? "m" : "warpid"});
    }
  };
  cut(out.shard);
  cut(out.replica);
  for (OIter& it : out.replica) {
    if (!rng.one_in(2)) continue;
    out.offset[it.axis] += (it.extent - 1) * it.stride;
    it.stride = -it.stride;
  }
  std::ranges::reverse(out.replica);
  for (OIter& it : out.shard) {
    if (it.stride == 0 && rng.one_in(2)) it.axis = "laneid";
  }
  return out;
}

TEST(LawsCanonical, SamePlacesOfRespelledLayouts) {
  int equal = 0;
  for_all(
      203, 1500,
      [](Rng& rng) -> Case {
        const OLayout a = random_layout(rng, {.swizzle = true});
        OLayout b = respelled(rng, a);
        if (rng.one_in(3) && !b.shard.empty()) b.shard.front().stride += 1;
        return {.operands = {{.parts = a}, {.parts = b}}};
      },
      [&](const Case& c) {
        equal += table_of(c.operands[0].parts) == table_of(c.operands[1].parts) ? 1 : 0;
        return same_places_law(c);
      });
  EXPECT_GT(equal, 300);
}

TEST(LawsCanonical, SamePlacesOfReplicaSets) {
  for_all(
      204, 3000,
      [](Rng& rng) -> Case {
        const auto random_set = [&] {
          OLayout out{.shard = {{2, rng.between(0, 3), "m"}}};
          for (auto n = rng.between(1, 3); n > 0; --n) {
            out.replica.push_back(
                {rng.between(1, 4), rng.between(-3, 4), rng.one_in(4) ? "laneid" : "m"});
          }
          if (rng.one_in(2)) out.offset["m"] = rng.between(1, 6);
          return out;
        };
        return {.operands = {{.parts = random_set()}, {.parts = random_set()}}};
      },
      same_places_law);
}

TEST(LawsCanonical, SamePlacesUnderDifferentSwizzles) {
  for_all(
      205, 800,
      [](Rng& rng) -> Case {
        OLayout a = random_permutation(rng, std::int64_t{1} << rng.between(2, 6));
        OLayout b = rng.one_in(2) ? a : random_permutation(rng, size_of(a));
        a.swizzle = random_swizzle(rng);
        if (rng.one_in(2)) b.swizzle = random_swizzle(rng);
        return {.operands = {{.parts = a}, {.parts = b}}};
      },
      same_places_law);
}

Complaint trivial_law(const Case& c) {
  const OLayout& parts = c.operands[0].parts;
  const Table table = table_of(parts);
  const auto axes = axes_of(table);
  bool want = axes.size() <= 1;
  for (std::size_t x = 0; want && x < table.size(); ++x) {
    const Place place = *table[x].begin();
    want = table[x].size() == 1 &&
           (place.empty() ? 0 : place.begin()->second) == static_cast<std::int64_t>(x);
  }
  if (want && !axes.empty()) want = axis_named(*axes.begin()).is_memory();
  // A single element sits at 0 of whatever axis its spelling names; both answers are right.
  if (table.size() == 1) return kFine;
  const bool got = layout::is_trivial(layout_of(c.operands[0]));
  return got == want ? kFine : Complaint(fmt::format("is_trivial is {}", got));
}

TEST(LawsCanonical, TrivialSmall) { for_all_small(full_of_rank_2(), trivial_law); }
TEST(LawsCanonical, TrivialSmallShards) { for_all_small(shards_of_rank_3(), trivial_law); }

}  // namespace
}  // namespace ww::test::laws_canonical_test
