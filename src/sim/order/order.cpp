// SPDX-License-Identifier: Apache-2.0
#include "sim/order/order.h"

#include <algorithm>
#include <utility>

#include "sim/memory/memory.h"
#include "sim/run/meet.h"

namespace ww::sim {

namespace {

constexpr std::size_t kParts = 4;  // of a clock that knows of fences
// Sets of lanes of a warp that are told apart in what they know.
constexpr std::size_t kMaxSets = 64;

bool has_all(const Actor& who) { return (who.lanes | ~who.born) == kAllLanes; }
bool has_live(const Actor& who) { return (who.live & ~who.lanes) == 0; }

bool has_fenced(const Clocks& clocks) { return clocks.fenced[0] != nullptr; }

}  // namespace

Order::Order(unsigned warps, unsigned warps_per_cta, bool has_fences, Locations* grid)
    : warps_(warps),
      warps_per_cta_(warps_per_cta),
      width_(has_fences ? kParts * warps : warps),
      grid_(grid) {
  reset(0);
}

void Order::reset(std::uint64_t unit) {
  ++epoch_;
  unit_ = unit;
  has_extras_ = hands_on_tensor_ = false;
  own_.assign(warps_, 1);
  full_.assign(warps_, 0);
  known_.resize(warps_);
  for (Clocks& clocks : known_) {
    clocks.here.warps.assign(width_, 0);
    clocks.here.lanes.clear();
    clocks.others = {};
    clocks.fenced = {};
  }
  lone_.assign(warps_, {});
  heard_.assign(warps_, {});
  after_.assign(warps_, {});
  lanes_.clear();
  lanes_.resize(warps_);
  lane_fences_.clear();
  lane_fences_.resize(warps_);
  shared_.clear();
  tensor_.clear();
}

// --- what is known -------------------------------------------------------------------------------

// What others say of this unit is known like what its own threads say.
void Order::learn(Clocks& into, const Clocks& from) const {
  into.join(from);
  const UnitPast* mine = from.others.find(unit_);
  if (mine != nullptr) into.here.join(*mine);
  if (into.here.warps.size() < width_) into.here.warps.resize(width_);
}

void Order::add_known(const Actor& who, Clocks& into) const {
  into.join(known_[who.warp]);
  for (const Lone& lone : lone_[who.warp]) {
    if ((lone.lanes & who.lanes) != 0) into.join(lone.clocks);
  }
}

// Of its own warp's past, lanes that are alone know what they did themselves and what was before
// they met others.
void Order::add_own_past(const Actor& who, UnitPast& into) const {
  const unsigned warp = who.warp;
  if (into.warps.size() < width_) into.warps.resize(width_);
  std::uint32_t& all = into.warps[warp];
  if (has_all(who)) {
    all = std::max(all, own_[warp]);
    return;
  }
  all = std::max(all, full_[warp]);
  LaneClocks& clocks = into.lanes_of(warp);
  for_each_lane(who.lanes & who.born, [&](unsigned l) {
    clocks[l] = std::max(clocks[l], own_[warp]);
    if (lanes_[warp] == nullptr) return;
    for (unsigned other = 0; other < kLanes; ++other)
      clocks[other] = std::max(clocks[other], (*lanes_[warp])[l][other]);
  });
}

void Order::release(const Actor& who, Clocks& into) {
  add_known(who, into);
  add_own_past(who, into.here);
  ++own_[who.warp];
}

void Order::acquire(const Actor& who, const Clocks& from) {
  if (from.empty()) return;
  if (has_live(who)) {
    has_extras_ =
        has_extras_ || !from.here.lanes.empty() || !from.others.empty() || has_fenced(from);
    learn(known_[who.warp], from);
    return;
  }
  has_extras_ = true;
  std::vector<Lone>& all = lone_[who.warp];
  const auto same = std::find_if(all.begin(), all.end(),
                                 [&](const Lone& lone) { return lone.lanes == who.lanes; });
  if (same != all.end()) {
    learn(same->clocks, from);
    return;
  }
  if (all.size() == kMaxSets) {
    all.back().lanes |= who.lanes;
  } else {
    all.push_back({.lanes = who.lanes, .clocks = {}});
  }
  learn(all.back().clocks, from);
}

void Order::hear(const Actor& who, Scope scope, const Clocks& what) {
  if (what.empty()) return;
  has_extras_ = true;
  std::vector<Heard>& all = heard_[who.warp];
  const auto same = std::find_if(all.begin(), all.end(), [&](const Heard& heard) {
    return heard.lanes == who.lanes && heard.scope == scope;
  });
  if (same != all.end()) {
    same->clocks.join(what);
    return;
  }
  if (all.size() == kMaxSets) {
    all.back().lanes |= who.lanes;
  } else {
    all.push_back({.lanes = who.lanes, .scope = scope, .clocks = {}});
  }
  all.back().clocks.join(what);
}

// --- barriers ------------------------------------------------------------------------------------

void Order::everyone_met() {
  ++epoch_;  // what was before is ordered before all that comes
  if (has_extras_ || has_fences()) {
    std::vector<unsigned> all(warps_);
    for (unsigned w = 0; w < warps_; ++w) all[w] = w;
    meet(all, {});
    return;
  }
  for (unsigned w = 0; w < warps_; ++w) {
    known_[w].here.warps = own_;
    full_[w] = own_[w];
  }
  for (std::uint32_t& clock : own_) ++clock;
}

void Order::met(std::span<const unsigned> warps, const Clocks& arrived) { meet(warps, arrived); }

void Order::meet(std::span<const unsigned> warps, const Clocks& arrived) {
  Clocks all;
  std::array<Clocks, kScopes> heard;
  for (const unsigned w : warps) {
    all.join(known_[w]);
    for (const Lone& lone : lone_[w]) all.join(lone.clocks);
    for (const Heard& h : heard_[w]) heard[static_cast<std::size_t>(h.scope)].join(h.clocks);
  }
  for (const unsigned w : warps) all.here.warps[w] = std::max(all.here.warps[w], own_[w]);
  learn(all, arrived);
  for (const unsigned w : warps) {
    known_[w] = all;
    lone_[w].clear();
    heard_[w].clear();
    for (std::size_t s = 0; s < kScopes; ++s) {
      if (!heard[s].empty())
        heard_[w].push_back(
            {.lanes = kAllLanes, .scope = static_cast<Scope>(s), .clocks = heard[s]});
    }
    full_[w] = own_[w];
    ++own_[w];
  }
}

void Order::fold_lone(unsigned warp, Mask live) {
  std::erase_if(lone_[warp], [&](const Lone& lone) {
    if ((live & ~lone.lanes) != 0) return false;
    learn(known_[warp], lone.clocks);
    return true;
  });
}

// What one of them has learned the others know.
void Order::lanes_share(const Actor& who) {
  for (Lone& lone : lone_[who.warp]) {
    if ((lone.lanes & who.lanes) != 0) lone.lanes |= who.lanes;
  }
  for (Heard& heard : heard_[who.warp]) {
    if ((heard.lanes & who.lanes) != 0) heard.lanes |= who.lanes;
  }
  if (!lone_[who.warp].empty()) fold_lone(who.warp, who.live);
}

void Order::lanes_met(const Actor& who) {
  const unsigned warp = who.warp;
  if (has_extras_) lanes_share(who);
  if (has_all(who)) {
    full_[warp] = own_[warp]++;
    return;
  }
  auto& table = lanes_[warp];
  if (table == nullptr) table = std::make_unique<LaneTable>();
  // What one of them knows of further lanes the others know now.
  LaneClocks row{};
  for_each_lane(who.lanes, [&](unsigned l) {
    for (unsigned other = 0; other < kLanes; ++other)
      row[other] = std::max(row[other], (*table)[l][other]);
  });
  for_each_lane(who.lanes, [&](unsigned l) { row[l] = own_[warp]; });
  for_each_lane(who.lanes, [&](unsigned l) { (*table)[l] = row; });
  ++own_[warp];
}

// --- fences and strong accesses ------------------------------------------------------------------

// As threads of other units will know it.
Clocks Order::outward(const Clocks& clocks) const {
  Clocks out;
  out.others = clocks.others;
  auto mine = std::make_shared<UnitPast>(clocks.here);
  mine->warps.resize(warps_);
  out.others.join(unit_, std::move(mine));
  return out;
}

void Order::fence(const Actor& who, const FenceKind& kind) {
  if (kind.acquires) {
    std::vector<Heard>& all = heard_[who.warp];
    std::erase_if(all, [&](const Heard& heard) {
      const Mask lanes = heard.lanes & who.lanes;
      if (lanes == 0 || heard.scope > kind.scope) return false;
      acquire({who.warp, lanes, who.live, who.born}, heard.clocks);
      return (heard.lanes & who.live & ~lanes) == 0;
    });
  }
  if (!kind.releases) return;
  auto behind = std::make_shared<Clocks>();
  add_known(who, *behind);
  add_own_past(who, behind->here);
  behind->fenced = {};
  if (grid_ != nullptr) behind->others = outward(*behind).others;
  Clocks more;
  for (std::size_t s = 0; s <= static_cast<std::size_t>(kind.scope); ++s) more.fenced[s] = behind;
  known_[who.warp].join_fenced(more);
  has_extras_ = true;
  ++own_[who.warp];
}

void Order::publish(const Actor& who, const StrongAccess& access, bool is_global,
                    Location& location) {
  const Home home = home_of(who.warp);
  if (access.releases) {
    Clocks now;
    release(who, now);
    now.fenced = {};
    location.publish(access.scope, home, is_global ? outward(now) : now);
    return;
  }
  const auto publish_fenced = [&](const Clocks& clocks) {
    for (auto s = static_cast<std::size_t>(access.scope) + 1; s-- > 0;) {
      const auto& behind = clocks.fenced[s];
      const bool is_wider =
          s < static_cast<std::size_t>(access.scope) && behind == clocks.fenced[s + 1];
      if (behind == nullptr || is_wider) continue;
      if (is_global) {
        Clocks others;
        others.others = behind->others;
        location.publish(static_cast<Scope>(s), home, others);
      } else {
        location.publish(static_cast<Scope>(s), home, *behind);
      }
    }
  };
  publish_fenced(known_[who.warp]);
  for (const Lone& lone : lone_[who.warp]) {
    if ((lone.lanes & who.lanes) != 0) publish_fenced(lone.clocks);
  }
}

void Order::strong_access(const Actor& who, std::uint64_t address, unsigned bytes,
                          const StrongAccess& access) {
  if (hands_on_tensor_) {
    WarpClocks& here = tensor_[address];
    if (access.reads) join_tensor(known_[who.warp].here.warps, here);
    if (access.writes) join_tensor(here, known_[who.warp].here.warps);
  }
  const bool is_global = address >= kGlobalStart;
  Locations* locations = is_global ? grid_ : &shared_;
  if (locations == nullptr) return;
  Location* location = locations->find(address, bytes);
  if (access.reads && location != nullptr) {
    location->observe(access.scope, home_of(who.warp), [&](Scope distance, const Clocks& clocks) {
      if (access.acquires) {
        acquire(who, clocks);
      } else {
        hear(who, distance, clocks);
      }
    });
  }
  if (!access.writes) return;
  const bool may_publish = access.releases || has_fenced(known_[who.warp]) || has_lone(who.warp);
  if (location == nullptr && !may_publish) return;
  if (location == nullptr) location = &locations->at(address, bytes);
  const std::uint64_t thread = (unit_ * warps_ + who.warp) * kLanes + first_lane(who.lanes);
  if (!access.reads && location->writer != thread) location->clear();
  location->writer = thread;
  publish(who, access, is_global, *location);
  if (location->empty()) locations->forget(address, bytes);
}

// --- questions -----------------------------------------------------------------------------------

bool Order::ordered(unsigned warp, unsigned lane, unsigned other, unsigned other_lane,
                    std::uint32_t clock) const {
  if (knows(warp, other, clock)) return true;
  if (warp == other) {
    if (lane == other_lane || full_[warp] >= clock) return true;
    if (lanes_[warp] != nullptr && (*lanes_[warp])[lane][other_lane] >= clock) return true;
  }
  if (!has_extras_) return false;
  if (known_[warp].here.knows(other, other_lane, clock)) return true;
  return std::any_of(lone_[warp].begin(), lone_[warp].end(), [&](const Lone& lone) {
    return has_lane(lone.lanes, lane) && lone.clocks.here.knows(other, other_lane, clock);
  });
}

Mask Order::unordered_from(unsigned warp, unsigned lane, std::uint64_t unit, unsigned other,
                           Mask lanes, std::uint32_t clock, bool& by_lane) const {
  if (!has_extras_) return lanes;
  const auto strike = [&](const Clocks& clocks) {
    const UnitPast* past = clocks.others.find(unit);
    if (past == nullptr) return;
    if (past->warps[other] >= clock) {
      lanes = 0;
    } else if (!past->lanes.empty()) {
      by_lane = true;
      for_each_lane(lanes, [&](unsigned l) {
        if (past->knows(other, l, clock)) lanes &= ~lane_bit(l);
      });
    }
  };
  strike(known_[warp]);
  by_lane = by_lane || (lanes != 0 && has_lone(warp));
  for (const Lone& lone : lone_[warp]) {
    if (lanes != 0 && has_lane(lone.lanes, lane)) strike(lone.clocks);
  }
  return lanes;
}

// --- fences of the async proxy and of tensor memory ----------------------------------------------

void Order::join_tensor(WarpClocks& into, const WarpClocks& from) const {
  if (from.empty() || !has_fences()) return;
  if (into.size() < width_) into.resize(width_);
  for (std::size_t i = at(Past::FencedTensor, 0); i < std::min(width_, from.size()); ++i)
    into[i] = std::max(into[i], from[i]);
}

void Order::fence_proxy(const Actor& who, Past what) {
  if (!has_fences()) return;
  const unsigned warp = who.warp;
  const bool is_whole_warp = has_live(who);
  Clocks all;
  add_known(who, all);
  WarpClocks& known = known_[warp].here.warps;
  for (unsigned w = 0; w < warps_; ++w) {
    const std::uint32_t past = w != warp       ? all.here.warps[w]
                               : is_whole_warp ? own_[w]
                                               : std::max(all.here.warps[w], full_[w]);
    known[at(what, w)] = std::max(known[at(what, w)], past);
  }
  if (!is_whole_warp) {
    auto& fences = lane_fences_[warp];
    if (fences == nullptr) fences = std::make_unique<std::array<LaneClocks, 2>>();
    LaneClocks& clocks = (*fences)[what == Past::FencedShared ? 0 : 1];
    for_each_lane(who.lanes, [&](unsigned l) {
      clocks[l] = own_[warp];
      if (lanes_[warp] == nullptr) return;
      for (unsigned other = 0; other < kLanes; ++other)
        clocks[other] = std::max(clocks[other], (*lanes_[warp])[l][other]);
    });
  }
  ++own_[warp];
}

// A fence of a lane by itself counts, whether or not its warp has published it: better to miss one
// that came too late than to find one missing that is there.
bool Order::fenced_for_proxy(unsigned warp, unsigned lane, unsigned other, unsigned other_lane,
                             std::uint32_t clock, Past what) const {
  const std::size_t place = at(what, other);
  if (known_[warp].here.warps[place] >= clock) return true;
  for (const Lone& lone : lone_[warp]) {
    if (has_lane(lone.lanes, lane) && lone.clocks.here.warps[place] >= clock) return true;
  }
  if (lane_fences_[other] == nullptr) return false;
  return (*lane_fences_[other])[what == Past::FencedShared ? 0 : 1][other_lane] >= clock;
}

void Order::fence_tensor_before(unsigned warp) {
  if (!has_fences()) return;
  hands_on_tensor_ = true;
  known_[warp].here.warps[at(Past::FencedTensor, warp)] = own_[warp];
  ++own_[warp];
}

void Order::fence_tensor_after(const Actor& who) {
  if (!has_fences()) return;
  Clocks all;
  add_known(who, all);
  after_[who.warp] = std::move(all.here.warps);
}

bool Order::has_before(unsigned warp, unsigned lane, unsigned other, std::uint32_t clock) const {
  const std::size_t place = at(Past::FencedTensor, other);
  if (known_[warp].here.warps[place] >= clock) return true;
  return std::any_of(lone_[warp].begin(), lone_[warp].end(), [&](const Lone& lone) {
    return has_lane(lone.lanes, lane) && lone.clocks.here.warps[place] >= clock;
  });
}

void Order::release_relaxed(const Actor& who, Clocks& into, Scope scope) {
  join_tensor(into.here.warps, known_[who.warp].here.warps);
  const auto& behind = known_[who.warp].fenced[static_cast<std::size_t>(scope)];
  if (behind != nullptr) into.join(*behind);
}

void Order::commit_tensor(unsigned warp, Location& at_barrier) {
  if (!has_fences()) return;
  hands_on_tensor_ = true;
  Clocks done;
  done.here.warps.resize(width_);
  done.here.warps[at(Past::FencedTensor, warp)] = own_[warp];
  at_barrier.publish(Scope::Cluster, home_of(warp), done);
}

// --- mbarriers -----------------------------------------------------------------------------------

void Order::arrive(const Actor& who, bool releases, Scope scope, Location& at_barrier) {
  const Home home = home_of(who.warp);
  if (releases) {
    Clocks now;
    release(who, now);
    at_barrier.publish(scope, home, now);
    return;
  }
  // Fences of narrow scopes are for threads that are near.
  for (auto s = static_cast<std::size_t>(scope) + 1; s-- > 0;) {
    Clocks fenced;
    release_relaxed(who, fenced, static_cast<Scope>(s));
    at_barrier.publish(static_cast<Scope>(s), home, fenced);
  }
}

void Order::wait(const Actor& who, bool acquires, Scope scope, const Location& at_barrier) {
  if (has_fences()) {
    at_barrier.for_each(
        [&](const Clocks& clocks) { join_tensor(known_[who.warp].here.warps, clocks.here.warps); });
  }
  at_barrier.observe(scope, home_of(who.warp), [&](Scope distance, const Clocks& clocks) {
    if (acquires) {
      acquire(who, clocks);
    } else {
      hear(who, distance, clocks);
    }
  });
}

}  // namespace ww::sim
