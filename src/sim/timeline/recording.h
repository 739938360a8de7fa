// SPDX-License-Identifier: Apache-2.0
// What the warps of one cluster did, step by step: when each ran or waited and for what, which
// asynchronous work was under way, and the phases of its mbarriers. Plain data; recorder.h fills it
// in. Ops are numbers of the program's ops, warps are numbered through the cluster.
//
// Time is not simulated. A step is a round in which every warp that can run executes one instruction
// (schedule `step`), or one instruction of one warp (the other schedules).
//
// Long runs have more than can be kept. Then neighbours shorter than the recording's grain are merged
// into one record each (detail.h), and the whole run stays covered.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "sim/checks/findings.h"

namespace ww::sim {

struct History;

/// A warp at an op; kNoOp: no particular warp.
struct Doer {
  std::uint32_t op = kNoOp;
  std::uint32_t warp = 0;

  friend bool operator==(const Doer&, const Doer&) = default;
};

enum class WarpState : std::uint8_t {
  Runs,
  AtMbarrier,
  AtBarrier,         // bar.sync and its relatives
  AtClusterBarrier,  // barrier.cluster.wait
  AtWarpgroup,       // at a wgmma, for the other warps of its group
  AtColumns,         // for columns of tensor memory
  AtRegisters,       // for registers that other warps give back
  AtLanes,           // for other lanes of the warp
};

/// Steps begin to before end in one state. Between two spans a warp could run and was not chosen.
struct WarpSpan {
  WarpState state = WarpState::Runs;
  std::uint64_t begin = 0, end = 0;
  std::uint32_t op = kNoOp;   // of a wait: the instruction
  std::uint32_t subject = 0;  // AtBarrier: its number; AtMbarrier: index into Recording::mbarriers
  std::uint64_t phase = 0;    // AtMbarrier: that it waits for
  Doer released_by = {};      // of a wait
  bool is_open = false;       // it still waits at the end
  std::uint32_t merged = 0;  // so many spans; state, op, subject and phase are of what took longest
  std::uint64_t runs = 0;    // of merged ones: steps in which it ran

  friend bool operator==(const WarpSpan&, const WarpSpan&) = default;
};

/// How many steps were spent so.
struct StateSteps {
  WarpState state = WarpState::Runs;
  std::uint32_t subject = 0;  // as in WarpSpan
  std::uint64_t steps = 0;
};

struct RecordedWarp {
  std::vector<WarpSpan> spans;
  std::uint64_t path = 0;               // a digest of the ops it executed, in order
  std::vector<StateSteps> merged = {};  // what the spans that were merged had
};

/// A phase's missing arrivals and bytes from a step on.
struct PhasePoint {
  std::uint64_t step = 0;
  std::int64_t arrivals = 0;
  std::int64_t bytes = 0;  // expected and not there; below 0: there and not expected
};

struct RecordedPhase {
  std::uint64_t number = 0;
  std::uint64_t begin = 0, end = 0;
  bool is_over = false;
  std::int64_t bytes = 0;   // the most that it expected at a time
  Doer completed_by = {};   // the last arrival, or who issued the work that arrived last
  bool is_by_work = false;  // the latter
  std::vector<PhasePoint> points = {};  // the first at `begin`; none of merged phases
  std::uint32_t merged = 0;             // so many phases, from `number` on
};

struct RecordedMbarrier {
  std::uint32_t cta = 0;     // rank in the cluster
  std::uint32_t offset = 0;  // in its shared memory
  std::uint32_t op = kNoOp;  // that made it
  std::uint64_t end = 0;     // of its life
  std::vector<RecordedPhase> phases = {};
};

enum class AsyncKind : std::uint8_t {
  CopyGroup,   // cp.async
  Signalled,   // bulk and tensor copies and stores that tell an mbarrier
  BulkGroup,   // bulk and tensor copies of a bulk group
  Product,     // wgmma.mma_async of one group
  TensorWork,  // tcgen05.mma, cp and shift up to a commit
  Commit,      // what arrives at an mbarrier once the work before it is done
};

/// Work of one kind that one warp (a Product: a warpgroup) has issued and that ends together.
struct AsyncRecord {
  AsyncKind kind{};
  Doer issued_by = {};
  std::uint64_t begin = 0, end = 0;
  std::uint64_t read = 0;  // BulkGroup: when its sources were known to be read; 0: not before `end`
  bool is_open = false;    // no wait saw it end
  std::uint32_t count = 0;  // instructions, times lanes of a Signalled or BulkGroup
  std::uint64_t bytes = 0;  // where known
  std::uint32_t group = 0;  // of a CopyGroup, BulkGroup, Product
  std::optional<std::uint32_t> mbarrier = {};  // that it tells: index into Recording::mbarriers
  std::uint64_t phase = 0;                     // of that, when it was issued
  Doer seen_by = {};                           // the wait that completed it; kNoOp: the end
  std::uint32_t merged = 0;                    // so many records, of one instruction of one warp
};

struct Recording {
  std::vector<std::uint64_t> ctas;  // numbers in the grid, by rank
  std::uint32_t warps_per_cta = 1;
  std::uint64_t steps = 0;     // recorded
  bool counts_rounds = false;  // a step is a round; else an instruction
  std::uint64_t grain = 0;     // records of fewer steps may be merged; 0: all is as it was
  bool is_cut = false;         // it ends before the run does: even merged there was too much
  std::vector<RecordedWarp> warps;
  std::vector<RecordedMbarrier> mbarriers;
  std::vector<AsyncRecord> work;
  std::shared_ptr<const History> history;  // its states, if they were asked for
};

}  // namespace ww::sim
