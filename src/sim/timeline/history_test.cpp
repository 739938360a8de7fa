// SPDX-License-Identifier: Apache-2.0
#include "sim/timeline/history.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "sim/test_run.h"

namespace ww::sim::timeline_history_test {
namespace {

// Two warps: each thread stores its number to shared memory, all meet, each loads its neighbour's from
// the other warp and stores it to the output.
constexpr const char* kExchange =
    ".shared .align 4 .b32 cells[64];\n"
    "mov.u32 %r0, %tid.x; mov.u32 %r1, cells; mad.lo.u32 %r2, %r0, 4, %r1;\n"
    "st.shared.b32 [%r2], %r0;\n"
    "bar.sync 0;\n"
    "xor.b32 %r3, %r0, 32; mad.lo.u32 %r4, %r3, 4, %r1; ld.shared.b32 %r5, [%r4];\n"
    "mul.wide.u32 %d0, %r0, 4; add.u64 %d1, %a0, %d0; st.global.b32 [%d1], %r5;";

std::shared_ptr<const History> record(TestRun& test, std::uint32_t threads, bool stepwise = true) {
  test.launch.block = {threads};
  if (stepwise) test.options.schedule.turns = Turns::Stepwise;
  test.options.record = RecordRequest{.block = 0, .keeps_states = true};
  const LaunchReport& report = test.run();
  EXPECT_TRUE(report.recording.has_value()) << test.errors() << test.refusal();
  return report.recording ? report.recording->history : nullptr;
}

std::uint32_t word(std::span<const std::byte> bytes, std::size_t index) {
  std::uint32_t out = 0;
  std::memcpy(&out, bytes.data() + index * 4, 4);
  return out;
}

using Images = std::vector<std::vector<std::byte>>;

Images images_at(HistoryCursor& cursor, const History& history, std::uint64_t moment) {
  cursor.seek(moment);
  Images out;
  for (std::size_t i = 0; i < history.regions.size(); ++i)
    out.emplace_back(cursor.bytes(i).begin(), cursor.bytes(i).end());
  return out;
}

// Whether each state is the same coming from the begin, from the end and from its other side.
bool leads_both_ways(const History& history) {
  const std::uint64_t count = history.moments.size();
  HistoryCursor cursor(history);
  std::vector<Images> forward;
  for (std::uint64_t m = 0; m <= count; ++m) forward.push_back(images_at(cursor, history, m));
  for (std::uint64_t m = count + 1; m-- > 0;)
    if (images_at(cursor, history, m) != forward[m]) return false;
  return images_at(cursor, history, count / 2) == forward[count / 2];
}

TEST(History, HasEveryInstructionOfEveryWarp) {
  TestRun test(kExchange, 1);
  test.output<std::uint32_t>(64);
  const auto history = record(test, 64);
  ASSERT_NE(history, nullptr);
  EXPECT_EQ(history->moments.size(), test.run().counters.instructions);
  EXPECT_FALSE(history->is_cut);
  EXPECT_EQ(history->change_begins.size(), history->moments.size() + 1);
}

TEST(History, SharedMemoryChangesWhenItIsStoredTo) {
  TestRun test(kExchange, 1);
  test.output<std::uint32_t>(64);
  const auto history = record(test, 64, false);
  ASSERT_NE(history, nullptr);
  HistoryCursor cursor(*history);
  cursor.seek(history->moments.size());
  for (std::uint32_t i = 0; i < 64; ++i)
    EXPECT_EQ(word(cursor.bytes(HistoryPart::Shared, 0), i), i);
  // Before the second warp runs, only the first half is there.
  std::uint64_t second = 0;
  while (history->moments[second].warp == 0) ++second;
  cursor.seek(second);
  EXPECT_EQ(word(cursor.bytes(HistoryPart::Shared, 0), 31), 31U);
  EXPECT_EQ(cursor.bytes(HistoryPart::UndefinedShared, 0)[31 * 4], std::byte{0});
  EXPECT_NE(cursor.bytes(HistoryPart::UndefinedShared, 0)[32 * 4], std::byte{0});
  cursor.seek(0);
  EXPECT_NE(cursor.bytes(HistoryPart::UndefinedShared, 0)[0], std::byte{0});
}

TEST(History, ARegisterHoldsWhatWasLoaded) {
  TestRun test(kExchange, 1);
  test.output<std::uint32_t>(64);
  const auto history = record(test, 64);
  ASSERT_NE(history, nullptr);
  const Program& program = test.program();
  HistoryCursor cursor(*history);
  int loads = 0;
  for (std::uint64_t m = 0; m < history->moments.size(); ++m) {
    const Moment& moment = history->moments[m];
    const OperandInfo& result = program.operands_of(moment.op)[0];
    if (!program.module.text(program.infos[moment.op].opcode).starts_with("ld.shared")) continue;
    ++loads;
    cursor.seek(m + 1);
    const auto registers = cursor.bytes(HistoryPart::Registers, moment.warp);
    for (std::uint32_t lane = 0; lane < kLanes; ++lane)
      EXPECT_EQ(word(registers.subspan(result.place.offset()), lane),
                (moment.warp ^ 1U) * 32 + lane);
  }
  EXPECT_EQ(loads, 2);
}

TEST(History, LeadsBackAsItLedForward) {
  for (const bool stepwise : {true, false}) {
    TestRun test(kExchange, 1);
    test.output<std::uint32_t>(64);
    const auto history = record(test, 64, stepwise);
    ASSERT_NE(history, nullptr);
    EXPECT_TRUE(leads_both_ways(*history));
  }
}

// The end of a history is the memory of the run. A fault planted in a change shows there.
TEST(History, APlantedFaultShowsAtTheEnd) {
  TestRun test(kExchange, 1);
  test.output<std::uint32_t>(64);
  const auto history = record(test, 64);
  ASSERT_NE(history, nullptr);
  const auto is_right = [](const History& seen) {
    HistoryCursor cursor(seen);
    cursor.seek(seen.moments.size());
    for (std::uint32_t i = 0; i < 64; ++i)
      if (word(cursor.bytes(HistoryPart::Shared, 0), i) != i) return false;
    return true;
  };
  EXPECT_TRUE(is_right(*history));
  History wrong = *history;
  for (std::uint64_t m = 0; m < wrong.moments.size(); ++m)
    for (const ChangedBytes& change : changes_of(wrong, m))
      if (wrong.regions[change.region].part == HistoryPart::Shared)
        wrong.changes[static_cast<std::size_t>(change.difference.data() - wrong.changes.data())] ^=
            std::byte{1};
  EXPECT_FALSE(is_right(wrong));
}

TEST(History, WarpsWaitAndBarriersFill) {
  TestRun test(kExchange, 1);
  test.output<std::uint32_t>(64);
  const auto history = record(test, 64, false);
  ASSERT_NE(history, nullptr);
  bool waited = false, filled = false;
  for (std::uint64_t m = 0; m <= history->moments.size(); ++m) {
    waited = waited || history->status_at(0, m).state == WarpState::AtBarrier;
    for (const BarrierHistory& barrier : history->barriers) {
      const BarrierStatus status = History::status_at(barrier, m);
      filled = filled || (status.is_alive && status.pending == 32 && status.expected == 64);
    }
  }
  EXPECT_TRUE(waited);
  EXPECT_TRUE(filled);
  EXPECT_TRUE(history->status_at(0, history->moments.size()).has_ended);
}

TEST(History, AnMbarrierCountsItsPhase) {
  TestRun test(
      ".shared .align 8 .b64 bar;\n"
      "mov.u32 %r0, %tid.x; setp.ne.u32 %p0, %r0, 0; @%p0 bra end;\n"
      "mbarrier.init.shared.b64 [bar], 2;\n"
      "mbarrier.arrive.shared.b64 _, [bar]; mbarrier.arrive.shared.b64 _, [bar];\n"
      "mbarrier.inval.shared.b64 [bar];\nend:",
      0);
  const auto history = record(test, 32);
  ASSERT_NE(history, nullptr);
  const auto bar = std::ranges::find(history->barriers, true, &BarrierHistory::is_mbarrier);
  ASSERT_NE(bar, history->barriers.end());
  std::string seen;
  for (const BarrierChange& change : bar->changes)
    seen += fmt::format("{}{}/{} ", change.status.is_alive ? "" : "gone ", change.status.phase,
                        change.status.pending);
  EXPECT_EQ(seen, "0/2 0/1 1/2 gone 0/0 ");
}

TEST(History, AFindingHasItsMoment) {
  TestRun test("setp.eq.u32 %p1, %r1, 0; @%p1 bra done; done:", 0);
  const auto history = record(test, 32);
  ASSERT_NE(history, nullptr);
  ASSERT_EQ(history->findings.size(), 1U);
  EXPECT_EQ(history->findings[0].check, Check::Uninit);
  EXPECT_EQ(history->moments[history->findings[0].moment].op, history->findings[0].op);
}

TEST(History, IsNotKeptUnlessAskedFor) {
  TestRun test(kExchange, 1);
  test.output<std::uint32_t>(64);
  test.launch.block = {64};
  test.options.record = RecordRequest{};
  ASSERT_TRUE(test.run().recording.has_value());
  EXPECT_EQ(test.run().recording->history, nullptr);
}

}  // namespace
}  // namespace ww::sim::timeline_history_test
