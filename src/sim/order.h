// SPDX-License-Identifier: Apache-2.0
// What orders the threads of a unit, as vector clocks with one entry per warp:
//
//   - a barrier of the CTA: everything before it in any participant is known to all of them after
//   it
//   - mbarrier arrive / wait, release and acquire accesses, fences around atomic or volatile ones
//   - inside a warp: `bar.warp.sync` and every other instruction that waits for lanes
//
// A whole warp learns and publishes at once: a lane that waits for an mbarrier lets its neighbours
// know, too. That can miss something, and never finds disorder where there is none.
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
#include <span>
#include <unordered_map>
#include <vector>

#include "sim/lanes.h"

namespace ww::sim {

/// Entry w: how much of warp w's past is known; and so on for each further part.
using WarpClocks = std::vector<std::uint32_t>;

/// The parts of a clock.
enum class Past : std::uint8_t { Known, FencedShared, FencedGlobal, FencedTensor };

class Order {
 public:
  /// `has_fences`: the program has accesses to which fences matter.
  Order(unsigned warps, bool has_fences);
  void reset();

  /// All threads of the unit passed a barrier together.
  void everyone_met();
  /// These warps passed a barrier together.
  void met(std::span<const unsigned> warps);
  /// Lanes of a warp met at a collective instruction.
  void lanes_met(unsigned warp, Mask lanes);
  /// Publishes what the warp knows, and its own past.
  void release(unsigned warp, WarpClocks& into);
  void acquire(unsigned warp, const WarpClocks& from);
  void fence(unsigned warp);
  /// Accesses that synchronise at an address: an atomic, a volatile or ordered load or store.
  void sync_write(unsigned warp, std::uint64_t address, bool releases);
  void sync_read(unsigned warp, std::uint64_t address, bool acquires);

  // --- fences that go with the order; nothing without `has_fences` -------------------------------
  /// fence.proxy.async of these lanes for shared (or else global) memory.
  void fence_proxy(unsigned warp, Mask lanes, bool is_whole_warp, Past what);
  /// tcgen05.fence::before_thread_sync and ::after_thread_sync.
  void fence_tensor_before(unsigned warp);
  void fence_tensor_after(unsigned warp);
  /// What relaxed arrivals and waits hand on all the same: the order of fenced work in tensor
  /// memory.
  void release_relaxed(unsigned warp, WarpClocks& into) const;
  void acquire_relaxed(unsigned warp, const WarpClocks& from);
  /// The fence that tcgen05.commit is to whoever waits for its mbarrier.
  void commit_tensor(unsigned warp, WarpClocks& into) const;

  // --- questions ---------------------------------------------------------------------------------
  /// Changes when all that was before is ordered before all that comes.
  [[nodiscard]] std::uint32_t epoch() const { return epoch_; }
  [[nodiscard]] unsigned warps() const { return warps_; }
  /// The warp's own clock.
  [[nodiscard]] std::uint32_t now(unsigned warp) const { return own_[warp]; }
  [[nodiscard]] bool knows(unsigned warp, unsigned other, std::uint32_t clock) const {
    return known_[warp][other] >= clock;
  }
  /// Whether all lanes of the warp know what one of them did then.
  [[nodiscard]] bool lanes_know(unsigned warp, std::uint32_t clock) const {
    return full_[warp] >= clock || known_[warp][warp] >= clock;
  }
  /// Whether what a lane of `other` did then is ordered before what `lane` of `warp` does now.
  [[nodiscard]] bool ordered(unsigned warp, unsigned lane, unsigned other, unsigned other_lane,
                             std::uint32_t clock) const;
  /// Whether a fence for the async proxy is on the way, too.
  [[nodiscard]] bool fenced_for_proxy(unsigned warp, unsigned other, unsigned other_lane,
                                      std::uint32_t clock, Past what) const;
  /// Whether both fences of tensor memory are; and which of them: that before the barrier, that
  /// behind it.
  [[nodiscard]] bool fenced_in_tensor(unsigned warp, unsigned other, std::uint32_t clock) const {
    return !after_[warp].empty() && after_[warp][at(Past::FencedTensor, other)] >= clock;
  }
  [[nodiscard]] bool has_before(unsigned warp, unsigned other, std::uint32_t clock) const {
    return known_[warp][at(Past::FencedTensor, other)] >= clock;
  }
  [[nodiscard]] bool has_after(unsigned warp, unsigned other, std::uint32_t clock) const {
    return !after_[warp].empty() && after_[warp][at(Past::Known, other)] >= clock;
  }
  /// Whether the unit has synchronised with others through global memory.
  [[nodiscard]] bool is_synced() const { return synced_; }

 private:
  using LaneClocks = std::array<std::uint32_t, kLanes>;
  [[nodiscard]] std::size_t at(Past part, unsigned warp) const {
    return static_cast<std::size_t>(part) * warps_ + warp;
  }
  [[nodiscard]] bool has_fences() const { return width_ != warps_; }
  void join(WarpClocks& into, const WarpClocks& from) const;
  void join_tensor(WarpClocks& into, const WarpClocks& from) const;

  unsigned warps_;
  std::size_t width_;  // of a clock
  std::uint32_t epoch_ = 1;
  bool synced_ = false;
  std::vector<std::uint32_t> own_;   // each warp's own clock
  std::vector<std::uint32_t> full_;  // its clock when all its lanes last met
  std::vector<WarpClocks> known_;    // by warp
  std::vector<WarpClocks> fenced_;   // what each warp knew at its last fence
  std::vector<WarpClocks> heard_;    // what strong loads saw, until a fence makes it known
  std::vector<WarpClocks> after_;    // what it knew at its last tcgen05.fence::after_thread_sync
  /// By warp and lane: when two lanes last met without all others.
  std::vector<std::unique_ptr<std::array<LaneClocks, kLanes>>> lanes_;
  /// By warp: when single lanes were last fenced for the async proxy; shared and global memory.
  std::vector<std::unique_ptr<std::array<LaneClocks, 2>>> lane_fences_;
  std::unordered_map<std::uint64_t, WarpClocks> locations_;
};

}  // namespace ww::sim
