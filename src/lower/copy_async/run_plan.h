// SPDX-License-Identifier: Apache-2.0
// A copy between memories as runs of contiguous bytes: elements that follow each other on both sides
// move in one instruction. All instructions of a plan move equally many bytes, so that a formula of
// the instruction's number gives both addresses.
//
//     tile[0:8, 0:64]         row-major, float16
//     A[m:m + 8, 0:64]        rows of 64: one run of 1024 bytes; rows of 100: 8 runs of 128 bytes
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "layout/layout.h"
#include "lower/copy/problem.h"
#include "lower/lowering_report.h"

namespace ww::lower {

inline constexpr std::int64_t kRunUnit =
    16;  // bytes, of which a run and both its starts are multiples

/// Where instruction k begins on one side: base + place(k) + Σ stride·coefs(k), in elements.
struct RunSide {
  layout::TileLayout place = {};
  struct Strided {
    ir::ExprId stride = {};
    layout::TileLayout coef = {};
  };
  std::vector<Strided> strides = {};  // known at launch only
};

struct RunPlan {
  std::int64_t bytes = 0;  // of an instruction
  std::int64_t count = 1;  // of instructions
  RunSide dst = {}, src = {};
};

/// A copy in runs by the copy engine.
struct RunCopy {
  std::shared_ptr<const CopyProblem> problem;
  bool is_one_thread = true;  // provably
  RunPlan runs;
};

/// Declines other scopes than thread, conditions, edges, replicas of the destination, swizzles that
/// the two sides do not share, and runs that do not begin at and consist of whole units of 16 bytes,
/// with the numbers.
Match<RunCopy> plan_runs(const Call& call);

/// The element of a side at which instruction k begins.
ir::ExprId run_start(CodeWriter& code, const OperandPlaces& side, const RunSide& run, ir::ExprId k);

/// Calls `issue(k)` for each instruction: one after the other, or in a loop where there are many.
template <typename Issue>
void for_each_run(CodeWriter& code, const RunPlan& plan, Issue&& issue) {
  constexpr std::int64_t kMaxUnrolled = 32;
  if (plan.count > kMaxUnrolled)
    return code.loop("run", plan.count, ir::LoopKind::Serial, std::forward<Issue>(issue));
  for (std::int64_t k = 0; k < plan.count; ++k) issue(code.n(k));
}

/// The report of such a copy, "8 runs of 128 bytes {how}".
PlanReport runs_report(const RunCopy& copy, const Call& call, std::string_view opcode,
                       std::string_view how, std::string note);

}  // namespace ww::lower
