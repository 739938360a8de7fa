// SPDX-License-Identifier: Apache-2.0
// What runs together: the CTAs of one cluster (most often one CTA), their warps, shared memories,
// barriers and tensor memories. A unit runs on one thread of the host, and nothing in it depends on
// other units but the contents of global memory.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "num/matrix_tile.h"
#include "sim/checks/fences.h"
#include "sim/checks/neighbours.h"
#include "sim/checks/race.h"
#include "sim/launch.h"
#include "sim/memory/heap.h"
#include "sim/memory/tensor_memory.h"
#include "sim/order/order.h"
#include "sim/run/warp.h"

namespace ww::sim {

/// `bar.sync` and its relatives: one of the 16 of a CTA.
struct Barrier {
  std::uint32_t expected = 0;  // threads; 0: nobody has come yet
  std::uint32_t arrived = 0;
  bool is_partial = false;   // waits for a given number of threads, not for all
  std::uint32_t count = 0;   // of the reduction: threads whose predicate holds
  std::uint32_t voters = 0;  // and how many took part in it
  Mask warps_arrived = 0;
  Mask warps_passing = 0;  // of these, those that do not wait
  Clocks passed;           // what they knew when they came
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

/// An mbarrier object. It lives beside the memory: the eight bytes there are opaque to programs.
struct Mbarrier {
  std::uint64_t phase = 0;
  std::int64_t expected = 0, pending = 0, tx = 0;
  std::int64_t bytes = 0;                                // that this phase expects
  std::uint32_t expect_op = kNoOp, complete_op = kNoOp;  // the latest that changed tx
  bool is_overrun = false;      // more bytes came than were expected, and that was reported
  Location arriving;            // what arrivals of this phase publish
  Location clock;               // what waiting for the phases before it lets one know
  std::uint32_t op = kNoOp;     // that made it
  std::uint32_t maker = 0;      // the thread of the unit
  bool is_fenced = false;       // the maker has let it be known to the cluster
  std::uint32_t fenced_at = 0;  // the phase of the cluster's barrier then
  std::uint64_t polled_at = 0;  // Unit::activity when it was last tested in vain
  std::uint32_t polls = 0;      // how often since then
};

/// What is under way in four bytes of shared memory.
struct SharedMark {
  std::uint32_t writes = 0, reads = 0;  // asynchronous ones that have not been waited for
  std::uint32_t op = kNoOp;             // the latest of them, or what made the mbarrier
  std::uint16_t warp = 0;               // of the unit
  std::uint8_t lane = 0;
  bool is_barrier = false;
};

/// Work that ends by signalling an mbarrier or by completing a group, and is done when somebody
/// waits for it.
struct PendingJob {
  enum class Kind : std::uint8_t {
    Signal,     // ends by signalling the mbarrier
    BulkRead,   // of a bulk group: its sources have been read
    BulkWrite,  // of a bulk group: all is done
  };
  Kind kind = Kind::Signal;
  std::uint64_t mbarrier = 0;  // generic address with rank; 0: a bulk group
  std::uint32_t op = 0;
  Warp* warp = nullptr;
  unsigned lane = 0;
  std::uint32_t group = 0;  // of the thread's bulk groups
  std::uint32_t bytes = 0;  // that the mbarrier counts
  std::function<void()> deliver;
};

class Cta {
 public:
  unsigned rank = 0;         // in the cluster
  std::uint64_t linear = 0;  // in the grid
  Dim3 id{};
  Region shared;
  std::vector<std::unique_ptr<Warp>> warps;
  std::array<Barrier, 16> barriers;
  std::unordered_map<std::uint32_t, Mbarrier> mbarriers;  // by offset in shared memory
  std::unique_ptr<TensorMemory> tensor;
  std::vector<SharedMark> marks;  // by word of shared memory; empty until something is marked
  std::uint32_t watched = 0;      // words with a mark
 private:
  friend class Unit;
  std::unique_ptr<std::byte[]> data_;
  std::unique_ptr<std::uint8_t[]> undefined_;
};

class Conflicts;

/// What units share that can synchronise through global memory. They run on one thread.
struct GridOrder {
  Locations locations;
  GridRaces races;
};

/// What all units of a run share, and but for the grid only read.
struct RunContext {
  const Program* program = nullptr;
  const Code* code = nullptr;
  const Launch* launch = nullptr;
  const RunOptions* options = nullptr;
  GlobalMemory* memory = nullptr;
  Conflicts* conflicts = nullptr;  // null: units run one after the other
  Region* params = nullptr;
  Dim3 cluster{};
  bool is_explicit_cluster = false;
  std::uint64_t grid_workspace = 0;  // address; 0: the kernel has no grid barrier
  std::uint32_t shared_bytes = 0;
  Heap* heap = nullptr;       // of malloc; kernels that call it run on one thread
  bool tracks = false;        // undefined bytes
  bool watches = false;       // anything that the fast loop does not do
  GridOrder* grid = nullptr;  // null: units cannot synchronise through global memory
  num::MatrixMode matrix{};
};

/// The number in the grid of a CTA of a unit.
std::uint64_t cta_linear(const RunContext& context, std::uint64_t unit, std::uint64_t rank);

class Unit {
 public:
  explicit Unit(const RunContext& context);

