// SPDX-License-Identifier: Apache-2.0
// Random copies on all engines. A failing program is shrunk and printed as a file.
//
//   WW_RANDOM_COUNT=n   how many copies to check
//   WW_RANDOM_SEED=n    another seed
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "lower/cuda_batch.h"
#include "lower/random_copies.h"

namespace ww::test {
namespace {

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

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

// What went wrong, without the numbers of this program.
std::string kind_of(const Checked& checked) {
  constexpr std::size_t kMost = 120;
  std::string out(name_of(checked.stage));
  const std::size_t error = checked.why.find("error: ");
  const std::string_view why =
      std::string_view(checked.why).substr(error == std::string::npos ? 0 : error);
  for (const char each : why.substr(0, std::min(kMost, why.find('\n'))))
    if (each < '0' || each > '9') out += each;
  return out;
}

struct Verdict {
  bool is_bad = false;
  std::string kind = {};
  std::string explanation = {};
};

Verdict verdict_of(const Choices& choices) {
  const RandomProgram made = random_program(choices);
  const Checked checked = check(made.program);
  const bool is_bad = !checked.right() && !is_fair_refusal(made, checked);
  return {is_bad, kind_of(checked), is_bad ? checked.explain() : ""};
}

// Smaller rows that still go wrong in the same way: parts left out, choices nearer to 0.
class Shrinker {
 public:
  Shrinker(Choices choices, Verdict verdict)
      : best_(std::move(choices)), verdict_(std::move(verdict)) {}

  std::string run() {
    for (bool is_better = true; is_better && tries_ < kMostTries;) {
      is_better = false;
      for (std::size_t chunk = 32; chunk > 0; chunk /= 2)
        for (std::size_t at = 0; at + chunk <= best_.size(); ++at)
          is_better = attempt(without(at, chunk)) || is_better;
      for (std::size_t at = 0; at < best_.size(); ++at)
        for (const std::uint32_t value : {0U, 1U, 2U, 3U})
          is_better = (best_[at] > value && attempt(with(at, value))) || is_better;
    }
    return verdict_.explanation;
  }

 private:
  static constexpr int kMostTries = 1500;

  [[nodiscard]] Choices without(std::size_t at, std::size_t count) const {
    Choices out = best_;
    const auto begin = out.begin() + static_cast<std::ptrdiff_t>(at);
    out.erase(begin, begin + static_cast<std::ptrdiff_t>(count));
    return out;
  }
  [[nodiscard]] Choices with(std::size_t at, std::uint32_t value) const {
    Choices out = best_;
    out[at] = value;
    return out;
  }
  bool attempt(Choices choices) {
    if (++tries_ > kMostTries) return false;
    Verdict verdict = verdict_of(choices);
    if (!verdict.is_bad || verdict.kind != verdict_.kind) return false;
    best_ = std::move(choices);
    verdict_ = std::move(verdict);
    return true;
  }

  Choices best_;
  Verdict verdict_;
  int tries_ = 0;
};

// Which programs go through nvcc and ptxas: the first of every few, and no more than a number.
struct Share {
  std::uint64_t step;
  std::size_t most;
  [[nodiscard]] bool has(std::uint64_t number, std::size_t so_far) const {
    return number % step == 0 && so_far < most;
  }
};
constexpr Share kAssembled{8, 100};
constexpr Share kCompiled{8, 100};

struct Totals {
  std::uint64_t programs = 0, copies = 0, refused = 0, with_turns = 0;
  GpuCount on_gpu = {};
  std::uint64_t near_registers = 0, by_matrix = 0;  // between shared memory and registers
  std::map<std::string, int> chosen = {};

  void add(const RandomProgram& made, const Checked& checked) {
    for (const lower::CallReport& call : checked.report.calls) ++chosen[call.chosen];
    copies += made.copies();
    with_turns += made.runs_once ? 1 : 0;
    on_gpu.add(checked);
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
    fmt::print("  {}\n", on_gpu.text());
  }
};

TEST(RandomCopies, AgreeOnAllEngines) {
  const std::uint64_t seed = from_environment("WW_RANDOM_SEED", 20260101);
  const std::uint64_t wanted = from_environment("WW_RANDOM_COUNT", 1200);
  Totals totals;
  Assembly assembly;
  CudaBatch cuda;
  for (; totals.copies < wanted; ++totals.programs) {
    const std::uint64_t number = totals.programs;
    const Choices choices = random_choices(seed, number);
    const RandomProgram made = random_program(choices);
    const Checked checked = check(made.program);
    if (is_fair_refusal(made, checked)) {
      ++totals.refused;
      continue;
    }
    if (!checked.right())
      FAIL() << fmt::format("program {} of WW_RANDOM_SEED={}, shrunk:\n", number, seed)
             << Shrinker(choices, {true, kind_of(checked), checked.explain()}).run();
    totals.add(made, checked);
    ASSERT_EQ(turns_that_differ(made, checked), "");
    if (kAssembled.has(number, assembly.count())) assembly.add(made.program.target, checked.ptx);
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
  // The generator should not lose sight of matrices.
  if (totals.copies >= 1000) {
    EXPECT_GE(5 * totals.by_matrix, totals.near_registers);
  }
}

}  // namespace
}  // namespace ww::test
