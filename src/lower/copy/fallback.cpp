// SPDX-License-Identifier: Apache-2.0
// copy / fallback: what nothing else takes, element by element through the layouts' own formulas.
//
// Between memories the threads share the elements out, also when extents are known at run time
// only. Between memory and registers that are spread over threads, each register is a round in
// which every thread finds its element. A register array without thread axes is filled by every
// thread; what all threads hold is stored by the first. Elements smaller than a byte are moved by
// one thread, because two threads cannot write one byte.
#include <algorithm>

#include "lower/call.h"
#include "lower/copy/element_copy.h"
#include "lower/copy/problem.h"
#include "lower/index_formula.h"
#include "lower/variant.h"

namespace ww::lower::copy_fallback {
namespace {

using ir::ExprId;

struct Plan {
  enum class Kind : std::uint8_t {
    Shared,    // thread u moves elements u, u + T, …
    Serial,    // each thread, or the first, moves all
    Registers  // round by round over registers
  };
  Kind kind = Kind::Shared;
  bool only_first = false;               // Serial: the first thread alone
  std::optional<std::int64_t> elements;  // constant extents
  // Registers: the operand that is in them, and which element each thread has in which slot.
  OperandPlaces own;
  bool own_is_dst = false;
  RegisterMap map;
  std::string why;  // the reason of the variant that would have been better
};

constexpr std::int64_t kMaxRounds = 4096;

// Only the register operand need be enumerated: it says who moves what.
Match<Plan> match_registers(const Call& call, Plan plan) {
  const auto is_local = [&](std::size_t i) { return call.memory(i) == ir::Scope::Local; };
  if (is_local(0) && is_local(1))
    return decline("owner",
                   "an element moves from the registers of one thread to those of another");
  plan.kind = Plan::Kind::Registers;
  plan.own_is_dst = is_local(0);
  plan.own = WW_TRY(operand_places(call, plan.own_is_dst ? 0 : 1));
  plan.map = register_map(call, plan.own, plan.own_is_dst);
  if (plan.map.slots > kMaxRounds)
    return decline("size", "{} registers, at most {} are moved one by one", plan.map.slots,
                   kMaxRounds);
  return plan;
}

// Why no other variant took it, though elements and places are known.
std::string reason_of(const CopyProblem& problem) {
  for (const OperandPlaces* side : {&problem.src, &problem.dst})
    if (!side->edges.empty())
      return "a region may leave its buffer, so that each element is looked at";
  return "the places follow no formula";
}

Match<Plan> match(const Call& call) {
  WW_TRY_VOID(check_scope(call));
  WW_TRY_VOID(check_no_tensor(call));
  WW_TRY_VOID(check_settings(call));
  Plan plan;
  plan.elements = element_count(call);
  const auto problem = copy_problem(call);
  if (const auto no = final_decline(problem)) return Unexpected(*no);
  const auto storage = [&](std::size_t i) {
    return ir::storage_of(call.f(), call.region(i).buffer);
  };
  if (!problem && storage(0) == storage(1))
    return decline("overlap", "source and destination in `{}` may overlap: {}",
                   call.f()[storage(0)].name, problem.error().reason);
  WW_TRY_VOID(check_mask_apart(call));
  WW_TRY_VOID(check_mask_reached(call));
  plan.why = problem ? reason_of(**problem) : problem.error().reason;
  WW_TRY_VOID(check_one_place(call));
  if (ir::has_thread_axes(call.buffer(0)) || ir::has_thread_axes(call.buffer(1)))
    return match_registers(call, std::move(plan));
  WW_TRY_VOID(check_workers(call));
  const bool is_stored = call.memory(0) != ir::Scope::Local;
  const bool has_registers = !is_stored || call.memory(1) == ir::Scope::Local;
  if (has_registers || num::storage_bits(call.buffer(0).dtype) < 8) {
    plan.kind = Plan::Kind::Serial;
    plan.only_first = is_stored && call.tile.scope != ir::Unit::Thread;
  }
  return plan;
}

// --- emit ----------------------------------------------------------------------------------------

// The elements of the threads in one slot: one formula, or one branch per thread.
void emit_slot(const Plan& plan, const Call& call, CodeWriter& code, ir::BufferId flat,
               std::int64_t slot) {
  TileElements elements(call, code);
  const ExprId u = call.unit_thread(code);
  std::vector<bool> used;
  std::vector<std::int64_t> numbers;
  const auto tile = static_cast<std::int64_t>(plan.elements.value_or(1));
  for (std::int64_t t = 0; t < plan.map.threads; ++t) {
    const std::int32_t x = plan.map.at(slot, t);
    used.push_back(x >= 0);
    numbers.push_back(x < 0 ? 0 : x % tile);
  }
  if (std::ranges::find(used, true) == used.end()) return;
  const auto move = [&](ExprId q) {
    const ExprId base = plan.own.base_expr(code);
    const ExprId index = code.add(base, slot + plan.map.first_slot);
    elements.where_copied(q, [&] {
      if (plan.own_is_dst) {
        const ExprId value = elements.source(q);
        code.store(flat, index, value);
      } else {
        const ExprId value = elements.filled(q, code.load(flat, {index}));
        elements.store(q, value);
      }
    });
  };
  if (const auto form = fit_table(numbers, used)) {
    code.guarded(member_expr(code, u, used), [&] { move(digits_expr(code, *form, u)); });
    return;
  }
  for (std::size_t t = 0; t < used.size(); ++t)
    if (used[t])
      code.guarded(code.index(ir::ExprOp::Eq, u, code.n(static_cast<std::int64_t>(t))),
                   [&] { move(code.n(numbers[t])); });
}

void emit_registers(const Plan& plan, const Call& call, CodeWriter& code) {
  const OperandPlaces& own = plan.own;
  const ir::BufferId flat = flat_view(call, code, own);
  code.guarded(TileElements(call, code).guard(), [&] {
    for (std::int64_t slot = 0; slot < plan.map.slots; ++slot)
      emit_slot(plan, call, code, flat, slot);
  });
}

void emit(const Plan& plan, const Call& call, CodeWriter& code) {
  switch (plan.kind) {
    case Plan::Kind::Shared:
      return copy_shared_out(call, code);
    case Plan::Kind::Serial:
      return copy_one_by_one(call, code, plan.only_first);
    case Plan::Kind::Registers:
      return emit_registers(plan, call, code);
  }
}

PlanReport report(const Plan& plan, const Call& call) {
  PlanReport out = elements_report(call, plan.kind == Plan::Kind::Shared ? ElementOrder::SharedOut
                                         : plan.only_first               ? ElementOrder::FirstThread
                                                           : ElementOrder::EachThread);
  if (plan.kind == Plan::Kind::Registers) {
    out.rounds = plan.map.slots;
    out.summary = "element by element, each thread its registers";
  }
  out.notes.push_back(fmt::format("slow path: {}", plan.why));
  return out;
}

Reach reach(const Plan& plan, const Call&) {
  return plan.kind == Plan::Kind::Registers ? reach_of(plan.map, plan.own.size()) : Reach{};
}

constexpr Variant kVariants[] = {variant<Plan, match, emit, report, reach>(
    {.op = ir::TileOp::Copy,
     .name = "fallback",
     .priority = 0,
     .about = "element by element, whatever the layouts are"})};

}  // namespace

constinit const std::span<const Variant> variants = kVariants;

}  // namespace ww::lower::copy_fallback
