// SPDX-License-Identifier: Apache-2.0
#include "view/svg_writer.h"

#include <gtest/gtest.h>

#include <utility>

namespace ww::view::svg_writer_test {
namespace {

TEST(SvgWriter, EscapesXml) {
  EXPECT_EQ(escape_xml("a<b>&\"c'\n→"), "a&lt;b&gt;&amp;&quot;c&apos; →");
}

TEST(SvgWriter, NumbersHaveAtMostTwoDecimals) {
  EXPECT_EQ(svg_number(3), "3");
  EXPECT_EQ(svg_number(3.14159), "3.14");
  EXPECT_EQ(svg_number(2.5), "2.5");
  EXPECT_EQ(svg_number(0.05), "0.05");
  EXPECT_EQ(svg_number(-1.5), "-1.5");
  EXPECT_EQ(svg_number(-0.25), "-0.25");
  EXPECT_EQ(svg_number(-0.001), "0");
}

TEST(SvgWriter, CountsCharactersNotBytes) { EXPECT_EQ(count_characters("lanes 0–31 →"), 12U); }

TEST(SvgWriter, Document) {
  SvgWriter out;
  out.rect(1, 2, 3, 4, kInk);
  EXPECT_EQ(std::move(out).finish(10, 20, "a & b"),
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"10\" height=\"20\" "
            "viewBox=\"0 0 10 20\">\n"
            "<title>a &amp; b</title>\n"
            "<rect x=\"0\" y=\"0\" width=\"10\" height=\"20\" fill=\"#ffffff\"/>\n"
            "<rect x=\"1\" y=\"2\" width=\"3\" height=\"4\" fill=\"#1f2328\"/>\n"
            "</svg>\n");
}

}  // namespace
}  // namespace ww::view::svg_writer_test
