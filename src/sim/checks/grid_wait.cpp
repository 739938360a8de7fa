// SPDX-License-Identifier: Apache-2.0
#include "sim/checks/grid_wait.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/run/unit.h"

namespace ww::sim {

void note_grid_wait(Warp& warp) {
  Unit& unit = *warp.unit;
  if (unit.order == nullptr || unit.context.launch->awaits.empty()) return;
  const unsigned number = warp.unit_warp();
  Mask fresh = warp.exec;
  for (const GridWait& wait : unit.grid_waits)
    if (wait.warp == number) fresh &= ~wait.lanes;
  if (fresh != 0) unit.grid_waits.push_back({number, fresh, unit.order->now(number)});
}

void check_grid_wait(Warp& warp, const Region& region, const std::uint64_t* address, Mask lanes,
                     unsigned bytes, AccessKind kind) {
  const Unit& unit = *warp.unit;
  if (unit.order == nullptr || !warp.checks(Check::Race)) return;
  const unsigned number = warp.unit_warp();
  const auto has_waited = [&](unsigned lane) {
    return std::ranges::any_of(unit.grid_waits, [&](const GridWait& wait) {
      const unsigned other = first_lane(wait.lanes);
      return (wait.warp == number && has_lane(wait.lanes, lane)) ||
             unit.order->ordered(number, lane, wait.warp, other, wait.clock);
    });
  };
  Mask early = 0;
  for_each_lane(lanes, [&](unsigned l) {
    if (!has_waited(l)) early |= lane_bit(l);
  });
  if (early == 0 || !warp.is_new(Check::Race, kNoOp, count_lanes(early))) return;
  const unsigned lane = first_lane(early);
  warp.report_at(
      Check::Race, early, address[lane],
      fmt::format("{} {} bytes of {} at 0x{:x}, which an earlier grid may still write: no "
                  "`griddepcontrol.wait` comes before this",
                  kind == AccessKind::Read ? "reads" : "writes", bytes, region.name,
                  address[lane]));
}

}  // namespace ww::sim
