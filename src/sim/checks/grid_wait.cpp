// SPDX-License-Identifier: Apache-2.0
#include "sim/checks/grid_wait.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "sim/checks/grid_history.h"
#include "sim/run/unit.h"

namespace ww::sim {
namespace {

bool has_waited(const Warp& warp, unsigned lane) {
  const Unit& unit = *warp.unit;
  const unsigned number = warp.unit_warp();
  return std::ranges::any_of(unit.grid_waits, [&](const GridWait& wait) {
    const unsigned other = first_lane(wait.lanes);
    return (wait.warp == number && has_lane(wait.lanes, lane)) ||
           unit.order->ordered(number, lane, wait.warp, other, wait.clock);
  });
}

void report_early(Warp& warp, const Region& region, std::uint64_t address, Mask early,
                  unsigned bytes, AccessKind kind, std::string_view why) {
  if (!warp.is_new(Check::Race, kNoOp, count_lanes(early))) return;
  warp.report_at(
      Check::Race, early, address,
      fmt::format("{} {} bytes of {} at 0x{:x}, which {}",
                  kind == AccessKind::Read ? "reads" : "writes", bytes, region.name, address, why));
}

std::string early_text(const GridHistory& history, const GridHistory::Conflict& with,
                       bool is_behind_wait) {
  const std::string may =
      fmt::format("launch {} (`{}`) may still {}", with.launch, history.launch(with.launch).kernel,
                  with.writes ? "write" : "read");
  if (!is_behind_wait) return may + ": no `griddepcontrol.wait` comes before this";
  const std::size_t between = history.after_wait().last + 1;
  return fmt::format(
      "{}: the wait before this is for launch {} (`{}`), which may end sooner, as none of its "
      "threads executes `griddepcontrol.wait`",
      may, between, history.launch(between).kernel);
}

}  // namespace

void note_grid_wait(Warp& warp) {
  Unit& unit = *warp.unit;
  const Launch& launch = *unit.context.launch;
  if (launch.history != nullptr) launch.history->note_wait();
  if (unit.order == nullptr || (launch.awaits.empty() && launch.history == nullptr)) return;
  const unsigned number = warp.unit_warp();
  Mask fresh = warp.exec;
  for (const GridWait& wait : unit.grid_waits)
    if (wait.warp == number) fresh &= ~wait.lanes;
  if (fresh != 0) unit.grid_waits.push_back({number, fresh, unit.order->now(number)});
}

void check_grid_wait(Warp& warp, const Region& region, const std::uint64_t* address, Mask lanes,
                     unsigned bytes, AccessKind kind) {
  if (warp.unit->order == nullptr || !warp.checks(Check::Race)) return;
  Mask early = 0;
  for_each_lane(lanes, [&](unsigned l) {
    if (!has_waited(warp, l)) early |= lane_bit(l);
  });
  if (early == 0) return;
  report_early(warp, region, address[first_lane(early)], early, bytes, kind,
               "an earlier grid may still write: no `griddepcontrol.wait` comes before this");
}

void check_grids(Warp& warp, const Region& region, const std::uint64_t* address, Mask lanes,
                 unsigned bytes, AccessKind kind) {
  const GridHistory& history = *warp.unit->context.launch->history;
  const bool is_checked = warp.unit->order != nullptr && warp.checks(Check::Race);
  const GridHistory::Running before = history.before_wait(), after = history.after_wait();
  Mask early = 0;
  std::optional<GridHistory::Conflict> met;
  bool is_behind_wait = false;
  for_each_lane(lanes, [&](unsigned l) {
    const std::uint64_t at = address[l] - region.base;
    if (is_checked && before.first <= before.last) {
      const bool waited = has_waited(warp, l);
      const auto conflict =
          GridHistory::conflict(*region.grids, at, bytes, kind, waited ? after : before);
      if (conflict) early |= lane_bit(l);
      if (conflict && !met) {
        met = conflict;
        is_behind_wait = waited;
      }
    }
    history.note(*region.grids, at, bytes, kind);
  });
  if (met)
    report_early(warp, region, address[first_lane(early)], early, bytes, kind,
                 early_text(history, *met, is_behind_wait));
}

}  // namespace ww::sim
