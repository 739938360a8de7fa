// SPDX-License-Identifier: Apache-2.0
// For tests of the order between threads: a kernel that must race, or not, whichever warp and block
// comes first.
//
//   %r1  tid.x      %a0  64 words of data, zero     %p1  this is block 0
//   %r2  ctaid.x    %a1  64 flags, zero             %p2  this is thread 0
//   %r3  shared address of cells[tid]               %d1, %d2, %d3  &data[tid], &flags[tid],
//   &out[tid] %a2  256 words of output, undefined cells  4096 bytes of shared memory; bar  8
//   mbarriers
//
// One instruction to a line, so that findings can be told apart by the text of their lines.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "sim/test_run.h"

namespace ww::sim {

struct OrderLaunch {
  unsigned blocks = 2, threads = 32, cluster = 1;
  std::string_view target = "sm_90a";
  unsigned schedules = 8;  // the first is one warp after the other, the rest are random
};

inline std::string order_text(std::string_view body, std::string_view target) {
  constexpr std::string_view kPrelude =
      ".shared .align 128 .b8 cells[4096]; .shared .align 8 .b64 bar[8];\n"
      "mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; setp.eq.u32 %p1, %r2, 0;"
      "setp.eq.u32 %p2, %r1, 0; shl.b32 %r3, %r1, 2; mul.wide.u32 %d4, %r1, 4;"
      "add.u64 %d1, %a0, %d4; add.u64 %d2, %a1, %d4; add.u64 %d3, %a2, %d4;"
      "mov.u32 %r4, cells; add.u32 %r3, %r3, %r4;\n";
  return kernel_text(std::string(kPrelude) + std::string(body), 3, target);
}

/// A finding: its check, its text and the text of the lines of both parties.
struct OrderFinding {
  Check check{};
  std::string text, line, other;
};

struct OrderRun {
  std::string name;  // of the schedule
  Outcome outcome = Outcome::Finished;
  std::vector<OrderFinding> findings;
  std::vector<std::uint32_t> out;

  [[nodiscard]] std::string text() const {
    std::string all = name + ": " + std::string(name_of(outcome)) + "\n";
    for (const OrderFinding& f : findings) {
      all += fmt::format("  {}: {}\n    {}\n    {}\n", name_of(f.check), f.text, f.line, f.other);
    }
    return all;
  }
};

/// Runs a body in several schedules.
inline std::vector<OrderRun> run_orders(std::string_view body, const OrderLaunch& launch) {
  std::vector<OrderRun> runs;
  for (std::uint64_t seed = 0; seed < launch.schedules; ++seed) {
    TestRun test(order_text(body, launch.target));
    if (!test.errors().empty()) {
      ADD_FAILURE() << test.errors();
      return runs;
    }
    test.launch.block = {launch.threads};
    test.launch.grid = {launch.blocks};
    if (launch.cluster > 1) test.launch.cluster = Dim3{launch.cluster};
    test.input(std::vector<std::uint32_t>(64)).input(std::vector<std::uint32_t>(64));
    test.output<std::uint32_t>(256);
    if (seed != 0) test.options.schedule = Schedule::random(seed);
    test.options.limits.instructions = 1'000'000;
    OrderRun run;
    run.name = seed == 0 ? "rr" : fmt::format("random:{}", seed);
    const LaunchReport& report = test.run();
    EXPECT_EQ(test.refusal(), "");
    run.outcome = report.outcome;
    run.out = test.read<std::uint32_t>(2);
    const auto line = [&](const Party& party) {
      return party.op == kNoOp
                 ? std::string()
                 : std::string(test.program().line(test.program().infos[party.op].line));
    };
    for (const Finding& f : report.findings.list())
      run.findings.push_back({f.check, f.text, line(f.who), line(f.other)});
    runs.push_back(std::move(run));
  }
  return runs;
}

/// No finding in any schedule; gives the output of the first.
inline std::vector<std::uint32_t> expect_ordered(std::string_view body,
                                                 const OrderLaunch& launch = {}) {
  const std::vector<OrderRun> runs = run_orders(body, launch);
  for (const OrderRun& run : runs) {
    EXPECT_TRUE(run.findings.empty()) << run.text() << body;
    EXPECT_EQ(run.outcome, Outcome::Finished) << run.text() << body;
  }
  return runs.empty() ? std::vector<std::uint32_t>(256) : runs.front().out;
}

/// In every schedule a finding of that check, between lines with these texts (in either order; an
/// empty one: no other party) and with `text` in its own.
inline void expect_disorder(std::string_view body, std::string_view one, std::string_view other,
                            const OrderLaunch& launch = {}, Check check = Check::Race,
                            std::string_view text = "") {
  for (const OrderRun& run : run_orders(body, launch)) {
    bool found = false;
    const auto has = [](const std::string& line, std::string_view part) {
      return part.empty() ? line.empty() : line.find(part) != std::string::npos;
    };
    for (const OrderFinding& f : run.findings) {
      const bool lines =
          (has(f.line, one) && has(f.other, other)) || (has(f.line, other) && has(f.other, one));
      found = found || (f.check == check && lines && f.text.find(text) != std::string::npos);
    }
    EXPECT_TRUE(found) << "no `" << name_of(check) << " … " << text << "` between `" << one
                       << "` and `" << other << "` in\n"
                       << run.text() << body;
  }
}

}  // namespace ww::sim
