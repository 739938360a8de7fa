// SPDX-License-Identifier: Apache-2.0
// Programs that go wrong in some schedules alone are found among the first dozen
// of them, and right ones stay clean.
#include "sim/schedules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "sim/test_run.h"

namespace ww::sim::schedules_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr ScheduleBudget kDozen{.most = 12};

// %r0 is the thread, %r1 its warp.
std::string body(std::string_view code) {
  std::string text =
      ".shared .align 8 .b8 s[256];\n"
      "mov.u32 %r0, %tid.x; shr.u32 %r1, %r0, 5; and.b32 %r2, %r0, 31;\n"
      "setp.eq.u32 %p0, %r0, 0; setp.eq.u32 %p1, %r2, 0;\n"
      "mov.u32 %r9, s;\n";
  return text.append(code);
}

// Waits until the phase of that parity of the mbarrier at s + offset is over.
std::string wait(int number, int offset, std::string_view parity) {
  return fmt::format(
      "W{0}: mbarrier.try_wait.parity.shared.b64 %p7, [s+{1}], {2};\n@!%p7 bra W{0};\n", number,
      offset, parity);
}
std::string arrive(int offset) {
  return fmt::format("@%p1 mbarrier.arrive.shared.b64 _, [s+{}];\n", offset);
}
std::string init(int offset) {
  return fmt::format("@%p0 mbarrier.init.shared.b64 [s+{}], 1;\n", offset);
}

class Schedules : public testing::Test {
 protected:
  const LaunchReport& run(const std::string& code, unsigned threads,
                          const ScheduleBudget& budget = kDozen) {
    test_.emplace(body(code), 1);
    test_->input(std::vector<std::uint32_t>(64));
    test_->launch.grid = {1};
    test_->launch.block = {threads};
    test_->options.schedules = budget;
    test_->options.threads = 1;
    const LaunchReport& report = test_->run();
    EXPECT_EQ(test_->refusal(), "");
    return report;
  }
  [[nodiscard]] std::string last() const { return text_of(test_->report().schedules.run.back()); }
  // In rr alone it is as it should be.
  void expect_hidden(const std::string& code, unsigned threads) {
    EXPECT_TRUE(run(code, threads, {}).ok()) << test_->findings();
  }
  void expect_clean(const std::string& code, unsigned threads) {
    const LaunchReport& report = run(code, threads);
    EXPECT_TRUE(report.ok()) << last() << ": " << report.schedules.problem << test_->findings();
    EXPECT_THAT(report.schedules.run, SizeIs(12));
    EXPECT_THAT(report.schedules.first_difference, IsEmpty());
  }

  std::optional<TestRun> test_;
};

// --- faults --------------------------------------------------------------------------------------

// Warps 0 and 1 hand over a word, and so do warps 2 and 3, at the same barrier.
TEST_F(Schedules, TwoRolesThatShareABarrier) {
  const std::string code =
      "shr.u32 %r3, %r1, 1; shl.b32 %r3, %r3, 2; add.u32 %r3, %r3, %r9; and.b32 %r4, %r1, 1;\n"
      "setp.eq.and.u32 %p2, %r4, 0, %p1; setp.eq.u32 %p3, %r4, 1;\n"
      "@%p2 st.shared.u32 [%r3], %r0;\n"
      "bar.sync 1, 64;\n"
      "@%p3 ld.shared.u32 %r5, [%r3];\n";
  expect_hidden(code, 128);
  const LaunchReport& report = run(code, 128);
  EXPECT_FALSE(report.ok());
  EXPECT_THAT(last(), HasSubstr("delay:"));
  EXPECT_THAT(test_->findings(), HasSubstr("race"));
}

