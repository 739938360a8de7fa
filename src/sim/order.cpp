// SPDX-License-Identifier: Apache-2.0
#include "sim/order.h"

#include <algorithm>

#include "sim/memory.h"

namespace ww::sim {

namespace {
constexpr std::size_t kParts = 4;  // of a clock that knows of fences
}

Order::Order(unsigned warps, bool has_fences)
    : warps_(warps), width_(has_fences ? kParts * warps : warps) {
  reset();
}

void Order::reset() {
  ++epoch_;
  synced_ = false;
  own_.assign(warps_, 1);
  full_.assign(warps_, 0);
  known_.assign(warps_, WarpClocks(width_, 0));
  fenced_.assign(warps_, {});
  heard_.assign(warps_, {});
  after_.assign(warps_, {});
  lanes_.clear();
  lanes_.resize(warps_);
  lane_fences_.clear();
  lane_fences_.resize(warps_);
  locations_.clear();
}

void Order::join(WarpClocks& into, const WarpClocks& from) const {
  if (from.empty()) return;
  if (into.empty()) into.assign(width_, 0);
  for (std::size_t i = 0; i < width_; ++i) into[i] = std::max(into[i], from[i]);
}

void Order::join_tensor(WarpClocks& into, const WarpClocks& from) const {
  if (from.empty() || !has_fences()) return;
  if (into.empty()) into.assign(width_, 0);
  for (std::size_t i = at(Past::FencedTensor, 0); i < width_; ++i)
    into[i] = std::max(into[i], from[i]);
}

// --- what orders ---------------------------------------------------------------------------------

void Order::everyone_met() {
  ++epoch_;  // what was before is ordered before all that comes
  WarpClocks all;
  if (has_fences()) {
    for (const WarpClocks& clocks : known_) join(all, clocks);
    std::copy(own_.begin(), own_.end(), all.begin());
  }
  for (unsigned w = 0; w < warps_; ++w) {
    known_[w] = has_fences() ? all : own_;
    full_[w] = own_[w];
  }
  for (std::uint32_t& clock : own_) ++clock;
}

void Order::met(std::span<const unsigned> warps) {
  WarpClocks all(width_, 0);
  for (const unsigned w : warps) {
    join(all, known_[w]);
    all[w] = std::max(all[w], own_[w]);
  }
  for (const unsigned w : warps) {
    known_[w] = all;
    full_[w] = own_[w];
    ++own_[w];
  }
}

void Order::lanes_met(unsigned warp, Mask lanes) {
  if (lanes == kAllLanes) {
    full_[warp] = own_[warp]++;
    return;
  }
  auto& table = lanes_[warp];
  if (table == nullptr) table = std::make_unique<std::array<LaneClocks, kLanes>>();
  for_each_lane(lanes, [&](unsigned a) {
    for_each_lane(lanes, [&](unsigned b) { (*table)[a][b] = own_[warp]; });
  });
  ++own_[warp];
}

void Order::release(unsigned warp, WarpClocks& into) {
  join(into, known_[warp]);
  into[warp] = std::max(into[warp], own_[warp]);
  ++own_[warp];
}

void Order::acquire(unsigned warp, const WarpClocks& from) {
  join(known_[warp], from);
  // What the warp itself published there, all its lanes know now.
  if (!from.empty()) full_[warp] = std::max(full_[warp], from[warp]);
}

void Order::fence(unsigned warp) {
  acquire(warp, heard_[warp]);
  fenced_[warp] = known_[warp];
  fenced_[warp][warp] = own_[warp]++;
}

void Order::sync_write(unsigned warp, std::uint64_t address, bool releases) {
  synced_ = synced_ || address >= kGlobalStart;
  WarpClocks& here = locations_[address];
  if (releases) {
    release(warp, here);
  } else {
    join(here, fenced_[warp]);
    join_tensor(here, known_[warp]);
  }
}

void Order::sync_read(unsigned warp, std::uint64_t address, bool acquires) {
  synced_ = synced_ || address >= kGlobalStart;
  const auto found = locations_.find(address);
  if (found == locations_.end()) return;
  if (acquires) {
    acquire(warp, found->second);
  } else {
    join(heard_[warp], found->second);
    join_tensor(known_[warp], found->second);
  }
}

bool Order::ordered(unsigned warp, unsigned lane, unsigned other, unsigned other_lane,
                    std::uint32_t clock) const {
  if (knows(warp, other, clock)) return true;
  if (warp != other) return false;
  if (lane == other_lane || full_[warp] >= clock) return true;
  return lanes_[warp] != nullptr && (*lanes_[warp])[lane][other_lane] >= clock;
}

// --- fences --------------------------------------------------------------------------------------

// Of its own warp's past, lanes that are alone know what they did themselves and what was before
// they met others.
void Order::fence_proxy(unsigned warp, Mask lanes, bool is_whole_warp, Past what) {
  if (!has_fences()) return;
  WarpClocks& known = known_[warp];
  for (unsigned w = 0; w < warps_; ++w) {
    const std::uint32_t past = w != warp       ? known[w]
                               : is_whole_warp ? own_[w]
                                               : std::max(known[w], full_[w]);
    known[at(what, w)] = std::max(known[at(what, w)], past);
  }
  if (!is_whole_warp) {
    auto& fences = lane_fences_[warp];
    if (fences == nullptr) fences = std::make_unique<std::array<LaneClocks, 2>>();
    LaneClocks& clocks = (*fences)[what == Past::FencedShared ? 0 : 1];
    for_each_lane(lanes, [&](unsigned l) {
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
bool Order::fenced_for_proxy(unsigned warp, unsigned other, unsigned other_lane,
                             std::uint32_t clock, Past what) const {
  if (known_[warp][at(what, other)] >= clock) return true;
  if (lane_fences_[other] == nullptr) return false;
  return (*lane_fences_[other])[what == Past::FencedShared ? 0 : 1][other_lane] >= clock;
}

void Order::fence_tensor_before(unsigned warp) {
  if (!has_fences()) return;
  known_[warp][at(Past::FencedTensor, warp)] = own_[warp];
  ++own_[warp];
}

void Order::fence_tensor_after(unsigned warp) {
  if (has_fences()) after_[warp] = known_[warp];
}

void Order::release_relaxed(unsigned warp, WarpClocks& into) const {
  join_tensor(into, known_[warp]);
}

void Order::acquire_relaxed(unsigned warp, const WarpClocks& from) {
  join_tensor(known_[warp], from);
}

void Order::commit_tensor(unsigned warp, WarpClocks& into) const {
  if (!has_fences()) return;
  if (into.empty()) into.assign(width_, 0);
  into[at(Past::FencedTensor, warp)] = own_[warp];
}

}  // namespace ww::sim
