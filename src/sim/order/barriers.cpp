// SPDX-License-Identifier: Apache-2.0
#include "sim/order/barriers.h"

#include <algorithm>
#include <numeric>

namespace ww::sim {

void everyone_met(Order& order) {
  ++order.epoch;  // what was before is ordered before all that comes
  if (order.has_extras || order.has_fences()) {
    std::vector<unsigned> all(order.warps());
    std::iota(all.begin(), all.end(), 0U);
    warps_met(order, all, {});
    return;
  }
  WarpClocks& now = order.past[0].known.here.warps;
  for (unsigned w = 0; w < order.warps(); ++w) now[w] = order.past[w].clock;
  for (WarpPast& warp : order.past) {
    warp.known.here.warps = now;
    warp.full = warp.clock++;
  }
}

void warps_met(Order& order, std::span<const unsigned> warps, const Clocks& arrived) {
  Clocks all;
  std::array<Clocks, kScopes> heard;
  for (const unsigned w : warps) {
    const WarpPast& warp = order.past[w];
    all.join(warp.known);
    for (const LoneClocks& lone : warp.lone) all.join(lone.clocks);
    for (const LoneClocks& h : warp.heard) heard[static_cast<std::size_t>(h.scope)].join(h.clocks);
  }
  for (const unsigned w : warps)
    all.here.warps[w] = std::max(all.here.warps[w], order.past[w].clock);
  learn(order, all, arrived);
  for (const unsigned w : warps) {
    WarpPast& warp = order.past[w];
    warp.known = all;
    warp.lone.clear();
    warp.heard.clear();
    for (std::size_t s = 0; s < kScopes; ++s) {
      if (!heard[s].empty()) warp.heard.push_back({kAllLanes, static_cast<Scope>(s), heard[s]});
    }
    warp.full = warp.clock++;
  }
}

namespace {

// What one of the lanes has learned the others know.
void share_lone(const Order& order, WarpPast& warp, const Actor& who) {
  for (std::vector<LoneClocks>* list : {&warp.lone, &warp.heard}) {
    for (LoneClocks& each : *list) {
      if ((each.lanes & who.lanes) != 0) each.lanes |= who.lanes;
    }
  }
  std::erase_if(warp.lone, [&](const LoneClocks& lone) {
    if ((who.live & ~lone.lanes) != 0) return false;
    learn(order, warp.known, lone.clocks);
    return true;
  });
}

}  // namespace

void lanes_met(Order& order, const Actor& who) {
  WarpPast& warp = order.past[who.warp];
  if (order.has_extras) share_lone(order, warp, who);
  if (who.has_all()) {
    warp.full = warp.clock++;
    return;
  }
  if (warp.lanes == nullptr) warp.lanes = std::make_unique<WarpPast::LaneTable>();
  // What one of them knows of further lanes the others know now.
  LaneClocks row{};
  for_each_lane(who.lanes, [&](unsigned l) { join_lanes(row, (*warp.lanes)[l]); });
  for_each_lane(who.lanes, [&](unsigned l) { row[l] = warp.clock; });
  for_each_lane(who.lanes, [&](unsigned l) { (*warp.lanes)[l] = row; });
  ++warp.clock;
}

}  // namespace ww::sim
