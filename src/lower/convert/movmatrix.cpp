// SPDX-License-Identifier: Apache-2.0
// copy / movmatrix: 8x8 matrices of 16-bit elements in the registers of a warp, transposed by one
// instruction each. Tried before `shfl`, which takes two shuffles and more for the same.
//
//     Tx.warp.copy(B[:, :], A[:, :])        A = S[(8,4,2):(4@laneid,1@laneid,1)], float16
//                                           B = S[(4,2,8):(1@laneid,1,4@laneid)]
//
//     T.ptx["movmatrix.sync.aligned.m8n8.trans.b16"](B[0], A[0])
//
// Each register of the destination must be the transposed matrix of one register of the source, in
// every warp; where some are not, `shfl` takes all of them.
#include <optional>

#include "lower/call.h"
#include "lower/convert/items.h"
#include "lower/copy/phase_writer.h"
#include "lower/variant.h"

namespace ww::lower::convert_movmatrix {
namespace {

constexpr std::string_view kOpcode = "movmatrix.sync.aligned.m8n8.trans.b16";
constexpr std::int64_t kPerWord = 2;

/// Words by the number of their first item.
struct Matrix {
  std::int64_t to = 0, from = 0;
};

struct Plan {
  std::shared_ptr<const CopyProblem> problem;
  CopyItems items;
  std::vector<Matrix> matrices;
};

// Item `half` of lane l is at row l / 4, column 2 (l % 4) + half; it comes from where these are
// swapped.
bool is_transposed(const CopyItems& items, const Matrix& matrix) {
  for (std::int64_t u = 0; u < items.dst.threads; ++u)
    for (std::int64_t half = 0; half < kPerWord; ++half) {
      const std::int64_t lane = u % kLanesPerWarp;
      const std::int64_t row = lane / 4, column = 2 * (lane % 4) + half;
      const std::int64_t giver = u - lane + column * 4 + row / 2;
      const std::int32_t wanted = items.dst.at(matrix.to + half, u);
      if (wanted == kNoItem || wanted != items.src.at(matrix.from + row % 2, giver)) return false;
    }
  return true;
}

Match<std::vector<Matrix>> matrices_of(const CopyItems& items) {
  std::vector<Matrix> out;
  for (std::int64_t to = 0; to < items.dst.slots; to += kPerWord) {
    std::optional<Matrix> found;
    for (std::int64_t from = 0; from < items.src.slots && !found; from += kPerWord)
      if (is_transposed(items, {to, from})) found = {to, from};
    if (!found)
      return decline("fragment", "register {} is not the transposed matrix of any register",
                     to / kPerWord);
    out.push_back(*found);
  }
  return out;
}

Match<Plan> match(const Call& call) {
  WW_TRY_VOID(check_scope(call));
  Plan plan{.problem = WW_TRY(copy_problem(call)), .items = {}, .matrices = {}};
  const CopyProblem& problem = *plan.problem;
  if (!problem.dst.is_register() || !problem.src.is_register())
    return other_memories(call, "registers on both sides");
  WW_TRY_VOID(check_plain(problem));
  WW_TRY_VOID(check_settings(call));
  WW_TRY_VOID(check_warps(call, "scope", "threads"));
  WW_TRY_VOID(check_target(call, "movmatrix", target::Feature::Sm75));
  plan.items = WW_TRY(copy_items(call, problem));
  if (plan.items.bits != 16 || plan.items.per_word != kPerWord)
    return decline("registers", "what moves as one has {} bits, expected pairs of 16",
                   plan.items.bits);
  plan.matrices = WW_TRY(matrices_of(plan.items));
  return plan;
}

void emit(const Plan& plan, const Call& call, CodeWriter& code) {
  const CopyProblem& problem = *plan.problem;
  const ir::BufferId dst = flat_view(call, code, problem.dst);
  const ir::BufferId src =
      problem.src.buffer == problem.dst.buffer ? dst : flat_view(call, code, problem.src);
  const auto at = [&](const OperandPlaces& side, ir::BufferId flat, std::int64_t item) {
    const std::int64_t slot = item * plan.items.bits / side.bits;
    return register_operand(code, flat, code.add(side.base_expr(code), slot));
  };
  for (const Matrix& each : plan.matrices)
    code.ptx(kOpcode, {at(problem.dst, dst, plan.items.dst.first_slot + each.to),
                       at(problem.src, src, plan.items.src.first_slot + each.from)});
}

PlanReport report(const Plan& plan, const Call& call) {
  PlanReport out = copy_report(call, *plan.problem);
  out.rounds = std::ssize(plan.matrices);
  out.add_instruction(std::string(kOpcode), out.rounds, 4);
  out.summary = fmt::format("movmatrix, {} per thread", out.rounds);
  return out;
}

constexpr Variant kVariants[] = {variant<Plan, match, emit, report>(
    {.op = ir::TileOp::Copy,
     .name = "movmatrix",
     .about = "transposes 8x8 matrices of 16-bit elements in the registers of a warp"})};

}  // namespace

constinit const std::span<const Variant> variants = kVariants;

}  // namespace ww::lower::convert_movmatrix
