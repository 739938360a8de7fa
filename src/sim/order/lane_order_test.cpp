// SPDX-License-Identifier: Apache-2.0
// What orders the threads of a block and of a cluster beyond barriers of all of them: lanes that
// wait or tell for themselves, barriers that some pass, the barrier of a cluster, the end of a
// block.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "sim/order/test_order.h"

namespace ww::sim::lane_order_test {
namespace {

constexpr OrderLaunch kTwoWarps{.blocks = 1, .threads = 64};
constexpr OrderLaunch kCluster{.blocks = 2, .threads = 32, .cluster = 2};

std::string wait(std::string_view guard, unsigned n, std::string_view name) {
  return fmt::format(
      "{1}:\n{0}mbarrier.try_wait.parity.shared.b64 %p7, [bar+{2}], 0;\n"
      "{0}@!%p7 bra {1};\n",
      guard, name, 8 * n);
}

/// Warp 0 writes its cells and arrives; warp 1 waits and reads them the other way round.
std::string hand_over(unsigned arrivals, std::string_view arrive, std::string_view waits) {
  return fmt::format(
      "@%p2 mbarrier.init.shared.b64 [bar], {};\nbar.sync 0;\nsetp.lt.u32 %p3, %r1, 32;\n"
      "setp.eq.u32 %p4, %r1, 32;\n@!%p3 bra READ;\nst.shared.u32 [%r3], %r1;\n{}\nbra DONE;\n"
      "READ:\n{}xor.b32 %r5, %r1, 63;\nshl.b32 %r5, %r5, 2;\nadd.u32 %r5, %r5, %r4;\n"
      "ld.shared.u32 %r6, [%r5];\nst.global.u32 [%d3], %r6;\nDONE:",
      arrivals, arrive, waits);
}
constexpr std::string_view kArrive = "mbarrier.arrive.shared.b64 %d7, [bar];";
const std::string kAllWait = wait("", 0, "WAIT");
// Lane 0 of warp 1 waits, the others go on.
const std::string kOneWaits = "@!%p4 bra WAITED;\n" + wait("", 0, "WAIT") + "WAITED:\n";

TEST(LaneOrder, LanesThatWaitLearnForThemselves) {
  EXPECT_EQ(expect_ordered(hand_over(32, kArrive, kAllWait), kTwoWarps)[40], 23U);
  expect_ordered(hand_over(32, kArrive, kOneWaits + "bar.warp.sync -1;\n"), kTwoWarps);
  // A shuffle waits for the lanes, and orders nothing.
  expect_disorder(hand_over(32, kArrive, kOneWaits + "shfl.sync.idx.b32 %r8, %r1, 0, 31, -1;\n"),
                  "st.shared.u32 [%r3]", "ld.shared.u32 %r6", kTwoWarps);
  expect_disorder(hand_over(32, kArrive, kOneWaits), "st.shared.u32 [%r3]", "ld.shared.u32 %r6",
                  kTwoWarps);
}

TEST(LaneOrder, LanesThatArriveTellOfThemselves) {
  const std::string one = "@%p2 " + std::string(kArrive);
  expect_ordered(hand_over(1, "bar.warp.sync -1;\n" + one, kAllWait), kTwoWarps);
  expect_disorder(hand_over(1, one, kAllWait), "st.shared.u32 [%r3]", "ld.shared.u32 %r6",
                  kTwoWarps);
}

TEST(LaneOrder, AReadOfOneLaneDoesNotHideThatOfAnother) {
  // All lanes of warp 0 read; then lane 1 alone tells of itself, reads again and tells warp 1.
  const auto body = [](std::string_view read, std::string_view meet) {
    return fmt::format(
        "@%p2 mbarrier.init.shared.b64 [bar], 1;\n@%p2 mbarrier.init.shared.b64 [bar+8], 1;\n"
        "@%p2 st.shared.u32 [cells], 0;\nbar.sync 0;\nsetp.lt.u32 %p3, %r1, 32;\n"
        "setp.eq.u32 %p4, %r1, 1;\n@!%p3 bra WRITE;\n{0}\n{1}\n@!%p4 bra DONE;\n"
        "mbarrier.arrive.shared.b64 %d7, [bar+8];\n{0} // again\n"
        "mbarrier.arrive.shared.b64 %d7, [bar];\nbra DONE;\nWRITE:\n{2}"
        "setp.eq.u32 %p4, %r1, 40;\n@%p4 st.shared.u32 [cells], 7;\nDONE:",
        read, meet, kAllWait);
  };
  for (const std::string_view read :
       {"ld.shared.u32 %r6, [cells];", "ld.volatile.shared.u32 %r6, [cells];"}) {
    expect_ordered(body(read, "bar.warp.sync -1;"), kTwoWarps);
    expect_disorder(body(read, ""), "st.shared.u32 [cells], 7", read, kTwoWarps);
  }
}

TEST(LaneOrder, EarlierReadsDoNotPileUp) {
  // Lanes 0 and 16 of each warp read one word between releases, again and again.
  TestRun test(
      order_text("and.b32 %r5, %r1, 15;\nmul.wide.u32 %d5, %r5, 4;\n"
                 "add.u64 %d5, %d5, %a0;\nmov.u32 %r7, 0;\nAGAIN:\n"
                 "ld.global.u32 %r6, [%d5];\nfence.acq_rel.cta;\n"
                 "add.u32 %r7, %r7, 1;\nsetp.lt.u32 %p5, %r7, 20000;\n@%p5 bra AGAIN;",
                 "sm_90a"));
  test.launch.block = {128};
  test.input(std::vector<std::uint32_t>(64)).input(std::vector<std::uint32_t>(64));
  test.output<std::uint32_t>(256);
  test.options.limits.memory = 3U << 20U;
  EXPECT_EQ(test.run().outcome, Outcome::Finished) << test.report().reason;
  EXPECT_EQ(test.findings(), "");
}

TEST(LaneOrder, LanesThatMetPassOnWhatTheyKnow) {
  // Lanes 0 and 1 meet, then 1 and 2: lane 2 knows of lane 0.
  const auto body = [](std::string_view second) {
    return fmt::format(
        "setp.eq.u32 %p4, %r1, 2;\nsetp.lt.u32 %p5, %r1, 2;\nsetp.ge.u32 %p6, %r1, 1;\n"
        "setp.lt.u32 %p7, %r1, 3;\nand.pred %p6, %p6, %p7;\n@%p2 st.shared.u32 [cells], 7;\n"
        "@%p5 bar.warp.sync 3;\n{}\n@%p4 ld.shared.u32 %r6, [cells];",
        second);
  };
  constexpr OrderLaunch kOne{.blocks = 1, .threads = 32};
  expect_ordered(body("@%p6 bar.warp.sync 6;"), kOne);
  expect_disorder(body(""), "st.shared.u32 [cells]", "ld.shared.u32 %r6", kOne);
}

TEST(LaneOrder, ACollectiveInstructionTakesWhatEachLaneWaitedFor) {
  const auto load = [](std::string_view meet) {
    return fmt::format(
        "@%p2 mbarrier.init.shared.b64 [bar], 32;\nbar.sync 0;\nsetp.lt.u32 %p3, %r1, 32;\n"
        "setp.eq.u32 %p4, %r1, 32;\n@!%p3 bra READ;\nst.shared.u32 [%r3], %r1;\n"
        "mbarrier.arrive.shared.b64 %d7, [bar];\nbra DONE;\nREAD:\n{}{}\n"
        "and.b32 %r5, %r1, 7;\nshl.b32 %r5, %r5, 4;\nadd.u32 %r5, %r5, %r4;\n"
        "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {{%r6}}, [%r5];\nst.global.u32 [%d3], %r6;\n"
        "DONE:",
        kOneWaits, meet);
  };
  expect_ordered(load("bar.warp.sync -1;"), kTwoWarps);
  expect_disorder(load(""), "st.shared.u32 [%r3]", "ldmatrix", kTwoWarps);
}

TEST(LaneOrder, OnlyBarriersOrderLanes) {
  constexpr OrderLaunch kOne{.blocks = 1, .threads = 32};
  const auto neighbours = [](std::string_view between) {
    return fmt::format(
        "st.shared.u32 [%r3], %r1;\n{}\nxor.b32 %r5, %r1, 1;\nshl.b32 %r5, %r5, 2;\n"
        "add.u32 %r5, %r5, %r4;\nld.shared.u32 %r6, [%r5];\nst.global.u32 [%d3], %r6;",
        between);
  };
  for (const std::string_view barrier : {"bar.warp.sync -1;", "bar.sync 0;", "barrier.sync 0;"})
    EXPECT_EQ(expect_ordered(neighbours(barrier), kOne)[6], 7U);
  for (const std::string_view other :
       {"", "shfl.sync.idx.b32 %r8, %r1, 0, 31, -1;", "vote.sync.ballot.b32 %r8, %p2, -1;",
        "match.any.sync.b32 %r8, %r1, -1;", "redux.sync.add.u32 %r8, %r1, -1;",
        "elect.sync %r8|%p6, -1;"})
    expect_disorder(neighbours(other), "st.shared.u32 [%r3]", "ld.shared.u32 %r6", kOne);
  // Matrices are read and written row by row, by the lane that gives the address.
  const auto rows = [](std::string_view between) {
    return fmt::format(
        "st.shared.u32 [%r3], %r1;\n{}\nand.b32 %r5, %r1, 7;\nshl.b32 %r5, %r5, 4;\n"
        "add.u32 %r5, %r5, %r4;\nldmatrix.sync.aligned.m8n8.x1.shared.b16 {{%r6}}, [%r5];\n"
        "st.global.u32 [%d3], %r6;",
        between);
  };
  EXPECT_EQ(expect_ordered(rows("bar.warp.sync -1;"), kOne)[9], 9U);
  expect_disorder(rows(""), "st.shared.u32 [%r3]", "ldmatrix", kOne);
  const auto stored = [](std::string_view between) {
    return fmt::format(
        "and.b32 %r5, %r1, 7;\nshl.b32 %r5, %r5, 4;\nadd.u32 %r5, %r5, %r4;\n"
        "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r5], {{%r1}};\n{}\n"
        "ld.shared.u32 %r6, [%r3];\nst.global.u32 [%d3], %r6;",
        between);
  };
  EXPECT_EQ(expect_ordered(stored("bar.warp.sync -1;"), kOne)[9], 9U);
  expect_disorder(stored(""), "stmatrix", "ld.shared.u32 %r6", kOne);
}

// Producer and consumer warp with two stages, each stage with a barrier for full and one for empty.
std::string ring(std::string_view release, bool waits_for_empty) {
  std::string body =
      "mov.u32 %r20, 0;\n@%p2 mbarrier.init.shared.b64 [bar], 32;\n"
      "@%p2 mbarrier.init.shared.b64 [bar+8], 32;\n@%p2 mbarrier.init.shared.b64 [bar+16], 1;\n"
      "@%p2 mbarrier.init.shared.b64 [bar+24], 1;\nbar.sync 0;\nmov.u32 %r10, bar;\n"
      "setp.lt.u32 %p3, %r1, 32;\nand.b32 %r11, %r1, 31;\nsetp.eq.u32 %p4, %r11, 0;\n"
      "shl.b32 %r11, %r11, 2;\n@!%p3 bra CONSUME;\n"
      "PRODUCE:\nand.b32 %r12, %r20, 1;\nshr.u32 %r13, %r20, 1;\nand.b32 %r13, %r13, 1;\n"
      "xor.b32 %r14, %r13, 1;\nshl.b32 %r15, %r12, 3;\nadd.u32 %r15, %r15, %r10;\n"
      "setp.lt.u32 %p5, %r20, 2;\n@%p5 bra FREE;\n";
  if (waits_for_empty) {
    body += "EMPTY:\nmbarrier.try_wait.parity.shared.b64 %p7, [%r15+16], %r14;\n@!%p7 bra EMPTY;\n";
  }
  body += fmt::format(
      "FREE:\nshl.b32 %r16, %r12, 7;\nadd.u32 %r16, %r16, %r4;\nadd.u32 %r16, %r16, %r11;\n"
      "st.shared.u32 [%r16], %r20;\nmbarrier.arrive.shared.b64 %d7, [%r15];\n"
      "add.u32 %r20, %r20, 1;\nsetp.lt.u32 %p6, %r20, 6;\n@%p6 bra PRODUCE;\nbra DONE;\n"
      "CONSUME:\nand.b32 %r12, %r20, 1;\nshr.u32 %r13, %r20, 1;\nand.b32 %r13, %r13, 1;\n"
      "shl.b32 %r15, %r12, 3;\nadd.u32 %r15, %r15, %r10;\n"
      "FULL:\nmbarrier.try_wait.parity.shared.b64 %p7, [%r15], %r13;\n@!%p7 bra FULL;\n"
      "shl.b32 %r16, %r12, 7;\nadd.u32 %r16, %r16, %r4;\nxor.b32 %r17, %r11, 124;\n"
      "add.u32 %r16, %r16, %r17;\nld.shared.u32 %r18, [%r16];\n{}\n"
      "add.u32 %r20, %r20, 1;\nsetp.lt.u32 %p6, %r20, 6;\n@%p6 bra CONSUME;\n"
      "st.global.u32 [%d3], %r18;\nDONE:",
      release);
  return body;
}
TEST(LaneOrder, ARingOfStages) {
  constexpr std::string_view kRelease =
      "bar.warp.sync -1;\n@%p4 mbarrier.arrive.shared.b64 %d8, [%r15+16];";
  EXPECT_EQ(expect_ordered(ring(kRelease, true), kTwoWarps)[40], 5U);
  // One lane says that all have read.
  expect_disorder(ring("@%p4 mbarrier.arrive.shared.b64 %d8, [%r15+16];", true),
                  "st.shared.u32 [%r16]", "ld.shared.u32 %r18", kTwoWarps);
  // An arrival that tells nothing.
  expect_disorder(
      ring("bar.warp.sync -1;\n@%p4 mbarrier.arrive.relaxed.cta.shared.b64 %d8, [%r15+16];", true),
      "st.shared.u32 [%r16]", "ld.shared.u32 %r18", kTwoWarps);
}

TEST(LaneOrder, VolatileIsNoBarrierForLanesOfAWarp) {
  const auto body = [](std::string_view between) {
    return fmt::format(
        "st.volatile.shared.u32 [%r3], %r1;\n{}\nxor.b32 %r5, %r1, 1;\nshl.b32 %r5, %r5, 2;\n"
        "add.u32 %r5, %r5, %r4;\nld.volatile.shared.u32 %r6, [%r5];\nst.global.u32 [%d3], %r6;",
        between);
  };
  constexpr OrderLaunch kOne{.blocks = 1, .threads = 32};
  EXPECT_EQ(expect_ordered(body("bar.warp.sync -1;"), kOne)[6], 7U);
  expect_disorder(body(""), "st.volatile.shared.u32", "ld.volatile.shared.u32", kOne, Check::Race,
                  "lanes of a warp need not run in step");
}
TEST(LaneOrder, ALaneMaySpinOnWhatAnotherWrites) {
  expect_ordered(
      "@%p2 st.shared.u32 [cells], 0;\nbar.warp.sync -1;\n@%p2 bra SET;\n"
      "SPIN:\nld.volatile.shared.u32 %r5, [cells];\nsetp.eq.u32 %p5, %r5, 0;\n@%p5 bra SPIN;\n"
      "bra DONE;\nSET:\nst.volatile.shared.u32 [cells], 1;\nDONE:",
      {.blocks = 1, .threads = 32});
}

TEST(LaneOrder, StrongAndWeakAccessesRaceWhicheverComesFirst) {
  const auto body = [](std::string_view first, std::string_view second) {
    return fmt::format(
        "setp.eq.u32 %p4, %r1, 32;\n@%p2 st.shared.u32 [cells], 0;\nbar.sync 0;\n"
        "@%p2 {}\n@%p4 {}",
        first, second);
  };
  constexpr std::string_view kStrong[] = {"ld.volatile.shared.u32 %r5, [cells];",
                                          "atom.shared.add.u32 %r5, [cells], 1;",
                                          "st.relaxed.cta.shared.u32 [cells], 4;"};
  for (const std::string_view strong : kStrong) {
    constexpr std::string_view kStore = "st.shared.u32 [cells], 7;";
    expect_disorder(body(strong, kStore), strong, kStore, kTwoWarps);
    expect_disorder(body(kStore, strong), strong, kStore, kTwoWarps);
    expect_ordered(body(strong, "ld.relaxed.cta.shared.u32 %r6, [cells];"), kTwoWarps);
  }
  expect_disorder(body("atom.shared.add.u32 %r5, [cells], 1;", "red.shared.add.u64 [cells], 1;"),
                  "atom.shared", "red.shared", kTwoWarps, Check::Race, "of different sizes");
}

TEST(LaneOrder, WhatPassesABarrierIsNotOrderedByIt) {
  // Warp 0 arrives and goes on, warp 1 waits.
  const auto body = [](std::string_view before, std::string_view behind, std::string_view reader) {
    return fmt::format(
        "setp.lt.u32 %p3, %r1, 32;\n@!%p3 bra WAIT;\n{}\nbar.arrive 1, 64;\n{}\nbra DONE;\n"
        "WAIT:\nbar.sync 1, 64;\n{}\nDONE:",
        before, behind, reader);
  };
  constexpr std::string_view kStore = "st.shared.u32 [%r3], 7;";
  constexpr std::string_view kLoad = "ld.shared.u32 %r6, [%r3+-128];";
  expect_ordered(body(kStore, "", kLoad), kTwoWarps);
  expect_disorder(body("", kStore, kLoad), kStore, kLoad, kTwoWarps);
  // What the other one did before the barrier it does not know, either.
  expect_disorder("setp.lt.u32 %p3, %r1, 32;\n@!%p3 bra WAIT;\nbar.arrive 1, 64;\n" +
                      std::string(kStore) + "\nbra DONE;\nWAIT:\n" + std::string(kLoad) +
                      "\nbar.sync 1, 64;\nDONE:",
                  kStore, kLoad, kTwoWarps);
}

// --- clusters ------------------------------------------------------------------------------------

/// Each block writes its cells, meets the other one and reads the cells there.
std::string exchange(std::string_view arrive, std::string_view end) {
  return fmt::format(
      "st.shared.u32 [%r3], %r1;\n{}\nbarrier.cluster.wait;\nxor.b32 %r5, %r2, 1;\n"
      "mapa.shared::cluster.u32 %r6, %r3, %r5;\nld.shared::cluster.u32 %r7, [%r6];\n"
      "st.shared.u32 [%r3+1024], %r7;\n{}",
      arrive, end);
}
constexpr std::string_view kMeet = "barrier.cluster.arrive;\nbarrier.cluster.wait;";

TEST(ClusterOrder, TheBarrierOrdersWhatWasBeforeTheArrival) {
  expect_ordered(exchange("barrier.cluster.arrive;", kMeet), kCluster);
  expect_ordered(exchange("fence.acq_rel.cluster;\nbarrier.cluster.arrive.relaxed;", kMeet),
                 kCluster);
  constexpr std::string_view kLoad = "ld.shared::cluster.u32 %r7";
  constexpr std::string_view kStore = "st.shared.u32 [%r3], %r1";
  expect_disorder(exchange("barrier.cluster.arrive.relaxed;", kMeet), kStore, kLoad, kCluster);
  expect_disorder(exchange("fence.acq_rel.cta;\nbarrier.cluster.arrive.relaxed;", kMeet), kStore,
                  kLoad, kCluster);
  // The fence of mbarriers is for nothing else.
  expect_disorder(
      exchange("fence.mbarrier_init.release.cluster;\nbarrier.cluster.arrive.relaxed;", kMeet),
      kStore, kLoad, kCluster);
  // Between arrival and wait.
  expect_disorder("barrier.cluster.arrive;\n" + exchange("", kMeet), kStore, kLoad, kCluster);
}

TEST(ClusterOrder, ABlockStaysWhileOthersUseItsMemory) {
  constexpr std::string_view kGone = "which may have ended by then";
  expect_disorder(exchange("barrier.cluster.arrive;", ""), "ld.shared::cluster.u32 %r7", "ret;",
                  kCluster, Check::Race, kGone);
  expect_disorder(exchange("barrier.cluster.arrive;", "barrier.cluster.arrive;"),
                  "ld.shared::cluster.u32 %r7", "ret;", kCluster, Check::Race, kGone);
  // Only one reads, and tells the other by an mbarrier that is waited for.
  const auto body = [](std::string_view stays) {
    return fmt::format(
        "@%p2 mbarrier.init.shared.b64 [bar], 32;\nfence.mbarrier_init.release.cluster;\n"
        "st.shared.u32 [%r3], %r1;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n"
        "@!%p1 bra OTHER;\nmov.u32 %r5, 1;\nmapa.shared::cluster.u32 %r6, %r3, %r5;\n"
        "ld.shared::cluster.u32 %r7, [%r6];\nmov.u32 %r8, bar;\n"
        "mapa.shared::cluster.u32 %r9, %r8, %r5;\n"
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r9];\nbra DONE;\nOTHER:\n{}DONE:",
        stays);
  };
  expect_ordered(body(wait("", 0, "STAY")), kCluster);
  expect_disorder(body(""), "mbarrier.arrive.release.cluster", "ret;", kCluster, Check::Race,
                  kGone);
}

/// Block 0 writes into block 1 and arrives at its mbarrier; block 1 waits there and reads.
std::string tell(std::string_view before, std::string_view arrive, std::string_view wait,
                 std::string_view behind) {
  return fmt::format(
      "@%p2 mbarrier.init.shared.b64 [bar], 32;\nfence.mbarrier_init.release.cluster;\n"
      "barrier.cluster.arrive;\nbarrier.cluster.wait;\n@!%p1 bra OTHER;\nmov.u32 %r5, 1;\n"
      "mapa.shared::cluster.u32 %r6, %r3, %r5;\nst.shared::cluster.u32 [%r6], %r1;\n"
      "mov.u32 %r8, bar;\nmapa.shared::cluster.u32 %r9, %r8, %r5;\n{}\n"
      "mbarrier.arrive{}.shared::cluster.b64 _, [%r9];\nbra DONE;\nOTHER:\n"
      "WAIT:\nmbarrier.try_wait.parity{}.shared.b64 %p7, [bar], 0;\n@!%p7 bra WAIT;\n{}\n"
      "ld.shared.u32 %r7, [%r3];\nst.global.u32 [%d3], %r7;\nDONE:",
      before, arrive, wait, behind);
}
TEST(ClusterOrder, ScopesOfMbarriers) {
  constexpr std::string_view kFence = "fence.acq_rel.cluster;", kNear = "fence.acq_rel.cta;";
  constexpr std::string_view kRelease = ".release.cluster", kAcquire = ".acquire.cluster";
  constexpr std::string_view kRelaxed = ".relaxed.cluster";
  EXPECT_EQ(expect_ordered(tell("", kRelease, kAcquire, ""), kCluster)[7], 7U);
  // Without a word they are taken to reach the other block.
  expect_ordered(tell("", "", "", ""), kCluster);
  expect_ordered(tell("", kRelease, "", ""), kCluster);
  expect_ordered(tell(kFence, kRelaxed, kAcquire, ""), kCluster);
  expect_ordered(tell("", kRelease, kRelaxed, kFence), kCluster);
  expect_ordered(tell(kFence, kRelaxed, kRelaxed, kFence), kCluster);
  const auto expect_race = [](const std::string& body) {
    expect_disorder(body, "st.shared::cluster.u32", "ld.shared.u32 %r7", kCluster);
  };
  expect_race(tell("", ".release.cta", kAcquire, ""));
  expect_race(tell("", kRelease, ".acquire.cta", ""));
  expect_race(tell("", kRelaxed, kAcquire, ""));
  expect_race(tell(kNear, kRelaxed, kAcquire, ""));
  expect_race(tell(kFence, ".relaxed.cta", kAcquire, ""));
  expect_race(tell("", kRelease, kRelaxed, ""));
  expect_race(tell("", kRelease, kRelaxed, kNear));
  expect_race(tell("", kRelease, ".relaxed.cta", kFence));
}
TEST(ClusterOrder, ScopesOfMbarriersInsideABlock) {
  // The narrow ones will do there, in a cluster as well.
  const auto body = [](std::string_view before, std::string_view arrive, std::string_view behind) {
    return fmt::format(
        "@%p2 mbarrier.init.shared.b64 [bar], 32;\nbar.sync 0;\nsetp.lt.u32 %p3, %r1, 32;\n"
        "@!%p3 bra READ;\nst.shared.u32 [%r3], %r1;\n{}\n"
        "mbarrier.arrive{}.shared.b64 %d7, [bar];\nbra DONE;\nREAD:\n"
        "mbarrier.try_wait.parity{}.shared.b64 %p7, [bar], 0;\n@!%p7 bra READ;\n"
        "ld.shared.u32 %r6, [%r3+-128];\nDONE:",
        before, arrive, behind);
  };
  constexpr OrderLaunch kPair{.blocks = 2, .threads = 64, .cluster = 2};
  for (const OrderLaunch& launch : {kTwoWarps, kPair}) {
    expect_ordered(body("", ".release.cta", ".acquire.cta"), launch);
    expect_ordered(body("", ".release.cluster", ".acquire.cta"), launch);
    expect_ordered(body("fence.acq_rel.cta;", ".relaxed.cta", ""), launch);
    expect_disorder(body("", ".relaxed.cta", ""), "st.shared.u32 [%r3]", "ld.shared.u32 %r6",
                    launch);
  }
}

// --- barriers that are used wrongly --------------------------------------------------------------

TEST(BarrierUse, AWarpThatSkipsABarrier) {
  // Warp 1 goes past the barrier; it shows in races, and the barrier is named, too.
  const std::string body =
      "setp.lt.u32 %p3, %r1, 32;\nst.shared.u32 [%r3], %r1;\nGUARD bar.sync 0;\n"
      "xor.b32 %r5, %r1, 32;\nshl.b32 %r5, %r5, 2;\nadd.u32 %r5, %r5, %r4;\n"
      "ld.shared.u32 %r6, [%r5];\nst.global.u32 [%d3], %r6;\nEND";
  const auto with = [&](std::string_view guard, std::string_view end) {
    std::string text = body;
    text.replace(text.find("GUARD"), 5, guard);
    return text.replace(text.find("END"), 3, end);
  };
  expect_ordered(with("", ""), kTwoWarps);
  expect_disorder(with("@%p3", ""), "bar.sync 0", "", kTwoWarps, Check::Barrier,
                  "warp 1 does not come to this barrier, which is for all threads of the block: it "
                  "ends without it");
  expect_disorder(with("@%p3", "bar.sync 0; // the second"), "bar.sync 0;", "the second", kTwoWarps,
                  Check::Barrier, "it is at the one at line");
}
TEST(BarrierUse, WarpsMayEndOrMeetInDifferentPlaces) {
  // Whoever has nothing to do leaves; roles have barriers of their own.
  expect_ordered(
      "setp.ge.u32 %p3, %r1, 32;\n@%p3 exit;\nst.shared.u32 [%r3], %r1;\nbar.sync 0;\n"
      "ld.shared.u32 %r6, [%r3];",
      kTwoWarps);
  expect_ordered(
      "setp.lt.u32 %p3, %r1, 32;\n@!%p3 bra OTHER;\nst.shared.u32 [%r3], %r1;\nbar.sync 0;\n"
      "bra DONE;\nOTHER:\nbar.sync 0;\nld.shared.u32 %r6, [%r3+-128];\nDONE:",
      kTwoWarps);
}
TEST(BarrierUse, ABarrierThatEndedWarpsWereMeantFor) {
  constexpr OrderLaunch kFourWarps{.blocks = 1, .threads = 128};
  // Warps 0 and 2 wait; warp 1 leaves.
  const auto body = [](std::string_view count, std::string_view third) {
    return fmt::format(
        "shr.u32 %r5, %r1, 5;\nsetp.eq.u32 %p3, %r5, 1;\nsetp.eq.u32 %p4, %r5, 3;\n"
        "@%p3 exit;\n@%p4 bra THIRD;\nbar.sync 1{};\nbra DONE;\nTHIRD:\n{}\nDONE:",
        count, third);
  };
  constexpr std::string_view kText =
      "barrier 1 waits for 96 threads and no more than 64 can come: warp 1 has ended without it";
  expect_disorder(body(", 96", ""), "bar.sync 1", "exit", kFourWarps, Check::Barrier, kText);
  // One that never stops keeps it from being a deadlock of all.
  expect_disorder(body(", 128", "SPIN:\nadd.u32 %r6, %r1, 1;\nbra SPIN;"), "bar.sync 1", "exit",
                  kFourWarps, Check::Barrier, "no more than 96 can come: warp 1 has ended");
  // The fourth can still come; whoever arrives and goes on may come again.
  expect_ordered(body(", 96", "bar.arrive 1, 96;"), kFourWarps);
  expect_ordered(body(", 64", ""), kFourWarps);
  // Without a number, ended warps are not waited for: that is how the hardware counts.
  expect_ordered(body("", "bar.sync 1;"), kFourWarps);
}
TEST(BarrierUse, CountsAndNumbersThatCannotBe) {
  constexpr OrderLaunch kSixty{.blocks = 1, .threads = 60};
  expect_disorder("bar.sync 1, 96;", "bar.sync 1", "", kTwoWarps, Check::Barrier,
                  "barrier 1 for 96 threads can never open: the block has 64");
  expect_disorder("mov.u32 %r5, 17;\nbarrier.sync %r5;", "barrier.sync %r5", "", kTwoWarps,
                  Check::Barrier, "there is no barrier 17: a block has barriers 0 to 15");
  expect_ordered("bar.sync 1, 64;", kTwoWarps);
  expect_ordered("bar.sync 1, 64;", kSixty);
}

// --- the heap ------------------------------------------------------------------------------------

TEST(Heap, BlocksAreUsedUntilTheyAreFreed) {
  const auto body = [](std::string_view use, std::string_view end) {
    return fmt::format(
        ".param .b64 size;\n.param .b64 got;\n.param .b64 given;\n@!%p2 bra DONE;\n"
        "st.param.b64 [size], 20;\ncall (got), malloc, (size);\nld.param.b64 %d5, [got];\n"
        "st.u32 [%d5], 3;\n{}\nst.param.b64 [given], %d5;\ncall free, (given);\n{}\nDONE:",
        use, end);
  };
  constexpr std::string_view kHead =
      ".extern .func (.param .b64 r) malloc (.param .b64 n);\n.extern .func free (.param .b64 "
      "p);\n";
  const auto findings = [&](std::string_view use, std::string_view end) {
    TestRun test(kernel_text("mov.u32 %r1, %tid.x;\nsetp.eq.u32 %p2, %r1, 0;\n" + body(use, end), 0,
                             "sm_90a", "8.8", kHead));
    EXPECT_EQ(test.errors(), "");
    test.launch.block = {32};
    test.run();
    return test.findings();
  };
  EXPECT_EQ(findings("ld.u32 %r5, [%d5];\nst.u32 [%d5+16], %r5;", ""), "");
  const auto has = [&](std::string_view use, std::string_view end, std::string_view text) {
    const std::string found = findings(use, end);
    EXPECT_NE(found.find(text), std::string::npos) << text << "\nis not in\n" << found;
    EXPECT_TRUE(found.starts_with("bounds ")) << found;
  };
  has("", "call free, (given);", "frees the block of 20 bytes at 0x");
  has("", "call free, (given);", "a second time");
  has("", "ld.u32 %r5, [%d5];", "in a block of 20 bytes that was freed");
  has("", "st.u32 [%d5+8], 1;", "write of 4 bytes");
  has("st.u32 [%d5+20], 1;", "", "20 bytes behind the start of a block of 20 bytes");
  has("", "add.u64 %d6, %d5, 4;\nst.param.b64 [given], %d6;\ncall free, (given);",
      "4 bytes behind the start of a block of 20");
  has("", "st.param.b64 [given], 4096;\ncall free, (given);", "which is not memory that `malloc`");
  EXPECT_EQ(findings("", "st.param.b64 [given], 0;\ncall free, (given);"), "");
}

}  // namespace
}  // namespace ww::sim::lane_order_test
