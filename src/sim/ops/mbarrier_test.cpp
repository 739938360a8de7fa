// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "sim/ops/test_async.h"

namespace ww::sim::ops_mbarrier_test {
namespace {

// Thread 0 makes mbarrier 0 for `count` arrivals; all know.
std::string made(std::string_view count) {
  return "setp.eq.u32 %p1, %r1, 0; @%p1 mbarrier.init.shared.b64 [bar], " + std::string(count) +
         "; bar.sync 0;\n";
}
constexpr std::string_view kArrive = "mbarrier.arrive.shared.b64 %d5, [bar];\n";
constexpr Grid kTwoWarps{.threads = 64};
constexpr Grid kTwoBlocks{.threads = 32, .blocks = 2, .cluster = 2};

TEST(Mbarrier, APhaseEndsWithTheLastArrival) {
  const auto out = expect_fine(
      made("64") + std::string(kArrive) + "WAIT(0, 0); st.global.u32 [%d2], 1;", kTwoWarps);
  EXPECT_EQ(out[63], 1U);
}

TEST(Mbarrier, ParityTellsTheCurrentPhaseFromTheOneBefore) {
  const std::string test =
      "mbarrier.test_wait.parity.shared.b64 %p2, [bar], 0;"
      "mbarrier.test_wait.parity.shared.b64 %p3, [bar], 1;"
      "selp.u32 %r10, 1, 0, %p2; selp.u32 %r11, 2, 0, %p3; add.u32 %r10, %r10, %r11;"
      "st.global.u32 [%d2], %r10;";
  EXPECT_EQ(expect_fine(made("32") + test)[7], 2U);
  EXPECT_EQ(expect_fine(made("32") + std::string(kArrive) + test)[7], 1U);
  EXPECT_EQ(expect_fine(made("32") + std::string(kArrive) + std::string(kArrive) + test)[7], 2U);
}

TEST(Mbarrier, AStateIsAPhaseAndWhatItLacked) {
  const std::string arrive = made("32") + std::string(kArrive) +
                             "mbarrier.pending_count.b64 %r10, %d5; st.global.u32 [%d2], %r10;";
  const auto out = expect_fine(arrive);
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], 32 - i);
  const std::string wait =
      "loop: mbarrier.try_wait.shared.b64 %p2, [bar], %d5; @!%p2 bra loop;"
      "mbarrier.test_wait.shared.b64 %p3, [bar], %d5;"
      "selp.u32 %r10, 1, 0, %p3; st.global.u32 [%d2], %r10;";
  EXPECT_EQ(expect_fine(made("32") + std::string(kArrive) + wait)[9], 1U);
}

TEST(Mbarrier, AnOldStateIsNotAskedAbout) {
  const std::string two = made("32") + std::string(kArrive) +
                          "mbarrier.arrive.shared.b64 %d6, [bar];"
                          "mbarrier.test_wait.shared.b64 %p2, [bar], %d5;";
  expect_found(Check::Barrier, "is in phase 2, and the state is one of phase 0", two);
}

TEST(Mbarrier, CountsOfSeveral) {
  expect_fine(made("96") + "mbarrier.arrive.shared.b64 %d5, [bar], 3; WAIT(0, 0);");
}

TEST(Mbarrier, BytesHoldAPhaseBack) {
  const std::string expects =
      made("32") +
      "@!%p1 bra others; mbarrier.arrive.expect_tx.shared.b64 %d5, [bar], 64;"
      "bra all; others: mbarrier.arrive.shared.b64 %d5, [bar]; all:"
      "mbarrier.test_wait.parity.shared.b64 %p2, [bar], 0;"
      "selp.u32 %r10, 1, 0, %p2; st.global.u32 [%d2], %r10;";
  EXPECT_EQ(expect_fine(expects)[0], 0U);
  const std::string completes =
      "@%p1 mbarrier.complete_tx.relaxed.cta.shared.b64 [bar], 64; WAIT(0, 0);";
  expect_fine(expects + completes);
  // The bytes may be there before they are expected.
  expect_fine(made("1") +
              "@%p1 mbarrier.complete_tx.shared.b64 [bar], 16;"
              "@%p1 mbarrier.expect_tx.relaxed.cta.shared.b64 [bar], 16;"
              "@%p1 mbarrier.arrive.shared.b64 _, [bar]; WAIT(0, 0);");
}

