// SPDX-License-Identifier: Apache-2.0
// Shuffles and votes without `.sync`, and lanes that run in step, as PTX for GPUs before sm_70 has them.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "sim/test_run.h"

namespace ww::sim::old_warp_test {
namespace {

using Words = std::vector<std::uint32_t>;

// kernel_text for old files, which have no registers of 128 bits.
std::string old_text(const std::string& instructions, int params, std::string_view target,
                     std::string_view version) {
  std::string text = kernel_text(instructions, params, target, version);
  constexpr std::string_view kWide = ".reg .b128 %q<8>;";
  return text.erase(text.find(kWide), kWide.size());
}

// One warp of sm_60; %r1 is the lane, %d1 the place of its word in the output.
std::string body(const std::string& instructions) {
  return "mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, 4; add.u64 %d1, %a0, %d1;\n" + instructions +
         "\nst.global.u32 [%d1], %r2;";
}

Words run(const std::string& instructions, const std::string& findings = "") {
  TestRun run(old_text(body(instructions), 1, "sm_60", "6.0"));
  run.output<std::uint32_t>(32);
  run.launch.block = {32};
  EXPECT_EQ(run.run().outcome, Outcome::Finished) << run.errors();
  EXPECT_EQ(run.findings().empty(), findings.empty()) << run.findings();
  EXPECT_TRUE(run.findings().contains(findings)) << run.findings();
  return run.read<std::uint32_t>(0);
}

TEST(OldWarp, ShufflesWithoutAMask) {
  const auto expect = [](const std::string& shuffle, auto&& from) {
    const Words seen = run("mul.lo.u32 %r3, %r1, 7;\n" + shuffle);
    for (unsigned l = 0; l < 32; ++l) EXPECT_EQ(seen[l], 7U * from(l)) << shuffle << " lane " << l;
  };
  expect("shfl.bfly.b32 %r2, %r3, 5, 31;", [](unsigned l) { return l ^ 5U; });
  expect("shfl.idx.b32 %r2, %r3, 9, 31;", [](unsigned) { return 9U; });
  expect("shfl.up.b32 %r2, %r3, 3, 0;", [](unsigned l) { return l < 3 ? l : l - 3; });
  expect("shfl.down.b32 %r2|%p1, %r3, 3, 31;", [](unsigned l) { return l > 28 ? l : l + 3; });
  expect("shfl.down.b32 %r2, %r3, 2, 0x1807;",  // eight lanes at a time
         [](unsigned l) { return l % 8 > 5 ? l : l + 2; });
}

TEST(OldWarp, VotesOfTheLanesThatRun) {
  // Lanes 4 and up run; of these the ones below 20 say yes.
  const std::string head = "mov.u32 %r2, 0; setp.lt.u32 %p1, %r1, 20; setp.lt.u32 %p2, %r1, 4;\n";
  const auto expect = [&](const std::string& vote, std::uint32_t wanted) {
    const Words seen = run(head + "@%p2 bra DONE;\n" + vote + "\nDONE:");
    for (unsigned l = 0; l < 32; ++l) EXPECT_EQ(seen[l], l < 4 ? 0 : wanted) << vote << " " << l;
  };
  const std::string said = " selp.u32 %r2, 1, 2, %p3;";
  expect("vote.ballot.b32 %r2, %p1;", 0x000F'FFF0U);
  expect("vote.ballot.b32 %r2, !%p1;", 0xFFF0'0000U);
  expect("vote.all.pred %p3, %p1;" + said, 2);
  expect("vote.all.pred %p3, !%p2;" + said, 1);  // the four that say otherwise are not there
  expect("vote.any.pred %p3, %p1;" + said, 1);
  expect("vote.any.pred %p3, %p2;" + said, 2);
  expect("vote.uni.pred %p3, %p1;" + said, 2);
  expect("vote.uni.pred %p3, %p2;" + said, 1);
}

TEST(OldWarp, ReadingALaneThatDoesNotRunIsFound) {
  run("mov.u32 %r2, 0; setp.lt.u32 %p2, %r1, 4;\n@%p2 bra DONE;\nshfl.idx.b32 %r2, %r1, 1, "
      "31;\nDONE:",
      "reads a lane that does not take part");
}

// The end of a reduction as it was written for warps in step: no barrier between the lanes.
constexpr std::string_view kReduce = R"(.shared .align 4 .b8 cells[256];
mov.u32 %r3, cells; shl.b32 %r4, %r1, 2; add.u32 %r4, %r3, %r4;
mov.u32 %r2, 0; st.volatile.shared.u32 [%r4+128], %r2; st.volatile.shared.u32 [%r4], %r1;
ld.volatile.shared.u32 %r5, [%r4+64]; ld.volatile.shared.u32 %r2, [%r4]; add.u32 %r2, %r2, %r5;
st.volatile.shared.u32 [%r4], %r2;
ld.volatile.shared.u32 %r5, [%r4+32]; add.u32 %r2, %r2, %r5;)";

TEST(OldWarp, LanesInStepDoNotRaceWithEachOther) {
  const auto races = [](std::string_view target, std::optional<bool> in_step, unsigned threads) {
    std::string reduce(kReduce);
    if (threads > 32)  // volatile accesses of two warps do not race
      for (std::size_t at = 0; (at = reduce.find(".volatile")) != std::string::npos;)
        reduce.erase(at, 9);
    TestRun run(old_text(body(reduce), 1, target, "6.3"));
    run.output<std::uint32_t>(64);
    run.launch.block = {threads};
    run.options.in_step = in_step;
    EXPECT_EQ(run.run().outcome, Outcome::Finished) << run.errors();
    if (run.report().findings.empty()) {
      EXPECT_EQ(run.read<std::uint32_t>(0)[0], 0U + 16 + 8 + 24);
    }
    return run.count(Check::Race) > 0;
  };
  EXPECT_FALSE(races("sm_60", std::nullopt, 32));
  EXPECT_TRUE(races("sm_60", false, 32));
  EXPECT_TRUE(races("sm_70", std::nullopt, 32));
  EXPECT_TRUE(races("sm_75", std::nullopt, 32));
  EXPECT_FALSE(races("sm_75", true, 32));
  EXPECT_TRUE(races("sm_60", std::nullopt, 64)) << "two warps are not in step";
}

// What one lane publishes in step is the warp's.
TEST(OldWarp, AFlagOfOneLaneIsForItsWarp) {
  const auto findings = [](std::string_view fence) {
    TestRun run(
        old_text(fmt::format(R"(mov.u32 %r1, %tid.x; shr.u32 %r2, %r1, 5; setp.eq.u32 %p1, %r2, 0;
.shared .align 4 .b8 cells[128]; .shared .align 4 .u32 flag; and.b32 %r3, %r1, 31; shl.b32 %r3, %r3, 2;
mov.u32 %r4, cells; add.u32 %r4, %r4, %r3; setp.eq.u32 %p2, %r1, 0;
@%p2 st.volatile.shared.u32 [flag], 0; bar.sync 0;
@!%p1 bra READ;
st.shared.u32 [%r4], %r1; {}
@%p2 st.volatile.shared.u32 [flag], 1;
bra DONE;
READ: ld.volatile.shared.u32 %r5, [flag]; setp.eq.u32 %p3, %r5, 0; @%p3 bra READ; {}
ld.shared.u32 %r6, [%r4];
DONE:)",
                             fence, fence),
                 0, "sm_50", "5.0"));
    run.launch.block = {64};
    EXPECT_EQ(run.run().outcome, Outcome::Finished) << run.errors();
    return run.findings();
  };
  EXPECT_EQ(findings("membar.cta;"), "");
  EXPECT_TRUE(findings("").starts_with("race")) << findings("");
}

}  // namespace
}  // namespace ww::sim::old_warp_test
