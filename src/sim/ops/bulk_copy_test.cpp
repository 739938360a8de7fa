// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "sim/ops/test_async.h"

namespace ww::sim::ops_bulk_copy_test {
namespace {

// Thread 0 makes mbarrier 0 for one arrival; all know. %p1 is set in thread 0.
const std::string kMade =
    "setp.eq.u32 %p1, %r1, 0; @%p1 mbarrier.init.shared.b64 [bar], 1; bar.sync 0;\n";
// It expects that many bytes.
std::string expected(unsigned bytes) {
  return "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], " + std::to_string(bytes) + ";\n";
}
const std::string kCopyIn =
    "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [cells], [%a0], 128, "
    "[bar];\n";
const std::string kRead = "ld.shared.u32 %r10, [%r4]; st.global.u32 [%d2], %r10;\n";
// Cells hold 100 + tid, and thread 0 may copy them.
const std::string kFilled =
    "setp.eq.u32 %p1, %r1, 0; add.u32 %r10, %r1, 100; st.shared.u32 [%r4], %r10;"
    "fence.proxy.async; bar.sync 0;\n";
const std::string kCopyOut =
    "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%a1], [cells], 128;\n"
    "@%p1 cp.async.bulk.commit_group;\n";
const std::string kClusterSync = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n";
constexpr Grid kTwoWarps{.threads = 64};
constexpr Grid kTwoBlocks{.threads = 32, .blocks = 2, .cluster = 2};

// --- into shared memory --------------------------------------------------------------------------

TEST(BulkCopy, LandsWhenItsMbarrierIsWaitedFor) {
  const auto out = expect_fine(kMade + expected(128) + kCopyIn + "WAIT(0, 0);" + kRead);
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], i);
}

TEST(BulkCopy, ToThisBlockByItsOtherName) {
  const auto out = expect_fine(
      kMade + expected(128) +
      "@%p1 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [cells], [%a0+16], 128, "
      "[bar]; WAIT(0, 0);" +
      kRead);
  EXPECT_EQ(out[1], 5U);
}

TEST(BulkCopy, ReadBeforeTheWait) {
  const std::string old = "st.shared.u32 [%r4], 7; fence.proxy.async; bar.sync 0;";
  const Done done = expect_found(Check::Async, "an asynchronous write is still on its way to",
                                 kMade + old + expected(128) + kCopyIn + "bar.sync 0;" + kRead);
  EXPECT_EQ(done.out[9], 7U);
  expect_fine(kMade + old + expected(128) + kCopyIn + "WAIT(0, 0);" + kRead);
}

TEST(BulkCopy, OnlyWhoWaitsKnows) {
  const std::string first = "setp.lt.u32 %p2, %r1, 32; @!%p2 bra late; WAIT(0, 0); late:";
  const std::string busy =
      "mov.u32 %r20, 0; count: add.u32 %r20, %r20, 1;"
      "setp.lt.u32 %p3, %r20, 3000; @%p3 bra count;";
  const std::string read =
      "and.b32 %r11, %r4, 127; or.b32 %r11, %r11, %r2;"
      "ld.shared.u32 %r10, [%r11];";
  const std::string start = kMade + expected(128) + kCopyIn;
  expect_found(Check::Race, "reads 4 bytes", start + first + busy + read, kTwoWarps);
  expect_fine(start + "WAIT(0, 0);" + busy + read, kTwoWarps);
}

TEST(BulkCopy, TheBufferMustBeFreeWhenTheCopyIsIssued) {
  const std::string use = "st.shared.u32 [%r4], 1; ld.shared.u32 %r9, [%r4];";
  expect_found(Check::Race, "writes 128 bytes",
               kMade + use + expected(128) + kCopyIn + "WAIT(0, 0);");
  expect_fine(kMade + use + "fence.proxy.async; bar.sync 0;" + expected(128) + kCopyIn +
              "WAIT(0, 0);");
}

