// SPDX-License-Identifier: Apache-2.0
// Watches a unit while it runs and makes a Recording. It compares what is pending before and after
// each op, so the instructions themselves know nothing of it, and a run without it pays nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "sim/lanes.h"
#include "sim/timeline/engine_work.h"
#include "sim/timeline/recording.h"

namespace ww::sim {

class Cta;
class HistoryWriter;
struct Mbarrier;
struct PendingJob;
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

  [[nodiscard]] bool is_full() const { return out_.is_cut; }
  [[nodiscard]] Recording take();

 private:
  struct LiveWork {
    std::uint32_t record = 0;  // index into Recording::work
    Warp* warp = nullptr;
    std::uint32_t number = 0;  // of a copy, product or piece of tensor work
    std::uint64_t job = 0;     // of a job
  };
  struct WarpNotes {
    bool waits = false;  // its last span is a wait that goes on
    bool was_released = false;
    std::uint32_t copies = 0, tensor = 0;  // issued that are known
    std::uint64_t tensor_group = 0;        // counts its commits
  };

  // What happened outside of all ops: work that completed on its own.
  void catch_up();
  void note_run(const Warp& warp);
  // Whether the phase that it waits for is not over.
  [[nodiscard]] bool is_going_on(const WarpSpan& wait) const;
  void note_state(Warp& warp);
  void open_wait(Warp& warp, const WarpSpan& wait);
  void note_released(std::uint64_t end);
  void note_mbarriers();
  void note_mbarrier(const Cta& cta, std::uint32_t offset, const Mbarrier& barrier);
  void note_jobs();
  void note_job(PendingJob& job);
  void note_own_work(Warp& warp);
  void note_products(Warp& warp);
  void note_landed();
  void complete(const LiveWork& live);
  AsyncRecord& record_for(const AsyncRecord& wanted, std::uint64_t key, const LiveWork& live);
  bool attach_commit(const PendingJob& job);
  std::uint32_t mbarrier_index(std::uint64_t address);
  void clip(std::uint64_t steps);
  void bound();
  void coarsen();
  void merge_closed_work();
  [[nodiscard]] std::size_t count_records() const;

  Unit& unit_;
  Recording out_;
  std::unique_ptr<HistoryWriter> history_;  // null: states are not asked for
  std::uint64_t now_ = 0;
  Doer doer_;         // of the op that was executed
  bool ran_ = false;  // something, in this round
  std::size_t records_ = 0;
  std::uint64_t activity_ = 0;    // of the unit, when its waits and mbarriers were last looked at
  std::uint64_t last_event_ = 0;  // the step in which that last changed
  std::size_t mbarriers_ = 0;     // alive
  std::uint64_t last_job_ = 0;
  std::vector<WarpNotes> notes_;  // by warp
  std::vector<LiveWork> jobs_, copies_, tensor_, products_;
  std::unordered_map<std::uint64_t, std::uint32_t> open_;        // records that may grow, by key
  std::unordered_map<std::uint64_t, std::uint32_t> by_address_;  // mbarriers alive
  std::unordered_map<std::uint64_t, Doer> arrived_;  // by address: who issued what came in this op
};

}  // namespace ww::sim
