// SPDX-License-Identifier: Apache-2.0
#include "base/stable_vec.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

namespace ww::stable_vec_test {
namespace {

constexpr int kMany = 10'000;

StableVec<std::string> numbers(int count) {
  StableVec<std::string> out;
  for (int i = 0; i < count; ++i) out.push_back(std::to_string(i));
  return out;
}

using Texts = std::vector<std::string>;
Texts listed(const StableVec<std::string>& all) { return {all.begin(), all.end()}; }

TEST(StableVec, BeginsEmpty) {
  const StableVec<int> none;
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none.size(), 0U);
  EXPECT_EQ(none.begin(), none.end());
}

TEST(StableVec, ReferencesSurviveManyAdditions) {
  StableVec<std::string> all;
  std::vector<const std::string*> places;
  for (int i = 0; i < kMany; ++i) places.push_back(&all.push_back(std::to_string(i)));
  for (int i = 0; i < kMany; ++i) {
    const auto at = static_cast<std::size_t>(i);
    ASSERT_EQ(&all[at], places[at]);
    ASSERT_EQ(*places[at], std::to_string(i));
  }
}

TEST(StableVec, MovingTakesReferencesAlong) {
  StableVec<std::string> first = numbers(kMany);
  const std::string& element = first[17];
  StableVec<std::string> second = std::move(first);
  EXPECT_EQ(&second[17], &element);
  EXPECT_TRUE(first.empty());  // NOLINT(bugprone-use-after-move): it is specified
  first.push_back("again");
  EXPECT_EQ(listed(first), (Texts{"again"}));
}

TEST(StableVec, CopiesAreApartAndGrowWithoutMoving) {
  const StableVec<std::string> first = numbers(5);
  StableVec<std::string> second = first;
  const std::string& last = second.back();
  for (int i = 0; i < kMany; ++i) second.push_back("more");
  EXPECT_EQ(&second[4], &last);
  EXPECT_EQ(last, "4");
  EXPECT_EQ(first.size(), 5U);
  second[0] = "changed";
  EXPECT_EQ(first[0], "0");
}

TEST(StableVec, AssignmentReplacesAll) {
  StableVec<std::string> all = numbers(kMany);
  all = numbers(3);
  EXPECT_EQ(listed(all), (Texts{"0", "1", "2"}));
  const StableVec<std::string>& same = all;
  all = same;
  EXPECT_EQ(listed(all), (Texts{"0", "1", "2"}));
}

TEST(StableVec, IsARangeAcrossChunks) {
  StableVec<int> all;
  for (int i = 0; i < kMany; ++i) all.push_back(i);
  EXPECT_EQ(std::accumulate(all.begin(), all.end(), 0), kMany / 2 * (kMany - 1));
  EXPECT_TRUE(std::ranges::is_sorted(all));
  for (int& each : all) each = 1;
  EXPECT_EQ(std::ranges::count(all, 1), kMany);
}

TEST(StableVec, HoldsWhatCannotBeCopied) {
  StableVec<std::unique_ptr<int>> all;
  all.push_back(std::make_unique<int>(3));
  EXPECT_EQ(*all.back(), 3);
}

}  // namespace
}  // namespace ww::stable_vec_test
