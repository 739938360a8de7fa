// SPDX-License-Identifier: Apache-2.0
// Which tensor copy filled which part of a CTA's shared memory, and with which swizzle. A matrix
// product names the swizzle again, in the descriptor of its operand: `check_swizzle` of
// sim/ops/shared_matrix.cpp compares the two.
#pragma once

#include <cstdint>
#include <map>

#include "sim/tensor_map/map.h"

namespace ww::sim {

/// A box of a tensor, or a part of one, as it lies in shared memory without gaps.
struct CopiedTile {
  std::uint32_t from = 0, end = 0;  // offsets
  TensorSwizzle swizzle{};
  bool may_be_arranged = false;  // see `may_be_arranged`
  std::uint32_t op = 0;          // the copy
  std::uint16_t warp = 0;        // of the unit
  std::uint8_t lane = 0;
};

/// Whether the tile may be one run of bytes in global memory, because the rows of the box are
/// neighbours there. Such a tile may lie swizzled there already, and be copied without swizzle.
bool may_be_arranged(const TensorMap& map, std::uint32_t row_bytes);

/// The latest tiles; no two overlap. Knows of asynchronous writes only: FenceTracker knows whether
/// ordinary ones followed.
class CopiedTiles {
 public:
  /// A copy has landed; `tile` has at least one byte.
  void add(const CopiedTile& tile);
  /// Something else is written there: forgets the tiles that have a byte of it.
  void forget(std::uint32_t from, std::uint32_t end);
  /// The tile with that byte; nullptr: none.
  [[nodiscard]] const CopiedTile* find(std::uint32_t at) const;
  [[nodiscard]] bool empty() const { return tiles_.empty(); }
  void clear() { tiles_.clear(); }

 private:
  std::map<std::uint32_t, CopiedTile> tiles_;  // by their ends
};

}  // namespace ww::sim
