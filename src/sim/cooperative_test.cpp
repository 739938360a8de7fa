// SPDX-License-Identifier: Apache-2.0
// Cooperative launches: the barrier over all blocks as nvcc 13.0 compiles `this_grid().sync()`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/test_run.h"

namespace ww::sim::cooperative_test {
namespace {

// One thread of each block adds to the barrier's word and waits until its top bit has turned.
constexpr std::string_view kSync = R"(
    { .reg .b32 hi, lo, mine, old, now, all, first; .reg .b64 at; .reg .pred p, q;
      mov.u32 lo, %envreg2; mov.u32 hi, %envreg1; mov.b64 at, {lo, hi};
      setp.ne.s64 p, at, 0; @p bra VALID; trap;
      VALID: barrier.sync 0;
      mov.u32 mine, %tid.x; setp.ne.u32 p, mine, 0; @p bra DONE;
      add.s64 at, at, 4;
      mov.u32 all, %nctaid.x; sub.s32 all, -2147483647, all;
      mov.u32 first, %ctaid.x; setp.eq.u32 q, first, 0; selp.b32 mine, all, 1, q;
      atom.add.release.gpu.u32 old, [at], mine;
      AGAIN: ld.acquire.gpu.u32 now, [at];
      xor.b32 now, now, old; setp.gt.s32 q, now, -1; @q bra AGAIN;
      DONE: barrier.sync 0;
    })";

// Each thread writes its number, and after the barrier reads that of a thread in another block.
std::string turned(std::string_view sync) {
  return "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n"
         "mad.lo.u32 %r4, %r1, %r2, %r3; mul.wide.u32 %d1, %r4, 4;\n"
         "add.u64 %d2, %a0, %d1; st.global.u32 [%d2], %r4;\n" +
         std::string(sync) +
         "mov.u32 %r5, %nctaid.x; mul.lo.u32 %r5, %r5, %r2; sub.u32 %r5, %r5, %r4;\n"
         "sub.u32 %r5, %r5, 1; mul.wide.u32 %d3, %r5, 4; add.u64 %d4, %a0, %d3;\n"
         "ld.global.u32 %r6, [%d4]; add.u64 %d5, %a1, %d1; st.global.u32 [%d5], %r6;\n" +
         std::string(sync);
}

TestRun run_turned(std::string_view sync, unsigned blocks) {
  TestRun test(turned(sync), 2);
  test.output<std::uint32_t>(blocks * 64).output<std::uint32_t>(blocks * 64);
  test.launch.grid = {blocks};
  test.launch.block = {64};
  test.run();
  return test;
}

TEST(Cooperative, AllBlocksMeetAtTheGridBarrier) {
  const TestRun test = run_turned(kSync, 12);
  EXPECT_EQ(test.report().outcome, Outcome::Finished) << test.report().reason;
  EXPECT_EQ(test.findings(), "");
  const auto values = test.read<std::uint32_t>(1);
  for (std::uint32_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], values.size() - 1 - i);
}

TEST(Cooperative, WithoutTheBarrierBlocksRace) {
  const TestRun test = run_turned("", 12);
  EXPECT_GT(test.count(Check::Race) + test.count(Check::Uninit), 0U);
}

// No GPU has room for so many at once, and CUDA refuses the launch.
TEST(Cooperative, AllBlocksMustBeResident) {
  EXPECT_THAT(
      run_turned(kSync, 4225).refusal(),
      testing::HasSubstr("4225 blocks of 2 warps, and the kernel has a grid barrier: 4224"));
}

}  // namespace
}  // namespace ww::sim::cooperative_test
