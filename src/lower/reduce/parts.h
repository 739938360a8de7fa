// SPDX-License-Identifier: Apache-2.0
// What the variants of reductions on registers have in common: threads fold their registers, then
// lanes their parts. Who gets the results, and how, is for the variant.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "layout/layout.h"
#include "lower/lowering_report.h"
#include "lower/reduce/lanes.h"

namespace ww::lower {

inline constexpr std::size_t kMaxThreadSets = 8;  // in which threads fill one register

/// A number by the thread in the unit, such as a lane or a place: as a formula, or, in each of a few
/// sets of threads, a constant, or one that is added to the own lane.
struct ThreadFormula {
  struct Way {
    std::int64_t number = 0;
    std::vector<bool> threads;
  };
  std::optional<layout::TileLayout> form = {};
  bool is_relative = false;
  std::vector<Way> ways = {};
};
/// Nothing: no formula gives these numbers, in the threads that count.
std::optional<ThreadFormula> thread_formula(const std::vector<std::int64_t>& numbers,
                                            const std::vector<bool>& used);
ir::ExprId formula_expr(CodeWriter& code, const ThreadFormula& formula, ir::ExprId thread);

/// What changes nothing when it is folded in.
ir::ExprId neutral_value(CodeWriter& code, ir::ExprOp op, num::DType type);

/// A register that these threads fold into a part.
struct Take {
  std::vector<bool> threads;
  std::int64_t slot = 0;
  std::vector<std::int64_t> indices = {};  // by thread, of the element along the folded axes
  ThreadFormula index = {};                // the same, where it is asked for
};
/// What threads do for part `row`.
struct Folding {
  bool is_everywhere = true;             // all threads have something to fold
  std::vector<std::vector<Take>> takes;  // one after the other
};

/// An exchange with its lanes found.
struct LaneStep {
  Exchange exchange;
  ThreadFormula giver;  // unless it is a butterfly
};

struct PartsPlan {
  ReduceProblem problem;
  std::vector<Folding> foldings;  // by row
  std::vector<LaneStep> steps;
  std::vector<std::int64_t> redux;  // rows that all lanes fold at once
};

/// A register of a thread that gets an element of the destination.
struct Wanted {
  std::int64_t slot, thread, into;
};

/// `lanes`: what they hold after the steps.
Match<PartsPlan> parts_plan(const Call& call, ReduceProblem problem, LaneParts& lanes);
/// By slot and thread. Declines two elements in one register.
Match<std::vector<Wanted>> wanted_of(const Call& call, const ReduceProblem& p);
/// Does any lane read another's registers?
bool is_shuffled(const PartsPlan& plan);

/// The code.
class PartWriter {
 public:
  PartWriter(const PartsPlan& plan, const Call& call, CodeWriter& code)
      : plan_(plan), p_(plan.problem), call_(call), code_(code) {}

  /// From the registers of the source to one part of each row in each thread.
  void write();
  /// The number of the thread in the unit.
  [[nodiscard]] ir::ExprId thread() const { return thread_; }
  ir::ExprId part(std::int64_t row) { return code_.load(parts_, {code_.n(row)}); }
  ir::ExprId folded(ir::ExprId a, ir::ExprId b);
  /// What a lane has in part `row`.
  ir::ExprId given(std::int64_t row, const ThreadFormula& giver);
  /// A result into register `slot` of the destination, what that was folded in.
  void put(std::int64_t slot, ir::ExprId value);

 private:
  void set(std::int64_t row, ir::ExprId value) { code_.store(parts_, code_.n(row), value); }
  void take(std::int64_t row, ir::ExprId value) { set(row, folded(part(row), value)); }
  ir::ExprId index(const OperandPlaces& side, ir::ExprId slot);
  ir::ExprId source(ir::ExprId slot);
  ir::ExprId source(const Take& take);
  ir::ExprId all_lanes();
  ir::ExprId shuffled(ir::Intrinsic callee, std::int64_t row, ir::ExprId by);
  void fold_registers(std::int64_t row, const Folding& folding);
  void step(const LaneStep& step);

  const PartsPlan& plan_;
  const ReduceProblem& p_;
  const Call& call_;
  CodeWriter& code_;
  ir::BufferId dst_, src_, parts_;
  ir::ExprId thread_;
};

/// What the parts cost: elements, threads, rounds, registers, instructions. `slots` of the
/// destination, and shuffles by which results are handed on, are the variant's.
PlanReport parts_report(const PartsPlan& plan, const Call& call, std::vector<std::int64_t> slots,
                        std::int64_t given);

}  // namespace ww::lower
