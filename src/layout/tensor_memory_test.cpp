// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "layout/apply.h"
#include "layout/image.h"
#include "layout/ready_made.h"
#include "layout/text.h"

namespace ww::layout::tensor_memory_test {
namespace {

using Cell = std::pair<std::int64_t, std::int64_t>;  // lane, column

// Every cell that an element of the layout occupies.
std::set<Cell> footprint(const Layout& layout) {
  const Image image = enumerate(layout).value();
  const auto lanes = image.on(axes::tlane());
  const auto cols = image.on(axes::tcol());
  std::set<Cell> cells;
  for (std::size_t i = 0; i < lanes.size(); ++i) cells.emplace(lanes[i], cols[i]);
  return cells;
}

Cell cell(const Layout& layout, std::int64_t cols, std::int64_t r, std::int64_t c) {
  const Image image = enumerate(layout).value();
  const auto x = static_cast<std::size_t>(r * cols + c);
  return {image.on(axes::tlane())[x], image.on(axes::tcol())[x]};
}

std::int64_t rows_of(char letter) {
  return letter == 'A' || letter == 'D' ? 128 : letter == 'G' ? 32 : 64;
}

// What the manual's pictures of the data paths show, with N columns.
Cell expected(char letter, std::int64_t n, std::int64_t r, std::int64_t c) {
  switch (letter) {
    case 'B':
    case 'E':
      return {r + (c >= n / 2 ? 64 : 0), c >= n / 2 ? c - n / 2 : c};
    case 'C':
    case 'F':
      return {r + 16 * (r / 16), c};
    case 'G':
      return {r + 32 * (c / (n / 4)), c % (n / 4)};
    default:
      return {r, c};
  }
}

TEST(TmemDatapath, ClosedFormulas) {
  for (const char letter : std::string("ABCDEFG"))
    for (const std::int64_t n : {8, 24, 128, 256}) {
      const auto layout = tmem_datapath(letter, rows_of(letter), n);
      ASSERT_TRUE(layout) << layout.error().text;
      const Image image = enumerate(*layout).value();
      for (std::int64_t r = 0; r < rows_of(letter); ++r)
        for (std::int64_t c = 0; c < n; ++c) {
          const auto x = static_cast<std::size_t>(r * n + c);
          const Cell seen = {image.on(axes::tlane())[x], image.on(axes::tcol())[x]};
          ASSERT_EQ(seen, expected(letter, n, r, c)) << letter << " " << r << "," << c;
        }
    }
}

TEST(TmemDatapath, InjectiveAndInsideTheLanes) {
  for (const char letter : std::string("ABCDEFG")) {
    const Layout layout = *tmem_datapath(letter, rows_of(letter), 128);
    EXPECT_TRUE(is_injective(layout).value());
    EXPECT_LE(span_on(layout, axes::tlane()).value(), 128);
  }
}

TEST(TmemDatapath, TwoSubSlabsFillTheLanes) {
  for (const char letter : {'C', 'F'}) {
    std::set<Cell> both = footprint(*tmem_datapath(letter, 64, 32, 0));
    both.merge(footprint(*tmem_datapath(letter, 64, 32, 1)));
    EXPECT_EQ(both, footprint(*tmem_datapath('D', 128, 32)));
    EXPECT_EQ(both.size(), std::size_t{2 * 64 * 32});  // nothing shared
  }
}

TEST(TmemDatapath, FoldedColumnsFillTheLanes) {
  EXPECT_EQ(footprint(*tmem_datapath('B', 64, 128)), footprint(*tmem_datapath('D', 128, 64)));
  EXPECT_EQ(footprint(*tmem_datapath('G', 32, 128)), footprint(*tmem_datapath('D', 128, 32)));
}

TEST(TmemDatapath, Examples) {
  EXPECT_EQ(cell(*tmem_datapath('F', 64, 8), 8, 17, 3), Cell(33, 3));
  EXPECT_EQ(cell(*tmem_datapath('F', 64, 8, 1), 8, 17, 3), Cell(49, 3));
  EXPECT_EQ(cell(*tmem_datapath('B', 64, 128), 128, 5, 70), Cell(69, 6));
  EXPECT_EQ(cell(*tmem_datapath('G', 32, 128), 128, 5, 70), Cell(69, 6));
  EXPECT_EQ(span_on(*tmem_datapath('F', 64, 8), axes::tlane()).value(), 112);
  EXPECT_EQ(span_on(*tmem_datapath('F', 64, 8, 1), axes::tlane()).value(), 128);
  EXPECT_EQ(to_text(*tmem_datapath('B', 64, 128)), "S[(64,2,64):(1@TLane,64@TLane,1@TCol)]");
  EXPECT_EQ(to_text(*tmem_datapath('C', 64, 8, 1)),
            "S[(4,16,8):(32@TLane,1@TLane,1@TCol)] + 16@TLane");
}

TEST(TmemDatapath, Refusals) {
  struct Row {
    char letter;
    std::int64_t rows;
    std::int64_t cols;
    int sub_slab;
    std::string_view part;
  };
  const std::vector<Row> rows = {
      {'H', 128, 8, 0, "no datapath is named `H`; there are A to G"},
      {'a', 128, 8, 0, "`a`"},
      {'A', 64, 8, 0, "64 rows on datapath A; it has 128"},
      {'G', 64, 8, 0, "it has 32"},
      {'B', 64, 7, 0, "7 columns on datapath B; it takes positive multiples of 2"},
      {'E', 64, 1, 0, "multiples of 2"},
      {'G', 32, 6, 0, "multiples of 4"},
      {'D', 128, 0, 0, "0 columns"},
      {'F', 64, 8, 2, "sub-slab 2; there are 0 and 1"},
      {'C', 64, 8, -1, "sub-slab -1"},
      {'B', 64, 8, 1, "only C and F"},
      {'D', 128, 8, 1, "only C and F"},
  };
  for (const auto& [letter, r, c, sub_slab, part] : rows) {
    const auto layout = tmem_datapath(letter, r, c, sub_slab);
    ASSERT_FALSE(layout) << to_text(*layout);
    EXPECT_EQ(layout.error().kind, DiagKind::BadArgument);
    EXPECT_NE(layout.error().text.find(part), std::string::npos) << layout.error().text;
  }
}

TEST(TmemOperand, LetterOfEachForm) {
  struct Row {
    TmemOperand op;
    char letter;
  };
  const std::vector<Row> rows = {
      {{.m = 256, .cta_group = 2}, 'A'},
      {{.m = 256, .cta_group = 2, .sparse = true}, 'A'},
      {{.m = 128, .cta_group = 2}, 'B'},
      {{.m = 128, .cta_group = 2, .sparse = true}, 'C'},
      {{.m = 128}, 'D'},
      {{.m = 128, .ws = true}, 'D'},
      {{.m = 64, .ws = true}, 'E'},
      {{.m = 64}, 'F'},
      {{.m = 32, .ws = true}, 'G'},
  };
  for (const auto& [op, letter] : rows) EXPECT_EQ(tmem_datapath_letter(op).value(), letter);
  for (const TmemOperand& op :
       {TmemOperand{.m = 256}, TmemOperand{.m = 32}, TmemOperand{.m = 64, .cta_group = 2},
        TmemOperand{.m = 256, .cta_group = 2, .ws = true}, TmemOperand{.cta_group = 0}}) {
    EXPECT_EQ(tmem_datapath_letter(op).error().kind, DiagKind::BadArgument);
    EXPECT_FALSE(tmem_mma_operand(Shape{128, 64}, op));
  }
}

TEST(TmemOperand, Placements) {
  struct Row {
    Shape shape;
    TmemOperand op;
    std::string_view text;
  };
  const TmemOperand b = {.m = 128, .cta_group = 2};
  const TmemOperand e = {.m = 64, .ws = true};
  TmemOperand grouped = e;
  grouped.group = {3, 2, 16};
  TmemOperand a_b = b;
  a_b.operand = 'A';
  TmemOperand a_e = e;
  a_e.operand = 'A';
  const std::vector<Row> rows = {
      {{128, 64}, {}, "S[(128,64):(1@TLane,1@TCol)]"},
      {{128, 64}, {.m = 256, .cta_group = 2}, "S[(128,64):(1@TLane,1@TCol)]"},
      {{64, 32}, {.m = 64}, "S[(4,16,32):(32@TLane,1@TLane,1@TCol)]"},
      {{32, 64}, {.m = 32, .ws = true}, "S[(32,4,16):(1@TLane,32@TLane,1@TCol)]"},
      {{64, 32},
       {.m = 128, .cta_group = 2, .sparse = true},
       "S[(4,16,32):(32@TLane,1@TLane,1@TCol)]"},
      {{64, 128}, b, "S[(64,2,64):(1@TLane,64@TLane,1@TCol)]"},
      {{2, 64, 64}, b, "S[(128,64):(1@TLane,1@TCol)]"},
      {{64, 2, 64}, e, "S[(64,2,64):(1@TLane,64@TLane,1@TCol)]"},
      {{64, 3, 2, 16}, e, "S[(64,3,2,16):(1@TLane,16@TCol,64@TLane,1@TCol)]"},
      {{64, 96}, grouped, "S[(64,3,2,16):(1@TLane,16@TCol,64@TLane,1@TCol)]"},
      {{128, 64}, {.operand = 'A'}, "S[(128,64):(1@TLane,1@TCol)]"},
      {{128, 16}, {.operand = 'A', .m = 256, .cta_group = 2}, "S[(128,16):(1@TLane,1@TCol)]"},
      {{64, 16}, a_b, "S[(64,16):(1@TLane,1@TCol)] + R[2:64@TLane]"},
      {{2, 64, 16}, a_b, "S[(128,16):(1@TLane,1@TCol)]"},
      {{2, 64, 16}, a_e, "S[(128,16):(1@TLane,1@TCol)]"},
      {{64, 16}, {.operand = 'A', .m = 64}, "S[(4,16,16):(32@TLane,1@TLane,1@TCol)]"},
  };
  for (const auto& [shape, op, text] : rows) {
    const auto layout = tmem_mma_operand(shape, op);
    ASSERT_TRUE(layout) << layout.error().text;
    EXPECT_EQ(to_text(*layout), text) << shape_text(shape);
  }
}

TEST(TmemOperand, Refusals) {
  struct Row {
    Shape shape;
    TmemOperand op;
    std::string_view part;
  };
  const std::vector<Row> rows = {
      {{64, 64},
       {},
       "shape (64,64) has 64 rows; tcgen05.mma.cta_group::1 with M = 128 has 128 to a CTA"},
      {{128, 64}, {.m = 96}, "there is no tcgen05.mma.cta_group::1 with M = 96"},
      {{128, 64}, {.operand = 'B'}, "operand `B`; tensor memory holds A and D"},
      {{2, 64, 64}, {}, "accepted is (rows,N)"},
      {{128}, {}, "shape (128) for operand D on datapath D"},
      {{64, 3, 64}, {.m = 64, .ws = true}, "(2,rows,n), (rows,2,n) or (rows,s,2,n)"},
      {{2, 32, 64}, {.m = 64, .ws = true}, "has 32 rows"},
      {{64, 7}, {.m = 64, .ws = true}, "multiples of 2"},
      {{128, 96}, {.group = {3, 2, 16}}, "only B and E have column halves"},
      {{64, 96}, {.m = 64, .ws = true, .group = {3, 16}}, "not of the form (s,2,n)"},
      {{64, 96}, {.m = 64, .ws = true, .group = {2, 3, 16}}, "not of the form (s,2,n)"},
      {{64, 90}, {.m = 64, .ws = true, .group = {3, 2, 16}}, "does not multiply to the 90 columns"},
      {{64, 2, 48}, {.m = 64, .ws = true, .group = {3, 2, 16}}, "of a 2-D shape"},
      {{64, 16}, {.operand = 'A', .m = 64, .ws = true}, "both halves of the lanes are read"},
      {{3, 64, 16}, {.operand = 'A', .m = 128, .cta_group = 2}, "(rows,K) or (2,rows,K)"},
      {{2, 64, 16}, {.operand = 'A'}, "accepted is (rows,K)"},
      {{128, 16}, {.operand = 'A', .sparse = true}, "compressed rows of a sparse A"},
      {{32, 16}, {.operand = 'A', .m = 32, .ws = true}, "on datapath G only D"},
      {{128, 16}, {.operand = 'A', .group = {1, 2, 8}}, "only the columns of D are grouped"},
  };
  for (const auto& [shape, op, part] : rows) {
    const auto layout = tmem_mma_operand(shape, op);
    ASSERT_FALSE(layout) << to_text(*layout);
    EXPECT_EQ(layout.error().kind, DiagKind::BadArgument);
    EXPECT_NE(layout.error().text.find(part), std::string::npos) << layout.error().text;
  }
  EXPECT_EQ(tmem_mma_operand(Shape{128, 0}, {}).error().kind, DiagKind::BadExtent);
}

TEST(Tcgen05Cp, LanesOfEachShape) {
  const std::vector<std::pair<std::string_view, std::string_view>> rows = {
      {"128x256b", "S[128:1@TLane]"},
      {"128x128b", "S[128:1@TLane]"},
      {"4x256b", "S[4:32@TLane]"},
      {"64x128b_02_13", "S[64:1@TLane] + R[2:64@TLane]"},
      {"64x128b_01_23", "S[(2,32):(64@TLane,1@TLane)] + R[2:32@TLane]"},
      {"32x128b_warpx4", "S[32:1@TLane] + R[4:32@TLane]"},
  };
  for (const auto& [shape, text] : rows) EXPECT_EQ(to_text(*tcgen05_cp_lanes(shape)), text);
  const auto bad = tcgen05_cp_lanes("64x128b");
  EXPECT_EQ(bad.error().kind, DiagKind::BadArgument);
  EXPECT_NE(bad.error().text.find("64x128b_02_13"), std::string::npos);
}

TEST(Tcgen05Cp, PairsOfWarpsHoldTheSameRows) {
  // The digits in the name pair up the lane windows.
  const auto rows_in_window = [](std::string_view shape) {
    const Layout layout = *tcgen05_cp_lanes(shape);
    std::vector<std::set<std::int64_t>> windows(4);
    for (std::int64_t row = 0; row < layout.size(); ++row) {
      const std::vector<Place> places = apply_all(layout, row).value();
      for (const Place& place : places)
        windows[static_cast<std::size_t>(place[0].value / 32)].insert(row);
    }
    return windows;
  };
  const auto interleaved = rows_in_window("64x128b_02_13");
  EXPECT_EQ(interleaved[0], interleaved[2]);
  EXPECT_EQ(interleaved[1], interleaved[3]);
  EXPECT_NE(interleaved[0], interleaved[1]);
  const auto adjacent = rows_in_window("64x128b_01_23");
  EXPECT_EQ(adjacent[0], adjacent[1]);
  EXPECT_EQ(adjacent[2], adjacent[3]);
  EXPECT_NE(adjacent[1], adjacent[2]);
}

}  // namespace
}  // namespace ww::layout::tensor_memory_test
