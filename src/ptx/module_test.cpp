// SPDX-License-Identifier: Apache-2.0
// Building modules without text, copying them, and comparing them.
#include "ptx/module.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>

#include "base/check.h"
#include "ptx/printer.h"
#include "ptx/test_text.h"

namespace ww::ptx::module_test {
namespace {

// One of everything, built by calls.
Module built() {
  Module m;
  const auto name = [&m](std::string_view text) { return m.names.intern(text); };
  const auto reg = [&](std::string_view text) { return name_operand(name(text)); };
  m.version = {8, 8};
  m.targets = {name("sm_90a")};
  m.add_comment("built by a program");
  Variable table;
  table.linkage = Linkage::Visible;
  table.align = 4;
  table.type = isa::Type::B8;
  table.name = name("table");
  table.dims = {2, 2};
  const Operand row =
      table.init.make(OperandKind::Vector, std::array{int_operand(1), int_operand(-2)});
  table.set_init(table.init.make(OperandKind::Vector, std::array{row, row}));
  m.add_variable(std::move(table));

  Function& f = m.add_function(FunctionKind::Entry, "k");
  f.linkage = Linkage::Visible;
  Variable parameter;
  parameter.space = Space::Param;
  parameter.type = isa::Type::U64;
  parameter.name = name("p");
  f.params.push_back(parameter);
  f.directives.push_back({.kind = DirectiveKind::MaxNTid, .values = {128, 1, 1}});
  f.add_registers(isa::Type::B32, {{name("a")}, {name("%r"), 8}});
  f.add_registers(isa::Type::F32, {{name("%f")}}, 4);
  Variable tile;
  tile.space = Space::Shared;
  tile.name = name("tile");
  tile.dims = {32};
  f.add_variable(tile);
  f.add_loc({.at = {1, 2, 3}});
  f.add_comment(name("load"));
  const Operand base = name_offset(name("%rd1"), 16);
  f.add_instruction(name("ld.global.v2.b32"),
                    {f.operands.make(OperandKind::Vector, {reg("%r1"), sink()}),
                     f.operands.make(OperandKind::Address, {base})});
  f.open_block();
  f.add_instruction(name("bra"), {reg("L")}, {.name = name("%p1"), .is_negated = true});
  f.close_block();
  f.add_label(name("L"));
  f.add_instruction(name("tma"),
                    {f.operands.make(OperandKind::Address,
                                     {reg("%rd1"), f.operands.make(OperandKind::Vector,
                                                                   {reg("%r1"), reg("%r2")})})});
  f.add_instruction(
      name("setp.eq.s32"),
      {f.operands.make(OperandKind::Pair, {reg("%p1"), reg("%p2")}), reg("%r1"), hex_operand(255)});
  f.add_instruction(name("call"), {f.operands.make(OperandKind::List, {reg("r")}), reg("f"),
                                   f.operands.make(OperandKind::List, {})});
  f.add_instruction(name("mul.f32"), {reg("%f1"), reg("%f2"), f32_operand(0.5F)});
  f.add_targets(StatementKind::BranchTargets, {name("t"), {name("L")}});
  f.add_pragma(name("nounroll"));
  Prototype prototype;
  prototype.label = name("proto");
  prototype.params.push_back(parameter);
  f.add_prototype(std::move(prototype));
  f.add_instruction(name("ret"), {});
  m.add_function(FunctionKind::Func, "declared");
  m.add_alias(name("alias"), name("declared"));
  m.add_file({.index = 1, .path = name("a.cu")});
  m.add_pragma("nounroll");
  return m;
}

constexpr const char* kBuilt =
    ".version 8.8\n"
    ".target sm_90a\n"
    ".address_size 64\n"
    "\n"
    "// built by a program\n"
    ".visible .global .align 4 .b8 table[2][2] = {{1, -2}, {1, -2}};\n"
    "\n"
    ".visible .entry k(\n"
    "\t.param .u64 p\n"
    ")\n"
    ".maxntid 128, 1, 1\n"
    "{\n"
    "\t.reg .b32 a, %r<8>;\n"
    "\t.reg .v4 .f32 %f;\n"
    "\t.shared .b32 tile[32];\n"
    "\t.loc 1 2 3\n"
    "\t// load\n"
    "\tld.global.v2.b32\t{%r1, _}, [%rd1+16];\n"
    "\t{\n"
    "\t\t@!%p1 bra\tL;\n"
    "\t}\n"
    "L:\n"
    "\ttma\t[%rd1, {%r1, %r2}];\n"
    "\tsetp.eq.s32\t%p1|%p2, %r1, 0xFF;\n"
    "\tcall\t(r), f, ();\n"
    "\tmul.f32\t%f1, %f2, 0f3F000000;\n"
    "\tt: .branchtargets L;\n"
    "\t.pragma \"nounroll\";\n"
    "\tproto: .callprototype _ (.param .u64 p);\n"
    "\tret;\n"
    "}\n"
    "\n"
    ".func declared();\n"
    ".alias alias, declared;\n"
    ".file 1 \"a.cu\"\n"
    ".pragma \"nounroll\";\n";

TEST(Module, BuiltWithoutText) { EXPECT_EQ(print(built()), kBuilt); }

TEST(Module, WhatIsBuiltReadsBackEqual) {
  EXPECT_TRUE(equal(built(), read(kBuilt, {.keep_comments = true})));
}

TEST(Module, CopiesAreIndependent) {
  const Module original = built();
  Module copy = original;
  EXPECT_TRUE(equal(original, copy));
  copy.functions[0].add_instruction(copy.names.intern("exit"), {});
  EXPECT_FALSE(equal(original, copy));
  EXPECT_EQ(print(original), kBuilt);
  const Module moved = std::move(copy);
  EXPECT_NE(print(moved).find("exit;"), std::string::npos);
}

TEST(Module, BlocksKnowTheirOtherEnd) {
  Function f;
  f.open_block();
  f.open_block();
  f.close_block();
  f.close_block();
  EXPECT_EQ(f.statements[0].index, 3U);
  EXPECT_EQ(f.statements[1].index, 2U);
  EXPECT_EQ(f.statements[2].index, 1U);
  EXPECT_EQ(f.statements[3].index, 0U);
  EXPECT_FALSE(f.has_open_block());
  EXPECT_THROW(f.close_block(), BugError);
}

TEST(Module, RefusesWhatCannotBe) {
  Function f;
  EXPECT_THROW(f.add_targets(StatementKind::Label, {}), BugError);
  EXPECT_THROW((void)Variable{}.init_root(), BugError);
}

// --- equality ------------------------------------------------------------------------------------

TEST(Equal, IgnoresPositionsAndNameNumbers) {
  const Module a = read(in_kernel(".reg .b32 x, y; mov.b32 y, x;"));
  const Module b = read("// other text\n" + in_kernel(".reg  .b32\tx ,y;\n\n mov.b32\n y,x ;"));
  EXPECT_TRUE(equal(a, b));
  Module c;  // the same with names numbered in another order
  for (const char* name : {"y", "x", "mov.b32"}) c.names.intern(name);
  c.version = {8, 8};
  c.targets = {c.names.intern("sm_90a")};
  Function& f = c.add_function(FunctionKind::Entry, "k");
  const NameId x = c.names.intern("x");
  const NameId y = c.names.intern("y");
  f.add_registers(isa::Type::B32, {{x}, {y}});
  f.add_instruction(c.names.intern("mov.b32"), {name_operand(y), name_operand(x)});
  EXPECT_TRUE(equal(a, c));
  EXPECT_TRUE(equal(c, a));
}

// Two texts that differ in one thing each.
TEST(Equal, SeesEveryDifference) {
  const std::pair<const char*, const char*> modules[] = {
      {".version 8.8 .target sm_90", ".version 8.7 .target sm_90"},
      {".version 8.8 .target sm_90", ".version 8.8 .target sm_80"},
      {".version 8.8 .target sm_90", ".version 8.8 .target sm_90 .address_size 64"}};
  for (const auto& [a, b] : modules) EXPECT_FALSE(equal(read(a), read(b))) << a << "\n" << b;
  const std::pair<const char*, const char*> items[] = {
      {".global .b32 a;", ".global .b32 b;"},
      {".global .b32 a;", ".global .u32 a;"},
      {".global .b32 a;", ".const .b32 a;"},
      {".global .b32 a;", ".weak .global .b32 a;"},
      {".global .b32 a;", ".global .align 8 .b32 a;"},
      {".global .b32 a;", ".global .v2 .b32 a;"},
      {".global .b32 a;", ".global .b32 a[1];"},
      {".global .b32 a;", ".global .b32 a<1>;"},
      {".global .b32 a;", ".global .b32 a = 0;"},
      {".global .b32 a;", ".global .attribute(.managed) .b32 a;"},
      {".global .b32 a = 1;", ".global .b32 a = 2;"},
      {".global .b32 a = {1};", ".global .b32 a = {{1}};"},
      {".global .b32 a = b;", ".global .b32 a = generic(b);"},
      {".global .b32 a = b+1;", ".global .b32 a = b+2;"},
      {".global .texref a;", ".global .surfref a;"},
      {".entry k();", ".entry l();"},
      {".entry k();", ".func k();"},
      {".entry k();", ".visible .entry k();"},
      {".entry k();", ".entry k() {}"},
      {".entry k();", ".entry k(.param .u32 a);"},
      {".entry k();", ".entry k() .maxnreg 1;"},
      {".entry k() .maxnreg 2;", ".entry k() .maxnreg 1;"},
      {".entry k(.param .u64 .ptr a);", ".entry k(.param .u64 a);"},
      {".entry k(.param .u64 .ptr a);", ".entry k(.param .u64 .ptr .global a);"},
      {".entry k(.param .u64 .ptr .const a);", ".entry k(.param .u64 .ptr .global a);"},
      {".func f();", ".func (.param .b32 r) f();"},
      {".file 1 \"a\"", ".file 2 \"a\""},
      {".file 1 \"a\"", ".file 1 \"b\""},
      {".file 1 \"a\"", ".file 1 \"a\", 0, 0"},
      {".alias a, b;", ".alias a, c;"},
      {".pragma \"a\";", ".pragma \"b\";"},
      {".section .a {}", ".section .b {}"},
      {".section .a {}", ".section .a { .b8 1 }"},
      {".section .a { .b8 1 }", ".section .a { .b16 1 }"},
      {".section .a { .b8 1 .b8 2 }", ".section .a { .b8 1, 2 }"},
      {".section .a { x: }", ".section .a { y: }"},
      {".global .b32 a; .global .b32 b;", ".global .b32 b; .global .b32 a;"}};
  for (const auto& [a, b] : items)
    EXPECT_FALSE(equal(read(with_header(a)), read(with_header(b)))) << a << "\n" << b;
  const std::pair<const char*, const char*> bodies[] = {
      {"ret;", "exit;"},
      {"ret;", "ret; ret;"},
      {"ret;", "@p ret;"},
      {"@p ret;", "@!p ret;"},
      {"@p ret;", "@q ret;"},
      {"op a;", "op b;"},
      {"op a;", "op a, a;"},
      {"op a;", "op !a;"},
      {"op a;", "op a+0;"},
      {"op a;", "op [a];"},
      {"op a;", "op {a};"},
      {"op {a};", "op {b};"},
      {"op a|b;", "op a|_;"},
      {"op 1;", "op 2;"},
      {"op 1;", "op 0x1;"},
      {"op 1;", "op 1U;"},
      {"op 0f3F800000;", "op 0f3F800001;"},
      {"op 1.5;", "op 1.50;"},
      {"call f, (a);", "call f, a;"},
      {"a:", "b:"},
      {"{}", ""},
      {"{} ret;", "{ ret; }"},
      {".reg .b32 a;", ".reg .b32 b;"},
      {".reg .b32 a;", ".reg .u32 a;"},
      {".reg .b32 a;", ".reg .v2 .b32 a;"},
      {".reg .b32 a;", ".reg .b32 a<1>;"},
      {".reg .b32 a, b;", ".reg .b32 a; .reg .b32 b;"},
      {".local .b32 a;", ".shared .b32 a;"},
      {".loc 1 1 1", ".loc 1 1 2"},
      {".loc 1 1 1", ".loc 1 1 1, function_name f, inlined_at 1 1 1"},
      {".loc 1 1 1, function_name f, inlined_at 1 1 2",
       ".loc 1 1 1, function_name f, inlined_at 1 1 1"},
      {".pragma \"a\";", ".pragma \"b\";"},
      {"p: .callprototype _ ();", "q: .callprototype _ ();"},
      {"p: .callprototype _ ();", "p: .callprototype _ (.param .b32 _);"},
      {"p: .callprototype _ ();", "p: .callprototype (.param .b32 _) _ ();"},
      {"p: .callprototype _ ();", "p: .callprototype _ () .noreturn;"},
      {"t: .branchtargets a;", "t: .calltargets a;"},
      {"t: .branchtargets a;", "t: .branchtargets a, b;"}};
  for (const auto& [a, b] : bodies)
    EXPECT_FALSE(equal(read(in_kernel(a)), read(in_kernel(b)))) << a << "\n" << b;
}

}  // namespace
}  // namespace ww::ptx::module_test
