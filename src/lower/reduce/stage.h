// SPDX-License-Identifier: Apache-2.0
// Reductions of memory, and into it: the tile goes into registers and comes from them by copies, and
// what is between is a reduction of registers.
//
//     Tx.cta.sum(Sums[0:64], Tile[0:64, 0:128])        both in shared memory, 256 threads
//
//     Tx.cta.copy(Tile_part, Tile[0:64, 0:128])        32 lanes hold a row
//     Tx.cta.sum(Sums_part, Tile_part)
//     Tx.cta.copy(Sums[0:64], Sums_part)
//
// Who holds what says ir::memory_share, because the order of a sum of floats depends on it.
#pragma once

#include "lower/lowered_op.h"

namespace ww::lower {

/// Nothing where both operands are in registers, but for indices of elements of 64 bits
/// (reduce/wide_index.h).
Match<std::optional<Expansion>> staged_reduction(const Call& call);

}  // namespace ww::lower
