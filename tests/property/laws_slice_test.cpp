// SPDX-License-Identifier: Apache-2.0
// Slicing: element y of the slice is element y + begin of the whole; refused only when no tile
// layout (under the same swizzle) has that table. Symbolic begins hold for every value of the
// symbol.
#include <gtest/gtest.h>

#include "layout/canonical.h"
#include "layout/group.h"
#include "layout/slice.h"
#include "layout/threads.h"
#include "property/laws.h"

namespace ww::test::laws_slice_test {
namespace {

using layout::Machine;

std::vector<layout::Slice1> region_of(const Operand& operand) {
  std::vector<layout::Slice1> out;
  for (const RegionSide& side : operand.region) out.push_back({side.begin, side.extent});
  return out;
}

Complaint slice_law(const Case& c) {
  const Operand& o = c.operands[0];
  const layout::Layout l = layout_of(o);
  const Table want = slice_meaning(o.parts, o.shape, begins_of(o), extents_of(o));
  const auto got = layout::slice(l, o.shape, region_of(o));
  if (!got) {
    return is_tile_table_under(want, o.parts.swizzle) ? Complaint(refusal("slice", got.error()))
                                                      : kFine;
  }
  if (auto wrong = unless_table("slice", *got, want)) return wrong;
  if (layout::group(l, o.shape) && !layout::group(*got, extents_of(o))) {
    return "the slice " + notation(read(*got)) + " does not group by the region's extents";
  }
  return kFine;
}

/// With the machine known, thread axes may be renamed but the same threads must hold the elements;
/// and whatever can be expressed on the axes as written or on the fused ones must be.
Complaint slice_cuda_law(const Case& c) {
  const Operand& o = c.operands[0];
  const layout::Layout l = layout_of(o);
  const Table want = slice_meaning(o.parts, o.shape, begins_of(o), extents_of(o));
  const auto got = layout::slice(l, o.shape, region_of(o), Machine::Cuda);
  if (!got) {
    const OLayout fused = read(layout::fuse_threads(l, Machine::Cuda));
    const Table on_fused = slice_meaning(fused, o.shape, begins_of(o), extents_of(o));
    const bool possible = is_tile_table_under(want, o.parts.swizzle) ||
                          is_tile_table_under(on_fused, o.parts.swizzle);
    return possible ? Complaint(refusal("slice", got.error())) : kFine;
  }
  const auto wrong = difference(on_threads(table_of(read(*got))), on_threads(want));
  if (!wrong) return kFine;
  return fmt::format("slice gave {}: {}", notation(read(*got)), *wrong);
}

std::vector<RegionSide> random_region(Rng& rng, const Ints& shape) {
  std::vector<RegionSide> out;
  for (const std::int64_t e : shape) {
    RegionSide side{rng.between(0, e - 1), 1};
    side.extent = rng.between(1, e - side.begin);
    if (rng.one_in(3)) {  // an aligned block
      Ints divisors;
      for (std::int64_t d = 1; d <= e; ++d) {
        if (e % d == 0) divisors.push_back(d);
      }
      side.extent = rng.pick(divisors);
      side.begin = rng.between(0, e / side.extent - 1) * side.extent;
    }
    out.push_back(side);
  }
  return out;
}

Case random_slice(Rng& rng, const Wish& wish) {
  Case c = layout_and_shape(rng, wish);
  c.operands[0].region = random_region(rng, c.operands[0].shape);
  return c;
}

void every_region_1d(const OLayout& parts, const std::function<void(const Case&)>& visit) {
  const std::int64_t n = size_of(parts);
  for (std::int64_t begin = 0; begin < n; ++begin) {
    for (std::int64_t extent = 1; begin + extent <= n; ++extent) {
      visit({.operands = {{parts, {n}, {{begin, extent}}}}});
    }
  }
}

void every_region_2d(const OLayout& parts, const std::function<void(const Case&)>& visit) {
  for (const Ints& shape : all_shapes(size_of(parts), 2)) {
    if (shape.size() != 2) continue;
    for (std::int64_t i = 0; i < shape[0]; ++i) {
      for (std::int64_t ei = 1; i + ei <= shape[0]; ++ei) {
        for (std::int64_t j = 0; j < shape[1]; ++j) {
          for (std::int64_t ej = 1; j + ej <= shape[1]; ++ej) {
            visit({.operands = {{parts, shape, {{i, ei}, {j, ej}}}}});
          }
        }
      }
    }
  }
}

TEST(LawsSlice, AllRegionsOfSmallLayouts) {
  Space space;
  space.max_rank = 3;
  space.extents = {2, 3};
  space.strides = {-1, 0, 1, 3, 7};
  space.axes = {"m", "laneid"};
  for_all_small(
      space,
      [](const OLayout& parts, const auto& visit) {
        if (size_of(parts) <= 12) every_region_1d(parts, visit);
      },
      slice_law);
}
TEST(LawsSlice, AllRegionsWithReplicaAndOffset) {
  Space space = full_of_rank_2();
  space.extents = {2, 3};
  for_all_small(space, every_region_1d, slice_law);
}
TEST(LawsSlice, AllRegionsIn2d) {
  Space space;
  space.max_rank = 2;
  space.extents = {2, 3, 4};
  space.strides = {-1, 1, 3, 4};
  space.axes = {"m", "laneid"};
  for_all_small(space, every_region_2d, slice_law);
}
TEST(LawsSlice, Random) {
  int answered = 0;
  int refused = 0;
  for_all(
      401, 4000, [](Rng& rng) { return random_slice(rng, {}); },
      [&](const Case& c) {
        const Operand& o = c.operands[0];
        (layout::slice(layout_of(o), o.shape, region_of(o)) ? answered : refused) += 1;
        return slice_law(c);
      });
  EXPECT_GT(answered, 1000);
  EXPECT_GT(refused, 200);
}
TEST(LawsSlice, RandomSwizzled) {
  for_all(
      402, 1500, [](Rng& rng) { return random_slice(rng, {.swizzle = true}); }, slice_law);
}
TEST(LawsSlice, RandomAxes) {
  const Wish wish{.axes = {"m", "reg", "gpu", "worker", "pid", "TLane"}};
  for_all(
      403, 1000, [&](Rng& rng) { return random_slice(rng, wish); }, slice_law);
}
TEST(LawsSlice, RandomOnCuda) {
  const Wish wish{.axes = {"m", "laneid", "warpid", "wid_in_wg", "wgid"}, .negative = false};
  for_all(
      404, 1500, [&](Rng& rng) { return random_slice(rng, wish); }, slice_cuda_law);
}
TEST(LawsSlice, FragmentsOnCuda) {
  // Threads used as digits, the way fragments do: wraps from one thread axis to the next are
  // common.
  for_all(
      405, 1500,
      [](Rng& rng) {
        OLayout parts = random_permutation(rng, 64, "tx");
        for (OIter& it : parts.shard) {
          if (it.stride % 32 == 0) it = {it.extent, it.stride / 32, "warpid"};
          if (it.axis == "tx" && it.extent * it.stride <= 32) it.axis = "laneid";
        }
        parts.shard.push_back({2, 1, "m"});
        Operand o{.parts = parts, .shape = shape_along(rng, parts)};
        o.region = random_region(rng, o.shape);
        return Case{.operands = {o}};
      },
      slice_cuda_law);
}

Complaint full_and_nested_law(const Case& c) {
  const Operand& o = c.operands[0];
  const layout::Layout l = layout_of(o);
  std::vector<layout::Slice1> whole;
  for (const std::int64_t e : o.shape) whole.push_back({0, e});
  const auto full = layout::slice(l, o.shape, whole);
  if (!full) return refusal("the full slice", full.error());
  if (auto wrong = unless_table("the full slice", *full, table_of(o.parts))) return wrong;
  // The second half of the region of the region.
  const auto once = layout::slice(l, o.shape, region_of(o));
  if (!once) return kFine;
  std::vector<layout::Slice1> half;
  Ints begins;
  Ints extents;
  for (const RegionSide& side : o.region) {
    const std::int64_t cut = side.extent / 2;
    half.push_back({cut, side.extent - cut});
    begins.push_back(side.begin + cut);
    extents.push_back(side.extent - cut);
  }
  const auto twice = layout::slice(*once, extents_of(o), half);
  const Table want = slice_meaning(o.parts, o.shape, begins, extents);
  if (!twice) {
    return is_tile_table_under(want, o.parts.swizzle)
               ? Complaint(refusal("slice of slice", twice.error()))
               : kFine;
  }
  return unless_table("slice of slice", *twice, want);
}

TEST(LawsSlice, FullAndNested) {
  for_all(
      406, 1000, [](Rng& rng) { return random_slice(rng, {.swizzle = true}); },
      full_and_nested_law);
}

// ---- Symbolic begins ----------------------------------------------------------------------------

/// numbers: dimension, coefficient, constant, largest value, divisor of the symbol. The region's
/// begin in that dimension is coefficient·k + constant for k in [0, largest], k a multiple of the
/// divisor.
struct SymbolicBegin {
  std::size_t dim = 0;
  std::int64_t coef = 1, constant = 0, largest = 0, divisor = 1;

