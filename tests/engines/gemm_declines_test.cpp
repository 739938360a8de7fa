// SPDX-License-Identifier: Apache-2.0
// Products that are declined, each with its reason; and faults in products that are not, which the
// tests must notice.

#include "engines/gemm_family.h"

namespace ww::test::gemm_declines_test {
namespace {

// --- declines ------------------------------------------------------------------------------------

struct DeclineRow {
  GemmCase gemm;
  std::string verdict;
};

std::vector<DeclineRow> declines() {
  const GemmCase plain;
  std::vector<DeclineRow> out;
  const auto add = [&](const auto& edit, const std::string& verdict) {
    GemmCase c = plain;
    edit(c);
    out.push_back({c, verdict});
  };
  add([](GemmCase& c) { c.shared_a = "plain"; },
      "[scope] gemm mma requires A in register (local) scope, got shared; `stage=True` copies it "
      "into registers first");
  add([](GemmCase& c) { c.shared_b = "plain"; },
      "[scope] gemm mma requires B in register (local) scope, got shared; `stage=True` copies it "
      "into registers first");
  add(
      [](GemmCase& c) {
        c.scope = "cta";
        c.warps_m = 2;
        c.groups = 4;
        c.a_layout = "S[(2, 2, 8, 2, 2, 4, 2) : (4, 2, 4 @ laneid, 1 @ warpid, 8, 1 @ laneid, 1)]";
        c.b_layout = "S[(2, 2, 4, 2, 8) : (1 @ warpid, 2, 1 @ laneid, 1, 4 @ laneid)]";
        c.d_layout = "S[(4, 8, 4, 2) : (2, 4 @ laneid, 1 @ laneid, 1)]";
      },
      "[k-split] warp 0 holds k 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 of A only: "
      "the "
      "sums of several warps would have to be added up");
  add([](GemmCase& c) { c.a_layout = "S[(4, 4, 16) : (1 @ laneid, 16, 1)] + R[8 : 4 @ laneid]"; },
      "[no_replica] element (0, 0) of A is held by lanes 0 and 4 of warp 0");
  add(
      [](GemmCase& c) {
        c.scope = "cta";
        c.warps_m = 2;
        c.a_layout = "S[(2, 2, 8, 2, 4, 2) : (8, 2, 4 @ laneid, 4, 1 @ laneid, 1)]";
      },
      "[warps] warps 0 and 1 hold their parts in different registers");
  add([](GemmCase& c) { c.half_tile = true; },
      "[shape] M is 8, N is 8, K is 16; mma.sync of float16 takes M by 16, N by 8, K by 8");
  add(
      [](GemmCase& c) {
        c.types = kBrain;
        c.target = "sm_75";
      },
      "[arch] `mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32` needs sm_80 or later; the "
      "target "
      "is sm_75");
  add(
      [](GemmCase& c) {
        c.types = {.in = "float8_e4m3fn"};
        c.target = "sm_80";
      },
      "[arch] `mma.sync.aligned.m16n8k16.row.col.f32.e4m3.e4m3.f32` needs sm_89 or later; the "
      "target is sm_80");
  add([](GemmCase& c) { c.types = {.in = "bfloat16", .out = "float16"}; },
      "[dtype] no mma.sync for A bfloat16, B bfloat16, D float16");
  add([](GemmCase& c) { c.types = {.in = "int16", .out = "int32"}; },
      "[dtype] no mma.sync for A int16, B int16, D int32");
  add([](GemmCase& c) { c.d_layout = "S[(16, 2, 4) : (2 @ laneid, 1 @ laneid, 1)]"; },
      "[fragment] register 0 of lane 2 has (1, 0) of D, where a matrix instruction would have (0, "
      "0)");
  return out;
}

TEST(GemmDeclines, WithReasons) {
  std::size_t count = 0;
  for (const DeclineRow& row : declines()) {
    const Checked checked = check(program_of(row.gemm));
    EXPECT_EQ(checked.stage, Stage::Lower) << checked.explain();
    EXPECT_EQ(mma_verdict(checked), row.verdict) << checked.source;
    EXPECT_NE(checked.why.find("no variant of `gemm` accepts this call"), std::string::npos)
        << checked.why;
    ++count;
  }
  fmt::print("declines of gemm: {} cases\n", count);
}

// Matrix instructions are for warps.
TEST(GemmDeclines, Threads) {
  std::string text = source_of(GemmCase{});
  text.replace(text.find("Tx.warp.gemm"), 12, "Tx.gemm");
  const Checked thread = check({.source = text});
  EXPECT_EQ(thread.stage, Stage::Lower) << thread.explain();
  EXPECT_EQ(mma_verdict(thread),
            "[full_active_lanes] thread scope, expected warp, warpgroup or cta");
  const Checked part = check(program_of(GemmCase{.around = "if lane < 16:"}));
  EXPECT_FALSE(part.right());
  EXPECT_NE(part.why.find("`gemm` at warp scope is reached by threads 0-15 of 32, expected whole "
                          "warps [Divergent]"),
            std::string::npos)
      << part.why;
}

TEST(GemmDeclines, OverlappingOperands) {
  KernelText text(32, "float16");
  text.param("A_in", {16, 8});
  text.param("D_out", {16, 8});
  text.line(
      "A = T.alloc_buffer((16, 8), \"float16\", scope=\"local\", layout=TileLayout(S[(2, 8, "
      "4, 2) : (2, 4 @ laneid, 1 @ laneid, 1)]))");
  text.line(
      "B = T.alloc_buffer((8, 8), \"float16\", scope=\"local\", layout=TileLayout(S[(4, 2, "
      "8) : (1 @ laneid, 1, 4 @ laneid)]))");
  text.line("Tx.warp.copy(A[:, :], A_in[:, :])");
  text.line("Tx.warp.copy(B[:, :], A_in[0:8, :])");
  text.line("Tx.warp.gemm(A, A, B, A)");
  text.line("Tx.warp.copy(D_out[:, :], A[:, :])");
  const Checked checked = check({.source = text.text()});
  EXPECT_EQ(checked.stage, Stage::Lower) << checked.explain();
  EXPECT_EQ(mma_verdict(checked), "[overlap] A overlaps D in the registers of `A`");
}

// --- the tests themselves ------------------------------------------------------------------------

// Faults of the kind that a wrong lowering makes are noticed, on numbers of both kinds.
TEST(GemmHarness, NoticesWrongProducts) {
  const GemmCase c{.tiles_n = 2, .groups = 4, .beta = "1.0"};
  const std::string half = opcode(kHalf, 16);
  for (const bool is_normal : {false, true}) {
    Program program = is_normal ? normal_program_of(c) : program_of(c);
    const Checked right = check(program);
    ASSERT_TRUE(right.right()) << right.explain();
    const std::size_t at = right.ptx.find(half);
    const std::string line = right.ptx.substr(at, right.ptx.find('\n', at) + 1 - at);
    // One of the instructions is missing, or another type's.
    program.edits = {{line, ""}};
    EXPECT_EQ(check(program).stage, Stage::Device);
    program.edits = {{half, opcode(kBrain, 16)}};
    EXPECT_EQ(check(program).stage, Stage::Device);
  }
}

// Sums of normal numbers are rounded otherwise than the evaluator does it: a tolerance of 0 says
// so. What engines after the virtual GPU are compared with is the virtual GPU.
TEST(GemmHarness, ToleratesRoundingOnly) {
  const GemmCase c{.groups = 8};
  Program program = normal_program_of(c);
  const Checked right = check(program);
  ASSERT_TRUE(right.right()) << right.explain();
  program.tolerance = 0;
  const Checked strict = check(program);
  EXPECT_FALSE(strict.right());
  EXPECT_NE(strict.why.find("has other bits"), std::string::npos) << strict.why;
  program.tolerance = 1e-9;
  EXPECT_NE(check(program).why.find("more than 1e-09 apart"), std::string::npos);
}

}  // namespace
}  // namespace ww::test::gemm_declines_test
