// SPDX-License-Identifier: Apache-2.0
#include "ptx/printer.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "ptx/test_text.h"

namespace ww::ptx::printer_test {
namespace {

// What is printed after the header.
std::string printed(const std::string& items) {
  const std::string text = print(read(with_header(items), {.keep_comments = true}));
  return text.substr(text.find("\n\n") + 2);
}

// The lines of the body of a kernel.
std::string printed_body(const std::string& body) {
  const std::string text = printed(".entry k()\n{\n" + body + "\n}");
  const std::size_t begin = text.find("{\n") + 2;
  return text.substr(begin, text.rfind("}\n") - begin);
}

TEST(Print, Header) {
  EXPECT_EQ(print(read(".version 7.8 .target sm_90,debug")),
            ".version 7.8\n.target sm_90, debug\n\n");
  EXPECT_EQ(print(read(".version 8.8 .target sm_90a .address_size 32")),
            ".version 8.8\n.target sm_90a\n.address_size 32\n\n");
}

TEST(Print, OneItemPerLineAndBlankLinesAroundBodies) {
  EXPECT_EQ(printed(".func f(); .global .b8 a;.entry k(){ret;}.entry l(){}.pragma \"x\";"),
            ".func f();\n"
            ".global .b8 a;\n"
            "\n"
            ".entry k()\n{\n\tret;\n}\n"
            "\n"
            ".entry l()\n{\n}\n"
            "\n"
            ".pragma \"x\";\n");
}

// Left as written, right as printed.
TEST(Print, Variables) {
  const std::pair<const char*, const char*> table[] = {
      {".global .u32 a , b ;", ".global .u32 a;\n.global .u32 b;\n"},
      {".extern .shared .align 16 .b8 d[ ];", ".extern .shared .align 16 .b8 d[];\n"},
      {".const .v2 .f32 c<3>[2][0x10];", ".const .v2 .f32 c<3>[2][16];\n"},
      {".global .attribute( .managed ) .u32 m;", ".global .attribute(.managed) .u32 m;\n"},
      {".global .attribute(.unified(10,0xAB)) .u32 m;",
       ".global .attribute(.unified(0xA, 0xAB)) .u32 m;\n"},
      {".global .u64 p={s,s+4,s+-4,generic(s),generic(s)+-4,0xff(s)};",
       ".global .u64 p = {s, s+4, s+-4, generic(s), generic(s)+-4, 0xFF(s)};\n"},
      {".global .texref t;", ".global .texref t;\n"}};
  for (const auto& [text, expected] : table) EXPECT_EQ(printed(text), expected);
}

TEST(Print, Functions) {
  EXPECT_EQ(printed(".extern .func(.param .b32 r)f(.param .b64 a,.reg .pred b).noreturn;"),
            ".extern .func (.param .b32 r) f(\n\t.param .b64 a,\n\t.reg .pred b\n)\n.noreturn;\n");
  EXPECT_EQ(
      printed(".entry k(.param .u64 .ptr .global .align 16 a) .maxntid 1,2 .pragma \"x\"; {}"),
      ".entry k(\n\t.param .u64 .ptr .global .align 16 a\n)\n.maxntid 1, 2\n.pragma "
      "\"x\";\n{\n}\n\n");
}

TEST(Print, DebugSections) {
  EXPECT_EQ(printed(".file 1 \"a.cu\",5,6 .section .debug_str{L:.b8 1,2 .b32 e-b .b64 .s+3}"),
            ".file 1 \"a.cu\", 5, 6\n"
            ".section .debug_str\n{\nL:\n.b8 1, 2\n.b32 e-b\n.b64 .s+3\n}\n");
}

TEST(Print, Statements) {
  const std::pair<const char*, const char*> table[] = {
      {"ret ;", "\tret;\n"},
      {"@ ! p add .s32 a,b,-1;", "\t@!p add.s32\ta, b, -1;\n"},
      {"L:ret;", "L:\n\tret;\n"},
      {"{{L:}ret;}", "\t{\n\t\t{\nL:\n\t\t}\n\t\tret;\n\t}\n"},
      {".reg .b32 a,%r<4>;", "\t.reg .b32 a, %r<4>;\n"},
      {".loc 1 2 3 ret;", "\t.loc 1 2 3\n\tret;\n"},
      {".loc 1 2 3,function_name f+4,inlined_at 5 6 7",
       "\t.loc 1 2 3, function_name f+4, inlined_at 5 6 7\n"},
      {"p:.callprototype(.param .b32 _)_(.param .b8 _[4]).noreturn;",
       "\tp: .callprototype (.param .b32 _) _ (.param .b8 _[4]) .noreturn;\n"},
      {"t:.calltargets f,g;", "\tt: .calltargets f, g;\n"},
      {"//no blank\n//\n//  two\n", "\t// no blank\n\t//\n\t//  two\n"},
      {"call(r),f,(a,_);", "\tcall\t(r), f, (a, _);\n"}};
  for (const auto& [text, expected] : table) EXPECT_EQ(printed_body(text), expected) << text;
}

TEST(Print, Operands) {
  const std::pair<const char*, const char*> table[] = {
      {"a+4", "a+4"},
      {"a+ -4", "a+-4"},
      {"a[ 4 ]", "a[4]"},
      {"! p", "!p"},
      {"{a,_}|p", "{a, _}|p"},
      {"[m,{x,y}]", "[m, {x, y}]"},
      {"0X0fU", "0xFU"},
      {"007", "07"},
      {"00", "00"},
      {"0b0101", "0b101"},
      {"- 0x10", "-0x10"},
      {"18446744073709551615", "18446744073709551615"},
      {"-9223372036854775808", "-9223372036854775808"},
      {"0F3f800000", "0f3F800000"},
      {"0dbff0000000000000", "0dBFF0000000000000"},
      {"- 1.50", "-1.50"},
      {"(1<<4)|3", "19"},
      {"1U-2", "18446744073709551615U"}};
  for (const auto& [text, expected] : table)
    EXPECT_EQ(printed_body(fmt::format("op {};", text)), fmt::format("\top\t{};\n", expected));
}

TEST(Print, DeepBlocksAreNotIndentedFurther) {
  const std::string text = printed_body(std::string(100, '{') + std::string(100, '}'));
  EXPECT_LT(text.size(), 200U * 10);
}

TEST(Print, PiecesForMessages) {
  const Module m = read(in_kernel("@p ld.v2.b32 {a, b}, [c+4];"));
  const Function& f = m.functions[0];
  EXPECT_EQ(print(m, f, f.instructions[0]), "@p ld.v2.b32 {a, b}, [c+4];");
  EXPECT_EQ(print(m, f, f.operands_of(f.instructions[0])[1]), "[c+4]");
}

TEST(Print, LongNamesAndLongLists) {
  std::string list;
  for (int i = 0; i < 20000; ++i) list += fmt::format("{}{}", i == 0 ? "" : ", ", i);
  const std::string name(10000, 'n');
  const std::string line = fmt::format(".global .u32 {}[] = {{{}}};\n", name, list);
  EXPECT_EQ(printed(line), line);
}

}  // namespace
}  // namespace ww::ptx::printer_test
