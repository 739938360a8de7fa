// SPDX-License-Identifier: Apache-2.0
// A unit runs together: the CTAs of one cluster (most often one CTA), their warps, shared memories,
// barriers and tensor memories. It runs on one host thread, and depends on other units only through
// the contents of global memory.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "num/matrix_tile.h"
#include "sim/checks/copied_tiles.h"
#include "sim/checks/fences.h"
#include "sim/checks/grid_wait.h"
#include "sim/checks/last_writers.h"
#include "sim/checks/neighbours.h"
#include "sim/checks/origins.h"
#include "sim/checks/promises.h"
#include "sim/checks/race.h"
#include "sim/launch.h"
#include "sim/memory/heap.h"
#include "sim/memory/tensor_memory.h"
#include "sim/order/order.h"
#include "sim/run/barriers.h"
#include "sim/run/mbarriers.h"
#include "sim/run/spins.h"
#include "sim/run/turns.h"
#include "sim/run/warp.h"
#include "sim/run/warpgroup.h"
#include "sim/timeline/recorder.h"

namespace ww::sim {

/// What is under way in four bytes of shared memory.
struct SharedMark {
  std::uint32_t writes = 0, reads = 0;  // asynchronous ones that have not been waited for
  std::uint32_t op = kNoOp;             // the latest of them, or what made the mbarrier
  std::uint16_t warp = 0;               // of the unit
  std::uint8_t lane = 0;
  bool is_barrier = false;
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
  std::vector<Warpgroup> warpgroups;  // empty until one multiplies
  std::vector<SharedMark> marks;      // by word of shared memory; empty until something is marked
  std::uint32_t watched = 0;          // words with a mark
  CopiedTiles tiles;                  // empty unless swizzles are looked at
  Promises promises;
  std::optional<std::uint64_t> collected_a;  // that a tcgen05.mma has left in the collector buffer
  bool was_refused = false;                  // it has seen that no cluster is left to take over
  std::unique_ptr<std::byte[]> data;         // of its shared memory
  std::unique_ptr<std::uint8_t[]> undefined;
};

class Conflicts;

/// What units share that can synchronise through global memory. They run on one thread.
struct GridOrder {
  Locations locations;
  Shadow races;
  LastWriters writers;
};

/// The clusters of a run one after the other: those from `next` on have not started.
struct ClusterQueue {
  std::uint64_t next = 0, count = 0;
  std::vector<std::uint64_t> taken;  // whose work others have taken over
};

/// What all units of a run share, and but for the grid and the queue only read.
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
  ClusterQueue* queue = nullptr;
  std::optional<std::uint64_t> recorded{};  // the cluster whose timeline is asked for
  num::MatrixMode matrix{};
};

/// The number in the grid of a CTA of a unit.
std::uint64_t cta_linear(const RunContext& context, std::uint64_t unit, std::uint64_t rank);
/// The number of the unit that has this CTA of the grid.
std::uint64_t unit_of(const RunContext& context, std::uint64_t cta);
/// The coordinates of its first CTA.
Dim3 first_cta(const RunContext& context, std::uint64_t unit);

/// When last nothing could run: its activity then, and how often waiting warps were woken since.
struct Idle {
  std::uint64_t activity = 0, wakes = 0;
};

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
  Origins origins;
  std::unique_ptr<Order> order;            // null: neither of these is checked
  std::unique_ptr<RaceTracker> races;      // null: not checked
  std::unique_ptr<FenceTracker> fences;    // null: not checked, or nothing needs them
  std::unique_ptr<Neighbours> neighbours;  // null: not checked, or there are none
  Counters counters;
  Outcome outcome = Outcome::Finished;
  std::string reason;
  std::string printed;
  std::uint64_t index = 0;
  std::uint64_t activity = 0;  // counts what can let others go on
  Idle idle;
  Ranks ranks;
  std::mt19937_64 random;
  std::uint64_t budget = 0;  // instructions left
  std::vector<PendingJob> jobs;
  std::uint64_t jobs_numbered = 0;
  bool work_is_due = false;            // schedule `step`: no warp can run, so work completes
  std::unique_ptr<Recorder> recorder;  // null: this cluster is not recorded
  Spins* spins = nullptr;              // null: nobody watches how it hangs
  ClusterBarrier cluster;
  std::vector<SkippedBarrier> skips;
  std::vector<std::uint32_t> overtaken;  // warps of it, by Arrivals
  /// By a wgmma.mma_async, the first op that wrote over what it still read.
  std::unordered_map<std::uint32_t, std::uint32_t> overwriters;
  std::vector<Warp*> warps;         // of all CTAs, in the order of their turns
  std::uint64_t executed = 0;       // ops of all warps
  std::uint64_t breaks_shown = 0;   // of RunOptions::stop_at
  std::uint64_t counted_bytes = 0;  // of what it holds, in a sum over all units

  void stop(Outcome what, std::string why);
  /// What kernels can pile up without end: findings, work without a wait, calls that do not
  /// return, text.
  [[nodiscard]] std::uint64_t piled_bytes() const;
  /// Ends the run if that is more than the budget of memory. Whether it goes on.
  bool bound_memory();
  std::vector<GridWait> grid_waits;  // in the order of execution

  [[nodiscard]] bool checks(Check check) const { return context.options->checks.has(check); }
  /// `block (1, 0, 0), warp 2`
  [[nodiscard]] static std::string describe(const Dim3& cta);
  [[nodiscard]] std::string describe(const Cta& cta) const { return describe(cta.id); }
  /// Lanes of a warp of this unit, or of another one, by its number in the unit.
  [[nodiscard]] Party party(std::uint32_t op, unsigned unit_warp, Mask lanes) const {
    return party(op, index, unit_warp, lanes);
  }
  [[nodiscard]] Party party(std::uint32_t op, std::uint64_t unit, unsigned unit_warp,
                            Mask lanes) const;

 private:
  bool run_rounds(std::uint64_t turns);
};

/// A place in shared memory, by a generic address: "0x40", in a cluster of several CTAs "0x40 of CTA 1 of
/// the cluster", and where no CTA of the cluster has it, the address in the state space.
std::string shared_text(const Unit& unit, std::uint64_t address);

/// The running op may let others go on.
inline void act(Warp& warp) {
  constexpr std::uint64_t kSpread = 0x9E37'79B9'7F4A'7C15U;
  ++warp.unit->activity;
  warp.acts |= std::uint64_t{1} << (warp.current * kSpread >> 58U);
}

/// Lanes of a warp, as the order sees them. What one does in step all of them do.
inline Actor actor_of(const Warp& warp, Mask lanes) {
  if (warp.unit->order != nullptr && warp.unit->order->in_step) lanes |= warp.born;
  return {.warp = warp.unit_warp(), .lanes = lanes, .live = warp.live, .born = warp.born};
}

}  // namespace ww::sim
