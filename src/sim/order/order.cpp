// SPDX-License-Identifier: Apache-2.0
#include "sim/order/order.h"

#include <algorithm>
#include <utility>

namespace ww::sim {

namespace {

constexpr std::size_t kParts = 4;  // of a clock that knows of fences
// Sets of lanes of a warp that are told apart in what they know.
constexpr std::size_t kMaxSets = 64;

}  // namespace

Order::Order(unsigned warp_count, unsigned in_cta, bool is_fenced, Locations* of_grid)
    : warps_per_cta(in_cta),
      width(is_fenced ? kParts * warp_count : warp_count),
      grid(of_grid),
      past(warp_count) {
  reset(0);
}

void Order::reset(std::uint64_t number) {
  ++epoch;
  unit = number;
  has_extras = hands_on_tensor = false;
  for (WarpPast& warp : past) {
    WarpClocks clocks = std::move(warp.known.here.warps);
    clocks.assign(width, 0);
    warp = {};
    warp.known.here.warps = std::move(clocks);
  }
  shared.clear();
  tensor.clear();
}

// --- what is known -------------------------------------------------------------------------------

// What others say of this unit is known like what its own threads say.
void learn(const Order& order, Clocks& into, const Clocks& from) {
  into.join(from);
  const UnitPast* mine = from.others.find(order.unit);
  if (mine != nullptr) into.here.join(*mine);
  if (into.here.warps.size() < order.width) into.here.warps.resize(order.width);
}

void add_known(const Order& order, const Actor& who, Clocks& into) {
  const WarpPast& warp = order.past[who.warp];
  into.join(warp.known);
  for (const LoneClocks& lone : warp.lone) {
    if ((lone.lanes & who.lanes) != 0) into.join(lone.clocks);
  }
}

// Of its own warp's past, lanes that are alone know what they did themselves and what was before
// they met others.
void add_own_past(const Order& order, const Actor& who, UnitPast& into) {
  const WarpPast& warp = order.past[who.warp];
  if (into.warps.size() < order.width) into.warps.resize(order.width);
  std::uint32_t& all = into.warps[who.warp];
  if (who.has_all()) {
    all = std::max(all, warp.clock);
    return;
  }
  all = std::max(all, warp.full);
  LaneClocks& clocks = into.lanes_of(who.warp);
  for_each_lane(who.lanes & who.born, [&](unsigned l) {
    clocks[l] = std::max(clocks[l], warp.clock);
    if (warp.lanes != nullptr) join_lanes(clocks, (*warp.lanes)[l]);
  });
}

void release(Order& order, const Actor& who, Clocks& into) {
  add_known(order, who, into);
  add_own_past(order, who, into.here);
  ++order.past[who.warp].clock;
}

void acquire(Order& order, const Actor& who, const Clocks& from) {
  if (from.empty()) return;
  WarpPast& warp = order.past[who.warp];
  const bool is_plain = from.here.lanes.empty() && from.others.empty() && from.fenced[0] == nullptr;
  if (!who.has_live() || !is_plain) order.has_extras = true;
  learn(order, who.has_live() ? warp.known : clocks_of(warp.lone, who.lanes), from);
}

// Where there are too many of them, the last ones are for the lanes of several.
Clocks& clocks_of(std::vector<LoneClocks>& list, Mask lanes, Scope scope) {
  const auto same = std::ranges::find_if(
      list, [&](const LoneClocks& each) { return each.lanes == lanes && each.scope == scope; });
  if (same != list.end()) return same->clocks;
  if (list.size() == kMaxSets) {
    list.back().lanes |= lanes;
  } else {
    list.push_back({.lanes = lanes, .scope = scope});
  }
  return list.back().clocks;
}

// --- questions -----------------------------------------------------------------------------------

bool Order::ordered(unsigned warp, unsigned lane, unsigned other, unsigned other_lane,
                    std::uint32_t clock) const {
  if (knows(warp, other, clock)) return true;
  const WarpPast& mine = past[warp];
  if (warp == other) {
    if (in_step || lane == other_lane || mine.full >= clock) return true;
    if (mine.lanes != nullptr && (*mine.lanes)[lane][other_lane] >= clock) return true;
  }
  if (!has_extras) return false;
  if (mine.known.here.knows(other, other_lane, clock)) return true;
  return std::ranges::any_of(mine.lone, [&](const LoneClocks& lone) {
    return has_lane(lone.lanes, lane) && lone.clocks.here.knows(other, other_lane, clock);
  });
}

Mask Order::unordered_from(unsigned warp, unsigned lane, std::uint64_t from_unit, unsigned other,
                           Mask lanes, std::uint32_t clock, bool& by_lane) const {
  if (!has_extras) return lanes;
  const auto strike = [&](const Clocks& clocks) {
    const UnitPast* theirs = clocks.others.find(from_unit);
    if (theirs == nullptr) return;
    if (theirs->warps[other] >= clock) {
      lanes = 0;
    } else if (!theirs->lanes.empty()) {
      by_lane = true;
      for_each_lane(lanes, [&](unsigned l) {
        if (theirs->knows(other, l, clock)) lanes &= ~lane_bit(l);
      });
    }
  };
  strike(past[warp].known);
  by_lane = by_lane || (lanes != 0 && has_lone(warp));
  for (const LoneClocks& lone : past[warp].lone) {
    if (lanes != 0 && has_lane(lone.lanes, lane)) strike(lone.clocks);
  }
  return lanes;
}

}  // namespace ww::sim
