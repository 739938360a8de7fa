// SPDX-License-Identifier: Apache-2.0
#include "script/interp/host_expr.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

namespace ww::script::host_expr_test {
namespace {

using Tuple = HostValue::Tuple;

TEST(HostExpr, GivesValuesThatHaveASpelling) {
  const std::vector<std::pair<std::string, HostValue>> rows = {
      {"64", {std::int64_t{64}}},
      {" 1 << 5 ", {std::int64_t{32}}},
      {"-3", {std::int64_t{-3}}},
      {"'float' + '16'", {std::string("float16")}},
      {"True", {true}},
      {"None", {}},
      {"0.5", {0.5}},
      {"(2, 'a')", {Tuple{{std::int64_t{2}}, {std::string("a")}}}},
      {"[8 * i for i in range(2)]", {Tuple{{std::int64_t{0}}, {std::int64_t{8}}}}}};
  for (const auto& [text, wanted] : rows) {
    const auto value = evaluate_host(text);
    ASSERT_TRUE(value) << text << ": " << value.error().text;
    EXPECT_EQ(*value, wanted) << text;
  }
}

TEST(HostExpr, KnowsTheNamesItIsGiven) {
  const std::vector<HostName> names = {{"BM", "2 * 32"}, {"dtype", "\"int8\""}};
  EXPECT_EQ(evaluate_host("BM * 2 == 128 and dtype != 'f'", names).value(), HostValue{true});
}

TEST(HostExpr, SyntaxIsCheckedWithoutNames) {
  EXPECT_TRUE(check_host_syntax("BM * (BN + 1)"));
  const auto checked = check_host_syntax("BM * (BN + 1");
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().kind, DiagKind::Syntax);
  EXPECT_EQ(checked.error().span.begin, 12U);
}

TEST(HostExpr, RefusesWithAPlaceInTheExpression) {
  struct Row {
    std::string expression;
    DiagKind kind;
    std::size_t begin;
  };
  const std::vector<Row> rows = {{"1 +", DiagKind::Syntax, 3},
                                 {"2 * (BN + 1)", DiagKind::UnknownName, 5},
                                 {"lambda: 1", DiagKind::BadType, 0},
                                 {"1 << 80", DiagKind::Overflow, 0},
                                 {"[x := [], x.append(x)]", DiagKind::TooLarge, 0},
                                 {"4 + 1 // 0", DiagKind::HostError, 4}};
  for (const Row& row : rows) {
    const std::vector<HostName> names = {{"BM", "64"}};
    const auto value = evaluate_host(row.expression, names);
    ASSERT_FALSE(value) << row.expression;
    EXPECT_EQ(name_of(value.error().kind), name_of(row.kind)) << value.error().text;
    ASSERT_TRUE(value.error().span.known) << row.expression;
    EXPECT_EQ(value.error().span.begin, row.begin) << value.error().text;
  }
}

}  // namespace
}  // namespace ww::script::host_expr_test
