// SPDX-License-Identifier: Apache-2.0
// copy / reg: between registers and shared or global memory, or registers and registers; every
// thread moves what its registers hold.
//
// The partition is that of the register operand: its layout says which thread owns which element.
// Per thread, registers that follow each other and lie one after the other in memory become one
// vector access, the widest that contiguity and alignment of both sides allow in every thread.
// Tried behind ldstmatrix, which serves fragments of matrix instructions.
//
//     Tx.warp.copy(R[0:32, 0:8], A[0:32, 0:8])        R = S[(32,8):(1@laneid,1)], float32
//
//     for f in range(2):
//         src_ptr = T.pointer_offset(T.address_of(A[0]), threadIdx_x % 32 * 8 + f * 4)
//         dst_ptr = T.pointer_offset(T.address_of(R[0]), f * 4)
//         T.cuda.copy_bytes(dst_ptr, src_ptr, 16)
//
// Threads that share elements (replicas, or a layout that does not tell them apart) all load; one
// of them stores. Where the region in memory may leave its buffer, each vector has one condition,
// as in gmem_smem.
#include "lower/call.h"
#include "lower/copy/phase_writer.h"
#include "lower/copy/problem.h"
#include "lower/variant.h"

namespace ww::lower::copy_reg {
namespace {

Match<PhasePlan> match(const Call& call) {
  WW_TRY_VOID(check_scope(call));
  const auto problem = WW_TRY(copy_problem(call));
  WW_TRY_VOID(check_load_settings(call));
  if (problem->register_side() == nullptr) return other_memories(call, "registers on one side");
  WW_TRY_VOID(check_no_tensor(call));
  return phase_plan(call, problem, WW_TRY(register_phases(call, *problem)));
}

PlanReport report(const PhasePlan& plan, const Call& call) {
  PlanReport out = phases_report(call, *plan.problem, plan.phases);
  out.summary = fmt::format("{}-bit vectors, {} per thread", out.vector_bits, out.rounds);
  return out;
}

Reach reach(const PhasePlan& plan, const Call& call) {
  const OperandPlaces& own = *plan.problem->register_side();
  return reach_of(register_map(call, own, &own == &plan.problem->dst), own.size());
}

constexpr Variant kVariants[] = {variant<PhasePlan, match, emit_phases, report, reach>(
    {.op = ir::TileOp::Copy,
     .name = "reg",
     .aliases = "vec_auto",
     .about = "each thread moves the elements of its registers in vectors"})};

}  // namespace

constinit const std::span<const Variant> variants = kVariants;

}  // namespace ww::lower::copy_reg
