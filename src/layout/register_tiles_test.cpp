// SPDX-License-Identifier: Apache-2.0
// Register tiles, element by element against formulas, and against layouts written by hand.
#include <gtest/gtest.h>

#include <array>

#include "layout/apply.h"
#include "layout/canonical.h"
#include "layout/ready_made.h"
#include "layout/text.h"

namespace ww::layout::register_tiles_test {
namespace {

Layout made(Result<Layout> layout) {
  EXPECT_TRUE(layout) << layout.error().text;
  return layout ? *std::move(layout) : Layout();
}

void expect_same(Result<Layout> layout, std::string_view written) {
  const Layout ours = made(std::move(layout));
  EXPECT_TRUE(same_places(ours, parse_layout(written).value()).value())
      << to_text(ours) << " for " << written;
}

TEST(RegisterTiles, AccumulatorsOverWarps) {
  expect_same(mma_tile('D', Shape{64, 64}, 32, {2, 2}),
              "S[(2,2,2,8,2,4,4,2):(1@warpid,16,2,4@laneid,2@warpid,4,1@laneid,1)]");
  expect_same(mma_tile('C', Shape{16, 8}, 32, {}), "S[(2,8,4,2):(2,4@laneid,1@laneid,1)]");
  // The accumulator of one product is the operand A of the next.
  expect_same(mma_tile('A', Shape{64, 64}, 16, {4, 1}),
              "S[(4,2,8,4,2,4,2):(1@warpid,2,4@laneid,8,4,1@laneid,1)]");
}

// Operands A and B are the rows and columns that a warp of D needs.
TEST(RegisterTiles, OperandsAreHeldWhereTheyAreNeeded) {
  expect_same(mma_tile('A', Shape{64, 16}, 16, {2, 4}),
              "S[(2,2,2,8,2,4,2):(1@warpid,8,2,4@laneid,4,1@laneid,1)] + R[4:2@warpid]");
  expect_same(mma_tile('B', Shape{16, 32}, 16, {2, 4}),
              "S[(2,4,2,4,8):(2,1@laneid,1,2@warpid,4@laneid)] + R[2:1@warpid]");
  // Several steps along K.
  expect_same(mma_tile('A', Shape{64, 32}, 16, {2, 1}),
              "S[(2,2,2,8,2,2,4,2):(1@warpid,8,2,4@laneid,16,4,1@laneid,1)]");
  expect_same(mma_tile('B', Shape{64, 32}, 8, {1, 2}),
              "S[(2,2,4,4,2,2,8):(16,4,1@laneid,1,1@warpid,8,4@laneid)]");
  // As rows of N.
  expect_same(mma_tile('B', Shape{32, 16}, 16, {2, 4}, true),
              "S[(4,8,2,4,2):(2@warpid,4@laneid,2,1@laneid,1)] + R[2:1@warpid]");
  for (const int bits : {4, 8, 32, 64})
    EXPECT_EQ(made(mma_tile('A', Shape{128, 128}, bits, {2, 2})).size(), 128 * 128);
}

// Registers of wgmma, by the formulas of the manual.
TEST(RegisterTiles, OperandsOfWgmma) {
  expect_same(wgmma_tile('D', Shape{64, 32}, 32),
              "S[(4,2,8,4,4,2):(1@wid_in_wg,2,4@laneid,4,1@laneid,1)]");
  // Two atoms of rows in each of two warpgroups.
  expect_same(wgmma_tile('D', Shape{256, 16}, 16, 2),
              "S[(2,2,4,2,8,2,4,2):(4@warpid,8,1@warpid,2,4@laneid,4,1@laneid,1)]");
  expect_same(wgmma_tile('A', Shape{64, 32}, 16),
              "S[(4,2,8,2,2,4,2):(1@wid_in_wg,2,4@laneid,8,4,1@laneid,1)]");
  expect_same(wgmma_tile('A', Shape{64, 8}, 32),
              "S[(4,2,8,2,4):(1@wid_in_wg,1,4@laneid,2,1@laneid)]");
  expect_same(wgmma_tile('A', Shape{64, 32}, 8),
              "S[(4,2,8,2,4,4):(1@wid_in_wg,4,4@laneid,8,1@laneid,1)]");
}

TEST(RegisterTiles, RefusesOperandsThatWgmmaDoesNotHave) {
  const auto why = [](const Result<Layout>& layout) {
    return layout ? std::string("accepted") : layout.error().text;
  };
  EXPECT_EQ(why(wgmma_tile('B', Shape{64, 16}, 16)),
            "operand `B` of wgmma in registers; there are A, C and D");
  EXPECT_EQ(why(wgmma_tile('D', Shape{64}, 32)),
            "shape (64) for operand D, expected rows and columns");
  EXPECT_EQ(why(wgmma_tile('D', Shape{64, 16}, 8)),
            "8-bit elements for operand D of wgmma; accepted are 16 and 32");
  EXPECT_EQ(why(wgmma_tile('A', Shape{64, 16}, 64)),
            "64-bit elements for operand A of wgmma; accepted are 8, 16 and 32");
  EXPECT_EQ(why(wgmma_tile('D', Shape{64, 16}, 32, 9)), "9 warpgroups, expected 1 to 8");
  EXPECT_EQ(
      why(wgmma_tile('D', Shape{96, 16}, 32)),
      "shape (96,16) for operand D of wgmma over 1 warpgroup, expected multiples of 64 rows and "
      "8 columns");
  EXPECT_EQ(
      why(wgmma_tile('A', Shape{128, 24}, 16, 2)),
      "shape (128,24) for operand A of wgmma over 2 warpgroups, expected multiples of 128 rows "
      "and 16 columns");
}

TEST(RegisterTiles, Threads) {
  expect_same(coalesced(Shape{1024}, 128, 32), "S[(2,128,4):(4,1@tx,1)]");
  expect_same(coalesced(Shape{16, 64}, 128, 32), "S[(2,8,16,4):(4,16@tx,1@tx,1)]");
  expect_same(coalesced(Shape{32, 32}, 32, 8, axes::laneid()),
              "S[(2,16,2,16):(16,2@laneid,1@laneid,1)]");
  expect_same(row_owned(Shape{64, 8}, 64), "S[(64,8):(1@tx,1)]");
  expect_same(row_owned(Shape{64, 64}, 256), "S[(64,4,16):(4@tx,1@tx,1)]");
  expect_same(row_owned(Shape{256, 2}, 64), "S[(4,64,2):(2,1@tx,1)]");
  expect_same(column_owned(Shape{8, 64}, 64), "S[(8,64):(1,1@tx)]");
  expect_same(column_owned(Shape{8, 64}, 128), "S[(2,4,64):(64@tx,1,1@tx)]");
  expect_same(column_owned(Shape{8, 128}, 64), "S[(8,2,64):(2,1,1@tx)]");
}

// What is left of a tile is in every thread that had a part.
TEST(RegisterTiles, WhatAReductionLeaves) {
  const Shape shape = {64, 64};
  const Layout rows = made(row_owned(shape, 256));
  expect_same(reduced(rows, shape, Shape{1}), "S[64:4@tx] + R[4:1@tx]");
  expect_same(reduced(rows, shape, Shape{0}), "S[(4,16):(1@tx,1)] + R[64:4@tx]");
  expect_same(reduced(rows, shape, Shape{0, 1}), "S[1] + R[256:1@tx]");
  const Layout sums = made(mma_tile('D', shape, 32, {4, 1}));
  expect_same(reduced(sums, shape, Shape{1}), "S[(4,2,8):(1@warpid,1,4@laneid)] + R[4:1@laneid]");
}

TEST(RegisterTiles, WidestSwizzle) {
  EXPECT_EQ(widest_swizzle(Shape{64, 64}, 16), SwizzleMode::B128);
  EXPECT_EQ(widest_swizzle(Shape{64, 32}, 16), SwizzleMode::B64);
  EXPECT_EQ(widest_swizzle(Shape{64, 96}, 16), SwizzleMode::B64);
  EXPECT_EQ(widest_swizzle(Shape{64, 16}, 16), SwizzleMode::B32);
  EXPECT_EQ(widest_swizzle(Shape{64, 24}, 16), SwizzleMode::None);
  EXPECT_EQ(widest_swizzle(Shape{12, 64}, 16), SwizzleMode::None);
}

TEST(RegisterTiles, Refusals) {
  const auto why = [](const Result<Layout>& layout) {
    return layout ? "made" : layout.error().text;
  };
  EXPECT_EQ(why(mma_tile('D', Shape{64, 60}, 32, {2, 2})),
            "shape (64,60) has 60 columns; operand D over 2 warps takes multiples of 16");
  EXPECT_EQ(why(mma_tile('B', Shape{64, 24}, 16, {1, 1}, true)),
            "shape (64,24) has 24 columns; operand B over 1 warp takes multiples of 16");
  EXPECT_EQ(why(mma_tile('D', Shape{64}, 32, {})),
            "shape (64) for operand D, expected rows and columns");
  EXPECT_EQ(why(mma_tile('D', Shape{64, 64}, 32, {8, 8})), "8 x 8 warps, expected 1 to 32 in all");
  EXPECT_EQ(why(mma_tile('E', Shape{64, 64}, 32, {})),
            "operand `E` of mma.sync; there are A, B, C and D");
  EXPECT_EQ(why(coalesced(Shape{3, 8}, 32, 32)),
            "shape (3,8) has 3 rows, which 16 threads cannot share evenly");
  EXPECT_EQ(why(row_owned(Shape{3, 10}, 64)),
            "shape (3,10) has 10 columns, which 64 threads cannot share evenly");
  EXPECT_EQ(why(row_owned(Shape{4, 4}, 2000)), "2000 threads, expected 1 to 1024");
  EXPECT_EQ(why(reduced(made(row_owned(Shape{4, 4}, 4)), Shape{4, 4}, Shape{2})),
            "dimension 2 of a shape of 2");
}

}  // namespace
}  // namespace ww::layout::register_tiles_test