TEST(Mbarrier, WhoDropsOutIsNotExpectedAgain) {
  expect_fine(made("32") + "mbarrier.arrive_drop.shared.b64 %d5, [bar];");
  const std::string half =
      "setp.lt.u32 %p2, %r1, 16; @!%p2 mbarrier.arrive_drop.shared.b64 %d5, [bar];"
      "@%p2 mbarrier.arrive.shared.b64 %d5, [bar]; WAIT(0, 0);"
      "@%p2 mbarrier.arrive.shared.b64 %d5, [bar]; WAIT(0, 1);";
  expect_fine(made("32") + half);
}

TEST(Mbarrier, AWaitOrdersWhatCameBeforeTheArrivals) {
  const std::string write = made("32") + "setp.lt.u32 %p2, %r1, 32; @%p2 st.shared.u32 [%r4], %r1;";
  const std::string read = "@!%p2 ld.shared.u32 %r11, [%r4+-128]; @!%p2 st.global.u32 [%d2], %r11;";
  const std::string signal = "@%p2 mbarrier.arrive.shared.b64 %d5, [bar];";
  const auto out = expect_fine(write + signal + "WAIT(0, 0);" + read, kTwoWarps);
  EXPECT_EQ(out[40], 8U);
  const std::string relaxed = "@%p2 mbarrier.arrive.relaxed.cta.shared.b64 %d5, [bar];";
  expect_found(Check::Race, "reads 4 bytes", write + relaxed + "WAIT(0, 0);" + read, kTwoWarps);
  expect_found(Check::Race, "nothing to order the two", write + signal + read, kTwoWarps);
}

// An arrival at the neighbour's mbarrier; `between` stands between making it and the barrier.
std::string remote_arrival(const std::string& between, const std::string& sem = "") {
  return made("32") + between + "barrier.cluster.arrive" + sem +
         ".aligned; barrier.cluster.wait.aligned;"
         "mov.u32 %r10, %cluster_ctarank; xor.b32 %r10, %r10, 1;"
         "mapa.shared::cluster.u32 %r11, %r3, %r10;"
         "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r11];"
         "WAIT(0, 0); barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"
         "st.global.u32 [%d2], 5;";
}

TEST(Mbarrier, ArrivalsFromAnotherBlock) {
  const auto out = expect_fine(remote_arrival("fence.mbarrier_init.release.cluster;"), kTwoBlocks);
  EXPECT_EQ(out[0], 5U);
  EXPECT_EQ(out[63], 5U);
}

TEST(Mbarrier, IsAnnouncedToTheClusterByAFence) {
  expect_fine(remote_arrival("fence.mbarrier_init.release.cluster;", ".relaxed"), kTwoBlocks);
  expect_fine(remote_arrival("fence.acq_rel.cluster;"), kTwoBlocks);
  expect_fine(remote_arrival("fence.proxy.async;"), kTwoBlocks);
  constexpr std::string_view kMissing = "made with no `fence.mbarrier_init.release.cluster`";
  expect_found(Check::Fence, kMissing, remote_arrival(""), kTwoBlocks);
  expect_found(Check::Fence, kMissing, remote_arrival("fence.acq_rel.cta;"), kTwoBlocks);
  // Not by the thread that made it.
  expect_found(Check::Fence, kMissing, remote_arrival("@!%p1 fence.mbarrier_init.release.cluster;"),
               kTwoBlocks);
  // The fence is for the mbarrier alone: without it a relaxed barrier orders nothing.
  expect_found(Check::Race, "that another thread has written", remote_arrival("", ".relaxed"),
               kTwoBlocks);
}

