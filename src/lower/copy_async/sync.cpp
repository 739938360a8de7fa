// SPDX-License-Identifier: Apache-2.0
// copy_async / sync: global to shared memory by loads and stores, for what cp.async does not do:
// elements that are aligned to 1 or 2 bytes only, targets before sm_80. A caller that waits for the
// copy gets what it waits for; it was only there before.
//
// The widest vectors as in copy / gmem_smem, or element by element as in copy / fallback.
#include "lower/copy/copy_report.h"
#include "lower/copy/element_copy.h"
#include "lower/copy/phase_writer.h"
#include "lower/copy_async/global_to_shared.h"
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
  if (is_direct(call)) return decline("direct", "one cp.async is asked for");
  WW_TRY_VOID(check_settings(call));
  Plan plan;
  const auto problem = copy_problem(call);
  if (problem) {
    auto phase = memory_phase(call, **problem);
    if (phase) return Plan{*problem, *std::move(phase), {}, {}};
    plan.why = phase.error().reason;
  } else {
    static constexpr std::string_view kFinal[] = {"overlap", "collision"};
    for (const std::string_view rule : kFinal)
      if (problem.error().rule == rule) return std::unexpected(problem.error());
    plan.why = problem.error().reason;
  }
  const ir::Buffer& dst = call.f()[call.region(0).buffer];
  for (const std::size_t i : {0U, 1U})
    if (const ir::Buffer& b = call.f()[call.region(i).buffer]; b.layout && b.layout->copies() > 1)
      return decline("replica", "`{}` holds each element at {} places in memory", b.name,
                     b.layout->copies());
  // Two threads cannot write one byte.
  if (num::bits_of(dst.dtype) < 8) plan.order = ElementOrder::FirstThread;
  return plan;
}

void emit(const Plan& plan, const Call& call, CodeWriter& code) {
  if (plan.phase) return PhaseWriter(call, *plan.problem, code).write(*plan.phase);
  if (plan.order == ElementOrder::SharedOut) return copy_shared_out(call, code);
  copy_one_by_one(call, code, call.tile.scope != ir::Unit::Thread);
}

PlanReport report(const Plan& plan, const Call& call) {
  if (plan.phase) {
    PlanReport out = memory_report(call, *plan.problem, *plan.phase);
    out.notes.emplace_back("synchronous: the copy is done when the call is");
    return out;
  }
  PlanReport out = elements_report(call, plan.order);
  out.notes.emplace_back("synchronous: the copy is done when the call is");
  out.notes.push_back(fmt::format("slow path: {}", plan.why));
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
