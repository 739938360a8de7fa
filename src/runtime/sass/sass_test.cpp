// SPDX-License-Identifier: Apache-2.0
// Listings as nvdisasm writes them, recorded from kernels of our own and shortened: how they are read,
// their loops, and the remarks. tests/ptx/sass/ has the way from PTX.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "runtime/sass.h"

namespace ww::runtime::sass_test {
namespace {

using target::Arch;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// `A: text` is an instruction at line A of the PTX, other lines are labels.
std::string listing(const std::vector<std::string>& lines) {
  std::string out = ".text.k:\n";
  unsigned address = 0;
  for (const std::string& line : lines) {
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos) {
      out += line + "\n";
      continue;
    }
    out += fmt::format("\t//## File \".nv_debug_ptx_txt\", line {}\n", line.substr(0, colon));
    out +=
        fmt::format("        /*{:04x}*/                   {} ;\n", address, line.substr(colon + 2));
    address += 16;
  }
  return out;
}

std::vector<SassRemark> remarks(const std::vector<std::string>& lines, SassSource source = {}) {
  if (source.arch == Arch{}) source.arch = Arch::Sm90a;
  const std::string text = listing(lines);
  const auto functions = read_listing(text);
  EXPECT_TRUE(functions);
  return functions ? sass_remarks(functions->front(), source) : std::vector<SassRemark>{};
}

// The body in a loop that starts at line 10 and branches back at line 19.
std::vector<std::string> looped(const std::vector<std::string>& body) {
  std::vector<std::string> out{"1: LDC R1, c[0x0][0x28]",
                               ".L_x_0:", "10: UIADD3 UR4, UR4, 0x1, URZ"};
  out.insert(out.end(), body.begin(), body.end());
  for (const char* const each :
       {"19: @!P0 BRA `(.L_x_0)", "20: EXIT", ".L_x_1:", "20: BRA `(.L_x_1)", "20: NOP"})
    out.emplace_back(each);
  return out;
}

// --- reading ------------------------------------------------------------------------------------

TEST(SassListing, HasGuardsLabelsAndLines) {
  const std::string text = R"(
	.target	sm_90a
//--------------------- .text.vector_add          --------------------------
	.section	.text.vector_add,"ax",@progbits
        .size           vector_add,(.L_x_1 - vector_add)
vector_add:
.text.vector_add:
	//## File ".nv_debug_ptx_txt", line 23
        /*0060*/                   ISETP.GE.U32.AND P0, PT, R9, UR4, PT ;
	//## File ".nv_debug_ptx_txt", line 24
        /*0070*/               @P0 EXIT ;
        /*0080*/                   STL.64 [R1+0x58], R28                    (*"SpillRefill"*);
.L_x_0:
        /*0140*/                   BRA `(.L_x_0);
)";
  const auto functions = read_listing(text);
  ASSERT_TRUE(functions);
  ASSERT_EQ(functions->size(), 1U);
  const SassFunction& function = functions->front();
  EXPECT_EQ(function.name, "vector_add");
  ASSERT_EQ(function.code.size(), 4U);
  EXPECT_EQ(function.code[0].opcode, "ISETP.GE.U32.AND");
  EXPECT_EQ(function.code[0].line, 23U);
  EXPECT_EQ(function.code[1].guard, "@P0");
  EXPECT_EQ(function.code[1].opcode, "EXIT");
  EXPECT_EQ(function.code[1].address, 0x70U);
  EXPECT_EQ(function.code[2].line, 24U);
  EXPECT_THAT(std::string(function.code[2].operands), HasSubstr("[R1+0x58], R28"));
  EXPECT_EQ(function.labels.at(".L_x_0"), 3U);
}

TEST(SassListing, RefusesWhatIsNone) {
  EXPECT_THAT(read_listing("nvdisasm fatal: no").error().text, HasSubstr("has no code"));
  EXPECT_THAT(read_listing(".text.k:\n.L_x_0:\n").error().text, HasSubstr("has no code"));
  EXPECT_THAT(read_listing(".text.k:\n/*00z0*/ EXIT ;\n/* */\n").error().text,
              HasSubstr("without instruction: `/* */`"));
}

// --- loops --------------------------------------------------------------------------------------

std::vector<unsigned> depths(const std::vector<std::string>& lines) {
  const std::string text = listing(lines);
  const auto functions = read_listing(text);
  return loop_depths(functions->front(), find_loops(functions->front()));
}

TEST(SassLoops, Nest) {
  EXPECT_THAT(depths({"1: MOV R0, R1", ".L_x_0:", "2: MOV R0, R1", ".L_x_1:", "3: MOV R0, R1",
                      "3: @P0 BRA `(.L_x_1)", "4: @P1 BRA `(.L_x_0)", "5: EXIT"}),
              ElementsAre(0, 1, 2, 2, 1, 0));
}

// ptxas puts what is rarely executed behind the end; what lies between is not in the loop.
TEST(SassLoops, CodeBehindTheEndMayBelongToOne) {
  EXPECT_THAT(depths({".L_x_0:", "1: SYNCS R0", "2: @!P0 BRA `(.L_x_2)", ".L_x_1:", "3: MOV R0, R1",
                      "4: @P1 BRA `(.L_x_0)", "5: STG R0, R1", "6: EXIT", ".L_x_2:", "2: SYNCS R0",
                      "2: @!P0 BRA `(.L_x_2)", "2: BRA `(.L_x_1)"}),
              ElementsAre(1, 1, 1, 1, 0, 0, 2, 2, 1));
}

