// SPDX-License-Identifier: Apache-2.0
// The code of an elementwise primitive whose work is planned (elementwise/work.h): operands in memory
// and in registers, one element at a time or two.
#pragma once

#include <optional>
#include <vector>

#include "lower/elementwise/packed.h"
#include "lower/elementwise/work.h"
#include "lower/lowering_report.h"

namespace ww::lower {

struct WorkPlan {
  ElementwiseProblem problem;
  std::vector<Work> works;
  std::optional<PackedOp> packed = {};  // for the works whose elements are pairs
  std::vector<bool> is_packed = {};     // by work

  /// Instructions for two elements that a thread executes.
  [[nodiscard]] std::int64_t packed_count() const;
};
/// Finds out which works take two elements at a time.
WorkPlan work_plan(const Call& call, ElementwiseProblem problem, std::vector<Work> works);

void write_works(const WorkPlan& plan, const Call& call, CodeWriter& code);

/// Elements, bytes and operations.
PlanReport work_report(const WorkPlan& plan);
/// Adds what a thread's part of a side takes of its registers.
void add_registers(PlanReport& out, const WorkPlan& plan, const Call& call, std::size_t side);
/// Adds the instructions for two elements.
void add_packed(PlanReport& out, const WorkPlan& plan);

}  // namespace ww::lower
