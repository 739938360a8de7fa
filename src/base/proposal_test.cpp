// SPDX-License-Identifier: Apache-2.0
#include "base/proposal.h"

#include <gtest/gtest.h>

#include <array>

#include "base/suggest.h"

namespace ww {
namespace {

Diag at(std::string text, std::size_t begin, std::size_t end) {
  return {DiagKind::UnknownName, std::move(text), Span::at(begin, end), {}};
}

TEST(Proposal, IsWhatDidYouMeanAsks) {
  constexpr std::array<std::string_view, 2> kKnown = {"alloc_buffer", "decl_buffer"};
  EXPECT_EQ(proposed_word("no such name" + did_you_mean("alloc_bufer", kKnown)), "alloc_buffer");
  EXPECT_EQ(proposed_word("no such name" + did_you_mean("q", kKnown)), std::nullopt);
  EXPECT_EQ(proposed_word("did you mean `"), std::nullopt);
  EXPECT_EQ(proposed_word("did you mean ``?"), std::nullopt);
}

TEST(Proposal, ReplacesTheWordThatTheMessageQuotes) {
  const std::string text = "R = T.alloc_bufer((32, 8))";
  const auto found =
      proposal_of(at("`T` has no `alloc_bufer`; did you mean `alloc_buffer`?", 6, 17), text);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->span, Span::at(6, 17));
  EXPECT_EQ(found->text, "alloc_buffer");
}

TEST(Proposal, FindsTheWordInALargerSpan) {
  const std::string text = "f(mode=\"zro\", zro_fill=1)";
  const auto found = proposal_of(at("mode \"zro\"; did you mean `zero`?", 2, text.size()), text);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->span, Span::at(8, 11));
}

TEST(Proposal, LeavesDoubtfulOnesAlone) {
  // Twice in the span; not in the span; no span; a span beyond the text.
  EXPECT_FALSE(proposal_of(at("no `a`; did you mean `b`?", 0, 5), "a + a"));
  EXPECT_FALSE(proposal_of(at("no `x`; did you mean `b`?", 0, 5), "a + a"));
  EXPECT_FALSE(proposal_of({DiagKind::UnknownName, "no `a`; did you mean `b`?", {}, {}}, "a"));
  EXPECT_FALSE(proposal_of(at("no `a`; did you mean `b`?", 0, 9), "a"));
}

}  // namespace
}  // namespace ww
