// SPDX-License-Identifier: Apache-2.0
// gemm / wgmma: D (+)= A·B by the four warps of each warpgroup, B in shared memory, A there or in
// registers, D as wgmma deals it. The instructions are those of gemm_async / wgmma
// (lower/gemm_async/wgmma.cpp); around them stand the fence that lets tensor cores see what threads
// have stored, the fence for registers, and a wait until all is done. So D can be used at once, and
// A and B be written again once the threads have met. A loop over stages is faster with
// `gemm_async`, which leaves the waiting to the program.
//
//     Tx.wg.gemm(acc, A_s, B_s, acc, transpose_B=True, beta=1.0)    64 x 64 x 64, f16
//
//     fence.proxy.async.shared::cta
//     wgmma.fence.sync.aligned
//     wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 …          four of them
//     wgmma.commit_group.sync.aligned
//     wgmma.wait_group.sync.aligned 0
#include <memory>

#include "lower/gemm/problem.h"
#include "lower/variant.h"

namespace ww::lower::gemm_wgmma {
namespace {

struct Plan {
  std::shared_ptr<const ir::TileCall> tile;
  std::any product;  // of `gemm_async`
};

const Variant& async_variant() { return gemm_async_wgmma::variants[0]; }

Match<Plan> match(const Call& call) {
  Plan plan;
  plan.tile = std::make_shared<const ir::TileCall>(WW_TRY(async_form(call)));
  Match<std::any> product = async_variant().match(with_tile(call, *plan.tile));
  if (!product) {
    Decline why = std::move(product).error();
    why.reason = fmt::format("as `gemm_async` into C: {}", why.reason);
    return Unexpected(std::move(why));
  }
  plan.product = *std::move(product);
  return plan;
}

void emit(const Plan& plan, const Call& call, CodeWriter& code) {
  code.ptx("fence.proxy.async.shared::cta", {});
  code.ptx("wgmma.fence.sync.aligned", {});
  async_variant().emit(plan.product, with_tile(call, *plan.tile), code);
  code.ptx("wgmma.commit_group.sync.aligned", {});
  code.ptx("wgmma.wait_group.sync.aligned", {{.expr = code.n(0)}});
}

PlanReport report(const Plan& plan, const Call& call) {
  PlanReport out = async_variant().report(plan.product, with_tile(call, *plan.tile));
  out.operand_registers.front().first = "D";
  for (const std::string_view opcode :
       {"fence.proxy.async.shared::cta", "wgmma.fence.sync.aligned",
        "wgmma.commit_group.sync.aligned", "wgmma.wait_group.sync.aligned"})
    out.add_instruction(std::string(opcode), 1, 0);
  out.notes.back() = "fences, commits and waits itself; `gemm_async` leaves that to the caller";
  return out;
}

constexpr Variant kVariants[] = {variant<Plan, match, emit, report>(
    {.op = ir::TileOp::Gemm,
     .name = "wgmma",
     .about = "wgmma by the tensor cores of Hopper, from shared memory, waited for at once"})};

}  // namespace

constinit const std::span<const Variant> variants = kVariants;

}  // namespace ww::lower::gemm_wgmma
