// SPDX-License-Identifier: Apache-2.0
// What stands at a place, and what someone is about to write: `|` is the place.
#include "lsp/cursor.h"

#include <gtest/gtest.h>

namespace ww::lsp {
namespace {

std::string path_at(std::string text) {
  const std::size_t at = text.find('|');
  const auto name = name_at(text.erase(at, 1), at);
  return name ? name->path : "nothing";
}

TEST(Cursor, FindsDottedNames) {
  EXPECT_EQ(path_at("x = T.cu|da.cta_sync()"), "T.cuda");
  EXPECT_EQ(path_at("x = T.cuda.cta_sync|()"), "T.cuda.cta_sync");
  EXPECT_EQ(path_at("x = |T.cuda.cta_sync()"), "T");
  EXPECT_EQ(path_at("f(x).na|me"), "nothing");
  EXPECT_EQ(path_at("\"in a te|xt\""), "nothing");
  EXPECT_EQ(path_at("x # com|ment"), "nothing");
  EXPECT_EQ(path_at("for |x in y:"), "x");
  EXPECT_EQ(path_at("fo|r x in y:"), "nothing") << "a keyword";
}

Typing typing(const std::string& text) { return typing_at(text); }

TEST(Cursor, KnowsWhatIsTyped) {
  EXPECT_EQ(typing("x = T.cuda.ct").path, "T.cuda");
  EXPECT_EQ(typing("x = T.cuda.ct").word, "ct");
  EXPECT_EQ(typing("x = T.").path, "T");
  EXPECT_EQ(typing("x = T.").word, "");
  EXPECT_EQ(typing("x = al").path, "");
  EXPECT_EQ(typing("f(x).").path, "?");
  EXPECT_TRUE(typing("x = 1  # T.").in_comment);
  EXPECT_FALSE(typing("x = 1  # T.\n").in_comment);
}

TEST(Cursor, KnowsTheCall) {
  const auto call = typing("Tx.cta.copy(A[0:4, :], B.view(2)[").call;
  ASSERT_TRUE(call);
  EXPECT_EQ(call->callee, "Tx.cta.copy");
  EXPECT_EQ(call->argument, 1U);
  EXPECT_EQ(call->keyword, "");
  EXPECT_EQ(typing("f(g(1, 2), h(").call->callee, "h");
  EXPECT_EQ(typing("f(g(1, 2), dtype=").call->keyword, "dtype");
  EXPECT_EQ(typing("f((1, 2, ").call->argument, 0U) << "a tuple is one argument";
  EXPECT_FALSE(typing("f(1)\nx").call);
  EXPECT_FALSE(typing("").call);
}

TEST(Cursor, KnowsStrings) {
  const Typing typed = typing("T.alloc_buffer((4,), scope=\"sha");
  EXPECT_TRUE(typed.in_string);
  EXPECT_EQ(typed.word, "sha");
  ASSERT_TRUE(typed.call);
  EXPECT_EQ(typed.call->keyword, "scope");
}

TEST(Cursor, OverlooksWhatIsWrongEarlier) {
  EXPECT_EQ(typing("x = \"never closed\ny = $\nT.cuda.").path, "T.cuda");
  EXPECT_EQ(typing("x = 08\nT.cuda.").path, "T.cuda");
}

}  // namespace
}  // namespace ww::lsp
