// SPDX-License-Identifier: Apache-2.0
// Programs that mean no good, or make no sense: each ends with errors or with a report.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "sim/test_run.h"

namespace ww::sim::hostile_test {
namespace {

// Loads and runs whatever the text is, in narrow limits.
void survive(const std::string& text) {
  LoadResult loaded = load(text, "hostile.ptx");
  if (loaded.program == nullptr) {
    EXPECT_FALSE(loaded.errors.empty()) << text;
    return;
  }
  Device device(loaded.program);
  Region& buffer = device.memory().allocate(256, 256, "parameter 0");
  for (const Code* kernel : loaded.program->kernels()) {
    Launch launch;
    launch.kernel = kernel;
    launch.grid = {2};
    launch.block = {48};
    launch.params.resize(kernel->param_bytes);
    for (const Param& param : kernel->params) {
      if (param.bytes == 8) std::memcpy(launch.params.data() + param.offset, &buffer.base, 8);
    }
    RunOptions options;
    options.limits = {.instructions = 20'000, .seconds = 2, .memory = std::uint64_t{1} << 28U};
    options.threads = 1;
    (void)device.run(launch, options);
  }
}

// What the mutations start from: one kernel with a bit of everything.
std::string seed_text() {
  return kernel_text(
      R"(
    .shared .align 128 .b8 tile[2048]; .local .b8 stack[64];
    mov.u32 %r1, %tid.x; mov.u32 %r2, tile; shl.b32 %r3, %r1, 4; add.u32 %r3, %r3, %r2;
    mul.wide.u32 %d1, %r1, 4; add.u64 %d2, %d1, %a0; ld.global.u32 %r4, [%d2];
    st.shared.v4.u32 [%r3], {%r4, %r1, %r4, %r1}; bar.sync 0;
    ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10,%r11,%r12,%r13}, [%r3];
    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r10,%r11,%r12,%r13}, {%r10,%r11}, {%f1,%f2,%f3,%f4};
    setp.lt.u32 %p1, %r1, 16; @%p1 bra LOW; add.f32 %f5, %f1, %f2; bra JOIN; LOW: mul.f32 %f5, %f3, %f4;
    JOIN: shfl.sync.bfly.b32 %r5, %r4, 1, 31, -1; vote.sync.ballot.b32 %r6, %p1, -1;
    cp.async.ca.shared.global [%r3], [%d2], 4; cp.async.commit_group; cp.async.wait_group 0;
    mbarrier.init.shared.b64 [tile+64], 1; mbarrier.arrive.shared.b64 %d9, [tile+64];
    TRY: mbarrier.try_wait.shared.b64 %p2, [tile+64], %d9; @!%p2 bra TRY;
    st.local.u32 [stack+4], %r5; ld.local.u32 %r7, [stack+4]; atom.shared.add.u32 %r8, [tile+128], 1;
    { .param .b32 x; .param .b32 y; st.param.b32 [x], %r7; call (y), twice, (x); ld.param.b32 %r9, [y]; }
    red.global.add.u32 [%d2], %r9;)",
      1, "sm_90a", "8.8",
      ".func (.param .b32 out) twice(.param .b32 in) { .reg .b32 %x<3>; ld.param.u32 %x1, [in];"
      " add.u32 %x2, %x1, %x1; st.param.b32 [out], %x2; ret; }\n.global .u32 table[4] = {1, 2, 3, "
      "4};");
}

TEST(Hostile, TheSeedItselfRuns) {
  const LoadResult loaded = load(seed_text(), "seed.ptx");
  ASSERT_TRUE(loaded.program != nullptr) << loaded.errors.at(0).text;
  survive(seed_text());
}

