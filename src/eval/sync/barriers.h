// SPDX-License-Identifier: Apache-2.0
// Barriers. A thread that waits stays at its step; when the last one arrives all go on together.
#pragma once

#include "eval/cta/cta.h"

namespace ww::eval {

/// A barrier intrinsic. True if the threads continue at once.
bool call_barrier(Cta& cta, const ir::Expr& expr, Threads ts);

/// Threads arrive, and wait or go on. `count`: threads the barrier waits for, 0 for all of its
/// unit.
void arrive(Cta& cta, const BarrierKey& key, std::size_t count, Threads ts, bool waits);
void arrive_named(Cta& cta, std::uint32_t id, std::size_t count, Threads ts, bool waits);
/// The value that a thread passes to a counting barrier before it arrives; `result` gets the count
/// when all have arrived.
void vote(Cta& cta, std::uint32_t id, Thread t, bool holds, const ir::PtxOperand& result);
/// Releases the barriers that are complete.
void check_barriers(Cta& cta);

/// Orders the threads' earlier accesses before their later ones.
void meet(Cta& cta, Threads ts);

/// All threads that have not exited wait for the cluster.
bool waits_for_cluster(const Cta& cta);
/// Lets them go on; false where that orders nothing.
bool release_cluster(Cta& cta);
/// The two halves of the barrier: threads that have arrived go on, and wait later.
void arrive_cluster(Cta& cta, Threads ts, bool is_relaxed);
void wait_cluster(Cta& cta, Threads ts);
/// The threads wait until all CTAs of the cluster have come to the same primitive.
void await_cluster(Cta& cta, Threads ts);
/// Lets them go on from there; nothing is ordered by it.
void pass_cluster(Cta& cta);
/// The step at which the CTA waits for its cluster; kNoStep: it does not.
inline constexpr std::uint32_t kNoStep = ~std::uint32_t{0};
std::uint32_t cluster_step(const Cta& cta);

}  // namespace ww::eval
