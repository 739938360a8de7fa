// SPDX-License-Identifier: Apache-2.0
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

}  // namespace ww::eval
