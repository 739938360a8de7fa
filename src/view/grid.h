// SPDX-License-Identifier: Apache-2.0
// How to draw the elements of a shape: a two-dimensional shape is one grid; a one-dimensional shape
// is wrapped into rows; from three dimensions on, the last two make a grid and the others count
// *slabs*. Elements of a slab are consecutive in flat order, rows too. Or they lie where a memory
// has them (view/grid.h).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "layout/layout.h"
#include "view/layout_view.h"

namespace ww::view {

struct Grid {
  std::int64_t rows = 1;
  std::int64_t cols = 1;
  std::int64_t slabs = 1;
  std::int64_t size = 1;     // elements in all
  bool is_wrapped = false;   // one dimension cut into several rows; the last may be short
  layout::Shape slab_shape;  // the leading dimensions; empty when there is one slab

  // Where elements are not in flat order:
  std::vector<std::int64_t> cells = {};  // row by row the element, kHole for none
  std::int64_t first_row = 0, first_col = 0;
  std::string note = {};  // for people: what rows and columns are

  static constexpr std::int64_t kHole = -1;

  /// Flat index of a cell; nothing past the end of a wrapped row, and in a hole.
  [[nodiscard]] std::optional<std::int64_t> element(std::int64_t slab, std::int64_t row,
                                                    std::int64_t col) const;
  /// Headings: the coordinate, or for a wrapped row its first index and "+1", "+2" …
  [[nodiscard]] std::string row_name(std::int64_t row) const;
  [[nodiscard]] std::string col_name(std::int64_t col) const;
  /// "[1,0,:,:]"; empty when there are no leading dimensions.
  [[nodiscard]] std::string slab_name(std::int64_t slab) const;
};

/// The grid of a shape; a one-dimensional shape is wrapped after `wrap` (≥ 1) elements.
Grid make_grid(std::span<const std::int64_t> shape, std::int64_t wrap);

// --- memory grid ---------------------------------------------------------------------------------
//
// The elements of a tile by where they are in tensor memory rather than by their coordinates: a row
// per lane, a column per column. A view of the registers of the same tile drawn there says which
// thread holds what lies in lane L, column C.

/// More cells are refused.
inline constexpr std::int64_t kMaxMemoryCells = std::int64_t{1} << 20;

/// The grid of the lanes and columns in use, with holes where no element is; replicas are in every
/// cell they are at. Refuses a view that is not of tensor memory (BadArgument), two elements in one
/// cell (NotInjective) and more than kMaxMemoryCells (TooLarge).
Result<Grid> memory_grid(const LayoutView& places);

}  // namespace ww::view
