// SPDX-License-Identifier: Apache-2.0
// Barriers. A thread that waits stays at its step; when the last one arrives all go on together.
#pragma once

#include <string>

#include "eval/cta/cta.h"

namespace ww::eval {

/// The mbarrier at an address, of the own or of another CTA; null, and a finding, when none is
/// initialised there, or that CTA has ended.
Mbarrier* find_mbarrier(Cta& cta, Address at, Thread t);
void init_mbarrier(Cta& cta, Address at, std::uint32_t count, Thread t);
/// `is_release`: what the thread did before is ordered before what those do who wait for the phase.
void arrive_mbarrier(Cta& cta, Address at, std::uint32_t count, Thread t, bool is_release = true);
/// Of the CTA that has the mbarrier.
void arrive_mbarrier(Cta& home, Mbarrier& barrier, std::uint32_t count);
/// The phase waits for so many bytes more; below 0: so many have come.
void expect_bytes(Cta& cta, Address at, std::int64_t bytes, Thread t);
void count_bytes(Cta& cta, Mbarrier& barrier, std::int64_t bytes);
/// "2 arrivals and 4096 bytes are missing"; empty where nothing is.
std::string missing_text(const Mbarrier& barrier);
/// Whether the phase of that parity is complete; then its arrivals are ordered before what the
/// thread does next. True if there is no mbarrier.
bool test_mbarrier(Cta& cta, Address at, std::uint32_t parity, Thread t);
/// The intrinsic: threads stay at their step until it is.
void wait_mbarrier(Cta& cta, const ir::Expr& expr, Threads ts);

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
