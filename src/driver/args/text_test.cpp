// SPDX-License-Identifier: Apache-2.0
#include "driver/args/text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ww::driver::args_text_test {
namespace {

std::vector<std::string> texts(const std::vector<Piece>& pieces) {
  std::vector<std::string> out;
  for (const Piece& piece : pieces) out.emplace_back(piece.text);
  return out;
}

using Texts = std::vector<std::string>;

TEST(SplitTop, CutsOutsideBracketsAndQuotesOnly) {
  EXPECT_EQ(texts(split_top({"a, S[(8,4):(4,1)] ,\"x,y\",(1,2)", 0}, ',')),
            (Texts{"a", "S[(8,4):(4,1)]", "\"x,y\"", "(1,2)"}));
}

TEST(SplitTop, EmptyTextHasNoPiecesButEmptyPiecesStay) {
  EXPECT_TRUE(split_top({"  ", 0}, ',').empty());
  EXPECT_EQ(texts(split_top({"1,,2,", 0}, ',')), (Texts{"1", "", "2", ""}));
}

TEST(SplitTop, FloorDivisionIsNoSeparator) {
  EXPECT_EQ(texts(split_top({"S[8] + k//2 / 8", 0}, '/')), (Texts{"S[8] + k//2", "8"}));
}

TEST(SplitTop, PiecesKnowTheirPlace) {
  const auto pieces = split_top({"ab, cd", 10}, ',');
  EXPECT_EQ(pieces[1].span(), Span::at(14, 16));
}

TEST(SplitTop, UnbalancedTextStillSplits) {
  EXPECT_EQ(texts(split_top({"a),b(c,d", 0}, ',')), (Texts{"a)", "b(c,d"}));
}

TEST(Unwrapped, OnlyAPairAroundEverythingGoes) {
  EXPECT_EQ(unwrapped({"( 1,2 )", 0}).text, "1,2");
  EXPECT_EQ(unwrapped({"(1,2),(3)", 0}).text, "(1,2),(3)");
  EXPECT_EQ(unwrapped({"(1", 0}).text, "(1");
}

TEST(ParseInt, AcceptsSignsAndRefusesTheRest) {
  EXPECT_EQ(*parse_int({"-12", 0}), -12);
  EXPECT_EQ(parse_int({"", 3}).error().span, Span::at(3, 3));
  EXPECT_EQ(parse_int({"1x", 0}).error().text, "`1x` is not an integer");
  EXPECT_EQ(parse_int({"99999999999999999999", 0}).error().kind, DiagKind::Overflow);
  EXPECT_EQ(parse_int({"-9223372036854775808", 0}).error().kind, DiagKind::Overflow);
}

TEST(Located, MovesSpansAndFillsMissingOnes) {
  Diag inner = diag(DiagKind::Syntax, "x");
  EXPECT_EQ(located(inner, {"abc", 5}).span, Span::at(5, 8));
  inner.span = Span::at(1, 2);
  EXPECT_EQ(located(inner, {"abc", 5}).span, Span::at(6, 7));
}

TEST(FindAxis, LooksAtTheLayoutThenDeclarationsThenBuiltins) {
  const auto layout = layout::parse_layout("S[8:1@mine]");
  ASSERT_TRUE(layout);
  EXPECT_EQ(find_axis({"mine", 0}, *layout, {})->kind(), layout::AxisKind::Unknown);
  EXPECT_TRUE(find_axis({"laneid", 0}, *layout, {}));
  EXPECT_EQ(find_axis({"lanid", 0}, *layout, {}).error().text,
            "no axis is called `lanid`; did you mean `laneid`?");
}

}  // namespace
}  // namespace ww::driver::args_text_test
