// SPDX-License-Identifier: Apache-2.0
// What undefined values may do and what they may not: computing is fine, deciding is found, once for each
// origin, with its way. Each mistake has a twin that drops the value.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/ops/test_warp.h"
#include "sim/test_run.h"

namespace ww::sim::undefined_uses_test {
namespace {

using testing::HasSubstr;

// --- what instructions make of undefined operands ------------------------------------------------

struct Marks {
  std::string_view name;  // of a register
  std::uint8_t bytes;
};
struct ComputeCase {
  std::string_view text;
  std::vector<Marks> sources;
  std::vector<Marks> results;
};

TEST(UndefinedResult, OfEveryClassOfOps) {
  const ComputeCase cases[] = {
      {"add.u32 %r0, %r1, %r2;", {{"%r1", 0b0001}}, {{"%r0", 0b1111}}},
      {"mad.wide.u32 %d0, %r1, %r2, %d1;", {{"%r2", 0b1000}}, {{"%d0", 0xFF}}},
      {"mul.lo.s16 %h0, %h1, 0;", {{"%h1", 0b11}}, {{"%h0", 0b11}}},
      {"add.f64 %d0, %d1, %d2;", {{"%d2", 0x0F}}, {{"%d0", 0xFF}}},
      {"sqrt.rn.f32 %r0, %r1;", {{"%r1", 0b1111}}, {{"%r0", 0b1111}}},
      {"max.f16 %h0, %h1, %h2;", {{"%h1", 0b10}}, {{"%h0", 0b11}}},
      {"add.f16x2 %r0, %r1, %r2;", {{"%r1", 0b1100}}, {{"%r0", 0b1100}}},
      {"fma.rn.bf16x2 %r0, %r1, %r2, %r3;", {{"%r3", 0b0001}}, {{"%r0", 0b0011}}},
      {"add.rn.f32x2 %d0, %d1, %d2;", {{"%d1", 0x0F}}, {{"%d0", 0x0F}}},
      {"fma.rn.f32x2 %d0, %d1, %d2, %d3;", {{"%d2", 0x80}}, {{"%d0", 0xF0}}},
      {"cvt.rn.f16x2.f32 %r0, %r1, %r2;", {{"%r1", 0b1111}}, {{"%r0", 0b1100}}},
      {"cvt.rn.f16x2.f32 %r0, %r1, %r2;", {{"%r2", 0b0001}}, {{"%r0", 0b0011}}},
      {"cvt.rn.f16x2.e4m3x2 %r0, %h1;", {{"%h1", 0b10}}, {{"%r0", 0b1100}}},
      {"cvt.rn.satfinite.e4m3x2.f32 %h0, %r1, %r2;", {{"%r2", 0b1111}}, {{"%h0", 0b01}}},
      {"cvt.rn.f32.s32 %r0, %r1;", {{"%r1", 0b0100}}, {{"%r0", 0b1111}}},
      {"cvt.u64.u32 %d0, %r1;", {{"%r1", 0b0100}}, {{"%d0", 0b0100}}},
      {"dp4a.u32.u32 %r0, %r1, %r2, %r3;", {{"%r1", 0b0001}}, {{"%r0", 0b1111}}},
      {"dp2a.lo.u32.u32 %r0, %r1, %r2, %r3;", {{"%r2", 0b1100}}, {{"%r0", 0}}},
      {"dp2a.hi.u32.u32 %r0, %r1, %r2, %r3;", {{"%r2", 0b1100}}, {{"%r0", 0b1111}}},
      {"vadd.u32.u32.u32 %r0, %r1, %r2;", {{"%r1", 0b0001}}, {{"%r0", 0b1111}}},
      {"shl.b32 %r0, %r1, %r2;", {{"%r2", 0b0001}}, {{"%r0", 0b1111}}},
      {"shl.b32 %r0, %r1, 8;", {{"%r1", 0b1111}}, {{"%r0", 0b1110}}},
      {"and.b32 %r0, %r1, 0xFF;", {{"%r1", 0b1111}}, {{"%r0", 0b0001}}},
      {"and.b32 %r0, %r1, 0;", {{"%r1", 0b1111}}, {{"%r0", 0}}},
      {"setp.lt.u32 %p0, %r1, %r2;", {{"%r1", 0b1000}}, {{"%p0", 1}}},
      {"setp.lt.f16x2 %p0|%p1, %r1, %r2;", {{"%r1", 0b0011}}, {{"%p0", 1}, {"%p1", 0}}},
      {"setp.lt.f16x2 %p0|%p1, %r1, %r2;", {{"%r2", 0b1100}}, {{"%p0", 0}, {"%p1", 1}}},
      {"selp.b32 %r0, 0x00FF, 0x0012, %p1;", {{"%p1", 1}}, {{"%r0", 0b0001}}},
      {"selp.b32 %r0, 7, 7, %p1;", {{"%p1", 1}}, {{"%r0", 0}}},
      {"slct.b32.s32 %r0, 0x1200, 0x3400, %r1;", {{"%r1", 0b1111}}, {{"%r0", 0b0010}}},
  };
  for (const ComputeCase& it : cases) {
    SCOPED_TRACE(it.text);
    OpsUnderTest ops(it.text, true);
    if (!ops.ok()) continue;
    for (const Marks& source : it.sources) *ops.undefined(source.name) = source.bytes;
    ops.run();
    for (const Marks& result : it.results)
      EXPECT_EQ(*ops.undefined(result.name), result.bytes) << result.name;
  }
}

// --- uses ----------------------------------------------------------------------------------------

struct Used {
  std::size_t findings = 0;
  std::string text, origin;
  std::vector<std::uint32_t> way;  // lines
};

// Parameter 0 is an input, parameter 1 an output. %r9 is set in lane 0 alone, by a guarded instruction.
constexpr std::string_view kHalf =
    "mov.u32 %r0, %tid.x; setp.eq.u32 %p1, %r0, 0; setp.eq.u32 %p2, %r0, 5;\n"
    "@%p1 ld.global.u32 %r9, [%a0];\n";

Used run_body(const std::string& body, std::string_view checks = "uninit",
              std::string_view target = "sm_100a") {
  TestRun run(body, 2, target);
  run.input(std::vector<std::uint32_t>(64, 1));
  run.output<std::uint32_t>(1024);
  run.options.checks = *parse_checks(checks);
  run.launch.block = {32};
  run.run();
  EXPECT_EQ(run.errors(), "") << body;
  Used used;
  used.findings = run.count(Check::Uninit);
  if (used.findings == 0) return used;
  const Finding& finding = run.report().findings.list().front();
  used.text = finding.text;
  used.origin = finding.origin.text;
  for (const std::uint32_t op : finding.origin.way)
    used.way.push_back(run.program().infos[op].line);
  return used;
}
Used run_half(std::string_view use, std::string_view checks = "uninit") {
  return run_body(std::string(kHalf) + std::string(use), checks);
}

TEST(UndefinedUse, DecidesSomething) {
  const std::string_view uses[] = {
      "st.global.u32 [%a1], %r9;",
      "add.u32 %r1, %r9, 1; st.global.u32 [%a1], %r1;",
      "mul.wide.u32 %d1, %r9, 4; add.u64 %d2, %a0, %d1; ld.global.u32 %r1, [%d2];",
      "setp.eq.u32 %p3, %r9, 1; @%p3 bra DONE; DONE:",
      "setp.eq.u32 %p3, %r9, 1; @%p3 st.global.u32 [%a1], 1;",
      "setp.eq.u32 %p3, %r9, 1; @%p3 ld.global.u32 %r1, [%a0];",
      "setp.eq.u32 %p3, %r9, 1; @%p3 red.global.add.u32 [%a0], 1;",
      "red.global.add.u32 [%a0], %r9;",
      "atom.global.exch.b32 %r1, [%a0], %r9;",
      "shfl.sync.idx.b32 %r1, %r0, %r9, 31, -1;",
      "or.b32 %r1, %r9, -1; st.global.u32 [%a1], %r9;",
      "selp.b32 %r1, %r9, 3, %p2; st.global.u32 [%a1], %r1;",
      "cvt.rn.f16.u32 %h1, %r9; cvt.rn.f32.u32 %r1, %r9; st.global.f32 [%a1], %r1;",
      "setp.eq.u32 %p3, %r9, 1; mov.u32 %r1, 5; @%p3 mov.u32 %r1, 6; st.global.u32 [%a1], %r1;",
      "vote.sync.any.pred %p3, %p4, -1; selp.b32 %r1, 1, 0, %p3; st.global.u32 [%a1], %r1;",
      "redux.sync.add.u32 %r1, %r9, -1; st.global.u32 [%a1], %r1;",
  };
  for (const std::string_view use : uses) {
    SCOPED_TRACE(use);
    EXPECT_EQ(run_half(use).findings, 1U);
  }
}

TEST(UndefinedUse, IsNoneWhereTheValueIsDropped) {
  const std::string_view uses[] = {
      "add.u32 %r1, %r9, 1; @%p1 st.global.u32 [%a1], %r1;",
      "shfl.sync.bfly.b32 %r1, %r9, 1, 31, -1; max.u32 %r2, %r9, %r1;",
      "setp.eq.u32 %p3, %r9, 1; and.pred %p4, %p3, %p1; @%p4 st.global.u32 [%a1], 1;",
      "setp.eq.u32 %p3, %r9, 1; mov.u32 %r1, 5; @%p3 mov.u32 %r1, 6; @%p1 st.global.u32 [%a1], "
      "%r1;",
      "and.b32 %r1, %r9, 0; st.global.u32 [%a1], %r1;",
      "shl.b32 %r1, %r9, 4; and.b32 %r2, %r1, 15; st.global.u32 [%a1], %r2;",
      "selp.b32 %r1, %r9, 3, %p1; st.global.u32 [%a1], %r1;",
      "setp.eq.u32 %p3, %r9, 1; selp.b32 %r1, 4, 4, %p3; st.global.u32 [%a1], %r1;",
      "mov.b64 %d1, {%r9, %r0}; mov.b64 %d2, {%r0, %r0}; add.rn.f32x2 %d3, %d1, %d2;"
      "mov.b64 {%r1, %r2}, %d3; st.global.u32 [%a1], %r2;",
      "cvt.rn.f16x2.f32 %r1, %r9, %r0; mov.b32 {%h1, %h2}, %r1; st.global.u16 [%a1], %h1;",
      "setp.eq.u32 %p3, %r9, 1; vote.sync.ballot.b32 %r1, %p3, -1; and.b32 %r1, %r1, 1;"
      "st.global.u32 [%a1], %r1;",
      "setp.ge.u32 %p4, %r0, 1; setp.eq.u32 %p3, %r9, 9; or.pred %p3, %p3, %p4;"
      "vote.sync.any.pred %p5, %p3, -1; selp.b32 %r1, 1, 0, %p5; st.global.u32 [%a1], %r1;",
  };
  for (const std::string_view use : uses) {
    SCOPED_TRACE(use);
    const Used used = run_half(use);
    EXPECT_EQ(used.findings, 0U) << used.text;
  }
}

// All 16 bytes of what an atomic returns are defined.
TEST(UndefinedUse, IsNoneOfWideAtomics) {
  const Used used = run_body(
      "mov.u64 %d1, 5; mov.b128 %q0, {%d1, %d1}; atom.global.exch.b128 %q1, [%a0], %q0;"
      "mov.b128 {%d2, %d3}, %q1; st.global.u64 [%a1], %d2; st.global.u64 [%a1+8], %d3;");
  EXPECT_EQ(used.findings, 0U) << used.text;
}

TEST(UndefinedUse, IsOneFindingForEachOrigin) {
  EXPECT_EQ(run_half("add.u32 %r1, %r9, 1; add.u32 %r2, %r9, 2; st.global.u32 [%a1], %r1;"
                     "st.global.u32 [%a1+4], %r2; st.global.u32 [%a1+8], %r9;")
                .findings,
            1U);
  EXPECT_EQ(run_half("@%p2 ld.global.u32 %r8, [%a0]; st.global.u32 [%a1], %r9;"
                     "st.global.u32 [%a1+4], %r8;")
                .findings,
            2U);
}

TEST(UndefinedUse, NamesTheLoadThatWasSkipped) {
  const Used used =
      run_half("add.u32 %r1, %r9, 1;\nmax.u32 %r2, %r1, 7;\nst.global.u32 [%a1], %r2;");
  EXPECT_EQ(used.text, "`%r2` is used and holds undefined bytes");
  EXPECT_EQ(used.origin, "`%r9` was never set in lanes 1-31: the guard `%p1` did not hold");
  ASSERT_EQ(used.way.size(), 2U);
  EXPECT_EQ(used.way[1], used.way[0] + 1);
}

TEST(UndefinedUse, NamesTheMemoryThatNothingWrote) {
  const std::string shared = ".shared .align 4 .b32 cells[8];\n";
  EXPECT_EQ(run_body(shared + "ld.shared.u32 %r1, [cells+8]; st.global.u32 [%a1], %r1;").origin,
            "nothing has defined shared address 0x8");
  EXPECT_THAT(run_body("ld.global.u32 %r1, [%a1+16]; st.global.u32 [%a1], %r1;").origin,
              HasSubstr("at address 0x"));
  EXPECT_EQ(run_body("st.global.u32 [%a1], %r1;").origin, "no instruction sets `%r1`");
}

// Through shared memory the origin is still that of the register.
TEST(UndefinedUse, FollowsOriginsThroughMemoryAndCalls) {
  const std::string shared = ".shared .align 4 .b32 cells[32];\n";
  const std::string through_shared =
      shared + std::string(kHalf) +
      "mov.u32 %r2, cells; mad.lo.u32 %r2, %r0, 4, %r2; st.shared.u32 [%r2], %r9;"
      "ld.shared.u32 %r3, [%r2]; st.global.u32 [%a1], %r3;";
  EXPECT_THAT(run_body(through_shared).origin, HasSubstr("`%r9` was never set"));
  const std::string by_atomic =
      shared + std::string(kHalf) +
      "mov.u32 %r2, cells; mad.lo.u32 %r2, %r0, 4, %r2; st.shared.u32 [%r2], 0;"
      "atom.shared.add.u32 %r4, [%r2], %r9; st.global.u32 [%a1], %r4;"
      "ld.shared.u32 %r3, [%r2]; st.global.u32 [%a1+4], %r3;";
  const Used used = run_body(by_atomic);
  EXPECT_EQ(used.findings, 1U);
  EXPECT_THAT(used.origin, HasSubstr("`%r9` was never set"));
}

// Every lane but the first hands an undefined register on to a lane that uses it.
TEST(UndefinedUse, FollowsOriginsThroughMatrices) {
  const std::string rows = ".shared .align 16 .b32 cells[32];\n" + std::string(kHalf) +
                           "mov.u32 %r1, cells; and.b32 %r2, %r0, 7; mad.lo.u32 %r1, %r2, 16, %r1;";
  const std::string stored =
      rows + "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], {%r9}; bar.warp.sync -1;";
  const std::string ways[] = {
      stored + "ld.shared.u32 %r3, [cells+4];",
      stored + "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r3}, [%r1];",
      stored + "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r3}, [%r1];",
      ".shared .align 32 .b32 a[64];\n" + std::string(kHalf) +
          "mov.u32 %r1, a; mad.lo.u32 %r2, %r0, 8, %r1; st.shared.v2.b32 [%r2], {%r9, %r9};"
          "bar.warp.sync -1; wmma.load.a.sync.aligned.row.m8n32k16.shared.f16"
          " {%r3, %r4, %r5, %r6, %r7, %r8, %r10, %r11}, [a];",
      std::string(kHalf) + "movmatrix.sync.aligned.m8n8.trans.b16 %r3, %r9;",
  };
  for (const std::string& way : ways) {
    const Used used = run_body(way + "st.global.u32 [%a1], %r3;");
    EXPECT_EQ(used.findings, 1U) << way;
    EXPECT_THAT(used.origin, HasSubstr("`%r9` was never set")) << way;
  }
}

// A load that came too early has one finding.
TEST(UndefinedUse, IsExplainedByARace) {
  const std::string body =
      ".shared .align 4 .b32 cells[64];\nmov.u32 %r0, %tid.x; mov.u32 %r1, cells;"
      "mad.lo.u32 %r2, %r0, 4, %r1; xor.b32 %r3, %r0, 32; mad.lo.u32 %r3, %r3, 4, %r1;"
      "st.shared.u32 [%r2], %r0;\nld.shared.u32 %r4, [%r3];\nst.global.u32 [%a1], %r4;";
  TestRun run(body, 2);
  run.input(std::vector<std::uint32_t>{1});
  run.output<std::uint32_t>(64);
  run.options.checks = *parse_checks("race,uninit");
  run.launch.block = {64};
  run.run();
  EXPECT_GE(run.count(Check::Race), 1U) << run.findings();
  EXPECT_EQ(run.count(Check::Uninit), 0U) << run.findings();
}

TEST(UndefinedUse, IsTheFirstComputationIfAskedFor) {
  EXPECT_EQ(run_half("add.u32 %r1, %r9, 1;").findings, 0U);
  EXPECT_EQ(run_half("add.u32 %r1, %r9, 1;", "uninit=early").findings, 1U);
  EXPECT_EQ(run_half("add.u32 %r1, %r9, 1;", "all,uninit=early").findings, 1U);
  EXPECT_EQ(run_half("st.global.u32 [%a1], %r9;", "uninit=early").findings, 0U);
  EXPECT_EQ(run_half("add.u32 %r1, %r9, 1;", "all,-uninit").findings, 0U);
}

// --- matrix products -----------------------------------------------------------------------------

// A has an undefined element in row 0 alone, B in column 0, C at [0][0]; lanes from 4 on have the other rows.
std::string product(std::string_view undefined, std::string_view stored) {
  std::string text =
      "mov.u32 %r0, %tid.x; setp.ne.u32 %p1, %r0, 0; setp.ge.u32 %p2, %r0, 4; setp.lt.u32 %p3, "
      "%r0, 4;\n";
  for (int r = 1; r <= 10; ++r)
    text +=
        fmt::format("{}mov.b32 %r{}, 0; ", fmt::format("%r{}", r) == undefined ? "@%p1 " : "", r);
  text +=
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r21, %r22, %r23, %r24}, {%r1, %r2, %r3, "
      "%r4}, {%r5, %r6}, {%r7, %r8, %r9, %r10};\n";
  return text + std::string(stored);
}

TEST(UndefinedProduct, ReachesItsRowAndColumnAlone) {
  constexpr std::string_view kRow = "@%p3 st.global.u32 [%a1], %r21;";
  constexpr std::string_view kOtherRows =
      "@%p2 st.global.u32 [%a1], %r21; @%p2 st.global.u32 [%a1], %r22; st.global.u32 [%a1], %r23;"
      "st.global.u32 [%a1], %r24;";
  constexpr std::string_view kOtherColumns =
      "st.global.u32 [%a1], %r22; st.global.u32 [%a1], %r24;";
  constexpr std::string_view kOtherElements =
      "@%p1 st.global.u32 [%a1], %r21; st.global.u32 [%a1], %r22; st.global.u32 [%a1], %r23;";
  EXPECT_EQ(run_body(product("%r1", kRow)).findings, 1U);
  EXPECT_EQ(run_body(product("%r1", kOtherRows)).findings, 0U);
  EXPECT_EQ(run_body(product("%r5", kRow)).findings, 1U);
  EXPECT_EQ(run_body(product("%r5", kOtherColumns)).findings, 0U);
  EXPECT_EQ(run_body(product("%r7", kRow)).findings, 1U);
  EXPECT_EQ(run_body(product("%r7", kOtherElements)).findings, 0U);
  EXPECT_THAT(run_body(product("%r5", kRow)).origin, HasSubstr("`%r5` was never set in lane 0"));
}

}  // namespace
}  // namespace ww::sim::undefined_uses_test
