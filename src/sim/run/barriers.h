// SPDX-License-Identifier: Apache-2.0
// The barriers of a CTA and of the cluster. A thread that exits counts as arrived.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/checks/findings.h"
#include "sim/lanes.h"
#include "sim/order/clocks.h"

namespace ww::sim {

class Cta;
class Unit;
class Warp;

/// Who arrives at a barrier. An arrival that is not ordered after one that the generation before it
/// counted could, in another order, have been counted in its place: the warp that it may overtake is
/// noted, and delayed in a further run (schedules.h).
class Arrivals {
 public:
  /// The first of these lanes of the warp arrives in the open generation.
  void note(const Warp& warp, Mask lanes);
  void next_generation() {
    before_ = std::move(now_);
    now_.clear();
  }

 private:
  struct Arrival {
    std::uint32_t warp = 0;  // of the unit
    std::uint32_t lane = 0, clock = 0;
  };
  std::vector<Arrival> before_, now_;
};

/// `bar.sync` and its relatives: one of the 16 of a CTA.
struct Barrier {
  std::uint32_t expected = 0;  // threads; 0: none has come yet
  std::uint32_t arrived = 0;
  bool is_partial = false;   // waits for a given number of threads, not for all
  std::uint32_t count = 0;   // of the reduction: threads whose predicate holds
  std::uint32_t voters = 0;  // and how many took part in it
  Mask warps_arrived = 0;
  Mask warps_passing = 0;                    // of these, the ones that do not wait
  std::array<Mask, kLanes> lanes_arrived{};  // by warp
  Clocks passed;                             // what they knew when they came
  Arrivals arrivals;                         // of partial ones
  std::uint32_t first_op = kNoOp;
  std::array<std::uint32_t, kLanes> ops{};  // where each warp has come to it
};

/// A warp that was not at the barrier at which the others were.
struct SkippedBarrier {
  std::uint32_t op = 0;      // the barrier
  std::uint32_t at = kNoOp;  // the one at which the warp was; kNoOp: it had ended
  std::uint64_t block = 0;   // linear
  std::uint32_t warp = 0;
};

/// The barrier of all threads of the cluster. Warp::pending has who has arrived in the open phase.
struct ClusterBarrier {
  std::uint32_t phase = 0;
  Clocks arriving, clock;  // of the arrivals so far, and of the phases before
};

/// Threads have arrived at a barrier of the CTA: releases it if all are there.
void arrive(Unit& unit, Cta& cta, unsigned barrier);
/// The same for the barrier of the cluster: its phase ends when all threads that have not ended
/// have arrived. What ended threads did before does not count.
void arrive_cluster(Unit& unit);
/// Barriers wait for fewer threads once these have ended.
void lanes_ended(Warp& warp, Mask ended);
/// Reports warps that skipped a barrier and race with others.
void report_skips(Unit& unit);

}  // namespace ww::sim
