// SPDX-License-Identifier: Apache-2.0
// copy / smem: from the registers of some threads to those of others, through shared memory that
// the compiler takes, or the `workspace=`. Tried behind `shfl`: for what goes from warp to warp,
// and for layouts that are no linear function of each other.
//
//     Tx.cta.copy(columns[:, :], rows[:, :])        rows = S[(128,8):(1@tx,1)], float32
//                                                   columns = S[(8,16,8):(1,8@tx,1@tx)]
//
//     T.cuda.cta_sync()
//     st.shared.v4  scratch[…]  <- rows             each thread what it holds
//     T.cuda.cta_sync()
//     columns  <- ld.shared.b32  scratch[…]         each thread what it wants
//
// In which order the elements lie there, and by which XOR swizzle, is found by counting: of the
// tile's own order, the source's and the destination's, each with all swizzles, the one with the
// fewest turns of the banks for stores and loads together.
#include <algorithm>
#include <bit>
#include <numeric>
#include <tuple>
#include <utility>

#include "lower/as_index.h"
#include "lower/call.h"
#include "lower/copy/phase_writer.h"
#include "lower/scratch.h"
#include "lower/variant.h"

namespace ww::lower::convert_smem {
namespace {

struct Plan {
  CopyProblem to, from;  // the scratch memory, and out of it
  std::vector<CopyPhase> stores, loads;
  std::int64_t piece = 0;  // elements of a unit
  Wavefronts turns;
};

// --- match ---------------------------------------------------------------------------------------

// Elements in the order of the registers of one side: by thread, then by register.
std::vector<std::int64_t> order_of(const OperandPlaces& side) {
  std::vector<std::size_t> by_place(side.size());
  std::iota(by_place.begin(), by_place.end(), std::size_t{0});
  std::ranges::stable_sort(by_place, {},
                           [&](std::size_t x) { return std::pair(side.owner[x], side.linear[x]); });
  std::vector<std::int64_t> out(side.size());
  for (std::size_t i = 0; i < by_place.size(); ++i) out[by_place[i]] = static_cast<std::int64_t>(i);
  return out;
}

// Scratch memory as an operand; the buffer and the start of the unit come when code is written.
OperandPlaces scratch_side(const CopyProblem& problem, std::vector<std::int64_t> order) {
  OperandPlaces out;
  out.scope = ir::Scope::Shared;
  out.dtype = problem.dst.dtype;
  out.bits = problem.dst.bits;
  out.align_bytes = kScratchAlign;
  out.linear = std::move(order);
  return out;
}

// Both halves for one order of the elements.
Match<Plan> plan_with(const Call& call, const CopyProblem& problem, OperandPlaces scratch) {
  Plan plan;
  plan.to = {.elements = problem.elements, .dst = scratch, .src = problem.src, .predicate = {}};
  plan.from = {
      .elements = problem.elements, .dst = problem.dst, .src = std::move(scratch), .predicate = {}};
  plan.stores = WW_TRY(register_phases(call, plan.to));
  plan.loads = WW_TRY(register_phases(call, plan.from));
  return plan;
}

std::int64_t widest(const Plan& plan) {
  std::int64_t out = 1;
  for (const auto* phases : {&plan.stores, &plan.loads})
    for (const CopyPhase& phase : *phases) out = std::max(out, phase.vec);
  return out;
}
std::int64_t accesses(const Plan& plan) {
  std::int64_t out = 0;
  for (const auto* phases : {&plan.stores, &plan.loads})
    for (const CopyPhase& phase : *phases) out += phase.rounds;
  return out;
}

Wavefronts turns_of(const Plan& plan, const layout::Swizzle& swizzle) {
  OperandPlaces side = plan.to.dst;
  side.swizzle = swizzle;
  AccessLog stores(side), loads(side);
  for (const CopyPhase& phase : plan.stores) log_phase(stores, phase, true);
  for (const CopyPhase& phase : plan.loads) log_phase(loads, phase, false);
  const Wavefronts a = stores.count(), b = loads.count();
  return {a.needed + b.needed, a.ideal + b.ideal};
}

/// A way to lay the elements out, and what it costs.
struct Choice {
  std::size_t plan;
  layout::Swizzle swizzle;
  std::int64_t turns, accesses;
};

// No swizzle, and all swizzles that move whole vectors within the tile.
std::vector<layout::Swizzle> swizzles_for(const Plan& plan) {
  std::vector<layout::Swizzle> out{layout::Swizzle{}};
  const int unit = std::countr_zero(static_cast<std::uint64_t>(widest(plan)));
  const auto size = std::bit_ceil(static_cast<std::uint64_t>(plan.to.elements));
  for (int len = 1; len <= 5; ++len)
    for (int at = len; unit + at + len <= std::countr_zero(size); ++at)
      if (const auto swizzle = layout::Swizzle::make(unit, len, at)) out.push_back(*swizzle);
  return out;
}

std::vector<Choice> choices_of(const std::vector<Plan>& plans) {
  std::vector<Choice> out;
  for (std::size_t i = 0; i < plans.size(); ++i)
    for (const layout::Swizzle& swizzle : swizzles_for(plans[i]))
      out.push_back({i, swizzle, turns_of(plans[i], swizzle).needed, accesses(plans[i])});
  std::ranges::stable_sort(out, {}, [](const Choice& c) {
    return std::tuple(c.turns, c.accesses, !c.swizzle.is_none());
  });
  return out;
}

// Without a swizzle an order may have no formula, and with one neither.
Match<Plan> best_plan(const Call& call, const CopyProblem& problem) {
  std::vector<std::int64_t> plain(problem.dst.size());
  std::iota(plain.begin(), plain.end(), std::int64_t{0});
  std::vector<Plan> plans;
  std::optional<Decline> why;
  for (auto& order : {plain, order_of(problem.src), order_of(problem.dst)}) {
    auto plan = plan_with(call, problem, scratch_side(problem, order));
    if (plan)
      plans.push_back(*std::move(plan));
    else if (!why)
      why = std::move(plan).error();
  }
  if (plans.empty()) return Unexpected(*why);
  for (const Choice& choice : choices_of(plans)) {
    OperandPlaces side = plans[choice.plan].to.dst;
    side.swizzle = choice.swizzle;
    auto plan = plan_with(call, problem, std::move(side));
    if (!plan) continue;
    const std::int64_t unit = std::max(choice.swizzle.is_none() ? 1 : choice.swizzle.period(),
                                       kScratchAlign * 8 / problem.dst.bits);
    plan->piece = (problem.elements + unit - 1) / unit * unit;
    plan->turns = turns_of(*plan, choice.swizzle);
    return plan;
  }
  WW_CHECK(false, "the orders without a swizzle have a plan");
  std::unreachable();
}

Match<Plan> match(const Call& call) {
  WW_TRY_VOID(check_scope(call));
  const auto problem = WW_TRY(copy_problem(call));
  if (!problem->dst.is_register() || !problem->src.is_register())
    return other_memories(call, "registers on both sides");
  if (call.tile.scope == ir::Unit::Thread)
    return decline("scope", "thread scope, expected warp, warpgroup or cta");
  WW_TRY_VOID(check_plain(*problem));
  WW_TRY_VOID(check_settings(call));
  Plan plan = WW_TRY(best_plan(call, *problem));
  WW_TRY_VOID(check_scratch_piece(call, problem->dst.dtype, plan.piece));
  return plan;
}

// --- emit ----------------------------------------------------------------------------------------

void emit(const Plan& plan, const Call& call, CodeWriter& code) {
  const ScratchPiece scratch = scratch_piece(call, code, plan.to.dst.dtype, plan.piece);
  const auto placed = [&](CopyProblem problem, bool is_dst) {
    OperandPlaces& side = is_dst ? problem.dst : problem.src;
    side.buffer = scratch.view;
    side.base = scratch.start;
    side.base_divisor = scratch.start.valid() ? plan.piece : 0;
    return problem;
  };
  write_barrier(call, code);
  const CopyProblem to = placed(plan.to, true);
  PhaseWriter stores(call, to, code);
  for (const CopyPhase& phase : plan.stores) stores.write(phase);
  write_barrier(call, code);
  const CopyProblem from = placed(plan.from, false);
  PhaseWriter loads(call, from, code);
  for (const CopyPhase& phase : plan.loads) loads.write(phase);
}

// --- report --------------------------------------------------------------------------------------

PlanReport report(const Plan& plan, const Call& call) {
  PlanReport out = copy_report(call, plan.from);
  for (const CopyPhase& phase : plan.stores) add_phase(out, plan.to, phase);
  for (const CopyPhase& phase : plan.loads) add_phase(out, plan.from, phase);
  out.wavefronts = plan.turns;
  const std::int64_t bytes = plan.piece * plan.to.dst.bits / 8;
  out.summary = fmt::format("through {} bytes of {}", bytes, scratch_text(call));
  const layout::Swizzle& swizzle = plan.to.dst.swizzle;
  if (!swizzle.is_none())
    out.notes.push_back(fmt::format("the scratch memory has the swizzle ({}, {}, {})",
                                    swizzle.per_element(), swizzle.len(), swizzle.atom()));
  return out;
}

constexpr Variant kVariants[] = {variant<Plan, match, emit, report>(
    {.op = ir::TileOp::Copy,
     .name = "smem",
     .about = "registers to registers of other threads, through shared memory"})};

}  // namespace

constinit const std::span<const Variant> variants = kVariants;

}  // namespace ww::lower::convert_smem
