// SPDX-License-Identifier: Apache-2.0
// What each construct becomes. Errors are in parser_errors_test.cpp; that texts survive printing is
// tested in tests/ptx.
#include "ptx/parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ptx/printer.h"
#include "ptx/test_text.h"

namespace ww::ptx::parser_test {
namespace {

using ::testing::ElementsAre;

std::vector<std::uint64_t> list_of(const SmallVec<std::uint64_t, 2>& values) {
  return {values.begin(), values.end()};
}
std::vector<std::uint32_t> list_of(const SmallVec<std::uint32_t, 3>& values) {
  return {values.begin(), values.end()};
}

// The only instruction of a kernel with this body, and its operands.
struct OneInstruction {
  explicit OneInstruction(const std::string& body) : module(read(in_kernel(body))) {
    EXPECT_EQ(function().instructions.size(), 1U) << body;
  }
  [[nodiscard]] const Function& function() const { return module.functions.at(0); }
  [[nodiscard]] const Instruction& instruction() const { return function().instructions.at(0); }
  [[nodiscard]] std::span<const Operand> operands() const {
    return function().operands_of(instruction());
  }
  [[nodiscard]] std::span<const Operand> children(const Operand& operand) const {
    return function().operands.children(operand);
  }
  [[nodiscard]] std::string_view text(NameId id) const { return module.text(id); }

