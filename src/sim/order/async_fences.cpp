// SPDX-License-Identifier: Apache-2.0
#include "sim/order/async_fences.h"

#include <algorithm>
#include <utility>

namespace ww::sim {
namespace {

// Whether that part of a clock, as `lane` of the warp knows it, goes as far.
bool lane_knows(const Order& order, unsigned warp, unsigned lane, std::size_t part,
                std::uint32_t clock) {
  const WarpPast& mine = order.past[warp];
  if (mine.known.here.warps[part] >= clock) return true;
  return std::ranges::any_of(mine.lone, [&](const LoneClocks& lone) {
    return has_lane(lone.lanes, lane) && lone.clocks.here.warps[part] >= clock;
  });
}

LaneClocks& clocks_for(WarpPast::ProxyFences& fences, Past what) {
  return fences[what == Past::FencedShared ? 0 : 1];
}

bool knew_after(const Order& order, unsigned warp, std::size_t part, std::uint32_t clock) {
  const WarpClocks& after = order.past[warp].after;
  return !after.empty() && after[part] >= clock;
}

}  // namespace

// --- the async proxy -----------------------------------------------------------------------------

namespace {

// By the strict reading: of the lanes that fence, what they wrote themselves.
void fence_own_writes(Order& order, const Actor& who, Past what) {
  WarpPast& warp = order.past[who.warp];
  if (who.has_live()) {
    warp.known.here.warps[order.at(what, who.warp)] = warp.clock++;
    return;
  }
  if (warp.fenced == nullptr) warp.fenced = std::make_unique<WarpPast::ProxyFences>();
  LaneClocks& clocks = clocks_for(*warp.fenced, what);
  for_each_lane(who.lanes, [&](unsigned l) { clocks[l] = warp.clock; });
  ++warp.clock;
}

}  // namespace

void fence_proxy(Order& order, const Actor& who, Past what) {
  if (!order.has_fences()) return;
  if (order.fences_are_own) return fence_own_writes(order, who, what);
  WarpPast& warp = order.past[who.warp];
  Clocks all;
  add_known(order, who, all);
  WarpClocks& past = all.here.warps;
  past[who.warp] = who.has_live() ? warp.clock : std::max(past[who.warp], warp.full);
  for (unsigned w = 0; w < order.warps(); ++w) {
    std::uint32_t& fenced = warp.known.here.warps[order.at(what, w)];
    fenced = std::max(fenced, past[w]);
  }
  if (!who.has_live()) {
    if (warp.fenced == nullptr) warp.fenced = std::make_unique<WarpPast::ProxyFences>();
    LaneClocks& clocks = clocks_for(*warp.fenced, what);
    for_each_lane(who.lanes, [&](unsigned l) {
      clocks[l] = warp.clock;
      if (warp.lanes != nullptr) join_lanes(clocks, (*warp.lanes)[l]);
    });
  }
  ++warp.clock;
}

// A fence of a lane by itself counts, whether or not its warp has published it: better to miss one
// that came too late than to find one missing that is there.
bool fenced_for_proxy(const Order& order, unsigned warp, unsigned lane, unsigned other,
                      unsigned other_lane, std::uint32_t clock, Past what) {
  if (lane_knows(order, warp, lane, order.at(what, other), clock)) return true;
  const auto& fenced = order.past[other].fenced;
  return fenced != nullptr && clocks_for(*fenced, what)[other_lane] >= clock;
}

// --- tensor memory -------------------------------------------------------------------------------

void fence_tensor_before(Order& order, unsigned warp) {
  if (!order.has_fences()) return;
  order.hands_on_tensor = true;
  WarpPast& mine = order.past[warp];
  mine.known.here.warps[order.at(Past::FencedTensor, warp)] = mine.clock++;
}

void fence_tensor_after(Order& order, const Actor& who) {
  if (!order.has_fences()) return;
  Clocks all;
  add_known(order, who, all);
  order.past[who.warp].after = std::move(all.here.warps);
}

void commit_tensor(Order& order, unsigned warp, Location& at_barrier) {
  if (!order.has_fences()) return;
  order.hands_on_tensor = true;
  Clocks done;
  done.here.warps.resize(order.width);
  done.here.warps[order.at(Past::FencedTensor, warp)] = order.now(warp);
  at_barrier.publish(Scope::Cluster, order.home_of(warp), done);
}

void join_tensor(const Order& order, WarpClocks& into, const WarpClocks& from) {
  if (from.empty() || !order.has_fences()) return;
  if (into.size() < order.width) into.resize(order.width);
  const std::size_t end = std::min(order.width, from.size());
  for (std::size_t i = order.at(Past::FencedTensor, 0); i < end; ++i)
    into[i] = std::max(into[i], from[i]);
}

bool has_before(const Order& order, unsigned warp, unsigned lane, unsigned other,
                std::uint32_t clock) {
  return lane_knows(order, warp, lane, order.at(Past::FencedTensor, other), clock);
}

bool has_after(const Order& order, unsigned warp, unsigned other, std::uint32_t clock) {
  return knew_after(order, warp, order.at(Past::Known, other), clock);
}

bool fenced_in_tensor(const Order& order, unsigned warp, unsigned other, std::uint32_t clock) {
  return knew_after(order, warp, order.at(Past::FencedTensor, other), clock);
}

}  // namespace ww::sim
