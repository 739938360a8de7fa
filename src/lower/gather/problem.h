// SPDX-License-Identifier: Apache-2.0
// A gather or scatter (ir/indexed.h) as work: which thread moves which elements of the tile, in
// vectors of how many, and where it finds their indices and their place in a row of the table.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/indexed.h"
#include "lower/elementwise/work.h"

namespace ww::lower {

/// How far a row of the table is from the first one, in elements.
struct RowOffset {
  std::int64_t pitch = 0;                         // one for all rows, known now
  ir::ExprId stride = {};                         // one for all rows, known at launch only
  std::optional<layout::TileLayout> digits = {};  // otherwise by the digits of the row's number
  std::int64_t divisor = 0;                       // of all of them; 0: there is one row
};

/// Sides of the work: as ElementwiseProblem::sides.
inline constexpr std::size_t kTileSide = 0, kRowSide = 1, kIndexSide = 2;

struct IndexedProblem {
  ir::IndexedShape shape;
  RowOffset offset;
  ir::ExprId rows;      // of the table
  OperandPlaces index;  // as it is given, not stretched
  /// The tile; the first row of the table and the index, stretched to the tile.
  ElementwiseProblem sides;
  std::vector<Work> works;
  bool is_staged = false;  // the index goes through scratch memory: others hold it than need it
  std::int64_t piece = 0;  // elements of scratch memory of a unit

  [[nodiscard]] const OperandPlaces& tile() const { return sides.dst; }
  [[nodiscard]] const OperandPlaces& row() const { return *sides.sources[0].side; }
};

/// Declines tables that are not in memory, elements smaller than a byte, rows that no formula
/// places, operands that overlap, and threads that hold neither tile nor index as needed.
Match<IndexedProblem> indexed_problem(const Call& call);

/// Scratch memory that has the indices one after the other; the buffer and the start of the unit come
/// when code is written.
OperandPlaces index_in_scratch(const IndexedProblem& problem);

/// Do all elements that a thread moves at a time go by one index?
bool has_one_index(const Work& work);

}  // namespace ww::lower