  Module module;
};

// --- header --------------------------------------------------------------------------------------

TEST(ParseHeader, VersionTargetsAndAddressSize) {
  const Module m = read(".version 7.8 .target sm_90, texmode_independent, debug .address_size 64");
  EXPECT_EQ(m.version, (Version{7, 8}));
  ASSERT_EQ(m.targets.size(), 3U);
  EXPECT_EQ(m.text(m.targets[0]), "sm_90");
  EXPECT_EQ(m.text(m.targets[2]), "debug");
  EXPECT_EQ(m.address_size, 64U);
  EXPECT_TRUE(m.items.empty());
}

TEST(ParseHeader, TheAddressSizeMayBeLeftOut) {
  EXPECT_EQ(read(".version 8.0\n.target sm_80\n").address_size, 0U);
}

// --- variables -----------------------------------------------------------------------------------

TEST(ParseVariable, EverythingBeforeTheName) {
  const Module m = read(
      with_header(".visible .global .attribute(.managed, .unified(1, 2)) .align 16 .v4 .f32 q;"));
  ASSERT_EQ(m.variables.size(), 1U);
  const Variable& v = m.variables[0];
  EXPECT_EQ(v.linkage, Linkage::Visible);
  EXPECT_EQ(v.space, Space::Global);
  EXPECT_EQ(v.align, 16U);
  EXPECT_EQ(v.vector, 4);
  EXPECT_EQ(v.type, isa::Type::F32);
  EXPECT_EQ(m.text(v.name), "q");
  EXPECT_FALSE(v.has_init());
  ASSERT_EQ(v.attributes.size(), 2U);
  EXPECT_EQ(v.attributes[0].kind, AttributeKind::Managed);
  EXPECT_EQ(v.attributes[1].kind, AttributeKind::Unified);
  EXPECT_EQ(v.attributes[1].uuid[1], 2U);
}

TEST(ParseVariable, DimensionsAndFamilies) {
  const Module m =
      read(with_header(".shared .b8 a[3][4]; .extern .shared .b8 d[]; .global .b8 f<7>;"));
  EXPECT_THAT(list_of(m.variables[0].dims), ElementsAre(3, 4));
  EXPECT_THAT(list_of(m.variables[1].dims), ElementsAre(kUnsized));
  EXPECT_EQ(m.variables[1].linkage, Linkage::Extern);
  EXPECT_EQ(m.variables[0].count, kSingle);
  EXPECT_EQ(m.variables[2].count, 7U);
}

TEST(ParseVariable, SeveralNamesAreSeveralVariables) {
  const Module m = read(with_header(".global .align 8 .u32 a, b = 2, c[2];"));
  ASSERT_EQ(m.variables.size(), 3U);
  EXPECT_EQ(m.items.size(), 3U);
  for (const Variable& v : m.variables) EXPECT_EQ(v.align, 8U);
  EXPECT_FALSE(m.variables[0].has_init());
  EXPECT_EQ(m.variables[1].init_root().value(), 2);
  EXPECT_FALSE(m.variables[2].has_init());
}

TEST(ParseVariable, NestedInitialiser) {
  const Module m = read(with_header(".global .b32 t[2][2] = {{1, -2}, {}};"));
  const Variable& v = m.variables[0];
  const Operand& root = v.init_root();
  ASSERT_EQ(root.kind, OperandKind::Vector);
  const auto rows = v.init.children(root);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(v.init.children(rows[0])[1].value(), -2);
  EXPECT_TRUE(v.init.children(rows[1]).empty());
}

TEST(ParseVariable, SymbolsInInitialisers) {
  const Module m =
      read(with_header(".global .u64 p[5] = {s, s+4, generic(s), generic(s)+8, 0xFF00(s+2)};"));
  const Variable& v = m.variables[0];
  const auto values = v.init.children(v.init_root());
  EXPECT_EQ(values[0].kind, OperandKind::Name);
  EXPECT_EQ(values[1].kind, OperandKind::NameOffset);
  EXPECT_EQ(values[1].value(), 4);
  EXPECT_EQ(values[2].kind, OperandKind::Generic);
  EXPECT_EQ(m.text(values[2].name), "s");
  EXPECT_EQ(values[3].value(), 8);
  ASSERT_EQ(values[4].kind, OperandKind::Mask);
  const auto mask = v.init.children(values[4]);
  EXPECT_EQ(mask[0].bits, 0xFF00U);
  EXPECT_EQ(mask[1].kind, OperandKind::NameOffset);
}

TEST(ParseVariable, HandleTypes) {
  const Module m =
      read(with_header(".global .texref t; .global .samplerref s; .global .surfref u;"));
  EXPECT_EQ(m.variables[0].opaque, Opaque::TexRef);
  EXPECT_EQ(m.variables[1].opaque, Opaque::SamplerRef);
  EXPECT_EQ(m.variables[2].opaque, Opaque::SurfRef);
}

// --- functions -----------------------------------------------------------------------------------

TEST(ParseFunction, ParametersAndPointers) {
  const Module m = read(
      with_header(".visible .entry k(.param .u64 .ptr .shared .align 16 a, .param .u64 .ptr b,\n"
                  ".param .align 8 .b8 c[40]) {}"));
  const Function& f = m.functions[0];
  EXPECT_EQ(f.kind, FunctionKind::Entry);
  EXPECT_EQ(f.linkage, Linkage::Visible);
  EXPECT_TRUE(f.has_body);
  ASSERT_EQ(f.params.size(), 3U);
  EXPECT_TRUE(f.params[0].pointee.present);
  EXPECT_FALSE(f.params[0].pointee.is_generic);
  EXPECT_EQ(f.params[0].pointee.space, Space::Shared);
  EXPECT_EQ(f.params[0].pointee.align, 16U);
  EXPECT_TRUE(f.params[1].pointee.is_generic);
  EXPECT_FALSE(f.params[2].pointee.present);
  EXPECT_THAT(list_of(f.params[2].dims), ElementsAre(40));
}

TEST(ParseFunction, ResultsAndRegisterParameters) {
  const Module m = read(with_header(".func (.reg .b32 r) f(.reg .pred p); .extern .func g;"));
  const Function& f = m.functions[0];
  EXPECT_EQ(f.kind, FunctionKind::Func);
  EXPECT_FALSE(f.has_body);
  EXPECT_EQ(f.results.at(0).space, Space::Reg);
  EXPECT_EQ(f.params.at(0).type, isa::Type::Pred);
  EXPECT_EQ(m.functions[1].linkage, Linkage::Extern);
  EXPECT_TRUE(m.functions[1].params.empty());
}

TEST(ParseFunction, DirectivesInOrder) {
  const Module m = read(with_header(
      ".entry k() .maxntid 128, 2, 1 .minnctapersm 2 .pragma \"a\", \"b\"; .explicitcluster\n"
      ".reqnctapercluster 2 { }"));
  const std::vector<Directive>& d = m.functions[0].directives;
  ASSERT_EQ(d.size(), 6U);
  EXPECT_EQ(d[0].kind, DirectiveKind::MaxNTid);
  EXPECT_THAT(list_of(d[0].values), ElementsAre(128, 2, 1));
  EXPECT_EQ(d[1].kind, DirectiveKind::MinNCtaPerSm);
  EXPECT_EQ(m.text(d[2].text), "a");
  EXPECT_EQ(m.text(d[3].text), "b");
  EXPECT_EQ(d[4].kind, DirectiveKind::ExplicitCluster);
  EXPECT_THAT(list_of(d[5].values), ElementsAre(2));
}

TEST(ParseFunction, EveryDirectiveIsKnown) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(DirectiveKind::Pragma); ++i) {
    const DirectiveInfo& row = info(static_cast<DirectiveKind>(i));
    std::string text = fmt::format(".entry k() .{}", row.text);
    for (int n = 0; n < row.most; ++n) text += n == 0 ? " 1" : ", 1";
    const Module m = read(with_header(text + " {}"));
    EXPECT_EQ(m.functions.at(0).directives.at(0).values.size(), row.most) << text;
  }
}

