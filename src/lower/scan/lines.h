// SPDX-License-Identifier: Apache-2.0
// What the variants of scans have in common: threads fold their runs, then lanes theirs, and what is
// before a run goes into its results. How the base of a sweep comes about is for the variant.
#pragma once

#include <functional>
#include <optional>

#include "lower/lowering_report.h"
#include "lower/reduce/parts.h"
#include "lower/scan/problem.h"

namespace ww::lower {

/// Register `slot` in these threads.
struct ThreadSlot {
  std::vector<bool> threads;
  std::int64_t slot = 0;
};
/// These threads get a value of another lane: of the one `up` lanes below, or by a formula.
struct LaneShift {
  std::vector<bool> threads;
  std::int64_t up = 0;  // 0: by formula
  ThreadFormula giver = {};
};
struct LineStep {
  std::int64_t distance = 1;  // in runs
  LaneShift shift;
};
struct LinePlan {
  std::size_t first = 0;                       // of its elements among those of all lines
  std::size_t number = 0;                      // among all lines
  bool is_everywhere = true;                   // all threads have a run
  std::vector<std::vector<ThreadSlot>> takes;  // by place in the run, of the source
  std::vector<std::vector<ThreadSlot>> puts;   // the same, of the destination
  std::vector<LineStep> steps;                 // over lanes
  std::optional<LaneShift> before;             // what the run before has then
  std::vector<bool> has_base;                  // threads whose row has sweeps before
  std::vector<bool> is_first;                  // threads whose run begins its row
};
struct ScanPlan {
  ScanProblem problem;
  std::vector<std::vector<LinePlan>> bands;
  std::size_t elements = 0, lines = 0;  // of a thread, of all bands
};

/// Which lane has what each thread wants (-1: it wants nothing).
Match<LaneShift> lane_shift(const Call& call, const std::vector<std::int64_t>& givers);
Match<ScanPlan> scan_plan(const Call& call, ScanProblem problem);
/// Does any lane read another's registers?
bool is_shuffled(const ScanPlan& plan);

/// The code.
class ScanWriter {
 public:
  ScanWriter(const ScanPlan& plan, const Call& call, CodeWriter& code);

  /// Runs and sweeps, each by itself.
  void write_sweeps();
  /// The results. `advance(band, line)` folds what is before the line's sweeps into the base; it is
  /// called for lines with something before.
  void write_results(const std::function<void(std::size_t, std::size_t)>& advance);

  [[nodiscard]] ir::ExprId thread() const { return thread_; }
  /// What a line's sweeps have folded up to the thread's run.
  ir::ExprId swept(const LinePlan& line);
  /// The same of another lane.
  ir::ExprId shifted(const LinePlan& line, const LaneShift& shift);
  /// `is_first`: there is nothing in it yet.
  void add_to_base(ir::ExprId value, bool is_first);

 private:
  ir::ExprId folded(ir::ExprId a, ir::ExprId b) { return code_.binary(p_.by, a, b); }
  ir::ExprId at(ir::BufferId buffer, std::int64_t i) { return code_.load(buffer, {code_.n(i)}); }
  ir::ExprId index(const OperandPlaces& side, ir::ExprId slot);
  ir::ExprId source(ir::ExprId slot);
  void fold_run(const LinePlan& line);
  void fold_lanes(const LinePlan& line);
  void find_before(const LinePlan& line);
  void put_first(const LinePlan& line);
  void put_rest(const LinePlan& line, bool is_first);
  void put(ir::ExprId slot, ir::ExprId value);
  ir::ExprId result(ir::ExprId element, bool is_first);
  template <typename Body>
  void in_threads(const std::vector<bool>& threads, Body&& body);

  const ScanPlan& plan_;
  const ScanProblem& p_;
  const Call& call_;
  CodeWriter& code_;
  ir::BufferId dst_, src_, parts_, swept_, base_, before_;
  ir::ExprId thread_;
};

/// What runs and sweeps cost: elements, threads, rounds, registers, instructions. Shuffles for bases are
/// the variant's.
PlanReport scan_report(const ScanPlan& plan, const Call& call, std::int64_t given);

}  // namespace ww::lower
