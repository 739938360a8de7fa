// SPDX-License-Identifier: Apache-2.0
// Two elements at a time: the instructions that targets have for words of two floats, where the
// registers of a thread pair up, and single ones where they do not. The bits are the evaluator's.
#include <algorithm>

#include "engines/elementwise_programs.h"
#include "engines/family.h"

namespace ww::test::elementwise_packed_test {
namespace {

using Names = std::vector<std::string>;

struct Row {
  std::string target, dtype, call;
  std::string opcode;  // empty: there is none
};

// 8 elements of a thread are 4 words.
TEST(ElementwisePacked, InstructionsOfTargets) {
  Family family("two elements at a time", Nvcc::Always);
  const std::vector<Row> rows = {
      {"sm_75", "float16", "add(D, A, B)", "add.rn.f16x2"},
      {"sm_75", "float16", "sub(D, A, B)", "sub.rn.f16x2"},
      {"sm_75", "float16", "mul(D, A, B)", "mul.rn.f16x2"},
      {"sm_75", "float16", "fma(D, A, B, D)", "fma.rn.f16x2"},
      {"sm_75", "float16", "neg(D, A)", "neg.f16x2"},
      {"sm_75", "float16", "abs(D, A)", "abs.f16x2"},
      {"sm_75", "float16", "maximum(D, A, B)", ""},
      {"sm_80", "float16", "maximum(D, A, B)", "max.f16x2"},
      {"sm_80", "float16", "minimum(D, A, B)", "min.f16x2"},
      {"sm_80", "float16", "relu(D, A)", "max.f16x2"},
      {"sm_80", "bfloat16", "add(D, A, B)", ""},
      {"sm_80", "bfloat16", "fma(D, A, B, D)", "fma.rn.bf16x2"},
      {"sm_80", "bfloat16", "maximum(D, A, B)", "max.bf16x2"},
      {"sm_80", "bfloat16", "neg(D, A)", "neg.bf16x2"},
      {"sm_80", "bfloat16", "abs(D, A)", "abs.bf16x2"},
      {"sm_90a", "bfloat16", "add(D, A, B)", "add.rn.bf16x2"},
      {"sm_90a", "bfloat16", "sub(D, A, B)", "sub.rn.bf16x2"},
      {"sm_90a", "bfloat16", "mul(D, A, B)", "mul.rn.bf16x2"},
      {"sm_90a", "bfloat16", "relu(D, A)", "max.bf16x2"},
      {"sm_90a", "float16", "mul(D, A, 0.5)", "mul.rn.f16x2"},
      {"sm_90a", "float16", "fma(D, A, 2, B)", "fma.rn.f16x2"},
      {"sm_90a", "float16", "mul(D, A, 0.1)", ""},  // computed in float32
      {"sm_90a", "float16", "fdiv(D, A, B)", ""},
      {"sm_90a", "float32", "add(D, A, B)", ""},
      {"sm_100a", "float32", "add(D, A, B)", "add.rn.f32x2"},
      {"sm_100a", "float32", "sub(D, A, D)", "sub.rn.f32x2"},
      {"sm_120a", "float32", "mul(D, A, 0.1)", "mul.rn.f32x2"},
      {"sm_100a", "float32", "fma(D, A, B, D)", "fma.rn.f32x2"},
      {"sm_100a", "float32", "maximum(D, A, B)", ""},
      {"sm_100a", "float16", "add(D, D, A)", "add.rn.f16x2"}};
  for (const Row& row : rows) {
    ElementwiseCase each = on_rows({"warp", 32}, {row.dtype, row.dtype, row.dtype}, row.call);
    each.target = row.target;
    Program program = program_of(each);
    program.has_any_nan = true;  // the sign of one is not specified, here nor of single elements
    const Checked checked =
        family.run(program, {.variant = "reg", .opcode = row.opcode, .per_thread = 4, .rounds = 8});
    EXPECT_EQ(count_of(checked.ptx, "x2\t"), row.opcode.empty() ? 0U : 4U) << checked.ptx;
    if (!row.opcode.empty()) {
      EXPECT_EQ(count_of(checked.ptx, row.opcode + "\t"), 4U) << checked.ptx;
    }
    family.count();
  }
}

struct Shape {
  std::vector<Reg> regs;
  std::string call;
  std::size_t packed;  // instructions
};

// Registers that pair up, in whatever order, and some that do not.
TEST(ElementwisePacked, RegistersThatPairUp) {
  Family family("registers that pair up", Nvcc::Always);
  const auto halves = [](const std::string& name, Extents shape, const std::string& layout,
                         std::int64_t slots) {
    return reg(name, "float16", std::move(shape), layout, slots);
  };
  const std::string rows = "S[(32, 8) : (1 @ laneid, 1)]";
  const std::string fragment = "S[(2, 8, 4, 2) : (2, 4 @ laneid, 1 @ laneid, 1)]";
  const Reg d = halves("D", {32, 8}, rows, 8), a = halves("A", {32, 8}, rows, 8);
  const std::vector<Shape> shapes = {
      {{halves("D", {16, 8}, fragment, 4), halves("A", {16, 8}, fragment, 4)}, "add(D, D, A)", 2},
      // Words in another order, halves in their places.
      {{d, halves("A", {32, 8}, "S[(32, 2, 2, 2) : (1 @ laneid, 2, 4, 1)]", 8)}, "add(D, D, A)", 4},
      {{d, halves("A", {32, 8}, "S[(32, 4, 2) : (1 @ laneid, 1, 4)]", 8)}, "add(D, D, A)", 0},
      {{d, a}, "add(D[0:32, 0:7], D[0:32, 0:7], A[0:32, 0:7])", 0},
      {{d, a}, "add(D[0:32, 2:6], D[0:32, 2:6], A[0:32, 4:8])", 2},
      {{d, a}, "add(D[0:32, 1:7], D[0:32, 1:7], A[0:32, 1:7])", 0},
      {{d, a}, "add(D[0:32, 2:8], D[0:32, 2:8], A[0:32, 1:7])", 0},
      // One number for the row.
      {{d, a}, "mul(D, D, A[0:32, 3])", 0},
      {{d, a}, "sub(D[4:20, 0:8], A[4:20, 0:8], D[4:20, 0:8])", 4}};
  for (const Shape& shape : shapes) {
    ElementwiseCase each{.regs = shape.regs, .calls = {"Tx.warp." + shape.call}};
    const Checked checked = family.run(program_of(each), {.variant = "reg"});
    EXPECT_EQ(count_of(checked.ptx, ".f16x2\t"), shape.packed) << shape.call << checked.ptx;
    family.count();
  }
}

// Vectors from memory pair up by themselves.
TEST(ElementwisePacked, VectorsOfMemory) {
  Family family("two elements of memory at a time", Nvcc::Always);
  struct Case {
    std::string target, dtype, call, opcode;
    std::size_t count;
  };
  const std::vector<Case> cases = {
      {"sm_90a", "float16", "Tx.warp.add(X, X, A)", "add.rn.f16x2", 4},
      {"sm_90a", "bfloat16", "Tx.warp.fma(X, A, 0.5, X)", "fma.rn.bf16x2", 4},
      {"sm_90a", "float16", "Tx.warp.mul(X, A, A[0, 0:8])", "mul.rn.f16x2", 4},
      {"sm_90a", "float16", "Tx.warp.mul(X, A, A[0:32, 0])", "mul.rn.f16x2", 4},
      {"sm_90a", "float16", "Tx.warp.add(R, A, X)", "add.rn.f16x2", 4},
      {"sm_90a", "float16", "Tx.warp.sub(R, R, A[0, 0:8])", "sub.rn.f16x2", 4},
      {"sm_90a", "float16", "Tx.warp.relu(X)", "max.f16x2", 4},
      {"sm_100a", "float32", "Tx.warp.sub(X, A, X)", "sub.rn.f32x2", 4},
      {"sm_100a", "float32", "Tx.warp.add(X, A, 3)", "add.rn.f32x2", 4},
      {"sm_120a", "float32", "Tx.warp.fma(X, X, A, X)", "fma.rn.f32x2", 4},
      {"sm_100a", "float32", "Tx.warp.maximum(X, X, A)", "max.f32", 8},
      {"sm_100a", "float32", "Tx.warp.mul(X, R, A)", "mul.rn.f32x2", 4}};
  for (const Case& each : cases) {
    KernelText text(32, each.dtype);
    text.param("A", {32, 8});
    text.param("X_in", {32, 8});
    text.param("R_in", {32, 8});
    text.param("X_out", {32, 8});
    text.param("R_out", {32, 8});
    text.line(fmt::format("X = T.alloc_buffer((32, 8), \"{}\", scope=\"shared\")", each.dtype));
    text.line(fmt::format("R = T.alloc_buffer((32, 8), \"{}\", scope=\"local\", layout={})",
                          each.dtype, tile("S[(32, 8) : (1 @ laneid, 1)]")));
    text.line("R_r = R.local(8)");
    text.for_registers("R_r", "R_in", 8, false);
    text.for_elements({32, 8}, "X", "X_in");
    text.sync();
    text.line(each.call);
    text.sync();
    text.for_elements({32, 8}, "X_out", "X");
    text.for_registers("R_out", "R_r", 8, true);
    const Checked checked =
        family.run({.source = text.text(), .target = each.target, .inputs = Inputs::Normal},
                   {.variant = "mixed"});
    EXPECT_EQ(count_of(checked.ptx, each.opcode + "\t"), each.count) << checked.ptx;
    family.count();
  }
}

// Conversions, by every pair of types that has instructions: their numbers, and what is needed beside
// them.
TEST(ElementwisePacked, Conversions) {
  Family family("conversions of two elements", Nvcc::Always);
  struct Case {
    std::string target, from, to, call;
    Names opcodes;
    std::size_t conversions;  // of any kind, with those of addresses
  };
  const std::string e4m3 = "float8_e4m3fn", e5m2 = "float8_e5m2", half = "float16",
                    brain = "bfloat16", real = "float32";
  const std::string plain = "cast(D, A)", cut = "cast(D, A, round=\"rz\")",
                    bounded = "cast(D, A, saturate=True)";
  const std::vector<Case> cases = {
      {"sm_75", real, half, plain, {}, 8},
      {"sm_80", real, half, plain, {"cvt.rn.f16x2.f32"}, 4},
      {"sm_80", real, brain, plain, {"cvt.rn.bf16x2.f32"}, 4},
      {"sm_90a", real, half, cut, {"cvt.rz.f16x2.f32"}, 4},
      {"sm_90a", real, brain, bounded, {"cvt.rn.satfinite.bf16x2.f32"}, 4},
      {"sm_90a", half, brain, plain, {"cvt.rn.bf16x2.f32"}, 4 + 8},
      {"sm_90a", brain, half, cut, {"cvt.rz.f16x2.f32"}, 4},
      {"sm_89", real, e4m3, plain, {"cvt.rn.satfinite.e4m3x2.f32"}, 4},
      {"sm_90a", real, e5m2, plain, {"cvt.rn.satfinite.e5m2x2.f32"}, 4},
      {"sm_90a", brain, e4m3, plain, {"cvt.rn.satfinite.e4m3x2.f32"}, 4},
      {"sm_90a", half, e5m2, plain, {"cvt.rn.satfinite.e5m2x2.f16x2"}, 4},
      {"sm_89", e4m3, half, plain, {"cvt.rn.f16x2.e4m3x2"}, 4},
      {"sm_90a", e5m2, real, plain, {"cvt.rn.f16x2.e5m2x2"}, 4 + 8},
      {"sm_90a", e4m3, brain, plain, {"cvt.rn.f16x2.e4m3x2", "cvt.rn.bf16x2.f32"}, 4 + 8 + 4},
      {"sm_100a",
       e4m3,
       e5m2,
       plain,
       {"cvt.rn.f16x2.e4m3x2", "cvt.rn.satfinite.e5m2x2.f16x2"},
       4 + 4},
      {"sm_90a", "float64", half, plain, {}, 8},
      {"sm_90a", "int32", half, plain, {}, 8}};
  for (const Case& each : cases) {
    ElementwiseCase rows = on_rows({"warp", 32}, {each.to, each.from}, each.call);
    rows.target = each.target;
    const Checked checked =
        family.run(program_of(rows), {.variant = "reg",
                                      .opcode = each.opcodes.empty() ? "" : each.opcodes[0],
                                      .per_thread = 4,
                                      .rounds = 8});
    const std::string what = each.from + " to " + each.to + "\n" + checked.ptx;
    for (const std::string& opcode : each.opcodes)
      EXPECT_EQ(count_of(checked.ptx, opcode + "\t"), 4U) << what;
    EXPECT_EQ(count_of(checked.ptx, "\tcvt."), each.conversions) << what;
    family.count();
  }
}

// Between memory and registers, and with halves that do not meet.
TEST(ElementwisePacked, ConversionsOfMemory) {
  Family family("conversions of two elements of memory", Nvcc::Always);
  struct Case {
    std::string from, to, call, opcode;
    std::size_t count;
  };
  const std::vector<Case> cases = {
      {"float32", "float16", "Tx.warp.cast(R, X)", "cvt.rn.f16x2.f32", 4},
      {"float32", "float8_e4m3fn", "Tx.warp.cast(Y, X)", "cvt.rn.satfinite.e4m3x2.f32", 4},
      {"float8_e5m2", "float32", "Tx.warp.cast(Y, X)", "cvt.rn.f16x2.e5m2x2", 4},
      {"float8_e5m2", "float16", "Tx.warp.cast(R, X)", "cvt.rn.f16x2.e5m2x2", 4},
      {"float16", "float8_e5m2", "Tx.warp.cast(R[0:32, 2:6], X[0:32, 4:8])",
       "cvt.rn.satfinite.e5m2x2.f16x2", 2},
      {"float32", "float16", "Tx.warp.cast(R[0:32, 1:7], X[0:32, 1:7])", "x2.", 0},
      {"float32", "float16", "Tx.warp.cast(R, X[0:32, 3])", "x2.", 0}};
  for (const Case& each : cases) {
    KernelText text(32, each.from);
    text.param("A", {32, 8});
    text.param("B", {32, 8}, each.to);
    text.param("C", {32, 8}, each.to);
    const auto buffer = [&](const std::string& name, const std::string& dtype,
                            const std::string& more) {
      text.line(fmt::format("{} = T.alloc_buffer((32, 8), \"{}\", scope={})", name, dtype, more));
    };
    buffer("X", each.from, "\"shared\"");
    buffer("Y", each.to, "\"shared\"");
    buffer("R", each.to, "\"local\", layout=" + tile("S[(32, 8) : (1 @ laneid, 1)]"));
    text.line("R_r = R.local(8)");
    text.for_elements({32, 8}, "X", "A");
    text.line("Tx.warp.fill(Y, 1)");
    text.line("Tx.warp.fill(R, 1)");
    text.sync();
    text.line(each.call);
    text.sync();
    text.for_elements({32, 8}, "B", "Y");
    text.for_registers("C", "R_r", 8, true);
    const Checked checked = family.run({.source = text.text(), .inputs = Inputs::Normal});
    EXPECT_EQ(count_of(checked.ptx, each.opcode + (each.count > 0 ? "\t" : "")), each.count)
        << each.call << checked.ptx;
    family.count();
  }
}

// A wrong half shows in what comes out.
TEST(ElementwisePacked, FaultsShow) {
  ElementwiseCase each = on_rows({"warp", 32}, {"float16", "float16", "float16"}, "sub(D, A, B)");
  each.inputs = Inputs::Normal;
  Program program = program_of(each);
  program.edits = {{"sub.rn.f16x2", "add.rn.f16x2"}};
  EXPECT_EQ(check(program).stage, Stage::Device);
  program.edits = {{"sub.rn.f16x2", "sub.rn.bf16x2"}};
  EXPECT_EQ(check(program).stage, Stage::Device);
  each = on_rows({"warp", 32}, {"float8_e4m3fn", "float32"}, "cast(D, A)");
  each.inputs = Inputs::Normal;
  program = program_of(each);
  EXPECT_TRUE(check(program).right());
  program.edits = {{"e4m3x2.f32", "e5m2x2.f32"}};
  EXPECT_EQ(check(program).stage, Stage::Device);
}

}  // namespace
}  // namespace ww::test::elementwise_packed_test