// The strict reading: the async proxy need not know an mbarrier that no fence has published.
TEST(BulkCopy, StrictlyTheMbarrierIsFencedInItsOwnBlock) {
  constexpr Grid kStrict{.also = Check::Proxy};
  const std::string copy = expected(128) + kCopyIn + "WAIT(0, 0);" + kRead;
  const std::string found = "lets the async proxy signal the mbarrier at 0x";
  expect_found(Check::Fence, found, kMade + copy, kStrict);
  expect_found(Check::Fence, found, kMade + "@!%p1 fence.mbarrier_init.release.cluster;" + copy,
               kStrict);
  expect_fine(kMade + copy);
  expect_fine(kMade + "fence.mbarrier_init.release.cluster;" + copy, kStrict);
  expect_fine(kMade + "@%p1 fence.proxy.async.shared::cta;" + copy, kStrict);
}

TEST(BulkCopy, ToSeveralBlocksAtOnce) {
  const std::string all =
      kMade + expected(128) + "fence.mbarrier_init.release.cluster;" + kClusterSync +
      "mov.u32 %r12, %cluster_ctarank; setp.eq.u32 %p2, %r12, 0; and.pred %p2, %p2, %p1;"
      "mov.u16 %h1, 3; @%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
      ".multicast::cluster [cells], [%a0+128], 128, [bar], %h1; WAIT(0, 0);" +
      kRead + kClusterSync;
  const auto out = expect_fine(all, kTwoBlocks);
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(out[i], 32 + i % 32);
  // The bytes land in the block that waits, so its own scope is enough.
  std::string near = with_waits(all);
  near.replace(near.find("try_wait.parity.shared"), 22, "try_wait.parity.acquire.cta.shared::cta");
  EXPECT_EQ(expect_fine(near, kTwoBlocks), out);
}

TEST(BulkCopy, FromBlockToBlock) {
  const std::string send =
      kMade + "add.u32 %r10, %r1, 100; st.shared.u32 [%r4+1024], %r10; fence.proxy.async;" +
      expected(128) + kClusterSync +
      "mov.u32 %r12, %cluster_ctarank; xor.b32 %r12, %r12, 1;"
      "mapa.shared::cluster.u32 %r13, %r2, %r12; mapa.shared::cluster.u32 %r14, %r3, %r12;"
      "@%p1 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r13], "
      "[cells+1024], 128, [%r14]; WAIT(0, 0);" +
      kRead + kClusterSync;
  const auto out = expect_fine(send, kTwoBlocks);
  EXPECT_EQ(out[40], 108U);
}

TEST(BulkCopy, TheMbarrierIsWhereTheDataGoes) {
  const std::string wrong =
      kMade + expected(128) + kClusterSync +
      "mov.u32 %r12, %cluster_ctarank; xor.b32 %r12, %r12, 1; mapa.shared::cluster.u32 %r13, %r2, "
      "%r12; @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r13], [%a0], "
      "128, [bar]; WAIT(0, 0);" +
      kClusterSync;
  expect_found(Check::Barrier, "of the cluster, and the mbarrier is in CTA", wrong, kTwoBlocks);
}

// --- sizes and places ----------------------------------------------------------------------------

TEST(BulkCopy, SizesAndAddressesAreMultiplesOfSixteen) {
  const auto copy = [](std::string_view to, std::string_view from, std::string_view size) {
    return kMade + "mov.u32 %r20, " + std::string(size) +
           "; @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], %r20; @%p1 "
           "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [" +
           std::string(to) + "], [" + std::string(from) + "], %r20, [bar]; WAIT(0, 0);";
  };
  expect_found(Check::Align, "a size of 24 bytes", copy("cells", "%a0", "24"));
  expect_found(Check::Align, "not a multiple of 16", copy("cells+8", "%a0", "32"));
  expect_found(Check::Align, "not a multiple of 16", copy("cells", "%a0+4", "32"));
  expect_fine(copy("cells+48", "%a0+16", "4000"));
  expect_fine(copy("cells", "%a0", "0"));
  expect_found(Check::Bounds, "past the end of parameter 0", copy("cells", "%a0+4080", "32"));
  expect_found(Check::Bounds, "past the end of shared memory", copy("cells+4096", "%a0", "4096"));
}

TEST(BulkCopy, AnMbarrierThatIsNone) {
  expect_found(Check::Barrier, "there is no mbarrier at", "setp.eq.u32 %p1, %r1, 0;" + kCopyIn);
}