TEST(SassLoops, PaddingAndFunctionsBehindTheEndAreNone) {
  EXPECT_THAT(
      depths({"1: CALL.REL.NOINC `($__internal_0_$__cuda_sm20_div_u64)", "2: EXIT",
              "$__internal_0_$__cuda_sm20_div_u64:", ".L_x_3:", "1: MOV R0, R1",
              "1: @P0 BRA `(.L_x_3)", "1: RET.REL.NODEC R6 `(k)", ".L_x_4:", "0: BRA `(.L_x_4)"}),
      ElementsAre(0, 0, 0, 0, 0, 0));
}

TEST(SassLoops, FollowTables) {
  EXPECT_THAT(depths({".L_x_0:", "1: BRX R4 -0x120 (*\"BRANCH_TARGETS .L_x_1,.L_x_2\"*)",
                      ".L_x_1:", "2: BRA `(.L_x_0)", ".L_x_2:", "3: EXIT"}),
              ElementsAre(1, 1, 0));
}

// --- remarks ------------------------------------------------------------------------------------

TEST(SassRemarks, FencesOfTheWholeGpuInLoops) {
  const std::string ptx(11, '\n');
  const auto found =
      remarks(looped({"12: STG.E desc[UR6][R2.64], R5", "12: MEMBAR.ALL.CTA", "12: MEMBAR.ALL.GPU",
                      "12: ERRBAR", "12: SYNCS.ARRIVE.TRANS64.RED.A1T0 RZ, [UR5], RZ"}),
              {.ptx = ptx + "mbarrier.arrive.release.cluster.shared::cluster.b64"});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kind, SassKind::Fence);
  EXPECT_EQ(found[0].line, 12U);
  EXPECT_EQ(found[0].depth, 1U);
  EXPECT_EQ(found[0].sass, "MEMBAR.ALL.GPU");
  EXPECT_THAT(found[0].text, HasSubstr("`mbarrier.arrive.shared::cluster.b64` is enough"));
  EXPECT_THAT(remarks(looped({"12: MEMBAR.SC.CTA"})), IsEmpty());
  EXPECT_THAT(remarks({"12: MEMBAR.SC.GPU", "13: EXIT"}), IsEmpty());
}

TEST(SassRemarks, ProductsThatWaitForEachOther) {
  const std::string product = "30: HGMMA.64x8x16.F32 R24, gdesc[UR4], R24";
  const std::string wait = "33: WARPGROUP.DEPBAR.LE gsb0, 0x0";
  const auto found = remarks(looped({product, wait, product, wait}));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kind, SassKind::SerialProducts);
  EXPECT_EQ(found[0].line, 33U);
  EXPECT_EQ(found[0].count, 2U);
  EXPECT_THAT(remarks(looped({product, product, wait})), IsEmpty());
  EXPECT_THAT(remarks(looped({product, "33: WARPGROUP.DEPBAR.LE gsb0, 0x1"})), IsEmpty());
  EXPECT_THAT(remarks({product, wait, product, wait, "34: EXIT"}), IsEmpty());
}

TEST(SassRemarks, MovesOfAccumulators) {
  std::vector<std::string> body{"30: HGMMA.64x16x16.F32 R24, gdesc[UR4], R24",
                                "31: HGMMA.64x16x16.F32 R24, gdesc[UR8], R24, gsb0",
                                "33: WARPGROUP.DEPBAR.LE gsb0, 0x0"};
  for (int i = 0; i < 7; ++i) body.push_back(fmt::format("40: MOV R{}, R{}", i, 24 + i));
  body.emplace_back("40: MOV R30, RZ");                   // a zero
  body.emplace_back("40: IMAD.MOV.U32 R4, RZ, RZ, R32");  // the register behind the last
  EXPECT_THAT(remarks(looped(body)), IsEmpty());
  body.emplace_back("41: IMAD.MOV.U32 R31, RZ, RZ, R4");
  const auto found = remarks(looped(body));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kind, SassKind::AccumulatorMoves);
  EXPECT_EQ(found[0].line, 40U);
  EXPECT_EQ(found[0].count, 8U);
}

