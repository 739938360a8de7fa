// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "corpus/toolchain.h"
#include "soak/workers.h"

namespace ww::test {
namespace {

SoakPlan small_plan(const std::filesystem::path& folder) {
  SoakPlan plan;
  plan.seed = 20260101;
  plan.programs = 120;
  plan.workers = 2;
  plan.finds = folder;
  plan.shows_progress = false;
  return plan;
}

TEST(Soak, ProgramsAgreeOnAllEngines) {
  const corpus::ScratchFolder folder;
  const SoakResult result = soak(small_plan(folder.path()));
  fmt::print("{}", table_of(result.tally));
  EXPECT_EQ(result.finds, 0U);
  EXPECT_EQ(result.tally.at("programs"), 120U);
  // The generator should not lose sight of what it is for.
  for (const char* name :
       {"primitive: copy reg", "primitive: copy gmem_smem", "primitive: copy_async ldgsts",
        "primitive: gemm mma", "primitive: copy ldstmatrix", "primitive: add reg"})
    EXPECT_TRUE(result.tally.contains(name)) << name;
  EXPECT_GT(result.tally.at("engine: virtual GPU, PTX") * 10, 120U * 7);
}

// A wrong instruction in the PTX is a find, and a smaller program has it as well.
TEST(Soak, NoticesWrongCode) {
  std::size_t finds = 0;
  for (std::uint64_t number = 0; number < 40 && finds == 0; ++number) {
    const Choices choices = whole_choices(7, number);
    const Examined right = examine(choices);
    if (right.is_find || right.checked.ptx.find("ld.global.v4.b32") == std::string::npos) continue;
    const std::size_t at = right.checked.ptx.find("ld.global");
    const std::string text = right.checked.ptx.substr(at, right.checked.ptx.find(']', at) - at);
    const Examined wrong = examine(choices, {{text + "]", text + "+4]"}});
    finds += wrong.is_find ? 1 : 0;
  }
  EXPECT_EQ(finds, 1U);
}

TEST(Soak, WritesWhatItFound) {
  const Choices choices = whole_choices(7, 3);
  const std::string text = file_of(choices, "soak --seed 7 --number 3");
  EXPECT_EQ(text.find("# soak --seed 7 --number 3\n# target sm_"), 0U) << text;
  EXPECT_NE(text.find("@T.prim_func"), std::string::npos);
}

TEST(Soak, ProgramsAreTheSameEveryTime) {
  for (std::uint64_t number = 0; number < 20; ++number)
    EXPECT_EQ(whole_program(whole_choices(5, number)).program.source,
              whole_program(whole_choices(5, number)).program.source);
}

}  // namespace
}  // namespace ww::test
