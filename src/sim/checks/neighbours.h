// SPDX-License-Identifier: Apache-2.0
// Shared memory of other CTAs of a cluster, which is there only as long as these run: something
// must order the end of at least one of their threads behind every use of it.
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
  /// One CTA: what its ended threads knew, and how others used its memory.
  struct Life {
    Clocks known;
    bool is_over = false;
    Party end{};
    std::vector<WarpUse> uses;
  };
  void report(Unit& unit, const Life& life, unsigned owner, const WarpUse& use,
              unsigned lane) const;

  const Order& order_;
  std::vector<Life> lives_;  // by rank
};

}  // namespace ww::sim
