// SPDX-License-Identifier: Apache-2.0
// Elementwise primitives on registers: every op, element type and scope; casts between all types;
// functions within what their instructions promise; registers in other orders, gaps, parts,
// replicas, stretched operands, operands in place; chains; and faults that must show.
#include <algorithm>
#include <cmath>

#include "engines/elementwise_programs.h"
#include "engines/family.h"

namespace ww::test::elementwise_test {
namespace {

const std::vector<UnitOfRows> kUnits = {{"thread", 32}, {"warp", 64}, {"wg", 256}, {"cta", 96}};

// --- ops, types, scopes --------------------------------------------------------------------------

TEST(Elementwise, ArithmeticOfAllTypesAndScopes) {
  Family family("elementwise arithmetic", Nvcc::Always);
  for (const UnitOfRows& unit : kUnits)
    for (const std::string op : {"add", "sub", "mul", "fdiv", "maximum", "minimum"})
      for (const std::string dtype : {"float32", "float16", "bfloat16", "float64", "int32", "int8",
                                      "uint16", "int64", "float8_e4m3fn", "float8_e5m2"}) {
        if (op == "fdiv" && dtype.find("float") == std::string::npos) continue;
        family.run(program_of(on_rows(unit, {dtype, dtype, dtype}, op + "(D, A, B)")),
                   {.variant = "reg", .rounds = 8});
        family.count();
      }
}

TEST(Elementwise, FillsZerosSelectsAndFusedProducts) {
  Family family("elementwise fill, zero, select, fma", Nvcc::Always);
  for (const UnitOfRows& unit : kUnits)
    for (const std::string dtype : {"float32", "float16", "bfloat16", "float64", "int32", "uint8",
                                    "int64", "float8_e4m3fn"}) {
      family.run(program_of(on_rows(unit, {dtype}, "fill(D, 3)")), {.variant = "reg"});
      const bool is_whole = dtype.find("float") == std::string::npos;
      const std::string fraction = is_whole ? dtype == "uint8" ? "200" : "-2" : "-2.5";
      const std::string great = dtype == "uint8"           ? "250"
                                : dtype == "float16"       ? "60000"
                                : dtype == "float8_e4m3fn" ? "300"
                                                           : "100000";
      family.run(program_of(on_rows(unit, {dtype}, "fill(D, " + fraction + ")")),
                 {.variant = "reg"});
      family.run(program_of(on_rows(unit, {dtype}, "memset(D, " + great + ")")),
                 {.variant = "reg"});
      family.run(program_of(on_rows(unit, {dtype}, "zero(D)")), {.variant = "reg"});
      family.run(program_of(on_rows(unit, {dtype, "float16"}, "zero(D, A)")), {.variant = "reg"});
      for (const std::string pred : {"bool", "int32", "float32"})
        family.run(program_of(on_rows(unit, {dtype, dtype, dtype, pred}, "select(D, A, B, C)")),
                   {.variant = "reg"});
      family.run(program_of(on_rows(unit, {dtype, dtype, "bool"}, "select(D, A, 0, B)")));
      family.count(9);
      if (dtype == "float8_e4m3fn" && unit.scope != "warp") continue;
      family.run(program_of(on_rows(unit, {dtype, dtype, dtype, dtype}, "fma(D, A, B, C)")),
                 {.variant = "reg"});
      family.run(program_of(on_rows(unit, {dtype, dtype}, "fma(D, A, 2, 1)")));
      family.count(2);
    }
}

TEST(Elementwise, CastsBetweenAllTypes) {
  Family family("casts", Nvcc::Always);
  const std::vector<std::string> types = {
      "float32", "float16", "bfloat16", "float64", "float8_e4m3fn", "float8_e5m2", "int8",
      "uint8",   "int16",   "int32",    "uint32",  "int64",         "bool"};
  for (const std::string& to : types)
    for (const std::string& from : types)
      for (const Inputs inputs : {Inputs::Bits, Inputs::Normal}) {
        ElementwiseCase each = on_rows({"warp", 32}, {to, from}, "cast(D, A)");
        // NaNs of bfloat16 keep their payload on the way to wider types, others do not.
        const bool keeps_nans = to == "float64" || from == "float64" || from == "bfloat16";
        each.inputs = keeps_nans ? Inputs::Normal : inputs;
        family.run(program_of(each), {.variant = "reg", .rounds = 8});
        family.count();
      }
}

// Operands of several types meet in float32, or float64 where one of them is that; constants that
// the destination's type holds do not count.
TEST(Elementwise, MixedTypes) {
  Family family("elementwise on mixed types", Nvcc::Always);
  struct Row {
    std::vector<std::string> types;
    std::string call, note;
  };
  const std::vector<Row> rows = {
      {{"float16", "float32", "float32"}, "mul(D, A, B)", "computed in float32"},
      {{"float32", "float16", "float16"}, "mul(D, A, B)", ""},
      {{"float16", "float16", "bfloat16"}, "add(D, A, B)", "computed in float32"},
      {{"float16", "float16"}, "mul(D, A, 0.5)", ""},
      {{"float16", "float16"}, "mul(D, A, 0.1)", "computed in float32"},
      {{"float16", "float16"}, "add(D, 70000, A)", "computed in float32"},
      {{"float32", "float32", "float64"}, "sub(D, A, B)", "computed in float64"},
      {{"float32", "int32", "float32"},
       "fdiv(D, A, B)",
       "with `fast=True`: div.approx.ftz, 2 ulp for divisors from 2^-126 to 2^126 by the PTX "
       "manual"},
      {{"float64", "int64"}, "mul(D, A, 3)", ""},
      {{"int32", "int8", "int16"}, "mul(D, A, B)", ""},
      {{"int8", "int32", "uint16"}, "sub(D, A, B)", ""},
      {{"float32", "int32", "float32"}, "maximum(D, A, B)", ""},
      {{"bfloat16", "float32", "bfloat16", "float16"}, "fma(D, A, B, C)", "computed in float32"},
      {{"float16", "float16", "float16"}, "fma(D, A, B, 0.1)", "computed in float32"}};
  for (const Row& row : rows) {
    const Checked checked =
        family.run(program_of(on_rows({"warp", 32}, row.types, row.call)), {.variant = "reg"});
    if (!checked.right()) continue;
    const auto& notes = checked.call(0).plan.notes;
    EXPECT_EQ(notes.empty() ? "" : notes.back(), row.note) << row.call;
    family.count();
  }
}

// sqrt and reciprocal are exact; the others as near as their instructions.
TEST(Elementwise, Functions) {
  Family family("functions", Nvcc::Always);
  for (const UnitOfRows& unit : kUnits)
    for (const std::string op : {"sqrt", "reciprocal", "exp", "exp2", "log2", "silu"})
      for (const std::string dtype : {"float32", "float16", "bfloat16", "float64"}) {
        const bool is_exact = op == "sqrt" || op == "reciprocal";
        if (!is_exact && dtype == "float64") continue;  // has no instruction
        ElementwiseCase each = on_rows(unit, {dtype, dtype}, op + "(D, A)");
        if (op == "sqrt" && dtype == "float64")
          each.calls.insert(each.calls.begin(), prefix_of(unit.scope) + "mul(A, A, A)");
        if (!is_exact) each.inputs = Inputs::Normal;
        if (!is_exact)
          each.tolerance = dtype == "float32" ? 1e-6 : dtype == "float16" ? 1e-3 : 8e-3;
        family.run(program_of(each), {.variant = "reg"});
        each = on_rows(unit, {"float16", "float32"}, op + "(D, A)");
        if (!is_exact) each.inputs = Inputs::Normal;
        if (!is_exact) each.tolerance = 1e-3;
        family.run(program_of(each), {.variant = "reg"});
        family.count(2);
      }
}

double number_in(const Checked& checked, const std::string& name, std::size_t i) {
  const Ran& ran = *checked.ran;
  for (std::size_t k = 0; k < ran.args.size(); ++k)
    if (ran.args[k].name == name) return number_at(ran.args[k], ran.expected.arrays[k], i);
  return 0;
}
// In units of the last place of a float32 at the exact value.
double ulps(double value, double exact) {
  const auto near = static_cast<float>(std::abs(exact));
  const double unit = double{std::nextafter(near, INFINITY)} - double{near};
  return std::abs(value - exact) / unit;
}

// What the documentation says of the functions that PTX approximates.
TEST(Elementwise, ErrorsOfFunctions) {
  struct Row {
    std::string op, before;
    double most;
    double (*function)(double);
  };
  const std::vector<Row> rows = {
      {"exp2", "mul(A, A, 30)", 2, [](double x) { return std::exp2(x); }},
      {"exp", "mul(A, A, 20)", 3, [](double x) { return std::exp(x); }},
      {"log2", "mul(A, A, A)", 2, [](double x) { return std::log2(x); }},
      {"silu", "mul(A, A, 15)", 5, [](double x) { return x / (1 + std::exp(-x)); }}};
  for (const Row& row : rows) {
    const UnitOfRows cta{"cta", 1024};
    ElementwiseCase each = on_rows(cta, {"float32", "float32"}, row.op + "(D, A)");
    each.calls.insert(each.calls.begin(), "Tx.cta." + row.before);
    each.inputs = Inputs::Normal;
    each.tolerance = 1e-5;
    const Checked checked = check(program_of(each));
    ASSERT_TRUE(checked.right()) << checked.explain();
    double worst = 0;
    for (std::size_t i = 0; i < 8192; ++i) {
      const double exact = row.function(number_in(checked, "A_out", i));
      const double value = number_in(checked, "D_out", i);
      const bool is_near_one = row.op == "log2" && std::abs(exact) < 1;
      const double error = is_near_one ? std::abs(value - exact) * 0x1p22 : ulps(value, exact);
      EXPECT_LE(error, is_near_one ? 1 : row.most)
          << row.op << " of " << number_in(checked, "A_out", i);
      if (!is_near_one) worst = std::max(worst, error);
    }
    fmt::print("{}: {:.2f} ulp at most\n", row.op, worst);
  }
}

// The argument is rounded once, so that sqrt stays exact.
TEST(Elementwise, ScaleAndBias) {
  Family family("scale and bias", Nvcc::Always);
  const std::vector<std::string> calls = {"sqrt(D, A, scale=3)",
                                          "sqrt(D, A, bias=0.1)",
                                          "sqrt(D, A, bias=1, scale=0.3)",
                                          "sqrt(D, A, bias=B)",
                                          "sqrt(D, A, bias=B, scale=2)",
                                          "sqrt(D, bias=B, scale=-0.7)",
                                          "sqrt(D, A, B, 0.1)",
                                          "sqrt(D)"};
  for (const std::string dtype : {"float32", "float16"})
    for (const std::string& call : calls) {
      family.run(program_of(on_rows({"warp", 32}, {dtype, dtype, dtype}, call)));
      family.count();
    }
  ElementwiseCase soft =
      on_rows({"warp", 32}, {"float32", "float32"}, "exp2(D, A, bias=-1.5, scale=1.44269504)");
  soft.inputs = Inputs::Normal;
  soft.tolerance = 1e-6;
  family.run(program_of(soft));
  family.count();
}

// --- places --------------------------------------------------------------------------------------

TEST(Elementwise, InPlace) {
  Family family("elementwise in place");
  for (const UnitOfRows& unit : kUnits)
    for (const std::string call : {"add(D, D, D)", "mul(D, D, A)", "sub(D, A, D)", "cast(D)",
                                   "reciprocal(D)", "fma(D, D, A, D)", "maximum(D, D, 0)"}) {
      family.run(program_of(on_rows(unit, {"float32", "float32"}, call)),
                 {.variant = "reg", .rounds = 8});
      family.count();
    }
}

// The same elements in other registers of the same threads.
TEST(Elementwise, RegistersInAnyOrder) {
  Family family("registers in other orders", Nvcc::Always);
  const std::vector<std::pair<std::string, std::int64_t>> layouts = {
      {"S[(32, 8) : (1 @ laneid, 1)]", 8},
      {"S[(32, 2, 4) : (1 @ laneid, 1, 2)]", 8},
      {"S[(32, 2, 2, 2) : (1 @ laneid, 1, 2, 4)]", 8},
      {"S[(32, 8) : (1 @ laneid, 3)]", 22},
      {"S[(32, 2, 4) : (1 @ laneid, 8, 1)] + 2", 14},
      {"S[(4, 8, 2, 4) : (8 @ laneid, 1 @ laneid, 4, 1)]", 8}};
  for (const auto& [to, to_slots] : layouts)
    for (const auto& [from, from_slots] : layouts) {
      ElementwiseCase each{.regs = {reg("D", "float16", {32, 8}, to, to_slots),
                                    reg("A", "float32", {32, 8}, from, from_slots)},
                           .calls = {"Tx.warp.cast(D, A)"}};
      family.run(program_of(each), {.variant = "reg", .rounds = 8});
      each.regs.push_back(reg("B", "float16", {32, 8}, "S[(32, 8) : (1 @ laneid, 1)]", 8));
      each.calls = {"Tx.warp.sub(D, A, B)"};
      family.run(program_of(each), {.variant = "reg", .rounds = 8});
      family.count(2);
    }
}

TEST(Elementwise, PartsOfTiles) {
  Family family("parts of tiles");
  const Reg d = reg("D", "float32", {32, 8}, "S[(32, 8) : (1 @ laneid, 1)]", 8);
  const Reg a = reg("A", "float32", {32, 8}, "S[(32, 8) : (1 @ laneid, 1)]", 8);
  for (const std::string call :
       {"Tx.warp.add(D[:, 2:5], A[:, 2:5], 1)", "Tx.warp.add(D[:, 2:5], A[:, 4:7], 1)",
        "Tx.warp.add(D[4:12, 0:8], A[4:12, 0:8], 1)", "Tx.warp.sqrt(D[7, 0:8], A[7, 0:8])",
        "Tx.warp.fill(D[3:20, 1], 5)", "Tx.warp.mul(D[:, 0:4], D[:, 4:8], A[:, 0:4])",
        "Tx.warp.mul(D[:, 3], A[:, 5], D[:, 3])"}) {
    family.run(program_of(ElementwiseCase{.regs = {d, a}, .calls = {call}}), {.variant = "reg"});
    family.count();
  }
  // A warp's own part of what a warpgroup holds, and one warp's part alone.
  const std::string rows = "S[(128, 4) : (1 @ tid_in_wg, 1)]";
  for (const std::string call :
       {"Tx.warp.add(D[warp % 4 * 32:warp % 4 * 32 + 32, 0:4], "
        "A[warp % 4 * 32:warp % 4 * 32 + 32, 0:4], 1)",
        "Tx.wg.add(D[32:64, 0:4], A[32:64, 0:4], 1)", "Tx.wg.mul(D[5:70, 1:3], A[5:70, 0:2], 3)"}) {
    family.run(program_of(ElementwiseCase{.threads = 256,
                                          .regs = {reg("D", "float32", {128, 4}, rows, 4),
                                                   reg("A", "float32", {128, 4}, rows, 4)},
                                          .calls = {call}}),
               {.variant = "reg"});
    family.count();
  }
}

// A number per row, a row for all threads, one number for all.
TEST(Elementwise, StretchedOperands) {
  Family family("stretched operands", Nvcc::Always);
  const Reg d = reg("D", "float32", {32, 8}, "S[(32, 8) : (1 @ laneid, 1)]", 8);
  const Reg a = reg("A", "float32", {32, 8}, "S[(32, 8) : (1 @ laneid, 1)]", 8);
  const std::vector<Reg> others = {
      reg("B", "float32", {32, 1}, "S[(32, 1) : (1 @ laneid, 1)]", 1),
      reg("B", "float32", {1, 8}, "S[(1, 8) : (8, 1)] + R[32 : 1 @ laneid]", 8, "0"),
      reg("B", "float32", {8}, "S[8]", 8, "0"), reg("B", "float16", {1}, "S[1]", 1, "0"),
      reg("B", "float32", {1, 1, 8}, "S[(1, 1, 8) : (8, 8, 1)]", 8, "0")};
  for (const Reg& b : others)
    for (const std::string call : {"Tx.warp.sub(D, A, B)", "Tx.warp.sub(D, B, A)",
                                   "Tx.warp.fma(D, A, B, D)", "Tx.warp.select(D, A, D, B)"}) {
      family.run(program_of(ElementwiseCase{.regs = {d, a, b}, .calls = {call}}),
                 {.variant = "reg", .rounds = 8});
      family.count();
    }
}

// Elements that several threads hold, or one thread in several registers.
TEST(Elementwise, Replicas) {
  Family family("replicas", Nvcc::Always);
  const Reg quads =
      reg("D", "float32", {8, 4}, "S[(8, 4) : (4 @ laneid, 1)] + R[4 : 1 @ laneid]", 4, "tid // 4");
  const Reg twice = reg("D", "float16", {32, 4}, "S[(32, 4) : (1 @ laneid, 1)] + R[2 : 4]", 8);
  Reg a = quads;
  a.name = "A";
  family.run(program_of(ElementwiseCase{.regs = {quads, a}, .calls = {"Tx.warp.add(D, A, 1)"}}),
             {.variant = "reg", .rounds = 4});
  // Every copy of the destination is written.
  family.run(program_of(ElementwiseCase{
                 .regs = {twice, reg("A", "float32", {32, 4}, "S[(32, 4) : (1 @ laneid, 1)]", 4)},
                 .calls = {"Tx.warp.cast(D, A)"}}),
             {.variant = "reg", .rounds = 8});
  // Any copy of a source is read.
  family.run(
      program_of(ElementwiseCase{.regs = {reg("D", "float32", {8}, "S[8 : 4 @ laneid]", 1), a},
                                 .calls = {"Tx.warp.sqrt(D, A[:, 2])"}}),
      {.variant = "reg", .rounds = 1});
  // The same array in all threads, at warp scope.
  family.run(program_of(ElementwiseCase{.regs = {reg("D", "int32", {8}, "S[8]", 8, "0"),
                                                 reg("A", "int32", {8}, "S[8]", 8, "0")},
                                        .calls = {"Tx.warp.mul(D, A, 7)"}}),
             {.variant = "reg", .rounds = 8});
  family.count(4);
}

// Which register is which differs between threads: rows 1 and 2 of A are in register 0 of the upper
// half of the lanes and in register 1 of the lower one.
TEST(Elementwise, ThreadsInDifferentWays) {
  Family family("threads that differ", Nvcc::Always);
  const Reg d =
      reg("D", "float32", {2, 16}, "S[(2, 16) : (-16 @ laneid, 1 @ laneid)] + 16 @ laneid", 1);
  const Reg a = reg("A", "float32", {4, 16}, "S[(2, 2, 16) : (1, 16 @ laneid, 1 @ laneid)]", 2);
  const Checked checked = family.run(
      program_of(ElementwiseCase{.regs = {d, a}, .calls = {"Tx.warp.sub(D, A[1:3, 0:16], D)"}}),
      {.variant = "reg", .rounds = 1});
  EXPECT_EQ(count_of(checked.ptx, "sub.rn.f32"), 2U) << checked.ptx;
  family.count();
}

// Registers that begin where a loop says, and a value that is known at run time only.
TEST(Elementwise, RunTime) {
  Family family("known at run time", Nvcc::Always);
  const Reg d = reg("D", "float32", {4, 32, 2}, "S[(4, 32, 2) : (2, 1 @ laneid, 1)]", 8);
  const Reg h = reg("H", "float16", {4, 32, 2}, "S[(4, 32, 2) : (2, 1 @ laneid, 1)]", 8);
  ElementwiseCase each{.regs = {d, h},
                       .calls = {"for it in range(4):", "    Tx.warp.cast(H[it], D[it])",
                                 "    Tx.warp.mul(D[it], D[it], n)",
                                 "    Tx.warp.add(H[it, 0:32, 0:2], H[it, 0:32, 0:2], it * n)"},
                       .scalars = {{"n", 3}}};
  const Checked checked = family.run(program_of(each), {.variant = "reg", .rounds = 2});
  EXPECT_TRUE(checked.report.spilled.empty());
  // What is read from the destination for a scalar is read before it changes.
  const Reg row = reg("D", "float32", {8}, "S[8]", 8);
  family.run(program_of(ElementwiseCase{.regs = {row}, .calls = {"Tx.add(D, D, D_r[0])"}}));
  family.run(program_of(ElementwiseCase{
      .regs = {row}, .calls = {"Tx.select(D, 1, D, tid > 7)", "Tx.fill(D[2:4], D_r[2] * 3.0)"}}));
  // A register known at run time only is memory.
  each.calls = {"Tx.warp.cast(H[n], D[n])"};
  const Checked dynamic = family.run(program_of(each), {.variant = "reg"});
  EXPECT_EQ(dynamic.report.spilled.size(), 2U);
  family.count(4);
}

// Views of one storage: what is read is not written before.
TEST(Elementwise, ViewsOfOneStorage) {
  Family family("views of one storage");
  const auto with_view = [](std::int64_t offset, const std::string& dtype, std::int64_t count,
                            const std::string& call) {
    Reg a = reg("A", "float32", {8}, "S[8]", 8);
    Reg v = reg("V", dtype, {count}, fmt::format("S[{}]", count), count);
    v.offset = offset;
    return program_of(ElementwiseCase{.regs = {a, v}, .calls = {call}, .inputs = Inputs::Normal});
  };
  family.run(with_view(0, "float16", 8, "Tx.cast(V[0:8], A[0:8])"), {.variant = "reg"});
  family.run(with_view(0, "float16", 8, "Tx.cast(V[0:4], A[0:4])"), {.variant = "reg"});
  family.run(with_view(0, "float16", 16, "Tx.cast(A[0:8], V[0:8])"), {.variant = "reg"});
  family.run(with_view(4, "float32", 7, "Tx.cast(V[0:7], A[0:7])"), {.variant = "reg"});
  family.run(with_view(4, "float32", 7, "Tx.cast(A[0:7], V[0:7])"), {.variant = "reg"});
  family.count(5);
}

// --- memory --------------------------------------------------------------------------------------

std::string memory_fill(const UnitOfRows& unit, const std::string& dtype, const Operand& to,
                        const std::string& call) {
  KernelText text(unit.threads, dtype);
  text.declare("M", to, true);
  text.fill("M", to);
  text.sync();
  text.line(prefix_of(unit.scope) + call);
  if (unit.scope != "cta") text.sync();
  text.dump("M", to);
  return text.text();
}

// The barrier behind a fill of shared memory is the primitive's own.
TEST(Elementwise, FillsMemory) {
  Family family("fills of memory", Nvcc::Always);
  const std::string whole = "[0:64, 0:32]";
  for (const UnitOfRows& unit :
       {UnitOfRows{"warp", 32}, UnitOfRows{"wg", 128}, UnitOfRows{"cta", 96}})
    for (const std::string dtype :
         {"float32", "float16", "int8", "float64", "float8_e4m3fn", "bool"})
      for (const std::string& layout :
           {std::string(), swizzled(3, 3, 3, "S[64, 32]"), tile("S[(64, 32) : (36, 1)]")}) {
        const std::string value = dtype == "bool" ? "1" : dtype == "int8" ? "-2" : "2.5";
        family.run({.source = memory_fill(unit, dtype, shared({64, 32}, layout),
                                          "fill(M, " + value + ")")},
                   {.variant = "memory"});
        family.run(
            {.source = memory_fill(unit, dtype, shared({64, 32}, layout), "zero(M[3:21, 8:16])")},
            {.variant = "memory"});
        family.count(2);
      }
  for (const std::string call : {"fill(M, 0.5)", "memset(M[1:8, 3:30], 7)", "zero(M[0:64, 0])"}) {
    KernelText text(128, "float32");
    text.param("M", {64, 32});
    text.line("Tx.cta." + call);
    family.run({.source = text.text()}, {.variant = "memory"});
    family.count();
  }
  const Checked wide = family.run(
      {.source = memory_fill({"cta", 128}, "float16", shared({64, 64}), "zero(M)")},
      {.variant = "memory", .opcode = "st.shared.v4.b32", .per_thread = 4, .vector_bits = 128});
  EXPECT_EQ(count_of(wide.ptx, "st.shared.v4"), 4U);
}

// Two warpgroups fill their own halves; neither waits at the other's barrier.
TEST(Elementwise, WarpgroupsHaveBarriersOfTheirOwn) {
  Family family("fills by warpgroups");
  KernelText text(256, "float32");
  text.param("out", {2, 128});
  text.line(R"(M = T.alloc_buffer((2, 128), "float32", scope="shared"))");
  text.line(R"(Tx.wg.fill(M[wg, 0:128], T.cast(wg + 3, "float32")))");
  text.line("out[wg, tid % 128] = M[wg, 127 - tid % 128]");
  const Checked checked = family.run({.source = text.text()}, {.variant = "memory"});
  EXPECT_EQ(count_of(checked.ptx, "bar.sync"), 1U) << checked.ptx;
  family.count();
}

// --- chains --------------------------------------------------------------------------------------

// What an epilogue does: products scaled, a bias added, clipped, rounded, stored through shared
// memory by matrices.
TEST(Elementwise, EpilogueThroughSharedMemory) {
  Family family("epilogues", Nvcc::Always);
  for (const std::string dtype : {"float16", "bfloat16"}) {
    KernelText text(128, "float32");
    text.param("acc_in", {128, 32});
    text.param("bias_in", {1, 64});
    text.param("out", {64, 64}, dtype);
    const std::string frag =
        "S[(4, 2, 8, 8, 4, 2) : (1 @ wid_in_wg, 2, 4 @ laneid, 4, 1 @ laneid, 1)]";
    text.line(fmt::format("acc = T.alloc_buffer((64, 64), \"float32\", scope=\"local\", layout={})",
                          tile(frag)));
    text.line(fmt::format("low = T.alloc_buffer((64, 64), \"{}\", scope=\"local\", layout={})",
                          dtype, tile(frag)));
    text.line(fmt::format("bias = T.alloc_buffer((1, 64), \"float32\", scope=\"local\", layout={})",
                          tile("S[(1, 8, 4, 2) : (16, 2, 1 @ laneid, 1)] + "
                               "R[(4, 8) : (1 @ wid_in_wg, 4 @ laneid)]")));
    text.line(fmt::format("tile = T.alloc_buffer((64, 64), \"{}\", scope=\"shared\", layout={})",
                          dtype, swizzled(3, 3, 3, "S[64, 64]")));
    text.line("acc_r = acc.local(32)");
    text.for_registers("acc_r", "acc_in", 32, false);
    text.line("bias_r = bias.local(16)");
    text.line("for i in range(16):");
    text.line("    bias_r[i] = bias_in[0, i // 2 * 8 + lane % 4 * 2 + i % 2]");
    text.line("Tx.wg.fma(acc, acc, 0.125, bias)");
    text.line("Tx.wg.maximum(acc, acc, 0.0)");
    text.line("Tx.wg.cast(low, acc)");
    text.line("Tx.wg.copy(tile, low)");
    text.sync();
    text.line("Tx.cta.copy(out, tile)");
    const Checked checked = family.run({.source = text.text(), .inputs = Inputs::Normal},
                                       {.variant = "reg", .rounds = 32}, 2);
    EXPECT_EQ(checked.call(3).chosen, "ldstmatrix");
    EXPECT_NE(checked.ptx.find("stmatrix"), std::string::npos);
    EXPECT_TRUE(checked.report.spilled.empty());
    family.count();
  }
}

// --- faults --------------------------------------------------------------------------------------

// A wrong instruction shows in what comes out.
TEST(Elementwise, FaultsShow) {
  ElementwiseCase each = on_rows({"warp", 32}, {"float32", "float32", "float32"}, "sub(D, A, B)");
  each.inputs = Inputs::Normal;
  Program program = program_of(each);
  const Checked right = check(program);
  ASSERT_TRUE(right.right()) << right.explain();
  const std::size_t at = right.ptx.find("sub.rn.f32");
  const std::string line = right.ptx.substr(at, right.ptx.find('\n', at) - at);
  program.edits = {{line, ""}};
  EXPECT_EQ(check(program).stage, Stage::Device);
  program.edits = {{"sub.rn.f32", "add.rn.f32"}};
  EXPECT_EQ(check(program).stage, Stage::Device);
}

}  // namespace
}  // namespace ww::test::elementwise_test
