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
#include <algorithm>

#include "lower/as_index.h"
#include "lower/checks.h"
#include "lower/index_formula.h"
#include "lower/reduce/parts.h"
#include "lower/scratch.h"
#include "lower/variant.h"

namespace ww::lower::reduce_warps {
namespace {

using ir::ExprId;
using ir::TileOp;

/// Part `row` of these threads, at a place by a formula of the thread.
struct Deposit {
  std::int64_t row = 0;
  std::vector<bool> threads;
  ThreadFormula place;
};
/// Register `slot` of these threads, from parts that begin at a place by a formula.
struct Collection {
  std::int64_t slot = 0;
  std::vector<std::vector<bool>> threads;  // by part: which threads have it
  ThreadFormula place;
};

struct Plan {
  PartsPlan parts;
  std::int64_t elements = 0;  // of scratch memory
  std::vector<Deposit> deposits;
  std::vector<Collection> collections;  // by slot
};

// --- match ---------------------------------------------------------------------------------------

using WarpParts = std::vector<std::vector<WarpPart>>;

// All threads of one row by one formula.
Match<std::vector<Deposit>> deposits_of(const Call& call, const ReduceProblem& p,
                                        const WarpParts& parts, std::int64_t most) {
  std::vector<Deposit> out(p.rows.size());
  std::vector<std::vector<std::int64_t>> places(p.rows.size());
  for (std::size_t row = 0; row < out.size(); ++row) {
    out[row].row = static_cast<std::int64_t>(row);
    out[row].threads.resize(as_index(p.threads));
    places[row].resize(as_index(p.threads));
  }
  for (std::size_t into = 0; into < parts.size(); ++into)
    for (std::size_t k = 0; k < parts[into].size(); ++k) {
      const auto [thread, row] = parts[into][k];
      out[as_index(row)].threads[as_index(thread)] = true;
      places[as_index(row)][as_index(thread)] =
          static_cast<std::int64_t>(into) * most + static_cast<std::int64_t>(k);
    }
  for (std::size_t row = 0; row < out.size(); ++row) {
    if (std::ranges::find(out[row].threads, true) == out[row].threads.end()) continue;
    const auto form = thread_formula(places[row], out[row].threads);
    if (!form)
      return decline("irregular",
                     "no formula says which elements of `{}` part {} of a thread is of",
                     call.buffer(0).name, row);
    out[row].place = *form;
  }
  std::erase_if(out, [](const Deposit& each) {
    return std::ranges::find(each.threads, true) == each.threads.end();
  });
  return out;
}

Match<Collection> collection_of(const Call& call, const ReduceProblem& p, const WarpParts& parts,
                                std::int64_t most, std::span<const Wanted> wanted) {
  Collection out{.slot = wanted[0].slot, .threads = {}, .place = {}};
  std::vector<std::int64_t> places(as_index(p.threads));
  for (const Wanted& each : wanted) {
    places[as_index(each.thread)] = each.into * most;
    const std::size_t count = parts[as_index(each.into)].size();
    while (out.threads.size() < count) out.threads.emplace_back(as_index(p.threads));
    for (std::size_t k = 0; k < count; ++k) out.threads[k][as_index(each.thread)] = true;
  }
  const auto form = thread_formula(places, out.threads[0]);
  if (!form)
    return decline("irregular", "no formula says which element of `{}` register {} holds",
                   call.buffer(0).name, out.slot);
  out.place = *form;
  return out;
}

Match<Plan> match(const Call& call) {
  if (call.tile.scope != ir::Unit::Warpgroup && call.tile.scope != ir::Unit::Cta)
    return decline("scope", "{} scope, expected warpgroup or cta", ir::name_of(call.tile.scope));
  const ReduceProblem problem = WW_TRY(reduce_problem(call));
  WW_TRY_VOID(check_warps(call, "scope", "threads"));
  LaneParts lanes(problem);
  Plan plan{.parts = WW_TRY(parts_plan(call, problem, lanes)), .deposits = {}, .collections = {}};
  const WarpParts parts = WW_TRY(lanes.warp_parts(call));
  std::int64_t most = 1;
  for (const std::vector<WarpPart>& each : parts) most = std::max(most, std::ssize(each));
  plan.elements = problem.results() * most;
  WW_TRY_VOID(check_scratch(call, problem.type, plan.elements));
  plan.deposits = WW_TRY(deposits_of(call, problem, parts, most));
  const std::vector<Wanted> wanted = WW_TRY(wanted_of(call, problem));
  for (auto first = wanted.begin(); first != wanted.end();) {
    const auto last =
        std::find_if(first, wanted.end(), [&](const Wanted& w) { return w.slot != first->slot; });
    plan.collections.push_back(WW_TRY(collection_of(call, problem, parts, most, {first, last})));
    first = last;
  }
  return plan;
}

// --- emit ----------------------------------------------------------------------------------------

void collect(const Call& call, PartWriter& writer, CodeWriter& code, ir::BufferId between,
             ir::BufferId warps, const Collection& each) {
  const ExprId first = formula_expr(code, each.place, writer.thread());
  const auto at = [&](ExprId k) {
    return code.load(between, {scratch_index(call, code, code.add(first, k))});
  };
  const auto add = [&](ExprId k) {
    code.store(warps, code.n(0), writer.folded(code.load(warps, {code.n(0)}), at(k)));
  };
  code.store(warps, code.n(0), at(code.n(0)));
  const auto is_same = [&](const std::vector<bool>& set) { return set == each.threads[0]; };
  const auto rest = std::span(each.threads).subspan(1);
  if (std::ranges::all_of(rest, is_same) && !rest.empty())
    code.loop("i", std::ssize(rest), ir::LoopKind::Unroll,
              [&](ExprId i) { add(code.add(i, code.n(1))); });
  else
    for (std::size_t k = 0; k < rest.size(); ++k)
      code.guarded(member_expr(code, writer.thread(), rest[k]),
                   [&] { add(code.n(static_cast<std::int64_t>(k) + 1)); });
  writer.put(each.slot, code.load(warps, {code.n(0)}));
}

void emit(const Plan& plan, const Call& call, CodeWriter& code) {
  PartWriter writer(plan.parts, call, code);
  writer.write();
  const ReduceProblem& p = plan.parts.problem;
  const ir::BufferId between = scratch_view(call, code, p.type, plan.elements);
  const ir::BufferId warps = code.registers("warps", p.type, 1);
  write_barrier(call, code);
  for (const Deposit& each : plan.deposits)
    code.guarded(member_expr(code, writer.thread(), each.threads), [&] {
      const ExprId place = formula_expr(code, each.place, writer.thread());
      code.store(between, scratch_index(call, code, place), writer.part(each.row));
    });
  write_barrier(call, code);
  for (const Collection& each : plan.collections)
    code.guarded(member_expr(code, writer.thread(), each.threads[0]),
                 [&] { collect(call, writer, code, between, warps, each); });
}

// --- report --------------------------------------------------------------------------------------

PlanReport report(const Plan& plan, const Call& call) {
  std::vector<std::int64_t> slots;
  std::int64_t read = 0;
  for (const Collection& each : plan.collections) {
    slots.push_back(each.slot);
    read += std::ssize(each.threads);
  }
  PlanReport out = parts_report(plan.parts, call, std::move(slots), 0);
  report_scratch(out, call, plan.parts.problem.type, std::ssize(plan.deposits), read,
                 plan.elements);
  out.summary += fmt::format(", then {} parts of warps through {}", read, scratch_text(call));
  return out;
}

constexpr Variant row(TileOp op) {
  return variant<Plan, match, emit, report>(
      {.op = op,
       .name = "warps",
       .priority = 5,
       .about = "threads and lanes fold, then warps through shared memory"});
}

constexpr Variant kVariants[] = {row(TileOp::Sum),    row(TileOp::Prod),  row(TileOp::Max),
                                 row(TileOp::Min),    row(TileOp::Any),   row(TileOp::All),
                                 row(TileOp::Argmax), row(TileOp::Argmin)};

}  // namespace

constinit const std::span<const Variant> variants = kVariants;

}  // namespace ww::lower::reduce_warps
