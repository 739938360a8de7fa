// SPDX-License-Identifier: Apache-2.0
// What orders the threads of a unit among each other and behind threads of other units, by the
// rules of the PTX memory model, as vector clocks (clocks.h):
//
//   - a barrier of the CTA or the cluster, an mbarrier: what was before an arrival is known to who
//     has waited
//   - a release pattern (a strong write that releases, or a fence and then a strong write) and an
//     acquire pattern (a strong read that acquires, or a strong read and then a fence) at the same
//     location, if the scopes of both include the other thread (locations.h)
//   - inside a warp: `bar.warp.sync`; other instructions that wait for lanes order nothing
//
// Lanes that wait, arrive or fence by themselves learn and publish for themselves alone; others of
// the warp know of it once they meet them there. Fences go with barriers: a fence before a barrier
// and a relaxed write behind it, by another thread, publish, and so do a relaxed read before it and
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
#include <span>
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
};

/// What a fence is for.
struct FenceKind {
  bool acquires = true, releases = true;
  Scope scope = Scope::Gpu;
};

/// A strong access.
struct StrongAccess {
  bool reads = false, writes = false;  // both: an atomic
  bool acquires = false, releases = false;
  Scope scope = Scope::Gpu;
};

class Order {
 public:
  /// `warps_per_cta`: of the unit's warps; `has_fences`: the program has accesses to which fences
  /// matter; `grid`: locations of global memory, null where units cannot synchronise.
  Order(unsigned warps, unsigned warps_per_cta, bool has_fences, Locations* grid);
  void reset(std::uint64_t unit);

  /// All threads of the unit passed a barrier together.
  void everyone_met();
  /// These warps passed a barrier together, at which others arrived without waiting (`arrived`).
  void met(std::span<const unsigned> warps, const Clocks& arrived = {});
  /// Lanes of a warp met at its barrier.
  void lanes_met(const Actor& who);
  /// Adds what the lanes know of others.
  void know(const Actor& who, Clocks& into) const { add_known(who, into); }
  /// Publishes what the lanes know, and their own past.
  void release(const Actor& who, Clocks& into);
  void acquire(const Actor& who, const Clocks& from);
  void fence(const Actor& who, const FenceKind& kind);
  /// Lanes arrive at an mbarrier, and wait for it.
  void arrive(const Actor& who, bool releases, Scope scope, Location& at);
  void wait(const Actor& who, bool acquires, Scope scope, const Location& at);
  /// Lanes make a strong access at one address.
  void strong_access(const Actor& who, std::uint64_t address, unsigned bytes,
                     const StrongAccess& access);

  // --- fences that go with the order; nothing without `has_fences` -------------------------------
  /// fence.proxy.async of these lanes for shared (or else global) memory.
  void fence_proxy(const Actor& who, Past what);
  /// tcgen05.fence::before_thread_sync and ::after_thread_sync.
  void fence_tensor_before(unsigned warp);
  void fence_tensor_after(const Actor& who);
  /// What relaxed arrivals and waits hand on all the same: what has a fence behind it, and the
  /// order of fenced work in tensor memory.
  void release_relaxed(const Actor& who, Clocks& into, Scope scope);
  /// The fence that tcgen05.commit is to threads that wait for its mbarrier.
  void commit_tensor(unsigned warp, Location& at);

