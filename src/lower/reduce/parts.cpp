// SPDX-License-Identifier: Apache-2.0
#include "lower/reduce/parts.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "ir/reduction.h"
#include "lower/as_index.h"
#include "lower/checks.h"
#include "lower/index_formula.h"
#include "lower/reduce/index_key.h"

namespace ww::lower {

using ir::ExprId;
using ir::ExprOp;
using ir::TileOp;

// --- plan ----------------------------------------------------------------------------------------

namespace reducing {
namespace {

// Nothing: there are too many.
std::optional<std::vector<ThreadFormula::Way>> ways_of(const std::vector<std::int64_t>& numbers,
                                                       const std::vector<bool>& used,
                                                       bool is_relative) {
  constexpr std::size_t kMaxWays = 16;
  std::vector<ThreadFormula::Way> out;
  for (std::size_t u = 0; u < numbers.size(); ++u) {
    if (!used[u]) continue;
    const std::int64_t own = static_cast<std::int64_t>(u) % kLanesOfWarp;
    const std::int64_t number = numbers[u] - (is_relative ? own : 0);
    auto way = std::ranges::find(out, number, &ThreadFormula::Way::number);
    if (way == out.end()) {
      if (out.size() == kMaxWays) return std::nullopt;
      out.push_back({number, std::vector<bool>(numbers.size())});
      way = out.end() - 1;
    }
    way->threads[u] = true;
  }
  return out;
}

}  // namespace
}  // namespace reducing

std::optional<ThreadFormula> thread_formula(const std::vector<std::int64_t>& numbers,
                                            const std::vector<bool>& used) {
  ThreadFormula out{.form = fit_table(numbers, used)};
  if (out.form) return out;
  auto apart = reducing::ways_of(numbers, used, true);
  auto fixed = reducing::ways_of(numbers, used, false);
  if (!apart && !fixed) return std::nullopt;
  out.is_relative = apart && (!fixed || apart->size() < fixed->size());
  out.ways = *std::move(out.is_relative ? apart : fixed);
  return out;
}

ExprId formula_expr(CodeWriter& code, const ThreadFormula& formula, ExprId thread) {
  if (formula.form) return code.simplify(digits_expr(code, *formula.form, thread));
  ExprId out = code.n(formula.ways[0].number);
  for (std::size_t i = 1; i < formula.ways.size(); ++i)
    out = code.choose(ExprOp::Select,
                      code.simplify(member_expr(code, thread, formula.ways[i].threads)),
                      code.n(formula.ways[i].number), out);
  if (formula.is_relative) out = code.add(code.mod(thread, kLanesOfWarp), out);
  return code.simplify(out);
}

// x + -0 is x, also for x = -0, and so is x * 1; NaN is what max and min pass over.
ExprId neutral_value(CodeWriter& code, ExprOp op, num::DType type) {
  if (op == ExprOp::Mul) return code.number(type, 1);
  if (is_float(type)) {
    const double value = op == ExprOp::Add ? -0.0 : std::numeric_limits<double>::quiet_NaN();
    return ir::float_imm(code.f(), type, value, code.span());
  }
  if (op == ExprOp::Add) return code.zero(type);
  const bool is_signed = num::kind_of(type) == num::DTypeKind::Int;
  const int bits = num::bits_of(type);
  const std::uint64_t ones = ~std::uint64_t{0} >> static_cast<unsigned>(64 - bits);
  const std::uint64_t greatest = is_signed ? ones >> 1U : ones;
  const std::uint64_t least = is_signed ? ~greatest : 0;
  return ir::int_imm(code.f(), type,
                     static_cast<std::int64_t>(op == ExprOp::Max ? least : greatest), code.span());
}

namespace reducing {
namespace {

Match<void> find_indices(const Call& call, Folding& folding) {
  for (std::vector<Take>& takes : folding.takes)
    for (Take& take : takes) {
      auto index = thread_formula(take.indices, take.threads);
      if (!index)
        return decline("irregular", "no formula says which element of `{}` is in register {}",
                       call.buffer(1).name, take.slot);
      take.index = *std::move(index);
    }
  return {};
}

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
        if (takes.size() == kMaxThreadSets)
          return decline("irregular",
                         "the elements of `{}` that go into one are in different registers in more "
                         "than {} sets of threads",
                         call.buffer(1).name, kMaxThreadSets);
        takes.push_back({std::vector<bool>(as_index(p.threads)), part.slots[i],
                         std::vector<std::int64_t>(as_index(p.threads))});
        take = takes.end() - 1;
      }
      take->threads[as_index(u)] = true;
      take->indices[as_index(u)] = part.indices[i];
    }
  }
  if (ir::gives_index(call.tile.op)) WW_TRY_VOID(find_indices(call, out));
  return out;
}