TEST(ParseModule, FilesSectionsAliasesAndPragmas) {
  const Module m =
      read(with_header(".file 1 \"a.cu\" .file 2 \"b.h\", 17, 4 .alias f, g; .pragma \"x\";\n"
                       ".section .debug_str { L: .b8 1, 2 .b64 L+3 .b32 e-b .b32 .debug_abbrev }"));
  EXPECT_EQ(m.text(m.files[0].path), "a.cu");
  EXPECT_FALSE(m.files[0].has_stamp);
  EXPECT_EQ(m.files[1].time, 17U);
  EXPECT_EQ(m.text(m.aliases[0].target), "g");
  const Section& s = m.sections[0];
  EXPECT_EQ(m.text(s.name), ".debug_str");
  ASSERT_EQ(s.lines.size(), 5U);
  EXPECT_EQ(m.text(s.lines[0].label), "L");
  EXPECT_EQ(s.values.at(s.lines[1].values).size(), 2U);
  EXPECT_EQ(s.values.at(s.lines[2].values)[0].kind, OperandKind::NameOffset);
  EXPECT_EQ(s.values.at(s.lines[3].values)[0].kind, OperandKind::Difference);
  EXPECT_EQ(m.text(s.values.at(s.lines[4].values)[0].name), ".debug_abbrev");
  std::vector<ItemKind> kinds;
  for (const Item& item : m.items) kinds.push_back(item.kind);
  EXPECT_THAT(kinds, ElementsAre(ItemKind::File, ItemKind::File, ItemKind::Alias, ItemKind::Pragma,
                                 ItemKind::Section));
}

// --- statements ----------------------------------------------------------------------------------

TEST(ParseBody, StatementsInOrder) {
  const Module m =
      read(in_kernel(".reg .b32 a, %r<4>; .shared .b32 s[2]; L: { ret; } .loc 1 2 3\n"
                     ".pragma \"nounroll\"; t: .branchtargets L;"));
  const Function& f = m.functions[0];
  std::vector<StatementKind> kinds;
  for (const Statement& s : f.statements) kinds.push_back(s.kind);
  EXPECT_THAT(
      kinds,
      ElementsAre(StatementKind::Registers, StatementKind::Variable, StatementKind::Label,
                  StatementKind::OpenBlock, StatementKind::Instruction, StatementKind::CloseBlock,
                  StatementKind::Loc, StatementKind::Pragma, StatementKind::BranchTargets));
  const auto names = f.names_of(f.registers[0]);
  EXPECT_EQ(names[0].count, kSingle);
  EXPECT_EQ(names[1].count, 4U);
  EXPECT_EQ(f.statements[3].index, 5U);  // where the block ends
  EXPECT_EQ(f.statements[5].index, 3U);  // and begins
  EXPECT_EQ(f.locs[0].at, (Loc::Place{1, 2, 3}));
}

TEST(ParseBody, ALocMayTellWhatWasInlined) {
  const Module m =
      read(in_kernel(".loc 2 449 9, function_name $L__info_string0 + 4, inlined_at 1 18 2"));
  const Loc& loc = m.functions[0].locs[0];
  EXPECT_EQ(m.text(loc.function), "$L__info_string0");
  EXPECT_EQ(loc.function_offset, 4U);
  EXPECT_EQ(loc.inlined_at, (Loc::Place{1, 18, 2}));
}

