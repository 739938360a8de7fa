// SPDX-License-Identifier: Apache-2.0
#include "ptx/lexer.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ww::ptx::lexer_test {
namespace {

std::string_view kind_name(TokenKind kind) {
  switch (kind) {
    case TokenKind::End:
      return "end";
    case TokenKind::Word:
      return "word";
    case TokenKind::DotWord:
      return "dot";
    case TokenKind::Int:
      return "int";
    case TokenKind::F32:
      return "f32";
    case TokenKind::F64:
      return "f64";
    case TokenKind::Decimal:
      return "decimal";
    case TokenKind::String:
      return "string";
    case TokenKind::Punct:
      return "punct";
    case TokenKind::BadCharacter:
      return "bad";
    case TokenKind::BadNumber:
      return "bad number";
    case TokenKind::HugeNumber:
      return "huge";
    case TokenKind::OpenString:
      return "open string";
    case TokenKind::OpenComment:
      return "open comment";
  }
  return "";
}

// "word add.s32 | dot .b32 | punct ;", without the end.
std::string tokens(const std::string& text) {
  Lexer lexer(text, false);
  std::string out;
  for (const char* at = text.data();;) {
    at = lexer.skip_blanks(at);
    const Token token = lexer.token(at);
    if (token.kind == TokenKind::End) return out;
    if (!out.empty()) out += " | ";
    out += fmt::format("{} {}", kind_name(token.kind),
                       text.substr(token.begin, token.end - token.begin));
    at = text.data() + token.end;
  }
}

// Each text is also lexed far from its end, where 16 bytes are looked at in one go.
void expect_tokens(const std::string& text, const std::string& expected) {
  EXPECT_EQ(tokens(text), expected) << text;
  EXPECT_EQ(tokens(text + " ;;;;;;;;").substr(0, expected.size()), expected) << text;
}

TEST(Lexer, WordsKeepTheirDots) {
  expect_tokens("ld.global.v4.b32", "word ld.global.v4.b32");
  expect_tokens("%tid.x %r1", "word %tid.x | word %r1");
  expect_tokens("$L__BB0_1:", "word $L__BB0_1 | punct :");
  expect_tokens("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes",
                "word cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes");
  expect_tokens("a.L2::128B", "word a.L2::128B");
  expect_tokens("_ _a a$b", "word _ | word _a | word a$b");
}

// Directives may be written without blanks between them.
TEST(Lexer, DirectivesEndAtTheNextDot) {
  expect_tokens(".reg.b32 a", "dot .reg | dot .b32 | word a");
  expect_tokens(".shared::cta.b8", "dot .shared::cta | dot .b8");
  expect_tokens(".param.u64.ptr.global.align 8",
                "dot .param | dot .u64 | dot .ptr | dot .global | dot .align | int 8");
}

TEST(Lexer, WhatEndsAWord) {
  expect_tokens("a: b::", "word a | punct : | word b | punct : | punct :");
  expect_tokens("a. b", "word a | bad . | word b");
  expect_tokens("a... b", "word a | bad . | bad . | bad . | word b");
  expect_tokens("%r<5>", "word %r | punct < | int 5 | punct >");
  expect_tokens("a%b", "word a | word %b");
  expect_tokens("5 % 3", "int 5 | punct % | int 3");
}

TEST(Lexer, NumbersInEachSpelling) {
  for (const char* text : {"0", "7", "1234567890123456789", "18446744073709551615", "0x1F", "0XfF",
                           "0777", "00", "0b101", "0B1", "7U", "0xFFU", "0U"})
    expect_tokens(text, fmt::format("int {}", text));
  for (const char* text : {"1.5", ".5", "5.", "1e3", "1E+3", "2.5e-3", "0.0", "1.e5"})
    expect_tokens(text, fmt::format("decimal {}", text));
  expect_tokens("0f3F800000", "f32 0f3F800000");
  expect_tokens("0F3f800000", "f32 0F3f800000");
  expect_tokens("0d3FF0000000000000", "f64 0d3FF0000000000000");
}

TEST(Lexer, WhatLooksLikeANumberAndIsNone) {
  for (const char* text : {"0789", "0x", "0b2", "12ab", "7u", "0f3F80", "0f3F8000001", "0d3FF",
                           "1.5f", "1e", "1.2.3", "0xU", "1e+"})
    expect_tokens(text, fmt::format("bad number {}", text));
  expect_tokens("18446744073709551616", "huge 18446744073709551616");
  expect_tokens("0x10000000000000000", "huge 0x10000000000000000");
}

TEST(Lexer, ValuesOfNumbers) {
  const std::pair<const char*, std::uint64_t> table[] = {
      {"42", 42},         {"0x1F", 31},
      {"017", 15},        {"0b101", 5},
      {"0", 0},           {"18446744073709551615", ~std::uint64_t{0}},
      {"0xfFU", 255},     {"0f3F800000", 0x3F800000U},
      {"00000000012", 10}};
  for (const auto& [text, value] : table) {
    const Lexer lexer(text, false);
    EXPECT_EQ(lexer.token(lexer.text().data()).value, value) << text;
  }
}

TEST(Lexer, Strings) {
  expect_tokens("\"a b\" ;", "string \"a b\" | punct ;");
  expect_tokens("\"C:\\dir\\\" x", "string \"C:\\dir\\\" | word x");
  EXPECT_EQ(tokens("\"abc"), "open string \"abc");
  EXPECT_EQ(tokens("\"abc\nd"), "open string \"abc | word d");
}

TEST(Lexer, CommentsAndLineDirectivesAreSkipped) {
  expect_tokens("a // b\nc", "word a | word c");
  expect_tokens("a /* b\n * c **/ d", "word a | word d");
  expect_tokens("# 12 \"file.cu\"\na", "word a");
  expect_tokens("a /b", "word a | punct / | word b");
  EXPECT_EQ(tokens("a /* b"), "word a | open comment /* b");
  EXPECT_EQ(tokens("a /*/"), "word a | open comment /*/");
  EXPECT_EQ(tokens("// only"), "");
}

TEST(Lexer, CharactersWithoutMeaning) {
  expect_tokens("a # 1", "word a | bad # | int 1");
  expect_tokens("`\\'", "bad ` | bad \\ | bad '");
  expect_tokens("\xC3\xA9x", "bad \xC3\xA9 | word x");
  EXPECT_EQ(tokens(std::string("a\0b", 3)), std::string("word a | bad \0 | word b", 23));
}

TEST(Lexer, KeepsCommentsThatHaveALine) {
  const std::string text = "// one\n a // two\n\t//three\r\n/* four\n  five */ b //  six";
  Lexer lexer(text, true);
  std::string kept;
  for (const char* at = text.data();;) {
    at = lexer.skip_blanks(at);
    lexer.skip_blanks(text.data());  // what was met before is not kept twice
    for (const Lexer::Comment& comment : lexer.take_comments())
      kept += fmt::format("[{}]", comment.text);
    const Token token = lexer.token(at);
    if (token.kind == TokenKind::End) break;
    at = text.data() + token.end;
  }
  EXPECT_EQ(kept, "[one][three][four][ five ]");
}

TEST(Lexer, DescribesTokens) {
  const auto described = [](std::string_view text) {
    const Lexer lexer(text, false);
    return describe(lexer.token(text.data()), text);
  };
  EXPECT_EQ(described("add.s32 x"), "`add.s32`");
  EXPECT_EQ(described(""), "the end of the text");
  EXPECT_EQ(described(std::string_view("\0", 1)), "`\\x00`");
  EXPECT_EQ(described("\xFF"), "`\\xff`");
  EXPECT_EQ(described(std::string(50, 'a')), "`" + std::string(40, 'a') + "…`");
}

}  // namespace
}  // namespace ww::ptx::lexer_test
