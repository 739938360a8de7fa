// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "sim/ops/test_async.h"

namespace ww::sim::ops_cp_async_test {
namespace {

// Copies a word of the lane's own, not waited for.
constexpr std::string_view kCopy = "cp.async.ca.shared.global [%r4], [%d1], 4;\n";
constexpr std::string_view kRead = "ld.shared.u32 %r10, [%r4]; st.global.u32 [%d2], %r10;\n";

std::string body(std::initializer_list<std::string_view> parts) {
  std::string all;
  for (const std::string_view part : parts) all.append(part).append("\n");
  return all;
}

TEST(CpAsync, CopiesAWordPerLane) {
  const auto out =
      expect_fine(body({kCopy, "cp.async.commit_group; cp.async.wait_group 0;", kRead}));
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], i);
}

TEST(CpAsync, CopiesEightAndSixteenBytes) {
  for (const unsigned bytes : {8U, 16U}) {
    const std::string size = std::to_string(bytes);
    const auto out = expect_fine(body(
        {"mul.lo.u32 %r10, %r1, " + size + "; add.u32 %r11, %r10, %r2; mul.wide.u32 %d3, %r10, 1;",
         "add.u64 %d3, %d3, %a0; cp.async.ca.shared.global [%r11], [%d3], " + size + ";",
         "cp.async.wait_all; ld.shared.u32 %r12, [%r11+" + std::to_string(bytes - 4) + "];",
         "st.global.u32 [%d2], %r12;"}));
    for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], (i + 1) * bytes / 4 - 1);
  }
}

TEST(CpAsync, BytesBeyondTheSourceSizeAreZero) {
  // The word 0x01020304 at input + 4 * lane is made by the kernel itself: 4, 3, 2, 1 from below.
  const std::string fill = "st.global.u32 [%d2], 0x01020304;";
  for (const unsigned size : {0U, 1U, 2U, 3U, 4U}) {
    const std::uint32_t wanted = size == 4 ? 0x01020304U : 0x01020304U & ((1U << (8 * size)) - 1);
    const std::string from_register = "mov.u32 %r20, " + std::to_string(size) + ";";
    for (const std::string& operand : {std::string("%r20"), std::to_string(size)}) {
      const auto out = expect_fine(
          body({fill, from_register, "cp.async.ca.shared.global [%r4], [%d2], 4, " + operand + ";",
                "cp.async.wait_all;", kRead}));
      EXPECT_EQ(out[5], wanted) << size << " " << operand;
    }
  }
}

TEST(CpAsync, ASourceThatIsIgnoredIsNotRead) {
  const auto out = expect_fine(
      body({"and.b32 %r10, %r1, 1; setp.eq.u32 %p1, %r10, 1; selp.b64 %d3, 0, %d1, %p1;",
            "cp.async.ca.shared.global [%r4], [%d3], 4, %p1; cp.async.wait_all;", kRead}));
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], i % 2 == 0 ? i : 0U);
}

TEST(CpAsync, ASourceSizeThatIsTooLarge) {
  expect_found(Check::Bounds, "copies 5 bytes of the source into 4",
               body({"mov.u32 %r20, 5; cp.async.ca.shared.global [%r4], [%d1], 4, %r20;",
                     "cp.async.wait_all;"}));
}

TEST(CpAsync, ThePartlyReadSourceIsAlignedAsAWhole) {
  expect_found(Check::Align, "not a multiple of 8",
               body({"add.u32 %r10, %r4, %r4; sub.u32 %r10, %r10, %r2;",
                     "cp.async.ca.shared.global [%r10], [%d1+4], 8, 4; cp.async.wait_all;"}));
}

TEST(CpAsync, DataThatWasNotWaitedForIsTheOldOne) {
  const std::string fill = "st.shared.u32 [%r4], 77;";
  const Done early = expect_found(Check::Async, "an asynchronous write is still on its way to",
                                  body({fill, kCopy, "cp.async.commit_group;", kRead}));
  EXPECT_EQ(early.out[3], 77U);
  const auto out = expect_fine(body({fill, kCopy, "cp.async.wait_all;", kRead}));
  EXPECT_EQ(out[3], 3U);
}

