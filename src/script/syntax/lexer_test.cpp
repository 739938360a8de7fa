// SPDX-License-Identifier: Apache-2.0
// Tokens and their places.
#include "script/syntax/lexer.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "script/syntax/literals.h"

namespace ww::script::lexer_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Tokens as words: what has no text of its own in capitals, f-strings in pieces.
std::string tokens_of(std::string_view text, Layout layout = Layout::Lines) {
  std::string out;
  const TokenList list = tokenize(text, layout);
  for (const Token& token : list.tokens) {
    const std::string own(text.substr(token.begin, token.end - token.begin));
    const std::string shown = token.kind == TokenKind::Newline       ? "NL"
                              : token.kind == TokenKind::Indent      ? "IN"
                              : token.kind == TokenKind::Dedent      ? "OUT"
                              : token.kind == TokenKind::End         ? "END"
                              : token.kind == TokenKind::Error       ? "ERROR"
                              : token.kind == TokenKind::FStringText ? "<" + own + ">"
                                                                     : own;
    out += (out.empty() ? "" : " ") + shown;
  }
  return out;
}

std::string error_of(std::string_view text) { return tokenize(text, Layout::Lines).error.text; }

struct Row {
  std::string_view text;
  std::string_view tokens;
};
void expect_tokens(const std::vector<Row>& rows) {
  for (const Row& row : rows) EXPECT_EQ(tokens_of(row.text), row.tokens) << row.text;
}

TEST(ScriptLexer, Operators) {
  expect_tokens({{"a+b", "a + b NL END"},
                 {"a**=b**c", "a **= b ** c NL END"},
                 {"a//=b//c/d", "a //= b // c / d NL END"},
                 {"a<<=b<<c<=d<e", "a <<= b << c <= d < e NL END"},
                 {"a>>=b>>c>=d>e", "a >>= b >> c >= d > e NL END"},
                 {"x:=y:z", "x := y : z NL END"},
                 {"a...b..c", "a ... b . . c NL END"},
                 {"a->b-=c", "a -> b -= c NL END"},
                 {"a!=b==c=d", "a != b == c = d NL END"},
                 {"@a@=b", "@ a @= b NL END"},
                 {"~a^=b^c|=d|e&=f&g%=h%i", "~ a ^= b ^ c |= d | e &= f & g %= h % i NL END"}});
}

TEST(ScriptLexer, EveryFixedTextIsReadBack) {
  for (int i = static_cast<int>(TokenKind::NotEqual); i <= static_cast<int>(TokenKind::KwYield);
       ++i) {
    const auto kind = static_cast<TokenKind>(i);
    const std::string text(fixed_text_of(kind));
    ASSERT_FALSE(text.empty()) << i;
    const std::string closers = ")]}!";
    if (closers.find(text) != std::string::npos) continue;  // no token on its own
    EXPECT_EQ(tokenize(text, Layout::Free).tokens[0].kind, kind) << text;
  }
  EXPECT_EQ(fixed_text_of(TokenKind::Name), "");
}

TEST(ScriptLexer, NamesAndKeywords) {
  expect_tokens({{"_a1 für λ 变量", "_a1 für λ 变量 NL END"},
                 {"ifx if iff", "ifx if iff NL END"},
                 {"match case type print", "match case type print NL END"}});
  EXPECT_EQ(tokenize("If", Layout::Free).tokens[0].kind, TokenKind::Name);
  EXPECT_EQ(tokenize("as", Layout::Free).tokens[0].kind, TokenKind::KwAs);
  EXPECT_EQ(tokenize("async", Layout::Free).tokens[0].kind, TokenKind::KwAsync);
}

TEST(ScriptLexer, Blocks) {
  expect_tokens({{"", "END"},
                 {"\n\n  # only a comment\n", "END"},
                 {"a\n", "a NL END"},
                 {"a:\n  b\nc", "a : NL IN b NL OUT c NL END"},
                 {"a:\n  b:\n    c\nd", "a : NL IN b : NL IN c NL OUT OUT d NL END"},
                 {"a:\n  b\n\n# c\n    # d\n  e", "a : NL IN b NL e NL OUT END"},
                 {"a:\n\tb\n        c", "a : NL IN b NL ERROR"},
                 {"a:\n        b\n\tc", "a : NL IN b NL ERROR"},
                 {"a:\n  \tb\n  \tc", "a : NL IN b NL c NL OUT END"},
                 {"a:\r\n  b\r\nc\r\n", "a : NL IN b NL OUT c NL END"},
                 {"a\rb", "a NL b NL END"},
                 {"\xEF\xBB\xBFx", "x NL END"},
                 {"\fa\n\f\nb", "a NL b NL END"},
                 {"a; b;\n", "a ; b ; NL END"}});
}

TEST(ScriptLexer, LinesThatGoOn) {
  expect_tokens({{"a + \\\n  b", "a + b NL END"},
                 {"a + \\\r\n  b", "a + b NL END"},
                 {"(a,\n     # c\n  b)\nc", "( a , b ) NL c NL END"},
                 {"[\n{\n(\n)\n}\n]", "[ { ( ) } ] NL END"}});
  EXPECT_EQ(tokens_of("\n a\n  + b\n", Layout::Free), "a + b END");
}

