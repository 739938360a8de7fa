// SPDX-License-Identifier: Apache-2.0
// Reductions whose elements several warps hold, or whose results go to other warps: every op, many
// element types, both scopes; columns, whole tiles, rows that begin in the middle of a warp;
// reductions one after the other, in loops and in warpgroups apart; and what is declined.
#include "engines/elementwise_programs.h"
#include "engines/family.h"

namespace ww::test::reduce_warps_test {
namespace {

const std::vector<std::string> kOps = {"sum", "max", "min"};

ElementwiseCase case_of(std::int64_t threads, Reg d, Reg a, const std::string& call) {
  ElementwiseCase out{.threads = threads, .regs = {std::move(d), std::move(a)}, .calls = {call}};
  // Which NaN an operation on doubles gives is not specified.
  if (out.regs[0].dtype == "float64") out.inputs = Inputs::Normal;
  return out;
}

// The whole tile into one element, which all threads get.
TEST(ReduceWarps, OfAllTypes) {
  Family family("reductions over warps", Nvcc::Always);
  for (const std::string& op : kOps)
    for (const std::string dtype : {"float32", "float16", "bfloat16", "float64", "int32", "uint8",
                                    "int64", "uint64", "float8_e4m3fn"}) {
      const bool has_accum = dtype.find("int") == std::string::npos;
      family.run(program_of(case_of(
                     128, reg("D", dtype, {1}, "S[1] + R[128 : 1 @ tx]", 1, "0"),
                     reg("A", dtype, {128, 2}, "S[(128, 2) : (1 @ tx, 1)]", 2),
                     "Tx.cta." + op + "(D, A[:, 1], axes=0" + (has_accum ? ", accum=True)" : ")"))),
                 {.variant = "warps", .rounds = 1});
      family.count();
    }
}

TEST(ReduceWarps, Layouts) {
  Family family("layouts of reductions over warps", Nvcc::Always);
  struct Row {
    std::int64_t threads;
    Reg d, a;
    std::string call;
  };
  const std::vector<Row> rows = {
      // Columns: of the CTA, of warpgroups, and of those with elements of 64 bits.
      {256, reg("D", "float32", {8}, "S[8 : 1 @ tx]", 1),
       reg("A", "float32", {256, 8}, "S[(256, 8) : (1 @ tx, 1)]", 8), "cta.sum(D, A, axes=0)"},
      {256, reg("D", "float32", {4}, "S[4] + R[128 : 1 @ tid_in_wg]", 4, "tid // 128"),
       reg("A", "float32", {128, 4}, "S[(128, 4) : (1 @ tid_in_wg, 1)]", 4),
       "wg.sum(D, A, axes=0)"},
      {256, reg("D", "float64", {4}, "S[4] + R[128 : 1 @ tid_in_wg]", 4, "tid // 128"),
       reg("A", "float64", {128, 4}, "S[(128, 4) : (1 @ tid_in_wg, 1)]", 4),
       "wg.max(D, A, axes=0)"},
      // A result for another warp.
      {64, reg("D", "float32", {1}, "S[1 : 1 @ tx] + 32 @ tx", 1),
       reg("A", "float32", {32}, "S[32 : 1 @ tx]", 1), "cta.sum(D, A)"},
      // Rows in warps, results one after the other.
      {128, reg("D", "float32", {4}, "S[4 : 1 @ tx]", 1),
       reg("A", "float32", {4, 32}, "S[(4, 32) : (1 @ warpid, 1 @ laneid)]", 1), "cta.sum(D, A)"},
      // Rows that begin in the middle of a warp, in one or two of them.
      {96, reg("D", "float32", {4}, "S[4 : 1 @ tx]", 1),
       reg("A", "float32", {4, 24}, "S[(4, 24) : (24 @ tx, 1 @ tx)]", 1), "cta.sum(D, A)"},
      {160, reg("D", "float32", {3}, "S[3] + R[160 : 1 @ tx]", 3, "0"),
       reg("A", "float32", {3, 50}, "S[(3, 50) : (50 @ tx, 1 @ tx)]", 1), "cta.sum(D, A)"},
      // Warps that hold the same elements count once.
      {128, reg("D", "float32", {2}, "S[2] + R[128 : 1 @ tx]", 2, "0"),
       reg("A", "float32", {2, 64},
           "S[(2, 2, 32) : (1, 1 @ warpid, 1 @ laneid)] + R[2 : 2 @ warpid]", 2, "tid % 64"),
       "cta.sum(D, A)"},
      // The fragments of a product, over the rows of four warps.
      {128, reg("D", "float32", {8}, "S[(4, 2) : (1 @ tx, 1)] + R[32 : 4 @ tx]", 2, "tid % 4"),
       reg("A", "float32", {64, 8},
           "S[(4, 2, 8, 4, 2) : (1 @ warpid, 2, 4 @ laneid, 1 @ laneid, 1)]", 4),
       "cta.max(D, A, axes=0)"},
  };
  for (const Row& row : rows) {
    family.run(program_of(case_of(row.threads, row.d, row.a, "Tx." + row.call)),
               {.variant = "warps"});
    family.count();
  }
}

// Scratch memory is used again: by the next call, by the next round, by the other warpgroup.
TEST(ReduceWarps, OneAfterTheOther) {
  Family family("reductions over warps one after the other");
  ElementwiseCase each = case_of(256, reg("D", "float32", {4}, "S[4] + R[256 : 1 @ tx]", 4, "0"),
                                 reg("A", "float32", {256, 4}, "S[(256, 4) : (1 @ tx, 1)]", 4),
                                 "Tx.cta.sum(D, A, axes=0)");
  each.regs.push_back(reg("E", "float32", {4}, "S[4] + R[128 : 1 @ tid_in_wg]", 4, "tid // 128"));
  each.regs.push_back(reg("B", "float32", {128, 4}, "S[(128, 4) : (1 @ tid_in_wg, 1)]", 4, "tid"));
  for (const std::vector<std::string>& calls : std::vector<std::vector<std::string>>{
           {"Tx.cta.sum(D, A, axes=0)", "Tx.cta.max(D[2:4], A[:, 0:2], axes=0)"},
           {"for it in range(4):", "    Tx.cta.sum(D[it], A[:, it], axes=0)"},
           {"Tx.wg.sum(E, B, axes=0)", "Tx.cta.sum(D, A, axes=0)",
            "Tx.wg.sum(E, B, axes=0, accum=True)"},
           {"if warp // 4 == 0:", "    Tx.wg.sum(E, B, axes=0)",
            "else:", "    Tx.wg.max(E[1:3], B[:, 0:2], axes=0)", "    Tx.wg.min(E, B, axes=0)"}}) {
    each.calls = calls;
    family.run(program_of(each), {.variant = "warps"});
    family.count();
  }
}

TEST(ReduceWarps, OnAllTargets) {
  Family family("reductions over warps on all targets");
  for (const std::string target : {"sm_75", "sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a",
                                   "sm_103a", "sm_110a", "sm_120a", "sm_121a"}) {
    ElementwiseCase each =
        case_of(256, reg("D", "float16", {4}, "S[4] + R[128 : 1 @ tid_in_wg]", 4, "tid // 128"),
                reg("A", "float16", {128, 4}, "S[(128, 4) : (1 @ tid_in_wg, 1)]", 4),
                "Tx.wg.sum(D, A, axes=0)");
    each.target = target;
    family.run(program_of(each), {.variant = "warps"});
    family.count();
  }
}

TEST(ReduceWarps, Declines) {
  const Reg d = reg("D", "float32", {4}, "S[4] + R[128 : 1 @ tx]", 4, "0");
  const Reg a = reg("A", "float32", {128, 4}, "S[(128, 4) : (1 @ tx, 1)]", 4);
  const auto verdict = [](const ElementwiseCase& each) {
    return verdict_on(check(program_of(each)), 0, "warps");
  };
  EXPECT_EQ(verdict(case_of(32, reg("D", "float32", {1}, "S[1] + R[32 : 1 @ laneid]", 1),
                            reg("A", "float32", {8, 8}, "S[(8, 8) : (1 @ laneid, 1)]", 8),
                            "Tx.warp.sum(D, A[0], dispatch=\"warps\")")),
            "[scope] warp scope, expected warpgroup or cta");
  // What a layout leaves free between rows is taken, too.
  const auto beside = [&](const std::string& memory) {
    ElementwiseCase full =
        case_of(128, d, a,
                "M = T.alloc_buffer(" + memory + ", scope=\"shared\"); Tx.cta.sum(D, A, axes=0)");
    full.target = "sm_80";
    return verdict(full);
  };
  const std::string rest =
      " of 49152 are taken; a loop over smaller tiles needs less, and so does static shared memory "
      "that is made dynamic";
  EXPECT_EQ(beside("(12286,), \"float32\""),
            "[scratch] 64 bytes of shared memory between the warps, and 49144" + rest);
  EXPECT_EQ(beside("(64, 60), \"float32\", layout=TileLayout(S[(64, 60) : (194, 1)])"),
            "[scratch] 64 bytes of shared memory between the warps, and 49128" + rest);
  // Dynamic shared memory is the block's, too.
  ElementwiseCase dynamic =
      case_of(128, d, a,
              "M = T.alloc_buffer((65000,), \"uint8\", scope=\"shared.dyn\"); "
              "Tx.cta.sum(D, A, axes=0)");
  dynamic.target = "sm_75";
  EXPECT_EQ(verdict(dynamic),
            "[scratch] 64 bytes of shared memory between the warps, and 66024 of the 65536 of a "
            "block are taken; a loop over smaller tiles needs less");
  EXPECT_EQ(verdict(case_of(40, reg("D", "float32", {1}, "S[1] + R[40 : 1 @ tx]", 1),
                            reg("A", "float32", {40}, "S[40 : 1 @ tx]", 1), "Tx.cta.sum(D, A)")),
            "[threads] 40 threads are not whole warps");
}

}  // namespace
}  // namespace ww::test::reduce_warps_test
