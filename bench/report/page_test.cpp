// SPDX-License-Identifier: Apache-2.0
#include "page.h"

#include <gtest/gtest.h>

#include "base/source.h"

namespace ww::bench::page_test {
namespace {

constexpr std::string_view kText =
    "# Title\n"
    "by hand\n"
    "<!-- measured: sim -->\n"
    "old\n"
    "<!-- end of sim -->\n"
    "between\n"
    "<!-- measured: matrix products -->\n"
    "of a GPU\n"
    "<!-- end of matrix products -->\n"
    "after";

TEST(BenchPage, ComesBackAsItWas) {
  const auto page = Page::read(kText);
  ASSERT_TRUE(page.has_value());
  EXPECT_EQ(page->text(), kText);
  EXPECT_EQ(page->names(), (std::vector<std::string>{"sim", "matrix products"}));
}

TEST(BenchPage, KeepsWhatWasNotMeasured) {
  auto page = Page::read(kText);
  ASSERT_TRUE(page.has_value());
  page->put("sim", "new\n");
  EXPECT_EQ(page->text(),
            "# Title\n"
            "by hand\n"
            "<!-- measured: sim -->\n"
            "new\n"
            "<!-- end of sim -->\n"
            "between\n"
            "<!-- measured: matrix products -->\n"
            "of a GPU\n"
            "<!-- end of matrix products -->\n"
            "after");
}

TEST(BenchPage, TakesNewPartsAtTheEnd) {
  Page page;
  page.put("head", "# Title\n");
  page.put("sim", "1\n");
  EXPECT_EQ(page.text(),
            "<!-- measured: head -->\n# Title\n<!-- end of head -->\n\n"
            "<!-- measured: sim -->\n1\n<!-- end of sim -->\n");
  const auto again = Page::read(page.text());
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->text(), page.text());
}

TEST(BenchPage, RefusesMarksThatDoNotFit) {
  const auto said = [](std::string text) {
    const auto page = Page::read(text);
    return page ? "" : render(page.error(), SourceText("page.md", std::move(text)));
  };
  EXPECT_EQ(said("x\n<!-- measured: sim -->\n1\n"),
            "page.md:2:1: error: part `sim` has no line `<!-- end of sim -->` [BadArgument]\n"
            "    <!-- measured: sim -->\n"
            "    ^~~~~~~~~~~~~~~~~~~~~~\n");
  EXPECT_EQ(said("<!-- measured: a -->\n<!-- measured: b -->\n<!-- end of b -->\n"),
            "page.md:2:1: error: part `b` begins inside part `a` [BadArgument]\n"
            "    <!-- measured: b -->\n"
            "    ^~~~~~~~~~~~~~~~~~~~\n");
  EXPECT_EQ(said("<!-- end of a -->\n"),
            "page.md:1:1: error: part `a` ends and did not begin [BadArgument]\n"
            "    <!-- end of a -->\n"
            "    ^~~~~~~~~~~~~~~~~\n");
  EXPECT_EQ(said("<!-- measured: a -->\n<!-- end of a -->\n<!-- measured: a -->\n"
                 "<!-- end of a -->"),
            "page.md:3:1: error: part `a` is there twice [BadArgument]\n"
            "    <!-- measured: a -->\n"
            "    ^~~~~~~~~~~~~~~~~~~~\n");
}

}  // namespace
}  // namespace ww::bench::page_test
