// SPDX-License-Identifier: Apache-2.0
// copy_async / tcgen05_ldst: between tensor memory and registers with tcgen05.ld and tcgen05.st.
//
// A warp reaches the 32 lanes of its quarter of tensor memory (warp % 4). The registers of the
// unit's warps are taken word by word (32 bits): which cell, a lane and a 32-bit column, do the 32
// lanes of each warp hold there? With g = l / 4 and t = l % 4, lane l of the warp may find
//
//   shape      word of an atom   lane of the cell     column of the cell
//   32x32b     0                 l                    0
//   16x64b     0                 g + 8·(l % 2)        l / 2 % 2
//   16x128b    0, 1              g + 8·word           t
//   16x256b    0 … 3             g + 8·(word / 2)     2·t + word % 2
//   16x32bx2   0                 l % 16               0, from lane 16 on a constant further
//
// from lane 0 or 16 of the quarter on (the *slab*; 32x32b from lane 0 on). Words with the same
// corner make an atom; atoms side by side make one instruction, .x128 … .x1, widest first. Which
// register is which operand is free, so that registers may be in any order. 16-bit elements that
// have a column each are moved in pairs by .pack::16b and .unpack::16b.
//
// What is no such cell is declined: half a column, a lane of another warp's quarter, a pattern that
// no shape has. There is no way out through other instructions. The caller waits
// (tcgen05.wait::ld, ::st).
//
//     Tx.wg.copy_async(B_local[:, :], tmem[:, :])
//         B_local = S[(128,8):(1@tid_in_wg,1)], tmem = S[(128,8):(1@TLane,1@TCol)], float16
//
//     T.ptx.tcgen05.ld(tmem_addr[0], lane, 0, "32x32b", 4, False, local_32b[0], …, local_32b[3])

#include <algorithm>
#include <set>

#include "base/join.h"
#include "ir/print/print.h"
#include "lower/as_index.h"
#include "lower/checks.h"
#include "lower/copy/copy_report.h"
#include "lower/copy_async/tensor_address.h"
#include "lower/copy_async/tensor_issues.h"
#include "lower/index_formula.h"
#include "lower/variant.h"

namespace ww::lower::copy_async_tcgen05_ldst {
namespace {

// --- plan ----------------------------------------------------------------------------------------

struct Plan {
  std::shared_ptr<const CopyProblem> problem;
  bool is_load = true;
  std::vector<std::int64_t> quarters;  // of the unit's warps
  TensorIssues found;

