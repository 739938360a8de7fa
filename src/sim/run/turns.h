// SPDX-License-Identifier: Apache-2.0
// Which warps of a unit run, how far, and in which order: what a Schedule (schedule.h) asks for.
#pragma once

#include <cstdint>
#include <vector>

namespace ww::sim {

class Unit;

/// Of a unit whose warps have ranks: those that wait for others of a higher rank run when these
/// cannot, and now and then when these only spin.
struct Ranks {
  std::uint64_t passed_over = 0;       // rounds that lower ranks have waited in vain
  std::uint64_t activity = 0;          // of the unit, at the last of them
  std::uint32_t lowest = 0;            // the rank that a warp gets that loses its own
  std::vector<std::uint64_t> changes;  // executed instructions at which one does, the next one last
};

/// Draws or sets the ranks of the unit's warps, and the order of their turns.
void start_turns(Unit& unit);
/// A round: each warp that can run has a turn, of a high rank at least. Whether any did something.
bool run_warps(Unit& unit);

}  // namespace ww::sim
