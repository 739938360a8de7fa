// SPDX-License-Identifier: Apache-2.0
// Barriers. A thread that waits stays at its step; when the last one arrives all go on together.
#pragma once

#include "eval/cta/cta.h"

namespace ww::eval {

/// A barrier intrinsic. True when the threads go on at once.
bool call_barrier(Cta& cta, const ir::Expr& expr, Threads ts);

/// Threads arrive, and wait or go on. `count`: threads the barrier waits for, 0 for all of its
/// unit.
void arrive(Cta& cta, const BarrierKey& key, std::size_t count, Threads ts, bool waits);
void arrive_named(Cta& cta, std::uint32_t id, std::size_t count, Threads ts, bool waits);
/// What a thread brings to a barrier that counts, before it arrives; the count comes to `result`
/// when all are there.
void vote(Cta& cta, std::uint32_t id, Thread t, bool holds, const ir::PtxOperand& result);
/// Releases the barriers that are complete.
void check_barriers(Cta& cta);

/// What the threads did before is ordered before what they do next.
void meet(Cta& cta, Threads ts);

/// All threads that have not exited wait for the cluster.
bool waits_for_cluster(const Cta& cta);
void release_cluster(Cta& cta);

}  // namespace ww::eval