TEST(Mbarrier, GenericAddresses) {
  expect_fine(
      "mov.u64 %d7, bar; cvta.shared.u64 %d7, %d7; setp.eq.u32 %p1, %r1, 0;"
      "@%p1 mbarrier.init.b64 [%d7], 32; bar.sync 0; mbarrier.arrive.b64 %d5, [%d7];"
      "WAIT(0, 0);");
  expect_found(Check::Space, "not in shared memory", "mbarrier.init.b64 [%d2], 32;");
}

TEST(Mbarrier, CountsOutOfRange) {
  expect_found(Check::Barrier, "gets a count of 0", made("0"));
  expect_found(Check::Barrier, "gets a count of 1048576", made("1048576"));
  expect_fine(made("1048575"));
}

TEST(Mbarrier, AMisalignedAddress) {
  expect_found(Check::Align, "not a multiple of 8",
               "setp.eq.u32 %p1, %r1, 0; @%p1 mbarrier.init.shared.b64 [bar+4], 1;");
}

TEST(Mbarrier, MemoryThatIsNone) {
  expect_found(Check::Barrier, "there is no mbarrier at", std::string(kArrive));
  const std::string ended = made("32") + "@%p1 mbarrier.inval.shared.b64 [bar]; bar.sync 0;";
  expect_fine(ended);
  expect_found(Check::Barrier, "there is no mbarrier at", ended + std::string(kArrive));
  expect_found(Check::Barrier, "there is no mbarrier at",
               ended + "@%p1 mbarrier.inval.shared.b64 [bar];");
  expect_found(Check::Barrier, "there is no mbarrier at", "WAIT(0, 0);");
}

TEST(Mbarrier, TooManyArrivals) {
  expect_found(Check::Barrier, "gets 2 arrivals, and its phase lacks 1 of 33",
               made("33") + std::string(kArrive) +
                   "@%p1 mbarrier.arrive.shared.b64 %d5, [bar], 2; WAIT(0, 0);");
  expect_found(Check::Barrier, "gets 0 arrivals",
               made("33") + "@%p1 mbarrier.arrive.shared.b64 %d5, [bar], 0;");
}

TEST(Mbarrier, TooManyBytes) {
  expect_found(Check::Barrier, "expects 1048576 bytes in one phase",
               made("1") +
                   "@%p1 mbarrier.expect_tx.shared.b64 [bar], 1048575;"
                   "@%p1 mbarrier.expect_tx.shared.b64 [bar], 1;");
  expect_fine(made("1") + "@%p1 mbarrier.expect_tx.shared.b64 [bar], 1048575;");
}

TEST(Mbarrier, NoCompleteMustNotComplete) {
  expect_found(Check::Barrier, "gets its last arrival from one with `.noComplete`",
               made("32") + "mbarrier.arrive.noComplete.shared.b64 %d5, [bar], 1;");
  expect_fine(made("33") + "mbarrier.arrive.noComplete.shared.b64 %d5, [bar], 1;");
}

TEST(Mbarrier, MadeTwice) {
  expect_found(Check::Barrier, "is made again without `mbarrier.inval`", made("1") + made("1"));
  expect_fine(made("1") + "@%p1 mbarrier.inval.shared.b64 [bar];" + made("1"));
}

TEST(Mbarrier, NoPlaceForData) {
  expect_found(Check::Barrier, "reads 4 bytes of shared memory",
               made("1") + "@%p1 ld.shared.u32 %r10, [bar];");
  expect_found(Check::Barrier, "that is an mbarrier", made("1") + "@%p1 st.shared.u32 [bar+4], 1;");
  expect_fine(made("1") + "@%p1 st.shared.u32 [bar+8], 1;");
  expect_fine(made("1") + "@%p1 mbarrier.inval.shared.b64 [bar]; @%p1 st.shared.u32 [bar], 1;");
}

TEST(Mbarrier, OthersMustKnowThatItIsThere) {
  const std::string init = "setp.eq.u32 %p1, %r1, 0; @%p1 mbarrier.init.shared.b64 [bar], 64;";
  expect_found(Check::Race, "that another thread has written", init + std::string(kArrive),
               kTwoWarps);
  expect_fine(init + "bar.sync 0;" + std::string(kArrive), kTwoWarps);
}

