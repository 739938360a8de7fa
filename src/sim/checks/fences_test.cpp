// SPDX-License-Identifier: Apache-2.0
// Fences: each that is missed, and every way of having it that is accepted.
#include "sim/checks/fences.h"

#include <gtest/gtest.h>

#include <string>

#include "sim/ops/test_async.h"

namespace ww::sim::fences_test {
namespace {

constexpr Grid kTwoWarps{.threads = 64};

// --- the async proxy -----------------------------------------------------------------------------

// Every thread writes its cell; thread 0 copies 128 bytes out behind the barrier.
const std::string kFill =
    "setp.eq.u32 %p1, %r1, 0; add.u32 %r10, %r1, 100;\nst.shared.u32 [%r4], %r10;\n";
const std::string kSync = "bar.sync 0;\n";
const std::string kFence = "fence.proxy.async.shared::cta;\n";
const std::string kCopyOut =
    "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%a1], [cells], 128;\n"
    "@%p1 cp.async.bulk.commit_group; @%p1 cp.async.bulk.wait_group 0;\n";
const std::string kMade =
    "setp.eq.u32 %p1, %r1, 0; @%p1 mbarrier.init.shared.b64 [bar], 1; bar.sync 0;\n";
const std::string kCopyIn =
    "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;\n"
    "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [cells], [%a0], 128, "
    "[bar];\n";
const std::string kReadIt =
    "reads 128 bytes of shared memory at 0x0 in the async proxy, which was written in the generic "
    "proxy with no `fence.proxy.async.shared::cta` behind the write; the writing thread executes "
    "it before the barrier";
const std::string kWroteIt = "writes" + kReadIt.substr(5);

TEST(ProxyFence, BetweenTheWriteAndABulkCopy) {
  const Done done = expect_found(Check::Fence, kReadIt, kFill + kSync + kCopyOut);
  EXPECT_EQ(done.findings, "fence 16/14: " + kReadIt + "\n");  // both places, and nothing else
  for (const char* fence :
       {"fence.proxy.async;", "fence.proxy.async.shared::cta;",
        "fence.proxy.async.shared::cluster;",
        "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;"})
    expect_fine(kFill + fence + kSync + kCopyOut);
}

TEST(ProxyFence, BehindTheBarrierByWhoeverCopies) {
  expect_fine(kFill + kSync + kFence + kCopyOut, kTwoWarps);
  expect_fine(kFill + kSync + "@%p1 " + kFence + kCopyOut, kTwoWarps);
}

TEST(ProxyFence, OfAnotherKindOrAtAnotherPlaceIsNone) {
  for (const char* fence :
       {"fence.proxy.async.global;", "fence.proxy.alias;", "fence.acq_rel.cta;", "membar.cta;"})
    expect_found(Check::Fence, kReadIt, kFill + fence + kSync + kCopyOut);
  expect_found(Check::Fence, kReadIt, kFence + kFill + kSync + kCopyOut);
  // Another write, behind the fence.
  expect_found(Check::Fence, kReadIt,
               kFill + kFence + "st.shared.u32 [%r4], 1;\n" + kSync + kCopyOut);
  // Behind the copy.
  expect_found(Check::Fence, kReadIt, kFill + kSync + kCopyOut + kFence);
}

TEST(ProxyFence, BeforeTheBarrierItIsForEachThatWrote) {
  expect_found(Check::Fence, kReadIt, kFill + "@%p1 " + kFence + kSync + kCopyOut, kTwoWarps);
  // One after the other is all of them; and one is enough where they have met before.
  expect_fine(kFill + "@%p1 " + kFence + "@!%p1 " + kFence + kSync + kCopyOut, kTwoWarps);
  expect_fine(kFill + "bar.warp.sync 0xffffffff; @%p1 " + kFence + kSync + kCopyOut);
  expect_fine(kFill + "setp.lt.u32 %p2, %r1, 32; @!%p2 bra out; bar.warp.sync 0xffffffff; @%p1 " +
                  kFence + "out:" + kSync + kCopyOut,
              kTwoWarps);
}

// The manual's own reading: what the other one accepts is found, and what the manual asks for is fine.
TEST(ProxyFence, StrictlyEachThreadThatWroteFencesBeforeTheBarrier) {
  constexpr Grid kStrict{.threads = 64, .also = Check::Proxy};
  // Thread 0 copies what warp 1 wrote.
  std::string copy = kCopyOut;
  copy.replace(copy.find("[cells]"), 7, "[cells+128]");
  const std::string found = "in the async proxy, which was written in the generic proxy";
  expect_found(Check::Fence, found, kFill + kSync + kFence + copy, kStrict);
  expect_found(Check::Fence, found, kFill + kSync + "@%p1 " + kFence + copy, kStrict);
  expect_fine(kFill + kSync + "@%p1 " + kFence + copy, kTwoWarps);
  expect_found(Check::Fence, kReadIt,
               kFill + "bar.warp.sync 0xffffffff; @%p1 " + kFence + kSync + kCopyOut,
               {.also = Check::Proxy});
  expect_fine(kFill + kFence + kSync + copy, kStrict);
  expect_fine(kFill + "@%p1 " + kFence + "@!%p1 " + kFence + kSync + kCopyOut, kStrict);
}

// --- reads before a refill -------------------------------------------------------------------------

// Both warps load, meet, and thread 0 lets the copy engine write the memory again.
const std::string kRefill =
    "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;\n"
    "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [cells], [%a0], 256, "
    "[bar];\n WAIT(0, 0);\n";
const std::string kOpenLoad =
    "setp.eq.u32 %p1, %r1, 0; @%p1 mbarrier.init.shared.b64 [bar], 1; @%p1 "
    "fence.mbarrier_init.release.cluster;\n st.shared.u32 [%r4], %r1;\n"
    "fence.proxy.async.shared::cta;\n bar.sync 0; ld.shared.u32 %r10, [%r4];\n";
const std::string kUse = "add.u32 %r11, %r10, 1; st.global.u32 [%d2], %r11;\n";
constexpr std::string_view kLate = "a read of it in the generic proxy may still be under way";

TEST(ProxyFence, AnOpenLoadBeforeARefill) {
  expect_found(Check::Fence, kLate, kOpenLoad + kSync + kRefill + kUse, kTwoWarps);
  // By one warp alone, and through an arrival in place of the barrier.
  expect_found(Check::Fence, kLate, kOpenLoad + "bar.warp.sync 0xffffffff;" + kRefill + kUse);
  // The value is needed before; or the reader fences.
  expect_fine(kOpenLoad + kUse + kSync + kRefill, kTwoWarps);
  expect_fine(kOpenLoad + kFence + kSync + kRefill + kUse, kTwoWarps);
  // A fence by the thread that copies does not wait for the loads of others.
  expect_found(Check::Fence, kLate, kOpenLoad + kSync + "@%p1 " + kFence + kRefill + kUse,
               kTwoWarps);
  // Needed behind one barrier and before the next.
  expect_fine(kOpenLoad + kSync + kUse + kSync + kRefill, kTwoWarps);
  expect_fine(kOpenLoad + kSync + "mov.u32 %r10, 0;" + kSync + kRefill, kTwoWarps);
  expect_found(Check::Fence, kLate, kOpenLoad + kSync + kUse + kRefill, kTwoWarps);
  expect_found(Check::Fence, kLate,
               kOpenLoad + kSync + "setp.lt.u32 %p2, %r1, 32; @!%p2 bra over;" + kUse +
                   "over:" + kSync + kRefill + kUse,
               kTwoWarps);
  // Needed on one of two ways only.
  expect_found(Check::Fence, kLate,
               kOpenLoad + "setp.lt.u32 %p2, %r1, 32; @%p2 bra over;" + kUse + "over:" + kSync +
                   kRefill + kUse,
               kTwoWarps);
}

// Each round loads, meets, needs the value, meets again, refills; in the last round the value is needed
// too late.
TEST(ProxyFence, OpenLoadsOfALoop) {
  const auto rounds = [](const std::string& last) {
    return kOpenLoad + "mov.u32 %r20, 0; mov.u32 %r21, 0;\n again: ld.shared.u32 %r12, [%r4];" +
           kSync + "setp.eq.u32 %p3, %r20, 5; @%p3 bra last;\n" +
           "add.u32 %r13, %r12, 1; st.global.u32 [%d2], %r13;\n last:" + kSync +
           "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;\n"
           "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [cells], [%a0], "
           "256, [bar];\n wait: mbarrier.try_wait.parity.shared.b64 %p31, [bar], %r21; @!%p31 bra "
           "wait;\n xor.b32 %r21, %r21, 1; add.u32 %r20, %r20, 1; setp.lt.u32 %p4, %r20, " +
           last + "; @%p4 bra again;";
  };
  expect_fine(rounds("5"), kTwoWarps);
  expect_found(Check::Fence, kLate, rounds("6"), kTwoWarps);
}

TEST(ProxyFence, StrictlyEveryLoadBeforeARefill) {
  constexpr Grid kStrict{.threads = 64, .also = Check::Proxy};
  expect_found(Check::Fence, kLate, kOpenLoad + kUse + kSync + kRefill, kStrict);
  expect_fine(kOpenLoad + kUse + kFence + kSync + kRefill, kStrict);
}

TEST(ProxyFence, InOneThread) {
  const std::string store =
      "setp.eq.u32 %p1, %r1, 0; mov.u32 %r10, 1; @%p1 st.shared.v4.u32 [cells], {%r10, %r10, %r10, "
      "%r10};\n";
  const std::string copy =
      "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%a1], [cells], 16;\n"
      "@%p1 cp.async.bulk.commit_group; @%p1 cp.async.bulk.wait_group 0;\n";
  expect_found(Check::Fence, "reads 16 bytes of shared memory at 0x0 in the async proxy",
               store + copy);
  expect_fine(store + "@%p1 " + kFence + copy);
}

TEST(ProxyFence, OnTheWayThroughAnMbarrier) {
  // Warp 1 writes and arrives, thread 0 waits and copies.
  const auto program = [](const std::string& before, const std::string& behind) {
    return "setp.eq.u32 %p1, %r1, 0; @%p1 mbarrier.init.shared.b64 [bar], 32; bar.sync 0;"
           "setp.lt.u32 %p2, %r1, 32; @%p2 bra first;\n st.shared.u32 [%r4+-128], %r1;\n" +
           before + "mbarrier.arrive.shared.b64 %d5, [bar]; bra end;\n first: WAIT(0, 0);" +
           behind + kCopyOut + "end:";
  };
  expect_found(Check::Fence, kReadIt, program("", ""), kTwoWarps);
  expect_fine(program(kFence, ""), kTwoWarps);
  expect_fine(program("", kFence), kTwoWarps);
}

TEST(ProxyFence, BeforeBytesAreOverwritten) {
  const std::string use = kMade + "\nst.shared.u32 [%r4], 7;\n";
  expect_found(Check::Fence, kWroteIt, use + kSync + kCopyIn + "WAIT(0, 0);");
  expect_fine(use + kFence + kSync + kCopyIn + "WAIT(0, 0);");
}

TEST(ProxyFence, NoneBehindAsynchronousOperationsAndReads) {
  // In, read, and the next one in; then out again.
  const std::string twice = kMade + kCopyIn +
                            "WAIT(0, 0); ld.shared.u32 %r10, [%r4]; add.u32 %r11, %r10, 1;" +
                            kSync + kCopyIn + "WAIT(0, 1);" + kSync + kCopyOut;
  expect_fine(twice);
  // What an asynchronous write has replaced is no longer what a store wrote.
  expect_fine(kMade + "st.shared.u32 [%r4], 7;" + kFence + kSync + kCopyIn + "WAIT(0, 0);" + kSync +
              kCopyOut);
}

TEST(ProxyFence, CopiesOfCpAsyncAreGeneric) {
  const std::string copy = "setp.eq.u32 %p1, %r1, 0; cp.async.ca.shared.global [%r4], [%d1], 4;\n";
  const std::string wait = "cp.async.wait_all;\n";
  expect_found(Check::Fence, kReadIt, copy + wait + kSync + kCopyOut);
  expect_found(Check::Fence, kReadIt, copy + kFence + wait + kSync + kCopyOut);
  expect_fine(copy + wait + kFence + kSync + kCopyOut);
}

TEST(ProxyFence, AtomicsAreGeneric) {
  const std::string add = kFill + kFence + "red.shared.add.u32 [%r4], 1;\n";
  expect_found(Check::Fence, kReadIt, add + kSync + kCopyOut);
  expect_fine(add + kFence + kSync + kCopyOut);
}

TEST(ProxyFence, InGlobalMemory) {
  const std::string store = kMade + "st.global.u32 [%d1], %r1;\n";
  const std::string found =
      "in the async proxy, which was written in the generic proxy with no "
      "`fence.proxy.async.global` behind the write";
  expect_found(Check::Fence, found, store + kSync + kCopyIn + "WAIT(0, 0);");
  expect_found(Check::Fence, found, store + kFence + kSync + kCopyIn + "WAIT(0, 0);");
  expect_fine(store + "fence.proxy.async.global;" + kSync + kCopyIn + "WAIT(0, 0);");
  expect_fine(store + "fence.proxy.async;" + kSync + kCopyIn + "WAIT(0, 0);");
}

TEST(ProxyFence, WithNothingToOrderThemItIsARace) {
  const Done done =
      run_async("setp.eq.u32 %p1, %r1, 0; @!%p1 st.shared.u32 [%r4], %r1;" + kCopyOut, kTwoWarps);
  EXPECT_NE(done.findings.find("race"), std::string::npos) << done.findings;
  EXPECT_EQ(done.findings.find("fence"), std::string::npos) << done.findings;
}

// --- tensor memory -------------------------------------------------------------------------------

// Warps 0 to 3 and 4 to 7 reach the same lanes.
constexpr Grid kEight{.threads = 256, .target = "sm_100a"};
const std::string kBefore = "tcgen05.fence::before_thread_sync;\n";
const std::string kAfter = "tcgen05.fence::after_thread_sync;\n";
const std::string kNoBefore = "no `tcgen05.fence::before_thread_sync` before it";
const std::string kNoAfter = "no `tcgen05.fence::after_thread_sync` behind it";
const std::string kNeither =
    "neither `tcgen05.fence::before_thread_sync` before it nor "
    "`tcgen05.fence::after_thread_sync` behind it";

// %p1: warp 0; %p2: thread 0; %p3: warps 0 to 3; %r22: the columns, in the lanes of the warp.
const std::string kAllocated =
    "setp.lt.u32 %p1, %r1, 32; setp.eq.u32 %p2, %r1, 0; setp.lt.u32 %p3, %r1, 128; mov.b32 %r40, 7;"
    "@%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [cells], 32;"
    "@%p2 mbarrier.init.shared.b64 [bar], 1; @%p2 mbarrier.init.shared.b64 [bar+8], 128;"
    "bar.sync 0; ld.shared.u32 %r20, [cells];"
    "and.b32 %r21, %r1, 96; shl.b32 %r21, %r21, 16; add.u32 %r22, %r20, %r21;\n";
const std::string kFreed =
    "\nbar.sync 0; @%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r20, 32;\n";
const std::string kStore =
    "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r22], {%r40}; tcgen05.wait::st.sync.aligned;\n";
const std::string kLoad =
    "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r40}, [%r22]; tcgen05.wait::ld.sync.aligned;\n";

// The lower half of the warps does one thing, the upper half another one behind the barrier.
std::string in_turn(const std::string& first, const std::string& between,
                    const std::string& second) {
  return kAllocated + "@!%p3 bra over;\n" + first + "over:\n" + between + "@%p3 bra end;\n" +
         second + "end:" + kFreed;
}

TEST(TensorFence, BetweenAStoreAndTheLoadOfAnotherWarp) {
  const std::string what =
      "loads lane 64, column 0 of tensor memory that another warp has stored; there is a barrier "
      "between the two, with ";
  expect_found(Check::Fence, what + kNeither, in_turn(kStore, kSync, kLoad), kEight);
  expect_found(Check::Fence, what + kNoBefore, in_turn(kStore, kSync + kAfter, kLoad), kEight);
  expect_found(Check::Fence, what + kNoAfter, in_turn(kStore, kBefore + kSync, kLoad), kEight);
  expect_fine(in_turn(kStore, kBefore + kSync + kAfter, kLoad), kEight);
  const Done done = run_async(in_turn(kStore, kBefore + kSync, kLoad), kEight);
  EXPECT_EQ(done.findings, "fence 20/15: " + what + kNoAfter + "\n");
}

TEST(TensorFence, AtTheWrongSideIsNone) {
  expect_found(Check::Fence, kNeither, in_turn(kStore, kAfter + kSync + kBefore, kLoad), kEight);
  expect_found(Check::Fence, kNoBefore, in_turn(kBefore + kStore, kSync + kAfter, kLoad), kEight);
}

TEST(TensorFence, BeforeCellsAreStoredOver) {
  const std::string all = kBefore + kSync + kAfter;
  const auto program = [&](const std::string& between) {
    return kAllocated + "@!%p3 bra one;\n" + kStore + "one:\n" + all + "@%p3 bra two;\n" + kLoad +
           "two:\n" + between + "@!%p3 bra end;\n" + kStore + "end:" + kFreed;
  };
  const std::string what =
      "stores to lane 0, column 0 of tensor memory that another warp has loaded";
  expect_found(Check::Fence, what, program(kSync), kEight);
  expect_found(Check::Fence, kNoBefore, program(kSync + kAfter), kEight);
  expect_found(Check::Fence, kNoAfter, program(kBefore + kSync), kEight);
  expect_fine(program(all), kEight);
}

TEST(TensorFence, NoneInOneWarpNorBeforeColumnsAreFreed) {
  expect_fine(kAllocated + kStore + kSync + kLoad + kSync + kStore + kFreed,
              {.threads = 128, .target = "sm_100a"});
}

TEST(TensorFence, RelaxedBarriersWithFencesOrderTensorMemory) {
  const auto program = [](const std::string& before, const std::string& behind) {
    return kAllocated + "@!%p3 bra upper;\n" + kStore + before +
           "mbarrier.arrive.relaxed.cluster.shared::cta.b64 %d5, [bar+8]; bra end;\n upper:\n"
           "wait: mbarrier.try_wait.parity.relaxed.cluster.shared::cta.b64 %p5, [bar+8], 0;"
           "@!%p5 bra wait;\n" +
           behind + kLoad + "end:" + kFreed;
  };
  expect_fine(program(kBefore, kAfter), kEight);
  expect_found(Check::Race, "of tensor memory that another thread has written", program("", kAfter),
               kEight);
  expect_found(Check::Race, "of tensor memory that another thread has written",
               program(kBefore, ""), kEight);
}

// Rows of 16 bytes from cells + 1024 on.
const std::string kRows =
    "shl.b32 %r31, %r1, 3; add.u32 %r31, %r31, %r2; st.shared.v2.u32 [%r31+1024], {%r1, %r1};\n";
const std::string kDescriptor =
    "add.u32 %r38, %r2, 1024; shr.u32 %r38, %r38, 4; mov.b64 %d8, {%r38, 0};"
    "or.b64 %d8, %d8, 0x400800010000;\n";
const std::string kCopy =
    "@%p2 tcgen05.cp.cta_group::1.128x128b [%r20], %d8;\n"
    "@%p2 tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [%r3];\nWAIT(0, 0);\n";

TEST(TensorFence, BehindTheWaitForACopy) {
  const std::string copied = kAllocated + kRows + kFence + kSync + kDescriptor + kCopy;
  expect_found(Check::Fence,
               "loads lane 0, column 0 of tensor memory that the tensor core has written; there is "
               "a barrier between the two, with " +
                   kNoAfter,
               copied + kLoad + kFreed, kEight);
  expect_fine(copied + kAfter + kLoad + kFreed, kEight);
  // One warp waits, and another barrier lets the others know.
  const std::string handed = copied + "\n" + kSync;
  expect_found(Check::Fence, kNoAfter, handed + kLoad + kFreed, kEight);
  expect_fine(handed + kAfter + kLoad + kFreed, kEight);
}

TEST(TensorFence, BeforeACopyOverWhatOthersStored) {
  const auto program = [](const std::string& between) {
    return kAllocated + kRows + kFence + "@!%p3 bra over;\n" + kStore + "over:" + between +
           kDescriptor + kCopy + kAfter + kLoad + kFreed;
  };
  expect_found(Check::Fence,
               "writes lane 32, column 0 of tensor memory that another warp has stored",
               program(kSync), kEight);
  expect_fine(program(kBefore + kSync + kAfter), kEight);
}

TEST(ProxyFence, BeforeTheTensorCoreReads) {
  const auto program = [](const std::string& fence) {
    return kAllocated + kRows + fence + kSync + kDescriptor + kCopy + kAfter + kLoad + kFreed;
  };
  expect_found(Check::Fence,
               "reads 16 bytes of shared memory at 0x400 in the async proxy, which was written in "
               "the generic proxy with no `fence.proxy.async.shared::cta` behind the write",
               program(""), kEight);
  expect_fine(program(kFence), kEight);
}

TEST(TensorFence, ColumnsThatAreFreedHaveNoPast) {
  const std::string again =
      "@%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [cells], 32; bar.sync 0;\n";
  expect_fine(in_turn(kStore, "", "") + again + "@%p3 bra last;\n" + kStore + "last:" + kFreed,
              kEight);
}

// --- the check -----------------------------------------------------------------------------------

std::string findings_with(std::string_view checks, unsigned threads) {
  TestRun test(async_text(kFill + kSync + kCopyOut, {}));
  EXPECT_EQ(test.errors(), "");
  test.launch.block = {32};
  test.launch.grid = {16};
  test.input(std::vector<std::uint32_t>(kTestWords, 1));
  test.output<std::uint32_t>(kTestWords);
  test.options.checks = *parse_checks(checks);
  test.options.threads = threads;
  test.run();
  return test.findings();
}

TEST(Fence, IsACheckOfItsOwn) {
  EXPECT_EQ(findings_with("fence", 1), "fence 16/14: " + kReadIt + "\n");
  EXPECT_EQ(findings_with("all,-race,-fence", 1), "");
  EXPECT_EQ(findings_with("fence", 4), findings_with("fence", 1));
}

}  // namespace
}  // namespace ww::sim::fences_test
