// SPDX-License-Identifier: Apache-2.0
#include "lsp/documents.h"

#include <gtest/gtest.h>

namespace ww::lsp {
namespace {

// a, é (2 bytes), 😀 (4 bytes, two units of UTF-16), b.
const std::string kLine =
    "a\xC3\xA9\xF0\x9F\x98\x80"
    "b";

TEST(Text, CountsUtf16) {
  const Text text("x\n" + kLine + "\n");
  const std::size_t offsets[] = {2, 3, 5, 9, 10};
  const std::int64_t units[] = {0, 1, 2, 4, 5};
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(text.position(offsets[i], Encoding::Utf16), (Position{1, units[i]}));
    EXPECT_EQ(text.offset({1, units[i]}, Encoding::Utf16), offsets[i]);
  }
  // Between the two halves of a pair, and behind the end of the line.
  EXPECT_EQ(text.offset({1, 3}, Encoding::Utf16), 5U);
  EXPECT_EQ(text.offset({1, 99}, Encoding::Utf16), 10U);
}

TEST(Text, CountsUtf8) {
  const Text text(kLine);
  EXPECT_EQ(text.position(7, Encoding::Utf8), (Position{0, 7}));
  EXPECT_EQ(text.position(3, Encoding::Utf8), (Position{0, 3}));
  EXPECT_EQ(text.offset({0, 3}, Encoding::Utf8), 3U);
  EXPECT_EQ(text.offset({0, 5}, Encoding::Utf8), 3U) << "inside a character";
}

TEST(Text, EndsLinesAsEditorsDo) {
  const Text text("a\nb\r\nc\rd");
  ASSERT_EQ(text.line_count(), 4U);
  EXPECT_EQ(text.line(1), "b");
  EXPECT_EQ(text.line(2), "c");
  EXPECT_EQ(text.line(3), "d");
  EXPECT_EQ(text.line(9), "");
  EXPECT_EQ(text.offset({1, 9}, Encoding::Utf16), 3U) << "before the line break";
  EXPECT_EQ(text.offset({9, 0}, Encoding::Utf16), 8U);
  EXPECT_EQ(text.offset({-1, -1}, Encoding::Utf16), 0U);
  EXPECT_EQ(text.line_of(99), 3U);
}

TEST(Text, TakesBytesThatAreNoUtf8) {
  const Text text(
      "a\xFF\xFE"
      "b");
  EXPECT_EQ(text.position(3, Encoding::Utf16), (Position{0, 3}));
  EXPECT_EQ(text.offset({0, 3}, Encoding::Utf16), 3U);
}

TEST(Uris, AndPaths) {
  EXPECT_EQ(path_of("file:///a%20b/c.py"), "/a b/c.py");
  EXPECT_EQ(path_of("file://host/a.py"), "/a.py");
  EXPECT_EQ(path_of("file:///a%2"), "/a%2");
  EXPECT_EQ(path_of("file://"), "");
  EXPECT_EQ(path_of("untitled:Untitled-1"), "untitled:Untitled-1");
  EXPECT_EQ(uri_of("/a b/\xC3\xA9.py"), "file:///a%20b/%C3%A9.py");
  EXPECT_EQ(path_of(uri_of("/a b/100%.py")), "/a b/100%.py");
}

Json opened(const std::string& text) {
  return {{"textDocument", {{"uri", "file:///k.py"}, {"version", 1}, {"text", text}}}};
}

Json edit(int begin_line, int begin, int end_line, int end, const std::string& text) {
  return {{"range",
           {{"start", {{"line", begin_line}, {"character", begin}}},
            {"end", {{"line", end_line}, {"character", end}}}}},
          {"text", text}};
}

Json changes(Json list) {
  return {{"textDocument", {{"uri", "file:///k.py"}, {"version", 2}}},
          {"contentChanges", std::move(list)}};
}

TEST(Documents, ChangeStepByStep) {
  Documents documents;
  EXPECT_EQ(*documents.open(opened("one\ntwo\n")), "file:///k.py");
  EXPECT_EQ(documents.find("file:///k.py")->path, "/k.py");
  // Each change is of the text that the one before it left.
  const Json both =
      Json::array({edit(0, 0, 0, 3, "\xF0\x9F\x98\x80 first"), edit(0, 2, 1, 1, "-")});
  ASSERT_TRUE(documents.change(changes(both), Encoding::Utf16));
  EXPECT_EQ(documents.find("file:///k.py")->text->bytes(), "\xF0\x9F\x98\x80-wo\n");
  EXPECT_EQ(documents.find("file:///k.py")->version, 2);
  ASSERT_TRUE(documents.change(changes(Json::array({{{"text", "all"}}})), Encoding::Utf16));
  EXPECT_EQ(documents.find_path("/k.py")->text->bytes(), "all");
  ASSERT_TRUE(documents.close(opened("")));
  EXPECT_EQ(documents.find("file:///k.py"), nullptr);
}

TEST(Documents, RefuseWhatMakesNoSense) {
  Documents documents;
  const auto reason = [](const Result<std::string>& result) {
    return result ? "taken" : result.error().text;
  };
  EXPECT_EQ(reason(documents.change(changes(Json::array()), Encoding::Utf8)),
            "`file:///k.py` is not open");
  EXPECT_EQ(reason(documents.close(opened(""))), "`file:///k.py` is not open");
  EXPECT_EQ(reason(documents.open(Json::object())),
            "`textDocument.uri` is missing, expected a text");
  ASSERT_TRUE(documents.open(opened("text")));
  EXPECT_EQ(reason(documents.open(opened("text"))), "`file:///k.py` is open already");
  EXPECT_EQ(reason(documents.change(changes(7), Encoding::Utf8)), "`contentChanges` is no list");
  EXPECT_EQ(reason(documents.change(changes(Json::array({edit(0, 3, 0, 1, "")})), Encoding::Utf8)),
            "`range` ends before it begins: byte 3 to 1");
  EXPECT_EQ(reason(documents.change(changes(Json::array({Json::object()})), Encoding::Utf8)),
            "`text` is missing, expected a text");
  const Json big = {{"text", std::string((16U << 20U) + 1, 'x')}};
  EXPECT_EQ(reason(documents.change(changes(Json::array({big})), Encoding::Utf8)),
            "`file:///k.py` has 16777217 bytes, expected at most 16777216");
  EXPECT_EQ(documents.find("file:///k.py")->text->bytes(), "text") << "it stays as it was";
}

}  // namespace
}  // namespace ww::lsp
