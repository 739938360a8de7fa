// SPDX-License-Identifier: Apache-2.0
// `gather`, `scatter` and `scatter_add`: elements of a tile and of a *table*, one of whose axes is
// indexed by run-time numbers. Their meaning, for axis 0 of two:
//
//     gather        dst[i, j] = src[index[i], j]
//     scatter       dst[index[i], j] = src[i, j]
//     scatter_add   dst[index[i], j] += src[i, j]
//
// or index[i, j] in the place of index[i], where the index has the shape of the tile. The table is
// `src` of a gather and `dst` of the others. Indices count from the start of its region. One that is
// negative, or not less than the region's extent, is an error; with `fill_value=v` a gather takes v
// instead, with `clip=True` a scatter leaves the element out.
//
// Two elements of a `scatter` that go to the same place are a race. `scatter_add` adds all of them,
// in no given order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ir/function.h"

namespace ww::ir {

bool is_indexed(TileOp op);

inline constexpr std::size_t kIndexArgument = 2, kAxisArgument = 3;
/// The arguments of the two sides.
std::size_t table_argument(TileOp op);
std::size_t tile_argument(TileOp op);

/// The dimension of the table that is indexed; the verifier has seen that it exists.
std::size_t indexed_axis(const TileCall& call);

/// The value for indices out of range, or nullptr.
const Setting* indexed_fill(const TileCall& call);
/// Are indices out of range left out or filled, not errors?
bool takes_any_index(const TileCall& call);

/// The elements of the tile, row-major: number x has the digits (o, i, q) in (outer, count, inner).
/// A *row* is what one index names: o and q of the table, row-major too.
struct IndexedShape {
  std::int64_t outer = 1;
  std::int64_t count = 1;
  std::int64_t inner = 1;
  bool has_one_each = false;  // an index for each element of the tile, not for each i

  [[nodiscard]] std::int64_t elements() const { return outer * count * inner; }
  [[nodiscard]] std::int64_t row_elements() const { return outer * inner; }
  [[nodiscard]] std::int64_t indices() const { return has_one_each ? elements() : count; }
  /// The index that decides for element x of the tile.
  [[nodiscard]] std::int64_t index_of(std::int64_t x) const {
    return has_one_each ? x : x / inner % count;
  }
  /// Where it is in the row.
  [[nodiscard]] std::int64_t in_row(std::int64_t x) const {
    return x / (inner * count) * inner + x % inner;
  }
};
/// Of a table with these extents along its dimensions, and that many elements of the other two.
IndexedShape indexed_shape(const std::vector<std::int64_t>& table, std::size_t axis,
                           std::int64_t tile_elements, std::int64_t indices);

}  // namespace ww::ir