TEST(BulkCopy, UndefinedBytesTravel) {
  const std::string copy =
      kMade + expected(128) +
      "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [cells], [%a1], 128, "
      "[bar]; WAIT(0, 0); ld.shared.u32 %r10, [%r4];";
  expect_fine(copy);
  expect_found(Check::Uninit, "%r10", copy + "st.global.u32 [%d2], %r10;");
}

// --- out of shared memory ------------------------------------------------------------------------

// The sources are read; and the same with the group closed before.
const std::string kReadOut = "@%p1 cp.async.bulk.wait_group.read 0;";
const std::string kClosed = "@%p1 cp.async.bulk.commit_group;" + kReadOut;

TEST(BulkCopy, OutInGroups) {
  const auto out = expect_fine(kFilled + kCopyOut + "@%p1 cp.async.bulk.wait_group 0;");
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], 100 + i);
  // At the end of the kernel all is done, but the memory of its blocks is others' when they end.
  EXPECT_EQ(expect_fine(kFilled + kCopyOut + kReadOut)[31], 131U);
  expect_found(Check::Async,
               "the kernel ends without `cp.async.bulk.wait_group.read`: its shared memory may "
               "still be read",
               kFilled + kCopyOut);
}

TEST(BulkCopy, TheSourceIsReadBeforeItIsWrittenAgain) {
  const std::string again = "bar.sync 0; st.shared.u32 [%r4], 1;";
  expect_found(Check::Async, "that an asynchronous copy may still be reading",
               kFilled + kCopyOut + again);
  expect_fine(kFilled + kCopyOut + "@%p1 cp.async.bulk.wait_group.read 0;" + again);
  expect_fine(kFilled + kCopyOut + "@%p1 cp.async.bulk.wait_group 0;" + again);
  expect_found(Check::Async, "may still be reading",
               kFilled + kCopyOut + "@%p1 cp.async.bulk.wait_group.read 1;" + again);
  // Reading it is fine.
  expect_fine(kFilled + kCopyOut + "ld.shared.u32 %r9, [%r4];" + kReadOut);
}

constexpr std::string_view kUnwritten =
    "copies 128 bytes of shared memory to global memory that nothing has written; the first is at "
    "0x80";

TEST(BulkCopy, WhatNothingHasWrittenDoesNotGoOut) {
  for (const std::string& opcode :
       std::vector<std::string>{"cp.async.bulk.global.shared::cta.bulk_group",
                                "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32"}) {
    const std::string more = kFilled + "@%p1 " + opcode + " [%a0], [cells], 256;" + kClosed;
    const Done done = expect_found(Check::Uninit, kUnwritten, more);
    EXPECT_EQ(done.findings.find('\n'), done.findings.size() - 1) << done.findings;
    expect_fine(kFilled + "@%p1 " + opcode + " [%a0], [cells], 128;" + kClosed);
    expect_fine("st.shared.u32 [%r4+128], 0;" + more);
  }
}

TEST(BulkCopy, BytesThatAMaskLeavesOutNeedNotBeWritten) {
  const Grid grid{.threads = 32, .target = "sm_100"};
  // The even bytes of 256.
  std::string body =
      "setp.eq.u32 %p1, %r1, 0; mov.u16 %h2, 3; shl.b32 %r10, %r1, 3;"
      "add.u32 %r10, %r10, %r2;";
  for (const int at : {0, 2, 4, 6}) body += fmt::format("st.shared.u8 [%r10+{}], %h2;", at);
  body +=
      "fence.proxy.async; bar.sync 0; mov.u16 %h1, 0x{};"
      "@%p1 cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%a1], [cells], 256, %h1;" +
      kClosed;
  const auto masked = [&](std::string_view mask) {
    return std::string(body).replace(body.find("{}"), 2, mask);
  };
  expect_fine(masked("5555"), grid);
  expect_found(Check::Uninit, "the first is at 0x1", masked("5557"), grid);
}

