// SPDX-License-Identifier: Apache-2.0
// What the text of a function means when it runs: labels and registers of blocks, offsets and
// indices in operands, arguments and results of calls, sizes that no launch has room for.
#include "sim/decode/function_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/test_run.h"

namespace ww::sim::function_decoder_test {
namespace {

using Words = std::vector<std::uint32_t>;
using testing::HasSubstr;

// The first `count` words that the body stores to %a0, without findings.
Words run(const std::string& body, std::size_t count = 1, std::string_view head = "",
          unsigned threads = 1) {
  TestRun test(body, 1, "sm_90a", "8.8", head);
  EXPECT_EQ(test.errors(), "");
  if (!test.errors().empty()) return {};
  test.output<std::uint32_t>(count);
  test.launch.block = {threads};
  EXPECT_EQ(test.run().outcome, Outcome::Finished) << test.report().reason;
  EXPECT_EQ(test.findings(), "");
  return test.read<std::uint32_t>(0);
}

// --- vectors -------------------------------------------------------------------------------------

TEST(Vectors, BracesAroundOneRegister) {
  EXPECT_EQ(run("mov.b32 %r1, 7; st.global.b32 [%a0], {%r1}; ld.global.b32 {%r2}, [%a0];\n"
                "cvt.u16.u32 %h0, %r2; mov.b16 %h1, {%h0}; mov.b16 {%h2}, %h1;\n"
                "cvt.u32.u16 %r3, %h2; st.global.b32 [%a0+4], %r3;",
                2),
            (Words{7, 7}));
}

// All are read before any is written.
TEST(Vectors, MoveAsAWhole) {
  EXPECT_EQ(run("mov.v2.b32 {%r1, %r2}, {3, 4}; mov.v2.b32 {%r1, %r2}, {%r2, %r1};\n"
                ".reg .v2 .b32 v, w; mov.v2.u32 v, {%r1, %r2}; mov.v2.b32 w, v;\n"
                "add.u32 w.x, w.x, v.y; st.global.v2.b32 [%a0], w;\n"
                "mov.v2.b32 {%r5, _}, w; st.global.b32 [%a0+8], %r5;",
                3),
            (Words{7, 3, 7}));
  EXPECT_EQ(run(".reg .v4 .u32 v; mov.v4.u32 v, %ntid; st.global.v4.u32 [%a0], v;", 4, "", 32),
            (Words{32, 1, 1, 0}));
}

TEST(Vectors, UndefinedElementsStayUndefined) {
  TestRun test(
      ".reg .v2 .b32 v; mov.b32 v.x, 1; mov.v2.b32 {%r1, %r2}, v;\n"
      "st.global.b32 [%a0], %r1; add.u32 %r3, %r2, 1; st.global.b32 [%a0], %r3;",
      1);
  test.output<std::uint32_t>(1);
  test.run();
  EXPECT_THAT(test.findings(), HasSubstr("uninit"));
  EXPECT_EQ(test.count(Check::Uninit), 1U);
}

// --- what cannot run -----------------------------------------------------------------------------

constexpr std::string_view kTwoKernels =
    ".version 8.8\n.target sm_90\n.address_size 64\n.file 1 \"k.cu\"\n"
    ".visible .entry good() { ret; }\n"
    ".func helper() { frob.b32;\nret; }\n"
    ".visible .entry bad() {\n.loc 1 18 3\ncall helper;\nret; }\n";

TEST(OtherKernels, MayHaveUnknownInstructions) {
  EXPECT_NE(load(kTwoKernels, "k.ptx", {.kernels = {"good"}}).program, nullptr);
  for (const std::vector<std::string>& kernels :
       {std::vector<std::string>{"bad"}, {"good", "bad"}, {}}) {
    const LoadResult refused = load(kTwoKernels, "k.ptx", {.kernels = kernels});
    ASSERT_EQ(refused.errors.size(), 1U);
    EXPECT_EQ(refused.errors[0].text, "no instruction is called `frob`");
    EXPECT_EQ(refused.errors[0].notes.back().text, "function `helper` needs it");
  }
}

// However many are wrong in one, those of another are seen.
TEST(OtherKernels, DoNotHideErrors) {
  std::string text = ".version 8.8\n.target sm_90\n.address_size 64\n.visible .entry many() {\n";
  for (int i = 0; i < 200; ++i) text += "frob.b32;\n";
  text += "ret; }\n.file 1 \"k.cu\"\n.visible .entry one() {\n.loc 1 18 3\ntxq.b32;\nret; }\n";
  const LoadResult refused = load(text, "k.ptx", {.kernels = {"one"}});
  ASSERT_EQ(refused.errors.size(), 1U);
  EXPECT_EQ(refused.errors[0].text,
            "`txq` asks about textures and surfaces, which is not modelled");
  ASSERT_EQ(refused.errors[0].notes.size(), 2U);
  EXPECT_EQ(refused.errors[0].notes[0].text, "kernel `one` needs it");
  EXPECT_EQ(refused.errors[0].notes[1].text, "it comes from k.cu:18, by the `.loc` before it");
}

// --- blocks --------------------------------------------------------------------------------------

TEST(Blocks, LoopsOfOneNameStayApart) {
  EXPECT_EQ(run(R"(
      mov.u32 %r1, 0; mov.u32 %r2, 0;
      { L: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 5; @%p1 bra L; }
      { L: add.u32 %r2, %r2, 100; setp.lt.u32 %p1, %r2, 300; @%p1 bra L; }
      st.global.v2.u32 [%a0], {%r1, %r2};)",
                2),
            (Words{5, 300}));
}

// The wait of CUTLASS, twice in a function: each brings its own labels and its own predicate.
TEST(Blocks, WaitsOfOneTextWaitForTheirOwnBarrier) {
  const auto wait = [](std::string_view barrier) {
    return fmt::format(
        "{{ .reg .pred P1;\nLAB_WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 P1, [{}], 0;\n"
        "@P1 bra DONE;\nbra LAB_WAIT;\nDONE:\n}}\n",
        barrier);
  };
  TestRun test(
      ".shared .align 8 .b64 b[2]; .shared .b32 s[2];\n"
      "mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 0; @%p1 bra GO;\n"
      "mbarrier.init.shared.b64 [b], 32; mbarrier.init.shared.b64 [b+8], 32;\n"
      "GO: bar.sync 0; setp.lt.u32 %p1, %r1, 32; @%p1 bra WRITER;\n" +
          wait("b") + "ld.shared.u32 %r2, [s];\n" + wait("b+8") +
          "ld.shared.u32 %r3, [s+4]; st.global.v2.u32 [%a0], {%r2, %r3}; bra END;\n"
          "WRITER: setp.eq.u32 %p2, %r1, 0;\n"
          "@%p2 st.shared.u32 [s], 7; mbarrier.arrive.shared.b64 _, [b];\n"
          "mov.u32 %r4, 0; SPIN: add.u32 %r4, %r4, 1; setp.lt.u32 %p3, %r4, 5000; @%p3 bra SPIN;\n"
          "@%p2 st.shared.u32 [s+4], 8; mbarrier.arrive.shared.b64 _, [b+8];\nEND:",
      1);
  test.output<std::uint32_t>(2);
  test.launch.block = {64};
  EXPECT_EQ(test.run().outcome, Outcome::Finished);
  // All lanes of the second warp store the same words.
  EXPECT_EQ(test.count(Check::Uninit) + test.count(Check::Barrier), 0U) << test.findings();
  EXPECT_EQ(test.read<std::uint32_t>(0), (Words{7, 8}));
}

TEST(Blocks, RegistersOfOneNameStayApart) {
  EXPECT_EQ(run(R"(
      .reg .b32 x; .reg .b32 y<4>;
      mov.u32 x, 1; mov.u32 y1, 10; mov.u32 y3, 30;
      { .reg .b64 x; .reg .b32 y<2>; mov.u64 x, 99; mov.u32 y1, 77; add.u32 y3, y3, y1; }
      { .reg .b32 x; mov.u32 x, 55; { .reg .b32 x; mov.u32 x, 66; } add.u32 y01, y1, x; }
      st.global.v4.u32 [%a0], {x, y1, y3, 0};)",
                4),
            (Words{1, 65, 107, 0}));
}

