// SPDX-License-Identifier: Apache-2.0
#include "eval/ptx/instruction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

namespace ww::eval::ptx_instruction_test {
namespace {

using num::DType;

/// The call that a decoded instruction points to must outlive it.
struct Decoded {
  explicit Decoded(std::string_view opcode) : call{.opcode = isa::opcode_of(opcode)} {}
  ir::PtxCall call;
  PtxInstruction ptx = decode(call);
};

struct KindRow {
  const char* opcode;
  PtxKind kind;
};
constexpr KindRow kKinds[] = {
    {"prefetch.global.L2", PtxKind::Nothing},
    {"fence.proxy.async", PtxKind::Fence},
    {"membar.gl", PtxKind::Fence},
    {"barrier.cta.sync.aligned", PtxKind::BarSync},
    {"bar.arrive", PtxKind::BarArrive},
    {"barrier.cta.red.popc.aligned.u32", PtxKind::BarCount},
    {"bar.warp.sync", PtxKind::WarpSync},
    {"barrier.cluster.arrive.relaxed.aligned", PtxKind::ClusterArrive},
    {"barrier.cluster.wait.aligned", PtxKind::ClusterWait},
    {"mapa.shared::cluster.u32", PtxKind::MapShared},
    {"cp.async.cg.shared.global", PtxKind::CopyAsync},
    {"cp.async.commit_group", PtxKind::CommitGroup},
    {"cp.async.mbarrier.arrive.noinc.shared.b64", PtxKind::CopyArrive},
    {"cp.async.bulk.commit_group", PtxKind::CommitBulk},
    {"cp.async.wait_group", PtxKind::WaitGroup},
    {"cp.async.bulk.wait_group.read", PtxKind::WaitBulk},
    {"cp.async.wait_all", PtxKind::WaitAll},
    {"wgmma.fence.sync.aligned", PtxKind::Fence},
    {"wgmma.commit_group.sync.aligned", PtxKind::CommitProduct},
    {"wgmma.wait_group.sync.aligned", PtxKind::WaitProduct},
    {"mbarrier.init.shared.b64", PtxKind::MbarInit},
    {"mbarrier.inval.shared.b64", PtxKind::MbarInval},
    {"mbarrier.arrive.shared.b64", PtxKind::MbarArrive},
    {"mbarrier.arrive.expect_tx.shared.b64", PtxKind::MbarExpect},
    {"mbarrier.expect_tx.relaxed.cta.shared.b64", PtxKind::MbarExpectOnly},
    {"cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes",
     PtxKind::BoxLoad},
    {"cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
     ".multicast::cluster",
     PtxKind::BoxLoad},
    {"cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group", PtxKind::BoxStore},
    {"cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group.L2::cache_hint",
     PtxKind::BoxStore},
    {"mbarrier.try_wait.parity.shared.b64", PtxKind::MbarTest},
    {"elect.sync", PtxKind::Elect},
    {"redux.sync.max.s32", PtxKind::Redux},
    {"ldmatrix.sync.aligned.m8n8.x4.shared.b16", PtxKind::LoadMatrix},
    {"stmatrix.sync.aligned.m8n8.x2.shared.b16", PtxKind::StoreMatrix},
    {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", PtxKind::Mma},
    {"tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32", PtxKind::TmemAlloc},
    {"tcgen05.dealloc.cta_group::1.sync.aligned.b32", PtxKind::TmemFree},
    {"tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned", PtxKind::TmemRelinquish},
    {"tcgen05.ld.sync.aligned.32x32b.x1.b32", PtxKind::TmemLoad},
    {"tcgen05.st.sync.aligned.16x64b.x1.b32", PtxKind::TmemStore},
    {"tcgen05.wait::ld.sync.aligned", PtxKind::TmemWaitLoad},
    {"tcgen05.wait::st.sync.aligned", PtxKind::TmemWaitStore},
    {"tcgen05.cp.cta_group::1.128x128b", PtxKind::TensorCopy},
    {"tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64",
     PtxKind::TensorCommit},
    {"ld.global.v4.f32", PtxKind::Load},
    {"st.shared::cta.b16", PtxKind::Store},
    {"st.shared::cluster.f32", PtxKind::Store},
    {"ld.shared::cluster.v4.b32", PtxKind::Load},
    {"st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32", PtxKind::StoreAsync},
    {"mapa.u64", PtxKind::MapShared},
    {"mapa.shared::cluster.u64", PtxKind::Unknown},
    {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes", PtxKind::BulkCopy},
    {"cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes", PtxKind::BulkCopy},
    {"cp.async.bulk.global.shared::cta.bulk_group", PtxKind::BulkStore},
    {"cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint", PtxKind::Unknown},
    {"mov.b64", PtxKind::Move},
    {"add.rn.f32", PtxKind::Add},
    {"prmt.b32", PtxKind::PermuteBytes},
    {"movmatrix.sync.aligned.m8n8.trans.b16", PtxKind::MoveMatrix},
    {"add.rn.f16x2", PtxKind::Packed},
    {"fma.rn.bf16x2", PtxKind::Packed},
    {"mul.rn.f32x2", PtxKind::Packed},
    {"max.f16x2", PtxKind::Packed},
    {"neg.bf16x2", PtxKind::Packed},
    {"add.rn.ftz.f16x2", PtxKind::Unknown},
    {"max.NaN.f16x2", PtxKind::Unknown},
    {"ex2.approx.ftz.f32", PtxKind::Approximate},
    {"div.approx.f32", PtxKind::Approximate},
    {"sqrt.approx.f32", PtxKind::Approximate},
    {"div.full.f32", PtxKind::Unknown},
    {"cvt.rz.f16.f32", PtxKind::Convert},
    {"cvt.rp.f32.u64", PtxKind::Convert},
    {"cvt.rna.satfinite.tf32.f32", PtxKind::Convert},
    {"cvt.rn.f16x2.f32", PtxKind::ConvertPair},
    {"cvt.rz.satfinite.bf16x2.f32", PtxKind::ConvertPair},
    {"cvt.rn.satfinite.e4m3x2.f32", PtxKind::ConvertPair},
    {"cvt.rn.satfinite.e5m2x2.f16x2", PtxKind::ConvertPair},
    {"cvt.rn.f16x2.e4m3x2", PtxKind::ConvertPair},
    {"cvt.rn.relu.f16x2.f32", PtxKind::Unknown},
    {"cvt.rs.f16x2.f32", PtxKind::Unknown},
    {"cvt.rz.relu.f16.f32", PtxKind::Unknown},
    {"cvt.rz.ftz.f16.f32", PtxKind::Unknown},
    {"cvt.rzi.s32.f32", PtxKind::Unknown},
    {"sqrt.rn.f32", PtxKind::Unknown},
    {"rcp.approx.ftz.f64", PtxKind::Unknown},
    {"tanh.approx.f16", PtxKind::Unknown},
};

TEST(PtxInstruction, OpcodesOfEveryKindAreKnown) {
  std::set<PtxKind> seen;
  for (const auto& [opcode, kind] : kKinds) {
    EXPECT_EQ(Decoded(opcode).ptx.kind, kind) << opcode;
    seen.insert(kind);
  }
#define WW_EVAL_PTX(kind, together, handler) \
  EXPECT_TRUE(seen.contains(PtxKind::kind)) << #kind " has no opcode here";
#include "eval/ptx/kinds.def"
#undef WW_EVAL_PTX
}

TEST(PtxInstruction, FormsWithAnotherMeaningAreUnknown) {
  for (const char* opcode :
       {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", "fences",
        "mbarrier.arrive.noComplete.shared.b64",
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.cta_"
        "group::1",
        "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes",
        "ldmatrix.sync.aligned.m8n8.x4.shared.b8",
        "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", "ld.global.b128",
        "tcgen05.cp.cta_group::2.128x128b", "tcgen05.cp.cta_group::1.128x128b.b8x16.b4x16_p64",
        "cp.async.cg.shared.global.L2::cache_hint", "barrier.cta.red.and.pred", "add.f32.f16",
        "add.rn.ftz.f32", "ld.weak.global.f32", ""})
    EXPECT_EQ(Decoded(opcode).ptx.kind, PtxKind::Unknown) << opcode;
}

// `mov.b64 d, {a, b}` has the opcode of `mov.b64 d, a`.
TEST(PtxInstruction, MovesOfSeveralRegistersAreUnknown) {
  ir::PtxCall call{.opcode = isa::opcode_of("mov.b64"), .operands = {{}, {}}};
  EXPECT_EQ(decode(call).kind, PtxKind::Move);
  call.operands.emplace_back();
  EXPECT_EQ(decode(call).kind, PtxKind::Unknown);
}

TEST(PtxInstruction, HasWidthCountAndType) {
  const PtxInstruction load = Decoded("ld.global.v4.f32").ptx;
  EXPECT_EQ(load.bits, 32);
  EXPECT_EQ(load.count, 4U);
  EXPECT_EQ(Decoded("st.shared.b16").ptx.bits, 16);
  EXPECT_EQ(Decoded("st.shared.b16").ptx.count, 1U);
  EXPECT_EQ(Decoded("add.rn.f32").ptx.type, DType::Float32);
  EXPECT_EQ(Decoded("add.s64").ptx.type, DType::Uint64);
  const PtxInstruction matrix = Decoded("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16").ptx;
  EXPECT_EQ(matrix.count, 2U);
  EXPECT_TRUE(matrix.is_transposed);
}

TEST(PtxInstruction, HasDepthAndOperandTypeOfProducts) {
  const PtxInstruction deep = Decoded("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32").ptx;
  EXPECT_EQ(deep.depth, 16U);
  EXPECT_EQ(deep.type, DType::Bfloat16);
  const PtxInstruction flat = Decoded("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32").ptx;
  EXPECT_EQ(flat.depth, 8U);
  EXPECT_EQ(flat.type, DType::Float16);
}

TEST(PtxInstruction, HasShapesOfTensorMemory) {
  const PtxInstruction load = Decoded("tcgen05.ld.sync.aligned.16x32bx2.x2.pack::16b.b32").ptx;
  EXPECT_EQ(load.tmem_shape, TmemShape::By16x32bx2);
  EXPECT_TRUE(load.is_packed);
  EXPECT_TRUE(load.is_tensor);
  const PtxInstruction store = Decoded("tcgen05.st.sync.aligned.16x256b.x1.b32").ptx;
  EXPECT_EQ(store.tmem_shape, TmemShape::By16x256b);
  EXPECT_FALSE(store.is_packed);
}

TEST(PtxInstruction, HasRowsAndQuartersOfTensorCopies) {
  const auto shape = [](const char* form) {
    const auto [rows, halves, quarters] =
        Decoded(std::string("tcgen05.cp.cta_group::1.") + form).ptx.tensor_copy;
    return std::tuple(rows, halves, quarters);
  };
  using Quarters = TensorQuarters;
  EXPECT_EQ(shape("128x128b"), std::tuple(128, 1, Quarters::One));
  EXPECT_EQ(shape("128x256b"), std::tuple(128, 2, Quarters::One));
  EXPECT_EQ(shape("4x256b"), std::tuple(4, 2, Quarters::FirstLanes));
  EXPECT_EQ(shape("32x128b.warpx4"), std::tuple(32, 1, Quarters::All));
  EXPECT_EQ(shape("64x128b.warpx2::02_13"), std::tuple(64, 1, Quarters::Pairs02And13));
  EXPECT_EQ(shape("64x128b.warpx2::01_23"), std::tuple(64, 1, Quarters::Pairs01And23));
}

TEST(PtxInstruction, WarpsExecuteSomeTogether) {
  EXPECT_TRUE(is_warp_collective(PtxKind::Elect));
  EXPECT_TRUE(is_warp_collective(PtxKind::TmemWaitStore));
  EXPECT_FALSE(is_warp_collective(PtxKind::TensorCopy));
  EXPECT_FALSE(is_warp_collective(PtxKind::Unknown));
}

}  // namespace
}  // namespace ww::eval::ptx_instruction_test
