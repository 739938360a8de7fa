// SPDX-License-Identifier: Apache-2.0
// What is refused for its size, and texts that are damaged at random.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "script/syntax/parser.h"
#include "script/syntax/test_errors.h"
#include "script/test_program.h"

namespace ww::script::parser_limits_test {
namespace {

using ::testing::HasSubstr;

std::string repeat(std::string_view text, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += text;
  return out;
}
std::string around(std::string_view before, std::string_view inner, std::string_view after,
                   int count) {
  return repeat(before, count) + std::string(inner) + repeat(after, count) + "\n";
}

TEST(ScriptLimits, NestedExpressions) {
  struct Case {
    std::string_view before, inner, after;
  };
  const std::vector<Case> cases = {{"(", "a", ")"},
                                   {"[", "a", "]"},
                                   {"f(", "a", ")"},
                                   {"a[", "b", "]"},
                                   {"{1: ", "a", "}"},
                                   {"f(k=", "a", ")"},
                                   {"-", "a", ""},
                                   {"not ", "a", ""},
                                   {"", "a", ".b"},
                                   {"", "a", "()"},
                                   {"", "a", "[0]"},
                                   {"a ** ", "b", ""},
                                   {"lambda: ", "a", ""},
                                   {"lambda a=", "b", ": c"},
                                   {"a if b else ", "c", ""},
                                   {"", "a", " + b"},
                                   {"[*", "a", "]"},
                                   {"(yield ", "a", ")"},
                                   {"[a for a in ", "b", "]"},
                                   {"[a for a in b if ", "c", "]"}};
  for (const Case& c : cases) {
    EXPECT_EQ(error_of(around(c.before, c.inner, c.after, 60)), "") << c.before << c.after;
    EXPECT_THAT(error_of(around(c.before, c.inner, c.after, kMaxNesting + 1)),
                HasSubstr("nested deeper than 200 levels [TooLarge]"))
        << c.before << c.after;
    EXPECT_THAT(error_of(around(c.before, c.inner, c.after, 50'000)),
                HasSubstr("nested deeper than 200 levels [TooLarge]"))
        << c.before << c.after;
  }
  EXPECT_EQ(error_of(around("(", "a", ")", kMaxNesting)), "");
  EXPECT_EQ(error_of(around("", "a", ".b", kMaxNesting)), "");
}

TEST(ScriptLimits, NestedFormatStrings) {
  EXPECT_EQ(error_of(around("f'{", "a", "}'", 60)), "");
  EXPECT_THAT(error_of(around("f'{", "a", "}'", 5000)), HasSubstr("[TooLarge]"));
  EXPECT_THAT(error_of("f'" + around("{a:", "", "}", 5000)), HasSubstr("[TooLarge]"));
}

TEST(ScriptLimits, MixedOperators) {
  const std::string_view all = "a or b and not c == d | e ^ f & g << h + i * -j ** [k, *(";
  EXPECT_EQ(error_of(around(all, "1", ")]", 10)), "");
  EXPECT_THAT(error_of(around(all, "1", ")]", 1000)), HasSubstr("[TooLarge]"));
}

TEST(ScriptLimits, LongListsAreNotNested) {
  EXPECT_EQ(error_of("a = " + repeat("b, ", 5000) + "\n"), "");
  EXPECT_EQ(error_of("a = " + repeat("b and ", 5000) + "c\n"), "");
  EXPECT_EQ(error_of("a = " + repeat("b < ", 5000) + "c\n"), "");
  EXPECT_EQ(error_of("a = " + repeat("'b' ", 5000) + "\n"), "");
  EXPECT_EQ(error_of(repeat("a = ", 5000) + "b\n"), "");
  EXPECT_EQ(error_of("[a" + repeat(" for a in b", 2000) + "]\n"), "");
}

TEST(ScriptLimits, Elifs) {
  EXPECT_EQ(error_of("if a: b\n" + repeat("elif a: b\n", 1000)), "");
  EXPECT_EQ(error_of("if a: b\n" + repeat("elif a: b\n", 1001)),
            "1002:1: the `if` has more than 1000 `elif` [TooLarge]");
}

std::string nested_blocks(int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += std::string(static_cast<std::size_t>(i), ' ') + "if a:\n";
  return out + std::string(static_cast<std::size_t>(count), ' ') + "b\n";
}

TEST(ScriptLimits, NestedBlocks) {
  EXPECT_EQ(error_of(nested_blocks(kMaxNesting)), "");
  EXPECT_THAT(error_of(nested_blocks(kMaxNesting + 1)),
              HasSubstr("blocks are nested deeper than 200 levels [TooLarge]"));
}

TEST(ScriptLimits, TextSize) {
  SymbolTable symbols;
  const auto ast = parse_file(std::string(kMaxSourceBytes + 1, ' '), symbols);
  ASSERT_FALSE(ast);
  EXPECT_EQ(ast.error().text, "the text has 16777217 bytes, more than the 16777216 that are read");
}

// Quadratic behaviour would take minutes; the bound is generous for sanitizers and busy machines.
TEST(ScriptLimits, TimeGrowsWithTheText) {
  const int count = 1 << 16;
  const std::vector<std::string> texts = {repeat("x = 1\n", count),
                                          repeat("x = 1; ", count) + "\n",
                                          "x = [" + repeat("1, ", count) + "]\n",
                                          "x = '" + repeat("abc ", count) + "'\n",
                                          repeat("#\n", count),
                                          repeat("match\n", count),
                                          repeat("with (a): b\n", count),
                                          "f'" + repeat("{a}", count) + "'\n",
                                          repeat("\n \n", count),
                                          repeat("(", count)};
  const auto start = std::chrono::steady_clock::now();
  for (const std::string& text : texts) error_of(text);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
}

// --- damaged texts ------------------------------------------------------------------------------

// Bytes that matter to the lexer, more often than others.
std::string damaged(std::mt19937& random) {
  static constexpr std::string_view kBytes = "()[]{}'\"\\\n\t :;,.=!#@*f0x\xc3\x80";
  std::string text(kProgram);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  for (std::size_t count = 1 + below(4); count > 0; --count) {
    const std::size_t at = below(text.size());
    const char byte = kBytes[below(kBytes.size())];
    switch (below(5)) {
      case 0:
        text[at] = byte;
        break;
      case 1:
        text.insert(at, 1, byte);
        break;
      case 2:
        text.erase(at, 1 + below(20));
        break;
      case 3:
        text.insert(at, text.substr(below(text.size()), below(40)));
        break;
      default:
        text.resize(at + 1);
    }
  }
  return text;
}

TEST(ScriptMutations, NeitherCrashNorMisplace) {
  std::mt19937 random(20240607);  // NOLINT(cert-msc51-cpp): the same texts each time
  int good = 0;
  for (int i = 0; i < 3000; ++i) {
    const std::string text = damaged(random);
    SymbolTable symbols;
    const auto ast = parse_file(text, symbols);
    if (ast) {
      ++good;
      for (const Expr& expr : ast->exprs) {
        ASSERT_LE(expr.place.begin, expr.place.end);
        ASSERT_LE(expr.place.end, text.size());
      }
      continue;
    }
    const Diag& error = ast.error();
    ASSERT_TRUE(error.span.known) << error.text << "\n" << text;
    ASSERT_LE(error.span.begin, error.span.end) << error.text;
    ASSERT_LE(error.span.end, text.size()) << error.text;
    ASSERT_FALSE(error.text.empty());
    ASSERT_NE(error.text.back(), '.') << error.text;
  }
  EXPECT_GT(good, 100);
  EXPECT_LT(good, 2900);
}

}  // namespace
}  // namespace ww::script::parser_limits_test
