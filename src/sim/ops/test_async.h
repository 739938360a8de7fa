// SPDX-License-Identifier: Apache-2.0
// For tests of asynchronous instructions: a body that runs over a numbered input and leaves words
// in an output, with shared memory and addresses ready.
//
//   %r1  tid.x                 cells  4096 bytes of shared memory; %r2 its address
//   %d1  &input[tid]           bar    room for 8 mbarriers; %r3 its address
//   %d2  &output[block size * block + tid]
//   %r4  &cells[4 * tid]
//
// Input word i holds i; the output is undefined. `WAIT(n, p)` in a body loops until the phase of
// parity p of mbarrier n is over.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/test_run.h"

namespace ww::sim {

struct Grid {
  unsigned threads = 32;
  unsigned blocks = 1;
  unsigned cluster = 1;
  std::string_view target = "sm_90a";
  std::string_view version = "8.8";
  std::optional<Check> also{};  // that is off by default
  Schedule schedule{};
  bool late_tensor_loads = false;
  std::uint64_t instructions = 4'000'000;  // at most
};

struct Done {
  std::string findings;
  std::string reason;
  std::vector<std::uint32_t> out;
  Outcome outcome = Outcome::Finished;
};

constexpr std::size_t kTestWords = 1024;

inline std::string with_waits(std::string_view body) {
  std::string text(body);
  for (unsigned n = 0;; ++n) {
    const std::size_t at = text.find("WAIT(");
    if (at == std::string::npos) return text;
    const std::size_t comma = text.find(',', at);
    const std::size_t end = text.find(')', at);
    const std::string barrier = text.substr(at + 5, comma - at - 5);
    const std::string parity = text.substr(comma + 1, end - comma - 1);
    const std::string loop = fmt::format(
        "wait_{0}: mbarrier.try_wait.parity.shared.b64 %p31, [bar+{1}*8], {2}; @!%p31 bra wait_{0}",
        n, barrier, parity);
    text.replace(at, end + 1 - at, loop);
  }
}

inline std::string async_text(std::string_view body, const Grid& grid) {
  const std::string prelude =
      ".shared .align 128 .b8 cells[4096]; .shared .align 8 .b64 bar[8];\n"
      "mov.u32 %r1, %tid.x; mov.u32 %r2, cells; mov.u32 %r3, bar; shl.b32 %r4, %r1, 2;"
      "mul.wide.u32 %d1, %r1, 4; mov.u32 %r5, %ctaid.x; mov.u32 %r6, %ntid.x;"
      "mad.lo.u32 %r5, %r5, %r6, %r1; mul.wide.u32 %d2, %r5, 4; add.u64 %d1, %d1, %a0;"
      "add.u64 %d2, %d2, %a1; add.u32 %r4, %r4, %r2;\n";
  return kernel_text(prelude + with_waits(body), 2, grid.target, grid.version);
}

/// Runs a body with all checks that are on by default.
inline Done run_async(std::string_view body, const Grid& grid = {}) {
  TestRun test(async_text(body, grid));
  Done done;
  done.out.resize(kTestWords);
  done.findings = test.errors();
  if (!done.findings.empty()) return done;
  test.launch.block = {grid.threads};
  test.launch.grid = {grid.blocks};
  if (grid.cluster > 1) test.launch.cluster = Dim3{grid.cluster};
  std::vector<std::uint32_t> numbers(kTestWords);
  for (std::uint32_t i = 0; i < kTestWords; ++i) numbers[i] = i;
  test.input(numbers);
  test.output<std::uint32_t>(kTestWords);
  if (grid.also) test.options.checks.add(*grid.also);
  test.options.schedule = grid.schedule;
  test.options.late_tensor_loads = grid.late_tensor_loads;
  test.options.limits.instructions = grid.instructions;
  const LaunchReport& report = test.run();
  EXPECT_EQ(test.refusal(), "");
  return {test.findings(), report.reason, test.read<std::uint32_t>(1), report.outcome};
}

/// Runs it and expects no finding; gives the output.
inline std::vector<std::uint32_t> expect_fine(std::string_view body, const Grid& grid = {}) {
  const Done done = run_async(body, grid);
  EXPECT_EQ(done.findings, "") << body;
  EXPECT_EQ(done.outcome, Outcome::Finished) << done.reason << '\n' << body;
  return done.out;
}

/// Runs it and expects a finding of that check with that text in it.
inline Done expect_found(Check check, std::string_view text, std::string_view body,
                         const Grid& grid = {}) {
  Done done = run_async(body, grid);
  bool found = false;
  std::size_t at = 0;
  while (at < done.findings.size()) {
    const std::size_t end = done.findings.find('\n', at);
    const std::string line = done.findings.substr(at, end - at);
    found = found || (line.starts_with(name_of(check)) && line.find(text) != std::string::npos);
    at = end + 1;
  }
  EXPECT_TRUE(found) << "`" << name_of(check) << " … " << text << "` is not among\n"
                     << done.findings << done.reason << "\nof\n"
                     << body;
  return done;
}

}  // namespace ww::sim