// Warps 0 and 1 shake hands `rounds` times; each time warp 0 also ends a phase of the mbarrier at s+16, of
// which warp 2 awaits the first: too late once an even number has gone by.
std::string late_waiter(int rounds) {
  return init(0) + init(8) + init(16) + "bar.sync 0;\nmov.u32 %r3, 0; mov.u32 %r4, 1;\n" +
         "setp.eq.u32 %p4, %r1, 1; @%p4 bra SECOND;\nsetp.eq.u32 %p4, %r1, 2; @%p4 bra THIRD;\n" +
         "FIRST:\n" + wait(1, 8, "%r4") + arrive(0) + arrive(16) +
         fmt::format(
             "xor.b32 %r4, %r4, 1; add.u32 %r3, %r3, 1; setp.lt.u32 %p5, %r3, {};\n"
             "@%p5 bra FIRST;\nbra DONE;\n",
             rounds) +
         "SECOND:\nxor.b32 %r4, %r4, 1;\nAGAIN:\n" + wait(2, 0, "%r4") + arrive(8) +
         fmt::format(
             "xor.b32 %r4, %r4, 1; add.u32 %r3, %r3, 1; setp.lt.u32 %p5, %r3, {};\n"
             "@%p5 bra AGAIN;\nbra DONE;\n",
             rounds) +
         "THIRD:\n" + wait(3, 16, "0") + "DONE:\n";
}

TEST_F(Schedules, AWaiterThatHandshakesOvertake) {
  for (const int rounds : {2, 16, 128}) {
    SCOPED_TRACE(rounds);
    const LaunchReport& report = run(late_waiter(rounds), 96);
    EXPECT_EQ(report.outcome, Outcome::Deadlocked);
    EXPECT_THAT(report.schedules.problem, HasSubstr("did not finish"));
    EXPECT_EQ(run(late_waiter(rounds + 1), 96).outcome, Outcome::Finished) << "an odd number";
  }
}

// Two arrivals end a phase: in rr those of warps 3, which writes first, and 0, which then reads. Warps 1 and
// 2 arrive for the next one, and nothing says that they come later.
TEST_F(Schedules, AnArrivalThatMayCountForTheGenerationBefore) {
  const std::string code =
      "@%p0 mbarrier.init.shared.b64 [s+128], 2;\nbar.sync 0;\n"
      "setp.eq.and.u32 %p3, %r1, 3, %p1;\n"
      "@%p3 st.shared.u32 [s], %r0;\n" +
      arrive(128) + "setp.ne.u32 %p4, %r1, 0; @%p4 bra DONE;\n" + wait(1, 128, "0") +
      "ld.shared.u32 %r5, [s];\nDONE:\n";
  expect_hidden(code, 128);
  EXPECT_THAT(test_->report().hints.overtaken, ElementsAre(3, 0));
  EXPECT_FALSE(run(code, 128).ok());
}

// --- right programs ------------------------------------------------------------------------------

TEST_F(Schedules, AnyTwoWarpsMayPair) { expect_clean("bar.sync 1, 64;\n", 128); }

// Nobody waits for phase 0, and all are behind it when the next one begins.
TEST_F(Schedules, APhaseThatNobodyAwaits) {
  expect_clean(init(0) +
                   "bar.sync 0;\n@%p0 mbarrier.arrive.shared.b64 _, [s];\nbar.sync 0;\n"
                   "setp.eq.u32 %p3, %r0, 32; @%p3 mbarrier.arrive.shared.b64 _, [s];\n" +
                   wait(1, 0, "1"),
               64);
}

// Who holds the lock may be delayed; the others spin.
TEST_F(Schedules, ALock) {
  expect_clean(
      "@!%p1 bra DONE;\n"
      "AGAIN: atom.acquire.gpu.global.cas.b32 %r3, [%a0], 0, 1;\n"
      "setp.ne.u32 %p3, %r3, 0; @%p3 bra AGAIN;\n"
      "ld.global.u32 %r4, [%a0+4]; add.u32 %r4, %r4, 1; st.global.u32 [%a0+4], %r4;\n"
      "st.release.gpu.global.u32 [%a0], 0;\nDONE:\n",
      128);
}

// --- what runs, and what is left -----------------------------------------------------------------