Match<void> check_apart(const Call& call, const std::vector<Wanted>& wanted) {
  for (std::size_t i = 1; i < wanted.size(); ++i) {
    const Wanted &one = wanted[i - 1], &other = wanted[i];
    if (one.slot == other.slot && one.thread == other.thread && one.into != other.into)
      return decline("collision", "elements {} and {} of `{}` are both in register {} of thread {}",
                     one.into, other.into, call.buffer(0).name, one.slot, one.thread);
  }
  return {};
}

std::string redux_of(TileOp op, num::DType type) {
  const ExprOp by = ir::folding_operator(op);
  return fmt::format("redux.sync.{}.{}",
                     by == ExprOp::Add   ? "add"
                     : by == ExprOp::Max ? "max"
                                         : "min",
                     type == num::DType::Int32 ? "s32" : "u32");
}

// Five butterflies are one instruction where there is one.
void find_redux(const Call& call, PartsPlan& plan) {
  const num::DType type = plan.problem.type;
  const bool is_word = type == num::DType::Int32 || type == num::DType::Uint32;
  if (!is_word || call.tile.op == TileOp::Prod) return;
  if (!is_on_target(redux_of(call.tile.op, type), call.context.target)) return;
  for (std::int64_t row = 0; row < std::ssize(plan.problem.rows); ++row) {
    const auto butterflies = std::ranges::count_if(plan.steps, [&](const LaneStep& each) {
      return each.exchange.row == row && each.exchange.is_butterfly;
    });
    if (butterflies == 5) plan.redux.push_back(row);
  }
  std::erase_if(plan.steps, [&](const LaneStep& each) {
    return std::ranges::find(plan.redux, each.exchange.row) != plan.redux.end();
  });
}

}  // namespace
}  // namespace reducing

Match<PartsPlan> parts_plan(const Call& call, ReduceProblem problem, LaneParts& lanes) {
  PartsPlan plan{.problem = std::move(problem), .foldings = {}, .steps = {}, .redux = {}};
  for (const std::vector<ReducePart>& row : plan.problem.rows)
    plan.foldings.push_back(WW_TRY(reducing::folding_of(call, plan.problem, row)));
  for (Exchange& each : lanes.exchanges()) {
    LaneStep step{.exchange = std::move(each), .giver = {}};
    if (!step.exchange.is_butterfly) {
      auto giver = thread_formula(step.exchange.nearest, step.exchange.takers);
      if (!giver) giver = thread_formula(step.exchange.first, step.exchange.takers);
      if (!giver)
        return decline("irregular",
                       "no formula says which lanes on the two sides of bit {} of the lane hold "
                       "parts of one element of `{}`",
                       step.exchange.bit, call.buffer(0).name);
      step.giver = *std::move(giver);
    }
    plan.steps.push_back(std::move(step));
  }
  reducing::find_redux(call, plan);
  return plan;
}

Match<std::vector<Wanted>> wanted_of(const Call& call, const ReduceProblem& p) {
  std::vector<Wanted> out;
  for_each_holder(p.dst, p.threads, [&](std::size_t into, std::int64_t u, std::int64_t slot) {
    out.push_back({.slot = slot, .thread = u, .into = static_cast<std::int64_t>(into)});
  });
  std::ranges::sort(out, {}, [](const Wanted& w) { return std::tuple(w.slot, w.thread, w.into); });
  WW_TRY_VOID(reducing::check_apart(call, out));
  return out;
}