  [[nodiscard]] const OperandPlaces& own() const { return is_load ? problem->dst : problem->src; }
  [[nodiscard]] const OperandPlaces& tensor() const {
    return is_load ? problem->src : problem->dst;
  }
};

// --- match ---------------------------------------------------------------------------------------

Match<void> check_sides(const Call& call, const Plan& plan) {
  const OperandPlaces& own = plan.own();
  const OperandPlaces& tensor = plan.tensor();
  if (own.bits > 32 || 32 % own.bits != 0)
    return decline("dtype", "elements of {} bits, expected 4, 8, 16 or 32", own.bits);
  if (!own.base_is_aligned(4))
    return decline("registers", "the first register is not known to begin a 32-bit word");
  if (tensor.base_divisor * tensor.bits % 32 != 0)
    return decline("columns",
                   "`{}` begins at `{}` elements of {} bits, known at run time only and not known "
                   "to be whole 32-bit columns",
                   call.f()[tensor.buffer].name, ir::print(call.f(), tensor.base), tensor.bits);
  if (!tensor.swizzle.is_none())
    return decline("swizzle", "`{}` in tensor memory is swizzled", call.f()[tensor.buffer].name);
  return {};
}

// Where .unpack::16b writes a half, it may change the other one.
Match<void> check_unpacked(const Call& call, const Plan& plan) {
  const bool unpacks = std::ranges::any_of(plan.found.issues, &TensorIssue::is_packed);
  if (plan.is_load || !unpacks) return {};
  const layout::TileLayout& tile = call.f()[plan.tensor().buffer].layout->tile();
  const auto is_odd = [](const layout::Iter& iter) {
    return iter.axis == layout::axes::tcol() && iter.extent > 1 && iter.stride % 2 != 0;
  };
  if (std::ranges::none_of(tile.shard(), is_odd) && std::ranges::none_of(tile.replica(), is_odd))
    return {};
  return decline("columns",
                 "`{}` has elements in the upper halves of columns whose lower halves "
                 "alone are stored",
                 call.f()[plan.tensor().buffer].name);
}

Match<Plan> match(const Call& call) {
  Plan plan;
  plan.is_load = call.memory(0) == ir::Scope::Local;
  const ir::Scope own = call.memory(plan.is_load ? 0 : 1),
                  other = call.memory(plan.is_load ? 1 : 0);
  if (own != ir::Scope::Local || other != ir::Scope::Tmem)
    return decline("memory_pair", "{} to {}, expected tensor memory and registers",
                   ir::name_of(call.memory(1)), ir::name_of(call.memory(0)));
  WW_TRY_VOID(check_target(call, plan.is_load ? "tcgen05.ld" : "tcgen05.st",
                           target::Feature::TensorMemory));
  WW_TRY_VOID(check_warps(call, "scope", "threads"));
  plan.quarters = WW_TRY(quarters_of(call));
  plan.problem = WW_TRY(copy_problem(call));
  WW_TRY_VOID(check_plain(*plan.problem));
  WW_TRY_VOID(check_settings(call));
  WW_TRY_VOID(check_sides(call, plan));
  const TensorPair pair{call, plan.own(), plan.tensor(), plan.quarters};
  auto words = WW_TRY(read_tensor_words(pair));
  if (!plan.is_load) WW_TRY_VOID(drop_repeated_stores(pair, words));
  plan.found = WW_TRY(tensor_issues(std::move(words), call.context.launch.threads()));
  WW_TRY_VOID(check_unpacked(call, plan));
  return plan;
}

// --- emit ----------------------------------------------------------------------------------------

class Writer {
 public:
  Writer(const Plan& plan, const Call& call, CodeWriter& code)
      : plan_(plan), call_(call), code_(code), own_(plan.own()), tensor_(plan.tensor()) {
    const ir::Buffer& registers = call.f()[own_.buffer];
    const ExprId offset = registers.elem_offset;
    is_cast_ = !offset.valid() || code.constant(offset) == 0;
    const num::DType words = own_.bits == 32 || !is_cast_ ? own_.dtype : num::DType::Uint32;
    const std::int64_t per = num::bits_of(words) / own_.bits;
    const std::int64_t elements = view_elements(call, own_);
    per_view_ = per;
    flat_ = code.flat_view(own_.buffer, words, std::max<std::int64_t>(1, elements / per),
                           own_.bits == 32 || !is_cast_ ? "local" : "local_32b");
    const ExprId warp = code.simplify(code.div(call.unit_thread(code), kWarpLanes));
    warp_ = warp;
    lane_ = code.let("tmem_lane", quarter_lane(warp));
    base_ = call.f()[tensor_.buffer].allocated_addr;
    if (plan.found.issues.size() > 1) base_ = code.let("tmem_base", base_);
  }

  void write(const TensorIssue& issue) {
    std::vector<bool> threads;
    for (const bool used : issue.used) threads.insert(threads.end(), kWarpLanes, used);
    code_.guarded(member_expr(code_, call_.unit_thread(code_), threads), [&] {
      std::vector<ir::PtxOperand> operands = registers(issue);
      std::vector<ir::PtxOperand> place{address(issue)};
      if (issue.shape->shape == TensorShape::S16x32bx2)
        place.push_back({.expr = code_.n(issue.split)});
      operands.insert(plan_.is_load ? operands.end() : operands.begin(), place.begin(),
                      place.end());
      code_.ptx(issue.opcode(plan_.is_load), std::move(operands));
    });
  }

 private:
  using ExprId = ir::ExprId;

  // The first lane of the warp's quarter.
  ExprId quarter_lane(ExprId warp) {
    const auto form = fit_table(plan_.quarters);
    WW_CHECK(form.has_value(), "the quarters of warps follow no formula");
    return code_.simplify(code_.mul(digits_expr(code_, *form, warp), kWarpLanes));
  }