  // --- questions ---------------------------------------------------------------------------------
  /// Changes when all that was before is ordered before all that comes.
  [[nodiscard]] std::uint32_t epoch() const { return epoch_; }
  [[nodiscard]] std::uint64_t unit() const { return unit_; }
  [[nodiscard]] unsigned warps() const { return warps_; }
  [[nodiscard]] Home home_of(unsigned warp) const { return {unit_, warp / warps_per_cta_}; }
  /// The warp's own clock.
  [[nodiscard]] std::uint32_t now(unsigned warp) const { return own_[warp]; }
  /// Whether all lanes of the warp know all that `other` did then.
  [[nodiscard]] bool knows(unsigned warp, unsigned other, std::uint32_t clock) const {
    return known_[warp].here.warps[other] >= clock;
  }
  /// Whether all lanes of the warp know what one of them did then.
  [[nodiscard]] bool lanes_know(unsigned warp, std::uint32_t clock) const {
    return full_[warp] >= clock || known_[warp].here.warps[warp] >= clock;
  }
  /// Whether what a lane of `other` did then is ordered before what `lane` of `warp` does now.
  [[nodiscard]] bool ordered(unsigned warp, unsigned lane, unsigned other, unsigned other_lane,
                             std::uint32_t clock) const;
  /// Of these lanes of a warp of another unit, those whose doings then are not ordered before that.
  /// Sets `by_lane` if another lane of either warp might be told something else.
  [[nodiscard]] Mask unordered_from(unsigned warp, unsigned lane, std::uint64_t unit,
                                    unsigned other, Mask lanes, std::uint32_t clock,
                                    bool& by_lane) const;
  /// Whether a fence for the async proxy is on the way, too.
  [[nodiscard]] bool fenced_for_proxy(unsigned warp, unsigned lane, unsigned other,
                                      unsigned other_lane, std::uint32_t clock, Past what) const;
  /// Whether both fences of tensor memory are; and which of them: that before the barrier, that
  /// behind it.
  [[nodiscard]] bool fenced_in_tensor(unsigned warp, unsigned other, std::uint32_t clock) const {
    return !after_[warp].empty() && after_[warp][at(Past::FencedTensor, other)] >= clock;
  }
  [[nodiscard]] bool has_before(unsigned warp, unsigned lane, unsigned other,
                                std::uint32_t clock) const;
  [[nodiscard]] bool has_after(unsigned warp, unsigned other, std::uint32_t clock) const {
    return !after_[warp].empty() && after_[warp][at(Past::Known, other)] >= clock;
  }
  /// Whether, of its own unit, all lanes of the warp know the same: what whole warps did.
  [[nodiscard]] bool lanes_know_alike(unsigned warp) const {
    return !has_extras_ && lanes_[warp] == nullptr;
  }
  /// Whether lanes of the warp know something that others of it do not.
  [[nodiscard]] bool has_lone(unsigned warp) const { return !lone_[warp].empty(); }

 private:
  /// What some lanes of a warp know, and not all.
  struct Lone {
    Mask lanes = 0;
    Clocks clocks;
  };
  /// What strong reads of some lanes saw, which a fence of that scope or more makes known.
  struct Heard {
    Mask lanes = 0;
    Scope scope{};
    Clocks clocks;
  };
  using LaneTable = std::array<LaneClocks, kLanes>;

  [[nodiscard]] std::size_t at(Past part, unsigned warp) const {
    return static_cast<std::size_t>(part) * warps_ + warp;
  }
  [[nodiscard]] bool has_fences() const { return width_ != warps_; }
  void learn(Clocks& into, const Clocks& from) const;
  void join_tensor(WarpClocks& into, const WarpClocks& from) const;
  void add_own_past(const Actor& who, UnitPast& into) const;
  void add_known(const Actor& who, Clocks& into) const;
  void hear(const Actor& who, Scope scope, const Clocks& what);
  void fold_lone(unsigned warp, Mask live);
  void lanes_share(const Actor& who);
  void meet(std::span<const unsigned> warps, const Clocks& arrived);
  void publish(const Actor& who, const StrongAccess& access, bool is_global, Location& location);
  [[nodiscard]] Clocks outward(const Clocks& clocks) const;

  unsigned warps_, warps_per_cta_;
  std::size_t width_;  // of a clock
  Locations* grid_;
  std::uint64_t unit_ = 0;
  std::uint32_t epoch_ = 1;
  bool has_extras_ = false;          // more is known than that of whole warps of the unit
  bool hands_on_tensor_ = false;     // fences of tensor memory go with every strong access
  std::vector<std::uint32_t> own_;   // each warp's own clock
  std::vector<std::uint32_t> full_;  // its clock when all its lanes last met
  std::vector<Clocks> known_;        // by warp, to all its lanes
  std::vector<std::vector<Lone>> lone_;
  std::vector<std::vector<Heard>> heard_;
  std::vector<WarpClocks> after_;  // what it knew at its last tcgen05.fence::after_thread_sync
  /// By warp and lane: when two lanes last met without all others.
  std::vector<std::unique_ptr<LaneTable>> lanes_;
  /// By warp: when single lanes were last fenced for the async proxy; shared and global memory.
  std::vector<std::unique_ptr<std::array<LaneClocks, 2>>> lane_fences_;
  Locations shared_;  // of shared memory
  std::unordered_map<std::uint64_t, WarpClocks>
      tensor_;  // what accesses there hand on, relaxed too
};

}  // namespace ww::sim
