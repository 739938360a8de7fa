// SPDX-License-Identifier: Apache-2.0
#include "lower/gemm_async/wgmma_plan.h"

#include <algorithm>
#include <map>

#include "lower/as_index.h"

namespace ww::lower {
namespace {

using ir::ExprId;
using ir::ExprOp;

constexpr std::int64_t kAtomRows = 64, kBlock = 8, kMaxColumns = 256;
constexpr std::int64_t kThreadRegisters = 255;
constexpr std::int64_t kOtherRegisters = 15;  // besides C and A

// --- match ---------------------------------------------------------------------------------------

/// Blocks with columns side by side, cut into as few instructions of nearly one width as there can be.
Match<std::vector<WgmmaColumns>> columns_of(const AsyncProduct& p, const ResultParts& parts) {
  std::vector<WgmmaColumns> out;
  for (std::size_t first = 0; first < parts.columns.size();) {
    std::size_t end = first + 1;
    while (end < parts.columns.size() && parts.columns[end] == parts.columns[end - 1] + kBlock)
      ++end;
    while (first < end) {
      const auto left = static_cast<std::int64_t>(end - first) * kBlock;
      const std::int64_t instructions = (left + kMaxColumns - 1) / kMaxColumns;
      std::int64_t width = (left / kBlock + instructions - 1) / instructions * kBlock;
      while (width > 0 && !p.types.has_columns(width)) width -= kBlock;
      if (width == 0)
        return decline("shape", "{} columns of C side by side; wgmma of {} has {}", left, p.types.a,
                       p.types.columns_text());
      out.push_back({first, as_index(width / kBlock)});
      first += out.back().blocks;
    }
  }
  return out;
}

/// The descriptors of a factor in all warpgroups, which differ by one step.
class FactorFinder {
 public:
  FactorFinder(const AsyncProduct& p, const ResultParts& parts, bool is_a, SharedFactor factor)
      : p_(p), parts_(parts), is_a_(is_a), factor_(factor) {}

  Match<FactorDescriptor> find(std::int64_t line, std::int64_t lines, std::int64_t k) {
    const FactorDescriptor first = WW_TRY(find_in(0, line, lines, k));
    for (std::int64_t w = 1; w < parts_.warpgroups; ++w) {
      FactorDescriptor here = WW_TRY(find_in(w, line, lines, k));
      const std::int64_t moved = here.start - first.start;
      if (!step_) step_ = moved;
      here.start = first.start;
      if (moved != w * *step_ || here.high_fields() != first.high_fields() ||
          here.low_fields() != first.low_fields() || here.is_mn_major != first.is_mn_major)
        return decline("warps",
                       "{} of warpgroup {} is {} bytes behind that of warpgroup 0, expected {} "
                       "times {}",
                       is_a_ ? "A" : "B", w, moved * kChunkBytes, w, *step_ * kChunkBytes);
    }
    return first;
  }
  [[nodiscard]] std::int64_t step() const { return step_.value_or(0); }

 private:
  Match<FactorDescriptor> find_in(std::int64_t w, std::int64_t line, std::int64_t lines,
                                  std::int64_t k) const {
    const std::int64_t first = line + w * (is_a_ ? parts_.row_step : parts_.column_step);
    const FactorPart part{
        .lines = lines, .depth = p_.types.depth, .at = [&, first](std::int64_t l, std::int64_t d) {
          return is_a_ ? p_.a_at(first + l, k + d) : p_.b_at(first + l, k + d);
        }};
    return factor_.find(part, p_.types.may_turn);
  }

