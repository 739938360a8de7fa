// SPDX-License-Identifier: Apache-2.0
// Who a barrier waits for, and who has ended. Random programs are compared with the definition: a wait ends
// when all threads that have not ended have arrived.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "sim/test_run.h"

namespace ww::sim::barriers_test {
namespace {

// What one warp does: it arrives so often, waits after some of these, and ends.
struct WarpPlan {
  struct Round {
    unsigned spins = 0;      // turns of a loop before it arrives
    bool waits = true;       // the last arrival need not be waited for
    bool half_ends = false;  // its lanes 16 to 31 end before it arrives
  };
  std::vector<Round> rounds;
  unsigned last_spins = 0;  // before it ends
};

struct ClusterPlan {
  unsigned ctas = 2, warps = 1;  // of each CTA
  std::vector<WarpPlan> plans;   // CTA by CTA
};

ClusterPlan random_plan(std::mt19937_64& random) {
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  const auto spins = [&] { return below(3) == 0 ? below(400) : below(4); };
  ClusterPlan plan{.ctas = 2 + below(3), .warps = 1 + below(4), .plans = {}};
  plan.plans.resize(std::size_t{plan.ctas} * plan.warps);
  const unsigned most = 1 + below(4);
  for (WarpPlan& warp : plan.plans) {
    warp.rounds.resize(below(most + 1));
    bool is_half = false;
    for (auto& round : warp.rounds) {
      round.spins = spins();
      round.half_ends = !is_half && below(8) == 0;
      is_half = is_half || round.half_ends;
    }
    if (!warp.rounds.empty()) warp.rounds.back().waits = below(2) == 0;
    warp.last_spins = spins();
  }
  return plan;
}

std::string spin(unsigned turns, unsigned& label) {
  if (turns == 0) return "";
  ++label;
  return fmt::format(
      "mov.u32 %r9, 0;\nS{0}: add.u32 %r9, %r9, 1; setp.lt.u32 %p9, %r9, {1}; @%p9 bra S{0};\n",
      label, turns);
}

// Word `warp * kRounds + round` of the first buffer is 1 once the warp has come to that round.
constexpr unsigned kRounds = 8;

// Each warp looks behind a wait at the words of all that arrive in the round, and counts those that are
// not 1 in its word of the second buffer.
std::string text_of(const ClusterPlan& plan) {
  std::string text =
      "mov.u32 %r1, %tid.x; mov.u32 %r2, %cluster_ctarank; shr.u32 %r3, %r1, 5;\n" +
      fmt::format("mad.lo.u32 %r3, %r2, {}, %r3; and.b32 %r4, %r1, 31;", plan.warps) +
      "setp.eq.u32 %p1, %r4, 0; setp.ge.u32 %p2, %r4, 16; mov.u32 %r5, 1; mov.u32 %r8, 0;\n" +
      "mul.wide.u32 %d0, %r3, 4; add.u64 %d0, %d0, %a1;\n";
  unsigned label = 0;
  for (std::size_t w = 0; w < plan.plans.size(); ++w)
    text += fmt::format("setp.eq.u32 %p3, %r3, {}; @%p3 bra W{};\n", w, w);
  for (std::size_t w = 0; w < plan.plans.size(); ++w) {
    text += fmt::format("W{}:\n", w);
    const WarpPlan& warp = plan.plans[w];
    for (std::size_t n = 0; n < warp.rounds.size(); ++n) {
      text += spin(warp.rounds[n].spins, label);
      if (warp.rounds[n].half_ends) text += "@%p2 exit;\n";
      text += fmt::format("@%p1 st.global.u32 [%a0+{}], %r5;\nbarrier.cluster.arrive;\n",
                          (w * kRounds + n) * 4);
      if (!warp.rounds[n].waits) break;
      text += "barrier.cluster.wait;\n";
      for (std::size_t other = 0; other < plan.plans.size(); ++other) {
        if (plan.plans[other].rounds.size() <= n) continue;
        text += fmt::format("ld.global.u32 %r6, [%a0+{}]; sub.u32 %r6, 1, %r6;",
                            (other * kRounds + n) * 4);
        text += "add.u32 %r8, %r8, %r6;\n";
      }
    }
    text += spin(warp.last_spins, label) + "@%p1 st.global.u32 [%d0], %r8;\nexit;\n";
  }
  return text;
}

void expect_as_defined(const ClusterPlan& plan, const Schedule& schedule, const std::string& name) {
  TestRun test(text_of(plan), 2);
  ASSERT_EQ(test.errors(), "") << name;
  test.launch.block = {plan.warps * kLanes};
  test.launch.grid = {plan.ctas};
  test.launch.cluster = Dim3{plan.ctas};
  test.options.schedule = schedule;
  test.input(std::vector<std::uint32_t>(plan.plans.size() * kRounds));
  test.output<std::uint32_t>(plan.plans.size());
  EXPECT_EQ(test.run().outcome, Outcome::Finished) << name << text_of(plan);
  EXPECT_EQ(test.findings(), "") << name << text_of(plan);
  EXPECT_EQ(test.read<std::uint32_t>(1), std::vector<std::uint32_t>(plan.plans.size()))
      << name << text_of(plan);
}

TEST(ClusterBarrier, RandomWarpsThatArriveWaitAndEnd) {
  std::mt19937_64 random(1);
  for (unsigned i = 0; i < 150 && !testing::Test::HasFailure(); ++i) {
    const ClusterPlan plan = random_plan(random);
    expect_as_defined(plan, {}, fmt::format("case {}: ", i));
    expect_as_defined(plan, Schedule::random(i), fmt::format("case {}, random: ", i));
    expect_as_defined(plan, {.turns = Turns::Stepwise}, fmt::format("case {}, steps: ", i));
  }
}

constexpr std::string_view kTwice =
    "barrier.cluster.arrive; barrier.cluster.arrive; barrier.cluster.wait;";

TEST(ClusterBarrier, ArrivesTwice) {
  TestRun test(kTwice, 0);
  test.launch.block = {32};
  test.launch.grid = {2};
  test.launch.cluster = Dim3{2};
  test.run();
  EXPECT_EQ(test.report().outcome, Outcome::Finished);
  EXPECT_EQ(
      test.findings(),
      "barrier 8: arrives at the cluster's barrier again before the phase of its last arrival "
      "has ended; `barrier.cluster.wait` comes between them\n");
}

// Half of a warp takes the other branch: only the forms without .aligned allow that.
TEST(ClusterBarrier, HalvesOfAWarpArriveAndWaitApart) {
  const auto findings = [](std::string_view arrive, std::string_view wait) {
    const std::string half = fmt::format("{};\n{};\n", arrive, wait);
    TestRun test("mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 16; @%p1 bra LOW;\n" + half +
                     "bra DONE;\nLOW:\n" + half + "DONE:\n",
                 0);
    test.launch.block = {32};
    test.launch.grid = {2};
    test.launch.cluster = Dim3{2};
    test.run();
    EXPECT_EQ(test.report().outcome, Outcome::Finished);
    return test.count(Check::Collective) == test.report().findings.list().size()
               ? test.count(Check::Collective)
               : 100;
  };
  const std::string_view arrive = "barrier.cluster.arrive", wait = "barrier.cluster.wait";
  EXPECT_EQ(findings(arrive, wait), 0U);
  EXPECT_EQ(findings("barrier.cluster.arrive.aligned", wait), 2U);
  EXPECT_EQ(findings(arrive, "barrier.cluster.wait.aligned"), 2U);
}

// The lanes of a warp that ends in part count as having come, whenever they end.
TEST(CtaBarrier, LanesEndBeforeAndAfterTheOthersArrive) {
  for (const std::string_view barrier : {"barrier.sync 1;", "barrier.sync 1, 64;"}) {
    for (const std::string_view order : {"lt", "ge"}) {
      TestRun test(fmt::format("mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 31;"
                               "setp.{}.u32 %p1, %r2, 16; @%p1 bra WAITS;\n"
                               "nanosleep.u32 100; exit;\nWAITS: {}\n",
                               order, barrier),
                   0);
      test.launch.block = {64};
      EXPECT_EQ(test.run().outcome, Outcome::Finished) << barrier << order;
      EXPECT_EQ(test.findings(), "") << barrier << order;
    }
  }
}

}  // namespace
}  // namespace ww::sim::barriers_test
