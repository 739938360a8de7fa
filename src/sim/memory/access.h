// SPDX-License-Identifier: Apache-2.0
// From a lane's address to its bytes, with the checks for them.
#pragma once

#include <cstdint>

#include "sim/checks/grid_wait.h"
#include "sim/memory/access_kind.h"
#include "sim/run/warp.h"

namespace ww::sim {

/// Where what addresses of variables are relative to begins in its state space.
[[nodiscard]] std::uint64_t start_of(const Warp& warp, AddressOrigin origin);
/// Generic addresses of the operand in all lanes.
void lane_addresses(const Warp& warp, const Address& address, std::uint64_t* out);

/// The region of the first lane's address. `group` gets the lanes whose bytes are in it, and `who`
/// loses them; null: that lane's address was bad, which is reported, and `who` loses only it.
Region* resolve(Warp& warp, const std::uint64_t* address, Mask& who, unsigned bytes,
                AccessKind kind, Space space, Mask& group);
/// Notes the access for the watch on conflicts between units.
void note_conflicts(Warp& warp, const Region& region, const std::uint64_t* address, Mask lanes,
                    unsigned bytes, AccessKind kind);

/// Calls visit(Region&, Mask) for the lanes of each region; lanes whose address is bad are reported
/// and left out. `space` is what the instruction names.
template <typename Visit>
void visit_regions(Warp& warp, const std::uint64_t* address, Mask who, unsigned bytes,
                   AccessKind kind, Space space, Visit&& visit) {
  while (who != 0) {
    Mask group = 0;
    Region* region = resolve(warp, address, who, bytes, kind, space, group);
    if (region == nullptr) continue;
    if (region->owners != nullptr) note_conflicts(warp, *region, address, group, bytes, kind);
    if (region->is_awaited) check_grid_wait(warp, *region, address, group, bytes, kind);
    if (region->grids != nullptr) check_grids(warp, *region, address, group, bytes, kind);
    visit(*region, group);
  }
}

}  // namespace ww::sim
