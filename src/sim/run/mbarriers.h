// SPDX-License-Identifier: Apache-2.0
// mbarriers, and the asynchronous work that signals them.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "sim/checks/findings.h"
#include "sim/memory/memory.h"
#include "sim/order/locations.h"
#include "sim/run/barriers.h"

namespace ww::sim {

class Unit;
class Warp;

/// Who has arrived at an mbarrier, or sent bytes to it.
struct MbarrierSupply {
  std::uint32_t op = kNoOp;
  std::uint32_t unit_warp = 0;
  bool sends = false;
  std::int64_t arrivals = 0;  // at once, at most

  [[nodiscard]] bool is_like(const MbarrierSupply& other) const {
    return op == other.op && unit_warp == other.unit_warp && sends == other.sends;
  }
};

/// An mbarrier object. It lives beside the memory: the eight bytes there are opaque to programs.
struct Mbarrier {
  std::uint64_t phase = 0;
  std::int64_t expected = 0, pending = 0, tx = 0;
  std::int64_t bytes = 0;                                // that this phase expects
  std::uint32_t expect_op = kNoOp, complete_op = kNoOp;  // the latest that changed tx
  bool is_overrun = false;  // more bytes came than were expected, and that was reported
  Location arriving;        // what arrivals of this phase publish
  Arrivals arrivals;
  Location clock;                        // what waiting for the phases before it lets one know
  std::uint32_t op = kNoOp;              // that made it
  std::uint32_t maker = 0;               // the thread of the unit
  std::uint32_t made_at = 0;             // the clock of its warp then
  bool is_fenced = false;                // the maker has let it be known to the cluster
  std::uint32_t fenced_at = 0;           // the phase of the cluster's barrier then
  std::uint64_t polled_at = 0;           // Unit::activity when it was last tested in vain
  std::uint32_t polls = 0;               // how often since then
  std::vector<MbarrierSupply> supplies;  // the first few that differ, for messages
  std::unordered_map<std::uint32_t, std::uint64_t> seen;  // by warp: the last phase it saw end
  std::uint32_t early_wait = kNoOp;  // the last wait that passed while work was on its way here
};
/// Remembers a supply, if it is new and there is room.
void note_supply(Mbarrier& barrier, const MbarrierSupply& supply);

/// Work that ends by signalling an mbarrier or by completing a group, and is done when a thread
/// waits for it.
struct PendingJob {
  enum class JobKind : std::uint8_t {
    Signal,     // ends by signalling the mbarrier
    BulkRead,   // of a bulk group: its sources have been read
    BulkWrite,  // of a bulk group: all is done
  };
  JobKind kind = JobKind::Signal;
  std::uint64_t mbarrier = 0;  // generic address; 0: a bulk group
  std::uint32_t op = 0;
  Warp* warp = nullptr;
  unsigned lane = 0;
  std::uint32_t group = 0;  // of the thread's bulk groups
  std::uint32_t bytes = 0;  // that the mbarrier counts
  std::uint32_t held = 0;   // bytes that it keeps besides
  std::function<void()> deliver;
  std::uint64_t id = 0;  // that a recorder has given it
};

/// The mbarrier at a shared address; nullptr: there is none.
Mbarrier* find_mbarrier(Unit& unit, std::uint64_t address);
/// Whether all of the cluster know of the mbarrier by its own fence and a barrier of the cluster behind
/// that, which need not order anything else.
[[nodiscard]] bool is_announced(const Unit& unit, const Mbarrier* barrier);
/// The executing lanes of the warp let the mbarriers that they made be known to the cluster.
void fence_mbarriers(const Warp& warp);
/// Completes the phase if nothing is pending; wakes the threads that wait for it.
void settle_phase(Unit& unit, Mbarrier& barrier, std::uint64_t address);
/// Whether work is under way that signals this mbarrier.
[[nodiscard]] bool has_jobs(const Unit& unit, std::uint64_t mbarrier);
/// What the mbarrier is still needed for, in words; nullptr: nothing.
[[nodiscard]] const char* use_of(const Unit& unit, const Mbarrier& barrier, std::uint64_t address);
/// Does the work that signals this mbarrier.
void deliver_jobs(Unit& unit, std::uint64_t mbarrier);
/// Reports bytes that no thread expected.
void report_left_over(Unit& unit);

}  // namespace ww::sim
