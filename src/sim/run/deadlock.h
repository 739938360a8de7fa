// SPDX-License-Identifier: Apache-2.0
// Reports a run that hangs: who waits where and for which phase, the phase's missing arrivals and
// bytes, who has supplied them before and where those threads are now. Shows threads that wait for
// each other as a cycle. Of threads that spin it says what they read, and who wrote that last.
#pragma once

#include <cstdint>
#include <span>

namespace ww::sim {

class Unit;

/// Ends the run as a deadlock: no thread of the unit can go on.
void report_deadlock(Unit& unit);
/// Says where the threads are of a run that a limit has ended, and whether any can go on: in the reason
/// and, where none can, in a finding of the first unit. `blocks_left` could still begin.
void report_hang(std::span<Unit* const> units, std::uint64_t blocks_left);

}  // namespace ww::sim
