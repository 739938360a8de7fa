// SPDX-License-Identifier: Apache-2.0
// Reductions between registers: every op, element type and scope; rows in registers, in lanes and
// in both; replicas; results for lanes that hold nothing of them; parts, accumulation, in place;
// NaN; and the calls that are declined, each with its reason.
#include "engines/elementwise_programs.h"
#include "engines/family.h"

namespace ww::test::reduce_test {
namespace {

const std::vector<std::string> kOps = {"sum", "max", "min"};
const std::vector<std::string> kTypes = {"float32", "float16", "bfloat16",      "float64",
                                         "int32",   "int8",    "uint16",        "int64",
                                         "uint32",  "uint64",  "float8_e4m3fn", "float8_e5m2"};

ElementwiseCase case_of(Reg d, Reg a, const std::string& call) {
  ElementwiseCase out{.regs = {std::move(d), std::move(a)}, .calls = {call}};
  // Which NaN an operation on doubles gives is not specified.
  if (out.regs[0].dtype == "float64") out.inputs = Inputs::Normal;
  return out;
}

TEST(Reduce, InTheThread) {
  Family family("reductions in threads", Nvcc::Always);
  for (const std::string& op : kOps)
    for (const std::string& dtype : kTypes)
      for (const std::string accum : {"", ", accum=True"}) {
        family.run(program_of(case_of(reg("D", dtype, {4}, "S[4]", 4),
                                      reg("A", dtype, {4, 8}, "S[4, 8]", 32),
                                      "Tx." + op + "(D, A" + accum + ")")),
                   {.variant = "registers", .rounds = 32});
        family.run(program_of(case_of(reg("D", dtype, {8}, "S[8]", 8),
                                      reg("A", dtype, {4, 8}, "S[4, 8]", 32),
                                      "Tx." + op + "(D, A, axes=0" + accum + ")")),
                   {.variant = "registers", .rounds = 32});
        family.count(2);
      }
}

// A row of 32 in four lanes, eight registers each; its result in all four.
TEST(Reduce, OverLanesOfAllTypes) {
  Family family("reductions over lanes", Nvcc::Always);
  for (const std::string& op : kOps)
    for (const std::string& dtype : kTypes)
      for (const std::string accum : {"", ", accum=True"}) {
        const std::int64_t words = dtype.find("64") == std::string::npos ? 1 : 2;
        family.run(program_of(case_of(
                       reg("D", dtype, {8}, "S[8 : 4 @ laneid] + R[4 : 1 @ laneid]", 1, "tid // 4"),
                       reg("A", dtype, {8, 4, 8}, "S[(8, 4, 8) : (4 @ laneid, 1 @ laneid, 1)]", 8),
                       "Tx.warp." + op + "(D, A[:, :, 3], axes=1" + accum + ")")),
                   {.variant = "registers",
                    .opcode = "shfl.sync.bfly.b32",
                    .per_thread = 2 * words,
                    .rounds = 1});
        family.run(program_of(case_of(
                       reg("D", dtype, {8}, "S[8 : 4 @ laneid] + R[4 : 1 @ laneid]", 1, "tid // 4"),
                       reg("A", dtype, {8, 32}, "S[(8, 4, 8) : (4 @ laneid, 1 @ laneid, 1)]", 8),
                       "Tx.warp." + op + "(D, A" + accum + ")")),
                   {.variant = "registers",
                    .opcode = "shfl.sync.bfly.b32",
                    .per_thread = 2 * words,
                    .rounds = 8});
        family.count(2);
      }
}

// Where the elements of a row are, and who wants the result.
TEST(Reduce, LayoutsOfTheSource) {
  Family family("layouts of reductions", Nvcc::Always);
  struct Row {
    Reg d, a;
    std::string call;
    std::int64_t butterflies = 0, given = 0;
  };
  const std::string mma = "S[(2, 8, 2, 4, 2) : (4, 4 @ laneid, 2, 1 @ laneid, 1)]";
  const std::vector<Row> rows = {
      // All lanes.
      {reg("D", "float32", {1}, "S[1] + R[32 : 1 @ laneid]", 1, "0"),
       reg("A", "float32", {32}, "S[32 : 1 @ laneid]", 1), "sum(D, A)", 5},
      {reg("D", "float32", {4}, "S[4] + R[32 : 1 @ laneid]", 4, "0"),
       reg("A", "float32", {32, 4}, "S[(32, 4) : (1 @ laneid, 1)]", 4), "sum(D, A, axes=0)", 20},
      // The fragments of a matrix instruction, by rows and by columns.
      {reg("D", "float32", {16}, "S[(2, 8) : (1, 4 @ laneid)] + R[4 : 1 @ laneid]", 2, "tid // 4"),
       reg("A", "float32", {16, 16}, mma, 8), "sum(D, A)", 4},
      {reg("D", "float32", {16}, "S[(2, 4, 2) : (2, 1 @ laneid, 1)] + R[8 : 4 @ laneid]", 4,
           "tid % 4"),
       reg("A", "float32", {16, 16}, mma, 8), "sum(D, A, axes=0)", 12},
      // In one lane of four only, and in lanes that have nothing of the row.
      {reg("D", "float32", {8}, "S[8 : 4 @ laneid]", 1),
       reg("A", "float32", {8, 4}, "S[(8, 4) : (4 @ laneid, 1 @ laneid)]", 1), "sum(D, A)", 2},
      {reg("D", "float32", {8}, "S[8 : 1 @ laneid]", 1),
       reg("A", "float32", {8, 4}, "S[(8, 4) : (4 @ laneid, 1 @ laneid)]", 1), "sum(D, A)", 2, 1},
      {reg("D", "float64", {8}, "S[8 : 1 @ laneid] + R[4 : 8 @ laneid]", 1, "tid % 8"),
       reg("A", "float64", {8, 4}, "S[(8, 4) : (4 @ laneid, 1 @ laneid)]", 1), "max(D, A)", 4, 2},
      // Lanes of other strides, and backwards.
      {reg("D", "float32", {4}, "S[4 : 1 @ laneid]", 1),
       reg("A", "float32", {4, 8}, "S[(4, 8) : (1 @ laneid, 4 @ laneid)]", 1), "sum(D, A)", 3},
      {reg("D", "float32", {4}, "S[4 : 1 @ laneid]", 1),
       reg("A", "float32", {4, 8}, "S[(4, 8) : (1 @ laneid, -4 @ laneid)] + 28 @ laneid", 1),
       "sum(D, A)", 3},
      // Fewer lanes than a power of two; the others hold nothing.
      {reg("D", "float32", {1}, "S[1 : 1 @ laneid]", 1),
       reg("A", "float32", {12}, "S[12 : 1 @ laneid]", 1), "sum(D, A)", 4, 1},
      {reg("D", "float32", {1}, "S[1] + R[32 : 1 @ laneid]", 1, "0"),
       reg("A", "float32", {11, 3}, "S[(11, 3) : (1 @ laneid, 1)]", 3), "max(D, A[:, 1], axes=0)",
       4, 1},
      {reg("D", "int32", {3}, "S[3 : 4 @ laneid]", 1),
       reg("A", "int32", {3, 4, 2}, "S[(3, 4, 2) : (4 @ laneid, 1 @ laneid, 1)]", 2),
       "min(D, A[:, :, 1], axes=1)", 2},
      // Elements that several lanes hold count once.
      {reg("D", "float32", {4}, "S[4 : 8 @ laneid] + R[8 : 1 @ laneid]", 1, "tid // 8"),
       reg("A", "float32", {4, 4}, "S[(4, 4) : (8 @ laneid, 1 @ laneid)] + R[2 : 4 @ laneid]", 1,
           "tid // 8 * 8 + tid % 4"),
       "sum(D, A)", 2},
      {reg("D", "float32", {1}, "S[1] + R[32 : 1 @ laneid]", 1, "0"),
       reg("A", "float32", {8}, "S[8] + R[32 : 1 @ laneid]", 8, "0"), "sum(D, A)"},
      // Registers with gaps, an element twice in a thread.
      {reg("D", "float32", {32}, "S[32 : 1 @ laneid]", 1),
       reg("A", "float32", {32, 2, 3}, "S[(32, 2, 3) : (1 @ laneid, 7, 2)]", 12),
       "sum(D, A[:, :, 1], axes=1)"},
  };
  for (const Row& row : rows) {
    const Checked checked = family.run(program_of(case_of(row.d, row.a, "Tx.warp." + row.call)),
                                       {.variant = "registers"});
    if (!checked.right()) continue;
    EXPECT_EQ(times_of(checked.call(0), "shfl.sync.bfly.b32"), row.butterflies) << row.a.layout;
    EXPECT_EQ(times_of(checked.call(0), "shfl.sync.idx.b32"), row.given) << row.a.layout;
    EXPECT_EQ(static_cast<std::int64_t>(count_of(checked.ptx, "shfl.sync.bfly")), row.butterflies);
    EXPECT_EQ(static_cast<std::int64_t>(count_of(checked.ptx, "shfl.sync.idx")), row.given);
    family.count();
  }
}

// All lanes at once, where integers of 32 bits go into one element; before sm_80 by butterflies.
TEST(Reduce, AllLanesAtOnce) {
  Family family("reductions by redux.sync", Nvcc::Always);
  for (const std::string& op : kOps)
    for (const std::string dtype : {"int32", "uint32", "int8", "uint16"})
      for (const std::string target : {"sm_75", "sm_80", "sm_90a", "sm_100a"}) {
        ElementwiseCase each = case_of(reg("D", dtype, {3}, "S[3] + R[32 : 1 @ laneid]", 3, "0"),
                                       reg("A", dtype, {23, 3}, "S[(23, 3) : (1 @ laneid, 1)]", 3),
                                       "Tx.warp." + op + "(D, A, axes=0, accum=True)");
        each.target = target;
        const std::string name = op == "sum" ? "add" : op;
        const std::string opcode =
            target == "sm_75" ? "shfl.sync.bfly.b32"
                              : "redux.sync." + name + (dtype == "uint32" ? ".u32" : ".s32");
        const Checked checked = family.run(
            program_of(each),
            {.variant = "registers", .opcode = opcode, .per_thread = target == "sm_75" ? 15 : 3});
        EXPECT_EQ(count_of(checked.ptx, opcode), target == "sm_75" ? 15U : 3U) << checked.ptx;
        family.count();
      }
}

TEST(Reduce, OnAllTargets) {
  Family family("reductions on all targets");
  for (const std::string target : {"sm_75", "sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a",
                                   "sm_103a", "sm_110a", "sm_120a", "sm_121a"})
    for (const std::string& op : kOps)
      for (const std::string dtype :
           {"float32", "float16", "bfloat16", "int8", "int64", "float64"}) {
        ElementwiseCase each =
            case_of(reg("D", dtype, {8}, "S[8 : 1 @ laneid]", 1),
                    reg("A", dtype, {8, 12}, "S[(8, 3, 4) : (4 @ laneid, 1 @ laneid, 1)]", 4),
                    "Tx.warp." + op + "(D, A, accum=True)");
        each.target = target;
        family.run(program_of(each), {.variant = "registers", .rounds = 4});
        family.count();
      }
}

// Rows that begin anywhere in a warp.
TEST(Reduce, LanesOutOfLine) {
  Family family("reductions of lanes out of line", Nvcc::Always);
  for (const std::string& op : kOps)
    for (const std::int64_t lanes : {3, 5, 6, 7, 10}) {
      const std::int64_t rows = 32 / lanes;
      const std::string type = lanes == 6 ? "int32" : lanes == 7 ? "float64" : "float32";
      family.run(
          program_of(case_of(
              reg("D", type, {rows}, fmt::format("S[{} : {} @ laneid]", rows, lanes), 1),
              reg("A", type, {rows, lanes},
                  fmt::format("S[({}, {}) : ({} @ laneid, 1 @ laneid)]", rows, lanes, lanes), 1),
              "Tx.warp." + op + "(D, A)")),
          {.variant = "registers"});
      family.count();
    }
}

// Warpgroups and CTAs whose rows stay in a warp; one warp of several alone.
TEST(Reduce, WiderScopes) {
  Family family("reductions of wider scopes", Nvcc::Always);
  for (const std::string& op : kOps) {
    for (const std::string dtype : {"float32", "float16"}) {
      ElementwiseCase each =
          case_of(reg("D", dtype, {64}, "S[(64) : (4 @ tx)] + R[4 : 1 @ tx]", 1, "tid // 4"),
                  reg("A", dtype, {64, 16}, "S[(64, 4, 4) : (4 @ tx, 1 @ tx, 1)]", 4),
                  "Tx.cta." + op + "(D, A)");
      each.threads = 256;
      family.run(program_of(each), {.variant = "registers", .rounds = 4});
      each.regs = {
          reg("D", dtype, {32}, "S[32 : 4 @ tid_in_wg] + R[4 : 1 @ tid_in_wg]", 1, "tid // 4"),
          reg("A", dtype, {32, 16}, "S[(32, 4, 4) : (4 @ tid_in_wg, 1 @ tid_in_wg, 1)]", 4)};
      each.calls = {"Tx.wg." + op + "(D, A)"};
      family.run(program_of(each), {.variant = "registers", .rounds = 4});
      each.calls = {"if warp // 4 == 1:", "    Tx.wg." + op + "(D, A)"};
      family.run(program_of(each), {.variant = "registers", .rounds = 4});
      family.count(3);
    }
    // No shuffles, no whole warps.
    ElementwiseCase each = case_of(reg("D", "float32", {40}, "S[40 : 1 @ tx]", 1),
                                   reg("A", "float32", {40, 8}, "S[(40, 8) : (1 @ tx, 1)]", 8),
                                   "Tx.cta." + op + "(D, A)");
    each.threads = 40;
    family.run(program_of(each), {.variant = "registers", .rounds = 8});
    family.count();
  }
}

TEST(Reduce, InPlaceAndParts) {
  Family family("reductions in place");
  const Reg a = reg("A", "float32", {32, 8}, "S[(32, 8) : (1 @ laneid, 1)]", 8);
  const Reg d = reg("D", "float32", {32}, "S[32 : 1 @ laneid]", 1);
  for (const std::string call :
       {"sum(A[:, 3], A)", "sum(A[:, 0], A[:, 0:7], accum=True)", "max(D, A[:, 2:5])",
        "sum(D[3:9], A[3:9, 1:4])", "min(A[5:6, 0:8], A, axes=0)",
        "sum(A[5:6, 0:8], A, axes=0, accum=True)"}) {
    family.run(program_of(case_of(d, a, "Tx.warp." + call)), {.variant = "registers"});
    family.count();
  }
  // Registers that begin where a loop says.
  ElementwiseCase loop{
      .regs = {reg("D", "float32", {4, 32}, "S[(4, 32) : (1, 1 @ laneid)]", 4),
               reg("A", "float32", {4, 32, 2}, "S[(4, 32, 2) : (2, 1 @ laneid, 1)]", 8)},
      .calls = {"for it in range(4):", "    Tx.warp.sum(D[it], A[it])"}};
  family.run(program_of(loop), {.variant = "registers", .rounds = 2});
  family.count();
}

// A NaN among numbers is passed over by max and min; it is the result where there is nothing else.
TEST(Reduce, NaN) {
  for (const std::string op : {"max", "min", "sum"}) {
    ElementwiseCase each =
        case_of(reg("D", "float32", {2}, "S[2 : 16 @ laneid] + R[16 : 1 @ laneid]", 1),
                reg("A", "float32", {2, 16}, "S[(2, 16) : (16 @ laneid, 1 @ laneid)]", 1),
                "A_r[0] = T.if_then_else(tid == 3 or tid >= 16, T.float32(\"nan\"), "
                "T.cast(tid, \"float32\") - 4.0)");
    each.calls.push_back("Tx.warp." + op + "(D, A)");
    Program program = program_of(each);
    program.has_any_nan = true;
    const Checked checked = check(program);
    ASSERT_TRUE(checked.right()) << checked.explain();
    const Ran& ran = *checked.ran;
    for (std::size_t k = 0; k < ran.args.size(); ++k) {
      if (ran.args[k].name != "D_out") continue;
      const double low = number_at(ran.args[k], ran.expected.arrays[k], 0);
      const double high = number_at(ran.args[k], ran.expected.arrays[k], 16);
      EXPECT_NE(high, high) << op;
      if (op == "sum") {
        EXPECT_NE(low, low);
      } else {
        EXPECT_EQ(low, op == "max" ? 11 : -4);
      }
    }
  }
}

// Indices of elements of 64 bits: first of equal ones, -0 below +0, NaN passed over, 0 where there is
// nothing else; rows in lanes, in warps, in each thread, and parts of them.
TEST(Reduce, IndicesOfWideElements) {
  Family family("indices of elements of 64 bits", Nvcc::Always);
  const std::string few =
      "A_r[i] = T.if_then_else((tid + i) % 5 == 0 or tid // 4 == 3, T.float64(\"nan\"), "
      "T.cast((tid * 7 + i) // 3 % 3, \"float64\") * T.if_then_else((tid + i) % 2 == 0, "
      "T.float64(-1.0), T.float64(1.0)))";
  struct Row {
    std::int64_t threads;
    Reg d, a;
    std::string call;
    bool is_few = false;
  };
  const Reg d4 = reg("D", "int32", {8}, "S[8 : 4 @ laneid] + R[4 : 1 @ laneid]", 1, "tid // 4");
  const Reg a4 = reg("A", "float64", {8, 12}, "S[(8, 4, 3) : (4 @ laneid, 1 @ laneid, 1)]", 3);
  const std::vector<Row> rows = {
      {32, d4, a4, "warp.argmax(D, A)"},
      {32, d4, a4, "warp.argmax(D, A)", true},
      {32, d4, a4, "warp.argmin(D, A)", true},
      {32, d4, a4, "warp.argmin(D[2:5], A[2:5, 3:11])", true},
      {32, reg("D", "int64", {3}, "S[3]", 3), reg("A", "uint64", {4, 3}, "S[4, 3]", 12),
       "argmin(D, A, axes=0)"},
      {64, reg("D", "int32", {2}, "S[2] + R[64 : 1 @ tx]", 2, "0"),
       reg("A", "int64", {64, 2}, "S[(64, 2) : (1 @ tx, 1)]", 2), "cta.argmax(D, A, axes=0)"},
      {64, reg("D", "int32", {2}, "S[2] + R[64 : 1 @ tx]", 2, "0"),
       reg("A", "float64", {64, 2}, "S[(64, 2) : (1 @ tx, 1)]", 2), "cta.argmin(D, A, axes=0)",
       true},
  };
  for (const Row& row : rows) {
    ElementwiseCase each{.threads = row.threads, .regs = {row.d, row.a}};
    if (row.is_few) each.calls = {fmt::format("for i in range({}):", row.a.slots), "    " + few};
    each.calls.push_back("Tx." + row.call);
    Program program = program_of(each);
    program.has_any_nan = true;
    family.run(program);
    family.count();
  }
  // Part of the lanes of a row have elements; the index is chosen by sets of threads.
  family.run(program_of(
      case_of(d4, reg("A", "float32", {8, 12}, "S[(8, 4, 3) : (4 @ laneid, 1 @ laneid, 1)]", 3),
              "Tx.warp.argmax(D[2:5], A[2:5, 3:11])")));
  family.count();
}

// --- declines ------------------------------------------------------------------------------------

struct Declined {
  ElementwiseCase each;
  std::string verdict;
};

std::vector<Declined> declines() {
  const Reg d = reg("D", "float32", {8}, "S[8]", 8);
  const Reg a = reg("A", "float32", {32, 8}, "S[(32, 8) : (1 @ laneid, 1)]", 8);
  return {
      {case_of(d, a, "Tx.cluster.sum(D, A, axes=0)"),
       "[scope] cluster scope, expected thread, warp, warpgroup or cta"},
      {case_of(reg("D", "bool", {32}, "S[32 : 1 @ laneid]", 1),
               reg("A", "bool", {32, 8}, "S[(32, 8) : (1 @ laneid, 1)]", 8), "Tx.warp.max(D, A)"),
       "[dtype] `D` has elements of type bool, expected numbers of whole bytes"},
  };
}

TEST(Reduce, Declines) {
  for (const Declined& row : declines()) {
    const Checked checked = check(program_of(row.each));
    EXPECT_EQ(verdict_on(checked, 0, "registers"), row.verdict) << source_of(row.each);
  }
}

}  // namespace
}  // namespace ww::test::reduce_test
