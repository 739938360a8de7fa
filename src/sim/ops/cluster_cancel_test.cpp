// SPDX-License-Identifier: Apache-2.0
// Clusters that take over the work of others (clusterlaunchcontrol).
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/ops/test_async.h"

namespace ww::sim::cluster_cancel_test {
namespace {

// Thread 0 does the work of %r10: word %r10 of the output becomes 100 * %ctaid.x + %r10 + 1. Then it
// asks for more, as long as there is some. A body for `more` runs when there is none.
std::string worker(const std::string& more) {
  return "setp.ne.u32 %p1, %r1, 0; @%p1 bra out; mbarrier.init.shared.b64 [bar], 1;"
         "mov.u32 %r10, %ctaid.x; mov.u32 %r11, 0; mov.u32 %r14, %ctaid.x;\n"
         "again: mul.wide.u32 %d8, %r10, 4; add.u64 %d8, %d8, %a1;"
         "mad.lo.u32 %r15, %r14, 100, %r10; add.u32 %r15, %r15, 1; st.global.u32 [%d8], %r15;\n"
         "mbarrier.arrive.expect_tx.shared.b64 %d9, [bar], 16;\n"
         "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 "
         "[cells], "
         "[bar];\n"
         "sleep: mbarrier.try_wait.parity.shared.b64 %p2, [bar], %r11; @!%p2 bra sleep;\n"
         "ld.shared.b128 %q1, [cells]; xor.b32 %r11, %r11, 1; fence.proxy.async;\n"
         "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p3, %q1; @!%p3 bra none;\n"
         "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r10, %r12, %r13, _}, "
         "%q1;\n"
         "clusterlaunchcontrol.query_cancel.get_first_ctaid::y.b32.b128 %r16, %q1;\n"
         "add.u32 %r10, %r10, %r12; add.u32 %r10, %r10, %r16; bra again;\n"
         "none: " +
         more + "\nout:";
}

TEST(ClusterCancel, WorkIsDoneOnce) {
  for (const unsigned blocks : {1U, 5U, 40U}) {
    const auto out =
        expect_fine(worker(""), {.threads = 32, .blocks = blocks, .target = "sm_100a"});
    unsigned by_first = 0;
    for (unsigned i = 0; i < blocks; ++i) {
      ASSERT_EQ((out[i] - 1) % 100, i) << blocks;
      by_first += (out[i] - 1) / 100 == 0 ? 1U : 0U;
    }
    // The first block goes on while there is work.
    EXPECT_EQ(by_first, blocks);
  }
}

TEST(ClusterCancel, AnswersAllBlocksOfACluster) {
  const std::string sync = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;";
  const auto out = expect_fine(
      "setp.eq.u32 %p1, %r1, 0; @%p1 mbarrier.init.shared.b64 [bar], 1;"
      "@%p1 fence.mbarrier_init.release.cluster; mov.u32 %r10, %ctaid.x;" +
          sync + "@%p1 mbarrier.arrive.expect_tx.shared.b64 %d9, [bar], 16;" + sync +
          "setp.eq.and.u32 %p2, %r10, 0, %p1;"
          "@%p2 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes."
          "multicast::cluster::all.b128 [cells], [bar];"
          "setp.ge.u32 %p4, %r10, 2; @%p4 bra out; WAIT(0, 0); ld.shared.b128 %q1, [cells];"
          "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r11, %q1;"
          "st.global.u32 [%d2], %r11; out: " +
          sync,
      {.threads = 32, .blocks = 4, .cluster = 2, .target = "sm_100a"});
  EXPECT_EQ(out[0], 2U);
  EXPECT_EQ(out[32], 2U);
}

TEST(ClusterCancel, WhatIsFoundWrong) {
  const Grid grid{.threads = 32, .blocks = 2, .target = "sm_100a"};
  expect_found(Check::Async,
               "asks for another cluster, and this CTA has seen that there are none left",
               worker("mbarrier.arrive.expect_tx.shared.b64 %d9, [bar], 16;"
                      "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::"
                      "bytes.b128 [cells], [bar]; WAIT(0, %r11);"),
               grid);
  expect_found(Check::Uninit, "used",
               worker("clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r10, %q1;"
                      "st.global.u32 [%d2], %r10; setp.eq.u32 %p5, %r10, 7; @%p5 bra out;"),
               grid);
  expect_found(
      Check::Async, "still on its way",
      "setp.ne.u32 %p1, %r1, 0; @%p1 bra out; mbarrier.init.shared.b64 [bar], 1;"
      "mbarrier.arrive.expect_tx.shared.b64 %d9, [bar], 16;"
      "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 "
      "[cells], [bar]; ld.shared.b128 %q1, [cells]; WAIT(0, 0); out:",
      grid);
}

}  // namespace
}  // namespace ww::sim::cluster_cancel_test