bool is_shuffled(const PartsPlan& plan) { return !plan.steps.empty() || !plan.redux.empty(); }

// --- code ----------------------------------------------------------------------------------------

void PartWriter::write() {
  dst_ = flat_view(call_, code_, p_.dst);
  src_ = p_.src.buffer == p_.dst.buffer ? dst_ : flat_view(call_, code_, p_.src);
  thread_ = call_.unit_thread(code_);
  parts_ = code_.registers("part", p_.type, std::ssize(p_.rows));
  for (std::size_t row = 0; row < plan_.foldings.size(); ++row)
    fold_registers(static_cast<std::int64_t>(row), plan_.foldings[row]);
  for (const LaneStep& each : plan_.steps) step(each);
  for (const std::int64_t row : plan_.redux) {
    const ir::PtxOperand own = register_operand(code_, parts_, code_.n(row));
    code_.ptx(reducing::redux_of(call_.tile.op, p_.type), {own, own, {.expr = all_lanes()}});
  }
}

ExprId PartWriter::folded(ExprId a, ExprId b) { return code_.binary(p_.by, a, b); }

ExprId PartWriter::index(const OperandPlaces& side, ExprId slot) {
  return code_.simplify(side.base.valid() ? code_.add(side.base, slot) : slot);
}

ExprId PartWriter::source(ExprId slot) {
  return code_.as(ir::fold_type(p_.src.dtype), code_.load(src_, {index(p_.src, slot)}));
}

ExprId PartWriter::source(const Take& take) {
  const ExprId value = source(code_.n(take.slot));
  if (!ir::gives_index(call_.tile.op)) return value;
  return index_key(code_, call_.tile.op, value, formula_expr(code_, take.index, thread_));
}

ExprId PartWriter::all_lanes() {
  return ir::int_imm(code_.f(), num::DType::Uint32, 0xFFFF'FFFF, call_.span);
}

ExprId PartWriter::shuffled(ir::Intrinsic callee, std::int64_t row, ExprId by) {
  return code_.call(callee,
                    {all_lanes(), part(row), by, code_.n(kLanesOfWarp), code_.n(kLanesOfWarp)});
}

// In a register of its own: an operand of a shuffle is the same for all lanes.
ExprId PartWriter::given(std::int64_t row, const ThreadFormula& giver) {
  const ir::BufferId given = code_.registers("given", p_.type, 1);
  code_.store(given, code_.n(0),
              shuffled(ir::Intrinsic::Shfl, row, formula_expr(code_, giver, thread_)));
  return code_.load(given, {code_.n(0)});
}

void PartWriter::put(std::int64_t slot, ExprId value) {
  const ExprId to = index(p_.dst, code_.n(slot));
  if (ir::gives_index(call_.tile.op))
    return code_.store(dst_, to, code_.as(p_.dst.dtype, index_of_key(code_, value)));
  const ExprId result =
      p_.accumulates ? folded(value, code_.as(p_.type, code_.load(dst_, {to}))) : value;
  code_.store(dst_, to, code_.as(p_.dst.dtype, result));
}

namespace reducing {
namespace {

// The registers behind the first as a formula, where all threads fold the same ones.
std::optional<layout::TileLayout> form_of(const Folding& folding) {
  std::vector<std::int64_t> slots;
  for (const std::vector<Take>& takes : folding.takes) {
    if (takes.size() != 1 || std::ranges::find(takes[0].threads, false) != takes[0].threads.end())
      return std::nullopt;
    slots.push_back(takes[0].slot);
  }
  if (slots.size() < 3) return std::nullopt;
  return fit_table(std::span(slots).subspan(1));
}

std::string counted(std::int64_t count, std::string_view what, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? what : many);
}

}  // namespace
}  // namespace reducing