TEST(Blocks, ComponentsOfFamiliesOfVectors) {
  EXPECT_EQ(run(R"(
      .reg .v2 .b32 v<3>;
      mov.u32 v1.x, 5; mov.u32 v1.y, 6; mov.u32 v2.x, 7;
      st.global.v4.u32 [%a0], {v1.x, v1.y, v2.x, 0};)",
                4),
            (Words{5, 6, 7, 0}));
}

TEST(Blocks, ListsOfLabelsMeanTheLabelsWhereTheyStand) {
  EXPECT_EQ(run(R"(
      t: .branchtargets A, B; mov.u32 %r1, 1; mov.u32 %r2, 0;
      { brx.idx %r1, t; A: add.u32 %r2, %r2, 1; B: add.u32 %r2, %r2, 2; }
      A: add.u32 %r2, %r2, 10;
      B: add.u32 %r2, %r2, 20;
      st.global.u32 [%a0], %r2;)"),
            Words{20});
}

TEST(Blocks, VariablesOfOneNameStayApart) {
  EXPECT_EQ(run(R"(
      { .shared .b32 s; st.shared.u32 [s], 1; { .shared .b32 s; st.shared.u32 [s], 2; }
        ld.shared.u32 %r1, [s]; }
      { .local .b32 s; st.local.u32 [s], 3; { .local .b32 s; st.local.u32 [s], 4; }
        ld.local.u32 %r2, [s]; }
      st.global.v2.u32 [%a0], {%r1, %r2};)",
                2),
            (Words{1, 3}));
}

