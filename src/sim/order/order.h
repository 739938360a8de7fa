// SPDX-License-Identifier: Apache-2.0
// The order of a unit's threads among each other and after threads of other units, by the rules of
// the PTX memory model, as vector clocks (clocks.h):
//
//   - a barrier of the CTA or the cluster, an mbarrier: a thread that has waited knows everything
//     before the arrival
//   - a release pattern (a strong write that releases, or a fence and then a strong write) and an
//     acquire pattern (a strong read that acquires, or a strong read and then a fence) at the same
//     location, if the scopes of both include the other thread (locations.h)
//   - inside a warp: `bar.warp.sync`; other instructions that wait for lanes order nothing. Lanes that
//     run in step, as before sm_70, are in order without it
//
// Lanes that wait, arrive or fence by themselves learn and publish for themselves alone; others of
// the warp know of it once they meet them there. Fences go with barriers: a fence before a barrier
// and a relaxed write after it, by another thread, publish, and so do a relaxed read before it and
// a fence behind it.
//
// To some accesses being known is not enough: on the way from one to the other there must be a
// fence (fences.h). Programs that have such accesses have longer clocks, with further parts that
// travel by the same barriers: how much of a warp's past is known and has a fence behind it.
//
//   known | written, and fenced for the async proxy: in shared, in global memory |
//   done in tensor memory, and fenced by tcgen05.fence::before_thread_sync
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "sim/lanes.h"
#include "sim/order/clocks.h"
#include "sim/order/locations.h"

namespace ww::sim {

/// The parts of a clock.
enum class Past : std::uint8_t { Known, FencedShared, FencedGlobal, FencedTensor };

/// Lanes of a warp that do something, and which there are besides.
struct Actor {
  unsigned warp = 0;  // of the unit
  Mask lanes = 0;
  Mask live = kAllLanes;  // not ended
  Mask born = kAllLanes;

  [[nodiscard]] bool has_all() const { return (lanes | ~born) == kAllLanes; }
  [[nodiscard]] bool has_live() const { return (live & ~lanes) == 0; }
};

/// Clocks that some lanes of a warp have, and not all.
struct LoneClocks {
  Mask lanes = 0;
  Scope scope{};  // of what they heard
  Clocks clocks{};
};

/// One warp: its own past, and what it knows of others.
struct WarpPast {
  using LaneTable = std::array<LaneClocks, kLanes>;
  using ProxyFences = std::array<LaneClocks, 2>;  // shared and global memory

  std::uint32_t clock = 1;           // its own
  std::uint32_t full = 0;            // its clock when all its lanes last met
  std::unique_ptr<LaneTable> lanes;  // when two lanes last met without all others
  Clocks known;                      // to all its lanes
  std::vector<LoneClocks> lone;      // to some of them
  /// What strong reads saw, which a fence of that scope or more makes known.
  std::vector<LoneClocks> heard;
  WarpClocks after;                     // what it knew at its last tcgen05.fence::after_thread_sync
  std::unique_ptr<ProxyFences> fenced;  // when single lanes were last fenced for the async proxy
};

/// All warps of a unit. What changes it is in barriers.h, strong.h and async_fences.h.
struct Order {
  /// `in_cta`: of the unit's warps; `is_fenced`: the program has accesses to which fences matter;
  /// `of_grid`: locations of global memory, null where units cannot synchronise.
  Order(unsigned warp_count, unsigned in_cta, bool is_fenced, Locations* of_grid);
  void reset(std::uint64_t unit);

  [[nodiscard]] unsigned warps() const { return static_cast<unsigned>(past.size()); }
  [[nodiscard]] Home home_of(unsigned warp) const { return {unit, warp / warps_per_cta}; }
  /// The warp's own clock.
  [[nodiscard]] std::uint32_t now(unsigned warp) const { return past[warp].clock; }
  /// Whether all lanes of the warp know all that `other` did then.
  [[nodiscard]] bool knows(unsigned warp, unsigned other, std::uint32_t clock) const {
    return past[warp].known.here.warps[other] >= clock;
  }
  /// Whether all lanes of the warp know what one of them did then.
  [[nodiscard]] bool lanes_know(unsigned warp, std::uint32_t clock) const {
    return in_step || past[warp].full >= clock || knows(warp, warp, clock);
  }
  /// Whether what a lane of `other` did then is ordered before what `lane` of `warp` does now.
  [[nodiscard]] bool ordered(unsigned warp, unsigned lane, unsigned other, unsigned other_lane,
                             std::uint32_t clock) const;
  /// Of these lanes of a warp of another unit, those whose doings then are not ordered before that.
  /// Sets `by_lane` if another lane of either warp might be told something else.
  [[nodiscard]] Mask unordered_from(unsigned warp, unsigned lane, std::uint64_t from_unit,
                                    unsigned other, Mask lanes, std::uint32_t clock,
                                    bool& by_lane) const;
  /// Whether, of its own unit, all lanes of the warp know the same: what whole warps did.
  [[nodiscard]] bool lanes_know_alike(unsigned warp) const {
    return !has_extras && past[warp].lanes == nullptr;
  }
  /// Whether lanes of the warp know something that others of it do not.
  [[nodiscard]] bool has_lone(unsigned warp) const { return !past[warp].lone.empty(); }

  /// Where a clock has that part of a warp's past.
  [[nodiscard]] std::size_t at(Past part, unsigned warp) const {
    return static_cast<std::size_t>(part) * past.size() + warp;
  }
  [[nodiscard]] bool has_fences() const { return width != past.size(); }

  unsigned warps_per_cta;
  std::size_t width;  // of a clock
  Locations* grid;
  std::uint64_t unit = 0;
  std::uint32_t epoch = 1;      // changes when all that was before is ordered before all that comes
  bool has_extras = false;      // more is known than that of whole warps of the unit
  bool in_step = false;         // lanes of a warp are in order by themselves
  bool fences_are_own = false;  // fence.proxy.async covers its own thread's writes alone
  bool hands_on_tensor = false;  // fences of tensor memory go with every strong access
  std::vector<WarpPast> past;    // by warp
  Locations shared;              // of shared memory
  /// What strong accesses at an address hand on of tensor memory, relaxed ones too.
  std::unordered_map<std::uint64_t, WarpClocks> tensor;
};

/// Adds the lanes' knowledge of others.
void add_known(const Order& order, const Actor& who, Clocks& into);
/// Adds the lanes' knowledge of their own warp.
void add_own_past(const Order& order, const Actor& who, UnitPast& into);
/// Publishes the lanes' knowledge and their own past.
void release(Order& order, const Actor& who, Clocks& into);
void acquire(Order& order, const Actor& who, const Clocks& from);
/// Adds what a warp is told to what it knows.
void learn(const Order& order, Clocks& into, const Clocks& from);
/// The clocks of exactly these lanes in a list, made if there are none.
Clocks& clocks_of(std::vector<LoneClocks>& list, Mask lanes, Scope scope = {});

}  // namespace ww::sim
