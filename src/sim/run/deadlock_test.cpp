// SPDX-License-Identifier: Apache-2.0
// What hanging kernels are told, and clean twins of them.
#include <gtest/gtest.h>

#include <string>

#include "sim/ops/test_async.h"

namespace ww::sim::run_deadlock_test {
namespace {

// Mbarriers 0 and 1 with these counts; %p1 is set in thread 0, %p2 in warp 0, %p4 in thread 32.
std::string made(unsigned first, unsigned second) {
  return fmt::format(
      "setp.eq.u32 %p1, %r1, 0; setp.lt.u32 %p2, %r1, 32; setp.eq.u32 %p4, %r1, 32;"
      "@%p1 mbarrier.init.shared.b64 [bar], {}; @%p1 mbarrier.init.shared.b64 [bar+8], {};"
      "bar.sync 0;\n",
      first, second);
}
constexpr Grid kTwoWarps{.threads = 64};
const std::string kArrive0 = "@%p1 mbarrier.arrive.shared.b64 _, [bar];\n";
const std::string kBulk =
    "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [cells], [%a0], 128, "
    "[bar];\n";

std::string expecting(unsigned bytes) {
  return fmt::format("@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], {};\n", bytes);
}

TEST(Deadlock, NamesTheArrivalsThatAreMissing) {
  const std::string wait = "WAIT(0, 0);";
  expect_found(Check::Barrier,
               "for phase 0 of the mbarrier at 0x1000, which lacks 1 of 2 arrivals (before, "
               "block (0,0,0), warp 0 arrived at it at line",
               made(2, 1) + kArrive0 + wait);
  expect_found(Check::Barrier, "which lacks 2 of 2 arrivals (nothing has arrived at it",
               made(2, 1) + wait);
  expect_fine(made(1, 1) + kArrive0 + wait);
}

TEST(Deadlock, NamesTheBytesThatAreMissing) {
  expect_found(Check::Barrier, "which lacks 128 of 256 bytes",
               made(1, 1) + expecting(256) + kBulk + "WAIT(0, 0);");
  expect_found(Check::Barrier, "sent to it at line",
               made(1, 1) + expecting(256) + kBulk + "WAIT(0, 0);");
  expect_fine(made(1, 1) + expecting(128) + kBulk + "WAIT(0, 0);");
}

TEST(Deadlock, WhereTheSuppliersAre) {
  // Warp 1 arrives once and ends; warp 0 waits for a second time.
  expect_found(Check::Barrier, "warp 1 arrived at it at line",
               made(1, 1) +
                   "@%p4 mbarrier.arrive.shared.b64 _, [bar]; @!%p2 bra end; WAIT(0, 0);"
                   "WAIT(0, 1); end:",
               kTwoWarps);
  const Done done =
      run_async(made(1, 1) +
                    "@%p4 mbarrier.arrive.shared.b64 _, [bar]; @!%p2 bra end; WAIT(0, 0);"
                    "WAIT(0, 1); end:",
                kTwoWarps);
  EXPECT_NE(done.findings.find("has ended at line"), std::string::npos) << done.findings;
}

// A producer and a consumer, of which the producer does not fill in the second round.
std::string rounds(std::string_view second) {
  return made(1, 1) + "@!%p2 bra consumer;\n" + kArrive0 + "WAIT(1, 0);\n" + std::string(second) +
         "bra end;\nconsumer: WAIT(0, 0); @%p4 mbarrier.arrive.shared.b64 _, [bar+8];\n"
         "WAIT(0, 1); @%p4 mbarrier.arrive.shared.b64 _, [bar+8];\nend:";
}

TEST(Deadlock, ShowsCycles) {
  expect_found(Check::Barrier,
               "they wait for each other: block (0,0,0), warp 0 waits for the mbarrier at 0x1008",
               rounds("WAIT(1, 1);\n"), kTwoWarps);
  expect_fine(rounds(kArrive0 + "WAIT(1, 1);\n"), kTwoWarps);
}

TEST(Deadlock, PhasesThatRunAhead) {
  const auto ahead = [](std::string_view arrivals) {
    return made(1, 1) + "@!%p2 bra second;\n" + kArrive0 + "WAIT(1, 0);\n" + std::string(arrivals) +
           "bra end;\nsecond: WAIT(0, 0); @%p4 mbarrier.arrive.shared.b64 _, [bar+8];\n"
           "mov.u32 %r20, 0; count: add.u32 %r20, %r20, 1; setp.lt.u32 %p3, %r20, 3000;"
           "@%p3 bra count; WAIT(0, 1); end:";
  };
  expect_found(Check::Barrier, "phases 1 to 2 ended since this warp last saw one end",
               ahead(kArrive0 + kArrive0), kTwoWarps);
  expect_fine(ahead(kArrive0), kTwoWarps);
}

TEST(Deadlock, AnMbarrierIsInvalidatedInUse) {
  const std::string end = "bar.sync 0; @%p1 mbarrier.inval.shared.b64 [bar];";
  expect_found(Check::Barrier, "is invalidated while asynchronous work is on its way to it",
               made(1, 1) + expecting(128) + kBulk + end);
  expect_found(Check::Barrier, "is invalidated while bytes that it expects have not come",
               made(1, 1) + expecting(128) + end);
  expect_fine(made(1, 1) + expecting(128) + kBulk + "WAIT(0, 0);" + end);
}

TEST(Deadlock, AWaitWithTheWrongParityIsNamed) {
  const std::string read = "ld.shared.u32 %r10, [%r4];";
  const std::string fill = "st.shared.u32 [%r4], 7; fence.proxy.async; bar.sync 0;";
  expect_found(Check::Async, "passed, because an earlier phase of that parity was over",
               made(1, 1) + fill + expecting(128) + kBulk + "WAIT(0, 1);" + read + "WAIT(0, 0);");
  expect_fine(made(1, 1) + fill + expecting(128) + kBulk + "WAIT(0, 0);" + read);
}

// --- spins ---------------------------------------------------------------------------------------

// The first word of the input holds 0: a lock that is free, or a flag that nobody has set.
const std::string kTakeLock =
    "again: atom.global.acquire.gpu.cas.b32 %r10, [%a0], 0, 1; setp.ne.u32 %p5, %r10, 0;"
    "@%p5 bra again;\n";
const std::string kWaitForFlag =
    "again: ld.volatile.global.u32 %r10, [%a0]; setp.eq.u32 %p5, %r10, 0; @%p5 bra again;\n";

TEST(Hang, NamesTheLockAndWhoTookIt) {
  constexpr Grid kThreeBlocks{.threads = 1, .blocks = 3, .instructions = 500'000};
  const std::string spin =
      "no thread can go on: block (1,0,0), warp 0, lanes 0 (and 1 more warp) keeps reading 1 "
      "at line ";
  expect_found(Check::Barrier, spin, kTakeLock, kThreeBlocks);
  expect_found(Check::Barrier, "last written by block (0,0,0), warp 0 at line 13, which has ended",
               kTakeLock, kThreeBlocks);
  expect_found(Check::Barrier, "; no thread is left to write it", kTakeLock, kThreeBlocks);
  expect_fine(kTakeLock + "atom.global.release.gpu.exch.b32 %r11, [%a0], 0;", kThreeBlocks);
}

TEST(Hang, OthersWaitForTheOneThatSpins) {
  constexpr Grid kFewOps{.threads = 64, .instructions = 10'000};
  const std::string body = "@!%p2 bra meet;\n" + kWaitForFlag + "meet: bar.sync 0;";
  const std::string made = "setp.lt.u32 %p2, %r1, 32;\n";
  expect_found(Check::Barrier, "which nothing has written", made + body, kFewOps);
  expect_found(Check::Barrier, "warp 1, lanes 0-31 waits at barrier 0", made + body, kFewOps);
  expect_fine(made + "@%p2 st.volatile.global.u32 [%a0], 1;" + body, kFewOps);
}

TEST(Hang, AFlagInSharedMemory) {
  expect_found(Check::Barrier, "keeps reading 0 at line 14, from shared memory at 0x0",
               "st.volatile.shared.u32 [cells], 0;\n"
               "again: ld.volatile.shared.u32 %r10, [cells]; setp.eq.u32 %p5, %r10, 0;"
               "@%p5 bra again;",
               {.threads = 1, .instructions = 10'000});
}

TEST(Hang, NamesTheLineOfTheSource) {
  TestRun test(kTakeLock.substr(0, 6) + "\n.loc 1 7 3\n" + kTakeLock.substr(6), 1, "sm_90a", "8.8",
               ".file 1 \"folder/rows.py\"");
  test.input(std::vector<std::uint32_t>{1});
  test.options.limits.instructions = 10'000;
  EXPECT_NE(test.run().reason.find("(rows.py:7), from element 0 of parameter 0"), std::string::npos)
      << test.run().reason;
}

// Who counts, or waits for one who counts, does not hang.
TEST(Hang, WorkIsNoHang) {
  const std::string count =
      "mov.u32 %r20, 0;\ncount: add.u32 %r20, %r20, 1; setp.lt.u32 %p3, %r20, 100000000;"
      "@%p3 bra count;\n";
  const Done alone = run_async(count, {.instructions = 10'000});
  EXPECT_EQ(alone.findings, "");
  EXPECT_EQ(alone.outcome, Outcome::InstructionLimit);
  EXPECT_NE(alone.reason.find("; block (0,0,0), warp 0, lanes 0-31 is at line "), std::string::npos)
      << alone.reason;
  const Done both =
      run_async("setp.eq.u32 %p6, %r5, 0; @%p6 bra again;\n" + count +
                    "st.volatile.global.u32 [%a0], 1; bra end;\n" + kWaitForFlag + "end:",
                {.threads = 1, .blocks = 2, .instructions = 500'000});
  EXPECT_EQ(both.findings, "");
  EXPECT_NE(both.reason.find("block (0,0,0), warp 0, lanes 0 keeps reading 0"), std::string::npos)
      << both.reason;
  EXPECT_NE(both.reason.find("block (1,0,0), warp 0, lanes 0 is at line "), std::string::npos)
      << both.reason;
}

// What threads do while they are watched does not show.
TEST(Hang, MemoryStaysAsItWasAtTheLimit) {
  const Done done = run_async(
      "mov.u32 %r20, 0;\ncount: add.u32 %r20, %r20, 1; st.global.u32 [%d2], %r20; bra count;",
      {.threads = 1, .instructions = 30'000});
  EXPECT_EQ(done.outcome, Outcome::InstructionLimit);
  EXPECT_NEAR(done.out[0], 10'000, 10);
}

}  // namespace
}  // namespace ww::sim::run_deadlock_test
