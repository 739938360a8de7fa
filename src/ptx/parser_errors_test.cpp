// SPDX-License-Identifier: Apache-2.0
// Each error the reader can report, with its place; how it goes on; and what it refuses to follow.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ptx/parser.h"
#include "ptx/test_text.h"

namespace ww::ptx::parser_errors_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Row {
  std::string text;
  std::string error;
};

void expect_errors(const std::vector<Row>& rows, std::string (*frame)(std::string_view)) {
  for (const Row& row : rows)
    EXPECT_THAT(errors_of(frame(row.text)), ElementsAre(row.error)) << row.text;
}
std::string as_it_is(std::string_view text) { return std::string(text); }

TEST(ParseErrors, Header) {
  expect_errors(
      {{"", "1:1: found the end of the text, expected `.version` [Syntax]"},
       {".target sm_90\n", "1:1: found `.target`, expected `.version` [Syntax]"},
       {"hello world", "1:1: found `hello`, expected `.version` [Syntax]"},
       {".version 8 .target sm_90", "1:10: found `8`, expected a version such as `8.8` [Syntax]"},
       {".version 8.99999999 .target sm_90",
        "1:10: found `8.99999999`, expected a version such as `8.8` [Syntax]"},
       {".version 8.8\n.global .u32 a;", "2:1: found `.global`, expected `.target` [Syntax]"},
       {".version 8.8 .target 5 .address_size 64",
        "1:22: found `5`, expected a target such as `sm_90` [Syntax]"},
       {".version 8.8 .target sm_90 .address_size 16",
        "1:42: found `16`, expected 32 or 64 [Syntax]"},
       {".version 8.8 .target sm_90 .version 8.8",
        "1:28: found `.version`, expected a variable or function [Syntax]"}},
      as_it_is);
}

TEST(ParseErrors, Variables) {
  expect_errors(
      {{".global u32 a;", "4:9: found `u32`, expected a type such as `.b32` [Syntax]"},
       {".global .bf16 a;", "4:9: found `.bf16`, expected a type such as `.b32` [Syntax]"},
       {".global .v2 a;", "4:13: found `a`, expected a type such as `.b32` [Syntax]"},
       {".global .align 3 .b8 a;", "4:16: found alignment 3, expected a power of two [Syntax]"},
       {".global .align x .b8 a;", "4:16: found `x`, expected an alignment [Syntax]"},
       {".global .align 4294967296 .b8 a;",
        "4:16: `4294967296` is too large for an alignment, which is at most 4294967295 [Overflow]"},
       {".global .b8 ;", "4:13: found `;`, expected a name [Syntax]"},
       {".global .b8 a.b;", "4:13: found `a.b`, expected a name without dots [Syntax]"},
       {".global .b8 a", "4:14: found the end of the text, expected `,` or `;` [Syntax]"},
       {".global .b8 a[2;", "4:16: found `;`, expected `]` [Syntax]"},
       {".global .b8 a = s[1];", "4:18: found `[`, expected `+`, `,` or `;` [Syntax]"},
       {".global .b8 a = s-1;",
        "4:18: found `-` behind `s`, expected `+`; a negative offset is written `s+-4` [Syntax]"},
       {".shared .b32 s[4294967296][4294967296];",
        "4:14: `s` has more than 1099511627776 bytes [TooLarge]"},
       {".global .v4 .f32 s[68719476737];",
        "4:18: `s` has more than 1099511627776 bytes [TooLarge]"},
       {".global .b64 s<1000000>[1000000];",
        "4:14: `s` has more than 1099511627776 bytes [TooLarge]"},
       {".entry k(.param .b8 p[2199023255552]) {}",
        "4:21: `p` has more than 1099511627776 bytes [TooLarge]"},
       {".global .b8 a[-1];", "4:15: found `-`, expected an extent [Syntax]"},
       {".global .b8 a<2;", "4:16: found `;`, expected `>` [Syntax]"},
       {".global .b8 a = ;", "4:17: found `;`, expected an operand [Syntax]"},
       {".global .b8 a = {1, };", "4:21: found `}`, expected an operand [Syntax]"},
       {".global .b8 a = {1 2};", "4:20: found `2`, expected `,` or `}` [Syntax]"},
       {".global .b8 a = generic(1);", "4:25: found `1`, expected a symbol [Syntax]"},
       {".global .b8 a = generic(s;", "4:26: found `;`, expected `)` [Syntax]"},
       {".global .b8 a = 0xFF(1);", "4:22: found `1`, expected a symbol [Syntax]"},
       {".global .b8 a = 1.5(s);", "4:20: found `(`, expected `,`, `}` or `;` [Syntax]"},
       {".global .attribute(.big) .b8 a;",
        "4:20: found `.big`, expected `.managed` or `.unified` [Syntax]"},
       {".global .attribute(.unified(1)) .b8 a;", "4:30: found `)`, expected `,` [Syntax]"},
       {".visible a;", "4:10: found `a`, expected a variable or function [Syntax]"},
       {".reg .b32 a;", "4:1: found `.reg`, expected a variable or function [Syntax]"},
       {"ret;", "4:1: found `ret`, expected a variable or function [Syntax]"}},
      [](std::string_view text) { return with_header(text); });
}