TEST(Mbarrier, AParityThatIsNone) {
  expect_found(Check::Barrier, "with parity 2",
               made("1") +
                   "mov.u32 %r10, 2;"
                   "mbarrier.test_wait.parity.shared.b64 %p2, [bar], %r10;");
}

TEST(Mbarrier, NobodyArrives) {
  const Done sleeps =
      expect_found(Check::Barrier, "no thread can go on", made("2") + "WAIT(0, 0);");
  EXPECT_EQ(sleeps.outcome, Outcome::Deadlocked);
  const Done polls = expect_found(
      Check::Barrier, "no thread can go on",
      made("2") + "loop: mbarrier.test_wait.parity.shared.b64 %p2, [bar], 0; @!%p2 bra loop;");
  EXPECT_EQ(polls.outcome, Outcome::Deadlocked);
}

TEST(Mbarrier, ATestDoesNotHoldUpWhoArrivesLater) {
  // Warp 1 polls while warp 0 counts to some thousands before it arrives.
  expect_fine(made("32") +
                  "setp.lt.u32 %p2, %r1, 32; @!%p2 bra poll; mov.u32 %r10, 0;"
                  "count: add.u32 %r10, %r10, 1; setp.lt.u32 %p3, %r10, 20000; @%p3 bra count;"
                  "mbarrier.arrive.shared.b64 %d5, [bar]; bra all;"
                  "poll: mbarrier.test_wait.parity.shared.b64 %p3, [bar], 0; @!%p3 bra poll; all:",
              kTwoWarps);
}

// Who tests in vain is put to sleep where nothing happens, but not while it works between its tests.
TEST(Mbarrier, WhoWorksBetweenTestsIsNotAsleep) {
  const std::string tries =
      made("1") +
      "mov.u32 %r10, 0; loop: mbarrier.test_wait.parity.shared.b64 %p2, [bar], 0;"
      "st.shared.u32 [%r4], %r10; add.u32 %r10, %r10, 1; setp.lt.u32 %p3, %r10, 1500; @%p3 bra "
      "loop;"
      "@%p1 mbarrier.arrive.shared.b64 %d5, [bar]; WAIT(0, 0); st.global.u32 [%d2], %r10;";
  EXPECT_EQ(expect_fine(tries)[31], 1500U);
}

TEST(Mbarrier, LanesMayWaitForDifferentOnes) {
  const std::string two =
      "setp.eq.u32 %p1, %r1, 0; @%p1 mbarrier.init.shared.b64 [bar], 16;"
      "@%p1 mbarrier.init.shared.b64 [bar+8], 16; bar.warp.sync -1;"
      "and.b32 %r10, %r1, 1; shl.b32 %r10, %r10, 3; add.u32 %r10, %r10, %r3;"
      "mbarrier.arrive.shared.b64 %d5, [%r10];"
      "loop: mbarrier.try_wait.parity.shared.b64 %p2, [%r10], 0, 100; @!%p2 bra loop;";
  expect_fine(two);
}

TEST(Mbarrier, AnyScheduleIsFine) {
  TestRun test(async_text(made("64") + std::string(kArrive) + with_waits("WAIT(0, 0);") +
                              std::string(kArrive) +
                              "loop: mbarrier.try_wait.parity.shared.b64 "
                              "%p2, [bar], 1; @!%p2 bra loop; st.global.u32 [%d2], 3;",
                          {}));
  ASSERT_EQ(test.errors(), "");
  test.launch.block = {64};
  test.options.schedule.turns = Turns::Random;
  test.input(std::vector<std::uint32_t>(64)).output<std::uint32_t>(64);
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    test.options.schedule.seed = seed;
    EXPECT_EQ(test.run().outcome, Outcome::Finished);
    EXPECT_EQ(test.findings(), "");
  }
}

}  // namespace
}  // namespace ww::sim::ops_mbarrier_test
