// SPDX-License-Identifier: Apache-2.0
#include "sim/order/strong.h"

#include <algorithm>
#include <utility>

#include "sim/memory/memory.h"
#include "sim/order/async_fences.h"

namespace ww::sim {
namespace {

// As threads of other units will know it.
Clocks outward(const Order& order, const Clocks& clocks) {
  Clocks out;
  out.others = clocks.others;
  auto mine = std::make_shared<UnitPast>(clocks.here);
  mine->warps.resize(order.warps());
  out.others.join(order.unit, std::move(mine));
  return out;
}

// The lanes read what is published there: they know it, or will once they fence.
void observe(Order& order, const Actor& who, bool acquires, Scope scope, const Location& location) {
  location.observe(scope, order.home_of(who.warp), [&](Scope distance, const Clocks& clocks) {
    if (acquires) {
      acquire(order, who, clocks);
    } else if (!clocks.empty()) {
      order.has_extras = true;
      clocks_of(order.past[who.warp].heard, who.lanes, distance).join(clocks);
    }
  });
}

// Publishes what had a fence behind it.
void publish_fenced(const Clocks& clocks, Scope scope, const Home& home, bool is_global,
                    Location& location) {
  for (auto s = static_cast<std::size_t>(scope) + 1; s-- > 0;) {
    const auto& behind = clocks.fenced[s];
    const bool is_wider = s < static_cast<std::size_t>(scope) && behind == clocks.fenced[s + 1];
    if (behind == nullptr || is_wider) continue;
    if (is_global) {
      Clocks others;
      others.others = behind->others;
      location.publish(static_cast<Scope>(s), home, others);
    } else {
      location.publish(static_cast<Scope>(s), home, *behind);
    }
  }
}

void publish(Order& order, const Actor& who, const StrongAccess& access, bool is_global,
             Location& location) {
  const Home home = order.home_of(who.warp);
  if (access.releases) {
    Clocks now;
    release(order, who, now);
    now.fenced = {};
    location.publish(access.scope, home, is_global ? outward(order, now) : now);
    return;
  }
  const WarpPast& warp = order.past[who.warp];
  publish_fenced(warp.known, access.scope, home, is_global, location);
  for (const LoneClocks& lone : warp.lone) {
    if ((lone.lanes & who.lanes) != 0)
      publish_fenced(lone.clocks, access.scope, home, is_global, location);
  }
}

}  // namespace

void fence(Order& order, const Actor& who, const FenceKind& kind) {
  WarpPast& warp = order.past[who.warp];
  if (kind.acquires) {
    std::erase_if(warp.heard, [&](const LoneClocks& heard) {
      const Mask lanes = heard.lanes & who.lanes;
      if (lanes == 0 || heard.scope > kind.scope) return false;
      acquire(order, {who.warp, lanes, who.live, who.born}, heard.clocks);
      return (heard.lanes & who.live & ~lanes) == 0;
    });
  }
  if (!kind.releases) return;
  auto behind = std::make_shared<Clocks>();
  release(order, who, *behind);
  behind->fenced = {};
  if (order.grid != nullptr) behind->others = outward(order, *behind).others;
  Clocks more;
  for (std::size_t s = 0; s <= static_cast<std::size_t>(kind.scope); ++s) more.fenced[s] = behind;
  warp.known.join_fenced(more);
  order.has_extras = true;
}

void strong_access(Order& order, const Actor& who, std::uint64_t address, unsigned bytes,
                   const StrongAccess& access) {
  WarpPast& warp = order.past[who.warp];
  if (order.hands_on_tensor) {
    WarpClocks& here = order.tensor[address];
    if (access.reads) join_tensor(order, warp.known.here.warps, here);
    if (access.writes) join_tensor(order, here, warp.known.here.warps);
  }
  const bool is_global = address >= kGlobalStart;
  Locations* locations = is_global ? order.grid : &order.shared;
  if (locations == nullptr) return;
  Location* location = locations->find(address, bytes);
  if (access.reads && location != nullptr)
    observe(order, who, access.acquires, access.scope, *location);
  if (!access.writes) return;
  const bool may_publish = access.releases || warp.known.fenced[0] != nullptr || !warp.lone.empty();
  if (location == nullptr && !may_publish) return;
  if (location == nullptr) location = &locations->at(address, bytes);
  const std::uint64_t thread =
      (order.unit * order.warps() + who.warp) * kLanes + first_lane(who.lanes);
  if (!access.reads && location->writer != thread) location->clear();
  location->writer = thread;
  publish(order, who, access, is_global, *location);
  if (location->empty()) locations->forget(address, bytes);
}

void arrive(Order& order, const Actor& who, bool releases, Scope scope, Location& at_barrier) {
  const Home home = order.home_of(who.warp);
  if (releases) {
    Clocks now;
    release(order, who, now);
    at_barrier.publish(scope, home, now);
    return;
  }
  // Fences of narrow scopes are for threads that are near.
  for (auto s = static_cast<std::size_t>(scope) + 1; s-- > 0;) {
    Clocks fenced;
    release_relaxed(order, who, fenced, static_cast<Scope>(s));
    at_barrier.publish(static_cast<Scope>(s), home, fenced);
  }
}

void wait(Order& order, const Actor& who, bool acquires, Scope scope, const Location& at_barrier) {
  WarpClocks& known = order.past[who.warp].known.here.warps;
  at_barrier.for_each([&](const Clocks& clocks) { join_tensor(order, known, clocks.here.warps); });
  observe(order, who, acquires, scope, at_barrier);
}

void release_relaxed(const Order& order, const Actor& who, Clocks& into, Scope scope) {
  const Clocks& known = order.past[who.warp].known;
  join_tensor(order, into.here.warps, known.here.warps);
  const auto& behind = known.fenced[static_cast<std::size_t>(scope)];
  if (behind != nullptr) into.join(*behind);
}

}  // namespace ww::sim
