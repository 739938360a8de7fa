// SPDX-License-Identifier: Apache-2.0
// `fast=True`: approximate instructions in place of accurate functions. The evaluator computes the
// accurate ones, so that every comparison here states how far apart the two may be: the error that
// `explain` names for the arguments of the case, and the rounding of the destination.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "engines/elementwise_programs.h"
#include "engines/family.h"

namespace ww::test::elementwise_fast_test {
namespace {

using Names = std::vector<std::string>;

struct FastRow {
  std::string call;  // of D, A, B
  Names opcodes;     // for each element
  double tolerance;  // of float32: Normal inputs are below 6
};

// The errors of `explain` for |x| < 6, by the larger of 1 and the result.
const std::vector<FastRow> kRows = {
    {"exp(D, A, fast=True)", {"ex2.approx.ftz.f32"}, 0x1p-19},
    {"exp(D, A, 0.5, 2, fast=True)", {"ex2.approx.ftz.f32"}, 0x1p-18},
    {"exp2(D, A, fast=True)", {"ex2.approx.ftz.f32"}, 0x1p-21},
    {"log(D, A, fast=True)", {"lg2.approx.ftz.f32"}, 0x1p-20},
    {"log2(D, A, fast=True)", {"lg2.approx.ftz.f32"}, 0x1p-21},
    {"sin(D, A, fast=True)", {"sin.approx.ftz.f32"}, 0x1p-20},
    {"cos(D, A, fast=True)", {"cos.approx.ftz.f32"}, 0x1p-20},
    {"tanh(D, A, fast=True)", {"tanh.approx.f32"}, 0x1p-11},
    {"sqrt(D, A, fast=True)", {"sqrt.approx.ftz.f32"}, 0x1p-22},
    {"rsqrt(D, A, fast=True)", {"rsqrt.approx.ftz.f32"}, 0x1p-22},
    {"reciprocal(D, A, fast=True)", {"rcp.approx.ftz.f32"}, 0x1p-22},
    {"fdiv(D, A, B, fast=True)", {"div.approx.ftz.f32"}, 0x1p-21},
    {"fdiv(D, A, 3, fast=True)", {"div.approx.ftz.f32"}, 0x1p-21},
    {"pow(D, A, B, fast=True)", {"lg2.approx.ftz.f32", "ex2.approx.ftz.f32"}, 0x1p-16},
    {"pow(D, 2, B, fast=True)", {"lg2.approx.ftz.f32", "ex2.approx.ftz.f32"}, 0x1p-17},
    {"sigmoid(D, A, fast=True)", {"ex2.approx.ftz.f32", "rcp.approx.ftz.f32"}, 0x1p-19},
    {"silu(D, A, fast=True)", {"ex2.approx.ftz.f32", "rcp.approx.ftz.f32"}, 0x1p-19},
    {"erf(D, A, fast=True)", {"ex2.approx.ftz.f32", "rcp.approx.ftz.f32"}, 0x1p-20},
    {"gelu(D, A, fast=True)", {"ex2.approx.ftz.f32", "rcp.approx.ftz.f32"}, 0x1p-18},
    {"gelu_tanh(D, A, fast=True)", {"ex2.approx.ftz.f32", "rcp.approx.ftz.f32"}, 0x1p-17},
};

double tolerance_for(const FastRow& row, const std::string& dtype) {
  return row.tolerance + (dtype == "float32" ? 0 : dtype == "float16" ? 0x1p-10 : 0x1p-7);
}

ElementwiseCase case_of(const FastRow& row, const UnitOfRows& unit, const std::string& dtype) {
  ElementwiseCase out = on_rows(unit, {dtype, dtype, dtype}, row.call);
  out.inputs = Inputs::Normal;
  out.tolerance = tolerance_for(row, dtype);
  return out;
}

// Each element takes the instructions once, on every target.
TEST(ElementwiseFast, Instructions) {
  Family family("fast", Nvcc::Always);
  const Names targets = {"sm_75", "sm_90a", "sm_100a"};
  for (std::size_t i = 0; i < kRows.size(); ++i)
    for (const std::string dtype : {"float32", "float16", "bfloat16"}) {
      const FastRow& row = kRows[i];
      ElementwiseCase each = case_of(row, {"warp", 32}, dtype);
      each.target = dtype == "float32" ? targets[i % 3] : "sm_90a";
      // A power of what is below 0 is NaN.
      const bool is_power = row.call.starts_with("pow");
      if (is_power) each.calls.insert(each.calls.begin(), "Tx.warp.abs(A)");
      const std::size_t k = each.calls.size() - 1;
      const Checked checked = family.run(program_of(each), {.variant = "reg", .rounds = 8}, k);
      if (!checked.right()) continue;
      for (const std::string& opcode : row.opcodes) {
        EXPECT_EQ(count_of(checked.ptx, opcode + "\t"), 8U) << row.call << checked.ptx;
        EXPECT_EQ(times_of(checked.call(k), opcode), 8) << row.call;
      }
      EXPECT_EQ(count_of(checked.ptx, ".approx"), 8 * row.opcodes.size()) << row.call;
      EXPECT_TRUE(checked.call(k).plan.notes.at(0).starts_with("fast: ")) << row.call;
      EXPECT_TRUE(checked.call(k).plan.notes.at(1).starts_with("without `fast`: ")) << row.call;
      family.count();
    }
}

TEST(ElementwiseFast, UnitsAndMemory) {
  Family family("fast, of units and memory", Nvcc::Always);
  for (const UnitOfRows& unit : {UnitOfRows{"thread", 32}, {"wg", 128}, {"cta", 96}})
    for (const std::size_t i : {0U, 12U, 16U}) {
      family.run(program_of(case_of(kRows[i], unit, "float32")), {.variant = "reg", .rounds = 8});
      family.count();
    }
  for (const std::string call :
       {"Tx.warp.exp(X, A, fast=True)", "Tx.warp.fdiv(X, X, A, fast=True)",
        "Tx.warp.silu(X, fast=True)", "Tx.warp.tanh(X, A[0:32, 0], fast=True)"}) {
    KernelText text(32, "float32");
    text.param("A", {32, 8});
    text.param("X_out", {32, 8});
    text.line("X = T.alloc_buffer((32, 8), \"float32\", scope=\"shared\")");
    text.for_elements({32, 8}, "X", "A");
    text.sync();
    text.line(call);
    text.sync();
    text.for_elements({32, 8}, "X_out", "X");
    family.run({.source = text.text(),
                .inputs = Inputs::Normal,
                .tolerance = 0x1p-11,
                .is_approximate = true},
               {.variant = "mixed"});
    family.count();
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

struct ErrorRow {
  std::string call, before;
  double (*function)(double);
  double (*most)(double x, double exact);
};

// What `explain` says of functions that take more than an instruction; the virtual GPU's own
// instructions are rounded to nearest, so that this is about what is between them.
TEST(ElementwiseFast, Errors) {
  const std::vector<ErrorRow> rows = {
      {"exp", "mul(A, A, 20)", [](double x) { return std::exp(x); },
       [](double x, double y) { return (2 + 1.25 * std::abs(x)) * ulp_of(y); }},
      {"log", "mul(A, A, A)", [](double x) { return std::log(x); },
       [](double, double y) { return std::max(6 * ulp_of(y), 0x1p-22); }},
      {"sigmoid", "mul(A, A, 15)", [](double x) { return 1 / (1 + std::exp(-x)); },
       [](double x, double y) { return (7 + 1.25 * std::abs(x)) * ulp_of(y); }},
      {"silu", "mul(A, A, 15)", [](double x) { return x / (1 + std::exp(-x)); },
       [](double x, double y) { return (8 + 1.25 * std::abs(x)) * ulp_of(y); }},
      {"erf", "mul(A, A, 2)", [](double x) { return std::erf(x); },
       [](double, double) { return 0x1p-20; }},
      {"gelu", "mul(A, A, 3)",
       [](double x) { return 0.5 * x * std::erfc(-x / std::numbers::sqrt2); },
       [](double x, double) { return std::abs(x) * 0x1p-21; }},
      {"gelu_tanh", "mul(A, A, 3)",
       [](double x) {
         return 0.5 * x *
                (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
       },
       [](double x, double) { return std::abs(x) * 0x1p-20; }}};
  for (const ErrorRow& row : rows) {
    ElementwiseCase each =
        on_rows({"cta", 1024}, {"float32", "float32"}, row.call + "(D, A, fast=True)");
    each.calls.insert(each.calls.begin(), "Tx.cta." + row.before);
    each.inputs = Inputs::Normal;
    each.tolerance = 1e-4;
    const Checked checked = check(program_of(each));
    ASSERT_TRUE(checked.right()) << checked.explain();
    double worst = 0;
    for (std::size_t i = 0; i < 8192; ++i) {
      const double x = number_of(checked, "A_out", i), exact = row.function(x);
      const double most = std::max(row.most(x, exact), 0x1p-126);
      const double error = std::abs(number_of(checked, "D_out", i) - exact);
      EXPECT_LE(error, most) << row.call << " of " << x;
      worst = std::max(worst, error / most);
    }
    fmt::print("{}: {:.2f} of what is allowed\n", row.call, worst);
  }
}

// --- reports, and what has no fast form ----------------------------------------------------------

TEST(ElementwiseFast, BothChoicesAreNamed) {
  const auto notes = [](const std::string& dtype, const std::string& call) {
    ElementwiseCase each = on_rows({"warp", 32}, {dtype, dtype}, call);
    each.inputs = Inputs::Normal;
    each.tolerance = 1e-3;
    const Checked checked = check(program_of(each));
    EXPECT_TRUE(checked.right()) << checked.explain();
    return checked.call(0).plan.notes;
  };
  EXPECT_EQ(
      notes("float32", "tanh(D, A, fast=True)"),
      (Names{"fast: tanh.approx, relative 2^-11 by the PTX manual",
             "without `fast`: a polynomial below 0.55, else from exp in PTX, 2 ulp at most"}));
  EXPECT_EQ(notes("float32", "tanh(D, A)"),
            (Names{"a polynomial below 0.55, else from exp in PTX, 2 ulp at most",
                   "with `fast=True`: tanh.approx, relative 2^-11 by the PTX manual"}));
  EXPECT_EQ(notes("float64", "sqrt(D, A, fast=True)"),
            (Names{"float64 has no fast form and is computed accurately"}));
}

// Without `fast`, or with `fast=False`, the PTX is the same as ever.
TEST(ElementwiseFast, TheDefaultIsAccurate) {
  for (const std::string call : {"fdiv(D, A, B", "sqrt(D, A", "tanh(D, A"}) {
    const auto ptx = [&](const std::string& end) {
      ElementwiseCase each = on_rows({"warp", 32}, {"float32", "float32", "float32"}, call + end);
      each.inputs = Inputs::Normal;
      each.tolerance = call.starts_with("tanh") ? 2e-6 : 0;
      const bool is_fast = end.contains("True");  // compared with a tolerance, by other tests
      const Checked checked = is_fast ? compile_only(program_of(each)) : check(program_of(each));
      EXPECT_TRUE(checked.right()) << checked.explain();
      return checked.ptx;
    };
    EXPECT_EQ(count_of(ptx(")"), ".ftz"), 0U) << call;
    EXPECT_EQ(count_of(ptx(", fast=False)"), ".ftz"), 0U) << call;
    EXPECT_GT(count_of(ptx(", fast=True)"), ".approx"), 0U) << call;
  }
}

TEST(ElementwiseFast, FaultsShow) {
  ElementwiseCase each = case_of(kRows[16], {"warp", 32}, "float32");  // silu
  Program program = program_of(each);
  ASSERT_TRUE(check(program).right());
  program.edits = {{"rcp.approx.ftz.f32", "rsqrt.approx.ftz.f32"}};
  EXPECT_EQ(check(program).stage, Stage::Device);
  program.edits = {{"ex2.approx.ftz.f32", "lg2.approx.ftz.f32"}};
  EXPECT_EQ(check(program).stage, Stage::Device);
}

}  // namespace
}  // namespace ww::test::elementwise_fast_test
