// SPDX-License-Identifier: Apache-2.0
// Reductions of a cluster of memory, and into it: each CTA copies its part of the source into registers,
// and what is between is a reduction of registers that all CTAs hold together.
//
//     Tx.cluster.sum(Sums[0:4], Rows[0:4, 0:1024])     both in global memory, 4 CTAs
//
//     Tx.cta.copy(Rows_part, Rows[0:4, rank * 256 : rank * 256 + 256])
//     Tx.cluster.sum(Sums_part, Rows_parts)            the same registers, as what all CTAs hold
//     Tx.cta.copy(Sums[0:4], Sums_part, predicate=rank == 0)
//
// Who holds what says ir::cluster_share. All CTAs get the result: the first writes it to global memory,
// each to its own shared memory.
#pragma once

#include <vector>

#include "lower/lowered_op.h"

namespace ww::lower {

/// Of a call of which an operand is in memory; `extents` of its source.
Match<Expansion> staged_cluster_reduction(const Call& call, std::vector<std::int64_t> extents);

}  // namespace ww::lower
