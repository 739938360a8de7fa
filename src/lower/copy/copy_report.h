// SPDX-License-Identifier: Apache-2.0
// What phases cost, for reports.
#pragma once

#include <string>
#include <vector>

#include "lower/copy/phase.h"
#include "lower/cost.h"
#include "lower/lowering_report.h"

namespace ww::lower {

/// What holds for all plans: elements, bytes, threads, registers.
PlanReport copy_report(const Call& call, const CopyProblem& problem);
/// Adds the phase's instructions and rounds to a report.
void add_phase(PlanReport& report, const CopyProblem& problem, const CopyPhase& phase);
/// Adds the phase's accesses to a shared-memory operand.
void log_phase(AccessLog& log, const CopyPhase& phase, bool is_dst);
/// The report of a plan that consists of phases.
PlanReport phases_report(const Call& call, const CopyProblem& problem,
                         const std::vector<CopyPhase>& phases);

/// The report of such a plan by loads and stores.
PlanReport memory_report(const Call& call, const CopyProblem& problem, const CopyPhase& phase);
/// "4 rounds of 128 threads", and notes about threads that have less to do.
std::string rounds_text(PlanReport& report, const CopyPhase& phase);

}  // namespace ww::lower
