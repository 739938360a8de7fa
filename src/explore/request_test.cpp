// SPDX-License-Identifier: Apache-2.0
#include "explore/request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ww::explore::request_test {
namespace {

using testing::ElementsAre;

std::string refusal(std::string_view body) {
  const auto request = parse_request(body);
  return request ? "" : request.error().text;
}

TEST(Request, IsAnObject) {
  EXPECT_EQ(refusal("{}"), "");
  EXPECT_EQ(refusal("[1]"), "the request is a JSON array, expected an object");
  EXPECT_EQ(refusal(""), "the request is no JSON in UTF-8: problem at byte 1");
  EXPECT_EQ(refusal("{\"a\": }"), "the request is no JSON in UTF-8: problem at byte 7");
  EXPECT_EQ(refusal(std::string("{\"a\": \"\xff\"}")),
            "the request is no JSON in UTF-8: problem at byte 8");
}

TEST(Request, IsNotNestedWithoutEnd) {
  const std::string deep = "{\"a\":" + std::string(100'000, '[') + std::string(100'000, ']') + "}";
  EXPECT_EQ(refusal(deep), "the request is JSON with more than 100 brackets inside each other");
  EXPECT_EQ(refusal("{\"a\": \"" + std::string(100, '[') + "\\\"[[\"}"), "");
}

TEST(Request, FieldsHaveTypes) {
  const Json request = {
      {"t", "text"}, {"n", 7}, {"f", true}, {"l", Json::array({"a", "b"})}, {"x", nullptr}};
  EXPECT_EQ(*text_field(request, "t"), "text");
  EXPECT_EQ(*text_field(request, "x", "else"), "else");
  EXPECT_EQ(*number_field(request, "n", 0), 7);
  EXPECT_EQ(*number_field(request, "y", 3), 3);
  EXPECT_TRUE(*flag_field(request, "f", false));
  EXPECT_THAT(*texts_field(request, "l"), ElementsAre("a", "b"));
  EXPECT_EQ(text_field(request, "n").error().text, "`n` is a JSON number, expected a text");
  EXPECT_EQ(number_field(request, "t", 0).error().text,
            "`t` is a JSON string, expected a whole number");
  EXPECT_EQ(number_field({{"n", UINT64_MAX}}, "n", 0).error().text,
            "`n` is 18446744073709551615, expected at most 9223372036854775807");
  EXPECT_EQ(flag_field(request, "t", true).error().text,
            "`t` is a JSON string, expected true or false");
  EXPECT_EQ(texts_field(request, "f").error().text,
            "`f` is a JSON boolean, expected a list of texts");
}

TEST(Request, NoArgumentNamesAFile) {
  EXPECT_THAT(*args_field({{"args", {{"A", "float16[8]:ones"}, {"n", "i32:3"}, {"B", ""}}}}),
              ElementsAre("A=float16[8]:ones", "n=i32:3"));
  EXPECT_EQ(
      args_field({{"args", {{"A", "@/etc/passwd"}}}}).error().text,
      "the argument `@/etc/passwd` of `A` names a file, and the explorer reads none; expected "
      "type, shape and contents, as `float16[8,16]:randn`");
  EXPECT_EQ(program_field({{"source", ""}, {"kernel", "@best.json"}}).error().text,
            "the kernel `@best.json` names a file, and the explorer reads none; expected an "
            "expression");
  EXPECT_EQ(program_field({{"file", std::string(300, 'a')}}).error().text,
            "`file` has 300 bytes; at most 200 are taken");
}

}  // namespace
}  // namespace ww::explore::request_test
