// SPDX-License-Identifier: Apache-2.0
#include "isa/example.h"

#include <gtest/gtest.h>

#include <string_view>

#include "isa/catalogue.h"

namespace ww::isa::example_test {
namespace {

// The example of the first form that the opcode fits and that has one.
std::string example_of(std::string_view opcode) {
  const Bindings found = bind_opcode(opcode);
  EXPECT_FALSE(found.fits.empty()) << opcode << ": " << found.misfit.text;
  for (const Binding& binding : found.fits) {
    if (std::string text = example(binding); !text.empty()) return text;
  }
  return "";
}

TEST(Example, ReadsLikePtx) {
  const std::string_view lines[] = {
      // results and sources by type
      "add.f32 %r0, %r1, %r2;",
      "mul.wide.s32 %rd0, %r0, %r1;",
      "setp.lt.s32 %p0, %r0, %r1;",
      "selp.b64 %rd0, %rd1, %rd2, %p0;",
      "cvt.rn.satfinite.e2m1x2.f32 %b0, %r0, %r1;",
      "cvt.rn.bf16.f32 %rs0, %r0;",
      "atom.cas.b128 %rq0, [%rd0], %rq1, %rq2;",
      // lists in braces
      "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0, %r1, %r2, %r3}, [%r4];",
      "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%r6}, "
      "{%r7, %r8, %r9, %r10};",
      "ld.global.v2.b64 {%rd0, %rd1}, [%rd2];",
      // addresses by state space
      "ld.b32 %r0, [%rd0];",
      "ld.shared.b32 %r0, [%r1];",
      "ld.const.b32 %r0, [%rd0];",
      "tcgen05.shift.cta_group::1.down [%r0];",
      "cp.async.bulk.prefetch.tensor.3d.L2.global [%rd0, {%r0, %r1, %r2}];",
      // constants
      "cp.async.ca.shared.global [%r0], [%rd0], 4;",
      "setmaxnreg.inc.sync.aligned.u32 24;",
      "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%r0, %r1, %r2, %r3}, %rd0, %rd1, %p0, "
      "-1, -1;",
      // pairs, labels, nothing
      "elect.sync %r0|%p0, %r1;",
      "bra.uni L;",
      "fence.sc.gpu;",
  };
  for (const std::string_view line : lines) {
    const std::string_view opcode = line.substr(0, line.find_first_of(" ;"));
    EXPECT_EQ(example_of(opcode), line);
  }
}

// What may be left out is, unless a modifier asks for it.
TEST(Example, LeavesOutWhatItCan) {
  EXPECT_EQ(example_of("bar.sync"), "bar.sync %r0;");
  EXPECT_EQ(example_of("shfl.sync.idx.b32"), "shfl.sync.idx.b32 %r0, %r1, %r2, %r3, %r4;");
  EXPECT_EQ(example_of("ld.global.L2::cache_hint.b32"),
            "ld.global.L2::cache_hint.b32 %r0, [%rd0], %rd1;");
}

// Requirements that are code, not data, are met, too.
TEST(Example, MeetsWhatVerifyWants) {
  EXPECT_EQ(example_of("mbarrier.arrive.shared::cluster.b64"),
            "mbarrier.arrive.shared::cluster.b64 _, [%r0];");
  EXPECT_EQ(example_of(
                "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0"),
            "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0 "
            "{%r0, %r1, %r2, %r3}, {%r4, %r5, %r6, %r7}, {%r8, %r9}, {%r10, %r11, %r12, %r13}, "
            "%r14, {%rs0, %rs1}, %r15, {%rs2, %rs3};");
}

TEST(Example, IsEmptyWhereThereIsNone) {
  EXPECT_EQ(example_of("call"), "");              // operands are not in the catalogue
  EXPECT_EQ(example_of("ld.shared.v8.b32"), "");  // legal modifiers, illegal together
}

}  // namespace
}  // namespace ww::isa::example_test