TEST(ParseBody, PrototypesAndTargets) {
  const Module m = read(
      in_kernel("p : .callprototype (.param .b32 _) _ (.param .b64 _, .param .b8 _[4]) .noreturn;\n"
                "c: .calltargets f, g;"));
  const Prototype& p = m.functions[0].prototypes[0];
  EXPECT_EQ(m.text(p.label), "p");
  EXPECT_EQ(p.results.size(), 1U);
  EXPECT_EQ(p.params.size(), 2U);
  EXPECT_EQ(p.directives.at(0).kind, DirectiveKind::NoReturn);
  EXPECT_EQ(m.functions[0].target_lists[0].names.size(), 2U);
}

TEST(ParseBody, GuardsAndOpcodesInParts) {
  const OneInstruction one("@ ! %p1 ld.global .v4 .b32 {a, b, c, d}, [e];");
  EXPECT_EQ(one.text(one.instruction().opcode), "ld.global.v4.b32");
  EXPECT_EQ(one.text(one.instruction().guard.name), "%p1");
  EXPECT_TRUE(one.instruction().guard.is_negated);
}

TEST(ParseBody, PositionsAreByteOffsets) {
  const std::string text = in_kernel("  @%p1 add.s32 %r1, sm+4, {a};");
  const Module m = read(text);
  const Function& f = m.functions[0];
  const auto at = [&](std::uint32_t offset) { return text.substr(offset, 3); };
  EXPECT_EQ(at(f.statements[0].offset), "@%p");
  EXPECT_EQ(at(f.instructions[0].offset), "add");
  const auto operands = f.operands_of(f.instructions[0]);
  EXPECT_EQ(text.substr(operands[0].offset, operands[0].length), "%r1");
  EXPECT_EQ(text.substr(operands[1].offset, operands[1].length), "sm+4");
  EXPECT_EQ(text.substr(operands[2].offset, operands[2].length), "{a}");
  EXPECT_EQ(text[f.end_offset], '}');
  EXPECT_EQ(text.substr(f.offset, 6), ".entry");
}

// --- operands ------------------------------------------------------------------------------------

TEST(ParseOperand, Kinds) {
  const std::pair<const char*, OperandKind> table[] = {
      {"%r1", OperandKind::Name},        {"%tid.x", OperandKind::Name},
      {"sm+4", OperandKind::NameOffset}, {"sm+-4", OperandKind::NameOffset},
      {"sm[4]", OperandKind::Index},     {"!%p1", OperandKind::NotName},
      {"_", OperandKind::Sink},          {"-1", OperandKind::Int},
      {"0f3F800000", OperandKind::F32},  {"0d3FF0000000000000", OperandKind::F64},
      {"-1.5", OperandKind::Decimal},    {"{a, 1}", OperandKind::Vector},
      {"[a]", OperandKind::Address},     {"[a, {x, y}]", OperandKind::Address},
      {"d|p", OperandKind::Pair},        {"{a, b}|p", OperandKind::Pair},
      {"(1+2)*3", OperandKind::Int},     {"WARP_SZ", OperandKind::Name}};
  for (const auto& [text, kind] : table) {
    const OneInstruction one(fmt::format("op {};", text));
    ASSERT_EQ(one.operands().size(), 1U) << text;
    EXPECT_EQ(one.operands()[0].kind, kind) << text;
  }
}

TEST(ParseOperand, OffsetsHaveASign) {
  const std::pair<const char*, std::int64_t> table[] = {
      {"a+4", 4},    {"a+-8", -8},      {"a + 0x10", 16}, {"a+4*2", 8},
      {"a+-4+8", 4}, {"WARP_SZ+1", 33}, {"WARP_SZ*2", 64}};
  for (const auto& [text, offset] : table) {
    const OneInstruction one(fmt::format("op {0}, [{0}];", text));
    EXPECT_EQ(one.operands()[0].value(), offset) << text;
    EXPECT_EQ(one.children(one.operands()[1])[0].value(), offset) << text;
  }
}

