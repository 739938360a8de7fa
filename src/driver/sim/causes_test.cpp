// SPDX-License-Identifier: Apache-2.0
// Reports on findings by cause, on schedules and on slow instructions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/file_io.h"
#include "base/process.h"
#include "driver/report_parts.h"
#include "driver/sim/report.h"
#include "driver/sim/tool.h"

namespace ww::driver::causes_test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kHead =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry k(.param .u64 out)\n{\n"
    ".reg .pred %p<4>; .reg .b32 %r<40>; .reg .b64 %rd<4>;\n"
    ".shared .align 16 .b8 s[4096];\n"
    "ld.param.u64 %rd1, [out];\nmov.u32 %r0, %tid.x;\nshl.b32 %r1, %r0, 2;\n"
    "mov.u32 %r2, s;\nadd.u32 %r2, %r2, %r1;\n";

class Causes : public testing::Test {
 protected:
  SimOutcome run(const std::string& body, const std::string& block = "64") {
    EXPECT_TRUE(
        write_file_atomically(folder_.file("k.ptx"), std::string(kHead) + body + "ret;\n}\n"));
    request_.path = folder_.file("k.ptx");
    request_.grid = "1";
    request_.block = block;
    request_.args = {"out=u32[64]:zeros"};
    request_.threads = 1;
    return run_sim(request_);
  }
  ScratchFolder folder_ = ScratchFolder::make().value();
  SimRequest request_;
};

// Eight stores and eight loads of what the neighbour stored, with no barrier in between.
std::string without_barrier() {
  std::string body = "xor.b32 %r3, %r1, 128;\nmov.u32 %r4, s;\nadd.u32 %r3, %r3, %r4;\n";
  for (int i = 0; i < 8; ++i) body += "st.shared.b32 [%r2+" + std::to_string(256 * i) + "], %r0;\n";
  for (int i = 0; i < 8; ++i)
    body +=
        "ld.shared.b32 %r" + std::to_string(10 + i) + ", [%r3+" + std::to_string(256 * i) + "];\n";
  return body;
}

TEST_F(Causes, CopiesOfOneMistakeAreOneCause) {
  const SimOutcome outcome = run(without_barrier());
  ASSERT_EQ(outcome.errors, "");
  const auto& findings = outcome.report->run.findings.list();
  ASSERT_GE(findings.size(), 8U);
  const auto groups = group_findings(*outcome.report->program, findings);
  EXPECT_LE(groups.size(), 2U);  // who reads and who writes
  EXPECT_EQ(groups[0][0], 0U);
  const std::string text = sim_text(*outcome.report);
  EXPECT_THAT(text, HasSubstr("more of this cause"));
  EXPECT_THAT(text, HasSubstr(" of " + std::to_string(groups.size()) + " cause"));
  EXPECT_LT(std::ranges::count(text, '\n'), 30);
  EXPECT_THAT(json_text(sim_json(*outcome.report)), HasSubstr("\"cause\": 0"));
}

TEST_F(Causes, DifferentMistakesStayApart) {
  const SimOutcome outcome =
      run("st.global.b32 [%rd1], %r6;\nld.global.b32 %r7, [%rd1+256];\n"
          "st.shared.b32 [%r2+4096], %r0;\n");
  const auto& findings = outcome.report->run.findings.list();
  const auto groups = group_findings(*outcome.report->program, findings);
  EXPECT_EQ(groups.size(), 3U);
  EXPECT_THAT(sim_text(*outcome.report), Not(HasSubstr("more of this cause")));
}

// --- schedules ----------------------------------------------------------------------------------

TEST_F(Causes, SchedulesAgreeOnARightKernel) {
  request_.schedules.most = 4;
  const SimOutcome outcome =
      run("mul.wide.u32 %rd2, %r0, 4;\nadd.u64 %rd2, %rd1, %rd2;\nst.global.b32 [%rd2], %r0;\n");
  ASSERT_EQ(outcome.errors, "");
  EXPECT_TRUE(outcome.report->good());
  EXPECT_THAT(sim_text(*outcome.report), HasSubstr("schedules   4: no findings, same results"));
}

// Which warp is last decides, and no check is on.
TEST_F(Causes, ADifferenceIsReportedWithItsSchedule) {
  request_.schedules.most = 4;
  request_.checks = "none";
  const SimOutcome outcome = run("shr.u32 %r5, %r0, 5;\nst.global.b32 [%rd1], %r5;\n");
  ASSERT_EQ(outcome.errors, "");
  EXPECT_FALSE(outcome.report->good());
  EXPECT_EQ(text_of(outcome.report->run.schedules.run.back()), "reverse");
  EXPECT_EQ(outcome.report->run.schedules.problem,
            "leaves other values than `rr` in parameter 0 `out`, from byte 0 on");
  request_.schedules.most = 1;
  request_.schedule = "reverse";
  const SimOutcome again = run("shr.u32 %r5, %r0, 5;\nst.global.b32 [%rd1], %r5;\n");
  EXPECT_EQ(again.report->buffers.at(0).first.at(0), "0");
}

// A warp that waits in vain for a flag if it comes first.
TEST_F(Causes, AHangIsReportedWithItsSchedule) {
  request_.schedules.most = 8;
  request_.checks = "none";
  const SimOutcome outcome =
      run("setp.lt.u32 %p1, %r0, 32;\n@%p1 st.global.b32 [%rd1], 1;\n@%p1 bra DONE;\n"
          "ld.global.b32 %r5, [%rd1];\nsetp.ne.u32 %p2, %r5, 0;\n@%p2 bra DONE;\nbar.sync 1, 64;\n"
          "DONE:\n");
  ASSERT_EQ(outcome.errors, "");
  EXPECT_FALSE(outcome.report->good());
  EXPECT_EQ(text_of(outcome.report->run.schedules.run.back()), "reverse");
  EXPECT_EQ(outcome.report->run.schedules.problem, "did not finish: deadlocked");
}

TEST_F(Causes, SchedulesGoWithNothingElse) {
  request_.schedules.most = 2;
  request_.schedule = "reverse";
  EXPECT_EQ(run("").errors,
            "error: `--schedule reverse` beside `--schedules 2`: expected one of them "
            "[BadArgument]\n");
  request_.schedule = "rr";
  request_.device = WhichGpu::Both;
  EXPECT_EQ(run("").errors, "error: `--schedules` is for the virtual GPU alone [BadArgument]\n");
}

// --- rewrites -----------------------------------------------------------------------------------

TEST_F(Causes, OneValueFromTwoWarpsIsNoRaceUnlessAsked) {
  const std::string same = "st.shared.b32 [s], 7;\n";
  EXPECT_TRUE(run(same).report->good());
  EXPECT_FALSE(run("st.shared.b32 [s], %r0;\n").report->good());
  request_.checks = "all,rewrite";
  EXPECT_FALSE(run(same).report->good());
}

TEST_F(Causes, AReaderStillRacesWithRewrites) {
  EXPECT_FALSE(run("st.shared.b32 [s], 7;\nld.shared.b32 %r5, [s];\n").report->good());
}

// --- slow ---------------------------------------------------------------------------------------

TEST_F(Causes, SlowAccessesAreNamed) {
  request_.count = true;
  const SimOutcome outcome =
      run("and.b32 %r0, %r0, 31;\nshl.b32 %r5, %r0, 7;\nmov.u32 %r6, s;\nadd.u32 %r5, %r5, %r6;\n"
          "st.shared.b32 [%r5], %r0;\n",
          "32");
  ASSERT_EQ(outcome.errors, "");
  const auto advice = advise(*outcome.report);
  ASSERT_EQ(advice.size(), 1U);
  EXPECT_EQ(advice[0].kind, Slow::BankConflict);
  EXPECT_EQ(advice[0].text, "32 wavefronts of shared memory, 1 at best: bank conflicts");
  EXPECT_THAT(sim_text(*outcome.report), HasSubstr("\nslow:\n  line"));
}

TEST_F(Causes, RemoteReleaseIsSlow) {
  const std::string arrive = "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r2];\n";
  const std::string plain = "mbarrier.arrive.shared::cluster.b64 _, [%r2];\n";
  const std::string around = "setp.ne.u32 %p1, %r0, %r0;\n@%p1 ";
  const auto slow = advise(*run(around + arrive).report);
  ASSERT_EQ(slow.size(), 1U);
  EXPECT_EQ(slow[0].kind, Slow::RemoteRelease);
  EXPECT_EQ(advise(*run(around + plain).report).size(), 0U);
}

// The machine code tells more of a line than its opcode does.
TEST_F(Causes, MachineCodeTakesThePlaceOfGuesses) {
  const SimOutcome outcome =
      run("setp.ne.u32 %p1, %r0, %r0;\n"
          "@%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r2];\n");
  SimReport report = *outcome.report;
  const std::uint32_t line = advise(report).at(0).line;
  report.sass = SassAdvice{.notes = {{.remark = {.kind = runtime::SassKind::Fence,
                                                 .line = line,
                                                 .count = 1,
                                                 .depth = 1,
                                                 .text = "MEMBAR in a loop"}}}};
  EXPECT_THAT(sim_text(report), HasSubstr("\nslow:\n  line 14: MEMBAR in a loop\n"));
  EXPECT_THAT(sim_text(report), Not(HasSubstr("the release of cluster scope")));
  report.sass->notes[0].remark.line = line - 1;
  EXPECT_THAT(sim_text(report), HasSubstr("the release of cluster scope"));
}

TEST_F(Causes, MachineCodeThatIsNotReadIsTold) {
  request_.sass = runtime::SassTools{.ptxas = {.given = "/nowhere/ptxas"}};
  const SimOutcome outcome = run("");
  EXPECT_TRUE(outcome.report->good());
  EXPECT_THAT(sim_text(*outcome.report),
              HasSubstr("\nslow:\n  SASS not read: `/nowhere/ptxas`, given as `ptxas`, is not a "
                        "program\n"));
}

TEST_F(Causes, LocalMemoryIsSlow) {
  const SimOutcome outcome =
      run(".local .align 4 .b8 l[8];\nst.local.b32 [l], 1;\nld.local.b32 %r5, [l];\n");
  const auto advice = advise(*outcome.report);
  ASSERT_EQ(advice.size(), 2U);
  EXPECT_EQ(advice[0].kind, Slow::LocalMemory);
}

}  // namespace
}  // namespace ww::driver::causes_test
