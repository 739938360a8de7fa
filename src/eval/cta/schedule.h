// SPDX-License-Identifier: Apache-2.0
// Chooses the next group: the one furthest behind goes first.
#pragma once

#include "eval/cta/cta.h"

namespace ww::eval {

/// Runs until no thread can go on without the other CTAs, or the run stops.
void advance(Cta& cta);
inline bool is_done(const Cta& cta) { return cta.alive == 0; }
/// Has a thread that does not wait.
bool can_run(const Cta& cta);

/// The threads stand at the next step.
void go_on(Cta& cta, Threads ts);
void end_threads(Cta& cta, Threads ts);
/// Threads that wait at an mbarrier look at it again.
void wake_mbarrier_waiters(Cta& cta);

}  // namespace ww::eval