TEST(ScriptLexer, Numbers) {
  for (const char* text :
       {"0", "00", "0_0", "1", "1_000", "0xFf", "0x_1", "0o17", "0b1_0", "0B1"}) {
    const TokenList list = tokenize(text, Layout::Free);
    EXPECT_EQ(list.tokens[0].kind, TokenKind::Int) << text;
    EXPECT_EQ(list.tokens.size(), 2U) << text;
  }
  for (const char* text : {"1.", ".5", "1.5", "1e3", "1E+3", "1_0.0_1e-1_0", "00.5", "09e1"}) {
    const TokenList list = tokenize(text, Layout::Free);
    EXPECT_EQ(list.tokens[0].kind, TokenKind::Float) << text;
    EXPECT_EQ(list.tokens.size(), 2U) << text;
  }
  expect_tokens({{"1if 2else 3", "1 if 2 else 3 NL END"},
                 {"0xfor 1", "0xf or 1 NL END"},
                 {"1..real", "1. . real NL END"},
                 {"1.e", "ERROR"}});
}

TEST(ScriptLexer, BadNumbers) {
  EXPECT_EQ(error_of("1abc"), "found `1abc`, which is neither a number nor a name");
  EXPECT_EQ(error_of("1__0"), "found `1__0`, which is neither a number nor a name");
  EXPECT_EQ(error_of("1_"), "found `1_`, which is neither a number nor a name");
  EXPECT_EQ(error_of("0x"), "found `0x`, which is neither a number nor a name");
  EXPECT_EQ(error_of("0b12"), "found `0b12`, which is neither a number nor a name");
  EXPECT_EQ(error_of("2.5j"),
            "found `2.5j`, which is imaginary; complex numbers are not supported");
  EXPECT_EQ(error_of("017"),
            "found `017`, expected no leading zero; an octal number begins with "
            "`0o`");
}

TEST(ScriptLexer, ValuesOfNumbers) {
  EXPECT_EQ(*integer_of("1_000"), 1000U);
  EXPECT_EQ(*integer_of("0xFFFF_FFFF_FFFF_FFFF"), 0xFFFFFFFFFFFFFFFFU);
  EXPECT_EQ(*integer_of("0o17"), 15U);
  EXPECT_EQ(*integer_of("0b101"), 5U);
  EXPECT_EQ(integer_of("18446744073709551616").error().text,
            "`18446744073709551616` is too large for an integer, which is at most "
            "18446744073709551615");
  EXPECT_EQ(real_of("1_0.5e-1"), 1.05);
  EXPECT_EQ(real_of("5e-324"), 5e-324);
  EXPECT_EQ(fmt::format("{}", real_of("1e999")), "inf");
  EXPECT_EQ(fmt::format("{}", real_of("1" + std::string(400, '0') + ".")), "inf");
  EXPECT_EQ(real_of("1e-999"), 0.0);
  EXPECT_EQ(real_of("0." + std::string(400, '0') + "1"), 0.0);
}

