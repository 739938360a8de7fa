// SPDX-License-Identifier: Apache-2.0
// Random products on all engines. A failing program is shrunk and printed as a file.
//
//   WW_RANDOM_COUNT=n   how many products to check
//   WW_RANDOM_SEED=n    another seed
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "lower/cuda_batch.h"
#include "lower/random_gemms.h"
#include "lower/shrink.h"

namespace ww::test {
namespace {

bool is_declined(const Checked& checked) {
  return checked.stage == Stage::Lower &&
         checked.why.find("no variant of `gemm` accepts this call") != std::string::npos;
}
// `stage=True` takes columns of D in the order of its registers, which no layout of B need have.
bool is_fair_refusal(const RandomGemm& made, const Checked& checked) {
  if (!is_declined(checked)) return false;
  return !made.is_consistent || (made.is_staged() && mma_verdict(checked).starts_with("[stage]"));
}

Verdict verdict_of(const Choices& choices) {
  const RandomGemm made = random_gemm(choices);
  const Checked checked = check(made.program());
  const bool is_bad = !checked.right() && !is_fair_refusal(made, checked);
  return {is_bad, kind_of(checked), is_bad ? checked.explain() : ""};
}

constexpr Share kAssembled{4, 200};
constexpr Share kCompiled{8, 100};

struct Totals {
  std::uint64_t products = 0, inconsistent = 0, declined = 0, normals = 0;
  GpuCount on_gpu = {};
  std::map<std::string, int> shapes = {}, rules = {};

  void print(std::uint64_t seed) const {
    fmt::print("{} products, seed {}; {} inconsistent, {} of them declined; {} of normal numbers\n",
               products, seed, inconsistent, declined, normals);
    for (const auto& [shape, count] : shapes) fmt::print("  {:>6} {}\n", count, shape);
    for (const auto& [rule, count] : rules) fmt::print("  {:>6} declined: {}\n", count, rule);
    fmt::print("  {}\n", on_gpu.text());
  }
};

std::string rule_of(const Checked& checked) {
  const std::string verdict = mma_verdict(checked);
  return verdict.substr(0, verdict.find(']') + 1);
}

TEST(RandomGemms, AgreeOnAllEngines) {
  const std::uint64_t seed = from_environment("WW_RANDOM_SEED", 20260101);
  const std::uint64_t wanted = from_environment("WW_RANDOM_COUNT", 100);
  Totals totals;
  Assembly assembly;
  CudaBatch cuda;
  for (; totals.products < wanted; ++totals.products) {
    const std::uint64_t number = totals.products;
    const Choices choices = random_choices(seed, number);
    const RandomGemm made = random_gemm(choices);
    const Checked checked = check(made.program());
    totals.inconsistent += made.is_consistent ? 0 : 1;
    if (is_fair_refusal(made, checked)) {
      totals.declined += made.is_consistent ? 0 : 1;
      ++totals.rules[rule_of(checked)];
      continue;
    }
    if (!checked.right())
      FAIL() << fmt::format("program {} of WW_RANDOM_SEED={}, shrunk:\n", number, seed)
             << Shrinker(verdict_of, choices, {true, kind_of(checked), checked.explain()}).run();
    totals.normals += made.has_normals ? 1 : 0;
    totals.on_gpu.add(checked);
    for (const lower::InstructionCount& each : gemm_of(checked).plan.instructions)
      ++totals.shapes[each.opcode];
    if (kAssembled.has(number, assembly.count())) assembly.add(made.gemm.target, checked.ptx);
    if (kCompiled.has(number, cuda.count())) cuda.add(checked);
  }
  std::string not_assembled, not_compiled;
  EXPECT_EQ(assembly.assemble(not_assembled), "");
  const std::string differences = cuda.run(not_compiled);
  EXPECT_TRUE(differences.empty()) << differences;
  totals.print(seed);
  fmt::print("  {:>6} programs by ptxas {}\n", not_assembled.empty() ? assembly.count() : 0,
             not_assembled);
  fmt::print("  {:>6} programs by nvcc {}\n", not_compiled.empty() ? cuda.count() : 0,
             not_compiled);
  // The generator should not lose sight of products that do not fit.
  if (totals.products >= 100) {
    EXPECT_GE(totals.inconsistent * 10, totals.products);
    EXPECT_GT(totals.declined, 0U);
  }
}

// A fault in any instruction of a random product shows.
TEST(RandomGemms, FaultsShow) {
  int faults = 0;
  for (std::uint64_t number = 0; faults < 6; ++number) {
    const RandomGemm made = random_gemm(random_choices(77, number));
    Program program = made.program();
    const Checked right = check(program);
    if (!right.right() || made.gemm.alpha == "0.0") continue;
    const std::size_t at = right.ptx.find("mma.sync");
    program.edits = {{right.ptx.substr(at, right.ptx.find('\n', at) - at), ""}};
    EXPECT_EQ(check(program).stage, Stage::Device) << right.source;
    ++faults;
  }
}

}  // namespace
}  // namespace ww::test
