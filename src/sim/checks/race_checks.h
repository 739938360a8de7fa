// SPDX-License-Identifier: Apache-2.0
// Finds the earlier accesses (race_cell.h) that an access of a unit races with, and writes the
// findings.
#pragma once

#include <cstdint>
#include <string>

#include "sim/checks/findings.h"
#include "sim/checks/race.h"
#include "sim/checks/race_cell.h"
#include "sim/order/manner.h"

namespace ww::sim {

class Unit;
class Warp;

/// One lane's access, split into cells.
struct RaceStep {
  Warp& warp;
  const Accessor& by;
  std::uint64_t address;
  unsigned bytes;
  unsigned lane;
  Touched how;
  Manner manner;
  const StoredBytes* stored = nullptr;  // null: rewriting is a race
  const Region* region = nullptr;       // known wherever `stored` is asked
};
/// Reports what the step races with at a cell.
void check_races(const RaceStep& step, const CellUses& uses, const RaceCell& cell);

/// "4 bytes of shared memory at 0x80", "lane 3, column 0 of tensor memory".
std::string place_text(const Unit& unit, std::uint64_t address, unsigned bytes);
/// "reads", "writes", "frees".
const char* verb_of(Touched how);
/// ": both are strong, and …" where two strong accesses race all the same; else empty.
std::string why_not_strong(Agreement why, const Manner& a, const Manner& b);
/// A lane reads, through the non-coherent cache, what the kernel has written.
void report_stale(Warp& warp, unsigned lane, std::uint64_t address, unsigned bytes,
                  const Party& writer);

}  // namespace ww::sim
