// SPDX-License-Identifier: Apache-2.0
#include "driver/tune/space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ww::driver::tune_space_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> kernels(const SpaceRequest& request) {
  std::string errors;
  const auto space = TuneSpace::read(request, errors);
  EXPECT_TRUE(space.has_value()) << errors;
  std::vector<std::string> out;
  if (!space) return out;
  for (const Combination& each : space->combinations()) out.push_back(space->kernel(each));
  return out;
}

std::string errors_of(const SpaceRequest& request) {
  std::string errors;
  EXPECT_FALSE(TuneSpace::read(request, errors).has_value());
  return errors;
}

TEST(TuneSpace, TriesAllCombinationsInTheOrderOfTheOptions) {
  EXPECT_THAT(
      kernels({.kernel = "build(m=4, BM=?, stages = ? )[0]::k",
               .spaces = {"stages=2,3", "BM= 64 , 128"}}),
      ElementsAre("build(m=4, BM=64, stages = 2 )[0]::k", "build(m=4, BM=128, stages = 2 )[0]::k",
                  "build(m=4, BM=64, stages = 3 )[0]::k", "build(m=4, BM=128, stages = 3 )[0]::k"));
}

TEST(TuneSpace, ANameMayHaveSeveralGaps) {
  EXPECT_THAT(kernels({.kernel = "f(g(t=?), t=?)", .spaces = {"t=1,2"}}),
              ElementsAre("f(g(t=1), t=1)", "f(g(t=2), t=2)"));
}

// Commas inside of brackets and texts part nothing, and a `?` inside of a text is no gap.
TEST(TuneSpace, ValuesAreHostExpressions) {
  EXPECT_THAT(
      kernels({.kernel = "f(s='x=?', v=?)",
               .spaces = {R"(v=(1, 2),"a,b",'\',',True,1 << 4,[3, (4, 5)])"}}),
      ElementsAre("f(s='x=?', v=(1, 2))", "f(s='x=?', v=\"a,b\")", R"(f(s='x=?', v='\','))",
                  "f(s='x=?', v=True)", "f(s='x=?', v=1 << 4)", "f(s='x=?', v=[3, (4, 5)])"));
}

TEST(TuneSpace, RangesMultiplyOrCount) {
  EXPECT_THAT(kernels({.kernel = "f(v=?)", .spaces = {"v=64..256*2,1..3,4..10+5"}}),
              ElementsAre("f(v=64)", "f(v=128)", "f(v=256)", "f(v=1)", "f(v=2)", "f(v=3)", "f(v=4)",
                          "f(v=9)"));
}

TEST(TuneSpace, WhereLeavesCombinationsOut) {
  const SpaceRequest request{.kernel = "f(a=?, b=?)",
                             .spaces = {"a=1..3", "b=1..3"},
                             .wheres = {"a <= b", "a * b % 2 == 0"}};
  EXPECT_THAT(kernels(request), ElementsAre("f(a=1, b=2)", "f(a=2, b=2)", "f(a=2, b=3)"));
  std::string errors;
  EXPECT_EQ(TuneSpace::read(request, errors)->left_out(), 6U);
}

