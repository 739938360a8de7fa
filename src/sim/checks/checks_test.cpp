// SPDX-License-Identifier: Apache-2.0
// Every check by a kernel that it catches and a twin that it lets pass. Lines are those of the module's
// text; the body of a kernel starts at line 9 when it has one parameter.
#include <gtest/gtest.h>

#include "sim/test_run.h"

namespace ww::sim::checks_test {
namespace {

constexpr std::string_view kShared = ".shared .align 16 .b8 cells[512];\n";
// %r1 = tid.x, %r2 = address of cells[4 * tid].
constexpr std::string_view kOwnCell =
    "mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, cells; add.u32 %r2, %r2, %r3;\n";

struct Case {
  std::string body;
  unsigned threads = 32;
  unsigned blocks = 1;
};

/// Runs a kernel with one buffer of 64 defined words and gives its findings.
std::string findings_of(const Case& it, Check only) {
  TestRun test(it.body, 1);
  if (!test.errors().empty()) return test.errors();
  test.launch.block = {it.threads};
  test.launch.grid = {it.blocks};
  test.input<std::uint32_t>(std::vector<std::uint32_t>(64, 5));
  test.options.checks = CheckSet::nothing();
  test.options.checks.add(only);
  test.options.checks.undefined_early = true;  // undefined_uses_test.cpp has the other rule
  test.options.limits.instructions = 1'000'000;
  test.run();
  return test.findings();
}

void expect_caught(const Case& it, Check check, std::string_view text) {
  const std::string found = findings_of(it, check);
  EXPECT_NE(found.find(name_of(check)), std::string::npos) << "nothing found:\n" << found;
  EXPECT_NE(found.find(text), std::string::npos) << found;
}
void expect_clean(const Case& it, Check check) { EXPECT_EQ(findings_of(it, check), ""); }

std::string with_shared(std::string_view body) {
  return std::string(kShared) + std::string(kOwnCell) + std::string(body);
}

// --- bounds, alignment, spaces -------------------------------------------------------------------

TEST(Bounds, OnePastTheEnd) {
  expect_caught({"ld.global.u32 %r1, [%a0+256];"}, Check::Bounds,
                "just past the end of parameter 0");
  expect_clean({"ld.global.u32 %r1, [%a0+252];"}, Check::Bounds);
}
TEST(Bounds, AcrossTheEnd) {
  expect_caught({"ld.global.v4.u32 {%r1,%r2,%r3,%r4}, [%a0+248];"}, Check::Bounds,
                "8 bytes of it past the end");
  expect_clean({"ld.global.v4.u32 {%r1,%r2,%r3,%r4}, [%a0+240];"}, Check::Bounds);
}
TEST(Bounds, BeforeTheStartAndNull) {
  expect_caught({"st.global.u32 [%a0+-4], 1;"}, Check::Bounds,
                "4 bytes before the start of parameter 0");
  expect_caught({"mov.u64 %d1, 0; ld.global.u32 %r1, [%d1];"}, Check::Bounds, "a null pointer");
}
TEST(Bounds, TheNearerOfTwoAllocationsIsNamed) {
  TestRun test("st.global.u32 [%a1+-8], 1; st.global.u32 [%a0+264], 1;", 2);
  test.launch.block = {1};
  for (int i = 0; i < 2; ++i) test.input<std::uint32_t>(std::vector<std::uint32_t>(64, 5));
  test.run();
  EXPECT_NE(test.findings().find("8 bytes before the start of parameter 1"), std::string::npos)
      << test.findings();
  EXPECT_NE(test.findings().find("8 bytes past the end of parameter 0"), std::string::npos)
      << test.findings();
}
TEST(Bounds, SharedMemory) {
  expect_caught({with_shared("ld.shared.u32 %r4, [cells+512];")}, Check::Bounds,
                "past the end of shared memory (512 bytes)");
  expect_clean({with_shared("ld.shared.u32 %r4, [cells+508];")}, Check::Bounds);
}
TEST(Bounds, WithoutTheCheckTheRunEnds) {
  TestRun test("ld.global.u32 %r1, [%a0+4096];", 1);
  test.input<std::uint32_t>({1});
  test.options.checks = CheckSet::nothing();
  EXPECT_EQ(test.run().outcome, Outcome::Trapped);
  EXPECT_NE(test.report().reason.find("illegal address"), std::string::npos);
}

TEST(Align, MultiplesOfTheWholeVector) {
  expect_caught({"ld.global.v4.u32 {%r1,%r2,%r3,%r4}, [%a0+8];"}, Check::Align,
                "not a multiple of 16");
  expect_clean({"ld.global.v4.u32 {%r1,%r2,%r3,%r4}, [%a0+16];"}, Check::Align);
}

TEST(Space, SharedAddressInAGlobalLoad) {
  expect_caught(
      {with_shared("mov.u64 %d1, cells; cvta.shared.u64 %d2, %d1; ld.global.u32 %r4, [%d2];")},
      Check::Space, "in the global space at an address of the shared space");
  expect_clean({with_shared("mov.u64 %d1, cells; cvta.shared.u64 %d2, %d1; ld.u32 %r4, [%d2];")},
               Check::Space);
}

// --- undefined bytes -----------------------------------------------------------------------------

TEST(Uninit, RegistersThatNothingWrote) {
  expect_caught({"add.u32 %r1, %r2, 1;"}, Check::Uninit, "`%r2` is used");
  expect_clean({"mov.u32 %r2, 3; add.u32 %r1, %r2, 1;"}, Check::Uninit);
}
TEST(Uninit, CopyingIsNoUse) {
  expect_clean({"mov.u32 %r1, %r2; st.global.u32 [%a0], %r1;"}, Check::Uninit);
  expect_caught({"mov.u32 %r1, %r2; add.u32 %r3, %r1, %r1;"}, Check::Uninit, "`%r1` is used");
}
// Registers that were found defined are not looked at until something may have changed that.
TEST(Uninit, ADefinedRegisterThatBecomesUndefined) {
  const std::string defined = "mov.u32 %r1, 7; add.u32 %r2, %r1, %r1;\n";
  const std::string use = " add.u32 %r3, %r1, %r1;";
  expect_clean({defined + use}, Check::Uninit);
  expect_caught({defined + "mov.u32 %r1, %r9;" + use}, Check::Uninit, "`%r1` is used");
  expect_caught({with_shared(defined + "ld.shared.u32 %r1, [cells];" + use)}, Check::Uninit,
                "`%r1` is used");
  expect_caught({defined + "shfl.sync.bfly.b32 %r1, %r9, 1, 31, -1;" + use}, Check::Uninit,
                "`%r1` is used");
  expect_caught({defined + "mov.b64 {%r1, %r2}, %d4;" + use}, Check::Uninit, "`%r1` is used");
  expect_caught({defined + "setp.eq.u32 %p1, %r1, 7; selp.b32 %r1, %r9, 1, %p1;" + use},
                Check::Uninit, "`%r1` is used");
}
TEST(Uninit, LanesThatDidNotWrite) {
  const std::string half = "mov.u32 %r4, %tid.x; setp.lt.u32 %p1, %r4, 16; @%p1 mov.u32 %r1, 7;\n";
  expect_caught({half + "add.u32 %r2, %r1, 1;"}, Check::Uninit, "`%r1` is used");
  expect_clean({half + "@%p1 add.u32 %r2, %r1, 1;"}, Check::Uninit);
  expect_clean({half + "@!%p1 mov.u32 %r1, 8; add.u32 %r2, %r1, 1;"}, Check::Uninit);
}
TEST(Uninit, NothingIsNoValue) {
  expect_caught({"mov.u32 %r2, 3; mov.v2.b32 {%r3, %r4}, {_, %r2}; add.u32 %r1, %r3, 1;"},
                Check::Uninit, "`%r3` is used");
  expect_clean({"mov.u32 %r2, 3; mov.v2.b32 {%r3, %r4}, {_, %r2}; add.u32 %r1, %r4, 1;"},
               Check::Uninit);
  expect_caught({"mov.b16 %h1, 3; mov.b32 %r3, {%h1, _}; add.u32 %r1, %r3, 1;"}, Check::Uninit,
                "`%r3` is used");
}
TEST(Uninit, PartsOfAValueAreAsDefinedAsIt) {
  const std::string half = "mov.b16 %h1, 3; mov.b32 %r1, {%h1, %h2}; mov.v2.b32 {%r2, %r3}, %r1;";
  expect_clean({half + "add.u32 %r4, %r2, 1;"}, Check::Uninit);
  expect_caught({half + "add.u32 %r4, %r3, 1;"}, Check::Uninit, "`%r3` is used");
}
TEST(Uninit, AShiftByLessThanAnElementCalculates) {
  // Compilers multiply so; by 4 bits and their multiples values are put together.
  expect_caught({"shl.b32 %r1, %r2, 1;"}, Check::Uninit, "`%r2` is used");
  expect_caught({"mov.u32 %r3, 3; shr.s64 %d1, %d2, %r3;"}, Check::Uninit, "`%d2` is used");
  expect_clean({"shl.b32 %r1, %r2, 16; mov.u32 %r3, 8; shr.u32 %r4, %r2, %r3;"}, Check::Uninit);
  // Of a value that is undefined in parts, those may be cut off.
  expect_clean(
      {with_shared("st.shared.u8 [%r2], 1; ld.shared.u32 %r4, [%r2]; shl.b32 %r5, %r4, 1;")},
      Check::Uninit);
}
TEST(Uninit, BitsThatAreKnownStaySoOnTheirWay) {
  // The low half of the byte is defined, through memory and another lane; the high one is not.
  const auto body = [](std::string_view mask) {
    return fmt::format(
        ".shared .b8 s[64]; mov.u32 %r1, %tid.x; mov.u32 %r9, s; add.u32 %r9, %r9, %r1;"
        "shl.b32 %r3, %r2, 4; or.b32 %r3, %r3, 5; st.shared.u8 [%r9], %r3; bar.sync 0;"
        "ld.shared.u8 %r4, [%r9]; shfl.sync.bfly.b32 %r5, %r4, 1, 31, -1;"
        "and.b32 %r6, %r5, {}; add.u32 %r7, %r6, 1; st.global.u32 [%a0], %r7;",
        mask);
  };
  const auto found = [&](std::string_view mask) {
    TestRun test(body(mask), 1);
    test.output<std::uint32_t>(1);
    test.launch.block = {32};
    test.run();
    return test.count(Check::Uninit);
  };
  EXPECT_EQ(found("15"), 0U);
  EXPECT_EQ(found("16"), 1U);
  EXPECT_EQ(found("255"), 1U);
}
TEST(Uninit, SharedMemoryByTheByte) {
  expect_caught(
      {with_shared("st.shared.u8 [%r2], 1; ld.shared.u16 %h1, [%r2]; add.u16 %h2, %h1, 1;")},
      Check::Uninit, "`%h1` is used");
  expect_clean(
      {with_shared("st.shared.u8 [%r2], 1; ld.shared.u8 %h1, [%r2]; add.u16 %h2, %h1, 1;")},
      Check::Uninit);
}
TEST(Uninit, GlobalMemoryAndAddresses) {
  TestRun test("ld.global.u64 %d1, [%a0]; ld.global.u32 %r1, [%d1];", 1);
  test.output<std::uint64_t>(1);
  test.options.checks = *parse_checks("uninit,bounds");
  test.run();
  EXPECT_NE(test.findings().find("uninit"), std::string::npos) << test.findings();
}
TEST(Uninit, APredicateThatDecides) {
  expect_caught({"@%p1 bra DONE; DONE: "}, Check::Uninit,
                "decides, as the guard, and is undefined");
  expect_clean({"setp.eq.u32 %p1, 1, 1; @%p1 bra DONE; DONE: "}, Check::Uninit);
}
TEST(Uninit, LocalMemory) {
  expect_caught({".local .b32 x[2]; ld.local.u32 %r1, [x+4]; add.u32 %r1, %r1, 1;"}, Check::Uninit,
                "`%r1` is used");
  expect_clean(
      {".local .b32 x[2]; st.local.u32 [x+4], 1; ld.local.u32 %r1, [x+4]; add.u32 %r1, %r1, 1;"},
      Check::Uninit);
}

// --- races ---------------------------------------------------------------------------------------

constexpr std::string_view kNeighbour = "xor.b32 %r4, %r2, 128; ld.shared.u32 %r5, [%r4];";

TEST(Race, ReadAfterWriteWithoutABarrier) {
  const std::string write = with_shared("st.shared.u32 [%r2], %r1;\n");
  expect_caught({write + std::string(kNeighbour), 64}, Check::Race,
                "reads 4 bytes of shared memory");
  expect_clean({write + "bar.sync 0;" + std::string(kNeighbour), 64}, Check::Race);
}
TEST(Race, WriteAfterReadWithoutABarrier) {
  const std::string body =
      with_shared("st.shared.u32 [%r2], %r1; bar.sync 0;\n") + std::string(kNeighbour);
  expect_caught({body + "st.shared.u32 [%r2], 0;", 64}, Check::Race,
                "that another thread has read");
  expect_clean({body + "bar.sync 0; st.shared.u32 [%r2], 0;", 64}, Check::Race);
}
// A thread's own words are quickly passed, until another one comes.
TEST(Race, AWordThatWasOneThreadsAlone) {
  const std::string own =
      "st.shared.u32 [%r2], 1; ld.shared.u32 %r4, [%r2]; "
      "st.shared.u32 [%r2], %r4; ld.shared.u32 %r4, [%r2];\n";
  const std::string next = "xor.b32 %r5, %r2, 4;\n";
  expect_clean({with_shared(own + own)}, Check::Race);
  expect_caught({with_shared(own + next + "ld.shared.u32 %r6, [%r5];")}, Check::Race, "reads");
  expect_caught({with_shared(own + next + "st.shared.u32 [%r5], 2;")}, Check::Race, "writes");
  expect_clean({with_shared(own + next + "bar.warp.sync -1; ld.shared.u32 %r6, [%r5];")},
               Check::Race);
  expect_caught(
      {with_shared(own + next +
                   "bar.warp.sync -1; ld.shared.u32 %r6, [%r5]; st.shared.u32 [%r2], 3;")},
      Check::Race, "writes");
  expect_caught(
      {with_shared("ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [cells]; st.shared.u32 [%r2], 1;")},
      Check::Race, "writes");
}
TEST(Race, TwoWritersOfOneWord) {
  expect_caught({with_shared("st.shared.u32 [cells], %r1;"), 64}, Check::Race, "has written");
  expect_clean({with_shared("setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.u32 [cells], %r1;"), 64},
               Check::Race);
}
TEST(Race, LanesOfOneWarpNeedASyncToo) {
  const std::string write = with_shared("st.shared.u32 [%r2], %r1;\n");
  const std::string read = "xor.b32 %r4, %r2, 4; ld.shared.u32 %r5, [%r4];";
  expect_caught({write + read}, Check::Race, "reads 4 bytes");
  expect_clean({write + "bar.warp.sync 0xFFFFFFFF;" + read}, Check::Race);
}
TEST(Race, BytesOfOneWordAreDifferentPlaces) {
  const std::string body = with_shared("add.u32 %r4, %r3, %r1; cvt.u16.u32 %h1, %r1;");
  expect_clean({body + "st.shared.u8 [%r4], %h1;", 64}, Check::Race);
  expect_caught({body + "and.b32 %r4, %r4, 0xFFFFFFFE; st.shared.u8 [%r4], %h1; bar.warp.sync -1; "
                        "ld.shared.u8 %h2, [cells+40];",
                 64},
                Check::Race, "1 bytes of shared memory");
}
TEST(Race, NamedBarriersOrderTheirWarpsOnly) {
  // Warp 0 produces, warp 1 consumes; warp 2 reads without having been at the barrier.
  const std::string body = with_shared(R"(
    shr.u32 %r6, %r1, 5; and.b32 %r7, %r2, 127; add.u32 %r7, %r7, %r3;
    setp.eq.u32 %p0, %r6, 0; setp.eq.u32 %p1, %r6, 1; setp.eq.u32 %p2, %r6, 2;
    @%p0 st.shared.u32 [%r2], %r1;
    @%p0 bar.arrive 1, 64;
    @%p1 bar.sync 1, 64;
    @%p1 ld.shared.u32 %r5, [%r7];
  )");
  expect_clean({body, 96}, Check::Race);
  expect_caught({body + "@%p2 ld.shared.u32 %r5, [%r7];", 96}, Check::Race, "reads 4 bytes");
}
TEST(Race, AReleasedFlagOrders) {
  const auto body = [](const std::string& store, const std::string& load) {
    return with_shared(
        "shr.u32 %r6, %r1, 5; setp.eq.u32 %p0, %r6, 0; mov.u32 %r8, 0;\n"
        "setp.eq.u32 %p3, %r1, 0; @%p3 st.shared.u32 [cells+256], 0; bar.sync 0;\n"
        "@!%p0 bra WAIT; setp.ne.u32 %p1, %r1, 0; @%p1 bra DONE;\n"
        "st.shared.u32 [cells], 7;\n" +
        store +
        " bra DONE;\n"
        "WAIT: " +
        load +
        " setp.eq.u32 %p2, %r8, 0; @%p2 bra WAIT;\n"
        "ld.shared.u32 %r9, [cells];\n DONE: ");
  };
  expect_clean({body("st.release.cta.shared.u32 [cells+256], 1;",
                     "ld.acquire.cta.shared.u32 %r8, [cells+256];"),
                64},
               Check::Race);
  expect_clean({body("membar.cta; st.volatile.shared.u32 [cells+256], 1;",
                     "ld.volatile.shared.u32 %r8, [cells+256]; membar.cta;"),
                64},
               Check::Race);
  expect_caught(
      {body("st.volatile.shared.u32 [cells+256], 1;", "ld.volatile.shared.u32 %r8, [cells+256];"),
       64},
      Check::Race, "reads 4 bytes");
}
TEST(Race, AtomicsDoNotRaceWithEachOther) {
  expect_clean({with_shared("setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.u32 [cells], 0; bar.sync 0;"
                            "red.shared.add.u32 [cells], 1;"),
                64},
               Check::Race);
}
TEST(Race, BlocksAtOneGlobalWord) {
  expect_caught({"st.global.u32 [%a0], 1;", 1, 4}, Check::Race, "that another block writes");
  expect_caught({"mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, 2; @%p1 st.global.u32 [%a0], 1; "
                 "ld.global.u32 %r2, [%a0];",
                 1, 4},
                Check::Race, "reads global memory");
  expect_clean({"mov.u32 %r1, %ctaid.x; mul.wide.u32 %d1, %r1, 4; add.u64 %d1, %d1, %a0; "
                "st.global.u32 [%d1], 1;",
                1, 4},
               Check::Race);
  expect_clean({"ld.global.u32 %r2, [%a0];", 1, 4}, Check::Race);
}
TEST(Race, BlocksAtNeighbouringBytes) {
  expect_clean({"mov.u32 %r1, %ctaid.x; cvt.u64.u32 %d1, %r1; add.u64 %d1, %d1, %a0; cvt.u16.u32 "
                "%h1, %r1; st.global.u8 [%d1], %h1;",
                1, 4},
               Check::Race);
}

// --- collectives ---------------------------------------------------------------------------------

TEST(Collective, AShuffleWithoutItsLanes) {
  const std::string half = "mov.u32 %r1, %tid.x; setp.ge.u32 %p1, %r1, 16; @%p1 bra DONE;\n";
  const std::string shuffle = "shfl.sync.bfly.b32 %r2, %r1, 1, 31, ";
  expect_caught({half + shuffle + "0xFFFFFFFF;\nDONE: bar.sync 0;"}, Check::Collective,
                "without lanes 16-31, which are at line 12");
  expect_clean({half + shuffle + "0xFFFF;\nDONE: "}, Check::Collective);
}
TEST(Collective, AMaskWithoutTheLaneItself) {
  expect_caught({"mov.u32 %r1, %tid.x; vote.sync.ballot.b32 %r2, 1, 0x0000FFFF;"},
                Check::Collective, "does not have the lane");
}
TEST(Collective, AlignedInstructionsInABranch) {
  const std::string load = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [cells];\n";
  const std::string half = with_shared("st.shared.u32 [%r2], 0; setp.ge.u32 %p1, %r1, 16;\n");
  expect_caught({half + "@%p1 bra DONE;\n" + load + "DONE: "}, Check::Collective,
                "without lanes 16-31");
  expect_caught({half + "@!%p1 " + load}, Check::Collective, "without lanes 16-31");
  expect_clean({half + load}, Check::Collective);
}
TEST(Collective, LanesThatComeByAnotherWayMeet) {
  expect_clean({R"(mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0;
    @%p1 bra EVEN; add.u32 %r3, %r1, 1; bra SAME; EVEN: add.u32 %r3, %r1, 2;
    SAME: shfl.sync.idx.b32 %r4, %r3, 0, 31, -1;)"},
               Check::Collective);
}
TEST(Collective, EndedLanesAreNotWaitedFor) {
  const std::string half = "mov.u32 %r1, %tid.x; setp.ge.u32 %p1, %r1, 16; @%p1 exit;";
  expect_clean({half + "bar.warp.sync -1; vote.sync.ballot.b32 %r4, %p1, -1;"}, Check::Collective);
}
TEST(Collective, AShuffleOrAnElectionNamesNoEndedLanes) {
  const std::string half = "mov.u32 %r1, %tid.x; setp.ge.u32 %p1, %r1, 16; @%p1 exit;";
  expect_caught({half + "shfl.sync.bfly.b32 %r4, %r1, 1, 31, -1;"}, Check::Collective,
                "the member mask 0xffffffff names lanes 16-31, which have ended");
  expect_clean({half + "shfl.sync.bfly.b32 %r4, %r1, 1, 31, 0xFFFF;"}, Check::Collective);
  expect_caught({half + "elect.sync %r4|%p2, -1;"}, Check::Collective,
                "the member mask 0xffffffff names lanes 16-31, which have ended");
  expect_clean({half + "elect.sync %r4|%p2, 0xFFFF;"}, Check::Collective);
  // Lanes that a short block never had are no promise broken.
  expect_clean({"mov.u32 %r1, %tid.x; shfl.sync.bfly.b32 %r4, %r1, 1, 31, -1;", 16},
               Check::Collective);
}
TEST(Collective, APromiseIsKeptByAllThreadsOfABlock) {
  const auto with = [](std::string_view source) {
    return Case{.body =
                    "mov.u32 %r1, %tid.x; shr.u32 %r2, %r1, 5; mov.u32 %r4, 0;\n"
                    "AGAIN: add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, 3;\n"
                    "$L_uniform_1: mov.b32 %r3, " +
                    std::string(source) + ";\n@%p1 bra AGAIN;",
                .threads = 64};
  };
  expect_clean(with("%r4"), Check::Collective);
  expect_caught(with("%r2"), Check::Collective, "is 0x0 in thread 0, 0x1 in thread 32");
  expect_caught(with("%r1"), Check::Collective, "is 0x0 in thread 0, 0x1 in thread 1");
}
TEST(Collective, APromiseIsKeptByAllThreadsOfAWarp) {
  const auto with = [](std::string_view lanes) {
    return Case{.body = "mov.u32 %r1, %tid.x; div.u32 %r2, %r1, " + std::string(lanes) +
                        ";\n$L_uniform_warp_1: mov.b32 %r3, %r2;",
                .threads = 64};
  };
  expect_clean(with("32"), Check::Collective);
  expect_caught(with("48"), Check::Collective,
                "all threads of its warp, and is 0x0 in thread 32, 0x1 in thread 48");
}
TEST(Collective, GroupsHaveNoLanesInCommon) {
  expect_caught({R"(mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 16; selp.b32 %r2, 0xFFFF, -1, %p1;
    shfl.sync.bfly.b32 %r4, %r1, 1, 31, %r2;)"},
                Check::Collective, "lanes have different member masks: 0x0000ffff and 0xffffffff");
}
TEST(Collective, GroupsWithMasksOfTheirOwn) {
  expect_clean(
      {R"(mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 16; selp.b32 %r2, 0xFFFF, 0xFFFF0000, %p1;
    shfl.sync.bfly.b32 %r4, %r1, 1, 31, %r2;)"},
      Check::Collective);
}

// --- barriers ------------------------------------------------------------------------------------

TEST(Barrier, AWarpThatNeverComes) {
  const std::string wait = "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 32; @%p1 bra DONE;\n";
  expect_caught({wait + "bar.sync 1, 64;\nDONE: ", 64}, Check::Barrier, "waits at barrier 1");
  expect_clean({wait + "bar.sync 1, 32;\nDONE: ", 64}, Check::Barrier);
}
TEST(Barrier, WarpsAtDifferentBarriers) {
  const auto body = [](int other) {
    return fmt::format(
        "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 32; @%p1 bra LOW;\n"
        "bar.sync 1, 64; bra DONE;\nLOW: bar.sync {}, 64;\nDONE: ",
        other);
  };
  expect_caught({body(2), 64}, Check::Barrier, "no thread can go on");
  expect_clean({body(1), 64}, Check::Barrier);
}
TEST(Barrier, CountsThatDiffer) {
  const auto body = [](int threads) {
    return fmt::format(
        "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 32; @%p1 bra LOW;\n"
        "bar.sync 1, 64; bra DONE;\nLOW: bar.sync 1, {};\nDONE: ",
        threads);
  };
  expect_caught({body(96), 64}, Check::Barrier, "and others wait there for");
  expect_clean({body(64), 64}, Check::Barrier);
}
TEST(Barrier, EndedWarpsAreNotWaitedFor) {
  expect_clean({"mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 32; @%p1 exit; bar.sync 0;", 64},
               Check::Barrier);
}
TEST(Barrier, ReductionsOverTheBlock) {
  TestRun test(R"(mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 40;
    barrier.cta.red.popc.aligned.u32 %r2, 0, %p1; barrier.cta.red.and.aligned.pred %p2, 0, %p1;
    barrier.cta.red.or.aligned.pred %p3, 0, %p1; selp.u32 %r3, 1000, 0, %p2; selp.u32 %r4, 100, 0, %p3;
    add.u32 %r2, %r2, %r3; add.u32 %r2, %r2, %r4; st.global.u32 [%a0], %r2;)",
               1);
  test.launch.block = {96};
  test.output<std::uint32_t>(1);
  test.options.checks.remove(Check::Race);
  test.run();
  EXPECT_EQ(test.findings(), "");
  EXPECT_EQ(test.read<std::uint32_t>(0)[0], 140U);
}

// --- numbers, on request -------------------------------------------------------------------------

TEST(Numbers, TheBirthOfANan) {
  const std::string zero = "mov.f32 %f1, 0f00000000; ";
  expect_caught({zero + "div.rn.f32 %f2, %f1, %f1;"}, Check::Numbers, "finite operands gave");
  expect_clean({zero + "add.f32 %f2, %f1, %f1;"}, Check::Numbers);
  // Passing one on is no birth.
  expect_clean({"mov.f32 %f1, 0f7F800000; add.f32 %f2, %f1, %f1; mov.f32 %f3, %f2;"},
               Check::Numbers);
  expect_caught({"mov.b32 %r1, 0x7BFF3C00; add.rn.f16x2 %r2, %r1, %r1;"}, Check::Numbers,
                "finite operands gave");
}

// --- memory --------------------------------------------------------------------------------------

TEST(Limits, GiantVariablesAreRefused) {
  TestRun test("ret;", 0, "sm_90a", "8.8", ".global .b8 huge[9000000000000];");
  EXPECT_NE(test.errors().find("TooLarge"), std::string::npos) << test.errors();
}
TEST(Limits, MemoryIsAnOutcome) {
  TestRun test(".local .b8 big[400000]; st.local.u8 [big+399999], 1;", 0);
  test.launch.block = {1024};
  test.options.limits.memory = 100'000'000;
  EXPECT_EQ(test.run().outcome, Outcome::MemoryLimit) << test.errors();
}

// --- merging and choosing ------------------------------------------------------------------------

TEST(Findings, OneCauseIsOneEntryWithACount) {
  TestRun test(
      "mov.u32 %r1, 0;\nLOOP: ld.global.u32 %r2, [%a0+1024]; add.u32 %r1, %r1, 1; setp.lt.u32 %p1, "
      "%r1, 10; @%p1 bra LOOP;",
      1);
  test.input<std::uint32_t>({1});
  test.launch.grid = {3};
  test.launch.block = {32};
  test.options.checks = *parse_checks("bounds");
  test.run();
  ASSERT_EQ(test.report().findings.list().size(), 1U) << test.findings();
  EXPECT_EQ(test.report().findings.list()[0].count, 3U * 32 * 10);
}

TEST(Findings, ChecksByName) {
  EXPECT_TRUE(parse_checks("all")->has(Check::Race));
  EXPECT_FALSE(parse_checks("all")->has(Check::Numbers));
  EXPECT_FALSE(parse_checks("none")->any());
  EXPECT_FALSE(parse_checks("all,-race")->has(Check::Race));
  EXPECT_TRUE(parse_checks("race,bounds")->has(Check::Bounds));
  const auto bad = parse_checks("bonds");
  ASSERT_TRUE(!bad && bad.error().text.contains("did you mean `bounds`"));
}

}  // namespace
}  // namespace ww::sim::checks_test
