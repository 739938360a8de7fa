// SPDX-License-Identifier: Apache-2.0
// `stage=True`: the copies that a gemm call asks for, their fragments, and what is declined.
#include <gtest/gtest.h>

#include "lower/gemm/test_calls.h"
#include "lower/lower.h"

namespace ww::lower::gemm_stage_test {
namespace {

using ir::Scope;
using ir::Setting;
using test::Builder;
using test::GemmCase;
using test::TileArg;

GemmCase staged(int m, int n, int groups, int e) {
  GemmCase c = GemmCase::natural(m, n, groups, e);
  c.a_scope = c.b_scope = Scope::Shared;
  c.a = c.b = "";
  c.config = {{"stage", Setting(true)}};
  return c;
}

TEST(GemmStage, CopiesAndGemm) {
  const auto lowered = lower(test::function_of(staged(2, 2, 4, 2)), {});
  ASSERT_TRUE(lowered.errors.empty()) << lowered.errors[0].text;
  ASSERT_EQ(lowered.report.calls.size(), 3U);
  EXPECT_EQ(lowered.report.calls[0].chosen, "ldstmatrix");
  EXPECT_EQ(lowered.report.calls[0].operands[0].region, "A_frag");
  EXPECT_EQ(lowered.report.calls[1].chosen, "ldstmatrix");
  EXPECT_EQ(lowered.report.calls[2].chosen, "mma");
  EXPECT_EQ(lowered.report.calls[2].plan.tiling, "2 x 2 x 2 tiles of m16n8k16");
}

// Both factors from one buffer are told apart.
TEST(GemmStage, NamesOfFragments) {
  GemmCase c = staged(1, 2, 2, 2);
  c.turns_b = true;
  c.edit = [](Builder&, std::vector<TileArg>& args) { args[2] = args[1]; };
  const auto lowered = lower(test::function_of(c), {});
  ASSERT_TRUE(lowered.errors.empty()) << lowered.errors[0].text;
  ASSERT_EQ(lowered.report.calls.size(), 3U);
  EXPECT_EQ(lowered.report.calls[0].operands[0].region, "A_frag_A");
  EXPECT_EQ(lowered.report.calls[1].operands[0].region, "A_frag_B");
}

TEST(GemmStage, OneFactorOnly) {
  GemmCase c = staged(1, 2, 2, 2);
  c.b_scope = Scope::Local;
  c.b = test::b_frag(2, 2);
  const auto lowered = lower(test::function_of(c), {});
  ASSERT_TRUE(lowered.errors.empty()) << lowered.errors[0].text;
  ASSERT_EQ(lowered.report.calls.size(), 2U);
  EXPECT_EQ(lowered.report.calls[1].plan.tiling, "1 x 2 x 1 tiles of m16n8k16");
}

TEST(GemmStage, WarpsGetCopiesOfTheirOwn) {
  GemmCase c = GemmCase::over_warps();
  c.a_scope = c.b_scope = Scope::Shared;
  c.a = c.b = "";
  c.config = {{"stage", Setting(true)}};
  const auto lowered = lower(test::function_of(c), {});
  ASSERT_TRUE(lowered.errors.empty()) << lowered.errors[0].text;
  ASSERT_EQ(lowered.report.calls.size(), 3U);
  EXPECT_EQ(lowered.report.calls[2].plan.tiling, "1 x 1 x 1 tiles of m16n8k16");
}

TEST(GemmStage, Declines) {
  GemmCase c = staged(1, 1, 2, 2);
  c.d = "S[(16,2,4):(2@laneid,1@laneid,1)]";
  auto lowered = lower(test::function_of(c), {});
  ASSERT_EQ(lowered.errors.size(), 1U);
  EXPECT_EQ(lowered.errors[0].text, "no variant of `gemm` accepts this call for `sm_90a`");
  ASSERT_EQ(lowered.errors[0].notes.size(), 2U);  // wgmma is asked, too
  EXPECT_EQ(lowered.errors[0].notes[0].text.substr(0, 30), "mma: register 0 of lane 2 has ");
  c = staged(1, 1, 2, 2);
  c.d_scope = Scope::Shared;
  c.d = "";
  lowered = lower(test::function_of(c), {});
  ASSERT_EQ(lowered.errors.size(), 1U);
  EXPECT_EQ(lowered.errors[0].notes[0].text,
            "mma: gemm mma requires D in register (local) scope, got shared [declined: scope]");
  c = staged(1, 1, 2, 2);
  c.a_shape = {16, 20};
  c.b_shape = {20, 8};
  lowered = lower(test::function_of(c), {});
  ASSERT_EQ(lowered.errors.size(), 1U);
  EXPECT_EQ(lowered.errors[0].notes[0].text,
            "mma: M is 16, N is 8, K is 20; mma.sync of float16 takes M by 16, N by 8, K by 8 "
            "[declined: shape]");
}

}  // namespace
}  // namespace ww::lower::gemm_stage_test
