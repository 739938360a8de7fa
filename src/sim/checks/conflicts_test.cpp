// SPDX-License-Identifier: Apache-2.0
// The same bytes for any number of threads of the host, whatever units do to each other.
#include "sim/checks/conflicts.h"

#include <gtest/gtest.h>

#include "sim/test_run.h"

namespace ww::sim::conflicts_test {
namespace {

using Words = std::vector<std::uint32_t>;

struct Ended {
  Words out;
  Outcome outcome{};
  std::string findings;
  std::uint64_t instructions = 0;

  friend bool operator==(const Ended&, const Ended&) = default;
};

Ended run(const std::string& body, unsigned threads, const CheckSet& checks) {
  TestRun test(body, 1);
  test.input<std::uint32_t>(Words(64, 5));
  test.launch.grid = {96};
  test.launch.block = {32};
  test.options.threads = threads;
  test.options.checks = checks;
  Ended ended;
  ended.outcome = test.run().outcome;
  ended.out = test.read<std::uint32_t>(0);
  ended.findings = test.findings();
  ended.instructions = test.report().counters.instructions;
  return ended;
}

constexpr std::string_view kIds =
    "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mul.wide.u32 %d1, %r2, 4; add.u64 %d1, %d1, %a0;";

void expect_same(const std::string& body) {
  for (const CheckSet& checks : {CheckSet::all(), CheckSet::nothing()}) {
    const Ended alone = run(std::string(kIds) + body, 1, checks);
    for (int i = 0; i < 8; ++i)
      EXPECT_TRUE(run(std::string(kIds) + body, 4, checks) == alone) << body;
  }
}

TEST(Conflicts, WritersOfOneWord) { expect_same("st.global.u32 [%d1], %r1;"); }

TEST(Conflicts, WritersOfBytesOfAWord) {
  expect_same(
      "and.b32 %r3, %r1, 3; cvt.u64.u32 %d2, %r3; add.u64 %d2, %d2, %a0;"
      "st.global.u8 [%d2], %r1;");
}

TEST(Conflicts, AReaderAndAWriter) {
  expect_same("ld.global.u32 %r3, [%d1]; mad.lo.u32 %r3, %r3, 3, %r1; st.global.u32 [%d1], %r3;");
}

TEST(Conflicts, ReductionsOfSeveralKinds) {
  expect_same("red.global.add.u32 [%d1], 3; red.global.max.u32 [%d1], %r1;");
}

TEST(Conflicts, AReductionAndAReader) {
  expect_same(
      "red.global.add.u32 [%d1], 3; ld.global.u32 %r3, [%d1]; st.global.u32 [%d1+128], %r3;");
}

// What comes behind the unit that ends the run must not have happened.
TEST(Conflicts, AUnitThatTraps) {
  expect_same(
      "mul.wide.u32 %d2, %r1, 4; setp.lt.u32 %p1, %r1, 32; add.u64 %d2, %d2, %a0;"
      "@%p1 st.global.u32 [%d2], %r1; setp.eq.u32 %p2, %r1, 7; @%p2 trap;");
}

// --- what is watched -----------------------------------------------------------------------------

TEST(Conflicts, Watched) {
  GlobalMemory memory;
  Region& region = memory.allocate(64, 16, "a");
  const std::uint64_t address[kLanes] = {region.base, region.base + 4, region.base + 8};
  const auto found = [&](auto touch) {
    Conflicts conflicts(memory);
    touch(conflicts);
    return conflicts.found();
  };
  EXPECT_FALSE(found([&](Conflicts& c) {
    c.note_write(region, address, 1, 4, 0);
    c.note_write(region, address, 2, 4, 1);
    c.note_read(region, address, 1, 4, 0);
    c.note_read(region, address, 4, 4, 0);
    c.note_read(region, address, 4, 4, 1);
  }));
  EXPECT_FALSE(found([&](Conflicts& c) {
    c.note_atomic(region, address, 1, 4, 0, 9);
    c.note_atomic(region, address, 1, 4, 1, 9);
  }));
  EXPECT_TRUE(found([&](Conflicts& c) {
    c.note_write(region, address, 1, 4, 0);
    c.note_write(region, address, 1, 1, 1);
  }));
  EXPECT_TRUE(found([&](Conflicts& c) {
    c.note_write(region, address, 1, 8, 0);
    c.note_read(region, address, 2, 4, 1);
  }));
  EXPECT_TRUE(found([&](Conflicts& c) {
    c.note_read(region, address, 1, 4, 0);
    c.note_read(region, address, 1, 4, 1);
    c.note_write(region, address, 1, 4, 1);
  }));
  EXPECT_TRUE(found([&](Conflicts& c) {
    c.note_atomic(region, address, 1, 4, 0, 9);
    c.note_atomic(region, address, 1, 4, 1, 8);
  }));
  EXPECT_EQ(region.owners, nullptr);
}

TEST(Conflicts, Restores) {
  GlobalMemory memory;
  Region& region = memory.allocate(4, 16, "a");
  const Conflicts conflicts(memory);
  GlobalMemory::write(region, std::vector(4, std::byte{1}));
  conflicts.restore();
  EXPECT_EQ(region.data[0], std::byte{0xCD});
  EXPECT_EQ(region.undefined[0], 0xFF);
}

}  // namespace
}  // namespace ww::sim::conflicts_test
