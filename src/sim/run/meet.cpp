// SPDX-License-Identifier: Apache-2.0
#include "sim/run/meet.h"

#include <fmt/format.h>

#include "sim/run/unit.h"
#include "sim/run/warp.h"

namespace ww::sim {
namespace {

// Where the absent lanes are, in words.
std::string whereabouts(const Warp& warp, Mask who) {
  if ((who & warp.live) == 0) return "have ended";
  const Splits& splits = warp.splits;
  for (const Split& split : splits.list) {
    const bool is_running = splits.is_loaded && &split == &splits.list[splits.running];
    if ((split.lanes & who) != 0 && !is_running)
      return fmt::format("are at line {}", warp.program->infos[split.pc].line);
  }
  return "did not take part";
}

// Lanes with another mask are a group of their own: they execute the op by themselves. Groups must
// not have lanes in common.
void part_groups(Warp& warp, const Mask* masks, Mask wanted, Mask differ) {
  const Mask group = warp.exec & ~differ;
  Mask common = 0;
  for_each_lane(differ, [&](unsigned l) { common |= masks[l] & wanted & warp.live; });
  if (((wanted & warp.live) != group || common != 0) && warp.checks(Check::Collective)) {
    warp.report(Check::Collective, differ,
                fmt::format("lanes have different member masks: 0x{:08x} and 0x{:08x}", wanted,
                            masks[first_lane(differ)]));
  }
  warp.exec = differ;
  branch_to(warp, warp.current);
  warp.exec = group;
}

}  // namespace

bool meet(Warp& warp, Mask wanted, bool aligned) {
  if (warp.grant.is_open) {
    warp.grant.is_open = false;
    const auto awaited = static_cast<Mask>(warp.grant.address);
    const Mask absent = awaited & ~warp.exec & (aligned ? kAllLanes : warp.live);
    if (absent != 0 && warp.checks(Check::Collective)) {
      warp.report(
          Check::Collective, warp.exec,
          fmt::format("executed by lanes {} without lanes {}, which {}", lanes_text(warp.exec),
                      lanes_text(absent), whereabouts(warp, absent)));
    }
    return true;
  }
  wanted &= warp.live;
  if ((wanted & ~warp.exec) == 0) return true;
  wait_in(warp, SplitState::Meeting, 0, wanted);
  return false;
}

bool meet_all(Warp& warp) {
  return (warp.exec == warp.live && !warp.grant.is_open) || meet(warp, warp.live, true);
}

bool meet_mask(Warp& warp, Place place, Mask& mask) {
  const auto* masks = warp.source<std::uint32_t>(place);
  const Mask wanted = masks[first_lane(warp.exec)];
  // Nearly always it is one mask for all lanes; then strangers are the lanes that it lacks.
  Mask others = 0;
  for (unsigned l = 0; l < kLanes; ++l) others |= masks[l] ^ wanted;
  Mask differ = 0;
  Mask strangers = warp.exec & ~wanted;
  if (others != 0) {
    strangers = 0;
    for_each_lane(warp.exec, [&](unsigned l) {
      if (masks[l] != wanted) differ |= lane_bit(l);
      if (!has_lane(masks[l], l)) strangers |= lane_bit(l);
    });
  }
  if (differ == 0) {
    mask = wanted & warp.live;
    if (!meet(warp, wanted)) return false;
  }
  if (strangers != 0 && warp.checks(Check::Collective)) {
    warp.report(Check::Collective, strangers,
                fmt::format("the member mask 0x{:08x} does not have the lane that executes it",
                            masks[first_lane(strangers)]));
  }
  if (differ != 0) {
    part_groups(warp, masks, wanted, differ);
    mask = wanted & warp.live;
  }
  return true;
}

bool is_meeting_grant(const Warp& warp) {
  return warp.grant.is_open && warp.grant.value == Grant::kWithoutOthers;
}

}  // namespace ww::sim
