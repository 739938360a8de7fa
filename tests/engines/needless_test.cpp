// SPDX-License-Identifier: Apache-2.0
// Copies that could be left to one thread, or refused, without being wrong, and are not: counts
// that do not divide by the threads, pairs of one memory, fragments in unusual spellings, parts of
// distributed tiles. Each is taken by the variant that does it in parallel, and right.
#include "engines/family.h"

namespace ww::test::needless_test {
namespace {

TEST(Needless, CountsThatDoNotDivide) {
  Family family("tiles that do not divide by the threads");
  struct Row {
    std::string scope;
    std::int64_t threads;
    Extents shape;
    std::string dtype;
    int bits;
    std::int64_t rounds;
  };
  const std::vector<Row> rows = {{"warp", 32, {33, 32}, "float16", 128, 5},
                                 {"cta", 96, {33, 32}, "float32", 128, 3},
                                 {"cta", 48, {7, 9}, "uint8", 8, 2},
                                 {"wg", 128, {3, 5}, "float64", 64, 1}};
  for (const Row& row : rows) {
    CopyCase each{.dtype = row.dtype, .threads = row.threads, .scope = row.scope};
    each.dst = memory("shared", row.shape);
    each.src = memory("global", row.shape);
    const Expected expected{.variant = "gmem_smem", .vector_bits = row.bits, .rounds = row.rounds};
    family.run(each, expected);
    family.run(reversed(each), expected);
    family.count();
  }
}

TEST(Needless, PairsOfOneMemory) {
  Family family("shared to shared, global to global, registers to registers");
  CopyCase tiles{.threads = 128, .scope = "cta"};
  tiles.dst = memory("shared", {64, 32}, tile("S[(64, 32) : (40, 1)]"));
  tiles.src = memory("shared", {64, 32});
  family.run(tiles, {.variant = "gmem_smem", .vector_bits = 128, .rounds = 2});
  tiles.dst = memory("global", {64, 32});
  tiles.src = memory("global", {64, 64}, {}, "[0:64, 32:64]");
  family.run(tiles, {.variant = "gmem_smem", .vector_bits = 128, .rounds = 2});
  CopyCase rows{.dtype = "float32"};
  rows.dst = registers({32, 8}, "S[(32, 2, 4) : (1 @ laneid, 1, 2)]", 8);
  rows.src = registers({32, 8}, "S[(32, 8) : (1 @ laneid, 1)]", 8);
  family.run(rows, {.variant = "reg", .rounds = 8});
  CopyCase threads{.scope = "thread"};
  threads.dst = registers({8}, "S[8]", 8);
  threads.src = registers({8}, "S[8]", 8);
  family.run(threads, {.variant = "reg"});
  family.count(4);
}

TEST(Needless, SomeWarpsOfACta) {
  Family family("some of the warps");
  CopyCase warps{.dtype = "float32", .threads = 128, .around = "if warp < 3:"};
  warps.dst = memory("shared", {4, 32, 4}, {}, "[warp, 0:32, 0:4]");
  warps.src = memory("global", {4, 32, 4}, {}, "[warp, 0:32, 0:4]");
  family.run(warps, {.variant = "gmem_smem", .vector_bits = 128, .rounds = 1});
  // Three of four warps share a tile out among them, also where it does not divide by 96.
  const Checked shared = check({.source = R"(
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def k(A_ptr: T.handle, B_ptr: T.handle):
    A = T.match_buffer(A_ptr, (33, 32), "float32")
    B = T.match_buffer(B_ptr, (33, 32), "float32")
    T.device_entry(); T.cta_id([1]); w = T.warp_id([4]); T.lane_id([32])
    s = T.alloc_buffer((33, 32), "float32", scope="shared")
    if w >= 1:
        Tx.cta.copy(s[:, :], A[:, :])
    T.cuda.cta_sync()
    if w < 3:
        Tx.cta.copy(B[:, :], s[:, :])
)"});
  ASSERT_TRUE(shared.right()) << shared.explain();
  for (const std::size_t i : {0U, 1U}) {
    EXPECT_EQ(shared.call(i).chosen, "gmem_smem");
    EXPECT_EQ(shared.call(i).plan.threads, 96);
    EXPECT_EQ(shared.call(i).plan.rounds, 3);
  }
  // Registers of the whole CTA, where some of its warps never come, have no meaning here.
  warps.scope = "cta";
  warps.dst = registers({128, 4}, "S[(128, 4) : (1 @ tx, 1)]", 4);
  warps.src = memory("global", {128, 4});
  const Checked checked = check(program_of(warps));
  EXPECT_EQ(checked.stage, Stage::Script);
  EXPECT_NE(checked.why.find("[Divergent]"), std::string::npos) << checked.why;
  family.count(3);
}

TEST(Needless, FragmentsInOtherSpellings) {
  Family family("fragments in other spellings");
  // Two thread axes that do not make one: the warps of a warpgroup hold the same.
  CopyCase axes{.threads = 256, .scope = "cta"};
  axes.dst = registers({2, 8, 4, 2}, "S[(2, 8, 4, 2) : (1 @ wgid, 4 @ laneid, 1 @ laneid, 1)]", 2);
  axes.src = memory("shared", {2, 8, 4, 2});
  family.run(axes, {.variant = "ldstmatrix"});
  // Rows in pairs with padding between them.
  CopyCase pairs;
  pairs.dst = registers({8, 4, 2}, "S[(8, 4, 2) : (4 @ laneid, 1 @ laneid, 1)]", 2);
  pairs.src = memory("shared", {8, 4, 2}, tile("S[(4, 2, 4, 2) : (40, 16, 2, 1)]"));
  family.run(pairs, {.variant = "ldstmatrix"});
  family.run(reversed(pairs), {.variant = "ldstmatrix"});
  // Lanes spelled in several iters.
  CopyCase lanes;
  lanes.dst = registers(
      {8, 8}, "S[(2, 4, 2, 2, 2) : (16 @ laneid, 4 @ laneid, 2 @ laneid, 1 @ laneid, 1)]", 2);
  lanes.src = memory("shared", {8, 8}, tile("S[(8, 8) : (24, 1)]"));
  family.run(lanes, {.variant = "ldstmatrix"});
  family.run(reversed(lanes), {.variant = "ldstmatrix"});
  // Bytes in fours, and words.
  CopyCase bytes{.dtype = "uint8"};
  bytes.dst = registers({8, 16}, "S[(8, 4, 4) : (4 @ laneid, 1 @ laneid, 1)]", 4);
  bytes.src = memory("shared", {8, 16});
  family.run(bytes, {.variant = "ldstmatrix"});
  family.run(reversed(bytes), {.variant = "ldstmatrix"});
  CopyCase words{.dtype = "float32"};
  words.dst = registers({8, 4}, "S[(8, 4) : (4 @ laneid, 1 @ laneid)]", 1);
  words.src = memory("shared", {8, 4}, tile("S[(8, 4) : (8, 1)]"));
  family.run(words, {.variant = "ldstmatrix"});
  family.run(reversed(words), {.variant = "ldstmatrix"});
  // Registers under a swizzle that is too large to move them.
  CopyCase turned;
  turned.dst = registers({8, 4, 2}, "", 2);
  turned.dst.layout = swizzled(3, 3, 3, "S[(8, 4, 2) : (4 @ laneid, 1 @ laneid, 1)]");
  turned.src = memory("shared", {8, 4, 2});
  family.run(turned, {.variant = "ldstmatrix"});
  family.run(reversed(turned), {.variant = "ldstmatrix"});
  family.count(6);
}

TEST(Needless, TransposedBytes) {
  Family family("transposed bytes on sm_100a");
  const auto times = [](const Checked& checked, std::string_view opcode) {
    return checked.right() ? times_of(checked.call(0), opcode) : 0;
  };
  // Register r of a lane has bytes 4(l%4) … of column l/4 + 8r, in a tile of 16 columns.
  CopyCase load{.dtype = "uint8", .target = "sm_100a"};
  load.dst = registers({8, 2, 4, 4}, "S[(8, 2, 4, 4) : (4 @ laneid, 4, 1 @ laneid, 1)]", 8);
  load.src = memory("shared", {8, 2, 4, 4}, tile("S[(8, 2, 4, 4) : (1, 8, 64, 16)]"));
  const Checked loaded = family.run(load, {.variant = "ldstmatrix"});
  EXPECT_EQ(times(loaded, "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8"), 1)
      << loaded.explain();
  CopyCase store{.dtype = "float8_e4m3fn", .target = "sm_100a"};
  store.src = registers({8, 4, 2, 2}, "S[(8, 4, 2, 2) : (4 @ laneid, 1 @ laneid, 2, 1)]", 4);
  store.dst = memory("shared", {8, 4, 2, 2}, tile("S[(8, 4, 2, 2) : (1, 32, 8, 16)]"));
  const Checked stored = family.run(store, {.variant = "ldstmatrix"});
  EXPECT_EQ(times(stored, "stmatrix.sync.aligned.m16n8.x1.trans.shared.b8"), 1) << stored.explain();
  // Earlier architectures do the same byte by byte.
  load.target = "sm_90a";
  store.target = "sm_90a";
  family.run(load, {.variant = "reg", .vector_bits = 8});
  family.run(store, {.variant = "reg", .vector_bits = 8});
  family.count(4);
}

TEST(Needless, PartsOfTiles) {
  Family family("parts of tiles");
  // A region that crosses the digits of a layout at odd places: every lane its own row, by
  // elements.
  CopyCase crossing{.dtype = "float32"};
  crossing.dst = registers({32, 4}, "S[(32, 4) : (1 @ laneid, 1)]", 4);
  crossing.src = memory("shared", {48, 6}, tile("S[(4, 12, 6) : (100, 8, 1)]"), "[5:37, 1:5]");
  for (const CopyCase& way : {crossing, reversed(crossing)}) {
    const Checked checked = family.run(way, {.variant = "fallback", .rounds = 4});
    EXPECT_EQ(checked.call(0).plan.summary, "element by element, each thread its registers");
  }
  // One warp's share of a tile that a CTA holds.
  CopyCase share{.dtype = "float32", .threads = 128};
  share.dst =
      registers({4, 32, 4}, "S[(4, 32, 4) : (1 @ warpid, 1 @ laneid, 1)]", 4, "[warp, 0:32, 0:4]");
  share.src = memory("shared", {4, 32, 4}, {}, "[warp, 0:32, 0:4]");
  family.run(share, {.variant = "reg", .vector_bits = 128});
  family.run(reversed(share), {.variant = "reg", .vector_bits = 128});
  // The share of warp 2, taken by warp 2.
  share.around = "if warp == 2:";
  share.dst.region = "[2, 0:32, 0:4]";
  family.run(share, {.variant = "reg", .vector_bits = 128});
  // Some of the lanes.
  CopyCase lanes{.dtype = "float32"};
  lanes.dst = registers({5, 4}, "S[(5, 4) : (3 @ laneid, 1)] + 2 @ laneid", 4);
  lanes.src = memory("shared", {5, 4});
  family.run(lanes, {.variant = "reg", .vector_bits = 128});
  family.run(reversed(lanes), {.variant = "reg", .vector_bits = 128});
  family.count(4);
}

// The share of another warp is nobody's to give.
TEST(Needless, AnotherWarpsShare) {
  CopyCase share{.dtype = "float32", .threads = 128, .around = "if warp == 1:"};
  share.dst =
      registers({4, 32, 4}, "S[(4, 32, 4) : (1 @ warpid, 1 @ laneid, 1)]", 4, "[2, 0:32, 0:4]");
  share.src = memory("shared", {32, 4});
  const Checked checked = check(program_of(share));
  EXPECT_EQ(checked.stage, Stage::Lower) << checked.explain();
  EXPECT_NE(verdict_on(checked, 0, "reg").find("[owner]"), std::string::npos) << checked.explain();
}

}  // namespace
}  // namespace ww::test::needless_test
