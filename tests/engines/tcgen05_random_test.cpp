// SPDX-License-Identifier: Apache-2.0
// Random copies between tensor memory and registers on all engines. A failing program is shrunk and
// printed as a file.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "engines/family.h"
#include "engines/random_tensors.h"
#include "harness/random_run.h"

namespace ww::test::tcgen05_random_test {
namespace {

bool is_declined(const Checked& checked) {
  return checked.stage == Stage::Lower &&
         checked.why.find("no variant of `copy_async` accepts this call") != std::string::npos;
}

// What may be declined and is; what is not declined is right.
bool is_fair(const RandomTensor& made, const Checked& checked) {
  return checked.right() || (!made.fits && is_declined(checked));
}

Verdict verdict_of(const Choices& choices) {
  const RandomTensor made = random_tensor(choices);
  const Checked checked = check(program_of(made.program));
  return Verdict::of(checked, !is_fair(made, checked));
}

struct Totals {
  std::uint64_t programs = 0, copies = 0, unfit = 0, declined = 0;
  std::map<std::string, int> shapes = {}, rules = {};

  void add(const Checked& checked) {
    for (const auto& [move, count] : moves_of(checked.ptx)) {
      const std::string_view name = std::string_view(move).substr(3);
      std::string shape(name.substr(0, name.find('.')));
      if (move.find("pack") != std::string::npos) shape += ", packed";
      shapes[shape] += count;
    }
    copies += checked.report.calls.size();
  }
  void refuse(const Checked& checked) {
    ++declined;
    for (std::size_t k = 0; k < checked.report.calls.size(); ++k) {
      const std::string verdict = verdict_on(checked, k, "tcgen05_ldst");
      if (verdict.starts_with('[')) ++rules[verdict.substr(0, verdict.find(']') + 1)];
    }
  }
  void print(std::uint64_t seed) const {
    fmt::print(
        "{} copies in {} programs, seed {}; {} programs with what does not fit, {} declined\n",
        copies, programs, seed, unfit, declined);
    for (const auto& [shape, count] : shapes) fmt::print("  {:>6} {}\n", count, shape);
    for (const auto& [rule, count] : rules) fmt::print("  {:>6} declined: {}\n", count, rule);
  }
};

TEST(RandomTensors, AgreeOnAllEngines) {
  RandomRun run(250, {4, 100}, {8, 40});
  Totals totals;
  for (; totals.programs < run.wanted; ++totals.programs) {
    const std::uint64_t number = totals.programs;
    const RandomTensor made = random_tensor(run.choices(number));
    const Checked checked = check(program_of(made.program));
    totals.unfit += made.fits ? 0 : 1;
    if (!is_fair(made, checked)) FAIL() << run.failure(number, checked, verdict_of);
    if (!checked.right()) {
      totals.refuse(checked);
      continue;
    }
    totals.add(checked);
    EXPECT_EQ(wrong_registers(checked.ptx), "") << checked.ptx;
    run.add(number, checked);
  }
  totals.print(run.seed);
  run.finish();
  // The generator should not lose sight of any shape, nor of what does not fit.
  if (totals.programs < 200) return;
  for (const std::string shape : {"32x32b", "16x64b", "16x128b", "16x256b", "16x32bx2"}) {
    EXPECT_GT(totals.shapes[shape], 0) << shape;
    EXPECT_GT(totals.shapes[shape + ", packed"], 0) << shape;
  }
  for (const std::string rule : {"[shape]", "[lanes]", "[columns]"})
    EXPECT_GT(totals.rules[rule], 0) << rule;
  EXPECT_GE(totals.unfit * 10, totals.programs);
  EXPECT_GE(5 * (totals.programs - totals.declined), 3 * totals.programs);
}

// A fault in any instruction of a random copy shows.
TEST(RandomTensors, FaultsShow) {
  int faults = 0;
  for (std::uint64_t number = 0; faults < 6; ++number) {
    const RandomTensor made = random_tensor(random_choices(77, number));
    Program program = program_of(made.program);
    const Checked right = check(program);
    if (!right.right()) continue;
    const std::string_view way = faults % 2 == 0 ? "tcgen05.ld." : "tcgen05.st.";
    // Those of filling and dumping are the first store and the last load.
    const std::size_t at = faults % 2 == 0 ? right.ptx.find(way) : right.ptx.rfind(way);
    if (at == std::string::npos || count_of(right.ptx, way) < 2) continue;
    program.edits = {{right.ptx.substr(at, right.ptx.find('\n', at) - at), ""}};
    EXPECT_EQ(check(program).stage, Stage::Device) << right.source;
    ++faults;
  }
}

}  // namespace
}  // namespace ww::test::tcgen05_random_test
