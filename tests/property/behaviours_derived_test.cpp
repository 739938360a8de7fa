// SPDX-License-Identifier: Apache-2.0
// Behaviours of layouts that are made from others: groups, slices, tiles, sums, views, and the
// ready-made ones.
#include <gtest/gtest.h>

#include "layout/canonical.h"
#include "layout/direct_sum.h"
#include "layout/group.h"
#include "layout/ready_made.h"
#include "layout/slice.h"
#include "layout/swizzle.h"
#include "layout/tile.h"
#include "layout/views.h"
#include "property/behaviours.h"

namespace ww::test::behaviours {
namespace {

using layout::Machine;
using layout::Slice1;

// ---- Grouping -----------------------------------------------------------------------------------

TEST(Behaviour, Grouping) {
  const auto grouped = [](const char* text, const Ints& shape) {
    return layout::group(parsed(text), shape);
  };
  struct Row {
    const char* layout;
    Ints shape;
    const char* want;
    layout::Seps seps;
  };
  const std::vector<Row> rows = {
      {"S[24:1]", {6, 4}, "S[(6,4):(4,1)]", {0, 1, 2}},
      {"S[(4,3):(3,1)]", {2, 6}, "S[(2,2,3):(6,3,1)]", {0, 1, 3}},
      {"S[4:3]", {1, 4, 1}, "S[(1,4,1):(12,3,3)]", {0, 1, 2, 3}},
      {"S[(8,2,4,2):(4@laneid,1@warpid,1@laneid,1)]",
       {8, 16},
       "S[(8,2,4,2):(4@laneid,1@warpid,1@laneid,1)]",
       {0, 1, 4}},
      {"S[(8,2,4,2):(4@laneid,1@warpid,1@laneid,1)]",
       {16, 8},
       "S[(8,2,4,2):(4@laneid,1@warpid,1@laneid,1)]",
       {0, 2, 4}},
      {"S[(8,2,4,2):(4@laneid,1@warpid,1@laneid,1)]",
       {4, 2, 16},
       "S[(4,2,2,4,2):(8@laneid,4@laneid,1@warpid,1@laneid,1)]",
       {0, 1, 2, 5}},
      {"S[(8,8,8,8):(512,8,64,1)]", {64, 64}, "S[(8,8,8,8):(512,8,64,1)]", {0, 2, 4}}};
  for (const Row& row : rows) {
    const auto got = grouped(row.layout, row.shape);
    ASSERT_TRUE(got) << row.layout << ": " << got.error().text;
    EXPECT_SAME(got->layout, row.want);
    EXPECT_EQ(got->seps, row.seps) << row.layout << " " << text(row.shape);
  }
  EXPECT_EQ(grouped("S[(4,6):(1,4)]", {6, 4}).error().kind, DiagKind::NotGroupable);
}

TEST(Behaviour, GroupingBySeveralShapes) {
  using layout::Shape;
  const auto many = [](const char* text, const std::vector<Shape>& shapes) {
    return layout::group_many(parsed(text), shapes);
  };
  const auto a = many("S[30:1]", {{6, 5}, {2, 15}}).value();
  EXPECT_TEXT(a.layout, "S[(2,3,5):(15,5,1)]");
  EXPECT_EQ(a.seps[0], (layout::Seps{0, 2, 3}));
  EXPECT_EQ(a.seps[1], (layout::Seps{0, 1, 3}));
  const auto b = many("S[30:1]", {{1, 6, 1, 5, 1}, {2, 1, 3, 5}}).value();
  EXPECT_EQ(extents_of(read(b.layout).shard), (Ints{1, 2, 1, 3, 1, 5, 1}));
  EXPECT_EQ(b.seps[0], (layout::Seps{0, 1, 4, 5, 6, 7}));
  EXPECT_EQ(b.seps[1], (layout::Seps{0, 2, 3, 4, 7}));
  const auto c = many("S[(6,1,5):(5,97,1)]", {{6, 1, 5}, {30}}).value();
  EXPECT_SAME(c.layout, "S[(6,1,5):(5,97,1)]");
  EXPECT_EQ(c.seps[0], (layout::Seps{0, 1, 2, 3}));
  EXPECT_EQ(c.seps[1], (layout::Seps{0, 3}));
  EXPECT_FALSE(many("S[12:1]", {{3, 4}, {2, 6}}));
}

// ---- Slicing ------------------------------------------------------------------------------------

TEST(Behaviour, Slices) {
  struct Row {
    const char* layout;
    Ints shape;
    std::vector<Slice1> region;
    const char* want;
  };
  const std::vector<Row> rows = {
      {"S[(8,64):(64,1)]", {8, 64}, {{2, 2}, {16, 32}}, "S[(2,32):(64,1)] + 144"},
      {"S[(4,4,4,4):(64,4,16,1)]", {16, 16}, {{2, 1}, {6, 4}}, "S[(1,2,2):(4,14,1)] + 26"},
      {"S[(2,8,3,8):(192,8,64,1)]", {16, 24}, {{2, 4}, {4, 8}}, "S[(4,2,4):(8,60,1)] + 20"},
      {"S[(8,2,4,2):(4@laneid,1@warpid,1@laneid,1)]",
       {8, 16},
       {{0, 8}, {8, 8}},
       "S[(8,1,4,2):(4@laneid,1@warpid,1@laneid,1)] + 1@warpid"},
      {"S[(128,2,64):(64,8192,1)]",
       {128, 128},
       {{0, 128}, {32, 64}},
       "S[(128,2,32):(64,8160,1)] + 32"},
      {"ComposeLayout(3,3,3, S[(8,64):(64,1)])",
       {8, 64},
       {{2, 2}, {0, 64}},
       "ComposeLayout(3,3,3, S[(2,64):(64,1)] + 128)"},
      {"S[4:1] + R[2:8] + 3", {4}, {{1, 2}}, "S[2:1] + R[2:8] + 4"}};
  for (const Row& row : rows) {
    const auto got = layout::slice(parsed(row.layout), row.shape, row.region);
    ASSERT_TRUE(got) << row.layout << ": " << got.error().text;
    EXPECT_SAME(*got, row.want);
  }
  EXPECT_FALSE(layout::slice(parsed("S[(4,4,4,4):(64,4,16,1)]"), Ints{16, 16},
                             std::vector<Slice1>{{2, 1}, {5, 5}}));
}

TEST(Behaviour, RuntimeBeginLeavesNoModulo) {
  const layout::Expr k(layout::Sym::make("k", {0, 48}).value());
  const auto one = layout::slice(parsed("S[64:3]"), Ints{64}, std::vector<Slice1>{{k, 16}});
  ASSERT_TRUE(one) << one.error().text;
  EXPECT_EQ(one->tile().offset().on(layout::axes::m()), k * 3);
  const layout::Expr t(layout::Sym::make("t", {0, 1}).value());
  const auto two =
      layout::slice(parsed("S[(2,128):(8192,64)]"), Ints{256}, std::vector<Slice1>{{t * 128, 128}});
  ASSERT_TRUE(two) << two.error().text;
  EXPECT_EQ(two->tile().offset().on(layout::axes::m()), t * 8192);
}

TEST(Behaviour, RuntimeOffsetsOfTheBaseAreKept) {
  layout::Names names;
  names.symbols.emplace("w", layout::Sym::make("w", {0, 3}).value());
  const Layout l = layout::parse_layout("S[(4,64):(64,1)] + 64*w", names).value();
  const auto got = layout::slice(l, Ints{4, 64}, std::vector<Slice1>{{2, 2}, {0, 64}});
  ASSERT_TRUE(got) << got.error().text;
  EXPECT_EQ(got->tile().offset().on(layout::axes::m()),
            layout::Expr(names.symbols.at("w")) * 64 + 128);
}

TEST(Behaviour, SlicedWarpgroupFragmentsFuseToOneChain) {
  const Layout l = parsed("S[(4,2,8,8,4,2):(1@wid_in_wg,2,4@laneid,4,1@laneid,1)]");
  for (const std::vector<Slice1>& region :
       {std::vector<Slice1>{{0, 64}, {0, 64}}, std::vector<Slice1>{{0, 64}, {0, 32}}}) {
    const auto got = layout::slice(l, Ints{64, 64}, region, Machine::Cuda);
    ASSERT_TRUE(got) << got.error().text;
    const OLayout fused = read(layout::fuse_threads(*got, Machine::Cuda));
    for (const OIter& it : fused.shard)
      EXPECT_TRUE(it.axis == "m" || it.axis == "tid_in_wg") << notation(fused);
  }
}

// ---- Tiling -------------------------------------------------------------------------------------

TEST(Behaviour, Tiling) {
  const auto tiled = [](const char* inner, const Ints& si, const char* outer, const Ints& so) {
    return layout::tile(parsed(inner), si, parsed(outer), so).value();
  };
  EXPECT_TEXT(tiled("S[(2,4):(1,2)]", {2, 4}, "S[(8,8):(8,1)]", {8, 8}), "S[(8,2,32):(64,1,2)]");
  EXPECT_TEXT(tiled("S[(1,2):(2,1)]", {1, 2}, "S[(8,4):(4@laneid,1@laneid)]", {8, 4}),
              "S[(32,2):(1@laneid,1)]");
  EXPECT_TEXT(tiled("S[(8,6):(8,1)]", {8, 6}, "S[(2,2):(2,1)]", {2, 2}),
              "S[(2,8,2,6):(124,8,62,1)]");
  EXPECT_TEXT(tiled("S[8:1] + 5", {8}, "S[4:1] + 100", {4}), "S[(4,8):(13,1)] + 105");
  EXPECT_TEXT(tiled("S[2:1] + R[4:1@laneid]", {2}, "S[8:1@laneid]", {8}),
              "S[(8,2):(1@laneid,1)] + R[4:1@laneid]");
  EXPECT_TEXT(tiled("ComposeLayout(3,3,3, S[512:1])", {8, 64}, "S[(8,4):(1,8)]", {8, 4}),
              "ComposeLayout(3, 3, 3, S[(64,4,64):(64,4096,1)])");
  EXPECT_TEXT(layout::tile_to(parsed("S[(8,8):(8,1)]"), Ints{64, 64}, Ints{8, 8}).value(),
              "S[(8,8,8,8):(512,8,64,1)]");
}

TEST(Behaviour, TileRecognition) {
  const Layout tiled = parsed("S[(8,2,32):(64,1,2)]");
  const auto outer =
      layout::outer_of_tile(tiled, Ints{16, 32}, parsed("S[(2,4):(1,2)]"), Ints{2, 4});
  ASSERT_TRUE(outer) << outer.error().text;
  EXPECT_SAME(*outer, "S[(8,8):(8,1)]");
  EXPECT_FALSE(layout::outer_of_tile(tiled, Ints{16, 32}, parsed("S[(8,8):(8,1)]"), Ints{8, 8}));
  const auto inner =
      layout::inner_of_tile(tiled, Ints{16, 32}, parsed("S[(8,8):(8,1)]"), Ints{8, 8});
  ASSERT_TRUE(inner) << inner.error().text;
  EXPECT_SAME(*inner, "S[(2,4):(1,2)]");
}

TEST(Behaviour, TileRecognitionOnFusedThreads) {
  const Layout tiled = parsed("S[(2,8,2,4,2):(64@tx,4@tx,32@tx,1@tx,1)]");
  const auto outer =
      layout::outer_of_tile(tiled, Ints{16, 16}, parsed("S[(8,1,4,2):(4@laneid,2,1@laneid,1)]"),
                            Ints{8, 8}, Machine::Cuda);
  ASSERT_TRUE(outer) << outer.error().text;
  EXPECT_SAME(*outer, "S[(2,2):(2@warpid,1@warpid)]");
  const auto inner = layout::inner_of_tile(
      tiled, Ints{16, 16}, parsed("S[(2,2):(2@warpid,1@warpid)]"), Ints{2, 2}, Machine::Cuda);
  ASSERT_TRUE(inner) << inner.error().text;
  EXPECT_SAME(*inner, "S[(32,2):(1@laneid,1)]");
}

TEST(Behaviour, SwizzledTileRecognition) {
  const Layout atom = parsed("ComposeLayout(3,2,3, S[256:1])");
  const auto once = layout::outer_of_tile(parsed("ComposeLayout(3,2,3, S[2048:1])"), Ints{64, 32},
                                          atom, Ints{8, 32});
  ASSERT_TRUE(once) << once.error().text;
  EXPECT_SAME(*once, "S[8:1]");
  EXPECT_FALSE(layout::outer_of_tile(parsed("ComposeLayout(3,2,3, S[16384:1])"), Ints{64, 256},
                                     atom, Ints{8, 32}));
  EXPECT_FALSE(layout::outer_of_tile(parsed("S[2048:1]"), Ints{64, 32}, atom, Ints{8, 32}));
}

// ---- Direct sums --------------------------------------------------------------------------------

TEST(Behaviour, DirectSums) {
  const auto sum =
      layout::direct_sum(parsed("S[(2,2):(8,2)]"), Ints{2, 2}, parsed("S[(2,2):(4,1)]"), Ints{2, 2})
          .value();
  EXPECT_TEXT(sum, "S[16:1]");
  EXPECT_SAME(
      layout::left_of_sum(sum, Ints{2, 2, 2, 2}, parsed("S[(2,2):(4,1)]"), Ints{2, 2}).value(),
      "S[(2,2):(8,2)]");
  EXPECT_SAME(
      layout::right_of_sum(sum, Ints{2, 2, 2, 2}, parsed("S[(2,2):(8,2)]"), Ints{2, 2}).value(),
      "S[(2,2):(4,1)]");
  EXPECT_TEXT(layout::direct_sum(parsed("S[(4,2):(4@TCol,16@TCol)]"), Ints{4, 2},
                                 parsed("S[(32,4):(1@TLane,1@TCol)] + R[4:32@TLane]"), Ints{32, 4})
                  .value(),
              "S[(4,32,2,4):(4@TCol,1@TLane,16@TCol,1@TCol)] + R[4:32@TLane]");
  EXPECT_TEXT(
      layout::direct_sum(parsed("S[3:100] + 7"), Ints{3}, parsed("S[4:1] + 3"), Ints{4}).value(),
      "S[(3,4):(100,1)] + 10");
}

// ---- Views --------------------------------------------------------------------------------------

TEST(Behaviour, Permutations) {
  EXPECT_TEXT(layout::permute_iters(parsed("S[(2,3):(3,1)]"), Ints{1, 0}).value(),
              "S[(3,2):(1,3)]");
  EXPECT_SAME(
      layout::permute_dims(parsed("S[(2,3,4,5):(60,20,5,1)]"), Ints{6, 20}, Ints{1, 0}).value(),
      "S[(4,5,2,3):(5,1,60,20)]");
  EXPECT_SAME(
      layout::permute_dims(parsed("S[(2,3,4,5):(60,20,5,1)]"), Ints{6, 20}, Ints{0, 1}).value(),
      "S[120:1]");
}

TEST(Behaviour, Storage) {
  EXPECT_TEXT(layout::storage(parsed("S[(8,4,2):(4@laneid,1@laneid,1)]")).value(), "S[2:1]");
  EXPECT_TEXT(layout::canonicalize(
                  layout::storage(parsed("S[(8,8,8,4,2):(16,4@laneid,2,1@laneid,1)]")).value()),
              "S[128:1]");
  EXPECT_TEXT(layout::storage(parsed("S[(8,64):(64,1)]")).value(), "S[(8,64):(64,1)]");
  EXPECT_SAME(layout::storage(parsed("ComposeLayout(3,3,3, S[512:1])")).value(),
              "ComposeLayout(3,3,3, S[512:1])");
  // Tiling commutes with dropping the threads.
  const Layout inner = parsed("S[(8,4,2):(4@laneid,1@laneid,1)]");
  const Layout outer = parsed("S[(2,2):(2,1)]");
  const Layout tiled = layout::tile(inner, Ints{8, 8}, outer, Ints{2, 2}).value();
  EXPECT_SAME(layout::storage(tiled).value(), "S[(2,2,2):(4,2,1)]");
}

TEST(Behaviour, PackingAndUnpacking) {
  EXPECT_TEXT(layout::canonicalize(layout::unpack(parsed("S[(8,8):(8,1)]"), 2).value()),
              "S[128:1]");
  EXPECT_SAME(layout::pack(parsed("S[(8,16):(16,1)]"), 2).value(), "S[(8,8):(8,1)]");
  EXPECT_SAME(layout::unpack(parsed("ComposeLayout(2,3,3, S[256:1])"), 2).value(),
              "ComposeLayout(3,3,3, S[512:1])");
  EXPECT_SAME(layout::pack(parsed("ComposeLayout(3,3,3, S[(8,64):(64,1)])"), 2).value(),
              "ComposeLayout(2,3,3, S[(8,32):(32,1)])");
  EXPECT_FALSE(layout::pack(parsed("ComposeLayout(0,3,3, S[64:1])"), 2));
}

TEST(Behaviour, Broadcasts) {
  EXPECT_SAME(layout::broadcast(parsed("S[(2,3):(3,1)]"), 4).value(), "S[(2,3,4):(3,1,0)]");
  EXPECT_SAME(layout::broadcast(parsed("S[(2,3):(3,1)]"), 4, 0).value(), "S[(4,2,3):(0,3,1)]");
  EXPECT_SAME(layout::broadcast(parsed("S[(2,3):(3,1)]"), 4, -2).value(), "S[(2,4,3):(3,0,1)]");
}

// ---- Ready-made ---------------------------------------------------------------------------------

TEST(Behaviour, WarpgroupLocal) {
  EXPECT_TEXT(layout::wg_local(16).value(), "S[(128,16):(1@tid_in_wg,1)]");
  EXPECT_TEXT(layout::wg_local(16, 64).value(), "S[(64,16):(1@tid_in_wg,1)]");
}

TEST(Behaviour, SharedOperandTiles) {
  using layout::SwizzleMode;
  const auto shared = [](const Ints& shape, SwizzleMode mode, int bits) {
    return layout::mma_shared(shape, mode, bits).value();
  };
  EXPECT_TEXT(shared({64, 256}, SwizzleMode::B128, 16),
              "ComposeLayout(3, 3, 3, S[(64,4,64):(64,4096,1)])");
  EXPECT_TEXT(shared({3, 64, 256}, SwizzleMode::B64, 16),
              "ComposeLayout(3, 2, 3, S[(3,64,8,32):(16384,32,2048,1)])");
  EXPECT_TEXT(shared({3, 64, 256}, SwizzleMode::B128, 8),
              "ComposeLayout(4, 3, 3, S[(3,64,2,128):(16384,128,8192,1)])");
  EXPECT_TEXT(shared({3, 64, 256}, SwizzleMode::B128, 32),
              "ComposeLayout(2, 3, 3, S[(3,64,8,32):(16384,32,2048,1)])");
  EXPECT_TEXT(shared({3, 64, 256}, SwizzleMode::B128, 4), "ComposeLayout(5, 3, 3, S[49152:1])");
  EXPECT_TEXT(shared({64, 64}, SwizzleMode::B32, 16),
              "ComposeLayout(3, 1, 3, S[(64,4,16):(16,1024,1)])");
  EXPECT_SAME(shared({64, 256}, SwizzleMode::None, 16), "S[(64,32,8):(8,512,1)]");
  EXPECT_FALSE(layout::mma_shared(Ints{60, 64}, SwizzleMode::B128, 16));
  EXPECT_FALSE(layout::mma_shared(Ints{64, 40}, SwizzleMode::B128, 16));
}

TEST(Behaviour, TensorMemoryOperands) {
  const auto operand = [](const Ints& shape, const layout::TmemOperand& how) {
    return layout::tmem_mma_operand(shape, how);
  };
  EXPECT_SAME(operand({128, 64}, {.m = 128}).value(), "S[(128,64):(1@TLane,1@TCol)]");
  EXPECT_SAME(operand({64, 64}, {.m = 64}).value(), "S[(4,16,64):(32@TLane,1@TLane,1@TCol)]");
  EXPECT_SAME(operand({64, 64}, {.m = 64, .ws = true}).value(),
              "S[(64,2,32):(1@TLane,64@TLane,1@TCol)]");
  EXPECT_SAME(operand({64, 64}, {.m = 64, .ws = true, .group = {2, 2, 16}}).value(),
              "S[(64,2,2,16):(1@TLane,16@TCol,64@TLane,1@TCol)]");
  EXPECT_SAME(operand({64, 64}, {.m = 128, .cta_group = 2, .group = {2, 2, 16}}).value(),
              "S[(64,2,2,16):(1@TLane,16@TCol,64@TLane,1@TCol)]");
  EXPECT_SAME(operand({64, 32}, {.operand = 'A', .m = 128, .cta_group = 2}).value(),
              "S[(64,32):(1@TLane,1@TCol)] + R[2:64@TLane]");
  EXPECT_TRUE(operand({64, 32}, {.operand = 'A', .m = 64}));
  EXPECT_FALSE(operand({64, 64}, {.m = 64, .ws = true, .group = {2, 2, 8}}));
  EXPECT_FALSE(operand({128, 64}, {.m = 256}));
  EXPECT_FALSE(operand({64, 64}, {.m = 128}));
  EXPECT_SAME(operand({64, 64}, {.m = 128, .cta_group = 2, .sparse = true}).value(),
              "S[(4,16,64):(32@TLane,1@TLane,1@TCol)]");
}

TEST(Behaviour, ScaleFactors) {
  for (const std::int64_t q : {4, 2, 1}) {
    EXPECT_SAME(layout::scale_factor_tmem(128, 4, q).value(),
                "S[(4,32,4):(4@TCol,1@TLane,1@TCol)] + R[4:32@TLane]");
  }
  EXPECT_SAME(layout::scale_factor_tmem(128, 8, 4).value(),
              "S[(4,32,2,4):(4@TCol,1@TLane,16@TCol,1@TCol)] + R[4:32@TLane]");
  EXPECT_SAME(layout::tcgen05_cp_lanes("32x128b_warpx4").value(), "S[32:1@TLane] + R[4:32@TLane]");
  EXPECT_SAME(layout::tcgen05_cp_lanes("4x256b").value(), "S[4:32@TLane]");
  EXPECT_SAME(layout::tcgen05_cp_lanes("64x128b_01_23").value(),
              "S[(2,32):(64@TLane,1@TLane)] + R[2:32@TLane]");
}

TEST(Behaviour, AtomLayoutsByName) {
  EXPECT_SAME(layout::tcgen05_atom("16x64b", 64, 64, 32).value(),
              "S[(4,2,8,32,2):(1@wid_in_wg,1@laneid,4@laneid,1,2@laneid)]");
  EXPECT_SAME(layout::tcgen05_atom("16x128b", 64, 256, 16).value(),
              "S[(4,2,8,32,4,2):(1@wid_in_wg,2,4@laneid,4,1@laneid,1)]");
  EXPECT_SAME(layout::tcgen05_atom("16x256b", 128, 32, 32).value(),
              "S[(4,2,2,8,4,4,2):(1@wid_in_wg,16,2,4@laneid,4,1@laneid,1)]");
  EXPECT_TEXT(
      layout::fuse_threads(layout::tcgen05_atom("16x256b", 64, 8, 32).value(), Machine::Cuda),
      "S[(4,2,32,2):(32@tid_in_wg,2,1@tid_in_wg,1)]");
}

}  // namespace
}  // namespace ww::test::behaviours
