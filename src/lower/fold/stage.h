// SPDX-License-Identifier: Apache-2.0
// Reductions and scans of memory or into memory, and scans into registers of other threads: copies
// move the tile into registers and back, and a fold of registers stands between them.
//
//     Tx.cta.sum(Sums[0:64], Tile[0:64, 0:128])        both in shared memory, 256 threads
//
//     Tx.cta.copy(Tile_part, Tile[0:64, 0:128])        32 lanes hold a row
//     Tx.cta.sum(Sums_part, Tile_part)
//     Tx.cta.copy(Sums[0:64], Sums_part)
//
//     Tx.cta.cumsum(B[0:64, 0:128], A[0:64, 0:128])    the same
//
//     Tx.cta.copy(A_part, A[0:64, 0:128])              each of 32 lanes holds 4 elements side by side
//     Tx.cta.cumsum(A_part, A_part)
//     Tx.cta.copy(B[0:64, 0:128], A_part)
//
// ir::memory_share and ir::scan_share say which thread holds what, because the order of a sum of
// floats depends on it.
//
// In a cluster, each CTA copies its part of the source into registers, and the CTAs together reduce
// all of it:
//
//     Tx.cluster.sum(Sums[0:4], Rows[0:4, 0:1024])     both in global memory, 4 CTAs
//
//     Tx.cta.copy(Rows_part, Rows[0:4, rank * 256 : rank * 256 + 256])
//     Tx.cluster.sum(Sums_part, Rows_parts)            the same registers, as what all CTAs hold
//     Tx.cta.copy(Sums[0:4], Sums_part, predicate=rank == 0)
//
// ir::cluster_share says which CTA holds what. All CTAs get the result: the first writes it to
// global memory, each writes it to its own shared memory.
#pragma once

#include "lower/lowered_op.h"

namespace ww::lower {

/// Nothing where both operands are in registers (of the same threads, for a scan), unless an index of
/// 64-bit elements is wanted (fold/wide_index.h).
Match<std::optional<Expansion>> staged_fold(const Call& call);

}  // namespace ww::lower