  std::vector<ir::PtxOperand> registers(const TensorIssue& issue) {
    std::vector<ir::PtxOperand> out;
    for (const std::int64_t slot : issue.slots) {
      ExprId at = code_.n(slot);
      if (own_.base.valid()) at = code_.add(own_.base, at);
      at = code_.simplify(code_.div(at, per_view_));
      if (is_cast_)
        out.push_back({.expr = code_.load(flat_, {at})});
      else
        out.push_back(register_operand(code_, flat_, at));
    }
    return out;
  }

  ir::PtxOperand address(const TensorIssue& issue) {
    const auto part = [&](std::int64_t QuarterCell::*which) {
      const auto form = fit_table(issue.by_warp(which), issue.used);
      return code_.simplify(digits_expr(code_, *form, warp_));
    };
    const ExprId lane = code_.add(lane_, part(&QuarterCell::lane));
    const ExprId row = code_.simplify(code_.add(lane, -tensor_base_lane(call_, tensor_)));
    const ExprId at = tensor_address(code_, tensor_, base_, row, part(&QuarterCell::column));
    return address_operand(at);
  }

  const Plan& plan_;
  const Call& call_;
  CodeWriter& code_;
  const OperandPlaces& own_;
  const OperandPlaces& tensor_;
  bool is_cast_ = true;  // the registers are seen as 32-bit words
  std::int64_t per_view_ = 1;
  ir::BufferId flat_;
  ExprId warp_, lane_, base_;
};

void emit(const Plan& plan, const Call& call, CodeWriter& code) {
  Writer writer(plan, call, code);
  for (const TensorIssue& issue : plan.found.issues) writer.write(issue);
}

// --- report --------------------------------------------------------------------------------------

PlanReport report(const Plan& plan, const Call& call) {
  PlanReport out = copy_report(call, *plan.problem);
  std::set<std::int64_t> slabs;
  std::vector<std::string> kinds;
  std::vector<std::int64_t> of_warp(plan.quarters.size(), 0);
  for (const TensorIssue& issue : plan.found.issues) {
    const auto registers = std::ssize(issue.slots);
    out.add_instruction(issue.opcode(plan.is_load), 1, registers * 4);
    std::string kind = fmt::format(".{}.x{}", issue.shape->name, issue.num);
    if (std::ranges::find(kinds, kind) == kinds.end()) kinds.push_back(kind);
    for (std::size_t w = 0; w < issue.used.size(); ++w) {
      if (!issue.used[w]) continue;
      ++of_warp[w];
      if (issue.shape->shape != TensorShape::S32x32b) slabs.insert(issue.corner[w].lane);
    }
  }
  const std::int64_t most = *std::ranges::max_element(of_warp);
  out.rounds = most;
  out.summary = fmt::format("tcgen05.{} {}, {} per warp", plan.is_load ? "ld" : "st",
                            join(kinds, " and "), most);
  std::string shape = "32 lanes of each warp's quarter at a time";
  if (!slabs.empty())
    shape = fmt::format("slabs of 16 lanes, from lane {} of each warp's quarter on",
                        join(slabs, " and "));
  out.notes.push_back(std::move(shape));
  const auto idle = std::ranges::count(of_warp, 0);
  if (idle != 0)
    out.notes.push_back(fmt::format("{} of {} warps move nothing", idle, of_warp.size()));
  if (plan.found.most_registers != 0)
    out.notes.push_back(
        fmt::format("at most {} registers per instruction: {} threads share the "
                    "register file",
                    plan.found.most_registers, call.context.launch.threads()));
  out.notes.push_back(
      fmt::format("done at the caller's tcgen05.wait::{}", plan.is_load ? "ld" : "st"));
  return out;
}

constexpr Variant kVariants[] = {variant<Plan, match, emit, report>(
    {.op = ir::TileOp::CopyAsync,
     .name = "tcgen05_ldst",
     .aliases = "tmem<->local",
     .about = "tensor memory to and from registers, a quarter per warp"})};

}  // namespace

constinit const std::span<const Variant> variants = kVariants;

}  // namespace ww::lower::copy_async_tcgen05_ldst
