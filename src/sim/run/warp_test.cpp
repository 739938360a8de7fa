// SPDX-License-Identifier: Apache-2.0
// Divergence and reconvergence, calls, the end of lanes, turns between splits and warps.
#include "sim/run/warp.h"

#include <gtest/gtest.h>

#include <numeric>

#include "sim/test_run.h"

namespace ww::sim::warp_test {
namespace {

using Words = std::vector<std::uint32_t>;

// Every thread stores %r0 at out[tid].
constexpr std::string_view kStoreR0 =
    "mov.u32 %r200, %tid.x; mul.wide.u32 %d100, %r200, 4; add.u64 %d100, %d100, %a0;"
    "st.global.u32 [%d100], %r0;";

Words run(std::string body, unsigned threads = 32) {
  TestRun test(body + std::string(kStoreR0), 1);
  test.launch.block = {threads};
  test.output<std::uint32_t>(threads);
  EXPECT_EQ(test.run().outcome, Outcome::Finished) << test.report().reason;
  EXPECT_EQ(test.findings(), "");
  return test.errors().empty() ? test.read<std::uint32_t>(0) : Words{};
}

TEST(Warp, EachSideOfABranchRunsItsLanes) {
  const Words out = run(R"(
    mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 10;
    @%p1 bra LOW;
    mov.u32 %r0, 200; bra DONE;
    LOW: mov.u32 %r0, 100;
    DONE: )");
  for (unsigned l = 0; l < 32; ++l) EXPECT_EQ(out[l], l < 10 ? 100U : 200U) << l;
}

TEST(Warp, LanesMeetAgainBehindABranch) {
  const Words out = run(R"(
    mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0;
    @%p1 bra EVEN;
    add.u32 %r3, %r1, 1; bra DONE;
    EVEN: add.u32 %r3, %r1, 2;
    DONE: activemask.b32 %r0;)");
  for (const std::uint32_t mask : out) EXPECT_EQ(mask, kAllLanes);
}

TEST(Warp, LanesLeaveALoopOneByOne) {
  // Sum of 0 .. tid
  const Words out = run(R"(
    mov.u32 %r1, %tid.x; mov.u32 %r2, 0; mov.u32 %r0, 0;
    LOOP: add.u32 %r0, %r0, %r2; add.u32 %r2, %r2, 1; setp.le.u32 %p1, %r2, %r1;
    @%p1 bra LOOP;)");
  for (unsigned l = 0; l < 32; ++l) EXPECT_EQ(out[l], l * (l + 1) / 2);
}

TEST(Warp, AllAreTogetherBehindANestOfLoopsAndBranches) {
  const Words out = run(R"(
    mov.u32 %r1, %tid.x; mov.u32 %r2, 0;
    OUTER: and.b32 %r3, %r1, 3; mov.u32 %r4, 0;
    INNER: add.u32 %r4, %r4, 1; setp.gt.u32 %p1, %r4, 2; @%p1 bra SKIP;
    add.u32 %r5, %r4, %r3;
    SKIP: setp.lt.u32 %p2, %r4, %r3; @%p2 bra INNER;
    add.u32 %r2, %r2, 1; setp.lt.u32 %p3, %r2, %r1; @%p3 bra OUTER;
    activemask.b32 %r0;)");
  for (const std::uint32_t mask : out) EXPECT_EQ(mask, kAllLanes);
}

TEST(Warp, ABlockBehindTheExitThatJumpsBack) {
  // The unlikely path lies at the end of the text.
  const Words out = run(R"(
    mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 5; mov.u32 %r0, 1;
    @%p1 bra RARE;
    BACK: add.u32 %r0, %r0, 10; bar.sync 0; bra STORE;
    RARE: mov.u32 %r0, 2; bra BACK;
    STORE: )");
  for (unsigned l = 0; l < 32; ++l) EXPECT_EQ(out[l], l == 5 ? 12U : 11U);
}

TEST(Warp, LanesThatEndLeaveTheOthers) {
  TestRun test(R"(
    mov.u32 %r1, %tid.x; setp.ge.u32 %p1, %r1, 20; @%p1 exit;
    bar.sync 0; activemask.b32 %r0; mul.wide.u32 %d1, %r1, 4; add.u64 %d1, %d1, %a0;
    st.global.u32 [%d1], %r0;)",
               1);
  test.launch.block = {64};
  test.output<std::uint32_t>(64);
  test.run();
  EXPECT_EQ(test.findings(), "");
  const Words out = test.read<std::uint32_t>(0);
  for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(out[i], i < 20 ? 0xFFFFFU : 0xCDCDCDCDU) << i;
}

TEST(Warp, TheLastWarpMayBeShort) {
  const Words out = run("activemask.b32 %r0;", 40);
  EXPECT_EQ(out[0], kAllLanes);
  EXPECT_EQ(out[39], 0xFFU);
}

TEST(Warp, ATableOfBranches) {
  const Words out = run(R"(
    mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 3;
    LIST: .branchtargets A, B, C, D;
    brx.idx %r2, LIST;
    A: mov.u32 %r0, 10; bra DONE;
    B: mov.u32 %r0, 11; bra DONE;
    C: mov.u32 %r0, 12; bra DONE;
    D: mov.u32 %r0, 13;
    DONE: )");
  for (unsigned l = 0; l < 32; ++l) EXPECT_EQ(out[l], 10 + l % 4);
}

// --- waiting for each other ----------------------------------------------------------------------

TEST(Warp, LanesOfOneWarpMayTakeALockInTurn) {
  TestRun test(R"(
    mov.u32 %r3, 0;
    SPIN: atom.global.cas.b32 %r1, [%a0], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra SPIN;
    membar.gl;
    ld.global.u32 %r2, [%a0+4]; add.u32 %r2, %r2, 1; st.global.u32 [%a0+4], %r2;
    membar.gl;
    atom.global.exch.b32 %r1, [%a0], 0;)",
               1);
  test.launch.block = {32};
  test.input<std::uint32_t>({0, 0});
  test.options.checks.remove(Check::Race);
  test.options.limits.instructions = 10'000'000;
  EXPECT_EQ(test.run().outcome, Outcome::Finished) << test.report().reason;
  EXPECT_EQ(test.read<std::uint32_t>(0)[1], 32U);
}