TEST(ScriptLexer, Strings) {
  expect_tokens({{R"('a' "b" '')", R"('a' "b" '' NL END)"},
                 {R"("a\"b" 'c\'d' "\\")", R"("a\"b" 'c\'d' "\\" NL END)"},
                 {R"(r"\"" r'\')", R"(r"\"" ERROR)"},
                 {R"(rb'x' Rb'y' bR"z" u'w' U"v")", R"(rb'x' Rb'y' bR"z" u'w' U"v" NL END)"},
                 {"\"\"\"a\n\"b\"\"\"\"", "\"\"\"a\n\"b\"\"\" ERROR"},
                 {"'''a\n''b''' c", "'''a\n''b''' c NL END"},
                 {"'a\\\nb'", "'a\\\nb' NL END"},
                 {"ur'x'", "ur 'x' NL END"}});
}

TEST(ScriptLexer, FormatStrings) {
  expect_tokens(
      {{R"(f"a{b}c")", R"(f" <a> { b } <c> " NL END)"},
       {R"(f"")", R"(f" " NL END)"},
       {R"(f"{{a}}")", R"(f" <{{a}}> " NL END)"},
       {R"(f"{a!r:>{w}.2f}")", R"(f" { a ! r : <>> { w } <.2f> } " NL END)"},
       {R"(f"{a != b}")", R"(f" { a != b } " NL END)"},
       {R"(f"{a:=^8}")", R"(f" { a : <=^8> } " NL END)"},
       {R"(f"{a[1:2]}{ {1: 2}[1] }")", R"(f" { a [ 1 : 2 ] } { { 1 : 2 } [ 1 ] } " NL END)"},
       {R"(f"{(lambda: 1)()}")", R"(f" { ( lambda : 1 ) ( ) } " NL END)"},
       {R"(f"{f'{a}'}")", R"(f" { f' { a } ' } " NL END)"},
       {R"(f"{"a"}")", R"(f" { "a" } " NL END)"},
       {R"(rf"\{a}\d")", R"(rf" <\> { a } <\d> " NL END)"},
       {"f'''a\n{\nb}\n'''", "f''' <a\n> { b } <\n> ''' NL END"},
       {R"(f"\"{a}\\")", R"(f" <\"> { a } <\\> " NL END)"}});
}

TEST(ScriptLexer, Escapes) {
  const auto read = [](std::string_view text) {
    const Quotes quotes = quotes_of(text);
    std::string out;
    const auto done = append_string(
        out, text.substr(quotes.length, text.size() - quotes.length - quotes.closing()), quotes, 0);
    return done ? out : "error: " + done.error().text;
  };
  EXPECT_EQ(read(R"("\n\t\\\'\"\a\b\f\r\v")"), "\n\t\\'\"\a\b\f\r\v");
  EXPECT_EQ(read(R"("\x41\u00e9\U0001F600")"), "Aé😀");
  EXPECT_EQ(read(R"("\101\0")"), std::string("A\0", 2));
  EXPECT_EQ(read(R"("\xff")"), "ÿ");
  EXPECT_EQ(read(R"(b"\xff\u00e9")"), "\xff\\u00e9");
  EXPECT_EQ(read(R"(r"\n\'")"), R"(\n\')");
  EXPECT_EQ(read(R"("\d\ ")"), R"(\d\ )");
  EXPECT_EQ(read("'a\\\nb'"), "ab");
  EXPECT_EQ(read("'a\\\r\nb'"), "ab");
  EXPECT_EQ(read("'''a\r\nb\rc'''"), "a\nb\nc");
  EXPECT_EQ(read(R"("\x4")"), R"(error: found `\x4`, expected 2 hexadecimal digits after `\x`)");
  EXPECT_EQ(read(R"("\u12")"), R"(error: found `\u12`, expected 4 hexadecimal digits after `\u`)");
  EXPECT_EQ(read(R"("\ud800")"), R"(error: found `\ud800`, which is not a character)");
  EXPECT_EQ(read(R"("\U00110000")"), R"(error: found `\U00110000`, which is not a character)");
  EXPECT_EQ(read(R"("\N{BULLET}")"),
            R"(error: found `\N`, which is not supported; write the character itself or its `\u` )"
            R"(code)");
  EXPECT_EQ(read("b'é'"), "error: a bytes string has ASCII characters only");
}

TEST(ScriptLexer, Prefixes) {
  EXPECT_TRUE(quotes_of("Rb'x'").bytes);
  EXPECT_TRUE(quotes_of("fR\"\"\"x").triple);
  EXPECT_EQ(quotes_of("fR\"\"\"x").length, 5);
  for (const char* text : {"fb'x'", "ur'x'", "rr'x'", "x'x'", "r", "", "ru'x'"})
    EXPECT_FALSE(quotes_of(text).valid()) << text;
}

TEST(ScriptLexer, Places) {
  std::vector<Span> spans;
  for (const Token& token : tokenize("ab:\n  c\n", Layout::Lines).tokens)
    spans.push_back(token.span());
  EXPECT_THAT(spans, ElementsAre(Span::at(0, 2), Span::at(2, 3), Span::at(3, 4), Span::at(4, 6),
                                 Span::at(6, 7), Span::at(7, 8), Span::at(8, 8), Span::at(8, 8)));
}

TEST(ScriptLexer, Utf8) {
  EXPECT_EQ(find_bad_byte("plain text, and more than eight bytes of it: é€😀"),
            std::string_view::npos);
  EXPECT_EQ(find_bad_byte(std::string_view("abcdefghij\0k", 12)), 10U);
  EXPECT_EQ(find_bad_byte("a\xC3("), 1U);            // no continuation
  EXPECT_EQ(find_bad_byte("a\xC0\xAF"), 1U);         // overlong
  EXPECT_EQ(find_bad_byte("\xED\xA0\x80"), 0U);      // surrogate
  EXPECT_EQ(find_bad_byte("\xF4\x90\x80\x80"), 0U);  // above U+10FFFF
  EXPECT_EQ(find_bad_byte("\xE2\x82"), 0U);          // cut
  for (const char32_t value : {0x41U, 0xE9U, 0x20ACU, 0x1F600U}) {
    std::string out;
    append_utf8(out, value);
    EXPECT_EQ(decode_utf8(out).value, value);
    EXPECT_EQ(decode_utf8(out).bytes, out.size());
  }
  EXPECT_TRUE(is_wide_letter(U'é'));
  EXPECT_TRUE(is_wide_letter(U'·'));
  EXPECT_FALSE(is_wide_letter(U'×'));
  EXPECT_FALSE(is_wide_letter(U'→'));
  EXPECT_FALSE(is_wide_letter(0x00A0));
}

}  // namespace
}  // namespace ww::script::lexer_test