TEST(ParseErrors, Functions) {
  expect_errors(
      {{".entry {}", "4:8: found `{`, expected the function's name [Syntax]"},
       {".entry k(a) {}", "4:10: found `a`, expected `.param` or `.reg` [Syntax]"},
       {".entry k(.param .u64) {}", "4:21: found `)`, expected the parameter's name [Syntax]"},
       {".entry k(.param .u64 a .param .u64 b) {}",
        "4:24: found `.param`, expected `,` or `)` [Syntax]"},
       {".entry k(.param .u64 .ptr .reg a) {}",
        "4:27: found `.reg`, expected `.global`, `.const`, `.shared` or `.local` [Syntax]"},
       {".entry k() .maxntid {}", "4:21: found `{`, expected an integer [Syntax]"},
       {".entry k() .maxntid 1,,2 {}", "4:23: found `,`, expected an integer [Syntax]"},
       {".entry k() .maxntid 1,2,3,4 {}", "4:26: found `,`, expected `{` or `;` [Syntax]"},
       {".entry k() .maxnreg 4294967296 {}",
        "4:21: `4294967296` is too large for an integer, which is at most 4294967295 [Overflow]"},
       {".entry k() .maxntidd 4, 5 {}",
        "4:12: found `.maxntidd`, expected a directive, `{` or `;`; did you mean `.maxntid`? "
        "[Syntax]"},
       {".entry k() ret;", "4:12: found `ret`, expected `{` or `;` [Syntax]"},
       {".entry k() .pragma 5; {}", "4:20: found `5`, expected a string [Syntax]"},
       {".alias a b;", "4:10: found `b`, expected `,` [Syntax]"},
       {".file x \"a\"", "4:7: found `x`, expected a file's number [Syntax]"},
       {".file 1 a", "4:9: found `a`, expected a path in quotes [Syntax]"},
       {".section debug {}",
        "4:10: found `debug`, expected a section such as `.debug_str` [Syntax]"},
       {".section .debug { .u32 1 }",
        "4:19: found `.u32`, expected a label, `.b8`, `.b16`, `.b32` or `.b64` [Syntax]"},
       {".section .debug { .b8 x y }", "4:27: found `}`, expected `:` [Syntax]"},
       {".section .debug { .b8 ; }", "4:23: found `;`, expected an integer [Syntax]"}},
      [](std::string_view text) { return with_header(text); });
}

TEST(ParseErrors, Statements) {
  expect_errors(
      {{"add.s32 a, b", "7:1: found `}`, expected `,` or `;` [Syntax]"},
       {"add.s32 a, ;", "6:12: found `;`, expected an operand [Syntax]"},
       {"add.s32 a b;", "6:11: found `b`, expected `,` or `;` [Syntax]"},
       {"%r1 = 5;", "6:1: found `%r1`, expected an instruction [Syntax]"},
       {"@p %r1;", "6:4: found `%r1`, expected an instruction [Syntax]"},
       {"@ add.s32;", "6:10: found `;`, expected an instruction [Syntax]"},
       {"@!;", "6:3: found `;`, expected a predicate [Syntax]"},
       {"5;", "6:1: found `5`, expected a statement or `}` [Syntax]"},
       {";",
        "6:1: found `;` without a statement before it, which ptxas does not take; leave it out "
        "[Syntax]"},
       {".foo 1;", "6:1: found `.foo`, expected a statement [Syntax]"},
       {".reg .b32 %r<4;", "6:15: found `;`, expected `>` [Syntax]"},
       {".reg .b32 4;", "6:11: found `4`, expected a register's name [Syntax]"},
       {".loc 1 2;", "6:9: found `;`, expected a column [Syntax]"},
       {".loc 1 2 3, inlined_at 1 2 3",
        "6:13: found `inlined_at`, expected `function_name` [Syntax]"},
       {".loc 1 2 4294967296",
        "6:10: `4294967296` is too large for a column, which is at most 4294967295 [Overflow]"},
       {".callprototype _ ();",
        "6:1: found `.callprototype`, expected `label: .callprototype` [Syntax]"},
       {"p: .callprototype f ();", "6:19: found `f`, expected `_` [Syntax]"},
       {"t: .branchtargets 5;", "6:19: found `5`, expected a name [Syntax]"},
       {"a.b: ret;", "6:1: found `a.b`, expected a label without dots [Syntax]"},
       {".pragma \"x\"", "7:1: found `}`, expected `,` or `;` [Syntax]"}},
      [](std::string_view text) { return in_kernel(text); });
}

