// SPDX-License-Identifier: Apache-2.0
#include "json/json.h"

#include <gtest/gtest.h>

namespace ww {
namespace {

std::string integer_text(const Json& value) {
  const Result<std::int64_t> read = integer_in(value, "n");
  return read ? std::to_string(*read) : read.error().text;
}

TEST(JsonFields, AreReadAsTheirType) {
  EXPECT_EQ(text_in("a", "t").value(), "a");
  EXPECT_EQ(integer_text(7), "7");
  EXPECT_EQ(integer_text(INT64_MIN), "-9223372036854775808");
  EXPECT_EQ(integer_text(INT64_MAX), "9223372036854775807");
}

TEST(JsonFields, OfAnotherTypeAreNamed) {
  EXPECT_EQ(text_in(1, "t").error().text, "`t` is a JSON number, expected a text");
  EXPECT_EQ(integer_text("1"), "`n` is a JSON string, expected a whole number");
  EXPECT_EQ(integer_text(1.0), "`n` is 1.0, expected a whole number");
  EXPECT_EQ(integer_text(nullptr), "`n` is a JSON null, expected a whole number");
}

TEST(JsonFields, OfMoreThan63BitsAreShownWithTheLimit) {
  EXPECT_EQ(integer_text(std::uint64_t{INT64_MAX} + 1),
            "`n` is 9223372036854775808, expected at most 9223372036854775807");
  EXPECT_EQ(integer_text(UINT64_MAX),
            "`n` is 18446744073709551615, expected at most 9223372036854775807");
}

}  // namespace
}  // namespace ww
