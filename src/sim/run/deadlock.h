// SPDX-License-Identifier: Apache-2.0
// What a run that hangs says: who waits where and for which phase, what the phase lacks, who has
// supplied it before and where those threads are now. Threads that wait for each other are shown as a
// cycle.
#pragma once

namespace ww::sim {

class Unit;

/// Ends the run as a deadlock: no thread of the unit can go on.
void report_deadlock(Unit& unit);

}  // namespace ww::sim
