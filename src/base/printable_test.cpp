// SPDX-License-Identifier: Apache-2.0
#include "base/printable.h"

#include <gtest/gtest.h>

#include <string>

namespace ww::printable_test {
namespace {

TEST(Printable, SpellsOutWhatATerminalActsUpon) {
  EXPECT_EQ(printable_name("plain ä…中\U0001F600.py"), "plain ä…中\U0001F600.py");
  EXPECT_EQ(printable_name("a\x1b[31mb"), "a\\x1b[31mb");
  EXPECT_EQ(printable_name(std::string("\0\x01\x7f", 3)), "\\x00\\x01\\x7f");
  EXPECT_EQ(printable_name("a\nb\tc\rd"), "a\\nb\\tc\\rd");
  // CSI as one character of Latin 1, an override of direction, a separator of lines.
  EXPECT_EQ(printable_name("\u009b1m \u202e \u2028"), "\\u009b1m \\u202e \\u2028");
}

TEST(Printable, BytesThatAreNoTextAreSpelledOut) {
  EXPECT_EQ(printable_name("\xff"), "\\xff");
  EXPECT_EQ(printable_name("\xe4.py"), "\\xe4.py");
  EXPECT_EQ(printable_name("a\xc3"), "a\\xc3");
  EXPECT_EQ(printable_name("\x9b"), "\\x9b");
  EXPECT_EQ(printable_name("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // a surrogate
}

TEST(Printable, KeepsTheBreaksOfAText) {
  EXPECT_EQ(printable("a\tb\nc\r\n\x1b", Breaks::Keep), "a\tb\nc\\r\n\\x1b");
}

TEST(Printable, ExcerptsAreShortAndOfWholeCharacters) {
  EXPECT_EQ(printable_excerpt("a\x01"), "a\\x01");
  EXPECT_EQ(printable_excerpt(std::string(40, 'a')), std::string(40, 'a'));
  EXPECT_EQ(printable_excerpt(std::string(41, 'a')), std::string(40, 'a') + "…");
  EXPECT_EQ(printable_excerpt(std::string(39, 'a') + "äb"), std::string(39, 'a') + "ä…");
}

TEST(Printable, ColumnsStay) {
  EXPECT_EQ(printable_columns("\ta\x1b\xff\u202eä"), " a\uFFFD\uFFFD\uFFFDä");
}

TEST(Printable, JsonMeansTheSame) {
  EXPECT_EQ(printable_json("{\"a\": \"\x7f\u009b ä\"}\n"), "{\"a\": \"\\u007f\\u009b ä\"}\n");
}

TEST(PathInCode, IsAsciiWithoutQuotes) {
  EXPECT_EQ(path_in_code("dir/k-1.py"), "dir/k-1.py");
  EXPECT_EQ(path_in_code("ä \"b\\c\"\n.py"), "\\303\\244 \\042b\\134c\\042\\012.py");
}

TEST(PathInCode, ComesBack) {
  std::string all;
  for (int c = 1; c < 256; ++c) all += static_cast<char>(c);
  EXPECT_EQ(path_from_code(path_in_code(all)), all);
  EXPECT_EQ(path_from_code(R"(a\"b\\c\8\)"), R"(a"b\c\8\)");  // as nvcc writes some of it
}

}  // namespace
}  // namespace ww::printable_test
