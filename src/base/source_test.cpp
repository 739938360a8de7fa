// SPDX-License-Identifier: Apache-2.0
#include "base/source.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace ww::source_test {
namespace {

Diag problem(std::size_t begin, std::size_t end) {
  return diag(DiagKind::Syntax, "found `{}`", "x").with_span(Span::at(begin, end));
}

TEST(Render, PointsAtTheSpan) {
  const SourceText source("a.txt", "one\ntwo three\n");
  EXPECT_EQ(render(problem(8, 13), source),
            "a.txt:2:5: error: found `x` [Syntax]\n"
            "    two three\n"
            "        ^~~~~\n");
}

TEST(Render, EmptySpanAtTheEndGetsACaret) {
  const SourceText source("a", "ab");
  EXPECT_EQ(render(problem(2, 2), source), "a:1:3: error: found `x` [Syntax]\n    ab\n      ^\n");
}

TEST(Render, CountsCharactersNotBytes) {
  const SourceText source("a", "éé!");
  EXPECT_EQ(render(problem(4, 5), source), "a:1:3: error: found `x` [Syntax]\n    éé!\n      ^\n");
}

TEST(SourceText, GoesOnWithOtherFiles) {
  SourceText source("a.py", "one\ntwo");
  source.add_file("b.py", "three\nfour\n");
  source.add_file("c.py", "");
  EXPECT_EQ(source.name(), "a.py");
  EXPECT_EQ(source.file_count(), 3U);
  EXPECT_EQ(source.file_text(0), "one\ntwo");
  EXPECT_EQ(source.file_text(1), "three\nfour\n");
  EXPECT_EQ(source.file_text(2), "");
  const std::size_t four = source.text().find("four");
  EXPECT_EQ(source.position(four), (SourceText::Position{.line = 2, .column = 1, .file = 1}));
  EXPECT_EQ(source.position(4), (SourceText::Position{.line = 2, .column = 1, .file = 0}));
  EXPECT_EQ(source.position(source.file_begin(2)).file, 2U);
  EXPECT_EQ(source.line(source.line_number(four)), "four");
  EXPECT_EQ(source.line_of_file(1, 1), "three");
  EXPECT_EQ(source.line_of_file(0, 2), "two");
  EXPECT_EQ(source.line_of_file(0, 3), "");
  EXPECT_EQ(source.line_of_file(1, 0), "");
  EXPECT_EQ(render(problem(four, four + 4), source),
            "b.py:2:1: error: found `x` [Syntax]\n    four\n    ^~~~\n");
}

TEST(SourceText, KnowsItsLines) {
  const SourceText source("a", "one\n\nthree");
  EXPECT_EQ(source.line_number(3), 1U);
  EXPECT_EQ(source.line_number(4), 2U);
  EXPECT_EQ(source.line_number(5), 3U);
  EXPECT_EQ(source.line(3), "three");
  EXPECT_EQ(source.line(0), "");
  EXPECT_EQ(source.line(4), "");
}

TEST(Render, WithoutASpanOnlyTheMessage) {
  EXPECT_EQ(render(diag(DiagKind::Io, "gone")), "error: gone [Io]\n");
}

TEST(Render, NotesFollowWithTheirOwnPlaces) {
  const SourceText source("a", "xy");
  const Diag d = problem(0, 1).with_note("why").with_note("here", Span::at(1, 2));
  EXPECT_EQ(render(d, source),
            "a:1:1: error: found `x` [Syntax]\n    xy\n    ^\n"
            "  note: why\n"
            "a:1:2: note: here\n    xy\n     ^\n");
}

TEST(Render, LongLinesAreWindowed) {
  const SourceText source("a", std::string(1000, 'a') + "!" + std::string(1000, 'b'));
  const std::string text = render(problem(1000, 1001), source);
  EXPECT_LT(text.size(), 500U);
  EXPECT_NE(text.find("a!b"), std::string::npos);
  // The caret stands under the `!`.
  const auto line = text.find("    ");
  const auto mark = text.find('!', line);
  const auto caret = text.find('^');
  const auto caret_line = text.rfind('\n', caret) + 1;
  const std::string before = text.substr(line, mark - line);
  const auto characters =
      static_cast<std::size_t>(std::count_if(before.begin(), before.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
      }));
  EXPECT_EQ(caret - caret_line, characters);
}

TEST(Render, SpansBeyondTheTextDoNotCrash) {
  const SourceText source("a", "ab");
  EXPECT_NE(render(problem(7, 9), source).find("a:1:3"), std::string::npos);
}

TEST(DiagKinds, EveryKindHasANameAndAMeaning) {
  for (const DiagKind kind : all_diag_kinds()) {
    EXPECT_NE(name_of(kind), "?");
    EXPECT_GT(meaning_of(kind).size(), 10U);
  }
}

TEST(Render, SpellsOutControlCharacters) {
  const SourceText source("a\x1b[2J\nb.txt", "x\x1b = 1\xff!");
  Diag problem = diag(DiagKind::Syntax, "found `{}`", "\x1b]0;title\x07")
                     .with_note("see `\u202e`")
                     .with_span(Span::at(7, 8));
  EXPECT_EQ(render(problem, source),
            "a\\x1b[2J\\nb.txt:1:8: error: found `\\x1b]0;title\\x07` [Syntax]\n"
            "    x\uFFFD = 1\uFFFD!\n"
            "           ^\n"
            "  note: see `\\u202e`\n");
}

TEST(Render, WindowsEndBetweenCharacters) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += "\u00e4";
  const std::string shown = render(problem(300, 302), SourceText("a", text));
  EXPECT_EQ(shown.find("\uFFFD"), std::string::npos) << shown;
  std::string expected = "    …";
  for (int i = 0; i < 120; ++i) expected += "\u00e4";
  EXPECT_NE(shown.find(expected + "…\n"), std::string::npos) << shown;
}

TEST(Render, QuotesTheBeginningOfLongCode) {
  const std::string long_name(100'000, 'x');
  EXPECT_EQ(render(diag(DiagKind::UnknownName, "no `{}` in `b`", long_name)
                       .with_note(fmt::format("{} `{}`", std::string(500, 'y'), long_name))),
            fmt::format("error: no `{0}…` in `b` [UnknownName]\n  note: {1} `{0}…`\n",
                        std::string(400, 'x'), std::string(500, 'y')));
  EXPECT_EQ(render(diag(DiagKind::Syntax, "found ` and {}", std::string(390, 'z'))),
            fmt::format("error: found ` and {} [Syntax]\n", std::string(390, 'z')));
}

TEST(Render, ShowsTabsAsOneColumn) {
  const SourceText source("k.ptx", "\tadd.s23 %r1;\n");
  Diag problem = diag(DiagKind::Syntax, "here");
  problem.span = Span::at(5, 8);
  EXPECT_EQ(render(problem, source),
            "k.ptx:1:6: error: here [Syntax]\n     add.s23 %r1;\n         ^~~\n");
}

}  // namespace
}  // namespace ww::source_test
