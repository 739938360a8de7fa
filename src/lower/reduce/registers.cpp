// SPDX-License-Identifier: Apache-2.0
// sum, max, min / registers: every thread folds what it holds, then the lanes of a warp fold their
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
// Narrow types are folded in float32 or int32 and rounded once. What goes into one element must be in
// one warp.
#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "ir/reduction.h"
#include "lower/as_index.h"
#include "lower/checks.h"
#include "lower/index_formula.h"
#include "lower/reduce/lanes.h"
#include "lower/variant.h"

namespace ww::lower::reduce_registers {
namespace {

using ir::ExprId;
using ir::ExprOp;
using ir::TileOp;

constexpr std::size_t kMaxWays = 8;  // in which threads fill one register

/// A register that these threads fold into a part.
struct Take {
  std::vector<bool> threads;
  std::int64_t slot = 0;
};
/// What threads do for part `row`.
struct Folding {
  bool is_everywhere = true;             // all threads have something to fold
  std::vector<std::vector<Take>> takes;  // one after the other
};
/// Part `row` into register `slot` of these threads: their own, or that of a lane by a formula of
/// the thread in the unit.
struct Delivery {
  std::int64_t slot = 0, row = 0;
  std::vector<bool> threads;
  std::optional<layout::TileLayout> giver;
};

struct Plan {
  ReduceProblem problem;
  std::vector<Folding> foldings;  // by row
  std::vector<Butterfly> butterflies;
  std::vector<std::int64_t> redux;   // rows that all lanes fold at once
  std::vector<Delivery> deliveries;  // by slot
};

// --- match ---------------------------------------------------------------------------------------

Match<Folding> folding_of(const Call& call, const ReduceProblem& p,
                          const std::vector<ReducePart>& row) {
  Folding out;
  for (std::int64_t u = 0; u < p.threads; ++u) {
    const ReducePart& part = row[as_index(u)];
    out.is_everywhere = out.is_everywhere && !part.slots.empty();
    for (std::size_t i = 0; i < part.slots.size(); ++i) {
      if (i == out.takes.size()) out.takes.emplace_back();
      std::vector<Take>& takes = out.takes[i];
      auto take = std::ranges::find(takes, part.slots[i], &Take::slot);
      if (take == takes.end()) {
        if (takes.size() == kMaxWays)
          return decline("irregular",
                         "the elements of `{}` that go into one are in different registers in more "
                         "than {} sets of threads",
                         call.buffer(1).name, kMaxWays);
        takes.push_back({std::vector<bool>(as_index(p.threads)), part.slots[i]});
        take = takes.end() - 1;
      }
      take->threads[as_index(u)] = true;
    }
  }
  return out;
}

/// Where a thread finds the result for a register of its own.
struct Wanted {
  std::int64_t slot, thread, into;
  std::int64_t giver = -1, row = 0;
};

Match<void> check_apart(const Call& call, const std::vector<Wanted>& wanted) {
  for (std::size_t i = 1; i < wanted.size(); ++i) {
    const Wanted &one = wanted[i - 1], &other = wanted[i];
    if (one.slot == other.slot && one.thread == other.thread && one.into != other.into)
      return decline("collision", "elements {} and {} of `{}` are both in register {} of thread {}",
                     one.into, other.into, call.buffer(0).name, one.slot, one.thread);
  }
  return {};
}

Match<std::vector<Wanted>> wanted_of(const Call& call, const ReduceProblem& p) {
  std::vector<Wanted> out;
  for_each_holder(p.dst, p.threads, [&](std::size_t into, std::int64_t u, std::int64_t slot) {
    out.push_back({.slot = slot, .thread = u, .into = static_cast<std::int64_t>(into)});
  });
  std::ranges::sort(out, {}, [](const Wanted& w) { return std::tuple(w.slot, w.thread, w.into); });
  WW_TRY_VOID(check_apart(call, out));
  return out;
}

// The thread itself where it has the whole result, else the first lane of its warp that has.
Match<void> find_giver(const Call& call, const ReduceProblem& p, const LaneParts& lanes,
                       bool may_be_own, Wanted& wanted) {
  const std::int64_t warp = wanted.thread / kLanesOfWarp * kLanesOfWarp;
  std::vector<std::int64_t> order;
  if (may_be_own) order.push_back(wanted.thread);
  for (std::int64_t u = warp; u < std::min(warp + kLanesOfWarp, p.threads); ++u) order.push_back(u);
  for (const std::int64_t u : order)
    if (const auto row = lanes.whole(wanted.into, u)) {
      wanted.giver = u;
      wanted.row = *row;
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
                 "{} elements of `{}` go into element {} of `{}`, and the lanes of a warp that "
                 "differ in bits of their number bring together {} of them",
                 p.folded, call.buffer(1).name, wanted.into, call.buffer(0).name, count);
}

// Threads whose register `slot` comes from the same part, own or not.
Match<void> add_deliveries(const Call& call, const ReduceProblem& p, const LaneParts& lanes,
                           std::span<Wanted> wanted, std::vector<Delivery>& out) {
  bool all_own = true;
  for (Wanted& each : wanted) {
    WW_TRY_VOID(find_giver(call, p, lanes, true, each));
    all_own = all_own && each.giver == each.thread;
  }
  // All by one formula, even threads that have the part themselves.
  for (Wanted& each : wanted)
    if (!all_own) WW_TRY_VOID(find_giver(call, p, lanes, false, each));
  std::map<std::int64_t, std::vector<const Wanted*>> by_row;
  for (const Wanted& each : wanted) by_row[each.row].push_back(&each);
  if (by_row.size() > kMaxWays)
    return decline("irregular",
                   "register {} of `{}` comes from different parts in {} sets of threads, of {} "
                   "that are told apart",
                   wanted[0].slot, call.buffer(0).name, by_row.size(), kMaxWays);
  for (const auto& [row, each] : by_row) {
    Delivery delivery{wanted[0].slot, row, std::vector<bool>(as_index(p.threads)), {}};
    std::vector<std::int64_t> givers(as_index(p.threads));
    for (const Wanted* w : each) {
      delivery.threads[as_index(w->thread)] = true;
      givers[as_index(w->thread)] = w->giver % kLanesOfWarp;
    }
    if (!all_own) {
      delivery.giver = fit_table(givers, delivery.threads);
      if (!delivery.giver)
        return decline("irregular", "no formula says which lane gives register {} of `{}`",
                       delivery.slot, call.buffer(0).name);
    }
    out.push_back(std::move(delivery));
  }
  return {};
}

std::string redux_of(TileOp op, num::DType type) {
  return fmt::format("redux.sync.{}.{}", op == TileOp::Sum ? "add" : ir::name_of(op),
                     type == num::DType::Int32 ? "s32" : "u32");
}

// Five butterflies are one instruction where there is one.
void find_redux(const Call& call, Plan& plan) {
  const num::DType type = plan.problem.type;
  const bool is_word = type == num::DType::Int32 || type == num::DType::Uint32;
  if (!is_word || plan.butterflies.size() != 5 ||
      !is_on_target(redux_of(call.tile.op, type), call.context.target))
    return;
  const auto has = [](const Butterfly& butterfly, std::int64_t row) {
    return std::ranges::find(butterfly.rows, row) != butterfly.rows.end();
  };
  for (const std::int64_t row : plan.butterflies[0].rows)
    if (std::ranges::all_of(plan.butterflies,
                            [&](const Butterfly& each) { return has(each, row); }))
      plan.redux.push_back(row);
  for (const std::int64_t row : plan.redux)
    for (Butterfly& each : plan.butterflies) std::erase(each.rows, row);
  std::erase_if(plan.butterflies, [](const Butterfly& each) { return each.rows.empty(); });
}

Match<Plan> match(const Call& call) {
  Plan plan{.problem = WW_TRY(reduce_problem(call)),
            .foldings = {},
            .butterflies = {},
            .redux = {},
            .deliveries = {}};
  const ReduceProblem& p = plan.problem;
  for (const std::vector<ReducePart>& row : p.rows)
    plan.foldings.push_back(WW_TRY(folding_of(call, p, row)));
  LaneParts lanes(p);
  plan.butterflies = lanes.butterflies();
  find_redux(call, plan);
  std::vector<Wanted> wanted = WW_TRY(wanted_of(call, p));
  for (auto first = wanted.begin(); first != wanted.end();) {
    const auto last =
        std::find_if(first, wanted.end(), [&](const Wanted& w) { return w.slot != first->slot; });
    WW_TRY_VOID(add_deliveries(call, p, lanes, {first, last}, plan.deliveries));
    first = last;
  }
  const bool is_shuffled = !plan.butterflies.empty() || !plan.redux.empty() ||
                           std::ranges::any_of(plan.deliveries, [](const Delivery& delivery) {
                             return delivery.giver.has_value();
                           });
  if (is_shuffled) WW_TRY_VOID(check_warps(call, "scope", "threads"));
  return plan;
}

// --- emit ----------------------------------------------------------------------------------------

class Writer {
 public:
  Writer(const Plan& plan, const Call& call, CodeWriter& code)
      : plan_(plan), p_(plan.problem), call_(call), code_(code) {}

