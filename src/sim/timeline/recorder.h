// SPDX-License-Identifier: Apache-2.0
// Watches a unit while it runs and makes a Recording. It compares what is pending before and after
// each op, so the instructions themselves know nothing of it, and a run without it pays nothing. The
// recorder itself follows the warps and keeps the recording small; watched_mbarriers.h and live_work.h
// fill in the rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "sim/lanes.h"
#include "sim/timeline/engine_work.h"
#include "sim/timeline/live_work.h"
#include "sim/timeline/recorder_context.h"
#include "sim/timeline/recording.h"
#include "sim/timeline/watched_mbarriers.h"

namespace ww::sim {

class HistoryWriter;
class Unit;
class Warp;

class Recorder {
 public:
  /// No more is kept: spans, points and work together. Beyond, short ones are merged.
  static constexpr std::size_t kMaxRecords = 200'000;

  explicit Recorder(Unit& unit);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// Warps are about to have their turns. Since the last round some may have been let go, and work
  /// may have completed on its own.
  void round_begins();
  /// The warp has executed its current op, in some lanes or in none.
  void op_done(Warp& warp, bool executes);
  /// The op that runs gives work to the copy engine or to the tensor core. Kept with the states.
  void note_copy(EngineCopy copy);
  void note_product(const EngineProduct& product);
  /// All warps that could run have had their turn.
  void round_done();
  /// The unit has ended, one way or another.
  void end();

  [[nodiscard]] bool is_full() const { return context_.out.is_cut; }
  [[nodiscard]] Recording take();

 private:
  // What happened outside of all ops: work that completed on its own.
  void catch_up();
  void note_run(const Warp& warp);
  // Whether the phase that it waits for is not over.
  [[nodiscard]] bool is_going_on(const WarpSpan& wait) const;
  void note_state(const Warp& warp);
  void open_wait(unsigned warp, const WarpSpan& wait);
  void note_released(std::uint64_t end);
  void bound();
  void coarsen();
  void clip(std::uint64_t steps);

  RecorderContext context_;
  WatchedMbarriers mbarriers_;
  LiveWork work_;
  std::vector<bool> waits_;                 // by warp: its last span is a wait that goes on
  std::unique_ptr<HistoryWriter> history_;  // null: states are not asked for
  bool ran_ = false;                        // something, in this round
  std::uint64_t activity_ = 0;    // of the unit, when its waits and mbarriers were last looked at
  std::uint64_t last_event_ = 0;  // the step in which that last changed
};

}  // namespace ww::sim