TEST(Blocks, FamiliesOfVariables) {
  EXPECT_EQ(run(R"(
      .shared .b32 s<3>; .local .b32 l<3>;
      st.shared.u32 [s0], 1; st.shared.u32 [s1], 2; st.shared.u32 [s2], 3;
      st.local.u32 [l0], 4; st.local.u32 [l2], 5;
      ld.shared.u32 %r1, [s0]; ld.shared.u32 %r2, [s2]; ld.local.u32 %r3, [l0];
      ld.global.u32 %r4, [g2];
      st.global.v4.u32 [%a0], {%r1, %r2, %r3, %r4};)",
                4, ".global .u32 g<4>; .global .u64 p = g2;"),
            (Words{1, 3, 4, 0}));
}

// --- operands ------------------------------------------------------------------------------------

TEST(Operands, AnOffsetIsAddedWhereverARegisterIsRead) {
  EXPECT_EQ(run(R"(
      mov.u32 %r1, 10; mov.u64 %d1, 0x1FFFFFFFF; mov.u16 %h1, 65535;
      add.u32 %r2, %r1+1, %r1+-3;
      cvt.u32.u16 %r3, %h1+2;
      shr.u64 %d2, %d1+1, 32; cvt.u32.u64 %r4, %d2;
      st.global.u32 [%a0], %r1+5;
      st.global.u32 [%a0+4], %r2; st.global.u32 [%a0+8], %r3; st.global.u32 [%a0+12], %r4;)",
                4),
            (Words{15, 18, 1, 2}));
}

TEST(Operands, AnOffsetInAnUndefinedRegisterIsAUse) {
  TestRun test("st.global.u32 [%a0], %r77+1;", 1);
  test.output<std::uint32_t>(1);
  test.run();
  EXPECT_EQ(test.findings(), "uninit 10: `%r77` is used and holds undefined bytes\n");
}

TEST(Operands, TheOffsetOfAnInstructionThatIsNotExecutedIsNot) {
  EXPECT_EQ(run(R"(
      mov.u32 %r1, 1; setp.eq.u32 %p1, %r1, 2; st.global.u32 [%a0], 7;
      @%p1 st.global.u32 [%a0], %r77+1;)"),
            Words{7});
}

