// SPDX-License-Identifier: Apache-2.0
// What the check of a module finds beside illegal instructions (those have tests/ptx/isa/legality.txt):
// names and scopes, directives, sizes, and rules about kernels as a whole.
#include "ptx/check.h"

#include <gtest/gtest.h>

#include "ptx/test_check.h"

namespace ww::ptx::check_test {
namespace {

TEST(PtxCheck, AcceptsAKernel) {
  EXPECT_EQ(findings(module_text(kernel(".reg .b32 %r<3>; .reg .pred %p<1>;\n"
                                        "mov.u32 %r0, %tid.x; setp.eq.s32 %p0, %r0, 0;\n"
                                        "@%p0 bra DONE; add.s32 %r1, %r0, %r2;\nDONE:"))),
            Findings{});
}

TEST(PtxCheck, CountsInstructionsAndTellsTheTarget) {
  const ParseResult parsed =
      parse(module_text(kernel(".reg .b32 %r<2>; mov.u32 %r0, %r1;"), {"8.0", "sm_90"}));
  const CheckResult result = check(parsed.module);
  EXPECT_EQ(result.instructions, 2U);
  EXPECT_EQ(result.target.arch, target::Arch::Sm90);
  EXPECT_EQ(result.target.ptx, 80);
}

// --- names ---

TEST(PtxCheck, UndeclaredRegister) {
  EXPECT_EQ(findings(module_text(kernel(".reg .b32 %r<3>;\nmov.u32 %r3, %r0;"))),
            Findings{"8:9: `%r3` is not declared"});
}

// ptxas: all digits at the end of a name are its number, zeros before it or not.
TEST(PtxCheck, MembersOfFamilies) {
  EXPECT_EQ(findings(module_text(kernel(".reg .b32 %r<3>;\nmov.u32 %r01, %r002;"))), Findings{});
  EXPECT_EQ(findings(module_text(kernel(
                ".reg .b64 %a1<4>; .reg .b32 %a<10>;\nmov.u64 %a12, 1;\nmov.u32 %a1, %a9;"))),
            Findings{"8:9: `%a12` is not declared"});
  EXPECT_EQ(findings(module_text(kernel(".reg .v2 .b32 %v<3>;\nmov.u32 %v1.x, %v2.y;"))),
            Findings{});
}

TEST(PtxCheck, InnerBlocksShadowAndEnd) {
  const std::string body =
      ".reg .b32 x;\n"
      "{\n.reg .b64 x;\nmov.u64 x, 1;\n}\n"
      "mov.u32 x, 1;\n"
      "{\n.reg .b32 y;\nmov.u32 y, x;\n}\n"
      "mov.u32 y, x;";
  EXPECT_EQ(findings(module_text(kernel(body))), Findings{"17:9: `y` is not declared"});
}

TEST(PtxCheck, NamesOfOneFunctionAreNotThoseOfAnother) {
  const std::string text = module_text(
      ".entry a()\n{\n.reg .b32 only;\nmov.u32 only, 1;\nL: ret;\n}\n.entry b()\n{\nmov.u32 only, "
      "1;\nbra L;\n}\n");
  EXPECT_EQ(findings(text),
            (Findings{"12:9: `only` is not declared", "13:5: `L` is not declared"}));
}

TEST(PtxCheck, DeclaredTwice) {
  EXPECT_EQ(findings(module_text(kernel(".reg .b32 x;\n.reg .b64 x;"))),
            Findings{"8:11: `x` is declared twice in this block"});
  const ParseResult parsed = parse(module_text(kernel(".reg .b32 x;\n.reg .b64 x;")));
  EXPECT_EQ(check(parsed.module).errors.at(0).kind, DiagKind::Redeclared);
}

TEST(PtxCheck, VectorRegistersAndComponents) {
  EXPECT_EQ(findings(module_text(kernel(".reg .v4 .b32 v; .reg .b32 r; .reg .b64 a;\n"
                                        "ld.global.v4.b32 v, [a];\nmov.u32 r, v.y;"))),
            Findings{});
  EXPECT_EQ(
      findings(module_text(kernel(".reg .v2 .b32 v; .reg .b64 a;\nld.global.v4.b32 v, [a];"))),
      Findings{"8:18: operand `d` is a register, a list in braces is wanted"});
}

TEST(PtxCheck, Guards) {
  EXPECT_EQ(findings(module_text(kernel(".reg .b32 r;\n@%p0 bra L;\nL:"))),
            Findings{"8:6: the guard `%p0` is not declared"});
  EXPECT_EQ(findings(module_text(kernel(".reg .b32 r;\n@r bra L;\nL:"))),
            Findings{"8:4: the guard `r` is no predicate"});
}

TEST(PtxCheck, CallsNameWhatExists) {
  const std::string device = ".func (.param .b32 r) f(.param .b32 a)\n{\nret;\n}\n";
  const std::string call = "{\n.param .b32 p0; .param .b32 q0;\ncall.uni (q0), f, (p0);\n}";
  EXPECT_EQ(findings(module_text(device + kernel(call))), Findings{});
  EXPECT_EQ(findings(module_text(kernel(call))), Findings{"9:16: `f` is not declared"});
}

TEST(PtxCheck, VariablesInTheWrongSpace) {
  EXPECT_EQ(
      findings(module_text(kernel(".shared .b32 s; .reg .b32 r;\nld.global.b32 r, [s];"))),
      Findings{"8:19: `s` is in the shared space, `ld.global.b32` addresses the global space"});
}

// --- header ---

TEST(PtxCheck, VersionAndTarget) {
  EXPECT_EQ(findings(module_text("", {"8.9", "sm_90"})),
            Findings{"1:10: PTX version `8.9` is not known"});
  EXPECT_EQ(findings(module_text("", {"9.0", "sm_91"})),
            Findings{"2:9: no architecture is called `sm_91`; did you mean `sm_90`?"});
  EXPECT_EQ(findings(module_text("", {"8.0", "sm_100a"})),
            Findings{"2:9: `sm_100a` needs PTX 8.6; the module says 8.0"});
  EXPECT_EQ(findings(".version 9.0\n.target texmode_independent\n"),
            Findings{"2:9: `.target` names no architecture"});
  EXPECT_EQ(findings(".version 9.0\n.target sm_90\n.address_size 32\n"),
            Findings{"32-bit addresses are not supported"});
}

// What ptxas 13.0 says of these with `-arch=sm_90`, but for versions that are newer than it.
TEST(PtxCheck, OtherVersionsAndTargetsAreReadAsTheNearest) {
  struct Row {
    std::string_view version, target, read_as;
    int ptx;
    std::size_t notes;
  };
  for (const Row& row :
       {Row{"9.1", "sm_90", "sm_90", 90, 1}, Row{"9.4", "sm_80", "sm_80", 90, 1},
        Row{"10.2", "sm_100a", "sm_100a", 90, 1}, Row{"7.8", "sm_70", "sm_75", 78, 1},
        Row{"6.0", "sm_61", "sm_75", 63, 2}, Row{"3.0", "sm_30", "sm_75", 63, 2},
        Row{"9.0", "sm_90", "sm_90", 90, 0}}) {
    const ParseResult read = parse(fmt::format(
        ".version {}\n.target {}\n.visible .entry k() {{ ret; }}\n", row.version, row.target));
    ASSERT_TRUE(read.ok());
    const CheckResult checked = check(read.module);
    EXPECT_TRUE(checked.ok()) << row.version << ' ' << row.target;
    EXPECT_EQ(info(checked.target.arch).name, row.read_as);
    EXPECT_EQ(checked.target.ptx, row.ptx);
    EXPECT_EQ(checked.notes.size(), row.notes);
  }
  EXPECT_EQ(findings(module_text("", {"6.2", "sm_75"})),
            Findings{"2:9: `sm_75` needs PTX 6.3; the module says 6.2"});
  EXPECT_EQ(findings(module_text("", {"4.3", "sm_61"})),
            Findings{"2:9: `sm_61` needs PTX 5.0; the module says 4.3"});
  // A newer version brings no instructions.
  EXPECT_EQ(findings(module_text(kernel("frob.b32;"), {"9.4", "sm_90"})),
            Findings{"7:1: no instruction is called `frob`"});
}

// --- directives and declarations ---

TEST(PtxCheck, DirectivesThatExcludeEachOther) {
  EXPECT_EQ(findings(module_text(kernel("", ".maxntid 128 .reqntid 128"))),
            Findings{"5:14: `.maxntid` and `.reqntid` exclude each other"});
  EXPECT_EQ(findings(module_text(kernel("", ".reqnctapercluster 2 .maxclusterrank 4"))),
            Findings{"5:22: `.reqnctapercluster` and `.maxclusterrank` exclude each other"});
  EXPECT_EQ(findings(module_text(kernel("", ".blocksareclusters"))),
            Findings{"5:1: `.blocksareclusters` needs `.reqntid` and `.reqnctapercluster`"});
  EXPECT_EQ(findings(module_text(kernel("", ".noreturn"))),
            Findings{"5:1: `.noreturn` is for `.func`, not for kernels"});
}

TEST(PtxCheck, ClusterDirectivesNeedTheTarget) {
  EXPECT_EQ(findings(module_text(kernel("", ".explicitcluster"), {"8.0", "sm_80"})),
            Findings{"5:1: `.explicitcluster` needs sm_90 or later; the target is sm_80"});
}

TEST(PtxCheck, Declarations) {
  EXPECT_EQ(findings(module_text(kernel(".reg .b128 q;"), {"8.0", "sm_90"})),
            Findings{"7:12: `.b128` needs PTX 8.3; the module says 8.0"});
  EXPECT_EQ(
      findings(module_text(".shared .b32 s = 5;\n")),
      Findings{
          "4:14: `s` cannot have an initial value; only `.global` and `.const` variables can"});
  EXPECT_EQ(findings(module_text(".entry k(.param .pred p)\n{\nret;\n}\n")),
            Findings{"4:23: the predicate `p` is not in a register"});
}

// --- sizes ---

TEST(PtxCheck, ParameterSpace) {
  EXPECT_EQ(findings(module_text(".entry k(.param .align 8 .b8 a[32764])\n{\nret;\n}\n")),
            Findings{});
  EXPECT_EQ(
      findings(module_text(".entry k(.param .align 8 .b8 a[32765])\n{\nret;\n}\n")),
      Findings{
          "4:1: the parameters of `k` take 32765 bytes; at most 32764 are allowed for PTX 9.0"});
  EXPECT_EQ(
      findings(module_text(".entry k(.param .b8 a, .param .align 8 .b8 b[4352])\n{\nret;\n}\n",
                           {"8.0", "sm_90"})),
      Findings{"4:1: the parameters of `k` take 4360 bytes; at most 4352 are allowed for PTX 8.0"});
}

TEST(PtxCheck, StaticSharedMemoryThatTheKernelUses) {
  const std::string body = ".reg .b32 r;\nmov.u32 r, s;";
  EXPECT_EQ(findings(module_text(".shared .b8 s[49153];\n" + kernel(body), {"9.0", "sm_90"})),
            Findings{"5:1: `k` uses 49153 bytes of static shared memory; sm_90 allows 49152"});
  EXPECT_EQ(findings(module_text(".shared .b8 s[49153];\n" + kernel(body), {"9.0", "sm_90a"})),
            Findings{});
  EXPECT_EQ(
      findings(module_text(".shared .b8 unused[49153];\n" + kernel("", ""), {"9.0", "sm_90"})),
      Findings{});
}

TEST(PtxCheck, OneCtaGroupPerKernel) {
  const std::string body =
      ".reg .b32 r;\ntcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n"
      "tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;";
  EXPECT_EQ(findings(module_text(kernel(body), {"9.0", "sm_100a"})),
            Findings{"9:1: a kernel uses `cta_group::1` or `cta_group::2`, not both"});
}

TEST(PtxCheck, AnInstructionNeedsMoreRegistersThanAThreadHas) {
  std::string list;
  for (int i = 0; i < 128; ++i) list += fmt::format("{}%r{}", i == 0 ? "" : ", ", i);
  const std::string body = fmt::format(
      ".reg .b32 %r<129>;\ntcgen05.ld.sync.aligned.32x32b.x128.b32 {{{}}}, [%r128];", list);
  EXPECT_EQ(findings(module_text(kernel(body, ".maxntid 128"), {"9.0", "sm_100a"})), Findings{});
  EXPECT_EQ(
      findings(module_text(kernel(body, ".maxntid 512"), {"9.0", "sm_100a"})),
      Findings{
          "8:1: the instruction names 129 registers at once; a thread of this kernel has 128"});
}

// --- many errors ---

TEST(PtxCheck, ReportsAllUpToALimit) {
  std::string body = ".reg .b32 r;\n";
  for (int i = 0; i < 300; ++i) body += "mov.u32 r, nothing;\n";
  const ParseResult parsed = parse(module_text(kernel(body)));
  EXPECT_EQ(check(parsed.module).errors.size(), 100U);
  EXPECT_EQ(check(parsed.module, {.max_errors = 7}).errors.size(), 7U);
}

}  // namespace
}  // namespace ww::ptx::check_test
