// SPDX-License-Identifier: Apache-2.0
// Operands of products: alpha, beta and C; warps over M and N; permuted rows, columns and k; slices
// of larger fragments; A and B in shared memory.
#include <tuple>

#include "engines/gemm_family.h"

namespace ww::test::gemm_operands_test {
namespace {

// --- alpha, beta, C ------------------------------------------------------------------------------

TEST(GemmFactors, AllEngines) {
  Family family("gemm, alpha, beta and C", Nvcc::Always);
  const std::vector<std::pair<std::string, std::string>> factors = {
      {"", "1.0"},     {"", "-2.0"}, {"0.5", ""},    {"0.5", "1.0"},
      {"-1.0", "3.0"}, {"0.0", ""},  {"0.0", "2.0"}, {"2.0", "0.0"}};
  const std::vector<GemmTypes> types = {
      kHalf, {.out = "float16", .tolerance = 5e-2}, {.in = "float64", .out = "float64"}};
  for (const GemmTypes& each : types)
    for (const auto& [alpha, beta] : factors)
      for (const bool has_own_c : {false, true}) {
        const GemmCase c{.types = each,
                         .tiles_m = 2,
                         .tiles_n = 2,
                         .groups = 4,
                         .alpha = alpha,
                         .beta = beta,
                         .has_own_c = has_own_c};
        family.run(program_of(c));
        const Checked normal = check(normal_program_of(c));
        EXPECT_TRUE(normal.right()) << normal.explain();
        family.count();
      }
}

TEST(GemmFactors, WholeNumbersForIntegers) {
  Family family("gemm, factors of integers");
  for (const std::string beta : {"2", "-3.0"}) {
    const GemmCase c{.types = {.in = "int8", .out = "int32"}, .alpha = "-3", .beta = beta};
    run(family, c, opcode("m16n8k32", "s8", "s32"), 1);
    family.count();
  }
}

TEST(GemmFactors, KnownAtRunTime) {
  Family family("gemm, factors known at run time");
  const std::string number = "T.cast(n, \"float32\")";
  const std::vector<std::pair<std::string, std::string>> factors = {
      {"", number}, {number, ""}, {number, number}, {number, "1.0"}};
  for (const auto& [alpha, beta] : factors)
    for (const std::int64_t n : {0, 1, -3}) {
      Program program =
          program_of(GemmCase{.tiles_n = 2, .alpha = alpha, .beta = beta, .scalar = "n"});
      program.scalars = {{"n", n}};
      family.run(program);
      family.count();
    }
}

// What D cannot be multiplied by is an error for every engine.
TEST(GemmFactors, NoNumbers) {
  const GemmTypes ints{.in = "int8", .out = "int32"};
  const std::vector<std::tuple<GemmTypes, std::string, std::string>> rows{
      {ints, "0.5", "beta is 0.5, and D is of int32, expected a whole number of int32"},
      {ints, "2 ** 31", "beta is 2147483648, and D is of int32, expected a whole number of int32"},
      {ints, "float(\"nan\")", "beta is nan, and D is of int32, expected a whole number of int32"},
      {kHalf, "float(\"inf\")", "beta is inf, and D is of float32, expected a finite float32"}};
  for (const auto& [types, beta, text] : rows) {
    const Checked checked = check(program_of(GemmCase{.types = types, .beta = beta}));
    EXPECT_EQ(checked.stage, Stage::Script) << checked.explain();
    EXPECT_NE(checked.why.find(text), std::string::npos) << checked.why;
  }
}

// A factor in a register that the product writes; all threads have the same number there.
TEST(GemmFactors, InRegistersOfD) {
  Family family("gemm, factors in registers of D");
  for (const std::string which : {"alpha", "beta"}) {
    GemmCase c{.tiles_n = 2, .beta = "1.0"};
    // One value for the warp, from a register of one of its lanes.
    const std::string factor = "T.cuda.shfl_sync(0xffffffff, r[0], 5)";
    c.beta = which == "beta" ? factor : "2.0";
    if (which == "alpha") c.alpha = factor;
    Program program = program_of(c);
    const std::size_t at = program.source.find("Tx.warp.gemm");
    ASSERT_NE(at, std::string::npos);
    const std::size_t line = program.source.rfind('\n', at) + 1;
    const std::string indent(at - line, ' ');
    program.source.insert(line, indent + "r = D.local(8)\n" + indent + "r[0] = T.float32(3)\n");
    family.run(program);
    family.count();
  }
}

// A product with its own transpose, with a part of it, and with a part of A added.
TEST(GemmFactors, OperandsInTheSameRegisters) {
  Family family("gemm, operands in the same registers", Nvcc::Always);
  const std::vector<std::tuple<std::string, std::int64_t, std::string>> rows{
      {"float32", 16, "Tx.warp.gemm(D, A, A, D, transpose_B=True)"},
      {"float32", 8, "Tx.warp.gemm(D, A, A[8:16, :], D, transpose_B=True, alpha=2.0)"},
      {"float16", 8, "Tx.warp.gemm(D, A, A[0:8, :], A[:, 8:16], transpose_B=True, beta=1.0)"}};
  for (const auto& [out, columns, call] : rows) {
    GemmCase c{.types = {.out = out}, .tiles_n = columns / 8};
    KernelText text(32, "float16");
    text.param("A_in", {16, 16});
    text.param("D_out", {16, columns}, out);
    const auto declare = [&](const std::string& name, Role role, const Number& second,
                             std::int64_t width, const std::string& type) {
      text.line(fmt::format("{} = T.alloc_buffer((16, {}), \"{}\", scope=\"local\", layout={})",
                            name, width, type, tile(fragment(c, role, natural_m(c), second))));
    };
    declare("A", Role::A, natural_k(c), 16, "float16");
    declare("D", Role::D, natural_n(c), columns, out);
    text.line("Tx.warp.copy(A[:, :], A_in[:, :])");
    text.line(call);
    text.line("Tx.warp.copy(D_out[:, :], D[:, :])");
    const Checked checked = family.run({.source = text.text(), .inputs = Inputs::Whole});
    EXPECT_EQ(mma_verdict(checked), "chosen");
    family.count();
  }
}

// C in registers of another order.
TEST(GemmFactors, RegistersOfC) {
  Family family("gemm, C in other registers");
  for (const std::string beta : {"1.0", "0.5"}) {
    GemmCase c{.tiles_m = 2, .tiles_n = 2, .beta = beta, .has_own_c = true};
    c.c_order = {2, 3, 0, 1};
    run(family, c, opcode(kHalf, 16), 4);
    family.count();
  }
}

// --- warps ---------------------------------------------------------------------------------------

struct WarpRow {
  std::string scope;
  std::int64_t warps_m, warps_n, warps;  // of the product, and of the CTA
};

TEST(GemmWarps, AllEngines) {
  Family family("gemm, warps", Nvcc::Always);
  const std::vector<WarpRow> rows = {
      {"warp", 1, 1, 4},                                     // each a product of its own
      {"wg", 2, 2, 4},   {"wg", 4, 1, 4},  {"wg", 1, 4, 8},  // two warpgroups
      {"cta", 2, 2, 4},  {"cta", 4, 2, 8}, {"cta", 1, 3, 3},
      {"cta", 3, 2, 6},  {"cta", 2, 2, 8},  // the other half has nothing to do
      {"cta", 1, 1, 2},                     // both hold all of it
  };
  for (const WarpRow& row : rows) {
    GemmCase c{.scope = row.scope, .warps = row.warps, .tiles_n = 2, .beta = "1.0"};
    c.warps_m = row.warps_m;
    c.warps_n = row.warps_n;
    run(family, c, opcode(kHalf, 16), 2);
    family.count();
  }
}

// Some of the warps of a CTA, each with a product of its own.
TEST(GemmWarps, UnderACondition) {
  Family family("gemm, under a condition");
  for (const std::string around : {"if warp == 0:", "if warp % 2 == 1:", "if cta == 0:"}) {
    run(family, {.warps = 4, .beta = "1.0", .around = around}, opcode(kHalf, 16), 1);
    family.count();
  }
}

// --- permutations and slices ---------------------------------------------------------------------

TEST(GemmLayouts, PermutedNumbers) {
  Family family("gemm, permuted M, N and K");
  const auto permuted = [](Number number, const std::vector<std::size_t>& order) {
    Number out;
    for (const std::size_t i : order) out.push_back(number.at(i));
    return out;
  };
  GemmCase c{.tiles_m = 2, .tiles_n = 2, .groups = 4, .beta = "1.0"};
  const Number m = natural_m(c, true), n = natural_n(c, true), k = natural_k(c, true);
  ASSERT_EQ(m.size(), 5U);
  ASSERT_EQ(n.size(), 4U);
  ASSERT_EQ(k.size(), 5U);
  std::vector<GemmCase> cases(5, c);
  cases[0].m = permuted(m, {4, 3, 2, 1, 0});
  cases[1].n = permuted(n, {3, 2, 1, 0});
  cases[2].k = permuted(k, {4, 3, 2, 1, 0});
  cases[3].m = permuted(m, {2, 0, 3, 1, 4});
  cases[3].n = permuted(n, {1, 3, 0, 2});
  cases[3].k = permuted(k, {4, 0, 2, 1, 3});
  cases[4] = cases[3];
  cases[4].turns_a = cases[4].turns_b = true;
  for (const GemmCase& each : cases) {
    run(family, each, opcode(kHalf, 16), 8);
    family.count();
  }
}

// Two registers of D whose columns alternate in a register of B need not be neighbours.
TEST(GemmLayouts, ColumnsOfSeveralTilesInOneRegister) {
  Family family("gemm, columns of several tiles in a register of B");
  GemmCase c{.tiles_m = 2, .tiles_n = 2, .groups = 4};
  Number n = natural_n(c);
  std::reverse(n.begin(), n.end());
  c.b_layout = fragment(c, Role::B, natural_k(c), n);
  run(family, c, opcode(kHalf, 16), 8);
  family.count();
}

TEST(GemmLayouts, PermutedInOneOperand) {
  const GemmCase c{.tiles_m = 2, .tiles_n = 2, .groups = 4};
  const auto backwards = [](Number number) {
    std::reverse(number.begin(), number.end());
    return number;
  };
  const Number m = natural_m(c, true), n = natural_n(c, true), k = natural_k(c, true);
  GemmCase rows = c, columns = c, depth = c;
  rows.a_layout = fragment(c, Role::A, backwards(m), k);
  columns.b_layout = fragment(c, Role::B, k, backwards(n));
  depth.b_layout = fragment(c, Role::B, backwards(k), n);
  const std::vector<std::pair<GemmCase, std::string>> cases = {
      {rows,
       "[fragment] register 0 of A has rows 0, 16, 8, 24, 4, 20, 12, 28 in a warp, which are not "
       "those of a register of D"},
      {columns,
       "[fragment] register 0 of B has columns 0, 8, 4, 12, 2, 10, 6, 14 in a warp, which are not "
       "those of two registers of D in turn"},
      {depth,
       "[fragment] register 0 of B has k 0, 16, 8, 24, 4, 20, 12, 28 in a warp, which are not "
       "those of a register of A"}};
  for (const auto& [each, verdict] : cases)
    EXPECT_EQ(mma_verdict(check(program_of(each))), verdict);
}

TEST(GemmLayouts, OrdersOfRegisters) {
  Family family("gemm, orders of registers");
  GemmCase c{.tiles_m = 2, .tiles_n = 2, .groups = 4};
  const std::vector<std::size_t> three = {2, 0, 1}, two = {1, 0}, four = {3, 1, 0, 2};
  std::vector<GemmCase> cases(4, c);
  cases[0].a_order = three;
  cases[1].b_order = two;
  cases[2].d_order = four;
  cases[3].a_order = three;
  cases[3].b_order = two;
  cases[3].d_order = four;
  for (const GemmCase& each : cases) {
    run(family, each, opcode(kHalf, 16), 8);
    family.count();
  }
}

// The rest of the buffers must stay as it is.
TEST(GemmLayouts, Slices) {
  Family family("gemm, slices of larger fragments", Nvcc::Always);
  for (const GemmTypes& types : {kHalf, GemmTypes{.out = "float16", .tolerance = 2e-2},
                                 GemmTypes{.in = "int8", .out = "int32"}})
    for (const std::string beta : {"", "1.0", "2.0"}) {
      const GemmCase c{.types = types, .tiles_n = 2, .beta = beta, .is_slice = true};
      family.run(program_of(c));
      GemmCase both = c;
      both.turns_a = both.turns_b = true;
      family.run(program_of(both));
      family.count(2);
    }
}

// --- stage=True ----------------------------------------------------------------------------------

struct StageRow {
  GemmTypes types;
  std::string scope;
  std::int64_t warps_m, warps_n;
  bool turns_a, turns_b;
};

// A row of a swizzled operand has 128 bytes.
std::string swizzled_rows(const GemmTypes& types, std::int64_t rows, std::int64_t columns) {
  const int chunk = types.in == "int8" ? 4 : 3;
  return swizzled(chunk, 3, 3, fmt::format("S[({}, {}) : ({}, 1)]", rows, columns, columns));
}

TEST(GemmStage, AllEngines) {
  Family family("gemm, operands in shared memory", Nvcc::Always);
  const GemmTypes s8{.in = "int8", .out = "int32"};
  const GemmTypes tf32{.in = "float32", .settings = "allow_tf32=True", .tolerance = 3e-2};
  const std::vector<StageRow> rows = {
      {kHalf, "warp", 1, 1, false, false}, {kBrain, "warp", 1, 1, true, true},
      {kHalf, "cta", 2, 2, false, false},  {kHalf, "cta", 2, 2, true, false},
      {kHalf, "wg", 2, 2, false, true},    {s8, "cta", 2, 1, false, true},
      {s8, "cta", 2, 1, true, false},      {tf32, "cta", 1, 2, false, false}};
  for (const StageRow& row : rows)
    for (const bool is_swizzled : {false, true}) {
      GemmCase c{.types = row.types, .scope = row.scope, .tiles_m = 2, .tiles_n = 4};
      c.warps_m = row.warps_m;
      c.warps_n = row.warps_n;
      c.groups = 64 / row.types.group() * (row.types.in == "int8" ? 2 : 1);
      c.turns_a = row.turns_a;
      c.turns_b = row.turns_b;
      c.beta = "1.0";
      c.settings = "stage=True";
      const auto shape = [&](std::int64_t outer, bool is_turned) {
        return is_turned ? Extents{c.size_k(), outer} : Extents{outer, c.size_k()};
      };
      const Extents a = shape(c.size_m(), c.turns_a), b = shape(c.size_n(), !c.turns_b);
      c.shared_a = is_swizzled ? swizzled_rows(c.types, a[0], a[1]) : "plain";
      c.shared_b = is_swizzled ? swizzled_rows(c.types, b[0], b[1]) : "plain";
      const Checked checked = family.run(program_of(c));
      EXPECT_EQ(gemm_of(checked).chosen, "mma");
      const Checked normal = check(normal_program_of(c));
      EXPECT_TRUE(normal.right()) << normal.explain();
      family.count();
    }
}

// Swizzled rows are read without bank conflicts, by ldmatrix.
TEST(GemmStage, NoBankConflicts) {
  GemmCase c{.tiles_m = 4, .tiles_n = 8, .groups = 8, .settings = "stage=True"};
  c.shared_a = swizzled_rows(kHalf, 64, 64);
  c.shared_b = swizzled_rows(kHalf, 64, 64);
  const Checked checked = check(program_of(c));
  ASSERT_TRUE(checked.right()) << checked.explain();
  ASSERT_EQ(checked.turns.size(), checked.report.calls.size());
  int copies = 0;
  for (std::size_t i = 0; i < checked.turns.size(); ++i) {
    EXPECT_EQ(checked.turns[i].needed, checked.turns[i].ideal) << checked.explain();
    copies += checked.call(i).chosen == "ldstmatrix" ? 1 : 0;
  }
  EXPECT_EQ(copies, 2);
}

TEST(GemmStage, OneOperand) {
  Family family("gemm, one operand in shared memory");
  for (const bool is_a : {true, false}) {
    GemmCase c{.tiles_n = 2, .groups = 4, .settings = "stage=True"};
    (is_a ? c.shared_a : c.shared_b) = "plain";
    run(family, c, opcode(kHalf, 16), 4);
    family.count();
  }
}

}  // namespace
}  // namespace ww::test::gemm_operands_test
