// SPDX-License-Identifier: Apache-2.0
// Products on all engines. First the grid that any lowering of `gemm` to mma.sync is measured by:
// 78 cases, of which five are refused elsewhere and right here. Then element types, instructions of
// other depths, warps over M and N, permuted rows, columns and k, slices of larger fragments,
// operands in shared memory, and every decline.
//
// Each case runs twice: on small whole numbers, whose sums no engine rounds, so that all bits must
// be the evaluator's; and on normal numbers, where the virtual GPU must be near to the evaluator
// and everything else equal to the virtual GPU.
#include <algorithm>
#include <tuple>

#include "lower/gemm_programs.h"
#include "lower/variant.h"

namespace ww::test {
namespace {

const GemmTypes kHalf = {.in = "float16"};
const GemmTypes kBrain = {.in = "bfloat16"};

/// "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
std::string opcode(const std::string& shape, const std::string& in, const std::string& out) {
  return fmt::format("mma.sync.aligned.{}.row.col.{}.{}.{}.{}", shape, out, in, in, out);
}
std::string opcode(const GemmTypes& types, int k) {
  return opcode(fmt::format("m16n8k{}", k), types.in == "float16" ? "f16" : "bf16", "f32");
}

/// Both runs; `times`: how often a thread executes the instruction, by report and by PTX.
Checked run(Family& family, const GemmCase& c, const std::string& opcode, std::int64_t times) {
  Checked checked = family.run(program_of(c));
  if (!checked.right()) return checked;
  EXPECT_EQ(gemm_of(checked).chosen, "mma");
  EXPECT_EQ(times_of(gemm_of(checked), opcode), times)
      << opcode << " among " << opcodes_of(gemm_of(checked)) << "\n"
      << checked.source;
  EXPECT_EQ(count_of(checked.ptx, opcode), static_cast<std::size_t>(times)) << checked.ptx;
  const Checked normal = check(normal_program_of(c));
  EXPECT_TRUE(normal.right()) << normal.explain();
  return checked;
}

// --- the grid ------------------------------------------------------------------------------------

TEST(Gemm, IsRegistered) {
  Family family("gemm, registered");
  const std::vector<const lower::Variant*> variants = lower::variants_of(ir::TileOp::Gemm);
  EXPECT_EQ(std::count_if(variants.begin(), variants.end(),
                          [](const auto* each) { return each->name == "mma"; }),
            1);
  run(family, {.settings = "dispatch=\"mma\""}, opcode(kHalf, 16), 1);
  family.count();
}

TEST(Gemm, LowersToOneInstruction) {
  Family family("gemm, lowers");
  for (const GemmTypes& types : {kBrain, kHalf}) {
    const Checked compiled = compile_only(program_of(GemmCase{.types = types}));
    ASSERT_TRUE(compiled.right()) << compiled.explain();
    EXPECT_EQ(count_of(compiled.ptx, "mma."), 1U) << compiled.ptx;
    EXPECT_EQ(count_of(compiled.ptx, opcode(types, 16)), 1U) << compiled.ptx;
    family.count();
  }
}

TEST(Gemm, BetaOneAddsInPlace) {
  Family family("gemm, beta 1");
  const Checked checked = run(family, {.beta = "1.0"}, opcode(kHalf, 16), 1);
  EXPECT_EQ(gemm_of(checked).plan.tiling, "1 x 1 x 1 tiles of m16n8k16");
  family.count();
}

// Elsewhere refused.
TEST(Gemm, FactorsAreAccepted) {
  Family family("gemm, alpha and beta in general");
  run(family, {.alpha = "2.0"}, opcode(kHalf, 16), 1);
  run(family, {.beta = "0.5"}, opcode(kHalf, 16), 1);
  family.count(2);
}

TEST(Gemm, Numbers) {
  Family family("gemm, numbers");
  for (const GemmTypes& types : {kHalf, kBrain}) {
    run(family, {.types = types}, opcode(types, 16), 1);
    family.count();
  }
}

struct Tiling {
  std::int64_t m, n, k;
  int depth;  // of an instruction
  [[nodiscard]] GemmCase gemm(const GemmTypes& types) const {
    return {.types = types, .tiles_m = m, .tiles_n = n, .groups = k * depth / types.group()};
  }
};
const std::vector<Tiling> kDeep = {{1, 1, 1, 16}, {2, 1, 1, 16}, {1, 2, 1, 16},
                                   {1, 1, 2, 16}, {2, 2, 2, 16}, {4, 1, 1, 16}};
const std::vector<Tiling> kShallow = {{1, 1, 1, 8}, {1, 1, 3, 8}, {2, 2, 3, 8}};

// An odd number of k8 steps are pairs of them in k16 and one k8.
TEST(Gemm, Tilings) {
  Family family("gemm, tilings", Nvcc::Always);
  std::vector<Tiling> tilings = kDeep;
  tilings.insert(tilings.end(), kShallow.begin(), kShallow.end());
  for (const Tiling& t : tilings)
    for (const GemmTypes& types : {kHalf, kBrain})
      for (const std::string beta : {"0.0", "1.0"}) {
        GemmCase c = t.gemm(types);
        c.beta = beta;
        const std::int64_t tiles = t.m * t.n, groups = t.k * t.depth / 8;
        const Checked checked = run(family, c, opcode(types, 16), tiles * (groups / 2));
        EXPECT_EQ(count_of(checked.ptx, opcode(types, 8)),
                  static_cast<std::size_t>(tiles * (groups % 2)));
        family.count();
      }
}

GemmCase turned(const GemmTypes& types, bool turns_a, bool turns_b) {
  return {.types = types,
          .tiles_m = 2,
          .tiles_n = 2,
          .groups = 4,
          .turns_a = turns_a,
          .turns_b = turns_b};
}

TEST(Gemm, Transposes) {
  Family family("gemm, transposes", Nvcc::Always);
  for (const GemmTypes& types : {kHalf, kBrain})
    for (const bool turns_a : {false, true})
      for (const bool turns_b : {false, true}) {
        run(family, turned(types, turns_a, turns_b), opcode(types, 16), 8);
        family.count();
      }
}

TEST(Gemm, LowersTiled) {
  Family family("gemm, lowers tiled");
  for (const Tiling& t : {kDeep[1], kDeep[2], kDeep[3], kDeep[4]})
    for (const GemmTypes& types : {kHalf, kBrain}) {
      GemmCase c = t.gemm(types);
      c.target = "sm_80";
      const Checked compiled = compile_only(program_of(c));
      ASSERT_TRUE(compiled.right()) << compiled.explain();
      EXPECT_EQ(gemm_of(compiled).plan.tiling,
                fmt::format("{} x {} x {} tiles of m16n8k16", t.m, t.n, t.k));
      family.count();
    }
}

TEST(Gemm, IssueCounts) {
  Family family("gemm, issue counts");
  for (const Tiling& t : kDeep) {
    const Checked compiled = compile_only(program_of(t.gemm(kHalf)));
    ASSERT_TRUE(compiled.right()) << compiled.explain();
    EXPECT_EQ(count_of(compiled.ptx, "mma."), static_cast<std::size_t>(t.m * t.n * t.k));
    EXPECT_EQ(times_of(gemm_of(compiled), opcode(kHalf, 16)), t.m * t.n * t.k);
    EXPECT_EQ(gemm_of(compiled).plan.flops, 2 * t.m * 16 * t.n * 8 * t.k * 16);
    family.count();
  }
}

// Only labels of dimensions: the instruction is the same, its registers too.
TEST(Gemm, TransposesRelabel) {
  Family family("gemm, transposes lower and emit");
  for (const bool turns_a : {false, true})
    for (const bool turns_b : {false, true}) {
      const Checked compiled = compile_only(program_of(turned(kHalf, turns_a, turns_b)));
      ASSERT_TRUE(compiled.right()) << compiled.explain();
      EXPECT_EQ(gemm_of(compiled).plan.tiling, "2 x 2 x 2 tiles of m16n8k16");
      family.count();
      EXPECT_EQ(count_of(compiled.ptx, "mma."), 8U);
      EXPECT_EQ(count_of(compiled.ptx, opcode(kHalf, 16)), 8U);
      family.count();
    }
}

// Of four that are refused elsewhere two are right here.
TEST(Gemm, TypesThatOthersRefuse) {
  Family family("gemm, types refused elsewhere");
  run(family, {.types = {.out = "float16", .tolerance = 2e-2}}, opcode("m16n8k16", "f16", "f16"),
      1);
  run(family, {.types = {.in = "int8", .out = "int32"}}, opcode("m16n8k32", "s8", "s32"), 1);
  const Checked single = check(program_of(GemmCase{.types = {.in = "float32"}}));
  EXPECT_EQ(single.stage, Stage::Lower);
  EXPECT_EQ(mma_verdict(single),
            "[dtype] no mma.sync for A float32, B float32, D float32: `allow_tf32=True` permits "
            "tf32, which drops 13 bits of each factor");
  std::string mixed = source_of(GemmCase{});
  const std::string b = "B = T.alloc_buffer((16, 8), \"float16\"";
  ASSERT_NE(mixed.find(b), std::string::npos) << mixed;
  mixed.replace(mixed.find(b), b.size(), "B = T.alloc_buffer((16, 8), \"bfloat16\"");
  const std::string from = "B_in = T.match_buffer(B_in_ptr, (1, 16, 8), \"float16\")";
  ASSERT_NE(mixed.find(from), std::string::npos) << mixed;
  mixed.replace(mixed.find(from), from.size(),
                "B_in = T.match_buffer(B_in_ptr, (1, 16, 8), \"bfloat16\")");
  const Checked refused = check({.source = mixed});
  EXPECT_EQ(refused.stage, Stage::Script);
  EXPECT_NE(refused.why.find("`gemm` with `float16` of `A` and `bfloat16` of `B`, expected one "
                             "element type [BadTileCall]"),
            std::string::npos)
      << refused.why;
  family.count(4);
}

// --- element types -------------------------------------------------------------------------------

struct TypeRow {
  GemmTypes types;
  std::int64_t groups;
  std::string tiling;
  std::string target = "sm_90a";
};

std::vector<TypeRow> type_rows() {
  const GemmTypes tf32{.in = "float32", .settings = "allow_tf32=True", .tolerance = 3e-2};
  const GemmTypes s8{.in = "int8", .out = "int32"}, u8{.in = "uint8", .out = "int32"};
  const GemmTypes e4m3{.in = "float8_e4m3fn", .tolerance = 1e-2};
  const GemmTypes e5m2{.in = "float8_e5m2", .tolerance = 1e-2};
  const GemmTypes f64{.in = "float64", .out = "float64", .tolerance = 1e-12};
  const GemmTypes halves{.out = "float16", .tolerance = 2e-2};
  return {
      {kHalf, 3, "2 x 2 x 1 tiles of m16n8k16 and 2 x 2 x 1 tiles of m16n8k8"},
      {kBrain, 3, "2 x 2 x 1 tiles of m16n8k16 and 2 x 2 x 1 tiles of m16n8k8"},
      {halves, 4, "2 x 2 x 2 tiles of m16n8k16"},
      {halves, 3, "2 x 2 x 1 tiles of m16n8k16 and 2 x 2 x 1 tiles of m16n8k8", "sm_80"},
      {tf32, 2, "2 x 2 x 1 tiles of m16n8k8"},
      {tf32, 3, "2 x 2 x 1 tiles of m16n8k8 and 2 x 2 x 1 tiles of m16n8k4"},
      {s8, 3, "2 x 2 x 1 tiles of m16n8k32 and 2 x 2 x 1 tiles of m16n8k16"},
      {u8, 2, "2 x 2 x 1 tiles of m16n8k32", "sm_80"},
      {e4m3, 2, "2 x 2 x 1 tiles of m16n8k32"},
      {e5m2, 3, "2 x 2 x 1 tiles of m16n8k32 and 2 x 2 x 1 tiles of m16n8k16"},
      {f64, 7,
       "2 x 2 x 1 tiles of m16n8k16 and 2 x 2 x 1 tiles of m16n8k8 and 2 x 2 x 1 tiles of "
       "m16n8k4"},
      {f64, 2, "4 x 2 x 2 tiles of m8n8k4", "sm_80"},
      {{.in = "uint8", .out = "int32", .in_b = "int8"}, 2, "2 x 2 x 1 tiles of m16n8k32"},
      {{.in = "int8", .out = "int32", .in_b = "uint8"}, 2, "4 x 2 x 2 tiles of m8n8k16", "sm_75"},
      {{.in = "float8_e4m3fn", .tolerance = 1e-2, .in_b = "float8_e5m2"},
       2,
       "2 x 2 x 1 tiles of m16n8k32"},
      {{.in = "float8_e5m2", .tolerance = 1e-2, .in_b = "float8_e4m3fn"},
       3,
       "2 x 2 x 1 tiles of m16n8k32 and 2 x 2 x 1 tiles of m16n8k16"},
  };
}

TEST(GemmTypes, AllEngines) {
  Family family("gemm, element types", Nvcc::Always);
  for (const TypeRow& row : type_rows())
    for (const std::string beta : {"", "1.0"}) {
      const GemmCase c{.types = row.types,
                       .tiles_m = 2,
                       .tiles_n = 2,
                       .groups = row.groups,
                       .beta = beta,
                       .target = row.target};
      const Checked checked = family.run(program_of(c));
      EXPECT_EQ(gemm_of(checked).plan.tiling, row.tiling);
      const Checked normal = check(normal_program_of(c));
      EXPECT_TRUE(normal.right()) << normal.explain();
      family.count();
    }
}

// What other GPUs have; ptxas has the last word.
TEST(GemmTypes, OtherTargets) {
  Family family("gemm, other targets");
  Assembly assembly;
  const auto compiled = [&](const std::string& target, const GemmTypes& types, std::int64_t groups,
                            const std::string& tiling) {
    const Checked checked =
        compile_only(program_of(GemmCase{.types = types, .groups = groups, .target = target}));
    EXPECT_TRUE(checked.right()) << checked.explain();
    EXPECT_EQ(gemm_of(checked).plan.tiling, tiling);
    assembly.add(target, checked.ptx);
    family.count();
  };
  const GemmTypes e4m3{.in = "float8_e4m3fn"}, s8{.in = "int8", .out = "int32"};
  compiled("sm_75", kHalf, 2, "1 x 1 x 2 tiles of m16n8k8");
  compiled("sm_75", s8, 2, "2 x 1 x 2 tiles of m8n8k16");
  compiled("sm_80", kBrain, 2, "1 x 1 x 1 tiles of m16n8k16");
  for (const std::string target : {"sm_89", "sm_90", "sm_100a", "sm_120a"}) {
    compiled(target, e4m3, 2, "1 x 1 x 1 tiles of m16n8k32");
    compiled(target, {.in = "float8_e5m2", .out = "float16"}, 1, "1 x 1 x 1 tiles of m16n8k16");
    compiled(target, s8, 2, "1 x 1 x 1 tiles of m16n8k32");
  }
  std::string skipped;
  EXPECT_EQ(assembly.assemble(skipped), "");
}

TEST(GemmTypes, EightRows) {
  Family family("gemm, eight rows");
  const GemmCase bytes{.types = {.in = "int8", .out = "int32"}, .half_tile = true};
  run(family, bytes, opcode("m8n8k16", "s8", "s32"), 2);
  const GemmCase doubles{.types = {.in = "float64", .out = "float64", .tolerance = 1e-12},
                         .tiles_m = 3,
                         .half_tile = true};
  run(family, doubles, opcode("m8n8k4", "f64", "f64"), 6);
  family.count(2);
}

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
    c.beta = which == "beta" ? "r[0]" : "2.0";
    if (which == "alpha") c.alpha = "r[0]";
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
}  // namespace ww::test
