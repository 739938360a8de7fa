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

struct Plan {
  std::shared_ptr<const CopyProblem> problem;
  CopyPhase phase;
  std::string modifiers;
};

Match<Plan> match(const Call& call) {
  WW_TRY_VOID(check_scope(call));
  const auto scope = [&](std::size_t i) { return call.f()[call.region(i).buffer].scope; };
  for (const std::size_t i : {0U, 1U})
    if (scope(i) != ir::Scope::Global && !ir::is_shared(scope(i)))
      return decline("memory_pair", "{} to {}, expected global or shared memory on both sides",
                     ir::name_of(scope(1)), ir::name_of(scope(0)));
  WW_TRY_VOID(check_workers(call));
  WW_TRY_VOID(check_settings(call, kLoadSettings));
  const auto problem = WW_TRY(copy_problem(call));
  auto phase = WW_TRY(memory_phase(call, *problem));
  auto modifiers = WW_TRY(load_modifiers(call, std::span(&phase, 1)));
  if (!modifiers.empty() && problem->fills)
    return decline("config", "`ld.global{}` with `fill_mode=`, expected one of the two", modifiers);
  return Plan{problem, std::move(phase), std::move(modifiers)};
}

void emit(const Plan& plan, const Call& call, CodeWriter& code) {
  PhaseWriter(call, *plan.problem, code, plan.modifiers).write(plan.phase);
}

PlanReport report(const Plan& plan, const Call& call) {
  return memory_report(call, *plan.problem, plan.phase);
}

constexpr Variant kVariants[] = {variant<Plan, match, emit, report>(
    {.op = ir::TileOp::Copy,
     .name = "gmem_smem",
     .aliases = "vec_auto",
     .about = "the threads of the unit share out a tile between two memories"})};

}  // namespace

constinit const std::span<const Variant> variants = kVariants;

}  // namespace ww::lower::copy_gmem_smem
