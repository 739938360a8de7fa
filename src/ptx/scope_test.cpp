// SPDX-License-Identifier: Apache-2.0
// Which declaration a name means. Every verdict here is that of ptxas 13.0; what it binds names to
// is compared with it on random programs by tests/ptx/scopes_test.cpp.
#include "ptx/scope.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "ptx/test_check.h"

namespace ww::ptx::scope_test {
namespace {

constexpr std::string_view kRegisters =
    ".reg .b32 %r<4>; .reg .b64 %d<4>; .reg .pred %p<2>;\nmov.u32 %r1, 1; "
    "setp.lt.u32 %p1, %r1, 5; mov.u64 %d1, 1;\n";

Findings said(std::string_view body, std::string_view before = "") {
  return findings(module_text(std::string(before) + "\n" +
                              kernel(std::string(kRegisters) + std::string(body))));
}

void expect_good(const std::vector<std::string>& bodies, std::string_view before = "") {
  for (const std::string& body : bodies) EXPECT_EQ(said(body, before), Findings{}) << body;
}

// Each body with what is said of it; places are counted from the body.
void expect_bad(const std::vector<std::pair<std::string, std::string>>& table,
                std::string_view before = "") {
  for (const auto& [body, text] : table) {
    Findings all = said(body, before);
    for (std::string& one : all) one = one.substr(one.find(": ") + 2);
    EXPECT_EQ(all, Findings{text}) << body;
  }
}

TEST(Scopes, BranchesLeaveBlocks) {
  expect_good({
      "{ L: @%p1 bra L; } { L: @%p1 bra L; }",
      "{ bra L; } add.u32 %r1, %r1, 1; L:",
      "L: add.u32 %r1, %r1, 1; { @%p1 bra L; }",
      "L: { L: @%p1 bra L; }",
      "L: { @%p1 bra L; add.u32 %r1, %r1, 1; L: }",
      "{ { bra L; } { bra L; } L: } L:",
  });
}

TEST(Scopes, BranchesDoNotEnterBlocks) {
  expect_bad({
      {"bra L; { L: }", "`L` is not declared"},
      {"{ L: } bra L;", "`L` is not declared"},
      {"{ bra L; } { L: }", "`L` is not declared"},
      {"{ { L: } bra L; }", "`L` is not declared"},
  });
  const std::string text = module_text(kernel("bra L;\n{\nL: }"));
  const CheckResult result = check(parse(text).module);
  ASSERT_EQ(result.errors.size(), 1U);
  ASSERT_EQ(result.errors[0].notes.size(), 1U);
  EXPECT_EQ(result.errors[0].notes[0].text,
            "the label `L` is in another block; a branch can leave blocks, not enter one");
  EXPECT_EQ(text.substr(result.errors[0].notes[0].span.begin, 2), "L:");
}

TEST(Scopes, WhatHidesALabel) {
  expect_bad({
      {".reg .b32 L; { @%p1 bra L; L: }", "operand `target` is a register, a label is wanted"},
      {"{ @%p1 bra out; out: }", "operand `target` is a variable, a label is wanted"},
      {"L: { @%p1 bra L; .reg .b32 L; }", "`L` is not declared"},
      {"{ { bra L; } .reg .b32 L; } L:", "`L` is not declared"},
      {"{ .reg .b32 q<4>; @%p1 bra q2; q2: }", "operand `target` is a register, a label is wanted"},
      {"q2: .reg .b32 q<4>; @%p1 bra q2;", "operand `target` is a register, a label is wanted"},
      {"bra %laneid; %laneid:", "operand `target` is a special register, a label is wanted"},
  });
  expect_good({
      ".reg .b32 L; { L: @%p1 bra L; }",
      "L: add.u32 %r1, %r1, 1; { { @%p1 bra L; } .reg .b32 L; }",
      ".reg .b32 q<4>; { q2: @%p1 bra q2; }",
      "q2: @%p1 bra q2; .reg .b32 q<4>;",
      "%laneid: @%p1 bra %laneid;",
      "k: @%p1 bra k;",
  });
}

TEST(Scopes, DeclaredTwiceInABlock) {
  const std::string twice = "is declared twice in this block";
  expect_bad({
      {"L: L:", "`L` " + twice},
      {"{ L: add.u32 %r1, %r1, 1; L: }", "`L` " + twice},
      {".reg .b32 a, a;", "`a` " + twice},
      {"{ .reg .b32 a; .reg .b64 a; }", "`a` " + twice},
      {"L: .reg .b32 L;", "`L` " + twice},
      {".reg .b32 L; L:", "`L` " + twice},
      {".reg .b32 q<4>; .reg .b32 q<8>;", "`q<8>` " + twice},
      {".reg .b32 q<4>; .reg .b32 q2;", "`q2` " + twice + ": it is in `q<4>`"},
      {".reg .b32 q2; .reg .b32 q<4>;", "`q2` " + twice + ": it is in `q<4>`"},
      {".reg .b32 q<4>; .shared .b32 q3;", "`q3` " + twice + ": it is in `q<4>`"},
      {".shared .b32 s; .reg .b32 s;", "`s` " + twice},
      {".reg .b32 out;", "`out` " + twice},
      {"out: ", "`out` " + twice},
      {"t: .branchtargets A; t: .branchtargets A; A:", "`t` " + twice},
      {"t: .branchtargets A; A: t:", "`t` " + twice},
  });
  expect_good({
      ".reg .b32 q<4>; .reg .b32 q4, q;",
      ".reg .b32 q; .shared .b32 q<4>; mov.u32 %r1, q2;",
      ".reg .b32 q<20>; .reg .b32 q1<4>;",
      ".reg .b32 q<4>; q2: mov.u32 q2, 1;",
      ".reg .b32 a; { .reg .b32 a; } { .shared .b32 a[2]; } { a: }",
  });
}

TEST(Scopes, InnerDeclarationsHideOuterOnes) {
  expect_good({
      ".reg .b32 a; mov.u32 a, 1; { .reg .b64 a; mov.u64 a, 3; } mov.u32 a, 2;",
      ".reg .b32 a; { mov.u32 a, 1; .reg .b64 a; mov.u64 a, 1; }",
      ".reg .b32 a<4>; { .reg .b64 a<2>; mov.u64 a1, 3; mov.u32 a3, 1; }",
      ".reg .b32 a<4>; { .reg .b64 a2; mov.u64 a2, 3; mov.u32 a1, 1; }",
      ".reg .b32 a2; { .reg .b64 a<4>; mov.u64 a2, 3; }",
      "{ .shared .b32 out; mov.u32 %r1, out; }",
      ".reg .b64 %laneid; mov.u64 %laneid, 1;",
      ".reg .v4 .b32 %tid; mov.u32 %r1, %tid.x;",
  });
  expect_bad({
      {".reg .b32 a<4>; { .reg .b64 a<2>; mov.u64 a3, 3; }",
       "`a3` is declared `.b32`; operand `d` of `mov.u64` takes `.b64`, `.s64` or `.u64`"},
      {"mov.u32 a, 3; .reg .b32 a;", "`a` is not declared"},
      {"{ .reg .b32 a; } mov.u32 a, 3;", "`a` is not declared"},
      {".reg .b32 %tid; mov.u32 %r1, %tid.x;", "`%tid.x` is not declared"},
  });
}

TEST(Scopes, ListsOfTargets) {
  expect_good({
      "t: .branchtargets A, B; brx.idx %r1, t; A: add.u32 %r1, %r1, 1; B:",
      "A: add.u32 %r1, %r1, 1; t: .branchtargets A, A; brx.idx %r1, t;",
      "{ t: .branchtargets A; brx.idx %r1, t; } { t: .branchtargets A; brx.idx %r1, t; } A:",
      "t: .branchtargets A; { brx.idx %r1, t; A: } A:",
  });
  expect_bad({
      {"brx.idx %r1, t; t: .branchtargets A; A:", "`t` is not declared"},
      {"{ t: .branchtargets A; } brx.idx %r1, t; A:", "`t` is not declared"},
      {"A: brx.idx %r1, A;", "operand `targets` is a label, a list of labels is wanted"},
      {"t: .branchtargets A; A: @%p1 bra t;",
       "operand `target` is a list of labels, a label is wanted"},
      {"t: .branchtargets A; { A: }", "`A` in the list `t` is not a label here"},
      {"t: .branchtargets %r1;", "`%r1` in the list `t` is not a label here"},
      {"t: .calltargets nothing;", "`nothing` in the list `t` is not a function here"},
  });
}

// --- the module's own names ----------------------------------------------------------------------

TEST(Scopes, NamesOfTheModuleAreDeclaredAboveTheirUse) {
  const auto with = [](std::string_view before, std::string_view body, std::string_view after) {
    return findings(module_text(
        fmt::format("{}\n.entry k() {{ .reg .b64 %d; {} ret; }}\n{}", before, body, after)));
  };
  EXPECT_EQ(with(".global .b32 g;", "mov.u64 %d, g;", ""), Findings{});
  EXPECT_EQ(with("", "mov.u64 %d, g;", ".global .b32 g;"), Findings{"5:40: `g` is not declared"});
  EXPECT_EQ(with("", "call f;", ".func f() { ret; }"), Findings{"5:33: `f` is not declared"});
  EXPECT_EQ(with(".func f();", "call f;", ".func f() { ret; }"), Findings{});
  EXPECT_EQ(with(".func f() { call f; ret; }", "", ""), Findings{});
  EXPECT_EQ(with("", "g: bra g;", ".global .b32 g;"), Findings{});
}

TEST(Scopes, DeclaredTwiceInAModule) {
  const auto of = [](std::string_view text) {
    Findings all = findings(module_text(text));
    for (std::string& one : all) one = one.substr(one.find(": ") + 2);
    return all;
  };
  const Findings none;
  EXPECT_EQ(of(".global .b32 g; .global .b32 g;"),
            Findings{"`g` is declared twice in this module"});
  EXPECT_EQ(of(".func f() { ret; } .func f() { ret; }"),
            Findings{"`f` is declared twice in this module"});
  EXPECT_EQ(of(".func f() { ret; } .func f();"), Findings{"`f` is declared twice in this module"});
  EXPECT_EQ(of(".global .b32 f; .func f() { ret; }"),
            Findings{"`f` is declared twice in this module"});
  EXPECT_EQ(of(".weak .global .b32 g; .weak .global .b32 g;"),
            Findings{"`g` is declared twice in this module"});
  EXPECT_EQ(of(".extern .global .b32 g; .visible .global .b32 g;"), none);
  EXPECT_EQ(of(".extern .global .b32 g[]; .visible .global .b32 g[4];"), none);
  EXPECT_EQ(of(".visible .global .b32 g; .extern .global .b32 g;"), none);
  EXPECT_EQ(of(".extern .global .b64 g; .visible .global .b32 g;"),
            Findings{"`g` is declared in two ways"});
  EXPECT_EQ(of(".func f(); .func f(); .func f() { ret; }"), none);
  EXPECT_EQ(of(".func f(.param .b32 a); .func f(.param .b32 b) { ret; }"), none);
  EXPECT_EQ(of(".func f(.param .b32 a); .func f(.param .u32 a) { ret; }"),
            Findings{"`f` is declared in two ways"});
  EXPECT_EQ(of(".extern .func f(); .func f() { ret; }"), Findings{"`f` is declared in two ways"});
  EXPECT_EQ(of(".func f() { ret; } .alias g, f;"),
            Findings{"the alias `g` of `f`: `g` is not a function"});
  EXPECT_EQ(of(".entry k(.param .b32 a, .param .b32 a) { ret; }"),
            Findings{"`a` is declared twice in this block"});
}

// --- what it binds to ----------------------------------------------------------------------------

// The statement of the label that the last branch of a body goes to.
std::uint32_t target_of(const std::string& body) {
  const ParseResult parsed = parse(module_text(".entry k() { " + body + " }"));
  const Function& function = parsed.module.functions.at(0);
  std::vector<Diag> errors;
  Scope scope(parsed.module, errors);
  scope.begin(function, errors);
  std::uint32_t target = 0;
  for (const Statement& statement : function.statements) {
    scope.enter(statement, errors);
    if (statement.kind != StatementKind::Instruction) continue;
    const Instruction& branch = function.instructions[statement.index];
    target = scope.find(function.operands_of(branch)[0].name).statement;
  }
  scope.end();
  EXPECT_TRUE(errors.empty());
  return target;
}

TEST(Scopes, WhichLabelABranchGoesTo) {
  EXPECT_EQ(target_of("L: { L: bra L; }"), 2U);
  EXPECT_EQ(target_of("L: { bra L; L: }"), 3U);
  EXPECT_EQ(target_of("L: { bra L; }"), 0U);
  EXPECT_EQ(target_of("{ bra L; } L: "), 3U);
  EXPECT_EQ(target_of("{ L: } { bra L; } { L: } L:"), 9U);
  // What stands above in any block around goes before what stands below in a nearer one.
  EXPECT_EQ(target_of("L: { { bra L; } L: }"), 0U);
  EXPECT_EQ(target_of("{ { bra L; } L: } L:"), 4U);
}

}  // namespace
}  // namespace ww::ptx::scope_test