TEST(Warp, AWarpMayWaitForAnotherBlock) {
  // Block 0 waits for a flag that block 1 sets.
  TestRun test(R"(
    mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, 1; @%p1 bra SET;
    WAIT: ld.acquire.gpu.global.u32 %r2, [%a0]; setp.eq.u32 %p2, %r2, 0; @%p2 bra WAIT;
    bra DONE;
    SET: st.release.gpu.global.u32 [%a0], 1;
    DONE: )",
               1);
  test.input<std::uint32_t>({0});
  test.launch.grid = {2};
  test.options.limits.instructions = 100'000'000;
  EXPECT_EQ(test.run().outcome, Outcome::Finished) << test.report().reason;
}

// --- calls ---------------------------------------------------------------------------------------

constexpr std::string_view kFunctions = R"(
.func (.param .b32 result) factorial(.param .b32 n)
{ .reg .pred %p1; .reg .b32 %x<4>;
  ld.param.u32 %x1, [n]; mov.u32 %x2, 1; setp.lt.u32 %p1, %x1, 2; @%p1 bra DONE;
  sub.u32 %x3, %x1, 1;
  { .param .b32 arg; .param .b32 back; st.param.b32 [arg], %x3;
    call (back), factorial, (arg); ld.param.b32 %x2, [back]; }
  mul.lo.u32 %x2, %x2, %x1;
  DONE: st.param.b32 [result], %x2; ret; }
.func (.reg .b32 y) twice(.reg .b32 x) { add.u32 y, x, x; ret; }
)";

TEST(Warp, FunctionsCallThemselvesLaneByLane) {
  TestRun test(R"(
    mov.u32 %r1, %tid.x; and.b32 %r1, %r1, 7;
    { .param .b32 arg; .param .b32 back; st.param.b32 [arg], %r1;
      call (back), factorial, (arg); ld.param.b32 %r0, [back]; }
    call (%r0), twice, (%r0);
    activemask.b32 %r7; setp.ne.u32 %p1, %r7, 0xFFFFFFFF; @%p1 trap;)" +
                   std::string(kStoreR0),
               1, "sm_90a", "8.8", kFunctions);
  test.launch.block = {32};
  test.output<std::uint32_t>(32);
  EXPECT_EQ(test.run().outcome, Outcome::Finished) << test.report().reason << test.errors();
  EXPECT_EQ(test.findings(), "");
  const std::uint32_t factorial[] = {1, 1, 2, 6, 24, 120, 720, 5040};
  const Words out = test.read<std::uint32_t>(0);
  for (unsigned l = 0; l < 32; ++l) EXPECT_EQ(out[l], 2 * factorial[l % 8]);
}