  void write() {
    dst_ = flat_view(call_, code_, p_.dst);
    src_ = p_.src.buffer == p_.dst.buffer ? dst_ : flat_view(call_, code_, p_.src);
    thread_ = call_.unit_thread(code_);
    parts_ = code_.registers("part", p_.type, std::ssize(p_.rows));
    for (std::size_t row = 0; row < plan_.foldings.size(); ++row)
      fold_registers(static_cast<std::int64_t>(row), plan_.foldings[row]);
    for (const Butterfly& butterfly : plan_.butterflies)
      for (const std::int64_t row : butterfly.rows)
        take(row, shuffled(ir::Intrinsic::ShflXor, row, code_.n(butterfly.bit)));
    for (const std::int64_t row : plan_.redux) {
      const ir::PtxOperand own = register_operand(code_, parts_, code_.n(row));
      code_.ptx(redux_of(call_.tile.op, p_.type), {own, own, {.expr = all_lanes()}});
    }
    for (const Delivery& delivery : plan_.deliveries) deliver(delivery);
  }

 private:
  ExprId folded(ExprId a, ExprId b) {
    return code_.binary(ir::folding_operator(call_.tile.op), a, b);
  }
  ExprId part(std::int64_t row) { return code_.load(parts_, {code_.n(row)}); }
  void set(std::int64_t row, ExprId value) { code_.store(parts_, code_.n(row), value); }
  void take(std::int64_t row, ExprId value) { set(row, folded(part(row), value)); }
  ExprId index(const OperandPlaces& side, ExprId slot) {
    return code_.simplify(side.base.valid() ? code_.add(side.base, slot) : slot);
  }
  ExprId source(ExprId slot) { return code_.as(p_.type, code_.load(src_, {index(p_.src, slot)})); }
  ExprId all_lanes() { return ir::int_imm(code_.f(), num::DType::Uint32, 0xFFFF'FFFF, call_.span); }
  ExprId shuffled(ir::Intrinsic callee, std::int64_t row, ExprId by) {
    return code_.call(callee,
                      {all_lanes(), part(row), by, code_.n(kLanesOfWarp), code_.n(kLanesOfWarp)});
  }

  // What changes nothing. x + -0 is x, also for x = -0; NaN is what max and min pass over.
  ExprId neutral() {
    const num::DType type = p_.type;
    const TileOp op = call_.tile.op;
    if (is_float(type)) {
      const double value = op == TileOp::Sum ? -0.0 : std::numeric_limits<double>::quiet_NaN();
      return ir::float_imm(code_.f(), type, value, call_.span);
    }
    if (op == TileOp::Sum) return code_.zero(type);
    const bool is_signed = num::kind_of(type) == num::DTypeKind::Int;
    const int bits = num::bits_of(type);
    const std::uint64_t ones = ~std::uint64_t{0} >> static_cast<unsigned>(64 - bits);
    const std::uint64_t greatest = is_signed ? ones >> 1U : ones;
    const std::uint64_t least = is_signed ? ~greatest : 0;
    return ir::int_imm(code_.f(), type,
                       static_cast<std::int64_t>(op == TileOp::Max ? least : greatest), call_.span);
  }

  // The registers behind the first as a formula, where all threads fold the same ones.
  [[nodiscard]] std::optional<layout::TileLayout> form_of(const Folding& folding) const {
    std::vector<std::int64_t> slots;
    for (const std::vector<Take>& takes : folding.takes) {
      if (takes.size() != 1 || std::ranges::find(takes[0].threads, false) != takes[0].threads.end())
        return std::nullopt;
      slots.push_back(takes[0].slot);
    }
    if (slots.size() < 3) return std::nullopt;
    return fit_table(std::span(slots).subspan(1));
  }

  void fold_registers(std::int64_t row, const Folding& folding) {
    if (!folding.is_everywhere) set(row, neutral());
    const auto form = form_of(folding);
    for (std::size_t i = 0; i < folding.takes.size(); ++i) {
      for (const Take& each : folding.takes[i])
        code_.guarded(member_expr(code_, thread_, each.threads), [&] {
          const ExprId value = source(code_.n(each.slot));
          i == 0 ? set(row, value) : take(row, value);
        });
      if (form) break;
    }
    if (form)
      code_.loop("i", std::ssize(folding.takes) - 1, ir::LoopKind::Unroll,
                 [&](ExprId i) { take(row, source(digits_expr(code_, *form, i))); });
  }

  void deliver(const Delivery& delivery) {
    ExprId value = part(delivery.row);
    if (delivery.giver) {
      const ir::BufferId given = code_.registers("given", p_.type, 1);
      code_.store(given, code_.n(0),
                  shuffled(ir::Intrinsic::Shfl, delivery.row,
                           code_.simplify(digits_expr(code_, *delivery.giver, thread_))));
      value = code_.load(given, {code_.n(0)});
    }
    code_.guarded(member_expr(code_, thread_, delivery.threads), [&] {
      const ExprId to = index(p_.dst, code_.n(delivery.slot));
      const ExprId result =
          p_.accumulates ? folded(value, code_.as(p_.type, code_.load(dst_, {to}))) : value;
      code_.store(dst_, to, code_.as(p_.dst.dtype, result));
    });
  }

  const Plan& plan_;
  const ReduceProblem& p_;
  const Call& call_;
  CodeWriter& code_;
  ir::BufferId dst_, src_, parts_;
  ExprId thread_;
};

void emit(const Plan& plan, const Call& call, CodeWriter& code) {
  Writer(plan, call, code).write();
}

// --- report --------------------------------------------------------------------------------------

std::string counted(std::int64_t count, std::string_view what, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? what : many);
}

void count_registers(const Plan& plan, const Call& call, PlanReport& out) {
  std::vector<std::int64_t> to, from;
  for (const Delivery& each : plan.deliveries) to.push_back(each.slot);
  for (const Folding& folding : plan.foldings)
    for (const std::vector<Take>& takes : folding.takes)
      for (const Take& take : takes) from.push_back(take.slot);
  const auto& params = ir::params_of(call.tile.op);
  out.operand_registers.emplace_back(params[0].name,
                                     words_of(std::move(to), plan.problem.dst.bits));
  out.operand_registers.emplace_back(params[1].name,
                                     words_of(std::move(from), plan.problem.src.bits));
  for (const auto& [name, count] : out.operand_registers) out.registers += count;
}

PlanReport report(const Plan& plan, const Call& call) {
  const ReduceProblem& p = plan.problem;
  PlanReport out;
  out.elements = p.elements;
  out.flops = p.elements;
  out.bytes = p.elements * p.src.bits / 8;
  for (const Folding& folding : plan.foldings) out.rounds += std::ssize(folding.takes);
  std::vector<bool> takes_part(as_index(p.threads));
  for (const std::vector<ReducePart>& row : p.rows)
    for (std::size_t u = 0; u < row.size(); ++u)
      if (row[u].into >= 0) takes_part[u] = true;
  out.threads = std::ranges::count(takes_part, true);
  // A value of 64 bits is shuffled in halves.
  const std::int64_t words = (num::bits_of(p.type) + 31) / 32;
  std::int64_t butterflies = 0, given = 0;
  for (const Butterfly& each : plan.butterflies) butterflies += std::ssize(each.rows) * words;
  for (const Delivery& each : plan.deliveries) given += each.giver ? words : 0;
  count_registers(plan, call, out);
  constexpr std::int64_t kWordBytes = 4;
  const auto at_once = std::ssize(plan.redux);
  if (at_once > 0) out.add_instruction(redux_of(call.tile.op, p.type), at_once, kWordBytes);
  if (butterflies > 0) out.add_instruction("shfl.sync.bfly.b32", butterflies, kWordBytes);
  if (given > 0) out.add_instruction("shfl.sync.idx.b32", given, kWordBytes);
  out.summary = counted(out.rounds, "element per thread", "elements per thread");
  if (at_once > 0) out.summary += fmt::format(", then {} redux.sync", at_once);
  if (butterflies + given > 0)
    out.summary += ", then " + counted(butterflies + given, "shuffle", "shuffles");
  if (p.type != p.dst.dtype) out.notes.push_back(fmt::format("folded in {}", num::name_of(p.type)));
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

constexpr Variant kVariants[] = {row(TileOp::Sum), row(TileOp::Max), row(TileOp::Min)};

}  // namespace

constinit const std::span<const Variant> variants = kVariants;

}  // namespace ww::lower::reduce_registers
