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
  expect_found(Check::Barrier, "they wait for each other: block (0,0,0), warp 0 waits for 0x1008",
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

}  // namespace
}  // namespace ww::sim::run_deadlock_test