  const AsyncProduct& p_;
  const ResultParts& parts_;
  bool is_a_;
  SharedFactor factor_;
  std::optional<std::int64_t> step_;
};

Match<void> count_registers(const Call& call, WgmmaPlan& plan) {
  const AsyncProduct& p = plan.product;
  plan.registers_d = static_cast<std::int64_t>(plan.parts.blocks.size()) * 4 * p.d.bits / 32;
  if (p.is_a_in_registers)
    plan.registers_a = static_cast<std::int64_t>(plan.parts.rows.size()) * p.k / p.types.depth * 4;
  const std::int64_t all = std::min(call.registers.value_or(kThreadRegisters), kThreadRegisters);
  if (plan.registers_d + plan.registers_a <= all - kOtherRegisters) return {};
  return decline("registers",
                 "C takes {} registers of a thread and A {}, expected at most {} of {}{}: more "
                 "warpgroups, or fewer rows or columns in each",
                 plan.registers_d, plan.registers_a, all - kOtherRegisters, all,
                 call.registers ? ", which `setmaxnreg` sets" : "");
}

Match<void> find_issues(const Call& call, WgmmaPlan& plan) {
  const AsyncProduct& p = plan.product;
  const std::vector<WgmmaColumns> columns = WW_TRY(columns_of(p, plan.parts));
  FactorFinder b(p, plan.parts, false, WW_TRY(SharedFactor::read(call, p.b, "B")));
  std::optional<FactorFinder> a;
  if (!p.is_a_in_registers)
    a.emplace(p, plan.parts, true, WW_TRY(SharedFactor::read(call, p.a, "A")));
  for (std::int64_t k = 0; k < p.k; k += p.types.depth) {
    std::vector<FactorDescriptor> b_parts;
    for (const WgmmaColumns& each : columns)
      b_parts.push_back(WW_TRY(b.find(plan.parts.columns[each.first], each.count(), k)));
    for (std::size_t row = 0; row < plan.parts.rows.size(); ++row) {
      WgmmaIssue issue;
      issue.row = row;
      issue.is_first = k == 0;
      const std::int64_t first = plan.parts.rows[row];
      if (a)
        issue.a = WW_TRY(a->find(first, kAtomRows, k));
      else
        issue.a_registers = WW_TRY(factor_registers(p, plan.parts, first, k));
      for (std::size_t i = 0; i < columns.size(); ++i) {
        issue.columns = columns[i];
        issue.b = b_parts[i];
        plan.issues.push_back(issue);
      }
    }
  }
  plan.a_step = a ? a->step() : 0;
  plan.b_step = b.step();
  return {};
}

// --- emit ----------------------------------------------------------------------------------------

class WgmmaWriter {
 public:
  WgmmaWriter(const WgmmaPlan& plan, const Call& call, CodeWriter& code)
      : plan_(plan), p_(plan.product), call_(call), code_(code) {}

  void write() {
    d_ = flat_view(call_, code_, p_.d);
    if (plan_.parts.warpgroups > 1)
      group_ = code_.let("warpgroup", code_.div(call_.unit_thread(code_), 128));
    if (p_.is_a_in_registers)
      a_ = flat_view(call_, code_, p_.a);
    else
      a_start_ = start_of(p_.a, plan_.a_step, "a_start");
    b_start_ = start_of(p_.b, plan_.b_step, "b_start");
    for (const WgmmaIssue& issue : plan_.issues) this->issue(issue);
  }

 private:
  // The address of a factor in units of 16 bytes, as the lowest bits of its descriptors.
  ExprId start_of(const OperandPlaces& side, std::int64_t step, std::string_view name) {
    const ir::BufferId flat = flat_view(call_, code_, side);
    const ExprId pointer = code_.pointer(flat, side.base_expr(code_));
    const ExprId address =
        code_.as(num::DType::Uint32, code_.call(ir::Intrinsic::CvtaToShared, {pointer}));
    const ExprId units = code_.binary(ExprOp::Shr, address, word(4));
    ExprId start = code_.binary(ExprOp::BitAnd, units, word(kMaxOffset));
    if (step != 0)
      start = code_.binary(ExprOp::Add, start,
                           code_.as(num::DType::Uint32, code_.simplify(code_.mul(group_, step))));
    return code_.let(name, start);
  }

  ExprId word(std::int64_t value, num::DType type = num::DType::Uint32) {
    return ir::int_imm(call_.f(), type, value, call_.span);
  }

  // Only the low half depends on anything.
  ir::PtxOperand descriptor(ExprId start, const FactorDescriptor& d) {
    const auto low = static_cast<std::int64_t>(d.low_fields()) + d.start;
    const ExprId half = low == 0 ? start : code_.binary(ExprOp::Add, start, word(low));
    const auto high = static_cast<std::uint64_t>(d.high_fields()) << 32U;
    return {.expr = code_.binary(ExprOp::BitOr, code_.as(num::DType::Uint64, half),
                                 word(static_cast<std::int64_t>(high), num::DType::Uint64))};
  }

  ir::PtxOperand number(std::int64_t value) { return {.expr = code_.n(value)}; }

  ir::PtxOperand register_at(ir::BufferId flat, const OperandPlaces& side, std::int64_t slot) {
    return register_operand(code_, flat, code_.simplify(code_.add(side.base_expr(code_), slot)));
  }