TEST(CpAsync, ZerosOverDataThatWasNotWaitedFor) {
  constexpr Grid kBlackwell{.target = "sm_100a"};
  const std::string zeros =
      "setp.eq.u32 %p1, %r1, 0; @%p1 st.bulk.weak.shared::cta [cells], 128, 0;";
  expect_found(Check::Async, "writes 128 bytes", body({kCopy, "bar.sync 0;", zeros}), kBlackwell);
  const auto out = expect_fine(
      body({kCopy, "cp.async.wait_all; bar.sync 0;", zeros, "bar.sync 0;", kRead}), kBlackwell);
  EXPECT_EQ(out[3], 0U);
}

TEST(CpAsync, TheFindingNamesBothInstructions) {
  const Done done = run_async(body({kCopy, kRead}));
  // The copy stands two lines above the load.
  const std::size_t slash = done.findings.find('/');
  ASSERT_NE(slash, std::string::npos) << done.findings;
  const int load = std::stoi(done.findings.substr(6));
  EXPECT_EQ(std::stoi(done.findings.substr(slash + 1)), load - 2) << done.findings;
}

TEST(CpAsync, GroupsAreWaitedForInOrder) {
  const std::string two =
      body({kCopy, "cp.async.commit_group; cp.async.ca.shared.global [%r4+128], [%d1+128], 4;",
            "cp.async.commit_group; cp.async.wait_group 1;"});
  const auto out = expect_fine(two + std::string(kRead) + "cp.async.wait_all;");
  EXPECT_EQ(out[31], 31U);
  const std::string second = "ld.shared.u32 %r10, [%r4+128]; st.global.u32 [%d2], %r10;";
  expect_found(Check::Async, "still on its way", two + second);
  EXPECT_EQ(expect_fine(two + "cp.async.wait_group 0;" + second)[31], 63U);
}

TEST(CpAsync, AnOpenGroupIsNotWaitedFor) {
  expect_found(Check::Async, "still on its way", body({kCopy, "cp.async.wait_group 0;", kRead}));
}

TEST(CpAsync, IsWaitedForBeforeTheEnd) {
  constexpr std::string_view kEnd = "the kernel ends without a wait for this copy";
  expect_found(Check::Async, kEnd, body({kCopy}));
  expect_found(Check::Async, kEnd, body({kCopy, "cp.async.commit_group;"}));
  expect_found(Check::Async, kEnd,
               body({kCopy, "setp.lt.u32 %p1, %r1, 16; @%p1 cp.async.wait_all;"}));
  expect_fine(body({kCopy, "cp.async.wait_all;"}));
  // One that tells an mbarrier which nobody asks.
  const std::string start =
      body({"setp.eq.u32 %p1, %r1, 0; @%p1 mbarrier.init.shared.b64 [bar], 32; bar.warp.sync -1;",
            kCopy, "cp.async.mbarrier.arrive.noinc.shared.b64 [bar];"});
  expect_found(Check::Async, kEnd, start);
  expect_fine(start + "WAIT(0, 0);");
}

TEST(CpAsync, EmptyGroupsCount) {
  expect_fine(
      body({kCopy, "cp.async.commit_group; cp.async.commit_group; cp.async.wait_group 1;", kRead}));
}

TEST(CpAsync, WritingWhereACopyIsUnderWay) {
  expect_found(Check::Async, "writes 4 bytes", body({kCopy, "st.shared.u32 [%r4], 1;"}));
  expect_found(Check::Async, "writes 4 bytes", body({kCopy, kCopy, "cp.async.wait_all;"}));
  expect_fine(body({kCopy, "cp.async.wait_all; st.shared.u32 [%r4], 1;"}));
  expect_found(Check::Async, "writes 4 bytes", body({kCopy, "atom.shared.add.u32 %r9, [%r4], 1;"}));
}

