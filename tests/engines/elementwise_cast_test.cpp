// SPDX-License-Identifier: Apache-2.0
// `cast` with `round=` and `saturate=`, bit for bit against the formats' definitions
// (harness/exact_cast.h): chosen casts of all numbers, which instructions they get;
// and the rules by which what a target lacks is declined. `soak --only casts` tries more of them.
#include "engines/elementwise_programs.h"
#include "engines/family.h"
#include "harness/exact_cast.h"

namespace ww::test::elementwise_cast_test {
namespace {

using num::DType;
using Names = std::vector<std::string>;

constexpr std::size_t kElements = 65536;

/// Of all codes of a type of 16 bits, or as many others.
Program program_of(const Cast& cast, const std::string& target) {
  Program out{.source = fmt::format(R"(from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def kernel(A: T.Buffer(({0},), "{1}"), D: T.Buffer(({0},), "{2}")):
    T.device_entry()
    cta = T.cta_id([16])
    T.thread_id([256])
    Tx.cta.cast(D[cta * 4096 : cta * 4096 + 4096], A[cta * 4096 : cta * 4096 + 4096]{3})
)",
                                    kElements, num::name_of(cast.from), num::name_of(cast.to),
                                    cast.settings()),
              .target = target};
  out.arrays["A"] = array_units(cast.from, cast_inputs(cast, kElements, 1));
  out.has_any_nan = true;
  return out;
}

struct Case {
  Cast cast;
  std::string target = "sm_90a";
};

void expect_exact(Family& family, const std::vector<Case>& cases) {
  for (const auto& [cast, target] : cases) {
    const Checked checked = family.run(program_of(cast, target), {.variant = "mixed"});
    if (checked.right()) {
      EXPECT_EQ(wrong_cast(cast, *checked.ran), std::nullopt) << target;
    }
    family.count();
  }
}

TEST(ElementwiseCast, AllNumbersOfFloats) {
  Family family("casts of floats");
  std::vector<Case> cases;
  for (const std::string round : {"rn", "rz", "rm", "rp"}) {
    cases.push_back({{DType::Float32, DType::Float16, round, round == "rm"}, "sm_100a"});
    cases.push_back({{DType::Float32, DType::Bfloat16, round, round == "rz"}, "sm_100a"});
  }
  cases.push_back({{DType::Float16, DType::Bfloat16, "rp"}});
  cases.push_back({{DType::Bfloat16, DType::Float16, "rn", true}});
  cases.push_back({{DType::Bfloat16, DType::Float16, "rm"}, "sm_80"});
  cases.push_back({{DType::Float32, DType::Float16, "rz", true}, "sm_75"});
  cases.push_back({{DType::Float32, DType::Bfloat16, "rp", true}, "sm_80"});
  cases.push_back({{DType::Float16, DType::Float8E4M3fn, "rn", true}, "sm_100a"});
  cases.push_back({{DType::Bfloat16, DType::Float8E5M2, "rn"}});
  cases.push_back({{DType::Float32, DType::Float8E4M3fn, "rn", true}, "sm_89"});
  cases.push_back({{DType::Float8E4M3fn, DType::Float8E5M2, "rn"}, "sm_100a"});
  expect_exact(family, cases);
}

// Infinities of a type stay in a cast into itself unless that saturates.
TEST(ElementwiseCast, IntoTheSameType) {
  Family family("casts into the same type");
  std::vector<Case> cases;
  for (const DType type : {DType::Float8E5M2, DType::Float8E4M3fn, DType::Float16, DType::Float32})
    for (const std::string target : {"sm_75", "sm_90a"}) {
      cases.push_back({{type, type, "", true}, target});
      cases.push_back({{type, type, "", false}, target});
      cases.push_back({{type, type, "rn"}, target});
    }
  expect_exact(family, cases);
}

// Before sm_90 by integer arithmetic; what float32 does not hold is rounded once.
TEST(ElementwiseCast, IntoTf32) {
  Family family("casts into tf32", Nvcc::Always);
  std::vector<Case> cases;
  for (const std::string target : {"sm_75", "sm_80", "sm_90a"})
    for (const DType from : {DType::Float64, DType::Float32, DType::Int64, DType::Uint64,
                             DType::Int32, DType::Int8, DType::Bool})
      cases.push_back({{from, DType::Tfloat32}, target});
  cases.push_back({{DType::Uint64, DType::Tfloat32, "", true}});
  cases.push_back({{DType::Float32, DType::Tfloat32, "rn"}, "sm_80"});
  expect_exact(family, cases);
}

// Powers of two, each with its neighbours; negative numbers, subnormal ones, NaN.
TEST(ElementwiseCast, PowersOfTwo) {
  Family family("casts of powers of two");
  expect_exact(family, {{{DType::Float32, DType::Float8E8M0, "rz", true}, "sm_100a"},
                        {{DType::Float32, DType::Float8E8M0, "rz", false}, "sm_100f"},
                        {{DType::Float32, DType::Float8E8M0, "rp", true}, "sm_103a"},
                        {{DType::Float32, DType::Float8E8M0, "rp", false}, "sm_110a"},
                        {{DType::Bfloat16, DType::Float8E8M0, "rp", true}, "sm_120f"},
                        {{DType::Float8E8M0, DType::Bfloat16, "rn"}, "sm_103f"},
                        {{DType::Float8E8M0, DType::Float16, "rz", true}, "sm_110f"},
                        {{DType::Float8E8M0, DType::Float16, "rp"}, "sm_100a"},
                        {{DType::Float8E8M0, DType::Bfloat16, "rn"}, "sm_90a"}});
}

TEST(ElementwiseCast, AllNumbersToIntegers) {
  Family family("casts to integers");
  expect_exact(family, {{{DType::Float16, DType::Int8, "rn", true}},
                        {{DType::Float16, DType::Uint8, "rna"}},
                        {{DType::Float16, DType::Int32, "rz"}},
                        {{DType::Float16, DType::Int8, "rm"}},
                        {{DType::Bfloat16, DType::Int32, "rp"}},
                        {{DType::Bfloat16, DType::Int16, "rn"}},
                        {{DType::Float8E4M3fn, DType::Uint8, "rna"}}});
}

// What is expected is itself compared with a few numbers that one can look up.
TEST(ElementwiseCast, KnownNumbers) {
  using Bits = std::optional<std::uint64_t>;
  const auto of = [](DType from, DType to, std::uint64_t bits, const std::string& round = {},
                     std::optional<bool> saturate = {}) {
    return exact_cast({from, to, round, saturate}, bits);
  };
  EXPECT_EQ(of(DType::Float32, DType::Float16, 0x3F80'0000), Bits(0x3C00));
  EXPECT_EQ(of(DType::Float32, DType::Float16, 0x477F'EFFF), Bits(0x7BFF));  // just below 65520
  EXPECT_EQ(of(DType::Float32, DType::Float16, 0x477F'F000), Bits(0x7C00));
  EXPECT_EQ(of(DType::Float32, DType::Float16, 0x477F'F000, "rz"), Bits(0x7BFF));
  EXPECT_EQ(of(DType::Float32, DType::Float16, 0xFF80'0000, "rp", true), Bits(0xFBFF));
  EXPECT_EQ(of(DType::Float32, DType::Float16, 0x3300'0000), Bits(0));  // 2^-25, half a denormal
  EXPECT_EQ(of(DType::Float32, DType::Float16, 0x3300'0001), Bits(1));
  EXPECT_EQ(of(DType::Float32, DType::Float16, 0x7FC0'0000), Bits());
  EXPECT_EQ(of(DType::Float32, DType::Float8E4M3fn, 0x43E8'0000), Bits(0x7E));  // 464 to 448
  EXPECT_EQ(of(DType::Float8E5M2, DType::Float8E5M2, 0x7C), Bits(0x7C));
  EXPECT_EQ(of(DType::Float8E5M2, DType::Float8E5M2, 0xFC, "", true), Bits(0xFB));
  EXPECT_EQ(of(DType::Float32, DType::Float4E2M1fn, 0x7FC0'0000), Bits(7));
  EXPECT_EQ(of(DType::Float32, DType::Float4E2M1fn, 0x3E80'0000), Bits(0));  // a quarter
  EXPECT_EQ(of(DType::Float32, DType::Float8E8M0, 0, "rp"), Bits(0));
  EXPECT_EQ(of(DType::Float32, DType::Float8E8M0, 0xC040'0000, "rz"), Bits(128));
  EXPECT_EQ(of(DType::Int64, DType::Float64, 0x0020'0000'0000'0001), Bits(0x4340'0000'0000'0000));
  EXPECT_EQ(of(DType::Uint64, DType::Float16, ~std::uint64_t{0}), Bits(0x7C00));
  EXPECT_EQ(of(DType::Int32, DType::Int8, 0xFFFF'FF7F), Bits(0x7F));
  EXPECT_EQ(of(DType::Int32, DType::Int8, 0xFFFF'FF7F, "", true), Bits(0x80));
  EXPECT_EQ(of(DType::Int32, DType::Uint64, 0xFFFF'FFFF), Bits(~std::uint64_t{0}));
  EXPECT_EQ(of(DType::Float16, DType::Uint8, 0xBC00), Bits(0));          // -1
  EXPECT_EQ(of(DType::Float16, DType::Int8, 0xC100, "rn"), Bits(0xFE));  // -2.5
  EXPECT_EQ(of(DType::Float16, DType::Int8, 0xC100, "rna"), Bits(0xFD));
  EXPECT_EQ(of(DType::Float16, DType::Bool, 0x8000), Bits(0));
}

TEST(ElementwiseCast, NoticesAWrongCast) {
  const Cast cast{DType::Float16, DType::Float8E4M3fn};
  const Checked checked = check(program_of(cast, "sm_90a"));
  ASSERT_TRUE(checked.right()) << checked.explain();
  EXPECT_EQ(wrong_cast(cast, *checked.ran), std::nullopt);
  const Cast other{DType::Float16, DType::Float8E4M3fn, "rz"};
  EXPECT_EQ(wrong_cast(other, *checked.ran),
            "element 5121: float16 0x1401 to float8_e4m3fn, round=\"rz\" is 0x1, expected 0x0");
}

// Single elements are halves of pairs: three in each thread's registers, and types that no pair
// becomes. Every target that has the instructions.
TEST(ElementwiseCast, SinglePowersOfTwo) {
  Family family("single powers of two", Nvcc::Always);
  struct Row {
    std::string from, to, settings, opcode, target = "sm_100a";
  };
  const std::vector<Row> rows = {
      {"float32", "float8_e8m0fnu", ", round=\"rz\"", "cvt.rz.satfinite.ue8m0x2.f32"},
      {"bfloat16", "float8_e8m0fnu", ", round=\"rp\"", "cvt.rp.satfinite.ue8m0x2.bf16x2",
       "sm_103a"},
      {"bfloat16", "float8_e8m0fnu", ", round=\"rz\", saturate=False", "cvt.rz.ue8m0x2.bf16x2",
       "sm_103f"},
      {"int8", "float8_e8m0fnu", ", round=\"rp\"", "cvt.rp.satfinite.ue8m0x2.f32", "sm_110a"},
      {"float16", "float8_e8m0fnu", ", round=\"rp\"", "cvt.rp.satfinite.ue8m0x2.f32", "sm_110f"},
      {"float8_e8m0fnu", "float32", "", "cvt.rn.bf16x2.ue8m0x2", "sm_120a"},
      {"float8_e8m0fnu", "float16", ", round=\"rp\"", "cvt.rn.bf16x2.ue8m0x2", "sm_120f"},
      {"float8_e8m0fnu", "int32", ", round=\"rp\"", "cvt.rn.bf16x2.ue8m0x2", "sm_121a"},
      {"float8_e8m0fnu", "float64", "", "cvt.rn.bf16x2.ue8m0x2", "sm_121f"},
      {"float8_e8m0fnu", "float8_e8m0fnu", "", ""}};
  for (const Row& row : rows) {
    const std::string source = fmt::format(R"(from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TileLayout, laneid

@T.prim_func
def kernel(A: T.Buffer((96,), "{0}"), D: T.Buffer((96,), "{1}")):
    T.device_entry()
    T.warp_id([1])
    T.lane_id([32])
    rows = TileLayout(S[(32, 3) : (1 @ laneid, 1)])
    a = T.alloc_buffer((96,), "{0}", scope="local", layout=rows)
    d = T.alloc_buffer((96,), "{1}", scope="local", layout=rows)
    Tx.warp.copy(a, A)
    Tx.warp.cast(d, a{2})
    Tx.warp.copy(D, d)
)",
                                           row.from, row.to, row.settings);
    family.run({.source = source, .target = row.target, .has_any_nan = true},
               {.variant = "reg", .opcode = row.opcode, .per_thread = 3, .rounds = 3}, 1);
    family.count();
  }
}

// By integer instructions where a target has no others, and as operands.
TEST(ElementwiseCast, PowersOfTwoOnOldTargets) {
  Family family("powers of two on old targets", Nvcc::Always);
  for (const std::string target : {"sm_75", "sm_90a"})
    for (const std::string to : {"float32", "float16", "bfloat16", "int32", "float64", "bool"}) {
      ElementwiseCase each = on_rows({"warp", 32}, {to, "float8_e8m0fnu"}, "cast(D, A)");
      each.target = target;
      Program program = program_of(each);
      program.has_any_nan = true;
      family.run(program, {.variant = "reg", .rounds = 8});
      family.count();
    }
  ElementwiseCase scaled =
      on_rows({"warp", 32}, {"float32", "float32", "float8_e8m0fnu"}, "mul(D, A, B)");
  Program program = program_of(scaled);
  program.has_any_nan = true;
  family.run(program, {.variant = "reg", .rounds = 8});
  family.count();
}

// Every pair of integer types, with saturation; the evaluator and all engines agree, and with what
// a wide integer gives.
TEST(ElementwiseCast, SaturatedIntegers) {
  Family family("saturated integers", Nvcc::Always);
  const Names types = {"int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"};
  for (std::size_t a = 0; a < types.size(); ++a)
    for (const std::size_t step : {1U, 3U, 6U}) {
      const std::string& to = types[(a + step) % types.size()];
      ElementwiseCase each = on_rows({"warp", 32}, {to, types[a]}, "cast(D, A, saturate=True)");
      each.inputs = Inputs::Edges;
      family.run(program_of(each), {.variant = "reg", .rounds = 8});
      family.count();
    }
}

TEST(ElementwiseCast, RoundedIntegersAndDoubles) {
  Family family("integers to floats, doubles", Nvcc::Always);
  struct Row {
    std::string from, to, settings, opcode, target = "sm_90a";
  };
  const std::vector<Row> rows = {
      {"int32", "float32", "round=\"rz\"", "cvt.rz.f32.s32"},
      {"uint32", "float16", "round=\"rp\"", "cvt.rp.f16.u32"},
      {"uint32", "float16", "round=\"rn\", saturate=True", ""},
      {"int64", "float64", "round=\"rm\"", "cvt.rm.f64.s64"},
      {"uint64", "float64", "round=\"rp\"", "cvt.rp.f64.u64"},
      {"uint64", "float32", "round=\"rz\"", "cvt.rz.f32.u64"},
      {"int64", "bfloat16", "round=\"rz\"", "cvt.rz.bf16.s64"},
      {"int16", "bfloat16", "round=\"rm\"", "cvt.rm.bf16.s32"},
      {"int8", "bfloat16", "round=\"rm\"", "", "sm_80"},
      {"float64", "float32", "round=\"rz\"", "cvt.rz.f32.f64"},
      {"float64", "float16", "round=\"rp\", saturate=True", "cvt.rp.f16.f64"},
      {"float64", "bfloat16", "round=\"rm\"", "cvt.rm.bf16.f64"},
      {"float64", "float32", "saturate=True", ""},
      {"float32", "float16", "saturate=True", "cvt.rn.satfinite.f16x2.f32"},
      {"float32", "tfloat32", "round=\"rna\"", "cvt.rna.tf32.f32", "sm_80"},
      {"float32", "tfloat32", "round=\"rz\"", "cvt.rz.tf32.f32"},
      {"float32", "tfloat32", "round=\"rna\", saturate=True", "cvt.rna.satfinite.tf32.f32"},
      {"float8_e4m3fn", "float32", "round=\"rz\"", ""},
      {"float8_e5m2", "int8", "round=\"rn\"", ""}};
  for (const Row& row : rows) {
    ElementwiseCase each =
        on_rows({"warp", 32}, {row.to, row.from}, "cast(D, A, " + row.settings + ")");
    each.inputs = Inputs::Edges;
    each.target = row.target;
    const std::size_t times = row.opcode.find("x2") == std::string::npos ? 8 : 4;
    const Checked checked =
        family.run(program_of(each), {.variant = "reg",
                                      .opcode = row.opcode,
                                      .per_thread = static_cast<std::int64_t>(times),
                                      .rounds = 8});
    if (!row.opcode.empty()) {
      EXPECT_EQ(count_of(checked.ptx, row.opcode + "\t"), times) << checked.ptx;
    }
    family.count();
  }
}

// --- what is declined ----------------------------------------------------------------------------

TEST(ElementwiseCast, Declines) {
  struct Row {
    std::string from, to, settings, why, target = "sm_90a";
  };
  const std::vector<Row> rows = {
      {"float32", "float16", "round=\"rna\"", "[arch] sm_90a has no `cvt.rna.f16.f32`"},
      {"float32", "tfloat32", "round=\"rz\"", "[arch] sm_80 has no `cvt.rz.tf32.f32`", "sm_80"},
      {"float32", "float8_e4m3fn", "round=\"rz\"",
       "[dtype] no instruction rounds float32 to float8_e4m3fn by `rz`"},
      {"float32", "float8_e4m3fn", "saturate=False",
       "[config] float32 to float8_e4m3fn always saturates, expected no `saturate=False`"},
      {"float32", "int8", "saturate=False",
       "[config] float32 to int8 always saturates, expected no `saturate=False`"},
      {"int32", "int8", "round=\"rz\"",
       "[config] int32 to int8 rounds nothing, expected no `round`"},
      {"int64", "bfloat16", "round=\"rz\"", "[arch] sm_80 has no `cvt.rz.bf16.s64`", "sm_80"},
      {"float32", "float8_e8m0fnu", "saturate=True",
       "[config] no instruction rounds float32 to float8_e8m0fnu by `rn`, expected `round=\"rz\"` "
       "or `\"rp\"`",
       "sm_100a"},
      {"float64", "float8_e8m0fnu", "round=\"rz\"",
       "[dtype] float64 to float8_e8m0fnu: no instruction, expected a source that float32 holds",
       "sm_100a"},
      {"float32", "float8_e8m0fnu", "round=\"rp\"",
       "[arch] sm_90a has no `cvt.rp.satfinite.ue8m0x2.f32`"},
      {"float8_e8m0fnu", "int8", "saturate=False",
       "[config] float8_e8m0fnu to int8 always saturates, expected no `saturate=False`", "sm_100a"},
      {"bool", "int8", "saturate=True",
       "[config] bool to int8 has no use for `round` and `saturate`"}};
  for (const Row& row : rows) {
    ElementwiseCase each =
        on_rows({"warp", 32}, {row.to, row.from}, "cast(D, A, " + row.settings + ")");
    each.target = row.target;
    const Checked checked = check(program_of(each));
    EXPECT_EQ(checked.stage, Stage::Lower) << row.from << row.to;
    EXPECT_EQ(verdict_on(checked, 0, "reg"), row.why);
  }
}

TEST(ElementwiseCast, FaultsShow) {
  ElementwiseCase each = on_rows({"warp", 32}, {"float16", "float32"}, "cast(D, A, round=\"rz\")");
  each.inputs = Inputs::Normal;
  Program program = program_of(each);
  ASSERT_TRUE(check(program).right());
  program.edits = {{"cvt.rz.f16x2.f32", "cvt.rn.f16x2.f32"}};
  EXPECT_EQ(check(program).stage, Stage::Device);

  each = on_rows({"warp", 32}, {"float8_e8m0fnu", "float32"}, "cast(D, A, round=\"rz\")");
  each.target = "sm_100a";
  program = program_of(each);
  ASSERT_TRUE(check(program).right());
  program.edits = {{"cvt.rz.satfinite.ue8m0x2.f32", "cvt.rp.satfinite.ue8m0x2.f32"}};
  EXPECT_EQ(check(program).stage, Stage::Device);
}

}  // namespace
}  // namespace ww::test::elementwise_cast_test