  void add_results(const WgmmaIssue& issue, std::vector<ir::PtxOperand>& out) {
    for (std::size_t i = 0; i < issue.columns.blocks; ++i) {
      const ResultBlock& block = plan_.parts.at(issue.row, issue.columns.first + i);
      for (const auto& row : block.slots)
        for (const int odd : {0, 1})
          if (odd == 0 || p_.d.bits == 32) out.push_back(register_at(d_, p_.d, row[odd]));
    }
  }

  ir::PtxOperand scale_d(const WgmmaIssue& issue) {
    if (!issue.is_first) return number(1);
    if (p_.accumulates) return number(*p_.accumulates ? 1 : 0);
    return {.kind = ir::PtxOperandKind::Predicate, .expr = p_.when};
  }

  void issue(const WgmmaIssue& issue) {
    std::vector<ir::PtxOperand> operands;
    add_results(issue, operands);
    if (p_.is_a_in_registers)
      for (const std::int64_t slot : issue.a_registers)
        operands.push_back(register_at(a_, p_.a, slot));
    else
      operands.push_back(descriptor(a_start_, issue.a));
    operands.push_back(descriptor(b_start_, issue.b));
    operands.push_back(scale_d(issue));
    if (!p_.types.is_integer)
      for (int i = 0; i < 2; ++i) operands.push_back(number(1));
    if (p_.types.may_turn && !p_.is_a_in_registers)
      operands.push_back(number(issue.a.is_mn_major ? 1 : 0));
    if (p_.types.may_turn) operands.push_back(number(issue.b.is_mn_major ? 1 : 0));
    code_.ptx(p_.types.opcode(issue.columns.count()), std::move(operands));
  }

  const WgmmaPlan& plan_;
  const AsyncProduct& p_;
  const Call& call_;
  CodeWriter& code_;
  ir::BufferId d_, a_;
  ExprId a_start_, b_start_, group_;
};

}  // namespace

Match<WgmmaPlan> plan_wgmma(const Call& call) {
  WgmmaPlan plan;
  plan.product = WW_TRY(async_product(call));
  const AsyncProduct& p = plan.product;
  if (p.is_a_in_registers && p.turns_a)
    return decline("major", "A in registers with transA=True, expected (M, K)");
  if (p.is_a_in_registers && p.a.bits < 32 && !p.a.base_is_aligned(4))
    return decline("registers", "the first register of A is not known to begin a 32-bit word");
  plan.parts = WW_TRY(result_parts(call, p));
  WW_TRY_VOID(count_registers(call, plan));
  WW_TRY_VOID(find_issues(call, plan));
  return plan;
}

void write_wgmma(const WgmmaPlan& plan, const Call& call, CodeWriter& code) {
  WgmmaWriter(plan, call, code).write();
}

PlanReport report_wgmma(const WgmmaPlan& plan, const Call& call) {
  const AsyncProduct& p = plan.product;
  PlanReport out;
  std::vector<std::string> notes;
  const auto note = [&](std::string_view name, const FactorDescriptor& d) {
    std::string text = fmt::format("descriptor of {}: {}", name, d.text());
    if (std::ranges::find(notes, text) == notes.end()) notes.push_back(std::move(text));
  };
  for (const WgmmaIssue& issue : plan.issues) {
    out.add_instruction(p.types.opcode(issue.columns.count()), 1, 0);
    if (!p.is_a_in_registers) note("A", issue.a);
    note("B", issue.b);
  }
  out.operand_registers = {{"C", plan.registers_d}};
  if (p.is_a_in_registers) out.operand_registers.emplace_back("A", plan.registers_a);
  out.registers = plan.registers_d + plan.registers_a;
  out.threads = call.unit_threads();
  out.flops = 2 * p.m * p.n * p.k;
  out.rounds = std::ssize(plan.issues);
  const std::string shape = fmt::format("m64n{}k{}", plan.issues[0].columns.count(), p.types.depth);
  out.tiling =
      fmt::format("{} x {} x {} tiles of {}", plan.parts.rows.size(),
                  plan.issues.size() / plan.parts.rows.size() / as_index(p.k / p.types.depth),
                  p.k / p.types.depth, shape);
  out.summary = fmt::format("{}, {} per warpgroup, A in {}", shape, out.rounds,
                            p.is_a_in_registers ? "registers" : "shared memory");
  out.notes = std::move(notes);
  return out;
}

}  // namespace ww::lower
