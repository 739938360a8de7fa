// SPDX-License-Identifier: Apache-2.0
// Names and blocks on random kernels: the check's verdict against what tests/ptx/random_scopes.h works
// out, and, where ptxas is installed, against ptxas. tests/engines/sim_forms/scopes_test.cpp runs them.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "foreign/toolchain.h"
#include "ptx/check.h"
#include "ptx/parser.h"
#include "ptx/random_scopes.h"

namespace ww::scopes_test {
namespace {

using test::ScopeProgram;

constexpr std::uint64_t kPrograms = 4000;
constexpr std::uint64_t kAssembled = 120;

std::string first_error(const std::string& text) {
  const ptx::ParseResult parsed = ptx::parse(text);
  if (!parsed.ok()) return parsed.errors[0].text;
  const ptx::CheckResult checked = ptx::check(parsed.module);
  return checked.ok() ? "" : checked.errors[0].text;
}

TEST(RandomScopes, Verdicts) {
  std::size_t legal = 0;
  for (std::uint64_t seed = 0; seed < kPrograms; ++seed) {
    const ScopeProgram program(seed);
    const std::string text = program.text();
    ASSERT_EQ(first_error(text).empty(), program.is_legal())
        << "seed " << seed << ": " << program.problem() << "\n"
        << first_error(text) << "\n"
        << text;
    if (program.is_legal()) ++legal;
  }
  // Enough of both.
  EXPECT_GT(legal, kPrograms / 4);
  EXPECT_LT(legal, kPrograms * 3 / 4);
}

// A cubin holds no names of labels and registers: that of the text with a name for every
// declaration is the same, if ptxas takes the names for what the test does.
TEST(RandomScopes, AsPtxas) {
  const auto tools = corpus::Toolchain::find();
  if (!tools) GTEST_SKIP() << "no ptxas here";
  const corpus::TestFolder folder;
  const auto assembled = [&](const std::string& text) {
    std::ofstream(folder.path() / "m.ptx") << text;
    const corpus::Outcome outcome =
        tools->try_assemble(folder.path(), "m.ptx", "sm_90a", "m.cubin");
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
