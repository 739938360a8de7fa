// SPDX-License-Identifier: Apache-2.0
// What kernels do wrong with tensor maps and copies, and clean twins of it. Which bytes copies move is
// compared with their definition in tests/engines/tensor_copy.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/ops/test_async.h"
#include "sim/tensor_map/image.h"

namespace ww::sim::ops_tensor_copy_test {
namespace {

constexpr std::size_t kEdge = 32;  // the tensor is a square of 32-bit words; word i holds i

TensorMap square(std::uint64_t address) {
  TensorMap map;
  map.type = TensorType::U32;
  map.rank = 2;
  map.address = address;
  map.dims = {kEdge, kEdge, 1, 1, 1};
  map.strides = {kEdge * 4, 0, 0, 0};
  map.box = {8, 4, 1, 1, 1};
  return map;
}

// %a0 the tensor, %a1 its map, %a2 the output, one thread of 32 is %p1; cells and bar as in
// test_async.h. All threads know mbarrier 0, made for one arrival.
std::string text_of(std::string_view body, const Grid& grid) {
  const std::string prelude =
      ".shared .align 1024 .b8 cells[4096]; .shared .align 8 .b64 bar[8];\n"
      "mov.u32 %r1, %tid.x; mov.u32 %r2, cells; mov.u32 %r3, bar; shl.b32 %r4, %r1, 2;"
      "mul.wide.u32 %d1, %r1, 4; add.u64 %d2, %d1, %a2; add.u32 %r4, %r4, %r2;"
      "setp.eq.u32 %p1, %r1, 0; @%p1 mbarrier.init.shared.b64 [bar], 1;"
      "fence.mbarrier_init.release.cluster; bar.sync 0;\n";
  return kernel_text(prelude + with_waits(body), 3, grid.target, grid.version);
}

struct Ran {
  std::string findings, reason;
  std::vector<std::uint32_t> tensor, out;
};

Ran run_with(const TensorMapImage& image_for_base_0, std::string_view body, const Grid& grid) {
  TestRun test(text_of(body, grid));
  if (!test.errors().empty()) return {test.errors(), "", {}, {}};
  std::vector<std::uint32_t> words(kEdge * kEdge);
  for (std::uint32_t i = 0; i < words.size(); ++i) words[i] = i;
  test.input(words);
  std::vector<std::byte> image(image_for_base_0.begin(), image_for_base_0.end());
  if (const auto map = decode(image_for_base_0)) {
    TensorMap placed = *map;
    placed.address += test.buffer(0).base;
    const TensorMapImage there = encode(placed);
    image.assign(there.begin(), there.end());
  }
  image.resize(256);
  test.input(image);
  test.output<std::uint32_t>(kTestWords);
  test.launch.block = {grid.threads};
  test.launch.grid = {grid.blocks};
  if (grid.cluster > 1) test.launch.cluster = Dim3{grid.cluster};
  test.options.limits.instructions = 1'000'000;
  const LaunchReport& report = test.run();
  EXPECT_EQ(test.refusal(), "");
  return {test.findings(), report.reason, test.read<std::uint32_t>(0), test.read<std::uint32_t>(2)};
}

Ran run(std::string_view body, const TensorMap& map = square(0), const Grid& grid = {}) {
  return run_with(encode(map), body, grid);
}

Ran expect_clean(std::string_view body, const TensorMap& map = square(0), const Grid& grid = {}) {
  Ran ran = run(body, map, grid);
  EXPECT_EQ(ran.findings + ran.reason, "") << body;
  return ran;
}

void expect_finding(Check check, std::string_view text, std::string_view body,
                    const TensorMap& map = square(0), const Grid& grid = {}) {
  const Ran ran = run(body, map, grid);
  EXPECT_TRUE(ran.findings.find(std::string(name_of(check)) + " ") != std::string::npos &&
              ran.findings.find(text) != std::string::npos)
      << "`" << name_of(check) << " … " << text << "` is not among\n"
      << ran.findings << ran.reason << "\nof\n"
      << body;
}

void expect_trap(std::string_view text, std::string_view body, const TensorMap& map = square(0)) {
  const Ran ran = run(body, map);
  EXPECT_NE(ran.reason.find(text), std::string::npos)
      << "`" << text << "` is not in `" << ran.reason << "`\n"
      << ran.findings;
}

std::string load(std::string_view at = "{8, 2}", std::string_view to = "cells",
                 std::string_view map = "%a1") {
  return fmt::format(
      "@%p1 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [{}], "
      "[{}, {}], [bar];\n",
      to, map, at);
}
const std::string kExpect = "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;\n";
const std::string kRead = "ld.shared.u32 %r10, [%r4]; st.global.u32 [%d2], %r10;\n";
const std::string kFill = "add.u32 %r10, %r1, 7000; st.shared.u32 [%r4], %r10;\n";
const std::string kFence = "fence.proxy.async.shared::cta;\n";
const std::string kStore =
    "@%p1 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%a1, {8, 2}], [cells];\n"
    "@%p1 cp.async.bulk.commit_group;\n";

// --- copies --------------------------------------------------------------------------------------

TEST(TensorCopy, LandsWhenItsMbarrierIsWaitedFor) {
  const Ran ran = expect_clean(kExpect + load() + "WAIT(0, 0);" + kRead);
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(ran.out[i], (2 + i / 8) * kEdge + 8 + i % 8);
}

TEST(TensorCopy, EveryCtaOfAMulticastCountsTheWholeBox) {
  const std::string sync = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n";
  const std::string body =
      kExpect + sync +
      "mov.u32 %r12, %cluster_ctarank; setp.eq.u32 %p2, %r12, 0; and.pred %p2, %p2, %p1;"
      "mov.u16 %h1, 3; @%p2 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx"
      "::bytes.multicast::cluster [cells], [%a1, {8, 2}], [bar], %h1; WAIT(0, 0);"
      "ld.shared.u32 %r10, [%r4]; mul.wide.u32 %d3, %r12, 128; add.u64 %d2, %d2, %d3;"
      "st.global.u32 [%d2], %r10;" +
      sync;
  const Ran ran = expect_clean(body, square(0), {.threads = 32, .blocks = 2, .cluster = 2});
  for (std::uint32_t i = 0; i < 64; ++i)
    EXPECT_EQ(ran.out[i], (2 + i % 32 / 8) * kEdge + 8 + i % 8);
}

// Both CTAs of a pair copy a box of 128 bytes to themselves; the first one's mbarrier counts both.
std::string copy_for_pair(std::string_view group, std::string_view multicast,
                          std::string_view mask) {
  const std::string sync = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n";
  return sync +
         fmt::format(
             "mov.u32 %r12, %cluster_ctarank; setp.eq.u32 %p2, %r12, 0; and.pred %p3, %p2, %p1;"
             "@%p3 mbarrier.arrive.expect_tx.shared.b64 %d8, [bar], 256; mov.u16 %h1, 3;"
             "mapa.shared::cluster.u32 %r13, %r3, 0; {}"
             "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes{}{} "
             "[cells], "
             "[%a1, {{8, 2}}], [%r13]{}; @!%p2 bra wait_peer; WAIT(0, 0); wait_peer:",
             multicast.empty() ? "@%p1 " : "@%p3 ", multicast, group, mask) +
         sync +
         "ld.shared.u32 %r10, [%r4]; mul.wide.u32 %d3, %r12, 128; add.u64 %d2, %d2, %d3;"
         "st.global.u32 [%d2], %r10;";
}

TEST(TensorCopy, SignalsTheOtherCtaOfAPair) {
  const Grid pair{.threads = 32, .blocks = 2, .cluster = 2, .target = "sm_100a"};
  for (const bool is_multicast : {false, true}) {
    const Ran ran =
        expect_clean(copy_for_pair(".cta_group::2", is_multicast ? ".multicast::cluster" : "",
                                   is_multicast ? ", %h1" : ""),
                     square(0), pair);
    for (std::uint32_t i = 0; i < 64; ++i)
      EXPECT_EQ(ran.out[i], (2 + i % 32 / 8) * kEdge + 8 + i % 8);
  }
  expect_finding(Check::Barrier,
                 "the data goes to CTA 1 of the cluster, and the mbarrier is in CTA 0",
                 copy_for_pair(".cta_group::1", "", ""), square(0), pair);
}

TEST(TensorCopy, StoresAndReducesABox) {
  const Ran stored =
      expect_clean(kFill + kFence + "bar.sync 0;" + kStore + "@%p1 cp.async.bulk.wait_group 0;");
  EXPECT_EQ(stored.tensor[2 * kEdge + 8], 7000U);
  EXPECT_EQ(stored.tensor[5 * kEdge + 15], 7031U);
  EXPECT_EQ(stored.tensor[6 * kEdge + 8], 6 * kEdge + 8);
  const std::string reduce =
      "@%p1 cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%a1, {8, 2}], "
      "[cells]; @%p1 cp.async.bulk.commit_group; @%p1 cp.async.bulk.wait_group 0;";
  const Ran added = expect_clean(kFill + kFence + "bar.sync 0;" + reduce);
  EXPECT_EQ(added.tensor[2 * kEdge + 8], 7000U + 2 * kEdge + 8);
  TensorMap bytes = square(0);
  bytes.type = TensorType::U8;
  bytes.box[0] = 32;
  expect_trap("`.add` does not combine elements of uint8", kFill + kFence + "bar.sync 0;" + reduce,
              bytes);
}

// The box has 4 rows of 32 bytes, of which 31 threads write a word each.
TEST(TensorCopy, WhatNothingHasWrittenDoesNotGoOut) {
  const auto body = [](std::string_view opcode, std::string_view corner) {
    return fmt::format(
        "setp.ne.u32 %p2, %r1, 15; @%p2 st.shared.u32 [%r4], 1; fence.proxy.async.shared::cta; "
        "bar.sync 0; @%p1 {} [%a1, {}], [cells]; @%p1 cp.async.bulk.commit_group; "
        "@%p1 cp.async.bulk.wait_group 0;",
        opcode, corner);
  };
  for (const char* opcode :
       {"cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group",
        "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group"})
    for (const TensorSwizzle swizzle : {TensorSwizzle::None, TensorSwizzle::B32}) {
      TensorMap map = square(0);
      map.swizzle = swizzle;
      const std::string_view text =
          "copies 4 bytes of shared memory to global memory that nothing has written; the first is "
          "at 0x3c";
      expect_finding(Check::Uninit, text, body(opcode, "{8, 2}"), map);
      // In the row that lies outside the tensor, it does not go anywhere.
      expect_finding(Check::Uninit, text, body(opcode, "{8, 30}"), map);
      expect_clean(body(opcode, "{8, 31}"), map);
    }
}

TEST(TensorCopy, PrefetchesChangeNothing) {
  expect_clean(
      "@%p1 cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%a1, {0, 0}]; prefetch.tensormap "
      "[%a1];");
  expect_trap("it has 2 dimensions, and the instruction gives 3 coordinates",
              "@%p1 cp.async.bulk.prefetch.tensor.3d.L2.global.tile [%a1, {0, 0, 0}];");
}

// --- waiting, and proxies ------------------------------------------------------------------------

TEST(TensorCopy, ReadBeforeTheWait) {
  const std::string old = kFill + kFence + "bar.sync 0;";
  expect_finding(Check::Async, "an asynchronous write is still on its way to",
                 old + kExpect + load() + "bar.sync 0;" + kRead + "WAIT(0, 0);");
  expect_clean(old + kExpect + load() + "WAIT(0, 0);" + kRead);
}

TEST(TensorCopy, AStoreNeedsTheProxyFence) {
  const std::string wait = "@%p1 cp.async.bulk.wait_group 0;";
  expect_finding(Check::Fence, "no `fence.proxy.async.shared::cta` behind the write",
                 kFill + "bar.sync 0;" + kStore + wait);
  expect_clean(kFill + kFence + "bar.sync 0;" + kStore + wait);
  // By the issuing thread behind the barrier, too.
  expect_clean(kFill + "bar.sync 0;" + kFence + kStore + wait);
}

TEST(TensorCopy, TheSourceIsWrittenWhileAStoreReadsIt) {
  const std::string start = kFill + kFence + "bar.sync 0;" + kStore;
  const std::string reuse = "bar.sync 0; st.shared.u32 [%r4], 1;";
  expect_finding(Check::Async, "that an asynchronous copy may still be reading", start + reuse);
  expect_finding(Check::Async, "that an asynchronous copy may still be reading",
                 start + "@%p1 cp.async.bulk.wait_group.read 1;" + reuse);
  expect_clean(start + "@%p1 cp.async.bulk.wait_group.read 0;" + reuse);
}

TEST(TensorCopy, ARefillMeetsReadsOfTheLastRound) {
  const std::string round = kExpect + load() + "WAIT(0, 0);" + kRead;
  const std::string again =
      "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;" + load("{0, 8}") + "WAIT(0, 1);";
  const Grid two{.threads = 64};
  const std::string half =
      "and.b32 %r11, %r4, 127; or.b32 %r11, %r11, %r2; ld.shared.u32 %r10, [%r11];";
  const std::string late =
      "mov.u32 %r20, 0; count: add.u32 %r20, %r20, 1; setp.lt.u32 %p3, %r20, 3000; @%p3 bra count;";
  expect_finding(Check::Race, "writes 128 bytes",
                 kExpect + load() + "WAIT(0, 0);" + half + late + again, square(0), two);
  expect_clean(
      kExpect + load() + "WAIT(0, 0);" + half + "add.u32 %r12, %r10, 1; bar.sync 0;" + again,
      square(0), two);
  expect_clean(round + "bar.sync 0;" + again);
}

// --- bytes that are expected ---------------------------------------------------------------------

TEST(TensorCopy, ExpectsOtherBytesThanTheBoxHas) {
  const auto expecting = [](unsigned bytes) {
    return fmt::format("@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], {};\n", bytes);
  };
  expect_finding(Check::Barrier, "bytes more than it expects",
                 expecting(64) + load() + "WAIT(0, 0);");
  expect_finding(Check::Barrier, "which lacks 128 of 256 bytes",
                 expecting(256) + load() + "WAIT(0, 0);");
}

// --- places --------------------------------------------------------------------------------------

TEST(TensorCopy, WhereABoxMayBe) {
  expect_finding(Check::Align, "the box is at 0x40 of shared memory, expected a multiple of 128",
                 kExpect + load("{8, 2}", "cells+64") + "WAIT(0, 0);");
  expect_finding(Check::Bounds, "past the end of shared memory",
                 kExpect + load("{8, 2}", "cells+4096") + "WAIT(0, 0);");
}

TEST(TensorCopy, RowsStartAtMultiplesOf16Bytes) {
  expect_trap("coordinate 0 is 3, 12 bytes from the start of the row, expected a multiple of 16",
              kExpect + load("{3, 2}") + "WAIT(0, 0);");
  expect_clean(kExpect + load("{-4, 2}") + "WAIT(0, 0);");
}

// --- maps ----------------------------------------------------------------------------------------

TEST(TensorCopy, MapsThatAreNone) {
  expect_finding(Check::Align, "not a multiple of 64",
                 "add.u64 %d9, %a1, 16;" + kExpect + load("{8, 2}", "cells", "%d9"), square(0));
  expect_trap("these 128 bytes are not a tensor map",
              "add.u64 %d9, %a0, 64;" + kExpect + load("{8, 2}", "cells", "%d9"));
  expect_trap("it is in shared memory",
              "cvt.u64.u32 %d8, %r2; cvta.shared.u64 %d9, %d8; st.shared.u32 [%r4], 0;" + kExpect +
                  load("{8, 2}", "cells", "%d9"));
  TensorMap bad = square(0);
  bad.box[0] = 6;  // 24 bytes
  expect_trap("`box[0]` is 6, which makes rows of 24 bytes", kExpect + load() + "WAIT(0, 0);", bad);
}

TEST(TensorCopy, TheKindOfTheMapIsThatOfTheCopy) {
  const std::string columns =
      "mov.u16 %h1, 0; @%p1 cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::"
      "complete_tx::bytes [cells], [%a1, {0, 0, 0}], [bar], {%h1};";
  TensorMap map = square(0);
  map.rank = 3;
  map.dims[2] = 1;
  map.strides[1] = kEdge * kEdge * 4;
  expect_trap("a map of tiles in a copy of the im2col kind", kExpect + columns, map);
}

// --- maps that the kernel changes ----------------------------------------------------------------

const std::string kReplace = "@%p1 tensormap.replace.tile.box_dim.global.b1024.b32 [%a1], 1, 2;\n";
const std::string kExpectHalf = "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 64;\n";
const std::string kAcquire = "fence.proxy.tensormap::generic.acquire.gpu [%a1], 128;\n";
const std::string kRelease = "fence.proxy.tensormap::generic.release.gpu;\n";

TEST(TensorCopy, AChangedMapNeedsItsFences) {
  const std::string use = kExpectHalf + load() + "WAIT(0, 0);";
  expect_finding(Check::Fence, "no `fence.proxy.tensormap::generic.release`", kReplace + use);
  expect_finding(Check::Fence, "no `fence.proxy.tensormap::generic.acquire`",
                 kReplace + kRelease + use);
  expect_clean(kReplace + kRelease + kAcquire + use);
}

TEST(TensorCopy, AMapMadeFromZerosOnTheDevice) {
  const auto set = [](std::string_view field, std::string_view type, std::string_view value) {
    return fmt::format("@%p1 tensormap.replace.tile.{}.shared::cta.b1024.{} [%r15], {};\n", field,
                       type, value);
  };
  std::string make =
      "add.u32 %r15, %r2, 2048; add.u32 %r16, %r4, 2048; st.shared.u32 [%r16], 0;"
      "bar.sync 0;\n";
  make += set("global_address", "b64", "%a0") + set("rank", "b32", "1");
  make += set("box_dim", "b32", "0, 8") + set("box_dim", "b32", "1, 4");
  make += set("global_dim", "b32", "0, 32") + set("global_dim", "b32", "1, 32");
  make += "mov.u64 %d20, 128;\n" + set("global_stride", "b64", "0, %d20");
  make += set("element_stride", "b32", "0, 1") + set("element_stride", "b32", "1, 1");
  const std::string type = set("elemtype", "b32", "2");
  const std::string copy =
      "bar.warp.sync -1; tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu"
      ".sync.aligned [%a1], [%r15], 128;\n";
  const std::string use = kExpect + load() + "WAIT(0, 0);" + kRead;
  const Ran ran = expect_clean(make + type + copy + kAcquire + use);
  EXPECT_EQ(ran.out[9], 3 * kEdge + 9);
  expect_trap("`elemtype` of the tensor map was never set", make + copy + kAcquire + use);
}

TEST(TensorCopy, MapsOfThreadsAlone) {
  expect_trap("`tensormap.replace` takes maps in global and shared memory",
              ".local .align 128 .b8 mine[128]; mov.u64 %d8, mine; cvta.local.u64 %d9, %d8;"
              "tensormap.replace.tile.rank.b1024.b32 [%d9], 1;");
}

TEST(TensorCopy, UndefinedMaps) {
  expect_finding(Check::Uninit, "changes the tensor map at",
                 "add.u32 %r15, %r2, 2048; @%p1 tensormap.replace.tile.rank.shared::cta.b1024.b32 "
                 "[%r15], 1;");
}

// --- four rows by their numbers, as the manual has them for sm_100 --------------------------------

TensorMap single_rows() {
  TensorMap map = square(0);
  map.box = {8, 1, 1, 1, 1};
  return map;
}
constexpr Grid kBlackwell{.target = "sm_100a"};

TEST(TensorCopyRows, AreGatheredInTheirOrder) {
  const Ran ran = expect_clean(
      "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;\n"
      "@%p1 cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4"
      ".mbarrier::complete_tx::bytes [cells], [%a1, {4, 3, 30, 0, 40}], [bar];\n"
      "WAIT(0, 0); ld.shared.u32 %r5, [%r4]; st.global.u32 [%d2], %r5;",
      single_rows(), kBlackwell);
  for (std::uint32_t i = 0; i < 32; ++i) {
    const std::uint32_t row = std::vector<std::uint32_t>{3, 30, 0, 40}[i / 8];
    EXPECT_EQ(ran.out[i], row < kEdge ? row * kEdge + 4 + i % 8 : 0) << i;
  }
}

TEST(TensorCopyRows, AreScattered) {
  const Ran ran = expect_clean(
      "add.u32 %r5, %r1, 5000; st.shared.u32 [%r4], %r5; fence.proxy.async.shared::cta; bar.sync "
      "0;\n"
      "@%p1 cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group "
      "[%a1, {8, 2, 31, 32, 7}], [cells];\n"
      "@%p1 cp.async.bulk.commit_group; @%p1 cp.async.bulk.wait_group 0;",
      single_rows(), kBlackwell);
  std::vector<std::uint32_t> wanted(kEdge * kEdge);
  for (std::uint32_t i = 0; i < wanted.size(); ++i) wanted[i] = i;
  const std::vector<std::uint32_t> rows{2, 31, 32, 7};  // one lies outside
  for (std::uint32_t i = 0; i < 32; ++i)
    if (rows[i / 8] < kEdge) wanted[rows[i / 8] * kEdge + 8 + i % 8] = 5000 + i;
  EXPECT_EQ(ran.tensor, wanted);
}

TEST(TensorCopyRows, TakeMapsOfSingleRows) {
  const Ran ran =
      run("@%p1 cp.async.bulk.prefetch.tensor.2d.L2.global.tile::gather4 [%a1, {0, 1, 2, 3, 4}];",
          square(0), kBlackwell);
  EXPECT_TRUE(ran.reason.contains("a copy of four rows with a map of 4 rows, not 1")) << ran.reason;
}

}  // namespace
}  // namespace ww::sim::ops_tensor_copy_test
