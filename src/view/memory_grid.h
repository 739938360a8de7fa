// SPDX-License-Identifier: Apache-2.0
// The elements of a tile by where they are in tensor memory rather than by their coordinates: a row
// per lane, a column per column. A view of the registers of the same tile drawn there says which
// thread holds what lies in lane L, column C.
#pragma once

#include "base/result.h"
#include "view/grid.h"
#include "view/layout_view.h"

namespace ww::view {

/// More cells are refused.
inline constexpr std::int64_t kMaxMemoryCells = std::int64_t{1} << 20;

/// The grid of the lanes and columns in use, with holes where no element is; replicas are in every
/// cell they are at. Refuses a view that is not of tensor memory (BadArgument), two elements in one
/// cell (NotInjective) and more than kMaxMemoryCells (TooLarge).
Result<Grid> memory_grid(const LayoutView& places);

}  // namespace ww::view
