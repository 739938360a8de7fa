// SPDX-License-Identifier: Apache-2.0
// Names and blocks on random kernels: the check's verdict and the virtual GPU's result against what
// tests/ptx/random_scopes.h works out, and, where ptxas is installed, against ptxas.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "corpus/toolchain.h"
#include "ptx/check.h"
#include "ptx/parser.h"
#include "ptx/printer.h"
#include "ptx/random_scopes.h"
#include "sim/test_run.h"

namespace ww::scopes_test {
namespace {

using test::ScopeProgram;

constexpr std::uint64_t kPrograms = 4000;
constexpr std::uint64_t kAssembled = 120;

// Registers that nothing has written are read here; they begin as 0.
std::uint32_t run(const std::string& text) {
  sim::TestRun test(text);
  test.output<std::uint32_t>(1);
  test.options.checks = sim::CheckSet::nothing();
  EXPECT_EQ(test.run().outcome, sim::Outcome::Finished) << test.report().reason;
  return test.errors().empty() ? test.read<std::uint32_t>(0)[0] : 0;
}

std::string first_error(const std::string& text) {
  const ptx::ParseResult parsed = ptx::parse(text);
  if (!parsed.ok()) return parsed.errors[0].text;
  const ptx::CheckResult checked = ptx::check(parsed.module);
  return checked.ok() ? "" : checked.errors[0].text;
}

TEST(RandomScopes, VerdictsAndResults) {
  std::size_t legal = 0;
  std::size_t differ_without_blocks = 0;
  for (std::uint64_t seed = 0; seed < kPrograms; ++seed) {
    const ScopeProgram program(seed);
    const std::string text = program.text();
    ASSERT_EQ(first_error(text).empty(), program.is_legal())
        << "seed " << seed << ": " << program.problem() << "\n"
        << first_error(text) << "\n"
        << text;
    if (!program.is_legal()) continue;
    ++legal;
    ASSERT_EQ(run(text), program.result()) << "seed " << seed << "\n" << text;
    ASSERT_EQ(run(ptx::print(ptx::parse(text).module)), program.result()) << "seed " << seed;
    if (program.result_without_blocks() != program.result()) ++differ_without_blocks;
  }
  // Enough of both, and enough in which a label of another block would make a difference.
  EXPECT_GT(legal, kPrograms / 4);
  EXPECT_LT(legal, kPrograms * 3 / 4);
  EXPECT_GT(differ_without_blocks, 50U);
}

// A cubin holds no names of labels and registers: that of the text with a name for every
// declaration is the same, if ptxas takes the names for what the test does.
TEST(RandomScopes, AsPtxas) {
  const auto tools = corpus::Toolchain::find();
  if (!tools) GTEST_SKIP() << "no ptxas here";
  const corpus::ScratchFolder folder;
  const auto assembled = [&](const std::string& text) {
    std::ofstream(folder.path() / "m.ptx") << text;
    const corpus::Outcome outcome = tools->assemble(folder.path(), "m.ptx", "sm_90a", "m.cubin");
    std::ostringstream cubin;
    if (outcome.status == 0) cubin << std::ifstream(folder.path() / "m.cubin").rdbuf();
    return cubin.str();
  };
  for (std::uint64_t seed = 0; seed < kAssembled; ++seed) {
    const ScopeProgram program(seed);
    const std::string cubin = assembled(program.text());
    EXPECT_EQ(!cubin.empty(), program.is_legal())
        << "seed " << seed << ": " << program.problem() << "\n"
        << program.text();
    if (!program.is_legal()) continue;
    EXPECT_TRUE(cubin == assembled(program.unambiguous_text())) << "seed " << seed << "\n"
                                                                << program.text();
  }
}

}  // namespace
}  // namespace ww::scopes_test
