// SPDX-License-Identifier: Apache-2.0
// Our TEST, EXPECT_EQ and ASSERT_EQ say what GoogleTest's say.
#include "harness/lean_gtest.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>

namespace ww::coverage::lean_gtest_test {
namespace {

std::string said(const testing::AssertionResult& result) {
  return result ? "equal" : result.message();
}

template <typename A>
void expect_same_message(const A& a) {
  const std::string ours = said(test::Equal::compare("a", "b", a, "one\ntwo\n"));
  EXPECT_EQ(ours, said(testing::internal::EqHelper::Compare("a", "b", a, "one\ntwo\n")));
}

TEST(LeanGtest, DifferencesAreSeen) {
  EXPECT_NONFATAL_FAILURE(EXPECT_EQ(std::string("ab"), "abc"), "\"ab\"");
  EXPECT_NONFATAL_FAILURE(EXPECT_EQ(std::optional<std::string>("ab"), "abc"), "ab");
  EXPECT_NONFATAL_FAILURE(EXPECT_EQ(1, 2), "1");
  // GoogleTest's has the address of the literal here.
  EXPECT_FATAL_FAILURE(ASSERT_EQ(std::string_view("ab"), "abc"), "\"ab\"");
}

TEST(LeanGtest, MessagesAreGoogleTests) {
  for (const std::string text : {"one\ntwo\n", "one\nthree\n", ""}) {
    expect_same_message(text);
    expect_same_message(std::optional<std::string>(text));
  }
}

TEST(LeanGtest, CasesHaveNamesAndPlaces) {
  const int above = __LINE__ - 1;
  const testing::TestInfo* const test = testing::UnitTest::GetInstance()->current_test_info();
  EXPECT_STREQ(test->test_suite_name(), "LeanGtest");
  EXPECT_STREQ(test->name(), "CasesHaveNamesAndPlaces");
  EXPECT_TRUE(std::string_view(test->file()).ends_with("lean_gtest_test.cpp"));
  EXPECT_EQ(test->line(), above);
}

}  // namespace
}  // namespace ww::coverage::lean_gtest_test
