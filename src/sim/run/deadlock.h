// SPDX-License-Identifier: Apache-2.0
// Reports a run that hangs: who waits where and for which phase, the phase's missing arrivals and
// bytes, who has supplied them before and where those threads are now. Shows threads that wait for
// each other as a cycle.
#pragma once

namespace ww::sim {

class Unit;

/// Ends the run as a deadlock: no thread of the unit can go on.
void report_deadlock(Unit& unit);

}  // namespace ww::sim
