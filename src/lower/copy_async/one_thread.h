// SPDX-License-Identifier: Apache-2.0
// Copies that one thread starts and an engine of the SM carries out.
#pragma once

#include "lower/call.h"
#include "lower/lowering_report.h"

namespace ww::lower {

/// Declines other scopes than that of a thread, and calls that several threads come to together:
/// each would start the copy. False: it cannot be seen here that only one comes, and the report says
/// so.
Match<bool> check_one_thread(const Call& call);
/// Which threads may come to the call, of which one must: for the report, where it answers false.
void note_one_thread(PlanReport& report, const Call& call);

/// Of a copy between global and shared memory: whether it is into shared memory. Declines others
/// (`memory_pair`).
Match<bool> loads_by_engine(const Call& call);
/// Declines a load without an mbarrier to tell, and a store with one (`mbarrier`).
Match<void> check_engine_mbarrier(const Call& call, bool is_load);

}  // namespace ww::lower
