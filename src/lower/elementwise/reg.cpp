// SPDX-License-Identifier: Apache-2.0
// Elementwise primitives / reg: every thread computes the elements of its own registers, one after
// the other.
//
// Every element of the destination must have its sources in the same thread, in whatever registers;
// scalars are computed once, by each thread for itself. Registers that follow formulas become a
// loop, which is unrolled, since registers have no addresses; others are written one by one. Where
// two elements share a word and the target has the instruction, it takes both: `add.rn.f16x2`.
//
//     Tx.wg.cast(H[0:128, 0:64], R[0:128, 0:64])     R float32, H float16, a row in each thread
//
//     for i in T.unroll(32):
//         cvt.rn.f16x2.f32 H_words[i], R[i * 2 + 1], R[i * 2]
//
// Threads that share elements all compute them, which must not be with scalars that differ. Threads
// that hold nothing are left out.
#include <algorithm>

#include "lower/as_index.h"
#include "lower/elementwise/element_checks.h"
#include "lower/elementwise/work.h"
#include "lower/elementwise/work_writer.h"
#include "lower/index_formula.h"
#include "lower/variant.h"

namespace ww::lower::elementwise_reg {
namespace {

using ir::TileOp;

// All steps of a batch in one round.
Work work_of(const StepBatch& batch, std::size_t sides) {
  Work out{
      {.vec = std::ssize(batch.steps), .threads = std::ssize(batch.threads), .used = batch.threads},
      std::vector<WorkSide>(sides)};
  for (std::size_t s = 0; s < sides; ++s) {
    WorkSide& side = out.sides[s];
    for (const RegisterStep& step : batch.steps)
      side.slots.push_back(s == 0 ? step.to : step.from[s - 1]);
    side.slot_form = fit_table(side.slots);
  }
  return out;
}

Match<WorkPlan> match(const Call& call) {
  RegisterProblem found = WW_TRY(register_problem(call));
  WW_TRY_VOID(check_elements(call, found.problem.dst, found.problem.sources));
  std::vector<Work> works;
  for (const StepBatch& batch : found.batches)
    works.push_back(work_of(batch, found.problem.sides().size()));
  return work_plan(call, std::move(found.problem), std::move(works));
}

PlanReport report(const WorkPlan& plan, const Call& call) {
  PlanReport out = work_report(plan);
  std::vector<std::int64_t> steps(as_index(call.unit_threads()));
  bool has_loop = false;
  for (std::size_t w = 0; w < plan.works.size(); ++w) {
    const Work& work = plan.works[w];
    has_loop = has_loop || (has_formulas(work) && work.vec > (plan.is_packed[w] ? 2 : 1));
    for (std::size_t u = 0; u < steps.size(); ++u)
      if (work.used[u]) steps[u] += work.vec;
  }
  out.threads = std::ssize(steps) - std::ranges::count(steps, std::int64_t{0});
  out.rounds = *std::ranges::max_element(steps);
  const auto sides = plan.problem.sides();
  for (std::size_t s = 0; s < sides.size(); ++s) {
    const auto is_same = [&](const OperandPlaces* o) { return o->buffer == sides[s]->buffer; };
    if (std::ranges::none_of(std::span(sides).first(s), is_same)) add_registers(out, plan, call, s);
  }
  const bool is_copied = out.rounds * out.threads > out.elements;
  const std::int64_t packed = plan.packed_count();
  out.summary = fmt::format("{} element{} per thread, in its registers{}", out.rounds,
                            out.rounds == 1 ? "" : "s", packed > 0 ? ", two at a time" : "");
  add_packed(out, plan);
  if (out.rounds > 1 && packed != 1 && !has_loop)
    out.notes.emplace_back("the registers follow no formula and are written one by one");
  if (is_copied) out.notes.emplace_back("elements that several threads hold are computed by each");
  add_value_notes(out, call, plan.problem.type, packed > 0 ? 0 : out.rounds);
  return out;
}

constexpr Variant row(TileOp op) {
  return variant<WorkPlan, match, write_works, report>(
      {.op = op, .name = "reg", .about = "each thread computes the elements of its registers"});
}

constexpr Variant kVariants[] = {
#define WW_ELEMENTWISE(id, name, parameters, group, computed_by) row(TileOp::id),
#include "ir/tile_ops.def"
};

}  // namespace

constinit const std::span<const Variant> variants = kVariants;

}  // namespace ww::lower::elementwise_reg
