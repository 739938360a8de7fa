// SPDX-License-Identifier: Apache-2.0
// One test of random programs, told by the environment how many and which:
//
//   WW_RANDOM_COUNT=n   how many to check
//   WW_RANDOM_SEED=n    another seed
//
// It makes the choices of each program, shrinks the one that fails, and puts some of those that are
// right through ptxas and nvcc.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>

#include "harness/assembly.h"
#include "harness/check.h"
#include "harness/cuda_batch.h"
#include "harness/tape.h"
#include "harness/tool_queue.h"
#include "harness/verdict.h"

namespace ww::test {

/// Which programs go through a slow tool: the first of every few, and no more than a number.
struct Share {
  std::uint64_t step;
  std::size_t most;
  [[nodiscard]] bool has(std::uint64_t number, std::size_t so_far) const {
    return number % step == 0 && so_far < most;
  }
};

class RandomRun {
 public:
  /// `count`: how many, where the environment does not say.
  RandomRun(std::uint64_t count, Share assembled, Share compiled)
      : wanted(from_environment("WW_RANDOM_COUNT", count)),
        assembled_(assembled),
        compiled_(compiled) {}

  const std::uint64_t seed = from_environment("WW_RANDOM_SEED", 20260101);
  const std::uint64_t wanted;

  [[nodiscard]] Choices choices(std::uint64_t number) const { return random_choices(seed, number); }

  /// What to print about a program that went wrong: how to see it again, and the smallest one that
  /// goes wrong in the same way.
  [[nodiscard]] std::string failure(std::uint64_t number, const Checked& checked,
                                    VerdictOf verdict_of) const {
    Verdict verdict = Verdict::of(checked, true);
    shrink_choices(verdict_of, choices(number), verdict);
    return fmt::format("program {} of WW_RANDOM_SEED={}, shrunk:\n{}", number, seed,
                       verdict.explanation);
  }

  /// A program that is right on the other engines.
  void add(std::uint64_t number, const Checked& checked) {
    on_gpu_.add(checked);
    if (assembled_.has(number, assembly_.count())) assembly_.add(checked.ran->target, checked.ptx);
    if (compiled_.has(number, cuda_.count())) cuda_.add(checked);
  }

  /// Prints how many programs the tools take. What they say against one fails the process
  /// (harness/tool_queue.h).
  void finish() {
    fmt::print("  {:>6} programs for ptxas\n", assembly_.count());
    fmt::print("  {:>6} programs for nvcc\n", cuda_.count());
    fmt::print("  {}\n", on_gpu_.text());
    assemble_later(std::move(assembly_));
    compile_later(std::move(cuda_));
  }

 private:
  Share assembled_, compiled_;
  Assembly assembly_;
  CudaBatch cuda_;
  GpuCount on_gpu_;
};

}  // namespace ww::test
