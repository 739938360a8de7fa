// SPDX-License-Identifier: Apache-2.0
// copy_async / sync: global to shared memory by loads and stores, for what cp.async does not do:
// elements that are aligned to 1 or 2 bytes only, targets before sm_80. A caller that waits for the
// copy gets what it waits for; it was only there before.
//
// The widest vectors as in copy / gmem_smem, or element by element as in copy / fallback.
#include "ir/settings.h"
#include "lower/copy/element_copy.h"
#include "lower/copy/phase_writer.h"
#include "lower/variant.h"

namespace ww::lower::copy_async_sync {
namespace {

struct Plan {
  std::shared_ptr<const CopyProblem> problem;  // with the phase
  std::optional<CopyPhase> phase;              // nothing: element by element
  ElementOrder order = ElementOrder::SharedOut;
  std::string why;  // no phase
};

Match<Plan> match(const Call& call) {
  WW_TRY_VOID(check_global_to_shared(call));
  if (ir::is_true(call.setting("direct"))) return decline("direct", "one cp.async is asked for");
  WW_TRY_VOID(check_settings(call));
  Plan plan;
  const auto problem = copy_problem(call);
  if (const auto no = final_decline(problem)) return Unexpected(*no);
  if (problem) {
    auto phase = memory_phase(call, **problem);
    if (phase) return Plan{*problem, *std::move(phase), {}, {}};
    plan.why = phase.error().reason;
  } else {
    plan.why = problem.error().reason;
  }
  WW_TRY_VOID(check_one_place(call));
  WW_TRY_VOID(check_mask_apart(call));
  WW_TRY_VOID(check_mask_reached(call));
  // Two threads cannot write one byte.
  if (num::storage_bits(call.buffer(0).dtype) < 8) plan.order = ElementOrder::FirstThread;
  return plan;
}

void emit(const Plan& plan, const Call& call, CodeWriter& code) {
  if (plan.phase) return PhaseWriter(call, *plan.problem, code).write(*plan.phase);
  if (plan.order == ElementOrder::SharedOut) return copy_shared_out(call, code);
  copy_one_by_one(call, code, call.tile.scope != ir::Unit::Thread);
}

PlanReport report(const Plan& plan, const Call& call) {
  PlanReport out = plan.phase ? memory_report(call, *plan.problem, *plan.phase)
                              : elements_report(call, plan.order);
  out.notes.emplace_back("synchronous: the copy is done when the call is");
  if (!plan.phase) out.notes.push_back(fmt::format("slow path: {}", plan.why));
  return out;
}

constexpr Variant kVariants[] = {
    variant<Plan, match, emit, report>({.op = ir::TileOp::CopyAsync,
                                        .name = "sync",
                                        .priority = 0,
                                        .about = "loads and stores, where nothing else fits"})};

}  // namespace

constinit const std::span<const Variant> variants = kVariants;

}  // namespace ww::lower::copy_async_sync
