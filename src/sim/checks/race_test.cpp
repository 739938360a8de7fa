// SPDX-License-Identifier: Apache-2.0
// Races of two warps at places in many orders: every word is noted and compared, whether its lanes
// follow each other, lie apart, are mixed, or read one word together.
#include "sim/checks/race.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "sim/test_run.h"

namespace ww::sim::race_test {
namespace {

// Races of warp 0, which executes `first`, with warp 1, which executes `second`, both at [%r3]: `place`
// makes it of the lane, %r2.
std::uint64_t races_of(std::string_view place, std::string_view first, std::string_view second) {
  TestRun run(
      fmt::format(".shared .align 16 .b8 s[8192]; mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 31;"
                  "setp.lt.u32 %p1, %r1, 32; {}; mov.u32 %r4, s; add.u32 %r3, %r3, %r4;"
                  "@%p1 {}; @!%p1 {};",
                  place, first, second),
      0);
  EXPECT_EQ(run.errors(), "");
  run.launch.block = {64};
  run.run();
  std::uint64_t count = 0;
  for (const Finding& finding : run.report().findings.list()) {
    EXPECT_EQ(finding.check, Check::Race) << finding.text;
    count += finding.count;
  }
  return count;
}

constexpr std::string_view kRead = "ld.shared.u32 %r5, [%r3]", kWrite = "st.shared.u32 [%r3], %r1";
constexpr std::string_view kRead4 = "ld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [%r3]",
                           kWrite4 = "st.shared.v4.u32 [%r3], {%r1, %r1, %r1, %r1}";
constexpr std::string_view kReadByte = "ld.shared.u8 %h1, [%r3]",
                           kWriteByte = "st.shared.u8 [%r3], %h1";

// Every lane has places of its own, 16 bytes apart or more.
constexpr std::string_view kPlaces[] = {
    "shl.b32 %r3, %r2, 4",                       // in order
    "shl.b32 %r3, %r2, 7",                       // further apart
    "mul.lo.u32 %r3, %r2, 48",                   // at no power of two
    "xor.b32 %r3, %r2, 5; shl.b32 %r3, %r3, 4",  // mixed
    "mad.lo.u32 %r3, %r2, -16, 496",             // backwards
    "brev.b32 %r3, %r2; shr.u32 %r3, %r3, 23",   // bits the other way round
    "and.b32 %r3, %r2, 7; mad.lo.u32 %r3, %r3, 512, 0; mad.lo.u32 %r3, %r2, 16, %r3",
};

TEST(Race, OfEveryLane) {
  for (const std::string_view place : kPlaces) {
    EXPECT_EQ(races_of(place, kWrite, kWrite), 32U) << place;
    EXPECT_EQ(races_of(place, kWrite, kRead), 32U) << place;
    EXPECT_EQ(races_of(place, kRead, kWrite), 32U) << place;
    EXPECT_EQ(races_of(place, kRead, kRead), 0U) << place;
    EXPECT_EQ(races_of(place, kWrite4, kRead4), 128U) << place;
    EXPECT_EQ(races_of(place, kRead4, kWrite4), 128U) << place;
    EXPECT_EQ(races_of(place, kWrite, kWrite4), 32U) << place;
    EXPECT_EQ(races_of(place, kRead4, kWrite), 32U) << place;
    EXPECT_EQ(races_of(place, kWriteByte, kReadByte), 32U) << place;
    EXPECT_EQ(races_of(place, kReadByte, kWriteByte), 32U) << place;
    EXPECT_EQ(races_of(place, kWrite, kWriteByte), 32U) << place;
    EXPECT_EQ(races_of(place, kWriteByte, kRead4), 32U) << place;
  }
}

// Words of their own, side by side, and one word of several lanes.
TEST(Race, OfNeighbours) {
  constexpr std::string_view kWords = "shl.b32 %r3, %r2, 2";
  EXPECT_EQ(races_of(kWords, kWrite, kWrite), 32U);
  EXPECT_EQ(races_of(kWords, kRead, kWrite), 32U);
  EXPECT_EQ(races_of("xor.b32 %r3, %r2, 9; shl.b32 %r3, %r3, 2", kWrite, kRead), 32U);
  EXPECT_EQ(races_of("mov.u32 %r3, %r2", kWriteByte, kReadByte), 32U);
  EXPECT_EQ(races_of("and.b32 %r3, %r2, 16", kRead, kRead), 0U);
  EXPECT_EQ(races_of("and.b32 %r3, %r2, 16", kWrite, kRead), 32U);
  // The first lane that writes there stands for the others.
  EXPECT_EQ(races_of("and.b32 %r3, %r2, 16", kRead, kWrite), 2U);
}

// So many accesses that those of no use are dropped and the others get new numbers, and pages that
// have been another block's, of which the warps were the other way round.
TEST(Race, OfNobodyAfterALongTime) {
  TestRun run(R"(.shared .align 16 .b8 s[1024];
    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; shl.b32 %r8, %r2, 5; and.b32 %r8, %r8, 32;
    xor.b32 %r1, %r1, %r8; shl.b32 %r3, %r1, 2; mov.u32 %r4, s;
    add.u32 %r3, %r3, %r4; mad.lo.u32 %r7, %r2, 1024, %r1; mul.wide.u32 %d1, %r7, 4;
    add.u64 %d1, %d1, %a0; st.shared.u32 [%r3], %r1; st.global.u32 [%d1], %r1; mov.u32 %r5, 0;
    AGAIN: ld.shared.u32 %r6, [%r3]; bar.warp.sync -1; add.u32 %r5, %r5, 1;
    setp.lt.u32 %p1, %r5, 10000; @%p1 bra AGAIN;
    st.global.u32 [%d1+512], %r1; st.global.u32 [%d1+1024], %r1; st.global.u32 [%d1+1536], %r1;)",
              1);
  run.output<std::uint32_t>(4096);
  run.launch.grid = {4};
  run.launch.block = {64};
  run.options.threads = 1;
  run.run();
  EXPECT_EQ(run.findings(), "");
}

}  // namespace
}  // namespace ww::sim::race_test
