// SPDX-License-Identifier: Apache-2.0
#include "json/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <set>

namespace ww {
namespace {

using testing::HasSubstr;

std::string error_of(std::string_view text) {
  const Result<Json> parsed = Json::parse(text);
  return parsed ? "parsed: " + parsed->dump() : parsed.error().text;
}

TEST(Json, BracesMakeObjectsOfPairs) {
  const std::string name = "copy";
  EXPECT_EQ((Json{{"name", name}, {"lanes", 32}, {"at", {{"line", 1U}}}}).dump(),
            R"({"name":"copy","lanes":32,"at":{"line":1}})");
  EXPECT_EQ((Json{{"b", 1}, {"a", 2}, {"b", 3}}).dump(), R"({"b":3,"a":2})");
}

TEST(Json, ArraysSayThatTheyAreLists) {
  EXPECT_EQ(Json::array({1, "two", 3.5, nullptr, false}).dump(), R"([1,"two",3.5,null,false])");
  EXPECT_EQ(Json::array({Json::array({"a", 1}), 2}).dump(), R"([["a",1],2])");
  EXPECT_EQ(Json::array({"a", 1}).dump(), R"(["a",1])");
  EXPECT_EQ(Json::array({{{"a", 1}}, {{"b", 2}}}).dump(), R"([{"a":1},{"b":2}])");
  EXPECT_EQ(Json::array().dump(), "[]");
  EXPECT_EQ(Json::object().dump(), "{}");
}

TEST(Json, WhatIsInBracesIsMovedNotWhatItWasMadeOf) {
  const Json inner = {{"key", "a text that is too long to be held in place"}};
  const Json outer = {{"inner", inner}};
  EXPECT_EQ(outer["inner"], inner);
  EXPECT_EQ(inner.size(), 1U);
}

TEST(Json, RangesAreLists) {
  EXPECT_EQ(Json(std::vector<std::int64_t>{1, -2}).dump(), "[1,-2]");
  EXPECT_EQ(Json(std::vector<bool>{true, false}).dump(), "[true,false]");
  EXPECT_EQ(Json(std::array<std::vector<std::string>, 2>{{{"a"}, {}}}).dump(), R"([["a"],[]])");
  EXPECT_EQ(Json(std::set<std::string>{"b", "a"}).dump(), R"(["a","b"])");
}

TEST(Json, NullBecomesWhatIsAddedToIt) {
  Json list, object;
  list.push_back(1);
  object["a"]["b"] = 2;
  EXPECT_EQ(list.dump(), "[1]");
  EXPECT_EQ(object.dump(), R"({"a":{"b":2}})");
  object.update({{"a", 1}, {"c", 3}});
  EXPECT_EQ(object.dump(), R"({"a":1,"c":3})");
  std::erase_if(object.members(), [](const JsonMember& each) { return each.first == "a"; });
  EXPECT_EQ(object.dump(), R"({"c":3})");
}

TEST(Json, AMovedValueIsNull) {
  Json from = {{"a", 1}};
  const Json to = std::move(from);
  EXPECT_TRUE(from.is_null());  // NOLINT(bugprone-use-after-move): what is tested
  EXPECT_EQ(to.size(), 1U);
}

TEST(Json, ReadersAreToldWhatTheValueIs) {
  const Json value = {
      {"text", "a"}, {"list", Json::array({1, 2})}, {"large", UINT64_MAX}, {"less", -1}};
  const auto what = [](const auto& read) -> std::string {
    try {
      read();
    } catch (const JsonMismatch& mismatch) {
      return mismatch.what();
    }
    return "nothing";
  };
  EXPECT_EQ(what([&] { (void)value["none"]; }), "a JSON object, expected an object with `none`");
  EXPECT_EQ(what([&] { (void)value["list"][2]; }),
            "a JSON array, expected one of more than 2 items");
  EXPECT_EQ(what([&] { (void)value["text"].get<int>(); }),
            "a JSON string, expected a whole number of 64 bits");
  EXPECT_EQ(what([&] { (void)value["list"].get<std::string>(); }),
            "a JSON array, expected a string");
  EXPECT_EQ(what([&] { (void)value["text"].get<bool>(); }), "a JSON string, expected a boolean");
  EXPECT_EQ(what([&] { (void)value["text"].get<double>(); }), "a JSON string, expected a number");
  EXPECT_THAT(what([&] { (void)value["large"].get<std::int64_t>(); }), HasSubstr("64 bits"));
  EXPECT_THAT(what([&] { (void)Json(INT64_MAX).get<int>(); }), HasSubstr("32 bits"));
  EXPECT_THAT(what([&] { (void)value["less"].get<std::uint64_t>(); }), HasSubstr("not negative"));
  EXPECT_EQ(what([&] { (void)value["text"].begin(); }), "a JSON string, expected an array");
  EXPECT_EQ(what([&] { (void)value["list"].members(); }), "a JSON array, expected an object");
  EXPECT_EQ(value["less"].get<double>(), -1);
  EXPECT_EQ(value["large"].get<std::uint64_t>(), UINT64_MAX);
}

TEST(Json, NumbersAreEqualByValue) {
  EXPECT_EQ(Json(1), Json(1U));
  EXPECT_EQ(Json(1), Json(1.0));
  EXPECT_NE(Json(-1), Json(UINT64_MAX));
  EXPECT_NE(Json(1), Json(true));
  EXPECT_NE(Json(0), Json());
  EXPECT_NE((Json{{"a", 1}, {"b", 2}}), (Json{{"b", 2}, {"a", 1}}));
}

TEST(Json, TextIsUtf8) {
  EXPECT_EQ(Json("a\xff"
                 "b")
                .dump(),
            "\"a\xEF\xBF\xBD"
            "b\"");
  EXPECT_EQ(Json("\"\\\n\x01\xC3\xA9").dump(), "\"\\\"\\\\\\n\\u0001\xC3\xA9\"");
  EXPECT_EQ((Json{{"a\"", 1}}).dump(), R"({"a\"":1})");
  EXPECT_EQ(Json(std::numeric_limits<double>::infinity()).dump(), "null");
}

TEST(Json, IndentedByItems) {
  EXPECT_EQ((Json{{"a", Json::array({1, 2})}, {"b", Json::object()}}).dump(2),
            "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": {}\n}");
}

TEST(Json, WritesWhatItRead) {
  const auto written = [](std::string_view text) { return Json::parse(text).value().dump(); };
  EXPECT_EQ(written(" [ 1 , 2 ] "), "[1,2]");
  EXPECT_EQ(written("[0,-1,18446744073709551615,-9223372036854775808]"),
            "[0,-1,18446744073709551615,-9223372036854775808]");
  EXPECT_EQ(written("[1.5,-0.0,0.1,12345678.0,1e300,1e-7]"),
            "[1.5,-0.0,0.1,12345678.0,1e+300,1e-07]");
  EXPECT_EQ(written(R"({"z":[],"a":{},"n":null,"t":true,"f":false})"),
            R"({"z":[],"a":{},"n":null,"t":true,"f":false})");
  EXPECT_EQ(written(R"("\u00e9\ud83d\ude00\n\/")"), "\"\xC3\xA9\xF0\x9F\x98\x80\\n/\"");
  EXPECT_EQ(written(R"({"a":1,"b":2,"a":{"c":[[[]]]}})"), R"({"a":{"c":[[[]]]},"b":2})");
}

TEST(Json, GivesWhatIsThereOrWhatElseWasSaid) {
  const Json value = {{"text", "a"}, {"number", 2}, {"list", Json::array({1})}};
  EXPECT_EQ(value.value("text", "b"), "a");
  EXPECT_EQ(value.value("none", "b"), "b");
  EXPECT_EQ(value.value("number", 0.5), 2.0);
  EXPECT_EQ(value.value("none", 3), 3);
  EXPECT_EQ(value.value("list", Json()), Json::array({1}));
  EXPECT_EQ(Json().value("none", true), true);
}

TEST(Json, RefusesWhatIsNone) {
  EXPECT_EQ(error_of(""), "no JSON in UTF-8: problem at byte 1");
  EXPECT_EQ(error_of("[1,]"), "no JSON in UTF-8: problem at byte 4");
  EXPECT_EQ(error_of("{} x"), "no JSON in UTF-8: problem at byte 4");
  EXPECT_THAT(error_of("\"\xff\""), HasSubstr("no JSON in UTF-8"));
  EXPECT_THAT(error_of("[1e999]"), HasSubstr("no JSON in UTF-8"));
}

TEST(Json, RefusesWhatIsTooDeep) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_EQ(error_of(nested(kMaxJsonDepth)), "parsed: " + nested(kMaxJsonDepth));
  EXPECT_EQ(error_of(nested(kMaxJsonDepth + 1)),
            "JSON with more than 100 brackets inside each other");
  EXPECT_EQ(error_of(std::string(10'000'000, '[')),
            "JSON with more than 100 brackets inside each other");
}

TEST(Json, RefusesObjectsOfMoreKeysThanCanBeFoundSoon) {
  const auto keys = [](std::size_t count) {
    std::string out;
    for (std::size_t i = 0; i < count; ++i)
      out += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":1";
    return "{" + out + "}";
  };
  EXPECT_EQ(error_of(keys(kMaxJsonKeys)), "parsed: " + keys(kMaxJsonKeys));
  EXPECT_EQ(error_of(keys(1'000'000)), "JSON with more than 1000 keys in an object");
}

}  // namespace
}  // namespace ww
