// SPDX-License-Identifier: Apache-2.0
// Loops over `T.vectorized`: accesses of several rounds that lie side by side become one.
#pragma once

#include "lower/call.h"
#include "lower/lowering_report.h"

namespace ww::lower {

/// Rewrites the Vectorized loops of a flat program (lower/flatten.h) and adds to `report` what
/// became of each. The statements of the body follow each other as before, each for all rounds at
/// once: loads and stores whose indices count with the rounds take 16 bytes or as much as they are
/// known to be aligned to, everything else is done round by round.
///
///     for v in T.vectorized(4): B[i * 4 + v] = A[i * 4 + v] * 2.0            float32
///
///     T.cuda.copy_bytes(&A_lanes[0], &A[i * 4], 16)                           in registers
///     B_lanes[0], … = A_lanes[0] * 2.0, …
///     T.cuda.copy_bytes(&B[i * 4], &B_lanes[0], 16)
///
/// A loop in which this would change what is computed (a round uses what another one writes), or
/// that has other statements than stores and names, becomes an Unroll loop, with the reason.
void vectorize_loops(Context& context, LoweringReport& report);

}  // namespace ww::lower
