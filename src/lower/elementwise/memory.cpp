// SPDX-License-Identifier: Apache-2.0
// fill, zero, memset / memory: shared or global memory; the threads of the unit share the tile out
// in vectors, as copies do.
//
//     Tx.cta.fill(A[0:64, 0:64], 0)          A float16 in shared memory, 128 threads
//
//     value = T.alloc_local((8,), "float16")
//     for i in T.unroll(8):
//         value[i] = T.float16(0.0)
//     for f in T.unroll(4):
//         T.cuda.copy_bytes(&A[threadIdx_x * 8 + f * 1024], &value[0], 16)
//     T.cuda.cta_sync()
//
// What is in shared memory is there for the whole unit afterwards: a barrier of the unit ends it.
// Warpgroups have the named barriers 8 to 15 for that.
#include <algorithm>

#include "ir/elementwise.h"
#include "lower/call.h"
#include "lower/copy/phase_writer.h"
#include "lower/elementwise/element_checks.h"
#include "lower/scratch.h"
#include "lower/variant.h"

namespace ww::lower::elementwise_memory {
namespace {

using ir::ExprId;
using ir::TileOp;

struct Plan {
  CopyProblem problem;  // into the tile, from nowhere
  CopyPhase phase;
};

// --- match ---------------------------------------------------------------------------------------

// The vectors are found; where they come from is no place in memory.
void drop_source(Plan& plan) {
  OperandPlaces& src = plan.problem.src;
  src.base = {};
  src.base_divisor = 0;
  src.strides.clear();
  src.swizzle = {};
  src.linear.assign(src.size(), 0);
  std::ranges::fill(plan.phase.src_places, 0);
  const bool is_found = find_forms(plan.problem, plan.phase);
  WW_CHECK(is_found, "addresses of a fill that were found before");
}

Match<Plan> match(const Call& call) {
  WW_TRY_VOID(check_scope(call));
  const ir::Buffer& buffer = call.buffer(0);
  if (buffer.scope != ir::Scope::Global && !ir::is_shared(buffer.scope))
    return decline("memory", "`{}` is in {}, expected shared or global memory", buffer.name,
                   buffer.scope == ir::Scope::Local ? "registers" : "tensor memory");
  Plan plan;
  plan.problem.dst = WW_TRY(operand_places(call, 0));
  const OperandPlaces& dst = plan.problem.dst;
  if (dst.bits < 8)
    return decline("sub_byte", "`{}` has elements of {} bits, expected whole bytes", buffer.name,
                   dst.bits);
  WW_TRY_VOID(check_one_place(call, dst));
  plan.problem.src = dst;
  plan.problem.elements = std::ssize(dst);
  WW_TRY_VOID(check_workers(call));
  plan.phase = WW_TRY(memory_phase(call, plan.problem));
  drop_source(plan);
  return plan;
}

// --- emit ----------------------------------------------------------------------------------------

ExprId value_of(const Plan& plan, const Call& call, CodeWriter& code) {
  const num::DType type = plan.problem.dst.dtype;
  if (call.tile.op == TileOp::Zero) return code.zero(type);
  const ExprId value = code.as(type, scalar_of(call, ir::operands_of(call.tile)[0]));
  return call.f()[value].op == ir::ExprOp::FloatImm ? value : code.let("scalar", value);
}

// The registers of one access, all with the value.
ir::BufferId filled_registers(const Plan& plan, CodeWriter& code, ExprId value) {
  const ir::BufferId out = code.registers("value", plan.problem.dst.dtype, plan.phase.vec);
  code.loop("i", plan.phase.vec, ir::LoopKind::Unroll,
            [&](ExprId i) { code.store(out, i, value); });
  return out;
}

void emit(const Plan& plan, const Call& call, CodeWriter& code) {
  const ExprId value = value_of(plan, call, code);
  const bool is_vector = plan.phase.vec > 1;
  const ir::BufferId registers = is_vector ? filled_registers(plan, code, value) : ir::BufferId{};
  PhaseWriter writer(call, plan.problem, code);
  writer.write(plan.phase, [&](const PhaseWriter::Access& access) {
    const ir::BufferId flat = writer.flat(true);
    if (!is_vector) return code.store(flat, access.to, value);
    code.copy_bytes(code.pointer(flat, access.to), code.pointer(registers, code.n(0)),
                    plan.phase.bytes);
  });
  if (ir::is_shared(plan.problem.dst.scope)) write_barrier(call, code);
}

// --- report --------------------------------------------------------------------------------------

PlanReport report(const Plan& plan, const Call& call) {
  PlanReport out = copy_report(call, plan.problem);
  const bool is_shared = ir::is_shared(plan.problem.dst.scope);
  out.add_instruction(access_opcode("st", plan.problem.dst, plan.phase.bytes), plan.phase.rounds,
                      plan.phase.bytes);
  out.rounds = plan.phase.rounds;
  out.vector_bits = static_cast<int>(plan.phase.bytes * 8);
  out.summary = fmt::format("{}-bit vectors, {}", out.vector_bits, rounds_text(out, plan.phase));
  if (is_shared && call.tile.scope == ir::Unit::Warpgroup)
    out.notes.emplace_back("ends with the named barrier 8 + the number of the warpgroup");
  return out;
}

constexpr Variant row(TileOp op) {
  return variant<Plan, match, emit, report>({.op = op,
                                             .name = "memory",
                                             .priority = 5,
                                             .aliases = "smem",
                                             .about = "the threads fill memory in vectors"});
}

constexpr Variant kVariants[] = {
#define WW_FILL(id, name, parameters, group, computed_by) row(TileOp::id),
#define WW_ELEMENTWISE(id, name, parameters, group, computed_by)
#include "ir/tile_ops.def"
};

}  // namespace

constinit const std::span<const Variant> variants = kVariants;

}  // namespace ww::lower::elementwise_memory
