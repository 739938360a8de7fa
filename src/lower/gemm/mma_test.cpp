// SPDX-License-Identifier: Apache-2.0
// Which gemm calls become which instructions, however their layouts are written, and the words in
// which others are declined. That the code is right is shown by its proof, here and in every
// compilation.
#include <gtest/gtest.h>

#include <tuple>

#include "lower/gemm/test_calls.h"

namespace ww::lower::gemm_mma_test {
namespace {

using ir::Scope;
using ir::Setting;
using ir::StmtKind;
using ir::Unit;
using num::DType;
using target::Arch;
using test::Builder;
using test::expect_declined;
using test::expect_tiling;
using test::GemmCase;
using test::GemmUnderTest;
using test::slice;
using test::TileArg;

// --- shapes --------------------------------------------------------------------------------------

TEST(GemmMma, Tilings) {
  expect_tiling(GemmCase::natural(1, 1, 2), "1 x 1 x 1 tiles of m16n8k16");
  expect_tiling(GemmCase::natural(2, 1, 2), "2 x 1 x 1 tiles of m16n8k16");
  expect_tiling(GemmCase::natural(2, 2, 4), "2 x 2 x 2 tiles of m16n8k16");
  expect_tiling(GemmCase::natural(4, 8, 2), "4 x 8 x 1 tiles of m16n8k16");
  expect_tiling(GemmCase::natural(1, 1, 1), "1 x 1 x 1 tiles of m16n8k8");
  expect_tiling(GemmCase::natural(2, 2, 3),
                "2 x 2 x 1 tiles of m16n8k16 and 2 x 2 x 1 tiles of m16n8k8");
}

TEST(GemmMma, LoweringReport) {
  const GemmUnderTest gemm(GemmCase::natural(4, 8, 2));
  ASSERT_EQ(gemm.report.instructions.size(), 1U);
  EXPECT_EQ(gemm.report.instructions[0].opcode,
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32");
  EXPECT_EQ(gemm.report.instructions[0].per_thread, 32);
  EXPECT_EQ(gemm.report.flops, 2 * 64 * 64 * 16);
  const std::vector<std::pair<std::string, std::int64_t>> registers{
      {"A", 16}, {"B", 16}, {"D", 128}};
  EXPECT_EQ(gemm.report.operand_registers, registers);
  EXPECT_EQ(gemm.report.registers, 160);
  EXPECT_EQ(gemm.report.threads, 32);
}

TEST(GemmMma, NestAndStarts) {
  const GemmUnderTest zero(GemmCase::natural(2, 2, 2));
  EXPECT_EQ(zero.executed(StmtKind::Ptx), 4);
  EXPECT_EQ(zero.written(StmtKind::Ptx), 1);
  EXPECT_EQ(zero.executed(StmtKind::Store), 16);
  // beta 1 in place: nothing but instructions.
  GemmCase c = GemmCase::natural(4, 8, 2);
  c.beta = Setting(1.0);
  const GemmUnderTest in_place(c);
  EXPECT_EQ(in_place.executed(StmtKind::Ptx), 32);
  EXPECT_EQ(in_place.executed(StmtKind::Store), 0);
  // From C elsewhere: one move per register.
  c = GemmCase::natural(2, 1, 2);
  c.beta = Setting(1.0);
  c.c = c.d;
  EXPECT_EQ(GemmUnderTest(c).executed(StmtKind::Store), 8);
  // Several steps and several tiles: k outside, so that neighbours add to different registers.
  const GemmUnderTest deep(GemmCase::natural(2, 2, 6));
  ASSERT_EQ(deep.executed(StmtKind::Ptx), 12);
  EXPECT_EQ(deep.f[deep.code.back()].kind, StmtKind::For);
  EXPECT_EQ(deep.f[deep.f[deep.code.back()].var].name, "k");
}

// Registers that no formulas of m and n give are written out.
TEST(GemmMma, IrregularRegisters) {
  GemmCase c = GemmCase::natural(2, 2, 2);
  c.d = "ComposeLayout(2, 1, 1, S[(2,2,8,2,4,2):(8,2,4@laneid,4,1@laneid,1)])";
  const GemmUnderTest gemm(c);
  ASSERT_EQ(gemm.reason, "");
  EXPECT_EQ(gemm.written(StmtKind::Ptx), 4);
  EXPECT_TRUE(gemm.prove().holds());
}

// --- layouts -------------------------------------------------------------------------------------

TEST(GemmMma, OtherSpellings) {
  GemmCase c;
  c.d = "S[(2,2,4,4,2):(2,16@laneid,4@laneid,1@laneid,1)]";
  c.a = "S[(2,4,2,2,2,2,2):(2,8@laneid,4@laneid,4,2@laneid,1@laneid,1)]";
  c.b = "S[(2,2,2,2,8):(2,2@laneid,1@laneid,1,4@laneid)]";
  expect_tiling(c, "1 x 1 x 1 tiles of m16n8k16");
  c.a = "S[(2,8,2,4,2):(4,4@laneid,2,1@laneid,1)]";  // the other order of registers
  expect_tiling(c, "1 x 1 x 1 tiles of m16n8k16");
}

TEST(GemmMma, PermutedRowsColumnsAndDepth) {
  GemmCase rows;
  rows.d = "S[(8,2,4,2):(4@laneid,2,1@laneid,1)]";
  rows.a = "S[(8,2,2,4,2):(4@laneid,2,4,1@laneid,1)]";
  expect_tiling(rows, "1 x 1 x 1 tiles of m16n8k16");
  GemmCase columns;
  columns.d = "S[(2,8,2,4):(2,4@laneid,1,1@laneid)]";
  columns.b = "S[(2,4,2,2,4):(2,1@laneid,1,4@laneid,8@laneid)]";
  expect_tiling(columns, "1 x 1 x 1 tiles of m16n8k16");
  GemmCase depth;
  depth.a = "S[(2,8,2,4,2):(2,4@laneid,1,1@laneid,4)]";
  depth.b = "S[(2,4,2,8):(1,1@laneid,2,4@laneid)]";
  expect_tiling(depth, "1 x 1 x 1 tiles of m16n8k16");
}

TEST(GemmMma, PermutedInOneOperandOnly) {
  GemmCase c;
  c.a = "S[(8,2,2,4,2):(4@laneid,2,4,1@laneid,1)]";
  expect_declined(c, "fragment",
                  "register 0 of A has rows 0, 2, 4, 6, 8, 10, 12, 14 in a warp, which are not "
                  "those of a register of D");
  c = {};
  c.b = "S[(2,4,2,2,4):(2,1@laneid,1,4@laneid,8@laneid)]";
  expect_declined(c, "fragment",
                  "register 0 of B has columns 0, 4, 1, 5, 2, 6, 3, 7 in a warp, which are not "
                  "those of two registers of D in turn");
  c = {};
  c.b = "S[(2,4,2,8):(1,1@laneid,2,4@laneid)]";
  expect_declined(c, "fragment",
                  "register 0 of B has k 0, 8, 2, 10, 4, 12, 6, 14 in a warp, which are not those "
                  "of a register of A");
}

TEST(GemmMma, NoFragments) {
  GemmCase c;
  c.d = "S[(16,2,4):(2@laneid,1@laneid,1)]";
  expect_declined(c, "fragment",
                  "register 0 of lane 2 has (1, 0) of D, where a matrix instruction would have "
                  "(0, 0)");
}

TEST(GemmMma, Transposed) {
  GemmCase c;
  c.turns_a = c.turns_b = true;
  c.a = "S[(2,4,2,2,8):(4,1@laneid,1,2,4@laneid)]";
  c.b = "S[(8,2,4,2):(4@laneid,2,1@laneid,1)]";
  c.b_shape = {8, 16};
  expect_tiling(c, "1 x 1 x 1 tiles of m16n8k16");
}

TEST(GemmMma, SlicesOfLargerFragments) {
  GemmCase c = GemmCase::natural(2, 2, 4);
  c.edit = [](Builder& b, std::vector<TileArg>& args) {
    args[0] = args[3] = slice(b, args[0], 16, 16, 8, 8);
    args[1] = slice(b, args[1], 16, 16, 16, 16);
    args[2] = slice(b, args[2], 16, 16, 8, 8);
  };
  c.beta = Setting(1.0);
  expect_tiling(c, "1 x 1 x 1 tiles of m16n8k16");
}

// --- warps ---------------------------------------------------------------------------------------

TEST(GemmMma, WarpsShareTheProduct) {
  expect_tiling(GemmCase::over_warps(), "1 x 1 x 1 tiles of m16n8k16");
  GemmCase c = GemmCase::over_warps();
  c.unit = Unit::Warpgroup;
  for (std::string* text : {&c.d, &c.a, &c.b})
    for (auto at = text->find("warpid"); at != std::string::npos; at = text->find("warpid", at + 9))
      text->replace(at, 6, "wid_in_wg");
  expect_tiling(c, "1 x 1 x 1 tiles of m16n8k16");
}

// Each warp has a product of its own, or the same one.
TEST(GemmMma, WarpsByThemselves) {
  GemmCase c;
  c.threads = 128;
  expect_tiling(c, "1 x 1 x 1 tiles of m16n8k16");
  c.unit = Unit::Cta;
  expect_tiling(c, "1 x 1 x 1 tiles of m16n8k16");
}

TEST(GemmMma, WarpsWithoutAPartAreLeftOut) {
  GemmCase c = GemmCase::over_warps();
  c.threads = 256;
  const GemmUnderTest gemm(c);
  ASSERT_EQ(gemm.reason, "");
  EXPECT_EQ(gemm.report.threads, 128);
  EXPECT_EQ(gemm.written(StmtKind::If), 1);
  EXPECT_TRUE(gemm.prove().holds());
}

TEST(GemmMma, DepthSplitOverWarps) {
  GemmCase c;
  c.unit = Unit::Cta;
  c.threads = 64;
  c.a_shape = {16, 32};
  c.b_shape = {32, 8};
  c.a = "S[(2,8,2,2,4,2):(2,4@laneid,1@warpid,4,1@laneid,1)]";
  c.b = "S[(2,2,4,2,8):(1@warpid,2,1@laneid,1,4@laneid)]";
  expect_declined(c, "k-split",
                  "warp 0 holds k 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 of A only: "
                  "the sums of several warps would have to be added up");
}

TEST(GemmMma, WarpsThatDoNotFitEachOther) {
  GemmCase c = GemmCase::over_warps();
  c.a = "S[(2,2,8,2,4,2):(1@warpid,2,4@laneid,4,1@laneid,1)] + R[2:2@warpid]";
  expect_declined(c, "warps", "warp 1 holds row 0 of D and nothing of it in A");
  // All of A everywhere: warps would have to take different registers of it.
  c = GemmCase::over_warps();
  c.a = "S[(2,2,8,2,4,2):(8,2,4@laneid,4,1@laneid,1)]";
  expect_declined(c, "warps", "warps 0 and 2 hold their parts in different registers");
  // All of B everywhere: registers with columns of other warps are overlooked.
  c = GemmCase::over_warps();
  c.b = "S[(2,4,2,2,8):(2,1@laneid,1,4,4@laneid)] + R[4:1@warpid]";
  expect_declined(c, "warps", "warps 0 and 1 hold their parts in different registers");
  // One that has columns of a warp in turn with those of another is not.
  c = GemmCase::over_warps();
  c.b = "S[(2,4,2,2,4,2):(2,1@laneid,1,4@laneid,8@laneid,4)] + R[4:1@warpid]";
  expect_declined(c, "fragment",
                  "register 0 of B has columns 0, 8, 2, 10, 4, 12, 6, 14 in a warp, which are not "
                  "those of two registers of D in turn");
}

TEST(GemmMma, Replicas) {
  GemmCase c;
  c.a = "S[(4,4,16):(1@laneid,16,1)] + R[8:4@laneid]";
  expect_declined(c, "no_replica", "element (0, 0) of A is held by lanes 0 and 4 of warp 0");
  c = {};
  c.b = "S[(16,8):(8,1)]";
  expect_declined(c, "no_replica", "element (0, 0) of B is held by lanes 0 and 1 of warp 0");
  c = {};
  c.d = "S[(2,8,4,2):(2,4@laneid,1@laneid,1)] + R[2:4]";
  expect_declined(c, "no_replica",
                  "element (0, 0) of D is in registers 0 and 4 of lane 0 of warp 0");
}

// --- threads, scopes, types ----------------------------------------------------------------------

TEST(GemmMma, Threads) {
  GemmCase c;
  c.unit = Unit::Thread;
  expect_declined(c, "full_active_lanes", "thread scope, expected warp, warpgroup or cta");
  c = {};
  c.unit = Unit::Cta;
  c.threads = 48;
  expect_declined(c, "full_active_lanes", "48 threads are not whole warps");
}

TEST(GemmMma, OperandsElsewhere) {
  GemmCase c;
  c.a_scope = Scope::Shared;
  c.a = "";
  expect_declined(c, "scope",
                  "gemm mma requires A in register (local) scope, got shared; `stage=True` copies "
                  "it into registers first");
  c = {};
  c.d_scope = Scope::Shared;
  c.d = "";
  expect_declined(c, "scope", "gemm mma requires D in register (local) scope, got shared");
  c = {};
  c.c_scope = Scope::Shared;
  expect_tiling(c, "1 x 1 x 1 tiles of m16n8k16");  // beta is 0
  c.beta = Setting(1.0);
  expect_declined(c, "scope", "gemm mma requires C in register (local) scope, got shared");
}

TEST(GemmMma, Sizes) {
  GemmCase c;
  c.d_shape = {8, 8};
  c.a_shape = {8, 16};
  c.d = "S[(8,4,2):(4@laneid,1@laneid,1)]";
  c.a = "S[(8,2,4,2):(4@laneid,2,1@laneid,1)]";
  expect_declined(c, "shape",
                  "M is 8, N is 8, K is 16; mma.sync of float16 takes M by 16, N by 8, K by 8");
  c = {};
  c.a_shape = {16, 4};
  c.b_shape = {4, 8};
  c.a = "S[(16,4):(4,1)]";
  c.b = "S[(4,8):(8,1)]";
  expect_declined(c, "shape",
                  "M is 16, N is 8, K is 4; mma.sync of float16 takes M by 16, N by 8, K by 8");
}

struct TypeRow {
  DType in, out;
  int e, groups;
  Arch arch;
  int ptx;
  std::string tiling;  // or the decline
};

TEST(GemmMma, TypesAndTargets) {
  const std::vector<TypeRow> rows{
      {DType::Float16, DType::Float32, 2, 2, Arch::Sm80, 70, "1 x 1 x 1 tiles of m16n8k16"},
      {DType::Float16, DType::Float32, 2, 2, Arch::Sm75, 65, "1 x 1 x 2 tiles of m16n8k8"},
      {DType::Float16, DType::Float16, 2, 2, Arch::Sm90, 90, "1 x 1 x 1 tiles of m16n8k16"},
      {DType::Bfloat16, DType::Float32, 2, 3, Arch::Sm90, 90,
       "1 x 1 x 1 tiles of m16n8k16 and 1 x 1 x 1 tiles of m16n8k8"},
      {DType::Bfloat16, DType::Float32, 2, 2, Arch::Sm75, 90,
       "`mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32` needs sm_80 or later; the target is "
       "sm_75"},
      {DType::Bfloat16, DType::Float16, 2, 2, Arch::Sm90, 90,
       "no mma.sync for A bfloat16, B bfloat16, D float16"},
      {DType::Tfloat32, DType::Float32, 1, 3, Arch::Sm80, 70,
       "1 x 1 x 1 tiles of m16n8k8 and 1 x 1 x 1 tiles of m16n8k4"},
      {DType::Float32, DType::Float32, 1, 2, Arch::Sm90, 90,
       "no mma.sync for A float32, B float32, D float32: `allow_tf32=True` permits tf32, which "
       "drops 13 bits of each factor"},
      {DType::Int8, DType::Int32, 4, 3, Arch::Sm80, 70,
       "1 x 1 x 1 tiles of m16n8k32 and 1 x 1 x 1 tiles of m16n8k16"},
      {DType::Uint8, DType::Int32, 4, 2, Arch::Sm75, 65, "2 x 1 x 2 tiles of m8n8k16"},
      {DType::Int8, DType::Float32, 4, 2, Arch::Sm90, 90,
       "no mma.sync for A int8, B int8, D float32"},
      {DType::Float8E4M3fn, DType::Float32, 4, 2, Arch::Sm89, 84, "1 x 1 x 1 tiles of m16n8k32"},
      {DType::Float8E5M2, DType::Float16, 4, 1, Arch::Sm89, 87, "1 x 1 x 1 tiles of m16n8k16"},
      {DType::Float8E4M3fn, DType::Float32, 4, 2, Arch::Sm80, 90,
       "`mma.sync.aligned.m16n8k16.row.col.f32.e4m3.e4m3.f32` needs sm_89 or later; the target is "
       "sm_80"},
      {DType::Float64, DType::Float64, 1, 7, Arch::Sm90, 78,
       "1 x 1 x 1 tiles of m16n8k16 and 1 x 1 x 1 tiles of m16n8k8 and 1 x 1 x 1 tiles of "
       "m16n8k4"},
      {DType::Float64, DType::Float64, 1, 2, Arch::Sm80, 70, "2 x 1 x 2 tiles of m8n8k4"},
      {DType::Int16, DType::Int32, 2, 2, Arch::Sm90, 90,
       "no mma.sync for A int16, B int16, D int32"},
  };
  for (const TypeRow& row : rows) {
    GemmCase c = GemmCase::natural(1, 1, row.groups, row.e);
    c.in = row.in;
    c.out = row.out;
    c.target = {.arch = row.arch, .ptx = row.ptx};
    const GemmUnderTest gemm(c);
    EXPECT_EQ(gemm.reason.empty() ? gemm.report.tiling : gemm.reason, row.tiling);
    EXPECT_TRUE(!gemm.reason.empty() || gemm.prove().holds()) << row.tiling;
  }
}

// Integers of both signs, and 8-bit floats of both kinds.
TEST(GemmMma, FactorsOfTwoTypes) {
  const std::vector<std::tuple<DType, DType, DType, std::string_view>> rows{
      {DType::Uint8, DType::Int8, DType::Int32, "mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32"},
      {DType::Int8, DType::Uint8, DType::Int32, "mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32"},
      {DType::Float8E4M3fn, DType::Float8E5M2, DType::Float32,
       "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32"},
      {DType::Float8E5M2, DType::Float8E4M3fn, DType::Float16,
       "mma.sync.aligned.m16n8k32.row.col.f16.e5m2.e4m3.f16"}};
  GemmCase c = GemmCase::natural(1, 1, 2, 4);
  for (const auto& [a, b, out, opcode] : rows) {
    c.in = a;
    c.in_b = b;
    c.out = out;
    const GemmUnderTest gemm(c);
    ASSERT_EQ(gemm.reason, "") << opcode;
    EXPECT_EQ(gemm.report.instructions[0].opcode, opcode);
    EXPECT_TRUE(gemm.prove().holds()) << opcode;
  }
  c.out = DType::Int32;
  expect_declined(c, "dtype", "no mma.sync for A float8_e5m2, B float8_e4m3fn, D int32");
  c = GemmCase::natural(1, 1, 1, 4);
  c.in = DType::Uint8;
  c.in_b = DType::Int8;
  c.out = DType::Int32;
  c.a_shape = {16, 8};
  c.b_shape = {8, 8};
  expect_declined(c, "shape",
                  "M is 16, N is 8, K is 8; mma.sync of uint8 and int8 takes M by 8, N by 8, K by "
                  "16");
}

TEST(GemmMma, Tf32ByPermission) {
  GemmCase c = GemmCase::natural(1, 1, 2, 1);
  c.in = DType::Float32;
  c.config = {{"allow_tf32", Setting(true)}};
  expect_tiling(c, "1 x 1 x 1 tiles of m16n8k8");
}

TEST(GemmMma, SettingsAreFlags) {
  GemmCase c;
  c.config = {{"allow_tf32", Setting(std::int64_t{1})}};
  expect_declined(c, "config", "`allow_tf32` is 1, expected True or False");
  c.config = {{"stage", Setting(std::string("yes"))}};
  expect_declined(c, "config", "`stage` is \"yes\", expected True or False");
}

// PTX 8.4 has k32 of 8-bit floats and not k16.
TEST(GemmMma, DepthThatDoesNotAddUp) {
  GemmCase c = GemmCase::natural(1, 1, 3, 4);
  c.in = DType::Float8E4M3fn;
  c.target = {.arch = Arch::Sm89, .ptx = 84};
  expect_declined(c, "shape",
                  "M is 16, N is 8, K is 48; mma.sync of float8_e4m3fn takes M by 16, N by 8, K by "
                  "32");
}

// Eight rows by themselves, where an instruction has them.
TEST(GemmMma, EightRows) {
  GemmCase c;
  c.in = DType::Int8;
  c.out = DType::Int32;
  c.d_shape = {8, 8};
  c.a_shape = {8, 32};
  c.b_shape = {32, 8};
  c.d = "S[(8,4,2):(4@laneid,1@laneid,1)]";
  c.a = "S[(8,2,4,4):(4@laneid,4,1@laneid,1)]";
  c.b = "S[(2,4,4,8):(4,1@laneid,1,4@laneid)]";
  expect_tiling(c, "1 x 1 x 2 tiles of m8n8k16");
}

TEST(GemmMma, HalvesOfDShareRegisters) {
  GemmCase c;
  c.out = DType::Float16;
  c.d = "S[(2,8,4,2):(1,4@laneid,1@laneid,2)]";
  expect_declined(c, "fragment",
                  "elements 0 and 2 of the registers of D would have to share a 32-bit register, "
                  "in this order");
}

}  // namespace
}  // namespace ww::lower::gemm_mma_test
