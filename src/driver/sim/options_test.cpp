// SPDX-License-Identifier: Apache-2.0
#include "driver/sim/options.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace ww::driver::sim_options_test {
namespace {

// "2 [BadArgument] text" of a refusal: where it points to, its kind, what it says.
template <typename T>
std::string refusal(const Result<T>& result) {
  if (result) return "accepted";
  const Diag& problem = result.error();
  return fmt::format("{}-{} [{}] {}", problem.span.begin, problem.span.end, name_of(problem.kind),
                     problem.text);
}

TEST(SimDims, OneToThreeNumbers) {
  EXPECT_EQ(*parse_dims("8"), (sim::Dim3{8, 1, 1}));
  EXPECT_EQ(*parse_dims("8,4"), (sim::Dim3{8, 4, 1}));
  EXPECT_EQ(*parse_dims(" 8, 4 ,2"), (sim::Dim3{8, 4, 2}));
  EXPECT_EQ(*parse_dims("0"), (sim::Dim3{0, 1, 1}));
  EXPECT_EQ(*parse_dims("2147483647"), (sim::Dim3{0x7FFF'FFFF, 1, 1}));
}

TEST(SimDims, AnythingElseIsRefusedAtItsPlace) {
  EXPECT_EQ(refusal(parse_dims("")), "0-0 [Syntax] expected `X`, `X,Y` or `X,Y,Z`, found ``");
  EXPECT_EQ(refusal(parse_dims("1,2,3,4")),
            "0-7 [Syntax] expected `X`, `X,Y` or `X,Y,Z`, found `1,2,3,4`");
  EXPECT_EQ(refusal(parse_dims("8,x")),
            "2-3 [BadArgument] `x` is not a whole number from 0 to 2147483647");
  EXPECT_EQ(refusal(parse_dims("8,-4")),
            "2-4 [BadArgument] `-4` is not a whole number from 0 to 2147483647");
  EXPECT_EQ(refusal(parse_dims("99999999999999999999")),
            "0-20 [BadArgument] `99999999999999999999` is not a whole number from 0 to 2147483647");
  EXPECT_EQ(refusal(parse_dims("8,,2")),
            "2-2 [BadArgument] `` is not a whole number from 0 to 2147483647");
}

TEST(SimDims, AreShownAsShortAsTheyGo) {
  EXPECT_EQ(dims_text({4, 1, 1}), "4");
  EXPECT_EQ(dims_text({4, 1, 2}), "4,1,2");
  EXPECT_EQ(block_text({4, 3, 2}, 4 * 3 + 5), "(1,1,1)");
}

TEST(SimLimits, HaveNamesAndSuffixes) {
  const auto limits = parse_limits("instructions=5M,seconds=0.5,memory=2G");
  ASSERT_TRUE(limits);
  EXPECT_EQ(limits->instructions, 5'000'000U);
  EXPECT_EQ(limits->seconds, 0.5);
  EXPECT_EQ(limits->memory, std::uint64_t{2} << 30U);
  EXPECT_EQ(parse_limits("memory=3k")->memory, 3072U);
  EXPECT_EQ(parse_limits("")->on(sim::Limits{}).instructions, sim::Limits{}.instructions);
  EXPECT_EQ(limits->on(sim::Limits{}).instructions, 5'000'000U);
}

TEST(SimLimits, AnythingElseIsRefusedAtItsPlace) {
  EXPECT_EQ(refusal(parse_limits("5M")), "0-2 [Syntax] expected `NAME=VALUE`, found `5M`");
  EXPECT_EQ(
      refusal(parse_limits("seconds=1,memroy=5")),
      "10-16 [UnknownName] `memroy` is not a limit; known limits: instructions, seconds, memory; "
      "did you mean `memory`?");
  EXPECT_EQ(refusal(parse_limits("memory=5T")),
            "7-9 [BadArgument] `5T` is not a whole number from 1 to 18446744073709551615");
  EXPECT_EQ(refusal(parse_limits("instructions=0")),
            "13-14 [BadArgument] `0` is not a whole number from 1 to 18446744073709551615");
  EXPECT_EQ(refusal(parse_limits("memory=18446744073709551615K")),
            "7-28 [Overflow] `18446744073709551615K` is beyond 64 bits");
  EXPECT_EQ(refusal(parse_limits("seconds=0")),
            "8-9 [BadArgument] `0` seconds; expected a number above 0");
  EXPECT_EQ(refusal(parse_limits("seconds=nan")),
            "8-11 [BadArgument] `nan` seconds; expected a number above 0");
  EXPECT_EQ(refusal(parse_limits("seconds=soon")), "8-12 [Syntax] `soon` is not a number");
}

TEST(SimSchedule, InTurnOrByChance) {
  for (const std::string_view text :
       {"rr", "reverse", "step", "random:7", "delay:4-7,12", "pct:3:500"})
    EXPECT_EQ(text_of(*parse_schedule(text)), text);
  EXPECT_EQ(text_of(*parse_schedule("random")), "random:0");
  EXPECT_EQ(text_of(*parse_schedule("pct:3")), "pct:3:10000");
  EXPECT_EQ(parse_schedule("random:18446744073709551615")->seed, ~std::uint64_t{0});
  EXPECT_EQ(refusal(parse_schedule("fair")),
            "0-4 [BadArgument] expected `rr`, `reverse`, `step`, `random:SEED`, `delay:WARPS` or "
            "`pct:SEED`, found "
            "`fair`");
  EXPECT_EQ(refusal(parse_schedule("random:x")),
            "7-8 [BadArgument] `x` is not a whole number from 0 to 18446744073709551615");
  EXPECT_EQ(refusal(parse_schedule("delay:5-4")),
            "8-9 [BadArgument] `4` is not a whole number from 5 to 2147483647");
  EXPECT_EQ(refusal(parse_schedule("pct:1:0")),
            "6-7 [BadArgument] `0` is not a whole number from 1 to 18446744073709551615");
}

TEST(SimTrace, NamesAWarp) {
  const sim::Dim3 grid{4, 2, 1};
  const sim::Dim3 block{100, 1, 1};
  EXPECT_TRUE(parse_trace("all", grid, block)->all_warps);
  EXPECT_TRUE(parse_trace("7:all", grid, block)->all_warps);
  EXPECT_EQ(parse_trace("7:all", grid, block)->block, 7U);
  EXPECT_EQ(parse_trace("3", grid, block)->warp, 3U);
  EXPECT_EQ(parse_trace("3", grid, block)->block, 0U);
  EXPECT_EQ(parse_trace("7:2", grid, block)->block, 7U);
  EXPECT_EQ(parse_trace("1,1,0:2", grid, block)->block, 5U);
  EXPECT_EQ(parse_trace("1,1:2", grid, block)->block, 5U);
}

TEST(SimTrace, TheWarpMustBeThere) {
  const sim::Dim3 grid{4, 2, 1};
  const sim::Dim3 block{100, 1, 1};
  EXPECT_EQ(refusal(parse_trace("4", grid, block)),
            "0-1 [OutOfBounds] there is no warp 4: a block of 100 has 4");
  EXPECT_EQ(refusal(parse_trace("8:0", grid, block)),
            "0-1 [OutOfBounds] there is no block 8 in a grid of 4,2,1");
  EXPECT_EQ(refusal(parse_trace("0,2,0:0", grid, block)),
            "0-5 [OutOfBounds] there is no block 0,2,0 in a grid of 4,2,1");
  EXPECT_EQ(refusal(parse_trace("1,1,1,1:0", grid, block)),
            "0-7 [Syntax] expected a block as a number or as `X,Y,Z`, found `1,1,1,1`");
  EXPECT_EQ(refusal(parse_trace("0:w", grid, block)),
            "2-3 [BadArgument] `w` is not a whole number from 0 to 18446744073709551615");
}

TEST(SimBreak, IsALineAndHowOften) {
  EXPECT_EQ(parse_break("12")->line, 12U);
  EXPECT_EQ(parse_break("12")->most, 1U);
  EXPECT_EQ(parse_break("12:5")->most, 5U);
  EXPECT_EQ(refusal(parse_break("0")),
            "0-1 [BadArgument] `0` is not a whole number from 1 to 2147483647");
  EXPECT_EQ(refusal(parse_break("3:0")),
            "2-3 [BadArgument] `0` is not a whole number from 1 to 18446744073709551615");
}

TEST(SimBreak, SomethingMustStandThere) {
  sim::Program program;
  program.infos.resize(2);
  program.infos[0].line = 10;
  program.infos[1].line = 14;
  EXPECT_TRUE(check_break(program, 14));
  const auto refused = check_break(program, 13);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().text, "no instruction of the kernel stands at line 13");
  EXPECT_EQ(refused.error().notes.at(0).text, "the nearest one is at line 14");
}

}  // namespace
}  // namespace ww::driver::sim_options_test
