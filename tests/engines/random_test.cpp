// SPDX-License-Identifier: Apache-2.0
// Random copies on all engines. A failing program is shrunk and printed as a file.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "engines/random_copies.h"
#include "harness/random_run.h"

namespace ww::test::random_test {
namespace {

// Registers move between threads by shuffles, which copies do not use; a part of registers that is
// no box of their layout is not found at a runtime index; and copies element by element know one
// place of each.
bool is_fair_refusal(const RandomProgram& made, const Checked& checked) {
  const auto says = [&](const char* text) { return checked.why.find(text) != std::string::npos; };
  return checked.stage == Stage::Lower && ((made.moves_registers && says("[declined: owner]")) ||
                                           (made.indexes_registers && says("[declined: start]")) ||
                                           (made.has_replicas && says("[declined: replica]")));
}

// The report's bank conflicts, against those that the virtual GPU has counted.
std::string turns_that_differ(const RandomProgram& made, const Checked& checked) {
  if (!made.runs_once) return {};
  if (checked.turns.size() != checked.report.calls.size())
    return fmt::format("{} primitives are marked in the PTX of {}\n{}", checked.turns.size(),
                       checked.report.calls.size(), checked.ptx);
  for (std::size_t k = 0; k < checked.turns.size(); ++k) {
    const auto& reported = checked.call(k).plan.wavefronts;
    if (reported && reported->needed != checked.turns[k].needed)
      return fmt::format("copy {}: {} turns of shared memory are reported, {} are needed\n{}", k,
                         reported->needed, checked.turns[k].needed, checked.explain());
  }
  return {};
}

Verdict verdict_of(const Choices& choices) {
  const RandomProgram made = random_program(choices);
  const Checked checked = check(made.program);
  return Verdict::of(checked, !checked.right() && !is_fair_refusal(made, checked));
}

struct Totals {
  std::uint64_t programs = 0, copies = 0, refused = 0, with_turns = 0;
  std::uint64_t near_registers = 0, by_matrix = 0;  // between shared memory and registers
  std::map<std::string, int> chosen = {};

  void add(const RandomProgram& made, const Checked& checked) {
    for (const lower::CallReport& call : checked.report.calls) ++chosen[call.chosen];
    copies += made.copies();
    with_turns += made.runs_once ? 1 : 0;
    for (std::size_t k = 0; k < made.copies(); ++k) {
      if (!made.is_matrix_pair[k]) continue;
      ++near_registers;
      by_matrix += checked.call(k).chosen == "ldstmatrix" ? 1U : 0U;
    }
  }

  void print(std::uint64_t seed) const {
    fmt::print("{} copies in {} programs, seed {}; {} programs refused\n", copies, programs, seed,
               refused);
    fmt::print("  {:>6} programs with bank conflicts compared\n", with_turns);
    fmt::print("  {:>6} of {} copies between shared memory and registers by matrices\n", by_matrix,
               near_registers);
    for (const auto& [variant, count] : chosen) fmt::print("  {:>6} {}\n", count, variant);
  }
};

TEST(RandomCopies, AgreeOnAllEngines) {
  RandomRun run(1200, {8, 100}, {8, 100});
  Totals totals;
  for (; totals.copies < run.wanted; ++totals.programs) {
    const std::uint64_t number = totals.programs;
    const RandomProgram made = random_program(run.choices(number));
    const Checked checked = check(made.program);
    if (is_fair_refusal(made, checked)) {
      ++totals.refused;
      continue;
    }
    if (!checked.right()) FAIL() << run.failure(number, checked, verdict_of);
    totals.add(made, checked);
    ASSERT_EQ(turns_that_differ(made, checked), "");
    run.add(number, checked);
  }
  totals.print(run.seed);
  run.finish();
  // The generator should not lose sight of matrices.
  if (totals.copies >= 1000) {
    EXPECT_GE(5 * totals.by_matrix, totals.near_registers);
  }
}

}  // namespace
}  // namespace ww::test::random_test
