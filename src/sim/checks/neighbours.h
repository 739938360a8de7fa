// SPDX-License-Identifier: Apache-2.0
// Shared memory of other CTAs of a cluster, which exists only while these run: something must order
// the exit of at least one of their threads after every use of it. The same holds for a CTA's own
// memory if the copy engine reads it for another CTA: only that CTA's mbarrier tells when the
// engine is done, so a wait for it must be ordered before the exit.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/checks/findings.h"
#include "sim/order/manner.h"
#include "sim/order/order.h"

namespace ww::sim {

struct Region;
class Unit;
class Warp;

class Neighbours {
 public:
  Neighbours(const Order& order, std::size_t ctas) : order_(order), lives_(ctas) {}
  void reset();

  /// Lanes use shared memory of a region that is not their CTA's.
  void used(Warp& warp, const Region& region, const std::uint64_t* address, Mask lanes,
            unsigned bytes, Touched how);
  /// The executing lanes of the warp have ended.
  void ended(Warp& warp);

  /// The copy engine reads memory of the lane's own CTA and signals an mbarrier of another CTA.
  struct ReadId {
    unsigned rank = 0;
    std::size_t number = 0;
  };
  ReadId read_begins(const Warp& warp, unsigned lane, std::uint64_t address, std::uint64_t bytes,
                     std::uint64_t mbarrier);
  /// It has read, in that phase of the mbarrier.
  void read_ends(ReadId read, std::uint64_t phase) {
    lives_[read.rank].reads[read.number].phase = phase;
  }
  /// Lanes have seen that the phases of the mbarrier before this one are over.
  void waited(const Warp& warp, Mask lanes, std::uint64_t mbarrier, std::uint64_t phase);

 private:
  /// The latest use by each lane of a warp.
  struct WarpUse {
    unsigned warp = 0;  // of the unit
    LaneClocks clocks{};
    std::array<std::uint32_t, kLanes> ops{};
    std::array<std::uint64_t, kLanes> address{};
    unsigned bytes = 0;
    Touched how{};
  };
  /// A read by the copy engine, and who has waited for its mbarrier. Of equal ones the latest: phases end
  /// in order.
  struct EngineRead {
    static constexpr std::uint64_t kUnderWay = ~std::uint64_t{0};
    struct Wait {
      unsigned warp = 0;  // of the unit
      Mask lanes = 0;
      std::uint32_t clock = 0;
    };
    std::uint32_t op = 0;
    unsigned warp = 0;  // of the unit
    unsigned lane = 0;
    std::uint64_t address = 0, bytes = 0, mbarrier = 0;
    std::uint64_t phase = kUnderWay;  // of the mbarrier, in which it was done
    std::vector<Wait> waits = {};     // the first of each warp
  };
  /// One CTA: what its ended threads knew, how others used its memory, and what the engine read there.
  struct Life {
    Clocks known;
    bool is_over = false;
    Party end{};
    std::vector<WarpUse> uses;
    std::vector<EngineRead> reads;
  };
  [[nodiscard]] bool is_heard_of(const Life& life, unsigned rank, const EngineRead& read) const;
  void report(Unit& unit, const Life& life, const WarpUse& use, unsigned lane) const;
  static void report(Unit& unit, const Life& life, const EngineRead& read);

  const Order& order_;
  std::vector<Life> lives_;  // by rank
};

}  // namespace ww::sim
