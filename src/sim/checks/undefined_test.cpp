// SPDX-License-Identifier: Apache-2.0
// Ops whose registers were all defined are not looked at again until a register is suspect anew:
// what becomes undefined later must still be found.
#include "sim/checks/undefined.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/test_run.h"

namespace ww::sim {
namespace {

// A loop whose load reads defined bytes but for one iteration, and whose guard depends on it. Every
// iteration makes another register undefined and defined again.
std::size_t findings_of(unsigned iterations, unsigned undefined_at) {
  TestRun run(fmt::format(R"(
  mov.u32 %r1, 0; mov.u64 %d1, %a0;
LOOP:
  setp.eq.u32 %p1, %r1, {}; selp.b64 %d1, %a1, %a0, %p1;
  ld.global.u32 %r5, [%a1]; mov.u32 %r5, 0;
  ld.global.u32 %r2, [%d1]; setp.eq.u32 %p2, %r2, 7; @%p2 mov.u32 %r4, 1;
  add.u32 %r1, %r1, 1; setp.lt.u32 %p3, %r1, {}; @%p3 bra LOOP;
)",
                          undefined_at, iterations),
              2);
  run.input(std::vector<std::uint32_t>{7});
  run.output<std::uint32_t>(1);
  run.options.checks.undefined_early = true;
  run.launch.block = {32};
  run.run();
  return run.count(Check::Uninit);
}

TEST(Undefined, IsFoundInAnOpThatWasFineBefore) {
  EXPECT_EQ(findings_of(3, 3), 0U);
  EXPECT_EQ(findings_of(3, 0), 1U);
  EXPECT_EQ(findings_of(3, 2), 1U);
}

// More suspicions than the count of them has numbers.
TEST(Undefined, IsFoundHoweverOftenOthersWere) {
  EXPECT_EQ(findings_of(600, 600), 0U);
  for (unsigned at = 250; at < 260; ++at) EXPECT_EQ(findings_of(at + 1, at), 1U) << at;
}

// A function of its own has registers of its own, at the same places of another frame.
TEST(Undefined, IsFoundInAFunctionThatWasFineBefore) {
  constexpr std::string_view kFunction = R"(
.func (.reg .b32 %o) f(.reg .b32 %x, .reg .b32 %y) {
  .reg .pred %p; .reg .b32 %t;
  add.u32 %t, %x, %y; setp.eq.u32 %p, %t, 7; @%p add.u32 %t, %t, 1; mov.u32 %o, %t; ret;
})";
  for (const bool is_undefined : {false, true}) {
    TestRun run(fmt::format(R"(
  ld.global.u32 %r2, [%a0]; ld.global.u32 %r3, [%a1];
  call (%r4), f, (%r2, %r2); call (%r5), f, (%r2, {});
)",
                            is_undefined ? "%r3" : "%r4"),
                2, "sm_90a", "8.8", kFunction);
    run.input(std::vector<std::uint32_t>{7});
    run.output<std::uint32_t>(1);
    run.options.checks.undefined_early = true;
    run.launch.block = {32};
    run.run();
    EXPECT_EQ(run.errors(), "");
    EXPECT_EQ(run.count(Check::Uninit), is_undefined ? 1U : 0U) << run.findings();
  }
}

}  // namespace
}  // namespace ww::sim
