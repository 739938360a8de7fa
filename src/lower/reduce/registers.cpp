// SPDX-License-Identifier: Apache-2.0
// sum, prod, max, min, any, all, argmax, argmin / registers: every thread folds what it holds, then the lanes of a warp fold their
// parts by `shfl.sync.bfly`, as far as they hold different ones.
//
//     Tx.warp.sum(total[0:8], A[0:8, 0:16])          A float32, a row of 16 in 4 lanes
//
//     part = T.alloc_local((1,), "float32")
//     part[0] = A[0]
//     for i in T.unroll(3):
//         part[0] = part[0] + A[i + 1]
//     part[0] = part[0] + T.tvm_warp_shuffle_xor(mask, part[0], 1, 32, 32)
//     part[0] = part[0] + T.tvm_warp_shuffle_xor(mask, part[0], 2, 32, 32)
//     total[0] = part[0]
//
// The layout of the destination says who gets the result: lanes that have taken part have it, others
// get it by `shfl.sync.idx`. Where all 32 lanes fold integers, `redux.sync` (sm_80) does it at once.
// Rows that begin anywhere in a warp, such as those of six lanes, are folded by `shfl.sync.idx`.
// Narrow types are folded in float32 or int32 and rounded once. What goes into one element must be in
// one warp, and so must its result; `warps` takes the others.
#include <algorithm>
#include <map>

#include "lower/as_index.h"
#include "lower/call.h"
#include "lower/fold/totals.h"
#include "lower/variant.h"

namespace ww::lower::reduce_registers {
namespace {

/// Part `row` into register `slot` of these threads: their own, or that of a lane.
struct Delivery {
  std::int64_t slot = 0, row = 0;
  std::vector<bool> threads;
  std::optional<LaneRead> giver = {};
};

struct Plan {
  TotalsPlan totals;
  std::vector<Delivery> deliveries = {};  // by slot
};

// --- match ---------------------------------------------------------------------------------------

/// Who has the result for a register, and in which row.
struct Found {
  std::int64_t giver = -1, row = 0;
};

// The thread itself where it has the whole result, else the first lane of its warp that has.
Match<Found> find_giver(const Call& call, const TotalsPlan& plan, const Wanted& wanted,
                        bool may_be_own) {
  const std::int64_t warp = wanted.thread / kLanesOfWarp * kLanesOfWarp;
  std::vector<std::int64_t> order;
  if (may_be_own) order.push_back(wanted.thread);
  for (std::int64_t u = warp; u < std::min(warp + kLanesOfWarp, plan.fold.threads); ++u)
    order.push_back(u);
  for (const std::int64_t u : order)
    if (const auto row = row_with_all(plan, wanted.into, u)) return Found{u, *row};
  const auto [thread, count] = greatest_part(plan, wanted.into);
  if (count == plan.folded)
    return decline(
        "owner",
        "element {} of `{}` is in thread {} of the {}, and what goes into it in the warp "
        "of thread {}",
        wanted.into, call.buffer(0).name, wanted.thread, ir::name_of(call.tile.scope), thread);
  return decline("lanes",
                 "{} elements of `{}` go into element {} of `{}`, and the lanes of a warp "
                 "bring together {} of them",
                 plan.folded, call.buffer(1).name, wanted.into, call.buffer(0).name, count);
}

// Threads whose register comes from the same part, own or not.
Match<void> add_deliveries(const Call& call, Plan& plan, const std::vector<Wanted>& wanted) {
  bool all_own = true;
  std::vector<Found> found;
  for (const Wanted& each : wanted) {
    found.push_back(WW_TRY(find_giver(call, plan.totals, each, true)));
    all_own = all_own && found.back().giver == each.thread;
  }
  const auto threads = as_index(plan.totals.fold.threads);
  std::vector<std::int64_t> givers(threads);
  std::map<std::int64_t, Delivery> by_row;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    // All by one formula, even threads that have the part themselves.
    if (!all_own) found[i] = WW_TRY(find_giver(call, plan.totals, wanted[i], false));
    const auto [giver, row] = found[i];
    Delivery& delivery =
        by_row.try_emplace(row, Delivery{wanted[i].slot, row, std::vector<bool>(threads)})
            .first->second;
    delivery.threads[as_index(wanted[i].thread)] = true;
    givers[as_index(wanted[i].thread)] = giver % kLanesOfWarp;
  }
  if (by_row.size() > kMaxThreadSets)
    return decline("irregular",
                   "register {} of `{}` comes from different parts in {} sets of threads, of {} "
                   "that are told apart",
                   wanted[0].slot, call.buffer(0).name, by_row.size(), kMaxThreadSets);
  for (auto& [row, each] : by_row) {
    if (!all_own)
      each.giver =
          LaneRead{.giver = WW_TRY(formula_of(givers, each.threads,
                                              fmt::format("which lane gives register {} of `{}`",
                                                          each.slot, call.buffer(0).name)))};
    plan.deliveries.push_back(std::move(each));
  }
  return {};
}

bool is_given(const Delivery& delivery) { return delivery.giver.has_value(); }

Match<Plan> match(const Call& call) {
  WW_TRY_VOID(check_scope(call));
  Plan plan{.totals = WW_TRY(total_rows(call))};
  WW_TRY_VOID(plan_totals(call, plan.totals));
  for (const std::vector<Wanted>& each : WW_TRY(wanted_of(call, plan.totals.fold)))
    WW_TRY_VOID(add_deliveries(call, plan, each));
  if (plan.totals.is_shuffled() || std::ranges::any_of(plan.deliveries, is_given))
    WW_TRY_VOID(check_warps(call, "scope", "threads"));
  return plan;
}

// --- emit ----------------------------------------------------------------------------------------

void emit(const Plan& plan, const Call& call, CodeWriter& code) {
  TotalsWriter writer(plan.totals, call, code);
  writer.write();
  for (const Delivery& each : plan.deliveries) {
    const ir::ExprId part = writer.part(each.row);
    const ir::ExprId value = each.giver ? writer.given(part, *each.giver) : part;
    writer.in_threads(each.threads, [&] { writer.put(each.slot, value); });
  }
}

// --- report --------------------------------------------------------------------------------------

PlanReport report(const Plan& plan, const Call& call) {
  std::vector<std::int64_t> slots;
  for (const Delivery& each : plan.deliveries) slots.push_back(each.slot);
  const std::int64_t given = std::ranges::count_if(plan.deliveries, is_given);
  PlanReport out = totals_report(plan.totals, call, std::move(slots), given);
  if (given > 0) out.notes.emplace_back("lanes that hold nothing of an element get the result");
  return out;
}

constexpr auto kVariants = rows_for(
    kReductions,
    variant<Plan, match, emit, report>({.name = "registers",
                                        .aliases = "local",
                                        .about = "threads fold their registers, then lanes do"}));

}  // namespace

constinit const std::span<const Variant> variants = kVariants;

}  // namespace ww::lower::reduce_registers
