// SPDX-License-Identifier: Apache-2.0
// Names and blocks on random kernels: what the virtual GPU computes, from the text and from the text
// printed anew, against what tests/ptx/random_scopes.h works out.
#include <gtest/gtest.h>

#include <string>

#include "ptx/parser.h"
#include "ptx/printer.h"
#include "ptx/random_scopes.h"
#include "sim/test_run.h"

namespace ww::sim::scopes_test {
namespace {

using test::ScopeProgram;

constexpr std::uint64_t kPrograms = 4000;

// Registers that nothing has written are read here; they begin as 0.
std::uint32_t run(const std::string& text) {
  TestRun test(text);
  test.output<std::uint32_t>(1);
  test.options.checks = CheckSet::nothing();
  EXPECT_EQ(test.run().outcome, Outcome::Finished) << test.report().reason;
  return test.errors().empty() ? test.read<std::uint32_t>(0)[0] : 0;
}

TEST(RandomScopes, Results) {
  std::size_t differ_without_blocks = 0;
  for (std::uint64_t seed = 0; seed < kPrograms; ++seed) {
    const ScopeProgram program(seed);
    if (!program.is_legal()) continue;
    const std::string text = program.text();
    ASSERT_EQ(run(text), program.result()) << "seed " << seed << "\n" << text;
    ASSERT_EQ(run(ptx::print(ptx::parse(text).module)), program.result()) << "seed " << seed;
    if (program.result_without_blocks() != program.result()) ++differ_without_blocks;
  }
  // Enough in which a label of another block would make a difference.
  EXPECT_GT(differ_without_blocks, 50U);
}

}  // namespace
}  // namespace ww::sim::scopes_test