void PartWriter::fold_registers(std::int64_t row, const Folding& folding) {
  if (!folding.is_everywhere) set(row, neutral_value(code_, p_.by, p_.type));
  const auto form = ir::gives_index(call_.tile.op) ? std::nullopt : reducing::form_of(folding);
  for (std::size_t i = 0; i < folding.takes.size(); ++i) {
    for (const Take& each : folding.takes[i])
      code_.guarded(member_expr(code_, thread_, each.threads), [&] {
        const ExprId value = source(each);
        i == 0 ? set(row, value) : take(row, value);
      });
    if (form) break;
  }
  if (form)
    code_.loop("i", std::ssize(folding.takes) - 1, ir::LoopKind::Unroll,
               [&](ExprId i) { take(row, source(digits_expr(code_, *form, i))); });
}

void PartWriter::step(const LaneStep& step) {
  const Exchange& exchange = step.exchange;
  const std::int64_t row = exchange.row;
  if (exchange.is_butterfly)
    return take(row, shuffled(ir::Intrinsic::ShflXor, row, code_.n(exchange.bit)));
  const ExprId other = given(row, step.giver);
  code_.guarded(member_expr(code_, thread_, exchange.takers), [&] { take(row, other); });
}

// --- report --------------------------------------------------------------------------------------

PlanReport parts_report(const PartsPlan& plan, const Call& call, std::vector<std::int64_t> slots,
                        std::int64_t given) {
  const ReduceProblem& p = plan.problem;
  PlanReport out;
  out.elements = p.elements;
  out.flops = p.elements;
  out.bytes = p.elements * p.src.bits / 8;
  std::vector<std::int64_t> from;
  for (const Folding& folding : plan.foldings) {
    out.rounds += std::ssize(folding.takes);
    for (const std::vector<Take>& takes : folding.takes)
      for (const Take& take : takes) from.push_back(take.slot);
  }
  const auto& params = ir::params_of(call.tile.op);
  out.operand_registers.emplace_back(params[0].name, words_of(std::move(slots), p.dst.bits));
  out.operand_registers.emplace_back(params[1].name, words_of(std::move(from), p.src.bits));
  for (const auto& [name, count] : out.operand_registers) out.registers += count;
  std::vector<bool> takes_part(as_index(p.threads));
  for (const std::vector<ReducePart>& row : p.rows)
    for (std::size_t u = 0; u < row.size(); ++u)
      if (row[u].into >= 0) takes_part[u] = true;
  out.threads = std::ranges::count(takes_part, true);
  // A value of 64 bits is shuffled in halves.
  const std::int64_t words = (num::bits_of(p.type) + 31) / 32;
  const std::int64_t butterflies =
      words * std::ranges::count_if(
                  plan.steps, [](const LaneStep& each) { return each.exchange.is_butterfly; });
  const std::int64_t by_index = words * (std::ssize(plan.steps) + given) - butterflies;
  constexpr std::int64_t kWordBytes = 4;
  const auto at_once = std::ssize(plan.redux);
  if (at_once > 0)
    out.add_instruction(reducing::redux_of(call.tile.op, p.type), at_once, kWordBytes);
  if (butterflies > 0) out.add_instruction("shfl.sync.bfly.b32", butterflies, kWordBytes);
  if (by_index > 0) out.add_instruction("shfl.sync.idx.b32", by_index, kWordBytes);
  out.summary = reducing::counted(out.rounds, "element per thread", "elements per thread");
  if (at_once > 0) out.summary += fmt::format(", then {} redux.sync", at_once);
  if (butterflies + by_index > 0)
    out.summary += ", then " + reducing::counted(butterflies + by_index, "shuffle", "shuffles");
  if (ir::gives_index(call.tile.op))
    out.notes.emplace_back(
        "folded as the greatest of 64-bit keys: the element above, its index below");
  else if (p.type != p.dst.dtype)
    out.notes.push_back(fmt::format("folded in {}", num::name_of(p.type)));
  return out;
}

}  // namespace ww::lower
