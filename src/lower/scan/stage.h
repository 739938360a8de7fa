// SPDX-License-Identifier: Apache-2.0
// Scans of memory, into it, and into registers of other threads: the tile goes into registers and comes
// from them by copies, and what is between is a scan of registers.
//
//     Tx.cta.cumsum(B[0:64, 0:128], A[0:64, 0:128])    both in shared memory, 256 threads
//
//     Tx.cta.copy(A_part, A[0:64, 0:128])              32 lanes hold a row, each 4 elements side by side
//     Tx.cta.cumsum(A_part, A_part)
//     Tx.cta.copy(B[0:64, 0:128], A_part)
//
// Who holds what says ir::scan_share, because the order of a sum of floats depends on it.
#pragma once

#include "lower/lowered_op.h"

namespace ww::lower {

/// Nothing where both operands are in registers of the same threads.
Match<std::optional<Expansion>> staged_scan(const Call& call);

}  // namespace ww::lower
