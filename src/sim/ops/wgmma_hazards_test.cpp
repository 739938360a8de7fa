// SPDX-License-Identifier: Apache-2.0
// Hazards of wgmma: for each a planted fault, which must be found and be the only finding, and next
// to it the program without it, which must have none.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "sim/ops/test_wgmma.h"
#include "sim/test_run.h"

namespace ww::sim {
namespace {

// m64n8k16: D in %c0 to %c3, A in %x0 to %x3.
constexpr std::string_view kFence = "wgmma.fence.sync.aligned;\n";
constexpr std::string_view kCommit = "wgmma.commit_group.sync.aligned;\n";
constexpr std::string_view kWait = "wgmma.wait_group.sync.aligned 0;\n";
constexpr std::string_view kPublish = "fence.proxy.async; bar.sync 0;\n";
const WgmmaSpec kInRegisters{.a_in_registers = true, .image_bytes = 4096};
const WgmmaSpec kInShared{.image_bytes = 4096};

std::string joined(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text += part;
  return text;
}

struct Ran {
  std::string findings;
  std::string origin;  // of an undefined value
  Outcome outcome{};
  std::vector<std::uint32_t> out;
};

struct Setting {
  std::uint64_t a = 0x0010'0008'0000U, b = 0x0010'0008'0000U;  // without swizzle, from the start
  unsigned threads = 128;
  bool is_early = false;                 // `uninit=early`
  std::uint32_t metadata = 0x4444'4444;  // of a sparse A
};

// Runs what is between loading the operands and storing D.
Ran run_body(const WgmmaSpec& spec, const std::string& body, const Setting& setting = {}) {
  TestRun test(".version 8.8\n.target sm_90a\n.address_size 64\n" + wgmma_prelude(spec) + body +
               wgmma_epilogue(spec));
  EXPECT_EQ(test.errors(), "");
  const std::size_t words = std::size_t{128} * spec.d_registers();
  test.launch.block = {setting.threads};
  test.input(std::vector<std::uint16_t>(spec.image_bytes / 2, 0x3C00));
  test.input(std::vector<std::uint32_t>(128 * 4, 0x3C003C00U));
  test.input(std::vector<std::uint32_t>(words));
  test.input(std::vector<std::uint32_t>(128, setting.metadata));
  test.input(std::vector<std::uint64_t>{setting.a, setting.b, 1});
  test.output<std::uint32_t>(words);
  test.options.checks.undefined_early = setting.is_early;
  const Outcome outcome = test.run().outcome;
  std::string origin;
  for (const Finding& finding : test.report().findings.list()) origin += finding.origin.text;
  return {test.findings(), origin, outcome, test.read<std::uint32_t>(5)};
}

void expect_clean(const WgmmaSpec& spec, const std::string& body) {
  const Ran ran = run_body(spec, body);
  EXPECT_EQ(ran.findings, "") << body;
  EXPECT_EQ(ran.outcome, Outcome::Finished);
}

// One finding, with these words in it.
void expect_one(const WgmmaSpec& spec, const std::string& body, std::string_view check,
                std::string_view words, const Setting& setting = {}) {
  const Ran ran = run_body(spec, body, setting);
  EXPECT_TRUE(ran.findings.starts_with(check)) << ran.findings << body;
  EXPECT_NE(ran.findings.find(words), std::string::npos) << ran.findings << body;
  EXPECT_EQ(std::count(ran.findings.begin(), ran.findings.end(), '\n'), 1) << ran.findings << body;
}

std::string product(const WgmmaSpec& spec) { return wgmma_text(spec); }

TEST(WgmmaHazards, ResultsAreReadAfterTheWait) {
  const std::string mma = product(kInRegisters);
  expect_clean(kInRegisters, joined({kPublish, kFence, mma, mma, kCommit, kWait}));
  expect_one(kInRegisters, joined({kPublish, kFence, mma, kCommit}), "async",
             "reads `%c0` while `wgmma.mma_async` at line");
  expect_one(kInRegisters,
             joined({kPublish, kFence, mma, kCommit, "wgmma.wait_group.sync.aligned 1;\n"}),
             "async", "leaves its group pending; `wgmma.wait_group 0` comes first");
  expect_one(kInRegisters, joined({kPublish, kFence, mma, kWait}), "async",
             "no `wgmma.commit_group` has closed its group");
}

TEST(WgmmaHazards, ResultsThatAreReadEarlyAreOld) {
  const Ran ran =
      run_body(kInRegisters, joined({kPublish, kFence, product(kInRegisters), kCommit}));
  EXPECT_EQ(ran.out[0], 0U);
  const Ran fine =
      run_body(kInRegisters, joined({kPublish, kFence, product(kInRegisters), kCommit, kWait}));
  EXPECT_EQ(fine.out[0], 0x41800000U);  // 16 ones
}

// A warp may come to a second wait before others have come to the first.
TEST(WgmmaHazards, WaitingTwiceMultipliesOnce) {
  const Ran ran = run_body(
      kInRegisters, joined({kPublish, kFence, product(kInRegisters), kCommit, kWait, kWait}));
  EXPECT_EQ(ran.findings, "");
  for (const std::uint32_t word : ran.out) EXPECT_EQ(word, 0x41800000U);  // 16 ones
}

TEST(WgmmaHazards, EndingWithoutAWaitIsFound) {
  const std::string mma = product(kInRegisters);
  expect_one(kInRegisters, joined({kPublish, kFence, mma, kCommit, "ret;\n"}), "async",
             "ends without a `wgmma.wait_group` that covers its group");
  expect_one(kInRegisters, joined({kPublish, kFence, mma, kWait, "ret;\n"}), "async",
             "ends without `wgmma.commit_group` and `wgmma.wait_group`");
}

TEST(WgmmaHazards, AccumulatorsAreNotWrittenInFlight) {
  const std::string mma = product(kInRegisters);
  expect_one(kInRegisters,
             joined({kPublish, kFence, mma, kCommit, "mov.b32 %c2, 0;\nmov.b32 %c3, 0;\n", kWait}),
             "async", "writes `%c2` while `wgmma.mma_async` at line");
  expect_clean(kInRegisters, joined({kPublish, kFence, mma, kCommit, kWait, "mov.b32 %c2, 0;\n"}));
}

TEST(WgmmaHazards, OperandsInRegistersAreNotWrittenInFlight) {
  const std::string mma = product(kInRegisters);
  expect_one(kInRegisters, joined({kPublish, kFence, mma, kCommit, "mov.b32 %x1, 0;\n", kWait}),
             "async", "writes `%x1` while `wgmma.mma_async` at line");
  // Reading them is fine.
  expect_clean(kInRegisters,
               joined({kPublish, kFence, mma, kCommit, "mov.b32 %r15, %x1;\n", kWait}));
}

TEST(WgmmaHazards, RegistersAreFenced) {
  const std::string mma = product(kInRegisters);
  expect_one(kInRegisters, joined({kPublish, mma, kCommit, kWait}), "fence", "no `wgmma.fence`");
  expect_one(kInRegisters,
             joined({kPublish, kFence, "add.u32 %x0, %x0, 1;\n", mma, kCommit, kWait}), "fence",
             "`%x0` is written at line");
  expect_clean(kInRegisters, joined({kPublish, kFence, "mov.b32 %x0, 0;\n", mma, kCommit, kWait}));
  // What was read of the first product must have been read before the second changes it.
  const std::string read = "add.u32 %r15, %c1, 1;\n";
  expect_one(kInRegisters,
             joined({kPublish, kFence, mma, kCommit, kWait, read, mma, kCommit, kWait}), "fence",
             "`%c1` is read at line");
  expect_clean(kInRegisters,
               joined({kPublish, kFence, mma, kCommit, kWait, read, kFence, mma, kCommit, kWait}));
}

TEST(WgmmaHazards, ShapesOnOneAccumulatorAreFenced) {
  WgmmaSpec wide = kInRegisters;
  wide.n = 16;
  WgmmaSpec narrow = kInRegisters;
  const std::string first = product(narrow);
  const std::string second = product(wide);
  expect_one(wide, joined({kPublish, kFence, first, second, kCommit, kWait}), "fence",
             "D of a product of another shape");
  expect_clean(wide, joined({kPublish, kFence, first, kFence, second, kCommit, kWait}));
}

TEST(WgmmaHazards, AProductDoesNotReadAnotherOneInFlight) {
  const std::string second =  // A is the D of the first
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r11,%r12,%r13,%r14}, "
      "{%c0,%c1,%c2,%c3}, %db, 0, 1, 1, 0;\n";
  const std::string first = product(kInRegisters);
  expect_one(kInRegisters, joined({kPublish, kFence, first, kFence, second, kCommit, kWait}),
             "async", "reads `%c0` while `wgmma.mma_async` at line");
  expect_clean(kInRegisters,
               joined({kPublish, kFence, first, kCommit, kWait, kFence, second, kCommit, kWait}));
}

TEST(WgmmaHazards, SharedOperandsAreNotOverwritten) {
  const std::string mma = product(kInShared);
  const std::string write =
      "shl.b32 %r14, %r0, 2; add.u32 %r14, %r14, %r3; bar.sync 0;\n"
      "st.shared.b32 [%r14], %r0;\nst.shared.b32 [%r14], %r0;\n";
  expect_one(kInShared, joined({kPublish, kFence, mma, kCommit, write, kWait}), "async",
             "that `wgmma.mma_async` may still be reading; a `wgmma.wait_group`");
  expect_clean(kInShared, joined({kPublish, kFence, mma, kCommit, kWait, write}));
}

TEST(WgmmaHazards, SharedOperandsAreFencedForTheAsyncProxy) {
  const std::string mma = product(kInShared);
  expect_one(kInShared, joined({"bar.sync 0;\n", kFence, mma, kCommit, kWait}), "fence",
             "`fence.proxy.async.shared::cta`");
  // The other style: behind the barrier, by each thread that multiplies.
  expect_clean(kInShared,
               joined({"bar.sync 0; fence.proxy.async;\n", kFence, mma, kCommit, kWait}));
}

TEST(WgmmaHazards, SharedOperandsAreBehindABarrier) {
  expect_one(kInShared,
             joined({"fence.proxy.async;\n", kFence, product(kInShared), kCommit, kWait}), "race",
             "reads");
}

TEST(WgmmaHazards, DescriptorsAreChecked) {
  const std::string body = joined({kPublish, kFence, product(kInShared), kCommit, kWait});
  expect_one(kInShared, body, "align",
             "the descriptor 0x0000001000084000 of A has bits 0x0000000000004000 set",
             {.a = 0x0010'0008'4000U});
  expect_one(kInShared, body, "bounds", "of A lie outside of shared memory (4096 bytes)",
             {.a = 0x0010'0008'0081U});
  expect_one(kInShared, body, "bounds", "start 0x3000, leading offset 128, stride offset 256",
             {.b = 0x0010'0008'0300U});
}

TEST(WgmmaHazards, MetadataIsChecked) {
  const WgmmaSpec sparse{.is_sparse = true, .image_bytes = 4096};
  const std::string body = joined({kPublish, kFence, product(sparse), kCommit, kWait});
  expect_clean(sparse, body);
  expect_one(sparse, body, "align",
             " of A has metadata 0b0101 for elements 8 to 11; it has two different places",
             {.metadata = 0x4444'4544});
}

TEST(WgmmaHazards, AllFourWarpsCome) {
  const std::string all = joined({kFence, product(kInShared), kCommit, kWait});
  const std::string early = "setp.ge.u32 %p2, %r0, 96;\n@%p2 ret;\n";
  expect_one(kInShared, joined({kPublish, early, all}), "collective",
             "executed without warp 3, which has ended");
  expect_one(kInRegisters, joined({kPublish, kFence, product(kInRegisters), kCommit, kWait}),
             "collective",
             "warp 2, which the block does not have, and warp 3, which the block does not have",
             {.threads = 64});
}

TEST(WgmmaHazards, WarpsAgreeOnTheirDescriptors) {
  const std::string other =
      "setp.ge.u32 %p2, %r0, 96;\nselp.b64 %d5, 1, 0, %p2;\nadd.u64 %db, %db, %d5;\n";
  expect_one(kInShared, joined({kPublish, other, kFence, product(kInShared), kCommit, kWait}),
             "collective", "of the warpgroup have different descriptors of B");
  const std::string odd = "and.b32 %r14, %r0, 1;\ncvt.u64.u32 %d5, %r14;\nadd.u64 %db, %db, %d5;\n";
  expect_one(kInShared, joined({kPublish, odd, kFence, product(kInShared), kCommit, kWait}),
             "collective", "lanes have different descriptors of B");
}

// The descriptor of A or B points to memory of which 96 threads have written 16 bytes each.
std::string elsewhere(std::string_view descriptor) {
  return fmt::format(
      ".shared .align 128 .b8 more[4096];\nmov.u32 %r14, more; mad.lo.u32 %r15, %r0, 16, %r14;\n"
      "setp.lt.u32 %p3, %r0, 96; @%p3 st.shared.v4.b32 [%r15], {{%r0,%r0,%r0,%r0}};\n"
      "shr.u32 %r14, %r14, 4; cvt.u64.u32 %d5, %r14;\n"
      "and.b64 {0}, {0}, 0xFFFFFFFFFFFF0000; or.b64 {0}, {0}, %d5;\n",
      descriptor);
}

TEST(WgmmaHazards, UndefinedRowsMakeUndefinedRows) {
  const std::string body =
      joined({elsewhere("%da"), kPublish, kFence, product(kInShared), kCommit, kWait});
  expect_one(kInShared, body, "uninit", "`%c0` is used and holds undefined bytes");
  EXPECT_EQ(run_body(kInShared, body).origin, "nothing has defined shared address 0x1600");
  // The fourth warp has the rows from byte 1536 on.
  expect_clean(kInShared, body + "setp.ge.u32 %p2, %r0, 96;\n@%p2 ret;\n");
  expect_one(kInShared, body, "uninit", "A has bytes in shared memory at 0x", {.is_early = true});
}

TEST(WgmmaHazards, UndefinedColumnsMakeUndefinedColumns) {
  // Columns 48 to 63 of 64: registers 24 to 31 of all lanes.
  WgmmaSpec spec = kInShared;
  spec.n = 64;
  const std::string body =
      joined({elsewhere("%db"), kPublish, kFence, product(spec), kCommit, kWait});
  expect_one(spec, body, "uninit", "`%c24` is used and holds undefined bytes");
  EXPECT_EQ(run_body(spec, body).origin, "nothing has defined shared address 0x1600");
  std::string dropped = body;
  for (unsigned r = 24; r < 32; ++r) dropped += fmt::format("mov.b32 %c{}, 0;\n", r);
  expect_clean(spec, dropped);
  expect_one(spec, body, "uninit", "B has bytes in shared memory at 0x", {.is_early = true});
}

}  // namespace
}  // namespace ww::sim
