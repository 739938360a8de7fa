// SPDX-License-Identifier: Apache-2.0
// A layout as a text grid for a terminal: facts on top, logical coordinates along the edges, the
// place of each element in the cells (spelling: view/paint.h). A shared-memory layout gets two
// grids, addresses and then line:bank. If it does not fit, the middle is omitted, marked `…` and
// counted at the end; `…` alone marks rows of a memory without elements.
//
//   S[(8,4,2):(4@laneid,1@laneid,1)]
//   shape (8,8), 64 elements; laneid 0..31, m 0..1
//   injective; 64 places fill their box
//   cells: T laneid, r register (m)
//
//              0       1       2  …
//   0      T0 r0   T0 r1   T1 r0  …
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "view/layout_view.h"

namespace ww::view {

struct TableOptions {
  std::int64_t width = 160;  // characters per line; at least two columns are shown whatever it says
  std::int64_t max_rows = 64;     // rows per slab
  std::int64_t max_slabs = 8;     // grids of a shape with more than two dimensions
  std::optional<Grid> grid = {};  // where the elements lie; else by the view's shape
};

/// The table, one line break after every line. Copies of an element are named once above the grid
/// when they lie alike for all elements, and otherwise listed in the cell: `{0,8}`.
std::string to_table(const LayoutView& view, const TableOptions& options = {});

// --- sentences -----------------------------------------------------------------------------------
//
// The sentences above a picture: size, ranges, injectivity, coverage, replicas.

/// "shape (8,8), 64 elements; laneid 0..31, m 0..1". An axis that skips values says how many it
/// takes.
std::string size_sentence(const LayoutView& view);
/// "injective; 64 places fill their box", or the two elements that share a place, and the share of
/// the box that is covered.
std::string image_sentence(const LayoutView& view);
/// "each element is held at 2 places: the one shown and +4@warpid"; empty without replicas.
std::string replica_sentence(const LayoutView& view);

/// How the copies of an element lie relative to its first place (without that first one), if this
/// is the same for all elements. Only a swizzle or an inverted order can make it differ.
std::optional<std::vector<PlaceValues>> replica_steps(const LayoutView& view);

}  // namespace ww::view
