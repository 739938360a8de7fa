// SPDX-License-Identifier: Apache-2.0
// Elementwise primitives / mixed: operands in shared memory, global memory and registers in any
// mix, the destination among them.
//
// Where an operand is in registers, the threads that hold an element compute it (into memory, the
// first of them). Otherwise the threads of the unit share the tile, neighbours taking neighbours.
// An access to memory has as many elements as all operands allow, 16 bytes at most; an operand that
// is stretched along them is read once for all. What a thread needs in all rounds is read before them.
//
//     Tx.cta.add(X[0:64, 0:64], X[0:64, 0:64], bias[0:64])     float32, X shared, bias global
//
//     T.cuda.copy_bytes(&b[0], &bias[threadIdx_x % 16 * 4], 16)
//     for f in T.unroll(8):                                    128 threads
//         T.cuda.copy_bytes(&a[0], &X[f * 512 + threadIdx_x * 4], 16)
//         for i in T.unroll(4):
//             dst[i] = a[i] + b[i]
//         T.cuda.copy_bytes(&X[f * 512 + threadIdx_x * 4], &dst[0], 16)
//     T.cuda.cta_sync()
//
// What is in shared memory is there for the whole unit afterwards: a barrier of the unit ends it.
#include <algorithm>

#include "lower/copy/phase_writer.h"
#include "lower/cost.h"
#include "lower/elementwise/element_checks.h"
#include "lower/elementwise/work.h"
#include "lower/elementwise/work_writer.h"
#include "lower/variant.h"

namespace ww::lower::elementwise_mixed {
namespace {

using ir::TileOp;

Match<WorkPlan> match(const Call& call) {
  ElementwiseProblem problem = WW_TRY(mixed_problem(call));
  WW_TRY_VOID(check_elements(call, problem.dst, problem.sources));
  std::vector<Work> works = WW_TRY(mixed_work(call, problem));
  return work_plan(call, std::move(problem), std::move(works));
}

// --- report --------------------------------------------------------------------------------------

void add_memory(PlanReport& out, const WorkPlan& plan, const Call& call) {
  const auto sides = plan.problem.sides();
  for (std::size_t n = 1; n <= sides.size(); ++n) {
    const std::size_t s = n % sides.size();  // sources first
    const OperandPlaces& side = *sides[s];
    if (side.is_register()) continue;
    AccessLog log(side);
    for (const Work& work : plan.works) {
      const WorkSide& reached = work.sides[s];
      const std::int64_t bytes = reached.bytes;
      out.add_instruction(access_opcode(s == 0 ? "st" : "ld", side, bytes),
                          reached.is_fixed ? 1 : work.rounds, bytes);
      out.vector_bits = std::max(out.vector_bits, static_cast<int>(bytes * 8));
      log_rounds(log, work, bytes, reached.places, reached.is_fixed);
    }
    if (ir::is_shared(side.scope)) add_costs(out, call, log);
  }
}

PlanReport report(const WorkPlan& plan, const Call& call) {
  const ElementwiseProblem& p = plan.problem;
  PlanReport out = work_report(plan);
  const std::int64_t vec = add_rounds(out, plan.works);
  add_memory(out, plan, call);
  const auto sides = p.sides();
  for (std::size_t s = 0; s < sides.size(); ++s)
    if (sides[s]->is_register()) add_registers(out, plan, call, s);
  add_packed(out, plan);
  const Work& work = plan.works[0];
  if (work.count != 0)
    out.notes.push_back(fmt::format("the last round is done by {} of {} threads",
                                    work.count % work.threads, work.threads));
  if (ir::is_shared(p.dst.scope) && call.tile.scope == ir::Unit::Warpgroup)
    out.notes.emplace_back("ends with the named barrier 8 + the number of the warpgroup");
  add_value_notes(out, call, p.type, plan.packed_count() > 0 ? 0 : out.rounds * vec);
  return out;
}

constexpr Variant row(TileOp op) {
  return variant<WorkPlan, match, write_works, report>(
      {.op = op,
       .name = "mixed",
       .priority = 5,
       .aliases = "smem",
       .about = "threads compute from and into memory in vectors"});
}

constexpr Variant kVariants[] = {
#define WW_FILL(id, name, parameters, group, computed_by)
#define WW_ELEMENTWISE(id, name, parameters, group, computed_by) row(TileOp::id),
#include "ir/tile_ops.def"
};

}  // namespace

constinit const std::span<const Variant> variants = kVariants;

}  // namespace ww::lower::elementwise_mixed