TEST(ParseOperand, AddressesWithCoordinates) {
  const OneInstruction one("op [map+8, s, {%r1, 2}];");
  const auto parts = one.children(one.operands()[0]);
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[0].kind, OperandKind::NameOffset);
  EXPECT_EQ(one.text(parts[1].name), "s");
  EXPECT_EQ(one.children(parts[2])[1].value(), 2);
}

TEST(ParseOperand, CallsHaveLists) {
  const OneInstruction one("call.uni (r0, _), f, (a, 1), p;");
  ASSERT_EQ(one.operands().size(), 4U);
  EXPECT_EQ(one.operands()[0].kind, OperandKind::List);
  EXPECT_EQ(one.children(one.operands()[2]).size(), 2U);
  EXPECT_TRUE(
      OneInstruction("call f, ();").children(OneInstruction("call f, ();").operands()[1]).empty());
}

TEST(ParseOperand, SpellingOfIntegers) {
  const auto spelling = [](const char* text) {
    return OneInstruction(fmt::format("op {};", text)).operands()[0].spelling;
  };
  EXPECT_EQ(spelling("7"), (Spelling{}));
  EXPECT_EQ(spelling("-7"), (Spelling{Radix::Decimal, true, false}));
  EXPECT_EQ(spelling("0x7U"), (Spelling{Radix::Hex, false, true}));
  EXPECT_EQ(spelling("-07"), (Spelling{Radix::Octal, true, false}));
  EXPECT_EQ(spelling("0b1"), (Spelling{Radix::Binary, false, false}));
}

TEST(ParseOperand, ConstantExpressions) {
  const std::pair<const char*, std::int64_t> table[] = {{"(1<<4)|3", 19},
                                                        {"~0", -1},
                                                        {"-7/2", -3},
                                                        {"-7 % 4", -3},
                                                        {"7U-8", -1},
                                                        {"(.u64)-1>>60", 15},
                                                        {"-1>>60", -1},
                                                        {"1?2:3", 2},
                                                        {"0?2:3", 3},
                                                        {"1?0?4:5:6", 5},
                                                        {"5>3&&2<1||4", 1},
                                                        {"1+2*3-4", 3},
                                                        {"0x10^0b11", 19},
                                                        {"!5", 0},
                                                        {"!!5", 1},
                                                        {"10-WARP_SZ", -22},
                                                        {"-1<1U", 0},
                                                        {"-1<1", 1},
                                                        {"2<=2", 1},
                                                        {"2>=3", 0},
                                                        {"1<<63>>63", -1},
                                                        {"(.s64)0xFFFFFFFFFFFFFFFF>>4", -1},
                                                        {"--5", 5},
                                                        {"-~5", 6},
                                                        {"6&3==3", 0},
                                                        {"1|2^3&4", 3},
                                                        {"100>>2+1", 12},
                                                        {"3!=4", 1},
                                                        {"1<<66", 4},
                                                        {"(((7)))", 7},
                                                        {"-9223372036854775808/-1", 0}};
  for (const auto& [text, value] : table) {
    const OneInstruction one(fmt::format("op {};", text));
    ASSERT_EQ(one.operands().size(), 1U) << text;
    EXPECT_EQ(one.operands()[0].kind, OperandKind::Int) << text;
    EXPECT_EQ(one.operands()[0].value(), value) << text;
  }
}

// --- comments ------------------------------------------------------------------------------------

TEST(ParseComments, KeptOnlyOnRequest) {
  const std::string text =
      with_header("// one\n.entry k()\n{\n\t// two\n\tret; // three\n\t// four\n}\n");
  const Module without = read(text);
  EXPECT_EQ(without.items.size(), 1U);
  EXPECT_EQ(without.functions[0].statements.size(), 1U);
  const Module with = read(text, {.keep_comments = true});
  ASSERT_EQ(with.items.size(), 2U);
  EXPECT_EQ(with.text(NameId{with.items[0].index}), "one");
  const std::vector<Statement>& body = with.functions[0].statements;
  ASSERT_EQ(body.size(), 3U);
  EXPECT_EQ(with.text(NameId{body[0].index}), "two");
  EXPECT_EQ(with.text(NameId{body[2].index}), "four");
}

}  // namespace
}  // namespace ww::ptx::parser_test
