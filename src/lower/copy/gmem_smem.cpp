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
// Where a region may leave its buffer, each vector has one condition: it is moved, or holds the
// fill value, or is not stored. Only a vector that an edge may cut has a tail, element by element:
//
//     Tx.cta.copy(s[0:1024], A[i:i + 1024], fill_value=1.0)          float16, A of n elements
//
//     for f in T.unroll(…):
//         filled[0], … = 1.0, …
//         if 8 <= inside: T.cuda.copy_bytes(&filled[0], src_ptr, 16)
//         T.cuda.copy_bytes(dst_ptr, &filled[0], 16)
//     for f in range(…):
//         if 0 < inside < 8: s[…] = A[…] for each element inside
//
// No barrier: the caller waits before others read.
#include "lower/call.h"
#include "lower/copy/phase_writer.h"
#include "lower/variant.h"

namespace ww::lower::copy_gmem_smem {
namespace {

Match<PhasePlan> match(const Call& call) {
  WW_TRY_VOID(check_scope(call));
  for (const std::size_t i : {0U, 1U})
    if (call.memory(i) != ir::Scope::Global && !ir::is_shared(call.memory(i)))
      return other_memories(call, "global or shared memory on both sides");
  WW_TRY_VOID(check_workers(call));
  WW_TRY_VOID(check_load_settings(call));
  const auto problem = WW_TRY(copy_problem(call));
  return phase_plan(call, problem, {WW_TRY(memory_phase(call, *problem))});
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
