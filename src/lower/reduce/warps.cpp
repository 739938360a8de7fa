// SPDX-License-Identifier: Apache-2.0
// sum, prod, max, min, any, all, argmax, argmin / warps: for elements that several warps hold, and
// results for other warps. Threads and lanes fold as in `registers`; one lane of each warp puts the
// warp's part into shared memory, and the threads that hold the result fold the parts in the order of
// the warps.
//
//     Tx.cta.sum(total[0:1], A[0:128])               A float32, an element in each of 128 threads
//
//     part[0] = A[0]                                 then five butterflies
//     T.cuda.cta_sync()
//     if threadIdx_x % 32 == 0:
//         between[threadIdx_x // 32] = part[0]
//     T.cuda.cta_sync()
//     warps[0] = between[0]
//     for i in T.unroll(3):
//         warps[0] = warps[0] + between[i + 1]
//     total[0] = warps[0]
//
// The shared memory is the compiler's own, or the `workspace=` of the call; all reductions of the
// kernel share it, and the first barrier is there because another may have been reading. Warpgroups
// wait at the named barriers 8 to 15. All threads of the unit must arrive.
#include "lower/call.h"
#include "lower/fold/totals.h"
#include "lower/scratch.h"
#include "lower/variant.h"

namespace ww::lower::reduce_warps {
namespace {

struct Plan {
  TotalsPlan totals;
  std::int64_t elements = 0;  // of scratch memory
  std::vector<Deposit> deposits = {};
  std::vector<Collection> collections = {};  // by slot
};

Match<Plan> match(const Call& call) {
  if (call.tile.scope != ir::Unit::Warpgroup && call.tile.scope != ir::Unit::Cta)
    return decline("scope", "{} scope, expected warpgroup or cta", ir::name_of(call.tile.scope));
  Plan plan{.totals = WW_TRY(total_rows(call))};
  const Fold& p = plan.totals.fold;
  WW_TRY_VOID(check_warps(call, "scope", "threads"));
  WW_TRY_VOID(plan_totals(call, plan.totals));
  const WarpParts parts = WW_TRY(warp_parts(call, plan.totals, p.threads));
  plan.elements = plan.totals.results * parts.most_warps;
  WW_TRY_VOID(check_scratch(call, p.type, plan.elements));
  plan.deposits = WW_TRY(deposits_of(call, plan.totals, parts));
  for (const std::vector<Wanted>& each : WW_TRY(wanted_of(call, p)))
    plan.collections.push_back(WW_TRY(collection_of(call, plan.totals, each, parts, false)));
  return plan;
}

void emit(const Plan& plan, const Call& call, CodeWriter& code) {
  TotalsWriter writer(plan.totals, call, code);
  writer.write();
  const num::DType type = plan.totals.fold.type;
  const ir::BufferId between = scratch_view(call, code, type, plan.elements);
  const ir::BufferId warps = code.registers("warps", type, 1);
  write_barrier(call, code);
  for (const Deposit& each : plan.deposits)
    writer.in_threads(each.threads, [&] {
      const ir::ExprId place = formula_expr(code, each.place, writer.thread());
      code.store(between, scratch_index(call, code, place), writer.part(each.row));
    });
  write_barrier(call, code);
  for (const Collection& each : plan.collections)
    writer.in_threads(each.threads[0], [&] {
      writer.collect(each, warps, 1, [&](ir::ExprId place) {
        return code.load(between, {scratch_index(call, code, place)});
      });
      writer.put(each.slot, code.load(warps, {code.n(0)}));
    });
}

PlanReport report(const Plan& plan, const Call& call) {
  std::vector<std::int64_t> slots;
  std::int64_t read = 0;
  for (const Collection& each : plan.collections) {
    slots.push_back(each.slot);
    read += std::ssize(each.threads);
  }
  PlanReport out = totals_report(plan.totals, call, std::move(slots), 0);
  report_scratch(out, call, plan.totals.fold.type, std::ssize(plan.deposits), read, plan.elements);
  out.summary += fmt::format(", then {} parts of warps through {}", read, scratch_text(call));
  return out;
}

constexpr auto kVariants = rows_for(
    kReductions, variant<Plan, match, emit, report>(
                     {.name = "warps",
                      .priority = 5,
                      .about = "threads and lanes fold, then warps through shared memory"}));

}  // namespace

constinit const std::span<const Variant> variants = kVariants;

}  // namespace ww::lower::reduce_warps
