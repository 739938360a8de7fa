// SPDX-License-Identifier: Apache-2.0
// What the variants of scans share: threads fold their runs, then lanes theirs, and what is before
// a run goes into its results (ir/scan.h defines runs and sweeps). Each variant computes the base of
// its sweeps. Plans follow from the places of elements, so two spellings of a layout get the same
// code.
#pragma once

#include <array>
#include <functional>

#include "lower/fold/fold.h"

namespace ww::lower {

inline constexpr std::array kScans = {ir::TileOp::Cumsum, ir::TileOp::Cumprod, ir::TileOp::Cummax,
                                      ir::TileOp::Cummin};

/// Runs of one row in the lanes of a warp.
struct ScanSweep {
  std::int64_t row = 0, number = 0;   // in its row
  std::int64_t in_warp = 0;           // of the sweeps of its row that its warp has
  bool counts = true;                 // its threads are the first that hold the elements
  std::vector<std::int64_t> threads;  // of the runs
};
/// Elements in a row that a thread holds.
struct ScanRun {
  std::int64_t sweep = -1;  // index; -1: the thread has no such run
  std::int64_t place = 0;   // in the sweep
  bool begins_row = false;
  std::vector<std::int64_t> slots = {};
};
/// Runs that threads scan at once.
struct ScanLine {
  std::vector<ScanRun> runs;            // by thread of the unit
  std::size_t first = 0;                // of its elements among those of all lines
  std::int64_t number = 0;              // among all lines
  bool is_everywhere = true;            // all threads have a run
  SlotTable takes = {};                 // by place in the run, of the source
  SlotTable puts = {};                  // the same, of the destination
  std::vector<LaneRead> steps = {};     // over 1, 2, 4, … lanes
  std::optional<LaneRead> before = {};  // what the run before has then
  std::vector<bool> has_base = {},
                    is_first = {};  // threads whose row has sweeps before; whose run begins it
};
/// Rows that threads scan at once: the k-th line has the k-th sweep of the row in the warp.
struct ScanBand {
  std::vector<ScanLine> lines;
  std::vector<std::vector<std::size_t>> sweeps;  // of the thread's row, by thread; indices
};
/// Register `slot` of a thread gets the result of element `place` of a run.
struct ScanResult {
  std::size_t band = 0, line = 0, place = 0;
  std::int64_t slot = 0, thread = 0;
};

struct ScanPlan {
  Fold fold;
  std::int64_t rows = 0;
  std::int64_t most_sweeps = 1;  // of a row
  std::vector<ScanSweep> sweeps = {};
  std::vector<ScanBand> bands = {};
  std::vector<ScanResult> results = {};  // by place and slot
  std::size_t elements = 0;              // of a thread
  std::int64_t lines = 0;                // of all bands

  /// Does any lane read another's registers?
  [[nodiscard]] bool is_shuffled() const;
  /// Is there more than what threads fold by themselves?
  [[nodiscard]] bool has_sweeps() const { return is_shuffled() || most_sweeps > 1; }
};

/// Does every thread that holds an element of the destination hold that of the source?
bool are_results_at_home(const OperandPlaces& dst, const OperandPlaces& src, std::int64_t threads);

/// The runs alone. Declines what is not in registers, results for threads that do not hold the
/// element, and copies of elements that are scanned in another order than the first ones.
Match<ScanPlan> scan_rows(const Call& call);
/// The rest.
Match<void> plan_lines(const Call& call, ScanPlan& plan);
/// By thread, which thread it reads from; -1: none.
Match<LaneRead> lane_read(const Call& call, const std::vector<std::int64_t>& givers);

class ScanWriter : public FoldWriter {
 public:
  ScanWriter(const ScanPlan& plan, const Call& call, CodeWriter& code)
      : FoldWriter(plan.fold, call, code, plan.elements), plan_(plan) {}

  /// Runs and sweeps, each by itself.
  void write_sweeps();
  /// The results. `advance(band, line)` folds what is before the line's sweeps into the base; lines
  /// with nothing before do not call it.
  void write_results(const std::function<void(std::size_t, std::size_t)>& advance);

  /// What a line's sweeps have folded up to the thread's run.
  ir::ExprId swept(const ScanLine& line) { return at(swept_, line.number); }
  /// `is_first`: there is nothing in it yet.
  void add_to_base(ir::ExprId value, bool is_first);

 private:
  void fold_run(const ScanLine& line);
  void fold_lanes(const ScanLine& line);
  void find_before(const ScanLine& line);
  void put_first(const ScanLine& line);
  void put_rest(const ScanLine& line, bool is_first);
  ir::ExprId result(ir::ExprId element, bool is_first);

  const ScanPlan& plan_;
  ir::BufferId swept_, base_, before_;
};

/// What runs and sweeps cost. Variants add the shuffles that compute bases.
PlanReport scan_report(const ScanPlan& plan, const Call& call, std::int64_t given);

}  // namespace ww::lower
