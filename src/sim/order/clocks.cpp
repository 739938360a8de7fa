// SPDX-License-Identifier: Apache-2.0
#include "sim/order/clocks.h"

#include <algorithm>
#include <utility>

namespace ww::sim {

// --- one unit ------------------------------------------------------------------------------------

bool UnitPast::knows_lane(unsigned warp, unsigned lane, std::uint32_t clock) const {
  for (const Lanes& entry : lanes) {
    if (entry.warp == warp) return entry.clocks[lane] >= clock;
  }
  return false;
}

bool UnitPast::covers(const UnitPast& other) const {
  for (std::size_t w = 0; w < other.warps.size(); ++w) {
    if (other.warps[w] > (w < warps.size() ? warps[w] : 0)) return false;
  }
  for (const Lanes& entry : other.lanes) {
    for (unsigned l = 0; l < kLanes; ++l) {
      if (entry.clocks[l] != 0 && !knows(entry.warp, l, entry.clocks[l])) return false;
    }
  }
  return true;
}

void UnitPast::join(const UnitPast& other) {
  if (warps.size() < other.warps.size()) warps.resize(other.warps.size());
  for (std::size_t w = 0; w < other.warps.size(); ++w)
    warps[w] = std::max(warps[w], other.warps[w]);
  for (const Lanes& entry : other.lanes) join_lanes(lanes_of(entry.warp), entry.clocks);
  if (lanes.empty()) return;
  std::erase_if(lanes, [&](const Lanes& entry) {
    const std::uint32_t all = entry.warp < warps.size() ? warps[entry.warp] : 0;
    return std::all_of(entry.clocks.begin(), entry.clocks.end(),
                       [&](std::uint32_t clock) { return clock <= all; });
  });
}

LaneClocks& UnitPast::lanes_of(unsigned warp) {
  const auto at = std::lower_bound(lanes.begin(), lanes.end(), warp,
                                   [](const Lanes& a, unsigned w) { return a.warp < w; });
  if (at != lanes.end() && at->warp == warp) return at->clocks;
  return lanes.insert(at, Lanes{.warp = warp})->clocks;
}

// --- other units ---------------------------------------------------------------------------------

namespace {

constexpr unsigned kFanBits = 4;
constexpr std::size_t kFan = std::size_t{1} << kFanBits;

unsigned height_for(std::uint64_t unit) {
  unsigned height = 1;
  while (height * kFanBits < 64 && (unit >> (height * kFanBits)) != 0) ++height;
  return height;
}

std::size_t slot_of(std::uint64_t unit, unsigned height) {
  return (unit >> ((height - 1) * kFanBits)) & (kFan - 1);
}

}  // namespace

struct GridPast::Node {
  std::array<Link, kFan> links;
};

const UnitPast* GridPast::find(std::uint64_t unit) const {
  if (root_ == nullptr || height_for(unit) > height_) return nullptr;
  const void* at = root_.get();
  for (unsigned height = height_; height > 0 && at != nullptr; --height)
    at = static_cast<const Node*>(at)->links[slot_of(unit, height)].get();
  return static_cast<const UnitPast*>(at);
}

// What both have in common, or what one has of the other, stays shared.
GridPast::Link GridPast::join_links(const Link& a, const Link& b, unsigned height) {
  if (a == b || b == nullptr) return a;
  if (a == nullptr) return b;
  if (height == 0) {
    const auto& mine = *static_cast<const UnitPast*>(a.get());
    const auto& other = *static_cast<const UnitPast*>(b.get());
    if (mine.covers(other)) return a;
    if (other.covers(mine)) return b;
    auto both = std::make_shared<UnitPast>(mine);
    both->join(other);
    return both;
  }
  const auto& mine = *static_cast<const Node*>(a.get());
  const auto& other = *static_cast<const Node*>(b.get());
  auto both = std::make_shared<Node>();
  bool is_mine = true;
  bool is_other = true;
  for (std::size_t i = 0; i < kFan; ++i) {
    both->links[i] = join_links(mine.links[i], other.links[i], height - 1);
    is_mine = is_mine && both->links[i] == mine.links[i];
    is_other = is_other && both->links[i] == other.links[i];
  }
  return is_mine ? a : is_other ? b : both;
}

void GridPast::raise(unsigned height) {
  for (; height_ < height; ++height_) {
    if (root_ == nullptr) continue;
    auto above = std::make_shared<Node>();
    above->links[0] = std::move(root_);
    root_ = std::move(above);
  }
}

void GridPast::join(const GridPast& other) {
  if (other.root_ == nullptr || other.root_ == root_) return;
  GridPast raised = other;
  raised.raise(height_);
  raise(raised.height_);
  root_ = join_links(root_, raised.root_, height_);
}

void GridPast::join(std::uint64_t unit, std::shared_ptr<const UnitPast> past) {
  GridPast one;
  one.root_ = std::move(past);
  for (unsigned height = 1; height <= height_for(unit); ++height) {
    auto above = std::make_shared<Node>();
    above->links[slot_of(unit, height)] = std::move(one.root_);
    one.root_ = std::move(above);
  }
  one.height_ = height_for(unit);
  join(one);
}

bool GridPast::covers(const GridPast& other) const {
  GridPast both = *this;
  both.join(other);
  // Joining keeps the tree when there is nothing new in it, unless it had to grow.
  return both.root_ == root_;
}

// --- both ----------------------------------------------------------------------------------------

namespace {

std::shared_ptr<const Clocks> joined(const std::shared_ptr<const Clocks>& a,
                                     const std::shared_ptr<const Clocks>& b) {
  if (b == nullptr || a == b) return a;
  if (a == nullptr || b->covers(*a)) return b;
  if (a->covers(*b)) return a;
  auto both = std::make_shared<Clocks>(*a);
  both->join(*b);
  return both;
}

}  // namespace

// A fence counts for narrower scopes, too, so that neighbours most often are the same.
void Clocks::join_fenced(const Clocks& other) {
  const auto before = fenced;
  for (std::size_t s = 0; s < kScopes; ++s) {
    const bool is_same =
        s != 0 && before[s] == before[s - 1] && other.fenced[s] == other.fenced[s - 1];
    fenced[s] = is_same ? fenced[s - 1] : joined(before[s], other.fenced[s]);
  }
}

void Clocks::join(const Clocks& other) {
  here.join(other.here);
  others.join(other.others);
  join_fenced(other);
}

}  // namespace ww::sim