TEST(Hostile, WordsInTheWrongPlaces) {
  const std::string seed = seed_text();
  std::mt19937 random(11);
  const auto below = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
  };
  const char* const words[] = {"%r1",   "%r3",       "%d2",   "%a0",        "%f1",
                               "%p1",   "0",         "-1",    "4294967295", "tile",
                               "stack", "bra JOIN;", "exit;", "ret;",       "bar.sync 0;",
                               "@%p1 ", "table",     "+4096", "_",          "16"};
  for (int round = 0; round < 400; ++round) {
    std::string text = seed;
    for (std::size_t edits = below(3) + 1; edits > 0; --edits) {
      const std::size_t at = text.find_first_of(" ,;[{", below(text.size()));
      if (at == std::string::npos) continue;
      const std::size_t end = text.find_first_of(" ,;]}+", at + 1);
      switch (below(3)) {
        case 0:
          text.insert(at + 1, words[below(std::size(words))]);
          break;
        case 1:
          text.replace(at + 1, (end == std::string::npos ? at + 1 : end) - at - 1,
                       words[below(std::size(words))]);
          break;
        default: {  // a statement moves
          const std::size_t from = text.find(';', below(text.size()));
          const std::size_t to = from == std::string::npos ? from : text.find(';', from + 1);
          if (to == std::string::npos) break;
          const std::string moved = text.substr(from + 1, to - from);
          text.erase(from + 1, to - from);
          text.insert(text.find(';', below(text.size())) + 1, moved);
        }
      }
    }
    survive(text);
  }
}

TEST(Hostile, NumbersOutOfEveryRange) {
  for (const char* body :
       {"mov.u64 %d1, 0xFFFFFFFFFFFFFFFF; ld.global.u32 %r1, [%d1];",
        "mov.u64 %d1, 0x1FFFFFFFF; ld.u32 %r1, [%d1]; st.u32 [%d1+8], %r1; atom.add.u32 %r2, "
        "[%d1], 1;",
        "mov.u32 %r1, 0xFFFFFFF0; ld.shared.v4.u32 {%r2,%r3,%r4,%r5}, [%r1];",
        "mov.u64 %d1, 0x2FFFFFFF8; ld.u64 %d2, [%d1];",
        "mov.u64 %d1, 0x300000000; st.u64 [%d1], %d1;", "bar.sync %r1;",
        "mov.u32 %r1, 77; bar.sync %r1, %r1;", "mov.u32 %r1, 5; bar.arrive 3, 4096;",
        "mov.u64 %d1, 0x400000000; P: .callprototype _ (); call %d1, (), P;",
        "shfl.sync.idx.b32 %r1, %r2, %r3, %r4, %r5;",
        "mov.u32 %r1, 0; shfl.sync.up.b32 %r2, %r1, 1, 0, %r1;",
        "mapa.u64 %d1, %a0, 99; ld.u32 %r1, [%d1];",
        "mov.u32 %r1, -1; mapa.shared::cluster.u32 %r2, %r1, %r1;",
        "mbarrier.init.shared.b64 [%r1], 0; mbarrier.arrive.shared.b64 %d1, [%r1+4];",
        "mov.u64 %d2, 1048560; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
        "[%r1], [%a0], 1048560, [%r2];",
        "LOOP: call down; bra LOOP;"}) {
    SCOPED_TRACE(body);
    survive(kernel_text(body, 1, "sm_90a", "8.8", ".func down { .local .b8 x[4096]; ret; }"));
  }
}

// Copies that nobody waits for pile up; the budget bounds them.
TEST(Hostile, AFloodOfCopiesMeetsTheBudget) {
  TestRun test(R"(
      .shared .align 16 .b32 s[4]; mov.u32 %r1, 0;
      L: cp.async.ca.shared.global [s], [%a0], 4; cp.async.commit_group; add.u32 %r1, %r1, 1;
      setp.lt.u32 %p1, %r1, 3000000; @%p1 bra L; cp.async.wait_all;)",
               1);
  test.input<std::uint32_t>({7});
  test.options.limits.memory = 16U << 20U;
  EXPECT_EQ(test.run().outcome, Outcome::MemoryLimit);
  EXPECT_THAT(test.report().reason, testing::HasSubstr("asynchronous work without a wait"));
  EXPECT_LT(test.report().counters.instructions, 500'000U);
}

