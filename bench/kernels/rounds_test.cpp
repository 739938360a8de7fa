// SPDX-License-Identifier: Apache-2.0
#include "rounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ww::bench::rounds_test {
namespace {

using testing::ElementsAre;

TEST(Rounds, EverybodyHasATurnInEachAndTheFirstDoesNotCount) {
  std::string order;
  double now = 0;
  const auto competitor = [&](char name) {
    return Competitor{std::string(1, name), [&order, &now, name]() -> Result<double> {
                        order += name;
                        return ++now;
                      }};
  };
  const std::vector<Turns> turns = take_turns({competitor('a'), competitor('b')}, 3);
  EXPECT_EQ(order, "abababab");
  EXPECT_THAT(turns[0].seconds, ElementsAre(3, 5, 7));
  EXPECT_THAT(turns[1].seconds, ElementsAre(4, 6, 8));
  EXPECT_TRUE(turns[0].good());
}

TEST(Rounds, WhoFailsHasNoMoreTurns) {
  int asked = 0;
  const Competitor failing{"a", [&]() -> Result<double> {
                             if (++asked == 3) return fail(DiagKind::DeviceError, "it broke");
                             return 1.0;
                           }};
  int others = 0;
  const Competitor other{"b", [&]() -> Result<double> { return ++others; }};
  const std::vector<Turns> turns = take_turns({failing, other}, 5);
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(turns[0].failure, "it broke");
  EXPECT_FALSE(turns[0].good());
  EXPECT_EQ(turns[1].seconds.size(), 5U);
}

TEST(Rounds, CountByTheirMedian) {
  EXPECT_DOUBLE_EQ((Turns{.seconds = {5, 1, 2}}.median()), 2);
  EXPECT_DOUBLE_EQ((Turns{.seconds = {8, 1, 2, 4}}.median()), 3);
  EXPECT_DOUBLE_EQ((Turns{.seconds = {8, 1, 2, 4}}.fastest()), 1);
}

}  // namespace
}  // namespace ww::bench::rounds_test