TEST(ParseErrors, Operands) {
  expect_errors({{"op {a, b;", "6:9: found `;`, expected `,` or `}` [Syntax]"},
                 {"op {};", "6:5: found `}`, expected an operand [Syntax]"},
                 {"op {{a}};", "6:5: found `{`, expected an operand [Syntax]"},
                 {"op [a;", "6:6: found `;`, expected `,` or `]` [Syntax]"},
                 {"op [];", "6:5: found `]`, expected an operand [Syntax]"},
                 {"op [1.5];",
                  "6:5: found `1.5`, expected a register, variable or integer as address [Syntax]"},
                 {"op [a+%r1];", "6:7: found `%r1`, expected an integer [Syntax]"},
                 {"op a|5;", "6:6: found `5`, expected a predicate or `_` [Syntax]"},
                 {"op (a);", "6:5: found `a`, expected an integer [Syntax]"},
                 {"op (1;", "6:6: found `;`, expected `)` [Syntax]"},
                 {"op 1?2;", "6:7: found `;`, expected `:` of the `?` [Syntax]"},
                 {"op 1/0;", "6:5: the expression divides by zero [Syntax]"},
                 {"op -0f3F800000;", "6:5: found `0f3F800000`, expected an integer [Syntax]"},
                 {"op 1.0+2.0;", "6:7: found `+`, expected `,` or `;` [Syntax]"},
                 {"op !;", "6:5: found `;`, expected an integer [Syntax]"},
                 {"op !_;", "6:5: found `_`, expected an integer [Syntax]"},
                 {"op a-4;",
                  "6:5: found `-` behind `a`, expected `+`; a negative offset is written `a+-4` "
                  "[Syntax]"},
                 {"op [a-4];",
                  "6:6: found `-` behind `a`, expected `+`; a negative offset is written `a+-4` "
                  "[Syntax]"},
                 {"op %tid.x+4;", "6:10: found `+`, expected `,` or `;` [Syntax]"},
                 {"op {a+4, b};", "6:6: found `+`, expected `,` or `}` [Syntax]"},
                 {"call f, (a+4);", "6:11: found `+`, expected `,` or `)` [Syntax]"},
                 {".extern .shared .b8 s[];",
                  "6:1: found `.extern` in a function; such variables are declared outside "
                  "[Syntax]"},
                 {"WARP_SZ: ret;", "6:1: found `WARP_SZ`, expected a label without dots [Syntax]"},
                 {"op _-1;", "6:5: found `-`, expected `,` or `;` [Syntax]"},
                 {"op _[1];", "6:5: found `[`, expected `,` or `;` [Syntax]"},
                 {"op a, .b32;", "6:7: found `.b32`, expected an operand [Syntax]"},
                 {"op \"a\";", "6:4: found `\"a\"`, expected an operand [Syntax]"},
                 {"call f, (a;", "6:11: found `;`, expected `,` or `)` [Syntax]"}},
                [](std::string_view text) { return in_kernel(text); });
}