TEST(Hostile, AFloodOfProductsMeetsTheBudget) {
  TestRun test(R"(
      .shared .align 128 .b8 s[256]; mov.u32 %r1, 0; mov.u64 %d1, 0x0000000800080000;
      L: wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3}, {%r2,%r3,%r4,%r5},
        %d1, 0, 1, 1, 0;
      add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 3000000; @%p1 bra L;
      wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;)",
               0);
  test.launch.block = {128};
  test.options.limits.memory = 4U << 20U;
  EXPECT_EQ(test.run().outcome, Outcome::MemoryLimit);
  EXPECT_THAT(test.report().reason, testing::HasSubstr("asynchronous work without a wait"));
  EXPECT_LT(test.report().counters.instructions, 500'000U);
}

/// Blocks that read past the end of a buffer, each at many lines of its own.
class PastTheEnd {
 public:
  PastTheEnd(unsigned blocks, unsigned lines) : blocks_(blocks), body_("mov.u32 %r1, %ctaid.x;\n") {
    for (unsigned b = 0; b < blocks; ++b) {
      body_ += fmt::format("setp.ne.u32 %p1, %r1, {0}; @%p1 bra NEXT{0};\n", b);
      for (unsigned i = 0; i < lines; ++i) body_ += "ld.global.u32 %r2, [%a0+4096];\n";
      body_ += fmt::format("NEXT{}:\n", b);
    }
  }
  LaunchReport run(std::uint64_t memory, unsigned threads) const {
    TestRun test(body_, 1);
    test.output<std::uint32_t>(4);
    test.launch.grid = {blocks_};
    test.options.threads = threads;
    test.options.limits.memory = memory;
    return test.run();
  }

 private:
  unsigned blocks_;
  std::string body_;
};

constexpr std::uint64_t kMuch = std::uint64_t{1} << 30U;
constexpr std::uint64_t kLittle = 500'000;

TEST(Hostile, AFloodOfFindingsMeetsTheBudget) {
  const PastTheEnd block(1, 4000);
  const LaunchReport all = block.run(kMuch, 1);
  EXPECT_EQ(all.outcome, Outcome::Finished);
  EXPECT_EQ(all.findings.list().size(), 4000U);
  ASSERT_GT(all.findings.bytes(), 2 * kLittle);
  const LaunchReport little = block.run(kLittle, 1);
  EXPECT_EQ(little.outcome, Outcome::MemoryLimit);
  EXPECT_THAT(little.reason, testing::HasSubstr("what was found takes"));
  EXPECT_GT(little.findings.bytes(), kLittle / 2);
  EXPECT_LT(little.findings.bytes(), kLittle + kLittle / 100);
}

// What a single block finds is little; all of them together are not. Whoever helps, the same is
// reported.
TEST(Hostile, FindingsOfManyBlocksMeetTheBudget) {
  const PastTheEnd blocks(64, 60);
  EXPECT_EQ(blocks.run(kMuch, 2).findings.list().size(), 3840U);
  const LaunchReport alone = blocks.run(kLittle, 1);
  EXPECT_EQ(alone.outcome, Outcome::MemoryLimit);
  EXPECT_THAT(alone.reason, testing::HasSubstr("what was found and printed takes"));
  EXPECT_LT(alone.findings.bytes(), kLittle + kLittle / 10);
  const LaunchReport helped = blocks.run(kLittle, 4);
  EXPECT_EQ(helped.outcome, Outcome::MemoryLimit);
  EXPECT_EQ(helped.reason, alone.reason);
  EXPECT_EQ(helped.findings.list().size(), alone.findings.list().size());
}

TEST(Hostile, ARecursionMeetsTheBudget) {
  const auto run = [](std::string_view local, std::uint64_t memory) {
    TestRun test(kernel_text(
        "call down; st.global.u32 [%a0], 1;", 1, "sm_90a", "8.8",
        fmt::format(".func down {{ {} .reg .b32 %x<64>; mov.u32 %x1, 0; call down; ret; }}",
                    local)));
    test.output<std::uint32_t>(1);
    test.launch.block = {256};
    test.options.limits.memory = memory;
    return test.run();
  };
  for (const std::string_view local : {"", ".local .b8 x[16];"}) {  // frames alone count, too
    EXPECT_EQ(run(local, std::uint64_t{1} << 33U).reason.find("the stack is exhausted"), 0U);
    const LaunchReport report = run(local, 8U << 20U);
    EXPECT_EQ(report.outcome, Outcome::MemoryLimit) << local;
    EXPECT_THAT(report.reason, testing::HasSubstr("calls inside each other takes"));
  }
}