const std::string kTicket =
    "@%p1 atom.global.add.u32 %r3, [%a0], 1;\n"
    "mul.wide.u32 %d1, %r3, 4; add.u64 %d1, %d1, %a0; @%p1 st.global.u32 [%d1+4], %r1;\n";

TEST_F(Schedules, AtomicsMayLeaveOtherValues) {
  const LaunchReport& report = run(kTicket, 64, kUsualSchedules);
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.schedules.first_difference, "reverse");
  EXPECT_EQ(test_->read<std::uint32_t>(0)[2], 1U) << "memory is as `rr` left it";
  EXPECT_FALSE(run(kTicket, 64).ok()) << "who asks for schedules wants equal results";
  EXPECT_EQ(report.schedules.problem,
            "leaves other values than `rr` in parameter 0, from byte 4 on");
  EXPECT_EQ(test_->read<std::uint32_t>(0)[1], 1U) << "memory is as the last one left it";
}

TEST_F(Schedules, OneIsEnoughWhereAllMeetTogether) {
  const std::string code =
      "@%p0 st.shared.u32 [s], 1;\nbar.sync 0;\nred.global.add.u32 [%a0], 1;\nbar.sync 1;\n";
  EXPECT_THAT(run(code, 64, kUsualSchedules).schedules.run, IsEmpty());
  EXPECT_THAT(run("bar.sync 1, 64;\n", 64, kUsualSchedules).schedules.run, SizeIs(12));
  EXPECT_THAT(run("mov.u32 %r5, 3; bar.sync %r5;\n", 64, kUsualSchedules).schedules.run,
              SizeIs(12));
  EXPECT_THAT(run("ld.volatile.shared.u32 %r5, [s];\n", 64, {.most = 3, .work = 0}).schedules.run,
              SizeIs(1))
      << "no work is worth it";
}

TEST_F(Schedules, AsManyAsTheWorkIsWorth) {
  const std::string loop =
      "mov.u32 %r3, 0;\nL: add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 1000; @%p2 bra L;\n"
      "bar.sync 1, 64;\n";
  const std::uint64_t work = run(loop, 64, {}).counters.instructions;
  EXPECT_THAT(run(loop, 64, {.most = 12, .work = 3 * work + work / 2}).schedules.run, SizeIs(4));
}

TEST_F(Schedules, NoneBesideATraceUnlessAskedFor) {
  test_.emplace(body("bar.sync 1, 64;\n"), 1);
  std::string text;
  for (const ScheduleBudget& budget : {kUsualSchedules, kDozen}) {
    TestRun traced(body("bar.sync 1, 64;\n"), 1);
    traced.output<std::uint32_t>(1);
    traced.launch.block = {64};
    traced.launch.grid = {1};
    traced.options.schedules = budget;
    traced.options.count = true;
    EXPECT_THAT(traced.run().schedules.run, SizeIs(budget.is_bounded() ? 0 : 12));
  }
}

TEST(ScheduleList, DelaysWhoeverDiffers) {
  const auto texts = [](const ScheduleHints& seen, unsigned count) {
    std::vector<std::string> out;
    for (const Schedule& each : schedules_after(seen, count)) out.push_back(text_of(each));
    return out;
  };
  // Two roles, of one and of three warps; another may overtake warp 2.
  EXPECT_THAT(texts({.warps_per_block = 4, .acts = {1, 2, 2, 2}, .overtaken = {2}, .steps = 50}, 9),
              ElementsAre("reverse", "delay:2", "delay:0", "delay:1-3", "delay:1", "delay:3",
                          "pct:1:50", "random:1", "pct:2:50"));
  // A cluster of two blocks.
  EXPECT_THAT(texts({.warps_per_block = 2, .acts = {1, 1, 1, 1}, .steps = 9}, 6),
              ElementsAre("reverse", "delay:0", "delay:0-1", "delay:2-3", "delay:3", "pct:1:9"));
  EXPECT_THAT(texts({.warps_per_block = 1, .acts = {1}, .steps = 9}, 2),
              ElementsAre("reverse", "pct:1:9"));
}

}  // namespace
}  // namespace ww::sim::schedules_test