TEST(TuneSpace, RefusesWithAPlaceInTheOption) {
  struct Row {
    SpaceRequest request;
    std::string text;
  };
  const std::vector<Row> rows = {
      {{.kernel = ""}, "`--kernel` is missing"},
      {{.kernel = "build(4)"}, "`--kernel` has no `?`"},
      {{.kernel = "build(?)"}, "--kernel:1:7: error: `?` is not the value of a keyword"},
      {{.kernel = "?"}, "--kernel:1:1: error: `?` is not the value of a keyword"},
      {{.kernel = "f(a==?)"}, "--kernel:1:6: error: `?` is not the value of a keyword"},
      {{.kernel = "f(4=?)"}, "--kernel:1:4: error: found `=`, expected `,` or `)`"},
      {{.kernel = "f(a=?"}, "--kernel:1:6: error: found the end of the text, expected `)`"},
      {{.kernel = "@best.json"},
       "--kernel:1:1: error: `@best.json` is a file: expected an expression with `?`"},
      {{.kernel = "@b?.json"}, "`@b?.json` is a file"},
      {{.kernel = "f(a=? * 2)"}, "--kernel:1:5: error: `?` is only a part of the value of `a`"},
      {{.kernel = "f(a=?)"}, "--kernel:1:3: error: `a=?` has no values"},
      {{.kernel = "f(a=?)", .spaces = {"a"}}, "--space:1:1: error: found `a`, expected `NAME="},
      {{.kernel = "f(BM=?)", .spaces = {"BMM=1"}},
       "--space:1:1: error: no `BMM=?` in the kernel expression; did you mean `BM`?"},
      {{.kernel = "f(a=?)", .spaces = {"a=1", "a=2"}},
       "--space:1:1: error: `a` has got its values already"},
      {{.kernel = "f(a=?)", .spaces = {"a=1,,2"}}, "--space:1:5: error: a value is missing"},
      {{.kernel = "f(a=?)", .spaces = {"a=1,"}}, "--space:1:5: error: a value is missing"},
      {{.kernel = "f(a=?)", .spaces = {"a=8, 4 +"}}, "--space:1:9: error: "},
      {{.kernel = "f(a=?)", .spaces = {"a=8, x"}}, "--space:1:6: error: "},
      {{.kernel = "f(a=?)", .spaces = {"a=1#,2"}}, "--space:1:4: error: a value with a comment"},
      {{.kernel = "f(a=?)", .spaces = {"a=4,8,2*2"}},
       "--space:1:7: error: `2*2` is there twice, first as `4`"},
      {{.kernel = "f(a=?)", .spaces = {"a=4,4"}}, "--space:1:5: error: `4` is there twice [Bad"},
      {{.kernel = "f(a=?)", .spaces = {"a=8..4"}}, "the range from 8 to 4 is empty"},
      {{.kernel = "f(a=?)", .spaces = {"a=2,1.."}}, "--space:1:5: error: `1..` is not a range"},
      {{.kernel = "f(a=?)", .spaces = {"a=..4"}}, "`..4` is not a range"},
      {{.kernel = "f(a=?)", .spaces = {"a=1..8-1"}}, "`1..8-1` is not a range"},
      {{.kernel = "f(a=?)", .spaces = {"a=1.0..2.0"}}, "`1.0..2.0` is not a range"},
      {{.kernel = "f(a=?)", .spaces = {"a=1..9999999999999999999"}}, "in whole numbers of 64 bits"},
      {{.kernel = "f(a=?)", .spaces = {"a=2..8+"}}, "`2..8+` is not a range"},
      {{.kernel = "f(a=?)", .spaces = {"a=2..8+0"}}, "never ends there"},
      {{.kernel = "f(a=?)", .spaces = {"a=1..8*1"}}, "never ends there"},
      {{.kernel = "f(a=?)", .spaces = {"a=0..8*2"}}, "never ends there"},
      {{.kernel = "f(a=?)", .spaces = {"a=1..100000"}}, "more than 10000 values"},
      {{.kernel = "f(a=?, b=?)", .spaces = {"a=1..200", "b=1..200"}}, "more than 10000 comb"},
      {{.kernel = "f(a=?)", .spaces = {"a=1,2"}, .wheres = {"a > 2"}},
       "`--where` leaves none of 2 combinations"},
      {{.kernel = "f(a=?)", .spaces = {"a=1"}, .wheres = {"a > 2"}},
       "`--where` leaves none of 1 combination ["},
      {{.kernel = "f(a=?)", .spaces = {"a=1,2"}, .wheres = {"a + 1"}},
       "--where:1:1: error: the condition gives neither True nor False"},
      {{.kernel = "f(a=?)", .spaces = {"a=1,2"}, .wheres = {"a > b"}}, "--where:1:5: error: "},
      {{.kernel = "f(a=?)", .spaces = {"a=1,0"}, .wheres = {"4 // a > 1"}}, "with a=0"}};
  for (const Row& row : rows) EXPECT_THAT(errors_of(row.request), HasSubstr(row.text));
}

TEST(TuneSpace, DotsInsideOfATextAreNoRange) {
  EXPECT_THAT(kernels({.kernel = "f(a=?)", .spaces = {"a=\"1..4\""}}),
              ElementsAre("f(a=\"1..4\")"));
}

// A condition that is none says so whatever the values are, and without them.
TEST(TuneSpace, ReadsConditionsBeforeValues) {
  EXPECT_EQ(errors_of({.kernel = "f(a=?)", .spaces = {"a=64"}, .wheres = {"a +", "a < 128"}}),
            "--where:1:4: error: found the end of the text, expected an expression [Syntax]\n"
            "    a +\n"
            "       ^\n");
}

// Both ends of a slip are named, each once.
TEST(TuneSpace, NamesTheGapAndTheOption) {
  const std::string errors = errors_of({.kernel = "f(BM=?, BN=?)", .spaces = {"BM=64", "Bn=x"}});
  EXPECT_THAT(errors, HasSubstr("no `Bn=?` in the kernel expression; did you mean `BN`?"));
  EXPECT_THAT(errors, HasSubstr("`BN=?` has no values"));
  EXPECT_THAT(errors, testing::Not(HasSubstr("`BM=?`")));
}

}  // namespace
}  // namespace ww::driver::tune_space_test