TEST(Warp, FunctionsByAddress) {
  TestRun test(R"(
    mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0;
    mov.u64 %d1, twice; mov.u64 %d2, thrice; selp.b64 %d3, %d1, %d2, %p1;
    PROTO: .callprototype (.reg .b32 _) _ (.reg .b32 _);
    call (%r0), %d3, (%r1), PROTO;)" +
                   std::string(kStoreR0),
               1, "sm_90a", "8.8",
               ".func (.reg .b32 y) twice(.reg .b32 x) { add.u32 y, x, x; ret; }\n"
               ".func (.reg .b32 y) thrice(.reg .b32 x) { mul.lo.u32 y, x, 3; ret; }");
  test.launch.block = {32};
  test.output<std::uint32_t>(32);
  test.run();
  EXPECT_EQ(test.findings(), "");
  const Words out = test.read<std::uint32_t>(0);
  for (unsigned l = 0; l < 32; ++l) EXPECT_EQ(out[l], l * (l % 2 == 0 ? 2 : 3));
}

TEST(Warp, ARecursionWithoutEndIsAnOutcome) {
  TestRun test("call down;", 0, "sm_90a", "8.8",
               ".func down;\n.func down { .local .b8 buffer[1024]; call down; ret; }");
  EXPECT_EQ(test.run().outcome, Outcome::Trapped) << test.errors();
  EXPECT_NE(test.report().reason.find("stack"), std::string::npos) << test.report().reason;
}

// --- outcomes ------------------------------------------------------------------------------------

TEST(Warp, ATrapSaysWhere) {
  TestRun test("mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 3; @%p1 trap;", 0);
  test.launch.block = {32};
  EXPECT_EQ(test.run().outcome, Outcome::Trapped);
  EXPECT_NE(test.report().reason.find("lanes 3"), std::string::npos) << test.report().reason;
}

TEST(Warp, ALoopWithoutEndStopsAtTheLimit) {
  TestRun test("LOOP: bra LOOP;", 0);
  test.options.limits.instructions = 100'000;
  EXPECT_EQ(test.run().outcome, Outcome::InstructionLimit);
  TestRun timed("LOOP: bra LOOP;", 0);
  timed.options.limits.seconds = 0.05;
  EXPECT_EQ(timed.run().outcome, Outcome::TimeLimit);
}

TEST(Warp, TheSameWithAnyNumberOfThreadsAndAnySchedule) {
  const std::string body = R"(
    .shared .b32 cell[64];
    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r3, %r2, 64, %r1;
    mov.u32 %r4, cell; shl.b32 %r5, %r1, 2; add.u32 %r5, %r5, %r4; st.shared.u32 [%r5], %r3;
    bar.sync 0; xor.b32 %r6, %r1, 33; shl.b32 %r6, %r6, 2; add.u32 %r6, %r6, %r4;
    ld.shared.u32 %r0, [%r6]; mul.wide.u32 %d1, %r3, 4; add.u64 %d1, %d1, %a0;
    st.global.u32 [%d1], %r0;)";
  Words first;
  for (const unsigned threads : {1U, 2U, 7U}) {
    for (const bool random : {false, true}) {
      TestRun test(body, 1);
      test.launch.grid = {40};
      test.launch.block = {64};
      test.output<std::uint32_t>(40 * 64);
      test.options.threads = threads;
      if (random) test.options.schedule = Schedule::random(threads);
      test.run();
      EXPECT_EQ(test.findings(), "");
      const Words out = test.read<std::uint32_t>(0);
      if (first.empty()) first = out;
      EXPECT_EQ(out, first);
    }
  }
}

}  // namespace
}  // namespace ww::sim::warp_test
