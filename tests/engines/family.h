// SPDX-License-Identifier: Apache-2.0
// A family of cases in one test: each is compiled, compared on all engines and held against what is
// expected of its plan, and the number of cases is printed. ptxas assembles what came out, and nvcc
// compiles its CUDA C++, with that of other families, when all tests have run.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "engines/programs.h"
#include "harness/assembly.h"
#include "harness/check.h"
#include "harness/cuda_batch.h"
#include "harness/tool_queue.h"

namespace ww::test {

/// What is expected of a plan; empty or 0: anything.
struct Expected {
  std::string variant = {};
  std::string opcode = {};      // the only one of the plan's instructions that the test is about
  std::int64_t per_thread = 0;  // how often
  int vector_bits = 0;
  std::int64_t rounds = 0;
  std::int64_t registers = 0;
};

/// How often a thread executes the instruction.
inline std::int64_t times_of(const lower::CallReport& call, std::string_view opcode) {
  std::int64_t times = 0;
  for (const lower::InstructionCount& each : call.plan.instructions)
    if (each.opcode == opcode) times += each.per_thread;
  return times;
}

inline std::string opcodes_of(const lower::CallReport& call) {
  std::string out;
  for (const lower::InstructionCount& each : call.plan.instructions)
    out += fmt::format("{} x {}; ", each.opcode, each.per_thread);
  return out;
}

/// What a variant said to the k-th primitive: "[rule] reason", "chosen", "not asked".
inline std::string verdict_on(const Checked& checked, std::size_t k, std::string_view variant) {
  if (k >= checked.report.calls.size()) return "no such call";
  for (const lower::Verdict& verdict : checked.call(k).verdicts)
    if (verdict.variant == variant) {
      if (verdict.kind == lower::Verdict::Kind::Chosen) return "chosen";
      if (verdict.kind == lower::Verdict::Kind::NotAsked) return "not asked";
      return fmt::format("[{}] {}", verdict.rule, verdict.reason);
    }
  return "no such variant";
}

/// nvcc takes its second for every family: always, or only with WW_ALL_CUDA in the environment.
enum class Nvcc : std::uint8_t { WhenAsked, Always };

class Family {
 public:
  explicit Family(std::string name, Nvcc nvcc = Nvcc::WhenAsked)
      : name_(std::move(name)),
        has_cuda_(nvcc == Nvcc::Always || std::getenv("WW_ALL_CUDA") != nullptr) {}
  ~Family() {
    fmt::print("{}: {} cases; for ptxas: {}, for nvcc: {}; {}\n", name_, cases_, assembly_.count(),
               cuda_.count(), on_gpu_.text());
    assemble_later(std::move(assembly_));
    compile_later(std::move(cuda_));
  }
  Family(const Family&) = delete;
  Family& operator=(const Family&) = delete;

  /// The k-th primitive is the one that the expectation is about.
  Checked run(const Program& program, const Expected& expected = {}, std::size_t k = 0) {
    Checked checked = check(program);
    EXPECT_TRUE(checked.right()) << checked.explain();
    if (!checked.right()) return checked;
    assembly_.add(program.target, checked.ptx);
    if (has_cuda_) cuda_.add(checked);
    on_gpu_.add(checked);
    if (checked.report.calls.size() > k) compare(checked, checked.call(k), expected);
    return checked;
  }
  Checked run(const CopyCase& each, const Expected& expected = {}) {
    return run(program_of(each), expected);
  }
  void count(std::size_t cases = 1) { cases_ += cases; }

 private:
  static void compare(const Checked& checked, const lower::CallReport& call,
                      const Expected& expected) {
    if (!expected.variant.empty()) {
      EXPECT_EQ(call.chosen, expected.variant) << checked.explain();
    }
    if (!expected.opcode.empty()) {
      EXPECT_EQ(times_of(call, expected.opcode), expected.per_thread)
          << expected.opcode << " among " << opcodes_of(call) << "\n"
          << checked.source;
    }
    if (expected.vector_bits != 0) {
      EXPECT_EQ(call.plan.vector_bits, expected.vector_bits) << checked.source;
    }
    if (expected.rounds != 0) {
      EXPECT_EQ(call.plan.rounds, expected.rounds) << checked.source;
    }
    if (expected.registers != 0) {
      EXPECT_EQ(call.plan.registers, expected.registers) << checked.source;
    }
  }

  std::string name_;
  Assembly assembly_;
  bool has_cuda_;
  CudaBatch cuda_;
  GpuCount on_gpu_;
  std::size_t cases_ = 0;
};

}  // namespace ww::test
