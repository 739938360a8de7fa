// SPDX-License-Identifier: Apache-2.0
// The grid that any lowering of `gemm` to mma.sync is measured by: 78 cases, of which five are
// refused elsewhere and right here. Then all element types, with instructions of other depths.
#include <algorithm>

#include "engines/gemm_family.h"
#include "lower/variant.h"

namespace ww::test::gemm_coverage_test {
namespace {

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
  assemble_later(std::move(assembly));
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

}  // namespace
}  // namespace ww::test::gemm_coverage_test