  static std::optional<SymbolicBegin> of(const Case& c) {
    const Ints& n = c.numbers;
    if (n.size() != 5 || n[0] < 0 || n[3] < 0 || n[4] < 1) return std::nullopt;
    if (static_cast<std::size_t>(n[0]) >= c.operands[0].shape.size()) return std::nullopt;
    return SymbolicBegin{static_cast<std::size_t>(n[0]), n[1], n[2], n[3], n[4]};
  }
  [[nodiscard]] layout::Expr expr() const {
    const auto k = layout::Sym::make("k", {0, largest}, divisor).value();
    return layout::Expr(k) * coef + constant;
  }
};

/// Is the layout's function of one dimension a plain multiple of the coordinate?
bool is_linear_in(const OLayout& parts, const Ints& shape, std::size_t dim) {
  Ints begin(shape.size());
  Ints extent(shape.size(), 1);
  extent[dim] = shape[dim];
  const Table line = slice_meaning(parts, shape, begin, extent);
  for (std::size_t x = 2; x < line.size(); ++x) {
    Places twice = sum_of(line[x], line[x - 2]);
    if (line[x].size() != 1 || twice != sum_of(line[x - 1], line[x - 1])) return false;
  }
  return true;
}

Complaint symbolic_law(const Case& c) {
  const auto begin = SymbolicBegin::of(c);
  if (!begin) return kFine;
  const Operand& o = c.operands[0];
  auto region = region_of(o);
  region[begin->dim].begin = begin->expr();
  const auto got = layout::slice(layout_of(o), o.shape, region);
  bool inside = true;
  bool constant_ones_exist = true;
  for (std::int64_t k = 0; k <= begin->largest; k += begin->divisor) {
    Ints begins = begins_of(o);
    begins[begin->dim] = begin->coef * k + begin->constant;
    const std::int64_t end = begins[begin->dim] + o.region[begin->dim].extent;
    if (begins[begin->dim] < 0 || end > o.shape[begin->dim]) {
      inside = false;
      break;
    }
    const Table want = slice_meaning(o.parts, o.shape, begins, extents_of(o));
    constant_ones_exist = constant_ones_exist && is_tile_table_under(want, o.parts.swizzle);
    if (!got) continue;
    const OLayout at_k = read(*got, {{"k", k}});
    if (const auto wrong = difference(table_of(at_k), want)) {
      return fmt::format("slice gave {} at k = {}: {}", notation(at_k), k, *wrong);
    }
  }
  if (got) return inside ? kFine : Complaint("slice accepted a begin that can leave the shape");
  const bool must = inside && constant_ones_exist && o.parts.replica.empty() &&
                    o.parts.swizzle.len == 0 && is_additive(table_of(o.parts), o.shape) &&
                    is_linear_in(o.parts, o.shape, begin->dim);
  return must ? Complaint(refusal("symbolic slice", got.error())) : kFine;
}

Case random_symbolic_slice(Rng& rng) {
  Case c = random_slice(rng, {.max_size = 96, .swizzle = true});
  const Operand& o = c.operands[0];
  const std::size_t dim = rng.below(o.shape.size());
  const std::int64_t room = o.shape[dim] - o.region[dim].extent;
  const std::int64_t coef = rng.one_in(3) ? rng.between(1, 3) : o.region[dim].extent;
  const std::int64_t constant = rng.one_in(2) ? 0 : rng.between(0, room);
  const std::int64_t divisor = rng.one_in(3) ? 2 : 1;
  std::int64_t largest = (room - constant) / coef;
  if (rng.one_in(10)) largest += 1 + divisor;  // leaves the shape
  c.numbers = {static_cast<std::int64_t>(dim), coef, constant, largest, divisor};
  return c;
}

TEST(LawsSlice, SymbolicBeginRandom) {
  int answered = 0;
  for_all(407, 3000, random_symbolic_slice, [&](const Case& c) {
    if (const auto begin = SymbolicBegin::of(c)) {
      auto region = region_of(c.operands[0]);
      region[begin->dim].begin = begin->expr();
      answered += layout::slice(layout_of(c.operands[0]), c.operands[0].shape, region) ? 1 : 0;
    }
    return symbolic_law(c);
  });
  EXPECT_GT(answered, 600);
}

TEST(LawsSlice, SymbolicBeginsThatMustBeAnswered) {
  // layout, shape, region, (dimension, coefficient, constant, largest, divisor)
  struct Row {
    const char* layout;
    Ints shape;
    std::vector<RegionSide> region;
    Ints numbers;
  };
  const std::vector<Row> rows = {
      {"S[(2,128):(8192,64)]", {256}, {{0, 128}}, {0, 128, 0, 1, 1}},
      {"S[(64,64):(64,1)]", {64, 64}, {{0, 16}, {0, 64}}, {0, 16, 0, 3, 1}},
      {"S[(64,64):(64,1)]", {64, 64}, {{0, 64}, {0, 8}}, {1, 1, 0, 56, 8}},
      {"S[(8,8,8,8):(512,8,64,1)]", {64, 64}, {{0, 8}, {0, 64}}, {0, 8, 0, 7, 1}},
      {"S[(8,8,8,8):(512,8,64,1)]", {64, 64}, {{0, 8}, {0, 4}}, {1, 8, 4, 7, 1}},
      {"S[(4,4,4):(64,4,1)]", {64}, {{0, 4}}, {0, 4, 0, 15, 1}},
      {"S[(4,4,4):(64,4,1)]", {64}, {{0, 2}}, {0, 1, 2, 60, 4}},
      {"ComposeLayout(3,3,3, S[(64,64):(64,1)])", {64, 64}, {{0, 8}, {0, 64}}, {0, 8, 0, 7, 1}}};
  for (const Row& row : rows) {
    const layout::Layout l = parsed(row.layout);
    const Case c{.operands = {{read(l), row.shape, row.region}}, .numbers = row.numbers};
    auto region = region_of(c.operands[0]);
    const auto begin = SymbolicBegin::of(c);
    region[begin->dim].begin = begin->expr();
    const auto got = layout::slice(l, row.shape, region);
    EXPECT_TRUE(got) << row.layout << ": " << got.error().text;
    for_one(c, symbolic_law);
  }
}

TEST(LawsSlice, TwoSymbolsAtOnce) {
  const layout::Layout l = parsed("S[(8,8,8,8):(512,8,64,1)] + 3@laneid");
  const auto i = layout::Sym::make("i", {0, 7}).value();
  const auto j = layout::Sym::make("j", {0, 3}).value();
  const std::vector<layout::Slice1> region = {{layout::Expr(i) * 8, 8}, {layout::Expr(j) * 16, 16}};
  const auto got = layout::slice(l, Ints{64, 64}, region);
  ASSERT_TRUE(got) << got.error().text;
  for (std::int64_t vi = 0; vi <= 7; ++vi) {
    for (std::int64_t vj = 0; vj <= 3; ++vj) {
      const Table want = slice_meaning(read(l), {64, 64}, {8 * vi, 16 * vj}, {8, 16});
      EXPECT_EQ(difference(table_of(read(*got, {{"i", vi}, {"j", vj}})), want), std::nullopt);
    }
  }
}

TEST(LawsSlice, UnknownFirstExtent) {
  // Rows of a matrix whose height is known at run time only.
  for (const char* notation : {"S[(?,8):(8,1)]", "S[(?,4,2):(16,2,1)] + R[2:1@warpid] + 5",
                               "ComposeLayout(0,2,2, S[(?,8):(8,1)])"}) {
    const layout::Layout l = parsed(notation);
    const Ints shape = {layout::kUnknownExtent, 8};
    const auto k = layout::Sym::make("k", {0, 5}).value();
    const std::vector<layout::Slice1> region = {{layout::Expr(k) * 2, 2}, {4, 4}};
    const auto got = layout::slice(l, shape, region);
    ASSERT_TRUE(got) << notation << ": " << got.error().text;
    for (std::int64_t v = 0; v <= 5; ++v) {
      const std::int64_t rows = 12;  // any height that holds the region gives the same places
      const Table want = slice_meaning(read(l, {}, rows), {rows, 8}, {2 * v, 4}, {2, 4});
      EXPECT_EQ(difference(table_of(read(*got, {{"k", v}})), want), std::nullopt) << notation;
    }
  }
}

TEST(LawsSlice, UnknownFirstExtentKeptWhole) {
  // Cutting columns while keeping all the rows there are.
  const layout::Layout l = parsed("S[(?,8):(8,1)]");
  const std::vector<layout::Slice1> region = {{0, layout::kUnknownExtent}, {2, 4}};
  const auto got = layout::slice(l, Ints{layout::kUnknownExtent, 8}, region);
  ASSERT_TRUE(got) << got.error().text;
  for (std::int64_t n = 1; n <= 4; ++n) {
    const Table want = slice_meaning(read(l, {}, n), {n, 8}, {0, 2}, {n, 4});
    EXPECT_EQ(difference(table_of(read(*got, {}, n)), want), std::nullopt);
  }
}

TEST(LawsSlice, BadRegionsAreRefused) {
  const layout::Layout l = parsed("S[(4,8):(8,1)]");
  const auto refused = [&](const Ints& shape, std::vector<layout::Slice1> region) {
    return !layout::slice(l, shape, region);
  };
  EXPECT_TRUE(refused({4, 8}, {{0, 5}, {0, 8}}));
  EXPECT_TRUE(refused({4, 8}, {{3, 2}, {0, 8}}));
  EXPECT_TRUE(refused({4, 8}, {{-1, 2}, {0, 8}}));
  EXPECT_TRUE(refused({4, 8}, {{0, 0}, {0, 8}}));
  EXPECT_TRUE(refused({4, 8}, {{0, -1}, {0, 8}}));
  EXPECT_TRUE(refused({4, 8}, {{0, 4}}));
  EXPECT_TRUE(refused({4, 9}, {{0, 4}, {0, 8}}));
  EXPECT_TRUE(refused({32}, {{std::int64_t{1} << 59, 1}}));
}

}  // namespace
}  // namespace ww::test::laws_slice_test
