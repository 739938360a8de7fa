// SPDX-License-Identifier: Apache-2.0
// Functions, comparisons, logic and bits of tiles in registers: every op on every element type that
// it takes, on all engines and targets; errors within what the documentation says; what is refused;
// and faults that must show.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "engines/elementwise_programs.h"
#include "engines/family.h"

namespace ww::test::elementwise_functions_test {
namespace {

using Names = std::vector<std::string>;

const Names kReals = {"float32", "float16", "bfloat16"};
const Names kInts = {"int32", "uint32", "int8", "uint8", "int16", "uint16", "int64", "uint64"};
const Names kTargets = {"sm_75", "sm_80", "sm_89", "sm_90a", "sm_100a", "sm_120a"};
const Names kFunctions = {"log",  "log1p",   "expm1", "rsqrt", "sin",      "cos",
                          "tanh", "sigmoid", "erf",   "gelu",  "gelu_tanh"};
const Names kNumbers = {"abs", "neg", "relu", "floor", "ceil", "round"};
const Names kComparisons = {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"};
const Names kLogic = {"logical_and", "logical_or", "logical_xor"};
const Names kBits = {"bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift"};

bool is_real(const std::string& dtype) { return dtype.find("float") != std::string::npos; }

Names and_more(Names some, const Names& more) {
  some.insert(some.end(), more.begin(), more.end());
  return some;
}

// What a unit does is the same for all types, so that most go through one of them.
std::vector<UnitOfRows> units_for(const std::string& dtype) {
  if (dtype != "float32" && dtype != "int32") return {{"warp", 64}};
  return {{"thread", 32}, {"warp", 64}, {"wg", 256}, {"cta", 96}};
}

double tolerance_for(const std::string& dtype) {
  return dtype == "float32" ? 2e-6 : dtype == "float16" ? 1e-3 : 8e-3;
}

// --- every op on every type ----------------------------------------------------------------------

// The result has the bits of the evaluator's.
TEST(ElementwiseFunctions, OfOneNumber) {
  Family family("abs … round", Nvcc::Always);
  const Names types = and_more(
      kInts, {"float32", "float16", "bfloat16", "float64", "float8_e4m3fn", "float8_e5m2"});
  for (const std::string& dtype : types)
    for (const UnitOfRows& unit : units_for(dtype))
      for (const std::string& op : kNumbers) {
        ElementwiseCase each = on_rows(unit, {dtype, dtype}, op + "(D, A)");
        // Numbers have fractions, which bits seldom have.
        each.calls.push_back(prefix_of(unit.scope) + op + "(A)");
        each.inputs = Inputs::Normal;
        family.run(program_of(each), {.variant = "reg", .rounds = 8});
        if (!is_real(dtype)) each.inputs = Inputs::Bits;
        family.run(program_of(each), {.variant = "reg", .rounds = 8});
        family.count(2);
      }
  for (const std::string& op : kNumbers) {
    family.run(program_of(on_rows({"warp", 32}, {"int32", "int8"}, op + "(D, A)")));
    ElementwiseCase mixed = on_rows({"warp", 32}, {"float16", "float32"}, op + "(D, A)");
    mixed.inputs = Inputs::Normal;
    family.run(program_of(mixed));
    family.count(2);
  }
}

TEST(ElementwiseFunctions, OfOneFloat) {
  Family family("log … gelu_tanh", Nvcc::Always);
  for (const std::string& dtype : kReals)
    for (const UnitOfRows& unit : units_for(dtype))
      for (const std::string& op : kFunctions) {
        ElementwiseCase each = on_rows(unit, {dtype, dtype}, op + "(D, A)");
        each.calls.push_back(prefix_of(unit.scope) + op + "(A)");
        each.inputs = Inputs::Normal;
        each.tolerance = tolerance_for(dtype);
        family.run(program_of(each), {.variant = "reg", .rounds = 8});
        family.count();
      }
}

TEST(ElementwiseFunctions, Powers) {
  Family family("pow", Nvcc::Always);
  for (const std::string& dtype : kReals)
    for (const UnitOfRows& unit : units_for(dtype))
      for (const std::string call : {"pow(D, A, B)", "pow(D, A, 3)", "pow(D, 2, B)"}) {
        ElementwiseCase each = on_rows(unit, {dtype, dtype, dtype}, call);
        each.inputs = Inputs::Normal;
        each.tolerance = 4 * tolerance_for(dtype);
        family.run(program_of(each), {.variant = "reg", .rounds = 8});
        family.count();
      }
}

TEST(ElementwiseFunctions, Comparisons) {
  Family family("comparisons", Nvcc::Always);
  const Names types = and_more(
      kInts, {"float32", "float16", "bfloat16", "float64", "float8_e4m3fn", "float8_e5m2", "bool"});
  for (const std::string& dtype : types)
    for (const UnitOfRows& unit : units_for(dtype))
      for (const std::string& op : kComparisons) {
        family.run(program_of(on_rows(unit, {"bool", dtype, dtype}, op + "(D, A, B)")),
                   {.variant = "reg", .rounds = 8});
        family.run(program_of(on_rows(unit, {"bool", dtype}, op + "(D, A, 1)")));
        family.run(program_of(on_rows(unit, {"bool", dtype}, op + "(D, A, A)")));
        family.count(3);
      }
}

// Integers of several types are compared as whole numbers: -1 is less than 255.
TEST(ElementwiseFunctions, ComparisonsOfMixedTypes) {
  Family family("comparisons of mixed types", Nvcc::Always);
  struct Row {
    Names types;
    std::string call, note;
  };
  const std::vector<Row> rows = {
      {{"bool", "uint8", "int8"}, "less(D, A, B)", "compared in int64"},
      {{"bool", "uint32", "int32"}, "greater(D, A, B)", "compared in int64"},
      {{"bool", "int32"}, "less(D, A, 3000000000)", "compared in int64"},
      {{"bool", "uint8"}, "greater_equal(D, -1, A)", "compared in int64"},
      {{"bool", "int32"}, "less(D, 7, A)", "compared in int32"},
      {{"bool", "bool", "bool"}, "not_equal(D, A, B)", "compared in int32"},
      {{"bool", "float16", "float32"}, "less_equal(D, A, B)", "compared in float32"},
      {{"bool", "float16"}, "less(D, A, 0.5)", "compared in float16"},
      {{"bool", "float16"}, "less(D, A, 0.1)", "compared in float32"},
      {{"bool", "float32", "float64"}, "less(D, A, B)", "compared in float64"},
      {{"bool", "int32", "float32"}, "greater(D, A, B)", "compared in float32"}};
  for (const Row& row : rows) {
    const Checked checked =
        family.run(program_of(on_rows({"warp", 32}, row.types, row.call)), {.variant = "reg"});
    if (!checked.right()) continue;
    const auto& notes = checked.call(0).plan.notes;
    EXPECT_EQ(notes.empty() ? "" : notes.back(), row.note) << row.call;
    family.count();
  }
}

TEST(ElementwiseFunctions, Logic) {
  Family family("logic", Nvcc::Always);
  for (const std::string dtype : {"bool", "int32", "uint8", "int64", "float32", "float16"})
    for (const UnitOfRows& unit : units_for(dtype)) {
      for (const std::string& op : kLogic)
        for (const std::string rest : {"(D, A, B)", "(D, A, 1)", "(D, 0, B)"}) {
          family.run(program_of(on_rows(unit, {"bool", dtype, "bool"}, op + rest)),
                     {.variant = "reg", .rounds = 8});
          family.count();
        }
      family.run(program_of(on_rows(unit, {"bool", dtype}, "logical_not(D, A)")));
      family.count();
    }
  ElementwiseCase runtime = on_rows({"warp", 32}, {"bool", "bool"}, "logical_and(D, A, n)");
  runtime.scalars = {{"n", 3}};
  family.run(program_of(runtime));
  family.count();
}

TEST(ElementwiseFunctions, Bits) {
  Family family("bits", Nvcc::Always);
  for (const std::string& dtype : kInts)
    for (const UnitOfRows& unit : units_for(dtype)) {
      const std::string prefix = prefix_of(unit.scope);
      for (const std::string& op : kBits) {
        ElementwiseCase each = on_rows(unit, {dtype, dtype, dtype}, op + "(D, A, B)");
        family.run(program_of(each), {.variant = "reg", .rounds = 8});
        // Shifts by less than the width, and by a little more.
        each.calls.insert(each.calls.begin(), prefix + "bitwise_and(B, B, 15)");
        family.run(program_of(each), {.variant = "reg", .rounds = 8}, 1);
        family.run(program_of(on_rows(unit, {dtype, dtype}, op + "(D, A, 5)")));
        family.count(3);
      }
      family.run(program_of(on_rows(unit, {dtype, dtype}, "bitwise_not(D, A)")));
      family.count();
    }
}

TEST(ElementwiseFunctions, ClampAndWhere) {
  Family family("clamp, where", Nvcc::Always);
  const Names types =
      and_more(kInts, {"float32", "float16", "bfloat16", "float64", "float8_e4m3fn"});
  for (const std::string& dtype : types)
    for (const UnitOfRows& unit : units_for(dtype)) {
      family.run(program_of(on_rows(unit, {dtype, dtype, dtype, dtype}, "clamp(D, A, B, C)")),
                 {.variant = "reg", .rounds = 8});
      family.run(program_of(on_rows(unit, {dtype, dtype}, "clamp(D, A, 1, 6)")));
      for (const std::string cond : {"bool", "int32", "float32"})
        family.run(program_of(on_rows(unit, {dtype, cond, dtype, dtype}, "where(D, A, B, C)")),
                   {.variant = "reg", .rounds = 8});
      family.run(program_of(on_rows(unit, {dtype, "bool", dtype}, "where(D, A, B, 0)")));
      family.count(6);
    }
}

// A row of numbers, and a number in each row, are stretched; a comparison chooses.
TEST(ElementwiseFunctions, StretchedAndChained) {
  Family family("stretched, chained", Nvcc::Always);
  const std::string rows = "S[(32, 8) : (1 @ laneid, 1)]";
  const Reg d = reg("D", "float32", {32, 8}, rows, 8);
  const Reg m = reg("M", "bool", {32, 8}, rows, 8);
  const Reg each_row = reg("Q", "float32", {32, 1}, "S[(32, 1) : (1 @ laneid, 1)]", 1);
  const Reg one_row = reg("C", "float32", {8}, "S[8] + R[32 : 1 @ laneid]", 8, "0");
  for (const std::string other : {"Q", "C"}) {
    ElementwiseCase each{.regs = {d, m, each_row, one_row},
                         .calls = {"Tx.warp.less(M, D, " + other + ")", "Tx.warp.logical_not(M)",
                                   "Tx.warp.where(D, M, D, 0)",
                                   "Tx.warp.clamp(D, D, -1, " + other + ")", "Tx.warp.neg(D)"},
                         .inputs = Inputs::Normal};
    family.run(program_of(each), {.variant = "reg", .rounds = 8});
    family.count();
  }
}

// --- targets -------------------------------------------------------------------------------------

TEST(ElementwiseFunctions, AllTargets) {
  Family family("functions on all targets");
  const auto run = [&](const std::string& target, const Names& types, const std::string& call,
                       double tolerance) {
    ElementwiseCase each = on_rows({"warp", 32}, types, call);
    each.target = target;
    each.inputs = Inputs::Normal;
    each.tolerance = tolerance;
    family.run(program_of(each), {.variant = "reg", .rounds = 8});
    family.count();
  };
  for (const std::string& target : kTargets) {
    for (const std::string& dtype : kReals) {
      if (dtype == "bfloat16" && target == "sm_75") continue;  // converts none
      for (const std::string& op : kFunctions)
        run(target, {dtype, dtype}, op + "(D, A)", tolerance_for(dtype));
      for (const std::string& op : kNumbers) run(target, {dtype, dtype}, op + "(D, A)", 0);
      for (const std::string& op : kComparisons)
        run(target, {"bool", dtype, dtype}, op + "(D, A, B)", 0);
      run(target, {dtype, dtype, dtype}, "pow(D, A, B)", 4 * tolerance_for(dtype));
      run(target, {dtype, dtype}, "clamp(D, A, -1, 1)", 0);
      run(target, {dtype, "bool", dtype, dtype}, "where(D, A, B, C)", 0);
      run(target, {"bool", dtype, "bool"}, "logical_xor(D, A, B)", 0);
    }
    for (const std::string& op : kBits) run(target, {"int32", "int32"}, op + "(D, A, 3)", 0);
  }
}

// --- errors --------------------------------------------------------------------------------------

double number_of(const Checked& checked, const std::string& name, std::size_t i) {
  const Ran& ran = *checked.ran;
  for (std::size_t k = 0; k < ran.args.size(); ++k)
    if (ran.args[k].name == name) return number_at(ran.args[k], ran.expected.arrays[k], i);
  return 0;
}
double ulp_of(double exact) {
  const auto near = static_cast<float>(std::abs(exact));
  return double{std::nextafter(near, INFINITY)} - double{near};
}

double gelu_of(double x) { return 0.5 * x * std::erfc(-x / std::numbers::sqrt2); }
double gelu_tanh_of(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}

// What the documentation says: `ulps`, or `absolute`, or `by_size` times the argument; whichever
// allows most.
TEST(ElementwiseFunctions, Errors) {
  struct Row {
    std::string op, before;
    double ulps, absolute, by_size;
    double (*function)(double);
  };
  const std::vector<Row> rows = {
      {"log", "mul(A, A, A)", 3, 0x1p-22, 0, [](double x) { return std::log(x); }},
      {"log1p", "mul(A, A, A)", 4, 0x1p-21, 0, [](double x) { return std::log1p(x); }},
      {"expm1", "mul(A, A, 1)", 6, 0, 0, [](double x) { return std::expm1(x); }},
      {"expm1", "mul(A, A, 10)", 6, 0, 0, [](double x) { return std::expm1(x); }},
      {"rsqrt", "mul(A, A, A)", 2, 0, 0, [](double x) { return 1 / std::sqrt(x); }},
      {"sin", "mul(A, A, 2)", 0, 0x1p-20, 0, [](double x) { return std::sin(x); }},
      {"cos", "mul(A, A, 50)", 0, 0x1p-20, 0, [](double x) { return std::cos(x); }},
      {"tanh", "mul(A, A, 3)", 2, 0, 0, [](double x) { return std::tanh(x); }},
      {"sigmoid", "mul(A, A, 15)", 4, 0, 0, [](double x) { return 1 / (1 + std::exp(-x)); }},
      {"erf", "mul(A, A, 2)", 2, 0, 0, [](double x) { return std::erf(x); }},
      {"gelu", "mul(A, A, 3)", 0, 0, 0x1p-22, gelu_of},
      {"gelu_tanh", "mul(A, A, 3)", 0, 0, 0x1p-21, gelu_tanh_of}};
  for (const Row& row : rows) {
    ElementwiseCase each = on_rows({"cta", 1024}, {"float32", "float32"}, row.op + "(D, A)");
    each.calls.insert(each.calls.begin(), "Tx.cta." + row.before);
    each.inputs = Inputs::Normal;
    each.tolerance = 1e-5;
    const Checked checked = check(program_of(each));
    ASSERT_TRUE(checked.right()) << checked.explain();
    double worst = 0;
    for (std::size_t i = 0; i < 8192; ++i) {
      const double x = number_of(checked, "A_out", i), exact = row.function(x);
      const double most =
          std::max({row.ulps * ulp_of(exact), row.absolute, row.by_size * std::abs(x)});
      const double error = std::abs(number_of(checked, "D_out", i) - exact);
      EXPECT_LE(error, most) << row.op << " of " << x;
      if (most > 0) worst = std::max(worst, error / most);
    }
    fmt::print("{}: {:.2f} of what is allowed\n", row.op, worst);
  }
}

// `explain` says how near a function comes, unless it is exact or not in float32.
TEST(ElementwiseFunctions, ReportsSayHowNear) {
  const auto note = [](const Names& types, const std::string& call) {
    ElementwiseCase each = on_rows({"warp", 32}, types, call);
    each.inputs = Inputs::Normal;
    each.tolerance = 1e-2;
    const Checked checked = check(program_of(each));
    EXPECT_TRUE(checked.right()) << checked.explain();
    const auto& notes = checked.call(0).plan.notes;
    return notes.empty() ? std::string() : notes.front();
  };
  for (const std::string& op : and_more(kFunctions, {"exp", "exp2", "log2", "silu"}))
    for (const std::string dtype : {"float32", "float16"})
      EXPECT_NE(note({dtype, dtype}, op + "(D, A)").find(" at most"), std::string::npos) << op;
  EXPECT_EQ(note({"float32", "float32"}, "tanh(D, A)"),
            "a polynomial below 0.55, else from exp in PTX, 2 ulp at most");
  EXPECT_EQ(note({"float16", "float16"}, "pow(D, A, 2)"),
            "from lg2.approx and ex2.approx in PTX, relative 2^-22 · |y · log2 x| at most");
  EXPECT_EQ(note({"float32", "float32"}, "sqrt(D, A)"), "sqrt.rn in PTX, rounded to nearest");
  EXPECT_EQ(note({"float32", "float32"}, "floor(D, A)"), "");
  EXPECT_EQ(note({"float64", "float64"}, "rsqrt(D, A)"), "");
}

// --- faults --------------------------------------------------------------------------------------

TEST(ElementwiseFunctions, FaultsShow) {
  struct Row {
    Names types;
    std::string call, right, wrong;
  };
  const std::vector<Row> rows = {
      {{"bool", "float32", "float32"}, "less(D, A, B)", "setp.lt.f32", "setp.gt.f32"},
      {{"float32", "float32"}, "floor(D, A)", "cvt.rmi.f32.f32", "cvt.rpi.f32.f32"},
      {{"float32", "float32"}, "neg(D, A)", "neg.f32", "abs.f32"},
      {{"float32", "float32"}, "sin(D, A)", "sin.approx.f32", "cos.approx.f32"},
      {{"int32", "int32", "int32"}, "bitwise_xor(D, A, B)", "xor.b32", "or.b32"}};
  for (const Row& row : rows) {
    ElementwiseCase each = on_rows({"warp", 32}, row.types, row.call);
    each.inputs = Inputs::Normal;
    if (row.call.starts_with("sin")) each.tolerance = 1e-5;
    Program program = program_of(each);
    const Checked right = check(program);
    ASSERT_TRUE(right.right()) << row.call << right.explain();
    ASSERT_NE(right.ptx.find(row.right), std::string::npos) << row.call << right.ptx;
    program.edits = {{row.right, row.wrong}};
    EXPECT_EQ(check(program).stage, Stage::Device) << row.call;
  }
}

}  // namespace
}  // namespace ww::test::elementwise_functions_test
