// SPDX-License-Identifier: Apache-2.0
// The registers of a unit's warps, seen from tensor memory. A warp reaches the 32 lanes of its
// quarter (warp % 4) and moves 32 bits at a time, so that its registers are taken word by word:
// which cell of the quarter, a lane and a 32-bit column, does each lane of each warp hold there?
// Which shape of instruction has these cells is not asked here.
#pragma once

#include <cstdint>
#include <vector>

#include "lower/operand_places.h"

namespace ww::lower {

inline constexpr std::int64_t kWarpLanes = 32;

/// Which quarter each warp of a unit reaches. Declines units that differ in it.
Match<std::vector<std::int64_t>> quarters_of(const Call& call);

/// 32 bits of a warp's quarter of tensor memory.
struct QuarterCell {
  std::int64_t lane = -1;
  std::int64_t column = 0;

  friend auto operator<=>(const QuarterCell&, const QuarterCell&) = default;
};

/// A register word of all warps: the cell of each lane. Packed are two elements of 16 bits that
/// have a column each; the cell is that of the first.
struct TensorWord {
  std::int64_t slot = 0;  // first element
  bool is_packed = false;
  std::vector<bool> used = {};                       // by warp
  std::vector<std::vector<QuarterCell>> cells = {};  // by warp and lane

  /// Does no warp move it?
  [[nodiscard]] bool is_unused() const;
};

/// The registers of a call and what they stand for.
struct TensorPair {
  const Call& call;
  const OperandPlaces& own;
  const OperandPlaces& tensor;
  const std::vector<std::int64_t>& quarters;  // that the warps of the unit reach
};

/// All words, in order of their slots. Declines words that are held in part, by part of a warp, or
/// are no cell of their warp's quarter.
Match<std::vector<TensorWord>> read_tensor_words(const TensorPair& pair);

/// For a store: what several warps hold is left to the first of them. Declines places of tensor
/// memory that no warp both reaches and has.
Match<void> drop_repeated_stores(const TensorPair& pair, std::vector<TensorWord>& words);

}  // namespace ww::lower
