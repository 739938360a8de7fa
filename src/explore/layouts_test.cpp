// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "explore/calls.h"

namespace ww::explore::layouts_test {
namespace {

using Lines = std::vector<std::string>;

// `=a`, `-b`, `+c`: the rows of a comparison, which must give both texts back.
std::string diff(const Lines& left, const Lines& right) {
  Session session({});
  const auto answer = call_diff(session, {{"left", left}, {"right", right}});
  EXPECT_TRUE(answer);
  std::string out;
  std::size_t l = 0, r = 0;
  for (const Json& row : (*answer)["rows"]) {
    const auto a = row[0].get<std::uint64_t>(), b = row[1].get<std::uint64_t>();
    const auto same = row[2].get<bool>();
    EXPECT_TRUE(a == 0 || a == ++l);
    EXPECT_TRUE(b == 0 || b == ++r);
    EXPECT_EQ(same, a != 0 && b != 0);
    if (same) {
      EXPECT_EQ(left[a - 1], right[b - 1]);
    }
    out += same ? "=" + left[a - 1] : a != 0 ? "-" + left[a - 1] : "+" + right[b - 1];
  }
  EXPECT_EQ(l, left.size());
  EXPECT_EQ(r, right.size());
  return out;
}

TEST(Diff, ShowsWhatWasTakenAndWhatWasAdded) {
  EXPECT_EQ(diff({"a", "b", "c"}, {"a", "b", "c"}), "=a=b=c");
  EXPECT_EQ(diff({"a", "b", "c"}, {"a", "x", "c", "d"}), "=a-b+x=c+d");
  EXPECT_EQ(diff({}, {"a"}), "+a");
  EXPECT_EQ(diff({"a"}, {}), "-a");
  EXPECT_EQ(diff({}, {}), "");
  EXPECT_EQ(diff({"a", "a"}, {"a"}), "=a-a");
}

TEST(Diff, GivesBothTextsBack) {
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) {
    const auto text = [&] {
      Lines lines(random() % 12);
      for (std::string& line : lines) line = std::string(1, static_cast<char>('a' + random() % 3));
      return lines;
    };
    diff(text(), text());
  }
}

TEST(Diff, RefusesTextsThatAreTooLong) {
  Session session({});
  const Lines lines(20'001, "x");
  const auto answer = call_diff(session, {{"left", lines}, {"right", Lines{}}});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().text, "texts of 20001 and 0 lines; at most 20000 are compared");
}

TEST(Layout, AnswersOrSaysWhyNot) {
  Session session({});
  const auto good =
      call_layout(session, {{"notation", "S[(2,2):(2,1)]"}, {"ops", Json::array({"inverse"})}});
  ASSERT_TRUE(good);
  EXPECT_EQ(Json::parse(good->dump()).value()["layout"]["size"], 4);
  EXPECT_TRUE((*good)["error"].is_null());
  const auto bad = call_layout(session, {{"notation", "S[("}});
  ASSERT_TRUE(bad);
  EXPECT_TRUE((*bad)["layout"].is_null());
  EXPECT_NE((*bad)["error"].get<std::string>().find("error"), std::string::npos);
}

}  // namespace
}  // namespace ww::explore::layouts_test
