// SPDX-License-Identifier: Apache-2.0
// The expressions, loops and costs of work (elementwise/work.h): where a thread finds the elements of
// a side in a round, and the rounds themselves.
#pragma once

#include <functional>
#include <vector>

#include "lower/code_writer.h"
#include "lower/cost.h"
#include "lower/elementwise/work.h"
#include "lower/index_formula.h"
#include "lower/lowering_report.h"

namespace ww::lower {

/// The register that element i of round k has on that side.
ir::ExprId slot_expr(CodeWriter& code, const Work& work, std::size_t s, const OperandPlaces& side,
                     ir::ExprId k, ir::ExprId i);

/// False: registers follow no formula, and are written one by one.
bool has_formulas(const Work& work);
/// round(k) for each round: a loop where there are formulas.
void write_rounds(CodeWriter& code, const Work& work, ir::ExprId u,
                  const std::function<void(ir::ExprId k)>& round);

/// Adds the accesses to a side in memory.
void log_work(AccessLog& log, const Work& work, const WorkSide& side);
/// Adds threads, rounds and the summary; gives how many elements are taken at a time.
std::int64_t add_rounds(PlanReport& out, const std::vector<Work>& works);

}  // namespace ww::lower