TEST(Hostile, WhatBlocksWriteInPartsMeetsTheBudget) {
  // Bytes are kept one by one for the blocks behind; many of them take more than there is.
  TestRun test(
      "mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r1, %r2, 1024, %r1;\n"
      "mul.wide.u32 %d1, %r1, 2; add.u64 %d1, %d1, %a0; mov.u32 %r3, 0;\n"
      "L: st.global.u8 [%d1], 1; add.u64 %d1, %d1, 524288; add.u32 %r3, %r3, 1;\n"
      "setp.lt.u32 %p1, %r3, 4; @%p1 bra L;",
      1);
  test.output<std::uint8_t>(1U << 21U);
  test.launch.block = {1024};
  test.launch.grid = {256};
  test.options.threads = 1;
  test.options.limits.memory = 24U << 20U;
  EXPECT_EQ(test.run().outcome, Outcome::MemoryLimit);
  EXPECT_THAT(test.report().reason, testing::HasSubstr("tracking races takes"));
}

// --- large grids ---------------------------------------------------------------------------------

// What is kept of each block is little, however many there are.
TEST(LargeGrid, ChecksStayInTheirBudget) {
  constexpr std::uint32_t kBlocks = 10'000;
  // All read one table and count in one place; each writes a word of its own.
  const auto run = [&](std::string_view count) {
    TestRun test(
        fmt::format("mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mul.wide.u32 %d1, %r1, 4;\n"
                    "add.u64 %d1, %d1, %a0; ld.global.u32 %r3, [%d1]; {}\n"
                    "mul.wide.u32 %d2, %r2, 4; add.u64 %d2, %d2, %a2;\n"
                    "setp.eq.u32 %p1, %r1, 5; @%p1 st.global.u32 [%d2], %r3;",
                    count),
        3);
    test.input(std::vector<std::uint32_t>(32, 9)).input<std::uint32_t>({0});
    test.output<std::uint32_t>(kBlocks);
    test.launch.block = {32};
    test.launch.grid = {kBlocks};
    test.options.threads = 1;
    test.options.limits.memory = 6U << 20U;
    const LaunchReport& report = test.run();
    EXPECT_EQ(report.outcome, Outcome::Finished) << count << "\n" << report.reason;
    EXPECT_EQ(test.findings(), "") << count;
    EXPECT_EQ(test.read<std::uint32_t>(1)[0], count.empty() ? 0 : kBlocks * 32) << count;
    EXPECT_EQ(test.read<std::uint32_t>(2)[kBlocks - 1], 9U) << count;
  };
  run("");
  run("red.global.add.u32 [%a1], 1;");
  run("atom.global.add.u32 %r4, [%a1], 1;");
  run("membar.gl; atom.global.add.u32 %r4, [%a1], 1; membar.gl;");
}

// Of a race among so many the first is shown and the rest are counted.
TEST(LargeGrid, ARaceOfAllBlocksIsOneFinding) {
  for (const std::string_view more : {"", "atom.global.add.u32 %r4, [%a1], 1;"}) {
    TestRun test(fmt::format("mov.u32 %r2, %ctaid.x; st.global.u32 [%a0], %r2; {}", more), 2);
    test.output<std::uint32_t>(1).input<std::uint32_t>({0});
    test.launch.grid = {7'500};
    test.options.threads = 1;
    test.options.limits.memory = 4U << 20U;
    EXPECT_EQ(test.run().outcome, Outcome::Finished) << test.report().reason;
    EXPECT_EQ(test.count(Check::Race), 1U) << test.findings();
  }
}

}  // namespace
}  // namespace ww::sim::hostile_test