TEST(ParseErrors, WhatIsNoToken) {
  EXPECT_THAT(errors_of(in_kernel("op 0789;")),
              ElementsAre("6:4: `0789` is not a number [Syntax]",
                          "note: numbers are written 12, 12U, 0x1F, 017, 0b101, 1.5, 0f3F800000 or "
                          "0d3FF0000000000000"));
  EXPECT_THAT(errors_of(in_kernel("op 18446744073709551616;")),
              ElementsAre("6:4: `18446744073709551616` does not fit 64 bits [Overflow]"));
  EXPECT_THAT(errors_of(in_kernel("op a, \xC3\xA9;")),
              ElementsAre("6:7: `\xC3\xA9` begins nothing that PTX knows [Syntax]"));
  EXPECT_THAT(errors_of(in_kernel(std::string("op \0;", 5))),
              ElementsAre("6:4: `\\x00` begins nothing that PTX knows [Syntax]"));
  EXPECT_THAT(errors_of(in_kernel(".pragma \"abc;")),
              ElementsAre("6:9: the string `\"abc;` is not closed on its line [Syntax]"));
  EXPECT_THAT(errors_of(with_header(".global .b32 a; /* b")),
              ElementsAre("4:17: the comment is not closed; `*/` is missing [Syntax]"));
}

TEST(ParseErrors, AMissingBraceIsTold) {
  EXPECT_THAT(errors_of(with_header(".entry k()\n{\n\tret;\n")),
              ElementsAre("7:1: found the end of the text, expected `}` [Syntax]",
                          "note: the body of `k` begins here"));
  EXPECT_THAT(errors_of(with_header(".entry k()\n{\n\tret;\n.visible .entry l() { ret; }\n")),
              ElementsAre("7:1: found `.visible`, expected `}` [Syntax]",
                          "note: the body of `k` begins here"));
}

// --- going on ------------------------------------------------------------------------------------

TEST(ParseRecovery, EachBadStatementIsReported) {
  EXPECT_THAT(errors_of(in_kernel("add a b;\n"
                                  "mov c, d;\n"
                                  "add {a, !}, e;\n"
                                  "{ add a b; }\n"
                                  "mov c, d\n"
                                  "mul e, f;\n"
                                  "sub g, ;")),
              ElementsAre("6:7: found `b`, expected `,` or `;` [Syntax]",
                          "8:10: found `}`, expected an integer [Syntax]",
                          "9:9: found `b`, expected `,` or `;` [Syntax]",
                          "11:1: found `mul`, expected `,` or `;` [Syntax]",
                          "12:8: found `;`, expected an operand [Syntax]"));
}

TEST(ParseRecovery, GoodStatementsAroundBadOnesAreRead) {
  const ParseResult result = parse(in_kernel("mov a, b;\nadd a b;\n{ .reg .b32 c; }\nret;"));
  EXPECT_EQ(result.errors.size(), 1U);
  const Function& f = result.module.functions.at(0);
  EXPECT_EQ(f.instructions.size(), 2U);
  EXPECT_EQ(f.registers.size(), 1U);
}

TEST(ParseRecovery, AnUnclosedVectorEndsWithItsStatement) {
  EXPECT_THAT(errors_of(in_kernel("mov {a, b, c;\nadd d e;\nret;")),
              ElementsAre("6:13: found `;`, expected `,` or `}` [Syntax]",
                          "7:7: found `e`, expected `,` or `;` [Syntax]"));
}

TEST(ParseRecovery, BracesInsideBracesAreNoBlocks) {
  EXPECT_THAT(errors_of(in_kernel("mov {{a, b}, c}, d;\nadd d e;\nret;")),
              ElementsAre("6:6: found `{`, expected an operand [Syntax]",
                          "7:7: found `e`, expected `,` or `;` [Syntax]"));
}

TEST(ParseRecovery, ABlockAfterAMissingSemicolonIsSkippedWhole) {
  EXPECT_THAT(errors_of(in_kernel("mov a, b\n{ .reg .b32 c; mov c, d; }\nadd d e;")),
              ElementsAre("7:1: found `{`, expected `,` or `;` [Syntax]",
                          "8:7: found `e`, expected `,` or `;` [Syntax]"));
}

TEST(ParseRecovery, ABadHeadStillHasABody) {
  EXPECT_THAT(errors_of(with_header(".entry k(.param u64 a)\n{\n\tadd a b;\n}\n.global .b8 ;")),
              ElementsAre("4:17: found `u64`, expected a type such as `.b32` [Syntax]",
                          "6:8: found `b`, expected `,` or `;` [Syntax]",
                          "8:13: found `;`, expected a name [Syntax]"));
}

TEST(ParseRecovery, UnknownDirectivesDoNotHideTheRest) {
  EXPECT_THAT(errors_of(with_header(".entry k() .foo 1, 2 .maxntid x {\n add a b; }")),
              ElementsAre(HasSubstr("4:12: found `.foo`"), HasSubstr("4:31: found `x`"),
                          HasSubstr("5:8: found `b`")));
}