TEST(BulkCopy, UndefinedBytesTravelToOtherBlocks) {
  const std::string send =
      kMade + expected(128) + "fence.mbarrier_init.release.cluster;" + kClusterSync +
      "mov.u32 %r12, %cluster_ctarank; xor.b32 %r12, %r12, 1;"
      "mapa.shared::cluster.u32 %r13, %r2, %r12; mapa.shared::cluster.u32 %r14, %r3, %r12;"
      "@%p1 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r13], "
      "[cells+1024], 128, [%r14]; WAIT(0, 0); ld.shared.u32 %r10, [%r4];";
  expect_fine(send + kClusterSync, kTwoBlocks);
  expect_found(Check::Uninit, "`%r10` is used and holds undefined bytes",
               send + "st.global.u32 [%d2], %r10;" + kClusterSync, kTwoBlocks);
}

TEST(BulkCopy, OnlySomeBytes) {
  const Grid grid{.threads = 32, .target = "sm_100"};
  const std::string masked =
      "setp.eq.u32 %p1, %r1, 0; st.global.u32 [%d2], 0; mov.u32 %r10, -1; st.shared.u32 [%r4], "
      "%r10;"
      "fence.proxy.async; bar.sync 0; mov.u16 %h1, 0x0F05;"
      "@%p1 cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%a1], [cells], 128, %h1;";
  const auto out = expect_fine(masked + kClosed, grid);
  EXPECT_EQ(out[0], 0x00FF00FFU);
  EXPECT_EQ(out[1], 0U);
  EXPECT_EQ(out[2], 0xFFFFFFFFU);
  EXPECT_EQ(out[3], 0U);
  EXPECT_EQ(out[4], 0x00FF00FFU);
}

// --- combining -----------------------------------------------------------------------------------

std::uint32_t reduced(std::string_view op_and_type, std::uint32_t there, std::uint32_t with) {
  const std::string body = "setp.eq.u32 %p1, %r1, 0; st.global.u32 [%d2], " +
                           std::to_string(there) + "; mov.u32 %r10, " + std::to_string(with) +
                           "; st.shared.u32 [%r4], %r10; fence.proxy.async; bar.sync 0; @%p1 "
                           "cp.reduce.async.bulk.global.shared::cta.bulk_group." +
                           std::string(op_and_type) + " [%a1], [cells], 128;";
  return expect_fine(body + kClosed)[17];
}

TEST(BulkCopy, CombinesIntoGlobalMemory) {
  EXPECT_EQ(reduced("add.u32", 5, 0xFFFFFFFF), 4U);
  EXPECT_EQ(reduced("add.s32", 5, 7), 12U);
  EXPECT_EQ(reduced("min.s32", 5, 0xFFFFFFFF), 0xFFFFFFFFU);
  EXPECT_EQ(reduced("min.u32", 5, 0xFFFFFFFF), 5U);
  EXPECT_EQ(reduced("max.s32", 5, 0xFFFFFFFF), 5U);
  EXPECT_EQ(reduced("inc.u32", 5, 5), 0U);
  EXPECT_EQ(reduced("dec.u32", 0, 5), 5U);
  EXPECT_EQ(reduced("and.b32", 6, 3), 2U);
  EXPECT_EQ(reduced("or.b32", 6, 3), 7U);
  EXPECT_EQ(reduced("xor.b32", 6, 3), 5U);
  EXPECT_EQ(reduced("add.f32", 0x3F800000, 0x40000000), 0x40400000U);
  EXPECT_EQ(reduced("add.noftz.f16", 0x3C003C00, 0x40004200), 0x42004400U);
  EXPECT_EQ(reduced("add.noftz.bf16", 0x3F803F80, 0x40004000), 0x40404040U);
  EXPECT_EQ(reduced("max.f16", 0x3C00BC00, 0x40004200), 0x40004200U);
}

TEST(BulkCopy, CombinesWithoutChecks) {
  const std::string body = kFilled +
                           "st.global.u32 [%d2], 5; bar.sync 0; @%p1 "
                           "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%a1], "
                           "[cells], 128;";
  TestRun test(async_text(body + kClosed, {}));
  ASSERT_EQ(test.errors(), "");
  test.launch.block = {32};
  test.input(std::vector<std::uint32_t>(32, 5)).output<std::uint32_t>(32);
  test.options.checks = CheckSet::nothing();
  test.run();
  EXPECT_EQ(test.read<std::uint32_t>(1)[17], 122U);
}

TEST(BulkCopy, BlocksMayCombineInOnePlace) {
  // Grids of blocks that add into the same words do not race.
  const std::string body = kFilled +
                           "@%p1 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%a0], "
                           "[cells], 128;";
  expect_fine(body + kClosed, {.threads = 32, .blocks = 4});
}