TEST(SassRemarks, MovesOfDescriptors) {
  std::vector<std::string> body{"29: WARPGROUP.ARRIVE", "30: R2UR UR10, R8", "30: R2UR UR11, R9",
                                "30: R2UR UR8, R6"};
  const std::vector<std::string> products{"30: HGMMA.64x8x16.F32 R24, gdesc[UR8], R24",
                                          "30: HGMMA.64x8x16.F32 R24, gdesc[UR8], R24, gsb0",
                                          "33: WARPGROUP.DEPBAR.LE gsb0, 0x0"};
  body.insert(body.end(), products.begin(), products.end());
  EXPECT_THAT(remarks(looped(body)), IsEmpty());
  body.emplace_back("30: R2UR UR9, R7");
  const auto found = remarks(looped(body));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kind, SassKind::DescriptorMoves);
  EXPECT_EQ(found[0].line, 29U);
  EXPECT_THAT(found[0].text, HasSubstr("4 moves to uniform registers for 2 products"));
}

TEST(SassRemarks, SpillsAndArrays) {
  const std::vector<std::string> body{"12: LDL R4, [R9]", "13: STL.64 [R1+0x58], R28",
                                      "13: LDL.LU R8, [R1]", "14: LDL R8, [R10+0x4]"};
  const auto found = remarks(looped(body), {.has_spills = true});
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].kind, SassKind::LocalMemory);
  EXPECT_EQ(found[0].line, 12U);
  EXPECT_THAT(found[0].text, HasSubstr("LDL of 4 bytes in a loop"));
  EXPECT_EQ(found[1].kind, SassKind::Spill);
  EXPECT_THAT(found[1].text, HasSubstr("12 bytes of spilled registers are stored and loaded in a "
                                       "loop (2 instructions)"));
  EXPECT_EQ(found[2].line, 14U);
  for (const SassRemark& each : remarks(looped(body))) EXPECT_EQ(each.kind, SassKind::LocalMemory);
  const auto outside = remarks({"13: STL [R1+0x58], R28", "14: EXIT"}, {.has_spills = true});
  ASSERT_EQ(outside.size(), 1U);
  EXPECT_EQ(outside[0].depth, 0U);
  EXPECT_THAT(outside[0].text, HasSubstr("outside loops"));
  EXPECT_THAT(remarks({"13: STL [R9], R28", "14: EXIT"}), IsEmpty());
}

TEST(SassRemarks, Divisions) {
  const auto found = remarks(
      looped({"12: I2F.U32.RP R7, UR9", "12: MUFU.RCP R7, R7", "12: F2I.FTZ.U32.TRUNC.NTZ R9, R8",
              "13: I2F.U32.RP R7, UR9", "13: CALL.REL.NOINC `($__internal_3_$__cuda_sm20_div_u64)",
              "14: CALL.REL.NOINC `($__internal_2_$__cuda_sm3x_div_rn_noftz_f32_slowpath)",
              "15: MUFU.RCP R3, R6", "16: I2F.U32 R3, R6"}));
  ASSERT_EQ(found.size(), 3U);
  EXPECT_THAT(found[0].text, HasSubstr("known at run time, in a loop"));
  EXPECT_EQ(found[0].count, 3U);
  EXPECT_THAT(found[1].text, HasSubstr("a call of `__cuda_sm20_div_u64`; divide 32-bit numbers"));
  EXPECT_THAT(found[2].text, HasSubstr("_slowpath` for rare operands; `div.full.f32`"));
  for (const SassRemark& each : found) EXPECT_EQ(each.kind, SassKind::Division);
}

TEST(SassRemarks, DoublesWhereTheyAreFew) {
  const auto body = looped({"12: DFMA R8, R8, R8, R8", "13: DADD R8, R8, R8"});
  const auto found = remarks(body, {.arch = Arch::Sm89});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kind, SassKind::Doubles);
  EXPECT_THAT(found[0].text, HasSubstr("2 instructions on doubles in a loop: an SM of `sm_89`"));
  EXPECT_THAT(remarks(body, {.arch = Arch::Sm90}), IsEmpty());
}

}  // namespace
}  // namespace ww::runtime::sass_test
