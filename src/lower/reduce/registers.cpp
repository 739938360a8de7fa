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
#include "lower/checks.h"
#include "lower/index_formula.h"
#include "lower/reduce/parts.h"
#include "lower/variant.h"

namespace ww::lower::reduce_registers {
namespace {

using ir::TileOp;

/// Part `row` into register `slot` of these threads: their own, or that of a lane.
struct Delivery {
  std::int64_t slot = 0, row = 0;
  std::vector<bool> threads;
  std::optional<ThreadFormula> giver;
};

struct Plan {
  PartsPlan parts;
  std::vector<Delivery> deliveries;  // by slot
};

// --- match ---------------------------------------------------------------------------------------

/// Where a thread finds the result for a register of its own.
struct Found {
  Wanted wanted;
  std::int64_t giver = -1, row = 0;
};

// The thread itself where it has the whole result, else the first lane of its warp that has.
Match<void> find_giver(const Call& call, const ReduceProblem& p, const LaneParts& lanes,
                       bool may_be_own, Found& found) {
  const Wanted& wanted = found.wanted;
  const std::int64_t warp = wanted.thread / kLanesOfWarp * kLanesOfWarp;
  std::vector<std::int64_t> order;
  if (may_be_own) order.push_back(wanted.thread);
  for (std::int64_t u = warp; u < std::min(warp + kLanesOfWarp, p.threads); ++u) order.push_back(u);
  for (const std::int64_t u : order)
    if (const auto row = lanes.whole(wanted.into, u)) {
      found.giver = u;
      found.row = *row;
      return {};
    }
  const auto [thread, count] = lanes.greatest(wanted.into);
  if (count == p.folded)
    return decline(
        "owner",
        "element {} of `{}` is in thread {} of the {}, and what goes into it in the warp "
        "of thread {}",
        wanted.into, call.buffer(0).name, wanted.thread, ir::name_of(call.tile.scope), thread);
  return decline("lanes",
                 "{} elements of `{}` go into element {} of `{}`, and the lanes of a warp "
                 "bring together {} of them",
                 p.folded, call.buffer(1).name, wanted.into, call.buffer(0).name, count);
}

// Threads whose register `slot` comes from the same part, own or not.
Match<void> add_deliveries(const Call& call, const ReduceProblem& p, const LaneParts& lanes,
                           std::span<Found> found, std::vector<Delivery>& out) {
  bool all_own = true;
  for (Found& each : found) {
    WW_TRY_VOID(find_giver(call, p, lanes, true, each));
    all_own = all_own && each.giver == each.wanted.thread;
  }
  // All by one formula, even threads that have the part themselves.
  for (Found& each : found)
    if (!all_own) WW_TRY_VOID(find_giver(call, p, lanes, false, each));
  std::map<std::int64_t, std::vector<const Found*>> by_row;
  for (const Found& each : found) by_row[each.row].push_back(&each);
  const std::int64_t slot = found[0].wanted.slot;
  if (by_row.size() > kMaxThreadSets)
    return decline("irregular",
                   "register {} of `{}` comes from different parts in {} sets of threads, of {} "
                   "that are told apart",
                   slot, call.buffer(0).name, by_row.size(), kMaxThreadSets);
  for (const auto& [row, each] : by_row) {
    Delivery delivery{slot, row, std::vector<bool>(as_index(p.threads)), {}};
    std::vector<std::int64_t> givers(as_index(p.threads));
    for (const Found* one : each) {
      delivery.threads[as_index(one->wanted.thread)] = true;
      givers[as_index(one->wanted.thread)] = one->giver % kLanesOfWarp;
    }
    if (!all_own) {
      delivery.giver = thread_formula(givers, delivery.threads);
      if (!delivery.giver)
        return decline("irregular", "no formula says which lane gives register {} of `{}`",
                       delivery.slot, call.buffer(0).name);
    }
    out.push_back(std::move(delivery));
  }
  return {};
}

bool is_given(const Delivery& delivery) { return delivery.giver.has_value(); }

Match<Plan> match(const Call& call) {
  WW_TRY_VOID(check_scope(call));
  const ReduceProblem problem = WW_TRY(reduce_problem(call));
  LaneParts lanes(problem);
  Plan plan{.parts = WW_TRY(parts_plan(call, problem, lanes)), .deliveries = {}};
  std::vector<Found> found;
  for (const Wanted& each : WW_TRY(wanted_of(call, problem))) found.push_back({each});
  for (auto first = found.begin(); first != found.end();) {
    const auto last = std::find_if(first, found.end(), [&](const Found& each) {
      return each.wanted.slot != first->wanted.slot;
    });
    WW_TRY_VOID(add_deliveries(call, problem, lanes, {first, last}, plan.deliveries));
    first = last;
  }
  if (is_shuffled(plan.parts) || std::ranges::any_of(plan.deliveries, is_given))
    WW_TRY_VOID(check_warps(call, "scope", "threads"));
  return plan;
}

// --- emit ----------------------------------------------------------------------------------------

void emit(const Plan& plan, const Call& call, CodeWriter& code) {
  PartWriter writer(plan.parts, call, code);
  writer.write();
  for (const Delivery& each : plan.deliveries) {
    const ir::ExprId value =
        each.giver ? writer.given(each.row, *each.giver) : writer.part(each.row);
    code.guarded(member_expr(code, writer.thread(), each.threads),
                 [&] { writer.put(each.slot, value); });
  }
}

// --- report --------------------------------------------------------------------------------------

PlanReport report(const Plan& plan, const Call& call) {
  std::vector<std::int64_t> slots;
  for (const Delivery& each : plan.deliveries) slots.push_back(each.slot);
  const std::int64_t given = std::ranges::count_if(plan.deliveries, is_given);
  PlanReport out = parts_report(plan.parts, call, std::move(slots), given);
  if (given > 0) out.notes.emplace_back("lanes that hold nothing of an element get the result");
  return out;
}

constexpr Variant row(TileOp op) {
  return variant<Plan, match, emit, report>(
      {.op = op,
       .name = "registers",
       .aliases = "local",
       .about = "threads fold their registers, then lanes do"});
}

constexpr Variant kVariants[] = {row(TileOp::Sum),    row(TileOp::Prod),  row(TileOp::Max),
                                 row(TileOp::Min),    row(TileOp::Any),   row(TileOp::All),
                                 row(TileOp::Argmax), row(TileOp::Argmin)};

}  // namespace

constinit const std::span<const Variant> variants = kVariants;

}  // namespace ww::lower::reduce_registers
