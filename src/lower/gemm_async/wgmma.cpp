// SPDX-License-Identifier: Apache-2.0
// gemm_async / wgmma: C (+)= A·Bᵀ by the four warps of each warpgroup, asynchronously. C is in
// registers, B in shared memory, A in either.
//
// A factor in shared memory is named by a 64-bit descriptor, made once and moved by constants from
// instruction to instruction (lower/gemm_async/shared_factor.h): any swizzle that
// `mma_shared_layout` makes, slices of it, stages chosen at run time; 16-bit types lie along K or
// along M and N. C is as wgmma deals it (`wgmma_tile_layout`): 64 rows of a warpgroup and up to 256
// columns are an instruction, larger tiles several, the steps along K outermost.
//
// The first step along K has `accum` as its scale-d, so that C need not be zeroed. The caller puts
// `T.ptx.wgmma.fence()` before, `T.ptx.wgmma.commit_group()` behind, and waits
// (`T.ptx.wgmma.wait_group`) before C is used and A and B are written again. PTX manual,
// "wgmma.mma_async".
//
//     Tx.wg.gemm_async(acc, A_s[stage, :, :], B_s[stage, :, :], accum=k > 0)    64 x 256 x 64, f16
//
//     a_lo = (T.cuda.cvta_generic_to_shared(A_s + stage * 4096) >> 4 & 0x3FFF) | 1 << 16
//     wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {acc…}, a_lo | 64 << 32 | 1 << 62, …, k > 0, 1, 1, 0, 0
//     …                                                    three more, each 32 bytes on
#include "lower/gemm_async/wgmma_plan.h"

namespace ww::lower::gemm_async_wgmma {
namespace {

PlanReport report(const WgmmaPlan& plan, const Call& call) {
  PlanReport out = report_wgmma(plan, call);
  out.notes.emplace_back(
      "the caller fences, commits, and waits before C is used and A and B are written again");
  return out;
}

constexpr Variant kVariants[] = {variant<WgmmaPlan, plan_wgmma, write_wgmma, report>(
    {.op = ir::TileOp::GemmAsync,
     .name = "wgmma",
     .about = "wgmma by the tensor cores of Hopper, factors behind descriptors"})};

}  // namespace

constinit const std::span<const Variant> variants = kVariants;

}  // namespace ww::lower::gemm_async_wgmma
