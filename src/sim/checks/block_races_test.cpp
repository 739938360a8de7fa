// SPDX-License-Identifier: Apache-2.0
// Races between blocks, against a count over all pairs of accesses: where words have the accesses of
// their neighbours, and where each has its own.
#include "sim/checks/block_races.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "sim/test_run.h"

namespace ww::sim {
namespace {

constexpr std::uint32_t kWrites = 0x8000'0000U;
constexpr std::uint32_t kWords = 4096;

// What thread t of block b does is in word 32 * b + t of the first buffer: an index into the second,
// and whether it writes there or reads.
constexpr std::string_view kKernel = R"(
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r3, %r2, 32, %r1;
  mul.wide.u32 %d1, %r3, 4; add.u64 %d1, %d1, %a0; ld.global.u32 %r4, [%d1];
  setp.lt.s32 %p1, %r4, 0; and.b32 %r5, %r4, 0x7FFFFFFF; mul.wide.u32 %d2, %r5, 4; add.u64 %d2, %d2, %a1;
  @%p1 st.global.u32 [%d2], %r1; @!%p1 ld.global.u32 %r6, [%d2];
)";

// Words that two blocks touch, one of them writing.
std::size_t conflicts_in(const std::vector<std::uint32_t>& accesses) {
  std::map<std::uint32_t, std::set<std::size_t>> all, writing;
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    const std::uint32_t word = accesses[i] & ~kWrites;
    all[word].insert(i / 32);
    if ((accesses[i] & kWrites) != 0) writing[word].insert(i / 32);
  }
  return static_cast<std::size_t>(
      std::ranges::count_if(writing, [&](const auto& it) { return all[it.first].size() > 1; }));
}

void expect_conflicts(const std::vector<std::uint32_t>& accesses) {
  TestRun run(kKernel, 2);
  run.input(accesses);
  run.input(std::vector<std::uint32_t>(kWords));
  run.launch.grid = {static_cast<std::uint32_t>(accesses.size() / 32)};
  run.launch.block = {32};
  run.run();
  EXPECT_EQ(run.report().outcome, Outcome::Finished);
  std::uint64_t found = 0;
  for (const Finding& finding : run.report().findings.list()) {
    EXPECT_EQ(finding.check, Check::Race) << finding.text;
    found += finding.count;
  }
  EXPECT_EQ(found, conflicts_in(accesses));
}

// `stride` words from a block's first to the next one's.
std::vector<std::uint32_t> in_rows(std::uint32_t blocks, std::uint32_t stride, bool writes) {
  std::vector<std::uint32_t> accesses;
  for (std::uint32_t i = 0; i < blocks * 32; ++i)
    accesses.push_back((i / 32 * stride + i % 32) | (writes ? kWrites : 0));
  return accesses;
}

TEST(BlockRaces, RowsOfNeighbouringWords) {
  expect_conflicts(in_rows(100, 32, true));
  expect_conflicts(in_rows(100, 31, true));
  expect_conflicts(in_rows(100, 31, false));
  std::vector<std::uint32_t> both = in_rows(60, 32, true);
  const std::vector<std::uint32_t> readers = in_rows(60, 33, false);
  both.insert(both.end(), readers.begin(), readers.end());
  expect_conflicts(both);
}

// So many different words in a page that it gets entries of its own.
TEST(BlockRaces, WordsThatDiffer) {
  std::mt19937 random(3);
  for (const std::uint32_t words : {256U, 4096U}) {
    for (const unsigned writers : {0U, 1U, 50U, 100U}) {
      std::vector<std::uint32_t> accesses;
      for (unsigned block = 0; block < 60; ++block) {
        std::set<std::uint32_t> own;  // so that no two threads of a block meet
        while (own.size() < 32) own.insert(static_cast<std::uint32_t>(random()) % words);
        for (const std::uint32_t word : own)
          accesses.push_back(word | (random() % 100 < writers ? kWrites : 0));
      }
      expect_conflicts(accesses);
    }
  }
}

// What is said of an atomic and a plain access of another block.
TEST(BlockRaces, AnAtomicAndAPlainAccess) {
  const auto text = [](std::string_view plain) {
    TestRun run(fmt::format("mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, 0;\n"
                            "@%p1 red.global.add.u32 [%a0], 1; @!%p1 {};",
                            plain),
                1);
    run.input(std::vector<std::uint32_t>(1));
    run.launch.grid = {2};
    run.run();
    EXPECT_EQ(run.report().findings.list().size(), 1U);
    return run.findings();
  };
  EXPECT_NE(text("ld.global.u32 %r2, [%a0]").find(": reads global memory at "), std::string::npos);
  EXPECT_NE(text("st.global.u32 [%a0], 1").find(": writes global memory at "), std::string::npos);
}

}  // namespace
}  // namespace ww::sim