TEST(ParseRecovery, ItemsAfterABadItemAreRead) {
  const ParseResult result = parse(with_header(
      ".global .u32 a = {1, {2, x y}, 3};\n.global .u32 b\n.visible .entry k() { ret; }\n"
      ".section .s { .b8 ; }\n.global .u32 c;"));
  EXPECT_EQ(result.errors.size(), 3U);
  EXPECT_EQ(result.module.functions.size(), 1U);
  EXPECT_EQ(result.module.variables.size(), 1U);
}

TEST(ParseRecovery, StopsAfterAHundredErrors) {
  std::string body;
  for (int i = 0; i < 1000; ++i) body += "add a b;\n";
  const ParseResult result = parse(in_kernel(body));
  ASSERT_EQ(result.errors.size(), 100U);
  EXPECT_EQ(result.errors.back().notes.at(0).text,
            "100 errors found; the rest of the text was not read");
  EXPECT_EQ(parse(in_kernel(body), {.max_errors = 3}).errors.size(), 3U);
  EXPECT_EQ(parse(in_kernel(body), {.max_errors = 0}).errors.size(), 1U);
}

// --- limits --------------------------------------------------------------------------------------

std::string repeated(std::string_view piece, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += piece;
  return out;
}

TEST(ParseLimits, Nesting) {
  EXPECT_THAT(errors_of(in_kernel(repeated("{", 1024) + repeated("}", 1024))), IsEmpty());
  EXPECT_THAT(errors_of(in_kernel(repeated("{", 100000))),
              ElementsAre("6:1025: the blocks nest more than 1024 deep [TooLarge]"));
  EXPECT_THAT(
      errors_of(with_header(".global .b8 a = " + repeated("{", 64) + repeated("}", 64) + ";")),
      IsEmpty());
  EXPECT_THAT(errors_of(with_header(".global .b8 a = " + repeated("{", 100000))),
              ElementsAre("4:81: the braces nest more than 64 deep [TooLarge]"));
  for (const char* piece : {"(", "-", "~", "1+(", "1?", "(.s64)", "!"})
    EXPECT_THAT(errors_of(in_kernel("op 1+" + repeated(piece, 100000))),
                ElementsAre(HasSubstr("the expression nests more than 64 deep [TooLarge]")))
        << piece;
}

TEST(ParseLimits, Counts) {
  EXPECT_THAT(errors_of(in_kernel(".reg .b32 %r<16777216>;")), IsEmpty());
  EXPECT_THAT(errors_of(in_kernel(".reg .b32 %r<16777217>;")),
              ElementsAre("6:14: `<16777217>` declares more than 16777216 names [TooLarge]"));
  EXPECT_THAT(errors_of(with_header(".global .b8 a" + repeated("[2]", 17) + ";")),
              ElementsAre("4:62: the array has more than 16 dimensions [TooLarge]"));
  EXPECT_THAT(errors_of(in_kernel("mov" + repeated(".u32", 200) + " %r1, 1;")),
              ElementsAre("6:1: an opcode of 803 characters; there may be at most 512 [TooLarge]"));
  EXPECT_THAT(errors_of(in_kernel("mov" + repeated(" .u32", 200) + " %r1, 1;")),
              ElementsAre("6:1: an opcode of 803 characters; there may be at most 512 [TooLarge]"));
}

// A tenfold text must not take a hundredfold time. These are the texts that tempt a reader to look
// again at what it has seen: each would take minutes if it did.
TEST(ParseLimits, TimeIsLinear) {
  constexpr std::size_t kTimes = 300000;
  for (const char* piece : {"{",        "}",
                            "(",        "[",
                            "/*",       "\"",
                            "a:",       "@",
                            ".reg ",    "a.b::",
                            "# ",       "# 1\n",
                            "1+",       "a+",
                            ",",        "{a,",
                            "a|",       "<",
                            "0x",       "..",
                            "generic(", ".section .s {",
                            "// c\n",   "p: .callprototype "}) {
    const auto begin = std::chrono::steady_clock::now();
    parse(in_kernel(repeated(piece, kTimes)), {.keep_comments = true});
    parse(repeated(piece, kTimes));
    parse(with_header(".global .b8 a = " + repeated(piece, kTimes)));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20)) << piece;
  }
}

}  // namespace
}  // namespace ww::ptx::parser_errors_test