TEST(BulkCopy, CombinesInAnotherBlock) {
  const std::string body =
      kMade +
      "st.shared.u32 [%r4], 1; add.u32 %r10, %r1, 100; st.shared.u32 [%r4+1024], %r10;"
      "fence.proxy.async;" +
      expected(128) + kClusterSync +
      "mov.u32 %r12, %cluster_ctarank; xor.b32 %r12, %r12, 1;"
      "mapa.shared::cluster.u32 %r13, %r2, %r12; mapa.shared::cluster.u32 %r14, %r3, %r12;"
      "@%p1 cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 "
      "[%r13], [cells+1024], 128, [%r14]; WAIT(0, 0);" +
      kRead + kClusterSync;
  EXPECT_EQ(expect_fine(body, kTwoBlocks)[33], 102U);
}

TEST(BulkCopy, PrefetchingDoesNothing) {
  expect_fine("cp.async.bulk.prefetch.L2.global [%a0], 128;");
}

// --- single elements -----------------------------------------------------------------------------

const std::string kNeighbour =
    kMade + "fence.mbarrier_init.release.cluster;" + kClusterSync +
    "mov.u32 %r12, %cluster_ctarank; xor.b32 %r12, %r12, 1; add.u32 %r10, %r1, 100;"
    "mapa.shared::cluster.u32 %r13, %r4, %r12; mapa.shared::cluster.u32 %r14, %r3, %r12;";

TEST(StoreAsync, SignalsTheMbarrierOfTheOtherBlock) {
  const std::string store =
      kNeighbour + expected(128) +
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r13], %r10, [%r14];";
  const auto out = expect_fine(store + "WAIT(0, 0);" + kRead + kClusterSync, kTwoBlocks);
  EXPECT_EQ(out[37], 105U);
  expect_found(Check::Async, "still on its way", store + kClusterSync + kRead + kClusterSync,
               kTwoBlocks);
}

TEST(StoreAsync, Vectors) {
  const auto out = expect_fine(
      kMade + expected(32 * 16) +
      "mul.lo.u32 %r10, %r1, 16; add.u32 %r10, %r10, %r2;"
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%r10], {%r1, 1, 2, %r1}, "
      "[bar]; WAIT(0, 0);" +
      kRead);
  EXPECT_EQ(out[8], 2U);
  EXPECT_EQ(out[9], 1U);
}

TEST(ReduceAsync, CombinesAndSignals) {
  const std::string body = kNeighbour + expected(128) + "st.shared.u32 [%r4], 1000;" +
                           kClusterSync +
                           "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes."
                           "add.u32 [%r13], %r10, "
                           "[%r14]; WAIT(0, 0);" +
                           kRead + kClusterSync;
  EXPECT_EQ(expect_fine(body, kTwoBlocks)[37], 1105U);
}

TEST(StoreAsync, IntoGlobalMemoryItIsAReleasedStore) {
  const Grid grid{.threads = 32, .target = "sm_100"};
  EXPECT_EQ(expect_fine("st.async.release.gpu.global.u32 [%d2], %r1;", grid)[5], 5U);
  EXPECT_EQ(expect_fine("st.global.u32 [%d2], 1; red.async.release.gpu.global.add.u32 [%d2], %r1;",
                        grid)[5],
            6U);
}

// One lane waits for a copy, the others for that lane; the copy starts when they already do.
TEST(BulkCopy, ArrivesWhileLanesWaitForTheOneThatWaits) {
  expect_fine(
      "setp.eq.u32 %p1, %r1, 0; @%p1 mbarrier.init.shared.b64 [bar], 1; bar.sync 0;"
      "@%p1 bra issue; setp.eq.u32 %p2, %r1, 32; @!%p2 bra meet; WAIT(0, 0); bra meet;"
      "issue: mbarrier.arrive.expect_tx.shared.b64 %d8, [bar], 128;"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [cells], [%a0], 128, "
      "[bar];"
      "meet: bar.warp.sync 0xffffffff;",
      {.threads = 64});
}

}  // namespace
}  // namespace ww::sim::ops_bulk_copy_test