TEST(Operands, AnIndexCountsElements) {
  EXPECT_EQ(run(R"(
      .shared .b32 s[4]; .shared .v2 .b32 v[4]; .shared .b32 m[2][4];
      st.shared.u32 s[0], 1; st.shared.u32 s[2], 3; st.shared.u32 [m+20], 9;
      ld.shared.u32 %r1, [s+8]; ld.shared.u32 %r2, m[5];
      mov.u32 %r3, v[1]; mov.u32 %r4, v; sub.u32 %r3, %r3, %r4; mov.u64 %d1, g[2];
      ld.global.u32 %r5, [%d1];
      st.global.v4.u32 [%a0], {%r1, %r2, %r3, %r5};)",
                4, ".global .u32 g[3] = {5, 6, 7};"),
            (Words{3, 9, 4, 7}));
}

TEST(Operands, AddressesOfVariablesWithOffsetsAreNumbers) {
  EXPECT_EQ(run(R"(
      .shared .align 16 .b32 s[8]; mov.u32 %r1, s; mov.u32 %r2, 100;
      add.u32 %r3, %r2, s+4; sub.u32 %r3, %r3, %r1; st.global.u32 [%a0], %r3;)"),
            Words{104});
}

// Local memory of a called function begins behind its caller's.
TEST(Operands, AddressesOfLocalVariablesAreThoseOfTheCall) {
  constexpr std::string_view kHead = R"(
    .func (.reg .b32 r) f(.reg .b32 x) {
      .local .b32 l[4]; .reg .b64 %d<4>; .reg .b32 %r<4>; mov.u64 %d1, 4;
      add.u64 %d2, %d1, l+4; st.local.u32 [%d2], x; ld.local.u32 r, [l+8]; ret; })";
  EXPECT_EQ(run(R"(
      .local .b32 mine[2]; st.local.u32 [mine+4], 1;
      { .reg .b32 r; call (r), f, (33); st.global.u32 [%a0], r; }
      ld.local.u32 %r1, [mine+4]; st.global.u32 [%a0+4], %r1;)",
                2, kHead),
            (Words{33, 1}));
}

// --- calls ---------------------------------------------------------------------------------------

TEST(Calls, PredicatesGoInAndOut) {
  constexpr std::string_view kHead = R"(
    .func (.reg .pred r, .reg .b32 n) f(.reg .pred a, .reg .b32 x) {
      .reg .pred q; setp.gt.u32 q, x, 15; xor.pred r, a, q; add.u32 n, x, 1; ret; })";
  const Words out = run(R"(
      mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 1;
      call (%p2, %r3), f, (%p1, %r1);
      selp.b32 %r4, 1000, 0, %p2; add.u32 %r4, %r4, %r3;
      mul.wide.u32 %d1, %r1, 4; add.u64 %d1, %d1, %a0; st.global.u32 [%d1], %r4;)",
                        32, kHead, 32);
  for (unsigned l = 0; l < out.size(); ++l)
    EXPECT_EQ(out[l], l + 1 + ((l % 2 == 1) != (l > 15) ? 1000 : 0)) << l;
}

TEST(Calls, ALoopOverAReturnedPredicate) {
  constexpr std::string_view kHead =
      ".func (.reg .pred more) f(.reg .b32 x) { setp.lt.u32 more, x, 6; ret; }";
  EXPECT_EQ(run(R"(
      mov.u32 %r1, 0; L: add.u32 %r1, %r1, 1; call (%p1), f, (%r1); @%p1 bra L;
      st.global.u32 [%a0], %r1;)",
                1, kHead),
            Words{6});
}

TEST(Calls, AnUndefinedPredicateStaysUndefined) {
  constexpr std::string_view kHead = ".func (.reg .pred r) f() { ret; }";
  TestRun test("call (%p1), f; @%p1 st.global.u32 [%a0], 1;", 1, "sm_90a", "8.8", kHead);
  test.output<std::uint32_t>(1);
  test.run();
  EXPECT_EQ(test.count(Check::Uninit), 1U) << test.findings();
}

