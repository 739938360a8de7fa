// SPDX-License-Identifier: Apache-2.0
// A scan between registers as runs and sweeps (ir/scan.h): which elements a thread folds by itself, and
// which lanes go on from there. Found from the places of elements, so that two spellings of a layout are
// alike. A *row* is what is scanned: the elements that differ along the axis only.
#pragma once

#include <cstdint>
#include <vector>

#include "lower/operand_places.h"

namespace ww::lower {

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
  std::int64_t first = 0;   // element along the axis
  std::vector<std::int64_t> slots = {};
};
/// Runs that threads scan at once, by thread of the unit.
using ScanLine = std::vector<ScanRun>;
/// Rows that threads scan at once: the k-th line has the k-th sweep of the row in the warp.
struct ScanBand {
  std::vector<ScanLine> lines;
  std::vector<std::vector<std::size_t>> sweeps;  // of the thread's row, by thread; indices
};
/// Element `place` of a run.
struct ScanPlace {
  std::size_t band = 0, line = 0, place = 0;
  friend bool operator==(const ScanPlace&, const ScanPlace&) = default;
};
/// A register of a thread that gets a result.
struct ScanResult {
  ScanPlace of;
  std::int64_t slot = 0, thread = 0;
};

struct ScanProblem {
  num::DType type = num::DType::Float32;  // in which it folds
  ir::ExprOp by = ir::ExprOp::Add;
  bool is_exclusive = false;
  std::int64_t threads = 1;  // of the unit
  std::int64_t rows = 0, length = 0;
  OperandPlaces dst, src;
  std::vector<ScanSweep> sweeps;
  std::vector<ScanBand> bands;
  std::vector<ScanResult> results;  // by place and slot
  std::int64_t most_sweeps = 1;     // of a row
};

/// Does every thread that holds an element of the destination hold that of the source?
bool are_results_at_home(const OperandPlaces& dst, const OperandPlaces& src, std::int64_t threads);

/// Declines what is not in registers, results for threads that do not hold the element, and copies of
/// elements that are scanned in another order than the first ones.
Match<ScanProblem> scan_problem(const Call& call);

}  // namespace ww::lower