TEST(CpAsync, MatricesOfACopyThatIsUnderWay) {
  const std::string matrix =
      "shl.b32 %r10, %r1, 4; and.b32 %r10, %r10, 127; add.u32 %r10, %r10, %r2;"
      "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r11}, [%r10]; st.global.u32 [%d2], %r11;";
  expect_found(Check::Async, "still on its way", body({kCopy, "bar.warp.sync -1;", matrix}));
  expect_fine(body({kCopy, "cp.async.wait_all; bar.warp.sync -1;", matrix}));
}

TEST(CpAsync, OthersNeedABarrierBehindTheWait) {
  const std::string other = "xor.b32 %r10, %r4, 128; ld.shared.u32 %r11, [%r10];";
  const Grid two{.threads = 64};
  expect_found(Check::Race, "reads 4 bytes", body({kCopy, "cp.async.wait_all;", other}), two);
  expect_fine(body({kCopy, "cp.async.wait_all; bar.sync 0;", other}), two);
  // A barrier before the wait does not help.
  expect_found(Check::Async, "still on its way", body({kCopy, "bar.sync 0;", other}), two);
}

TEST(CpAsync, TheBufferMustBeFreeWhenTheCopyIsIssued) {
  const Grid two{.threads = 64};
  const std::string use =
      "st.shared.u32 [%r4], %r1; bar.sync 0;"
      "xor.b32 %r10, %r4, 128; ld.shared.u32 %r11, [%r10];";
  const std::string refill = body({kCopy, "bar.sync 0; cp.async.wait_all;"});
  expect_found(Check::Race, "writes 4 bytes", body({use, refill}), two);
  expect_fine(body({use, "bar.sync 0;", refill}), two);
}

TEST(CpAsync, UndefinedBytesTravel) {
  const std::string copy =
      "cp.async.ca.shared.global [%r4], [%d2], 4; cp.async.wait_all;"
      "ld.shared.u32 %r10, [%r4];";
  expect_fine(copy);
  expect_found(Check::Uninit, "%r10", copy + "st.global.u32 [%d2], %r10;");
  expect_fine("st.global.u32 [%d2], 1;" + copy + "st.global.u32 [%d2], %r10;");
}

TEST(CpAsync, AnMbarrierHearsOfTheEnd) {
  for (const bool counted : {false, true}) {
    const std::string start =
        body({"setp.eq.u32 %p1, %r1, 0; @%p1 mbarrier.init.shared.b64 [bar], 32; bar.warp.sync -1;",
              kCopy,
              counted ? "cp.async.mbarrier.arrive.noinc.shared.b64 [bar];"
                      : "cp.async.mbarrier.arrive.shared.b64 [bar];"
                        "mbarrier.arrive.shared.b64 %d5, [bar];"});
    const std::string neighbour =
        "xor.b32 %r10, %r4, 4; ld.shared.u32 %r11, [%r10]; st.global.u32 [%d2], %r11;";
    const auto out = expect_fine(body({start, "WAIT(0, 0);", neighbour}));
    EXPECT_EQ(out[6], 7U);
    expect_found(Check::Async, "still on its way", body({start, neighbour}));
  }
}

TEST(CpAsync, CopiesBehindTheArriveAreNotTiedToIt) {
  const std::string start =
      body({"setp.eq.u32 %p1, %r1, 0; @%p1 mbarrier.init.shared.b64 [bar], 32; bar.warp.sync -1;",
            "cp.async.mbarrier.arrive.noinc.shared.b64 [bar];", kCopy, "WAIT(0, 0);", kRead});
  expect_found(Check::Async, "still on its way", start);
}

TEST(CpAsync, WithoutTheCheckDataStillComesLate) {
  TestRun test(async_text(body({"st.shared.u32 [%r4], 77;", kCopy, kRead}), {}));
  ASSERT_EQ(test.errors(), "");
  test.launch.block = {32};
  test.input(std::vector<std::uint32_t>(32, 5)).output<std::uint32_t>(32);
  test.options.checks = CheckSet::nothing();
  test.run();
  EXPECT_EQ(test.findings(), "");
  EXPECT_EQ(test.read<std::uint32_t>(1)[0], 77U);
}

}  // namespace
}  // namespace ww::sim::ops_cp_async_test
