// SPDX-License-Identifier: Apache-2.0
#include "base/join.h"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <vector>

namespace ww::join_test {
namespace {

TEST(Join, PutsTheSeparatorBetweenItems) {
  EXPECT_EQ(join(std::vector<std::string>{"a", "b", "c"}, ", "), "a, b, c");
  EXPECT_EQ(join(std::set<std::string_view>{"b", "a"}, " or "), "a or b");
  EXPECT_EQ(join(std::array{"one"}, ", "), "one");
  EXPECT_EQ(join(std::vector<std::string>{}, ", "), "");
}

TEST(Join, KeepsEmptyItems) {
  EXPECT_EQ(join(std::vector<std::string>{"", "", "x", ""}, ","), ",,x,");
}

TEST(Join, WritesNumbersInFull) {
  EXPECT_EQ(join(std::vector<std::int64_t>{INT64_MIN, -1, 0, INT64_MAX}, " "),
            "-9223372036854775808 -1 0 9223372036854775807");
  EXPECT_EQ(join(std::array<std::uint64_t, 2>{0, UINT64_MAX}, "x"), "0x18446744073709551615");
  EXPECT_EQ(join(std::vector<int>{-3, 4}, ","), "-3,4");
  EXPECT_EQ(join(std::vector<unsigned>{3U, 4U}, ","), "3,4");
}

}  // namespace
}  // namespace ww::join_test
