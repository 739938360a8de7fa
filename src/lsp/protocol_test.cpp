// SPDX-License-Identifier: Apache-2.0
// Messages as they come: in pieces, several at once, and from programs that mean harm.
#include "lsp/protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ww::lsp {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string next_of(Framing& framing) {
  const auto contents = framing.next();
  return !contents ? "error: " + contents.error().text : contents->value_or("nothing");
}

TEST(Framing, TakesMessagesInPieces) {
  Framing framing;
  const std::string bytes = framed("{\"a\":1}") + framed("second");
  std::vector<std::string> seen;
  for (const char c : bytes) {
    framing.feed(std::string_view(&c, 1));
    if (std::string text = next_of(framing); text != "nothing") seen.push_back(text);
  }
  EXPECT_THAT(seen, testing::ElementsAre("{\"a\":1}", "second"));
}

TEST(Framing, TakesSeveralMessagesAtOnce) {
  Framing framing;
  framing.feed(framed("one") + framed("") + framed("three") + "Content-Le");
  EXPECT_EQ(next_of(framing), "one");
  EXPECT_EQ(next_of(framing), "");
  EXPECT_EQ(next_of(framing), "three");
  EXPECT_EQ(next_of(framing), "nothing");
}

TEST(Framing, TakesOtherHeaderLines) {
  Framing framing;
  framing.feed(
      "content-type: application/vscode-jsonrpc; charset=utf-8\r\nCONTENT-LENGTH:  2 \r\n\r\nhi");
  EXPECT_EQ(next_of(framing), "hi");
}

TEST(Framing, RefusesHeadersWithoutALength) {
  const std::pair<std::string, std::string> cases[] = {
      {"\r\n\r\n", "a header without `Content-Length`"},
      {"Hello: 1\r\n\r\n", "a header without `Content-Length`"},
      {"GET / HTTP/1.1\r\n\r\n", "header line `GET / HTTP/1.1` has no `:`"},
      {"Content-Length: -1\r\n\r\n", "`Content-Length` is `-1`, expected a number of bytes"},
      {"Content-Length: 5x\r\n\r\n", "`Content-Length` is `5x`, expected a number of bytes"},
      {"Content-Length: 99999999999999999999\r\n\r\n",
       "`Content-Length` is `99999999999999999999`, expected a number of bytes"},
      {std::string(kMaxHeaderBytes + 1, 'x'), "a header of more than 8192 bytes"},
  };
  for (const auto& [bytes, reason] : cases) {
    Framing framing;
    framing.feed(bytes);
    EXPECT_EQ(next_of(framing), "error: " + reason);
    framing.feed(framed("behind it"));
    EXPECT_EQ(next_of(framing), "nothing") << "nothing can follow";
  }
}

TEST(Framing, PassesOverAMessageThatIsTooLarge) {
  Framing framing;
  framing.feed("Content-Length: 67108865\r\n\r\n");
  EXPECT_EQ(next_of(framing), "error: a message of 67108865 bytes, expected at most 67108864");
  const std::string piece(1U << 20U, 'x');
  for (int i = 0; i < 64; ++i) {
    framing.feed(piece);
    EXPECT_EQ(next_of(framing), "nothing");
  }
  framing.feed("x" + framed("next"));
  EXPECT_EQ(next_of(framing), "next");
}

MessageError error_of(std::string_view contents) {
  const auto message = parse_message(contents);
  return message ? MessageError{ErrorCode::InternalError, "was taken", nullptr} : message.error();
}

TEST(Messages, AreRead) {
  const auto request = parse_message(R"({"jsonrpc":"2.0","id":"x","method":"m","params":[1]})");
  ASSERT_TRUE(request);
  EXPECT_TRUE(request->is_request());
  EXPECT_EQ(*request->id, "x");
  EXPECT_EQ(request->params.dump(), "[1]");
  EXPECT_FALSE(parse_message(R"({"jsonrpc":"2.0","method":"m"})")->is_request());
  EXPECT_TRUE(parse_message(R"({"jsonrpc":"2.0","id":1,"result":null})")->is_response());
}

TEST(Messages, WhatIsNoJson) {
  for (const std::string_view text :
       {"", "{", "nonsense", "{\"a\":}", "{\"a\":\"\xff\"}", "{\"a\":\"\\ud800\"}", "[1,]"}) {
    EXPECT_EQ(error_of(text).code, ErrorCode::ParseError) << text;
    EXPECT_THAT(error_of(text).text,
                StartsWith("the message is no JSON in UTF-8: problem at byte "));
  }
}

TEST(Messages, DeepOnesAreRefused) {
  const std::string deep = std::string(200'000, '[');
  EXPECT_EQ(error_of(deep).text,
            "the message is JSON with more than 100 brackets inside each other");
  // Brackets in a text are no nesting.
  EXPECT_EQ(error_of("\"" + std::string(500, '[') + "\\\"\"").code, ErrorCode::InvalidRequest);
}

TEST(Messages, WhatIsNoMessage) {
  EXPECT_EQ(error_of("[]").text, "the message is a JSON array, expected an object");
  EXPECT_EQ(error_of("{}").text, "`jsonrpc` is not \"2.0\"");
  EXPECT_EQ(error_of(R"({"jsonrpc":"2.0","id":7})").text,
            "neither `method` nor `result` nor `error`");
  EXPECT_EQ(error_of(R"({"jsonrpc":"2.0","id":7})").id, 7);
  EXPECT_EQ(error_of(R"({"jsonrpc":"2.0","id":7,"method":3})").text,
            "`method` is not the name of a method");
  EXPECT_EQ(error_of(R"({"jsonrpc":"2.0","id":{},"method":"m"})").text,
            "`id` is neither a number nor a text");
  EXPECT_EQ(error_of("[]").code, ErrorCode::InvalidRequest);
}

TEST(Fields, SayWhatIsWrong) {
  const Json json = Json::parse(R"({"a":{"b":"x","c":1.5,"d":18446744073709551615}})").value();
  EXPECT_EQ(*text_at(json, "a.b"), "x");
  EXPECT_EQ(text_at(json, "a.q").error().text, "`a.q` is missing, expected a text");
  EXPECT_EQ(text_at(json, "a.c").error().text, "`a.c` is a JSON number, expected a text");
  EXPECT_EQ(integer_at(json, "a.b").error().text,
            "`a.b` is a JSON string, expected a whole number");
  EXPECT_EQ(integer_at(json, "a.c").error().text, "`a.c` is 1.5, expected a whole number");
  EXPECT_THAT(integer_at(json, "a.d").error().text, HasSubstr("is 18446744073709551615, expected"));
  EXPECT_EQ(integer_at(json, "a.b.c").error().text, "`a.b.c` is missing, expected a whole number");
}

}  // namespace
}  // namespace ww::lsp
