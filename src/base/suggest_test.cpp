// SPDX-License-Identifier: Apache-2.0
#include "base/suggest.h"

#include <gtest/gtest.h>

#include <array>

namespace ww::suggest_test {
namespace {

constexpr std::array<std::string_view, 5> kAxes = {"laneid", "warpid", "wgid", "TLane", "m"};

TEST(Nearest, FindsSlipsOfTheKeyboard) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"landid", "laneid"}, {"lanid", "laneid"}, {"laenid", "laneid"}, {"LANEID", "laneid"},
      {"warpd", "warpid"},  {"tlane", "TLane"},  {"wgidd", "wgid"}};
  for (const auto& [typed, meant] : cases)
    EXPECT_EQ(nearest(typed, kAxes), std::string(meant)) << typed;
}

TEST(Nearest, StaysSilentWhenNothingIsNear) {
  EXPECT_EQ(nearest("banana", kAxes), std::nullopt);
  EXPECT_EQ(nearest("", kAxes), std::nullopt);
  EXPECT_EQ(nearest(std::string(5000, 'x'), kAxes), std::nullopt);
}

TEST(Nearest, WordsTheSuggestion) {
  EXPECT_EQ(did_you_mean("landid", kAxes), "; did you mean `laneid`?");
  EXPECT_EQ(did_you_mean("banana", kAxes), "");
}

}  // namespace
}  // namespace ww::suggest_test
