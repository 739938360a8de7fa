// SPDX-License-Identifier: Apache-2.0
// Faults planted in the instructions of conversions: the proof must catch other roundings, other types,
// no saturation, and halves that are exchanged.
#include <gtest/gtest.h>

#include "lower/proof/test_elementwise.h"
#include "lower/test_calls.h"

namespace ww::lower::proof_elementwise_casts_test {
namespace {

using ir::StmtId;
using ir::StmtKind;
using ir::TileOp;
using num::DType;
using test::all_of;
using Under = test::ElementwiseUnderTest;

// Another rounding, another type, no saturation, halves exchanged or taken twice.
TEST(ProofElementwiseCasts, CastFaults) {
  using enum DType;
  Under under(
      {.op = TileOp::Cast, .types = {Float16, Float32}, .round = "rz", .is_saturated = true});
  ASSERT_TRUE(under.prove().holds());
  const std::vector<StmtId> all = all_of(under, StmtKind::Ptx);
  ASSERT_EQ(all.size(), 1U);
  ir::PtxCall& call = under.f.at(under.f[all[0]].ptx);
  const ir::PtxCall right = call;
  ASSERT_EQ(call.opcode.text(), "cvt.rz.satfinite.f16x2.f32");
  for (const std::string other : {"cvt.rn.satfinite.f16x2.f32", "cvt.rz.satfinite.bf16x2.f32",
                                  "cvt.rz.f16x2.f32", "cvt.rz.relu.satfinite.f16x2.f32"}) {
    call.opcode = isa::opcode_of(other);
    EXPECT_FALSE(under.prove().holds()) << other;
  }
  call = right;
  std::swap(call.operands[1], call.operands[2]);
  EXPECT_FALSE(under.prove().holds());
  call.operands[1] = call.operands[2];
  EXPECT_FALSE(under.prove().holds());
}

// The same for powers of two, in pairs and one by one.
TEST(ProofElementwiseCasts, PowerFaults) {
  using enum DType;
  for (const std::string layout : {"S[(32,4):(1@laneid,1)]", "S[(32,4):(1@laneid,3)]"}) {
    Under under({.op = TileOp::Cast,
                 .types = {Float8E8M0, Float32},
                 .a = layout,
                 .round = "rz",
                 .arch = target::Arch::Sm100a});
    ASSERT_TRUE(under.prove().holds());
    const std::vector<StmtId> all = all_of(under, StmtKind::Ptx);
    ASSERT_EQ(all.size(), 1U);
    ir::PtxCall& call = under.f.at(under.f[all[0]].ptx);
    const ir::PtxCall right = call;
    ASSERT_EQ(call.opcode.text(), "cvt.rz.satfinite.ue8m0x2.f32");
    for (const std::string other :
         {"cvt.rp.satfinite.ue8m0x2.f32", "cvt.rz.ue8m0x2.f32", "cvt.rn.satfinite.e4m3x2.f32"}) {
      call.opcode = isa::opcode_of(other);
      EXPECT_FALSE(under.prove().holds()) << other;
    }
    call = right;
    std::swap(call.operands[1], call.operands[2]);
    EXPECT_FALSE(under.prove().holds());
  }
}

// The same for pairs of 4-bit floats in a byte.
TEST(ProofElementwiseCasts, NibbleFaults) {
  using enum DType;
  for (const bool packs : {true, false}) {
    Under under(
        {.op = TileOp::Cast,
         .types = packs ? std::vector{Float4E2M1fn, Float32} : std::vector{Float16, Float4E2M1fn},
         .arch = target::Arch::Sm100a});
    ASSERT_TRUE(under.prove().holds());
    const std::vector<StmtId> all = all_of(under, StmtKind::Ptx);
    ASSERT_EQ(all.size(), 1U);
    ir::PtxCall& call = under.f.at(under.f[all[0]].ptx);
    const ir::PtxCall right = call;
    ASSERT_EQ(call.opcode.text(), packs ? "cvt.rn.satfinite.e2m1x2.f32" : "cvt.rn.f16x2.e2m1x2");
    for (const std::string other :
         {"cvt.rn.satfinite.e2m3x2.f32", "cvt.rn.satfinite.relu.e2m1x2.f32", "cvt.rn.f16x2.e3m2x2",
          "cvt.rn.relu.f16x2.e2m1x2", "cvt.rn.f16x2.e4m3x2"}) {
      call.opcode = isa::opcode_of(other);
      EXPECT_FALSE(under.prove().holds()) << other;
    }
    call = right;
    if (packs) {
      std::swap(call.operands[1], call.operands[2]);
      EXPECT_FALSE(under.prove().holds());
    }
  }
}

// The same for words that become words.
TEST(ProofElementwiseCasts, PairCastFaults) {
  using enum DType;
  Under under({.op = TileOp::Cast, .types = {Float8E5M2, Float8E4M3fn}});
  ASSERT_TRUE(under.prove().holds());
  const std::vector<StmtId> all = all_of(under, StmtKind::Ptx);
  ASSERT_EQ(all.size(), 2U);
  ir::PtxCall &unpack = under.f.at(under.f[all[0]].ptx), &pack = under.f.at(under.f[all[1]].ptx);
  ASSERT_EQ(unpack.opcode.text(), "cvt.rn.f16x2.e4m3x2");
  ASSERT_EQ(pack.opcode.text(), "cvt.rn.satfinite.e5m2x2.f16x2");
  for (auto* call : {&unpack, &pack}) {
    const isa::Opcode right = call->opcode;
    for (const std::string other : {"cvt.rn.f16x2.e5m2x2", "cvt.rn.relu.f16x2.e4m3x2",
                                    "cvt.rn.satfinite.e4m3x2.f16x2", "neg.f16x2"}) {
      call->opcode = isa::opcode_of(other);
      EXPECT_FALSE(under.prove().holds()) << other;
    }
    call->opcode = right;
  }
  pack.operands[1] = unpack.operands[1];
  EXPECT_FALSE(under.prove().holds());
}

}  // namespace
}  // namespace ww::lower::proof_elementwise_casts_test