  /// Makes the unit ready to run the cluster of that number.
  void start(std::uint64_t cluster);
  /// Runs until all its threads have ended, or about `turns` rounds are over. Whether it is done.
  bool run(std::uint64_t turns);

  const RunContext& context;
  std::vector<std::unique_ptr<Cta>> ctas;
  Findings findings;
  std::unique_ptr<Order> order;            // null: neither of these is checked
  std::unique_ptr<RaceTracker> races;      // null: not checked
  std::unique_ptr<FenceTracker> fences;    // null: not checked, or nothing needs them
  std::unique_ptr<Neighbours> neighbours;  // null: not checked, or there are none
  Counters counters;
  Outcome outcome = Outcome::Finished;
  std::string reason;
  std::string printed;
  std::uint64_t index = 0;
  std::uint64_t activity = 0;  // counts what can let somebody else go on
  std::uint64_t budget = 0;    // instructions left
  std::vector<PendingJob> jobs;
  std::uint64_t breaks_shown = 0;   // of RunOptions::stop_at
  std::uint64_t counted_bytes = 0;  // of what it holds, in a sum over all units

  /// Does the work that signals this mbarrier.
  void deliver(std::uint64_t mbarrier);
  /// The mbarrier at a shared address with rank; nullptr: there is none.
  Mbarrier* find_mbarrier(std::uint64_t address);
  /// The executing lanes of the warp let the mbarriers that they made be known to the cluster.
  void fence_mbarriers(const Warp& warp);
  /// The phase is over if nothing is pending any more; lets those go on who wait for it.
  void settle(Mbarrier& barrier, std::uint64_t address);
  /// Arrivals of threads at a barrier of the CTA; releases it if all are there.
  void arrive(Cta& cta, unsigned barrier);
  /// The same for the barrier of the cluster, after `arrived` more threads.
  void arrive_cluster(std::uint64_t arrived = 0);
  [[nodiscard]] std::uint32_t cluster_phase() const { return cluster_phase_; }
  void stop(Outcome what, std::string why);
  /// What kernels can pile up without end: findings, work that nobody waits for, calls that do not
  /// return, text.
  [[nodiscard]] std::uint64_t piled_bytes() const;
  /// Ends the run if that is more than the budget of memory. Whether it goes on.
  bool bound_memory();
  /// Barriers wait for fewer threads once some have ended.
  void lanes_ended(Warp& warp);
  [[nodiscard]] std::uint64_t clock_now() const { return executed_; }
  /// `block (1, 0, 0), warp 2`
  [[nodiscard]] std::string describe(const Cta& cta) const;
  /// Of a warp of a unit: the number of its CTA in the grid, and its own in the CTA.
  [[nodiscard]] std::uint64_t linear_of(std::uint64_t unit, unsigned unit_warp) const;
  [[nodiscard]] unsigned index_in_cta(unsigned unit_warp) const {
    return unit_warp % static_cast<unsigned>(ctas[0]->warps.size());
  }
  /// The clocks of the cluster's barrier: of the arrivals so far, and of the phases before.
  Clocks cluster_arriving, cluster_clock;

 private:
  bool pass();
  bool unblock();
  void report_deadlock();
  void finish();
  void report_unwaited();
  void report_overrun(Mbarrier& barrier, std::uint64_t address);
  void report_left_over();
  struct Piled;
  [[nodiscard]] Piled piled() const;
  void report_hopeless(const Cta& cta, unsigned number, const Barrier& barrier);
  void note_skips(const Cta& cta, const Barrier& barrier);
  void report_skips();
  void prepare(Cta& cta, std::uint64_t linear, unsigned rank);

  std::uint64_t executed_ = 0;
  std::uint64_t idle_wakes_ = 0;
  std::uint64_t activity_seen_ = 0;
  std::mt19937_64 random_;
  std::vector<Warp*> order_;
  std::vector<SkippedBarrier> skips_;
  std::uint64_t cluster_arrived_ = 0;
  std::uint32_t cluster_phase_ = 0;
};

/// Lanes of a warp, as the order sees them.
inline Actor actor_of(const Warp& warp, Mask lanes) {
  return {.warp = warp.unit_warp(), .lanes = lanes, .live = warp.live, .born = warp.born};
}

}  // namespace ww::sim
