// SPDX-License-Identifier: Apache-2.0
// copy / gmem_smem: between global and shared memory, shared and shared, global and global. No
// operand says who moves what, so the threads of the unit share the tile out among them.
//
// The tile is cut into vectors that lie contiguous and aligned on both sides, the widest possible.
// The vectors are put in the order of the global side's addresses (the destination's when there is
// none or two), and vector f·T + u goes to thread u in round f: neighbours in a warp touch
// neighbours in memory. When the vectors do not divide by T, the last round is guarded.
//
//     Tx.cta.copy(A_smem[0:128, 0:32], A[0:128, 0:32])          float16, 128 threads
//
//     for f in T.unroll(4):
//         src_ptr = T.pointer_offset(T.address_of(A[0]), f * 1024 + threadIdx_x * 8)
//         dst_ptr = T.pointer_offset(T.address_of(A_smem[0]), f * 1024 + threadIdx_x * 8)
//         T.cuda.copy_bytes(dst_ptr, src_ptr, 16)
//
// A copy under a condition that leaves zeros elsewhere (`fill_mode="zero"`) goes element by
// element, each guarded.
//
// No barrier: the caller waits before others read.
#include "lower/checks.h"
#include "lower/copy/copy_report.h"
#include "lower/copy/phase_writer.h"
#include "lower/variant.h"

namespace ww::lower::copy_gmem_smem {
namespace {

Match<PhasePlan> match(const Call& call) {
  WW_TRY_VOID(check_scope(call));
  for (const std::size_t i : {0U, 1U})
    if (call.memory(i) != ir::Scope::Global && !ir::is_shared(call.memory(i)))
      return decline("memory_pair", "{} to {}, expected global or shared memory on both sides",
                     ir::name_of(call.memory(1)), ir::name_of(call.memory(0)));
  WW_TRY_VOID(check_workers(call));
  WW_TRY_VOID(check_settings(call, kLoadSettings));
  const auto problem = WW_TRY(copy_problem(call));
  auto plan = WW_TRY(phase_plan(call, problem, {WW_TRY(memory_phase(call, *problem))}));
  if (!plan.modifiers.empty() && problem->fills)
    return decline("config", "`ld.global{}` with `fill_mode=`, expected one of the two",
                   plan.modifiers);
  return plan;
}

PlanReport report(const PhasePlan& plan, const Call& call) {
  return memory_report(call, *plan.problem, plan.phases[0]);
}

constexpr Variant kVariants[] = {variant<PhasePlan, match, emit_phases, report>(
    {.op = ir::TileOp::Copy,
     .name = "gmem_smem",
     .aliases = "vec_auto",
     .about = "the threads of the unit share out a tile between two memories"})};

}  // namespace

constinit const std::span<const Variant> variants = kVariants;

}  // namespace ww::lower::copy_gmem_smem