TEST(Calls, NumbersReachAllLanes) {
  constexpr std::string_view kHead = R"(
    .func (.reg .b32 r) f(.reg .b32 a, .reg .f32 b, .reg .f64 c, .reg .b16 d, .param .b32 e) {
      .reg .b32 %r<4>; .reg .f32 %f<4>; cvt.rn.f32.f64 %f1, c; add.f32 %f1, %f1, b;
      cvt.rni.u32.f32 %r1, %f1; cvt.u32.u16 %r2, d; ld.param.b32 %r3, [e];
      add.u32 r, a, %r1; add.u32 r, r, %r2; add.u32 r, r, %r3; ret; })";
  const Words out = run(R"(
      call (%r1), f, (1000, 1.5, 0d4014000000000000, WARP_SZ, 7000);
      mov.u32 %r2, %tid.x; mul.wide.u32 %d1, %r2, 4; add.u64 %d1, %d1, %a0;
      st.global.u32 [%d1], %r1;)",
                        32, kHead, 32);
  for (const std::uint32_t value : out) EXPECT_EQ(value, 1000 + 6 + 32 + 7000U);  // 6.5 to even
}

TEST(Calls, VectorsAndWideRegisters) {
  constexpr std::string_view kHead = R"(
    .func (.reg .v2 .b32 r, .reg .b128 q) f(.reg .v2 .b32 a, .reg .b128 b) {
      mov.b32 r.x, a.y; mov.b32 r.y, a.x; mov.b128 q, b; ret; })";
  EXPECT_EQ(run(R"(
      .reg .v2 .b32 v, w; mov.u32 v.x, 3; mov.u32 v.y, 4; mov.u64 %d1, 5; mov.u64 %d2, 6;
      mov.b128 %q1, {%d1, %d2}; call (w, %q2), f, (v, %q1); mov.b128 {%d3, %d4}, %q2;
      cvt.u32.u64 %r1, %d3; cvt.u32.u64 %r2, %d4;
      st.global.v4.u32 [%a0], {w.x, w.y, %r1, %r2};)",
                4, kHead),
            (Words{4, 3, 5, 6}));
}

TEST(Calls, ByAddressOfAFunctionWithOtherParameters) {
  constexpr std::string_view kHead =
      ".func (.reg .b32 r) f(.reg .b32 a) { mov.u32 r, a; ret; }\n"
      ".func (.reg .b32 r) g(.reg .b64 a) { mov.u32 r, 1; ret; }";
  TestRun test(
      "t: .callprototype (.reg .b32 _) _ (.reg .b32 _); mov.u64 %d1, g; call (%r1), %d1, (5), t;",
      1, "sm_90a", "8.8", kHead);
  test.output<std::uint32_t>(1);
  EXPECT_EQ(test.run().outcome, Outcome::Trapped);
  EXPECT_THAT(test.report().reason,
              HasSubstr("a call by address of a function with other parameters or results"));
}

// --- sizes ---------------------------------------------------------------------------------------

TEST(Sizes, LocalMemoryThatNoOffsetReaches) {
  const TestRun test(".local .b8 a[1073741824]; .local .b8 b[16]; mov.u64 %d1, b;", 0);
  EXPECT_THAT(test.errors(), HasSubstr("with `b`, which has 16 bytes, `k` needs more than "
                                       "1073741824 bytes of local memory [TooLarge]"));
  const TestRun wide(
      ".local .align 2147483648 .b8 a; mov.u64 %d1, a; .local .b8 b; mov.u64 %d1, b;", 0);
  EXPECT_EQ(wide.errors(), "");
}

TEST(Sizes, SharedMemoryThatNoBlockHas) {
  TestRun test("st.shared.u32 [s], 1;", 0, "sm_90a", "8.8",
               ".shared .b32 unused[1073741824]; .shared .b32 s;");
  EXPECT_EQ(test.errors(), "");
  test.run();
  EXPECT_THAT(test.refusal(), HasSubstr("bytes of shared memory; a block of sm_90a has 232448"));
}

}  // namespace
}  // namespace ww::sim::function_decoder_test
