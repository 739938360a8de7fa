// SPDX-License-Identifier: Apache-2.0
#include "base/check.h"

#include <gtest/gtest.h>

#include "base/result.h"

namespace ww::check_test {
namespace {

TEST(Check, AFailedPromiseThrowsWithPlaceAndFacts) {
  try {
    WW_CHECK(1 + 1 == 3, "sum is {}", 2);
    FAIL() << "nothing was thrown";
  } catch (const BugError& bug) {
    const std::string text = bug.what();
    EXPECT_NE(text.find("check_test.cpp"), std::string::npos);
    EXPECT_NE(text.find("1 + 1 == 3"), std::string::npos);
    EXPECT_NE(text.find("sum is 2"), std::string::npos);
  }
}

Result<int> half(int n) {
  if (n % 2 != 0) return fail(DiagKind::Indivisible, "{} is odd", n);
  return n / 2;
}

Result<int> quarter(int n) { return WW_TRY(half(WW_TRY(half(n)))); }

TEST(Result, TryPassesValuesOnAndFailuresUp) {
  EXPECT_EQ(*quarter(12), 3);
  ASSERT_FALSE(quarter(6));
  EXPECT_EQ(quarter(6).error().text, "3 is odd");
  EXPECT_EQ(quarter(6).error().kind, DiagKind::Indivisible);
}

}  // namespace
}  // namespace ww::check_test
