// SPDX-License-Identifier: Apache-2.0
// Vector clocks: how much a thread knows of the past of others. A warp's clock counts what it
// publishes; knowing clock c of a warp means being ordered after everything that the warp did up to
// then. Three sizes:
//
//   UnitPast   one unit: an entry per warp, and entries per lane where lanes differ
//   GridPast   other units, only those that synchronised; copies share what they have in common
//   Clocks     both, and what of it has a memory fence behind it
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "sim/lanes.h"

namespace ww::sim {

/// Entry w: how much of warp w's past is known; and so on for each further part (order.h).
using WarpClocks = std::vector<std::uint32_t>;
using LaneClocks = std::array<std::uint32_t, kLanes>;
inline void join_lanes(LaneClocks& into, const LaneClocks& from) {
  for (unsigned l = 0; l < kLanes; ++l) into[l] = std::max(into[l], from[l]);
}

/// Scopes of the memory model. There is one GPU, so `.sys` is the same as Gpu.
enum class Scope : std::uint8_t { Cta, Cluster, Gpu };
constexpr std::size_t kScopes = 3;

/// Where a thread runs: the unit and the rank of its CTA in it.
struct Home {
  std::uint64_t unit = 0;
  unsigned cta = 0;
};
/// The least scope that includes threads of both.
constexpr Scope scope_of(const Home& a, const Home& b) {
  if (a.unit != b.unit) return Scope::Gpu;
  return a.cta == b.cta ? Scope::Cta : Scope::Cluster;
}

/// The known past of one unit.
struct UnitPast {
  /// Lanes of a warp that are known further than the whole warp.
  struct Lanes {
    unsigned warp = 0;
    LaneClocks clocks{};
  };
  WarpClocks warps;          // of all lanes of a warp; may be empty
  std::vector<Lanes> lanes;  // by ascending warp

  [[nodiscard]] bool empty() const { return warps.empty() && lanes.empty(); }
  [[nodiscard]] bool knows(unsigned warp, unsigned lane, std::uint32_t clock) const {
    if (warp < warps.size() && warps[warp] >= clock) return true;
    return !lanes.empty() && knows_lane(warp, lane, clock);
  }
  [[nodiscard]] bool covers(const UnitPast& other) const;
  void join(const UnitPast& other);
  /// The entries of single lanes of a warp, made if there are none.
  LaneClocks& lanes_of(unsigned warp);

 private:
  [[nodiscard]] bool knows_lane(unsigned warp, unsigned lane, std::uint32_t clock) const;
};

/// The known past of other units: a tree by the unit's number, never changed once it is made.
class GridPast {
 public:
  [[nodiscard]] bool empty() const { return root_ == nullptr; }
  /// nullptr: nothing is known of that unit.
  [[nodiscard]] const UnitPast* find(std::uint64_t unit) const;
  void join(const GridPast& other);
  void join(std::uint64_t unit, std::shared_ptr<const UnitPast> past);
  [[nodiscard]] bool covers(const GridPast& other) const;

 private:
  using Link = std::shared_ptr<const void>;  // a Node, or at height 0 a UnitPast
  struct Node;
  static Link join_links(const Link& a, const Link& b, unsigned height);
  void raise(unsigned height);

  Link root_;
  unsigned height_ = 0;
};

/// What a thread knows, or what is handed from one to another.
struct Clocks {
  UnitPast here;    // of the unit
  GridPast others;  // of other units
  /// By scope: what had a fence of at least this scope behind it. Such a part has none itself.
  std::array<std::shared_ptr<const Clocks>, kScopes> fenced{};

  [[nodiscard]] bool empty() const { return here.empty() && others.empty(); }
  [[nodiscard]] bool covers(const Clocks& other) const {
    return here.covers(other.here) && others.covers(other.others);
  }
  void join(const Clocks& other);
  void join_fenced(const Clocks& other);
};

}  // namespace ww::sim
