// SPDX-License-Identifier: Apache-2.0
// Dependent grids. A kernel that is launched as a programmatic dependent may start before an earlier grid
// has ended; it sees that grid's writes only after `griddepcontrol.wait`. The launch names the
// memory (Launch::awaits), or has a history of earlier launches' accesses (grid_history.h). An
// access to it is fine if its thread has waited, or if a wait by another thread is ordered before
// it.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/lanes.h"
#include "sim/memory/access_kind.h"

namespace ww::sim {

class Warp;
struct Region;

/// A `griddepcontrol.wait`, the first of these lanes.
struct GridWait {
  unsigned warp = 0;  // of the unit
  Mask lanes = 0;
  std::uint32_t clock = 0;  // of the warp then
};

/// Notes that the executing lanes have waited.
void note_grid_wait(Warp& warp);
/// Reports lanes that touch memory which an earlier grid may still write.
void check_grid_wait(Warp& warp, const Region& region, const std::uint64_t* address, Mask lanes,
                     unsigned bytes, AccessKind kind);
/// The same for bytes that an earlier launch of the history uses; notes the access in it.
void check_grids(Warp& warp, const Region& region, const std::uint64_t* address, Mask lanes,
                 unsigned bytes, AccessKind kind);

}  // namespace ww::sim
