// SPDX-License-Identifier: Apache-2.0
// Rings whose barrier nothing arrives at, found before anything runs; and rings next to them that are fine,
// or of which it is not certain.
#include <gmock/gmock.h>

#include "harness/check.h"

namespace ww::test::ring_arrivals_test {
namespace {

constexpr std::string_view kRing = R"(from tvm.script import tirx as T


def build(n=8, arrives=False, phase=0, flips_first=False, skips=False, nested=False):
    @T.prim_func
    def ring(A_ptr: T.handle, m: T.int32):
        A = T.match_buffer(A_ptr, (128,), "float32")
        T.device_entry()
        warp = T.warp_id([2])
        T.lane_id([32])
        pool = T.SMEMPool()
        full = T.MBarrier(pool, 2)
        full.init(32)
        pool.commit()
        T.cuda.cta_sync()
        if warp == 0:
            mine = T.PipelineState(2, phase)
            for i in range(n):
                if arrives:
                    full.arrive(mine.stage)
                mine.advance()
        else:
            at = T.PipelineState(2, phase)
            if flips_first:
                at.advance()
            for i in range(n):
                if nested:
                    for k in range(m):
                        full.wait(at.stage, at.phase)
                    at.advance()
                else:
                    if skips:
                        if A[i] > 0.0:
                            full.wait(at.stage, at.phase)
                    else:
                        full.wait(at.stage, at.phase)
                    at.advance()

    return ring
)";

std::string errors_of(const std::string& kernel) {
  return compile_only({.source = std::string(kRing), .kernel = kernel}).why;
}

TEST(RingArrivals, ARingThatNothingArrivesAt) {
  const std::string never =
      "the wait of warp 1 of 2 never ends: the mbarrier at `T.address_of(full_buf[at_stage])` is "
      "made for 32 arrivals, and nothing arrives there [BadArgument]";
  EXPECT_THAT(errors_of("build()"), ::testing::HasSubstr(never));
}

TEST(RingArrivals, IsNotReportedWhereItIsNotCertain) {
  EXPECT_EQ(errors_of("build(arrives=True)"), "");
  // Waiting for the phase before the first passes, until the ring goes round.
  EXPECT_EQ(errors_of("build(phase=1)"), "");
  // The first wait may be for another phase: behind a round, under a condition, in an inner loop.
  EXPECT_EQ(errors_of("build(flips_first=True)"), "");
  EXPECT_EQ(errors_of("build(skips=True)"), "");
  EXPECT_EQ(errors_of("build(nested=True)"), "");
  // Nothing is waited for.
  EXPECT_EQ(errors_of("build(n=0)"), "");
}

}  // namespace
}  // namespace ww::test::ring_arrivals_test
