// SPDX-License-Identifier: Apache-2.0
// Random products on all engines. A failing program is shrunk and printed as a file.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "engines/random_gemms.h"
#include "harness/random_run.h"

namespace ww::test::gemm_random_test {
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
  return Verdict::of(checked, !checked.right() && !is_fair_refusal(made, checked));
}

struct Totals {
  std::uint64_t products = 0, inconsistent = 0, declined = 0, normals = 0;
  std::map<std::string, int> shapes = {}, rules = {};

  void print(std::uint64_t seed) const {
    fmt::print("{} products, seed {}; {} inconsistent, {} of them declined; {} of normal numbers\n",
               products, seed, inconsistent, declined, normals);
    for (const auto& [shape, count] : shapes) fmt::print("  {:>6} {}\n", count, shape);
    for (const auto& [rule, count] : rules) fmt::print("  {:>6} declined: {}\n", count, rule);
  }
};

std::string rule_of(const Checked& checked) {
  const std::string verdict = mma_verdict(checked);
  return verdict.substr(0, verdict.find(']') + 1);
}

TEST(RandomGemms, AgreeOnAllEngines) {
  RandomRun run(100, {4, 200}, {8, 100});
  Totals totals;
  for (; totals.products < run.wanted; ++totals.products) {
    const std::uint64_t number = totals.products;
    const RandomGemm made = random_gemm(run.choices(number));
    const Checked checked = check(made.program());
    totals.inconsistent += made.is_consistent ? 0 : 1;
    if (is_fair_refusal(made, checked)) {
      totals.declined += made.is_consistent ? 0 : 1;
      ++totals.rules[rule_of(checked)];
      continue;
    }
    if (!checked.right()) FAIL() << run.failure(number, checked, verdict_of);
    totals.normals += made.has_normals ? 1 : 0;
    for (const lower::InstructionCount& each : gemm_of(checked).plan.instructions)
      ++totals.shapes[each.opcode];
    run.add(number, checked);
  }
  totals.print(run.seed);
  run.finish();
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
}  // namespace ww::test::gemm_random_test
