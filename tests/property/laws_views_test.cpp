// SPDX-License-Identifier: Apache-2.0
// Permuted, thread-less, packed and broadcast views against their definitions.
#include <gtest/gtest.h>

#include <algorithm>

#include "layout/canonical.h"
#include "layout/views.h"
#include "property/laws.h"

namespace ww::test::laws_views_test {
namespace {

bool is_permutation_of(const Ints& p, std::size_t n) {
  Ints sorted = p;
  std::ranges::sort(sorted);
  if (sorted.size() != n) return false;
  for (std::size_t k = 0; k < n; ++k) {
    if (sorted[k] != static_cast<std::int64_t>(k)) return false;
  }
  return true;
}

Ints inverse_of(const Ints& p) {
  Ints out(p.size());
  for (std::size_t k = 0; k < p.size(); ++k)
    out[static_cast<std::size_t>(p[k])] = static_cast<std::int64_t>(k);
  return out;
}

OLayout unswizzled(OLayout parts) {
  parts.swizzle = {};
  return parts;
}

// ---- permute ------------------------------------------------------------------------------------

/// numbers: the permutation of the iters.
Complaint permute_iters_law(const Case& c) {
  const OLayout& parts = c.operands[0].parts;
  const layout::Layout l = layout_of(c.operands[0]);
  const auto got = layout::permute_iters(l, c.numbers);
  if (!is_permutation_of(c.numbers, parts.shard.size())) {
    return got ? Complaint("permute_iters took what is not a permutation") : kFine;
  }
  if (!got) return refusal("permute_iters", got.error());
  const Table want = permute_dims_meaning(parts, extents_of(parts.shard), c.numbers);
  if (auto wrong = unless_table("permute_iters", *got, want)) return wrong;
  const auto back = layout::permute_iters(*got, inverse_of(c.numbers));
  return back && *back == l ? kFine : Complaint("permuting back does not give the layout back");
}

TEST(LawsViews, PermuteItersRandom) {
  for_all(
      701, 800,
      [](Rng& rng) {
        Case c = one_layout(rng, {.swizzle = true});
        c.numbers = random_order(rng, c.operands[0].parts.shard.size());
        if (rng.one_in(8) && !c.numbers.empty()) c.numbers[0] = rng.between(-1, 5);
        if (rng.one_in(8)) c.numbers.push_back(0);
        return c;
      },
      permute_iters_law);
}

/// numbers: the permutation of the dimensions.
Complaint permute_dims_law(const Case& c) {
  const Operand& o = c.operands[0];
  const auto got = layout::permute_dims(layout_of(o), o.shape, c.numbers);
  if (!is_permutation_of(c.numbers, o.shape.size())) {
    return got ? Complaint("permute_dims took what is not a permutation") : kFine;
  }
  if (!got) {
    return is_additive(table_of(unswizzled(o.parts)), o.shape)
               ? Complaint(refusal("permute_dims", got.error()))
               : kFine;
  }
  return unless_table("permute_dims", *got, permute_dims_meaning(o.parts, o.shape, c.numbers));
}

TEST(LawsViews, PermuteDimsRandom) {
  for_all(
      702, 1500,
      [](Rng& rng) {
        Case c = layout_and_shape(rng, {.swizzle = true});
        c.numbers = random_order(rng, c.operands[0].shape.size());
        if (rng.one_in(10)) c.numbers[0] = rng.between(-1, 5);
        return c;
      },
      permute_dims_law);
}

// ---- storage ------------------------------------------------------------------------------------

bool is_memory(const std::string& axis) { return axis_named(axis).is_memory(); }

Places memory_part(const Places& places) {
  Places out;
  for (Place place : places) {
    std::erase_if(place, [](const auto& entry) { return !is_memory(entry.first); });
    out.insert(place);
  }
  return out;
}

Complaint storage_law(const Case& c) {
  const OLayout& parts = c.operands[0].parts;
  const auto got = layout::storage(layout_of(c.operands[0]));
  if (!got) return refusal("storage", got.error());
  const OLayout kept = read(*got);
  Ints extents;
  std::vector<std::size_t> iters;
  for (std::size_t k = 0; k < parts.shard.size(); ++k) {
    if (!is_memory(parts.shard[k].axis)) continue;
    extents.push_back(parts.shard[k].extent);
    iters.push_back(k);
  }
  if (size_of(kept) != product(extents)) return "storage has the wrong number of elements";
  for (std::int64_t x = 0; x < size_of(parts); ++x) {
    const Ints digits = coordinate_of(x, extents_of(parts.shard));
    Ints in_memory;
    for (const std::size_t k : iters) in_memory.push_back(digits[k]);
    const Places want = memory_part(places_at(parts, x));
    const Places seen = places_at(kept, flat_of(in_memory, extents));
    if (seen != want)
      return fmt::format("element {} is at {}, should be at {}", x, text(seen), text(want));
  }
  const auto again = layout::storage(*got);
  return again && *again == *got ? kFine : Complaint("storage is not idempotent");
}

TEST(LawsViews, StorageSmall) { for_all_small(full_of_rank_2(), storage_law); }
TEST(LawsViews, StorageRandom) {
  const Wish wish{.axes = many_axes(), .swizzle = true};
  for_all(
      703, 1000, [&](Rng& rng) { return one_layout(rng, wish); }, storage_law);
}
TEST(LawsViews, StorageRefusesAnAxisOfUnknownKind) {
  EXPECT_FALSE(layout::storage(parsed("S[(2,2):(1@pid,1)]")));
  EXPECT_FALSE(layout::storage(parsed("S[2:1] + R[2:1@pid]")));
  EXPECT_FALSE(layout::storage(parsed("S[2:1] + 3@pid")));
}

// ---- pack and unpack ----------------------------------------------------------------------------

bool is_power_of_2(std::int64_t n) { return n > 0 && (n & (n - 1)) == 0; }

/// numbers: {n}.
Complaint unpack_law(const Case& c) {
  const OLayout& parts = c.operands[0].parts;
  const std::int64_t n = c.numbers[0];
  const layout::Layout l = layout_of(c.operands[0]);
  const auto got = layout::unpack(l, n);
  if (n < 1) return got ? Complaint("unpack by less than 1") : kFine;
  if (!got) {
    const bool possible = parts.swizzle.len == 0 || is_power_of_2(n);
    return possible ? Complaint(refusal("unpack", got.error())) : kFine;
  }
  if (auto wrong = unless_table("unpack", *got, unpack_meaning(parts, n, "m"))) return wrong;
  const auto back = layout::pack(*got, n);
  if (!back) return refusal("pack of unpack", back.error());
  return unless_table("pack of unpack", *back, table_of(parts));
}

TEST(LawsViews, UnpackSmall) {
  for_all_small(
      full_of_rank_2(),
      [](const OLayout& parts, const auto& visit) {
        for (const std::int64_t n : {1, 2, 3})
          visit({.operands = {{.parts = parts}}, .numbers = {n}});
      },
      unpack_law);
}
TEST(LawsViews, UnpackRandom) {
  for_all(
      704, 800,
      [](Rng& rng) {
        Case c = one_layout(rng, {.max_size = 64, .swizzle = true});
        c.numbers = {rng.between(0, 8)};
        return c;
      },
      unpack_law);
}

/// The table of the packed layout if n consecutive elements are consecutive and aligned everywhere.
std::optional<Table> packed_meaning(const OLayout& parts, std::int64_t n) {
  if (size_of(parts) % n != 0) return std::nullopt;
  const Table table = table_of(parts);
  Table out;
  for (std::size_t x = 0; x < table.size(); x += static_cast<std::size_t>(n)) {
    for (std::size_t k = 0; k < static_cast<std::size_t>(n); ++k) {
      const Places want =
          k == 0 ? table[x] : sum_of(table[x], {{{"m", static_cast<std::int64_t>(k)}}});
      if (table[x + k] != want) return std::nullopt;
    }
    Places small;
    for (Place place : table[x]) {
      const auto at = place.find("m");
      if (at != place.end() && floor_remainder(at->second, n) != 0) return std::nullopt;
      if (at != place.end()) at->second /= n;
      small.insert(place);
    }
    out.push_back(small);
  }
  return out;
}

int log2_of(std::int64_t n) {
  int out = 0;
  while ((std::int64_t{1} << out) < n) ++out;
  return out;
}

/// numbers: {n}.
Complaint pack_law(const Case& c) {
  const OLayout& parts = c.operands[0].parts;
  const std::int64_t n = c.numbers[0];
  const auto got = layout::pack(layout_of(c.operands[0]), n);
  if (n < 1) return got ? Complaint("pack by less than 1") : kFine;
  const auto want = packed_meaning(parts, n);
  if (got) {
    return want ? unless_table("pack", *got, *want)
                : Complaint("pack gave " + notation(read(*got)) + " for elements that do not pack");
  }
  if (!want) return kFine;
  OSwizzle swizzle = parts.swizzle;
  if (swizzle.len != 0) {
    swizzle.per_element -= log2_of(n);
    if (!is_power_of_2(n) || swizzle.per_element < 0) return kFine;
  }
  return is_tile_table_under(*want, swizzle) ? Complaint(refusal("pack", got.error())) : kFine;
}

TEST(LawsViews, PackSmall) {
  Space space = full_of_rank_2();
  space.extents = {1, 2, 4};
  space.strides = {-2, 0, 1, 2, 4};
  space.replicas = {{}, {{2, 1, "m"}}, {{2, 4, "m"}}, {{2, 1, "laneid"}}, {{2, -2, "m"}}};
  space.offsets = {{}, {{"m", 1}}, {{"m", 4}}, {{"m", -2}}, {{"laneid", 1}}};
  for_all_small(
      space,
      [](const OLayout& parts, const auto& visit) {
        for (const std::int64_t n : {1, 2, 4})
          visit({.operands = {{.parts = parts}}, .numbers = {n}});
      },
      pack_law);
}
TEST(LawsViews, PackRandom) {
  int packed = 0;
  for_all(
      705, 1500,
      [](Rng& rng) {
        Case c = one_layout(rng, {.max_rank = 3, .max_size = 64, .swizzle = true});
        const std::int64_t n = rng.between(0, 4);
        if (!rng.one_in(4) && n > 0)
          c.operands[0].parts = read(*layout::unpack(layout_of(c.operands[0]), n == 3 ? 2 : n));
        c.numbers = {n};
        return c;
      },
      [&](const Case& c) {
        packed += layout::pack(layout_of(c.operands[0]), c.numbers[0]) ? 1 : 0;
        return pack_law(c);
      });
  EXPECT_GT(packed, 300);
}
TEST(LawsViews, PackOnAnotherAxis) {
  const layout::Layout l = parsed("S[(128,4):(1@TLane,1@TCol)]");
  const layout::Axis tcol = layout::axes::tcol();
  const auto wide = layout::unpack(l, 2, tcol).value();
  EXPECT_EQ(table_of(read(wide)), unpack_meaning(read(l), 2, "TCol"));
  EXPECT_EQ(table_of(read(layout::pack(wide, 2, tcol).value())), table_of(read(l)));
}

// ---- broadcast ----------------------------------------------------------------------------------

/// numbers: {n, position}.
Complaint broadcast_law(const Case& c) {
  const OLayout& parts = c.operands[0].parts;
  const std::int64_t n = c.numbers[0];
  const auto rank = static_cast<std::int64_t>(parts.shard.size());
  const std::int64_t at = c.numbers[1] < 0 ? c.numbers[1] + rank + 1 : c.numbers[1];
  const auto got = layout::broadcast(layout_of(c.operands[0]), n, c.numbers[1]);
  if (n < 1 || at < 0 || at > rank) return got ? Complaint("broadcast out of range") : kFine;
  if (!got) return refusal("broadcast", got.error());
  Ints extents = extents_of(parts.shard);
  extents.insert(extents.begin() + at, n);
  Table want;
  for (std::int64_t x = 0; x < product(extents); ++x) {
    Ints digits = coordinate_of(x, extents);
    digits.erase(digits.begin() + at);
    want.push_back(places_of_digits(parts, digits));
  }
  return unless_table("broadcast", *got, want);
}

TEST(LawsViews, BroadcastRandom) {
  for_all(
      706, 800,
      [](Rng& rng) {
        Case c = one_layout(rng, {.max_size = 32, .swizzle = true});
        c.numbers = {rng.between(-1, 4), rng.between(-6, 5)};
        return c;
      },
      broadcast_law);
}

}  // namespace
}  // namespace ww::test::laws_views_test
