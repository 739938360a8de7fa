// SPDX-License-Identifier: Apache-2.0
// Copies between CTAs of a cluster that only luck makes right: into a CTA whose mbarrier need not be there
// yet, and out of one that may have ended. Each is found under every schedule, and its twin is fine.
#include <gtest/gtest.h>

#include <string>

#include "sim/ops/test_async.h"

namespace ww::sim::cluster_copies_test {
namespace {

const std::string kMade =
    "setp.eq.u32 %p1, %r1, 0; @%p1 mbarrier.init.shared.b64 [bar], 1;"
    "@%p1 mbarrier.init.shared.b64 [bar+8], 32; fence.mbarrier_init.release.cluster; bar.sync 0;\n"
    "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;\n"
    "add.u32 %r10, %r1, 100; st.shared.u32 [%r4+1024], %r10; fence.proxy.async; bar.warp.sync -1;\n"
    "mov.u32 %r12, %cluster_ctarank; xor.b32 %r11, %r12, 1;"
    "mapa.shared::cluster.u32 %r13, %r2, %r11; mapa.shared::cluster.u32 %r14, %r3, %r11;\n";
const std::string kClusterSync = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n";
const std::string kMulticast =
    "setp.eq.u32 %p2, %r12, 0; and.pred %p2, %p2, %p1; mov.u16 %h1, 3;"
    "@%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
    "[cells], [%a0+128], 128, [bar], %h1;\n";
const std::string kSend =
    "@%p1 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r13], "
    "[cells+1024], 128, [%r14];\n";
const std::string kRead = "WAIT(0, 0); ld.shared.u32 %r10, [%r4]; st.global.u32 [%d2], %r10;\n";

std::vector<Grid> every_schedule() {
  std::vector<Grid> out;
  const auto add = [&](const Schedule& schedule) {
    out.push_back({.threads = 32, .blocks = 2, .cluster = 2, .schedule = schedule});
  };
  add({});
  add({.turns = Turns::Backward});
  add({.turns = Turns::Stepwise});
  for (std::uint64_t seed = 1; seed <= 6; ++seed) add(Schedule::random(seed));
  return out;
}

// The mbarrier of the other CTA is not there, or it is there by luck.
void expect_luck(const std::string& body) {
  for (const Grid& grid : every_schedule()) {
    const std::string findings = run_async(body, grid).findings;
    const bool is_found = findings.find("there is no mbarrier") != std::string::npos ||
                          findings.find(
                              "of CTA 1 of the cluster signalled, and nothing orders "
                              "that behind its `mbarrier.init`") != std::string::npos ||
                          findings.find(
                              "of CTA 0 of the cluster signalled, and nothing orders "
                              "that behind its `mbarrier.init`") != std::string::npos;
    EXPECT_TRUE(is_found) << findings;
  }
}

TEST(ClusterCopies, TheMbarrierOfTheOtherCtaMayNotBeThereYet) {
  for (const std::string& copy : {kMulticast, kSend}) {
    for (const Grid& grid : every_schedule())
      expect_fine(kMade + kClusterSync + copy + kRead + kClusterSync, grid);
    expect_luck(kMade + copy + kRead + kClusterSync);
    // A barrier of the CTA does not reach the other one.
    expect_luck(kMade + "bar.sync 0;" + copy + kRead + kClusterSync);
  }
}

// Thread 1 starts the copy; thread 0 has made the mbarrier.
TEST(ClusterCopies, TheMbarrierOfTheOwnCtaMayNotBeThereYet) {
  const auto body = [](const std::string& between) {
    return "setp.eq.u32 %p1, %r1, 0; setp.eq.u32 %p3, %r1, 32; @%p1 mbarrier.init.shared.b64 "
           "[bar], 1;"
           "@%p1 fence.mbarrier_init.release.cluster; @%p1 mbarrier.arrive.expect_tx.shared.b64 _, "
           "[bar], 128;" +
           between +
           "@%p3 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [cells], [%a0], "
           "128, "
           "[bar]; bar.sync 0; WAIT(0, 0); ld.shared.u32 %r10, [%r4]; setp.lt.u32 %p4, %r1, 32;"
           "@%p4 st.global.u32 [%d2], %r10;\n";
  };
  const Grid two{.threads = 64};
  expect_fine(body("bar.sync 0;"), two);
  expect_found(Check::Race,
               "signalled, and nothing orders that behind its `mbarrier.init`: a barrier is",
               body(""), two);
}

TEST(ClusterCopies, TheSourceMustOutliveTheRead) {
  const std::string sent = kMade + kClusterSync + kSend + kRead;
  // The CTA that got the tile says so to the CTA that sent it, and that one waits.
  const std::string told =
      "add.u32 %r15, %r14, 8; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r15];"
      "WAIT(1, 0);\n";
  for (const Grid& grid : every_schedule()) {
    expect_fine(sent + kClusterSync, grid);
    expect_fine(sent + told, grid);
    expect_found(Check::Race, "and the CTA that has it may have ended by then", sent, grid);
  }
  // What goes to the CTA itself it waits for itself.
  const std::string own =
      "@%p1 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r16], "
      "[cells+1024], 128, [%r17];\n";
  expect_fine(
      kMade +
          "mapa.shared::cluster.u32 %r16, %r2, %r12; mapa.shared::cluster.u32 %r17, %r3, %r12;" +
          own + kRead,
      {.threads = 32, .blocks = 2, .cluster = 2});
}

}  // namespace
}  // namespace ww::sim::cluster_copies_test
