// SPDX-License-Identifier: Apache-2.0
// Asynchronous work of a unit that is under way while it is recorded. Each look compares what is pending
// with the last look: what has been added is new work, what is gone has come to its end. Pieces that
// end together share a record in Recording::work, which grows until one of them ends or a commit covers
// them; pieces that come later begin another.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "sim/timeline/recorder_context.h"

namespace ww::sim {

struct PendingJob;
class Warp;
class WatchedMbarriers;

class LiveWork {
 public:
  /// The recording must have its warps.
  LiveWork(RecorderContext& context, WatchedMbarriers& mbarriers)
      : context_(context), mbarriers_(mbarriers), issued_(context.out.warps.size()) {}

  /// The warp has executed its current op: what it issued and what it waited for.
  void op_done(const Warp& warp);
  /// Between ops: work that ended on its own.
  void catch_up();
  /// The recording ends: what is under way stays open.
  void end();
  /// Merges the records of work that is over, up to the recording's grain.
  void merge_ended();

 private:
  /// A piece of work that is pending.
  struct Piece {
    std::uint32_t record = 0;  // index into Recording::work
    const Warp* warp = nullptr;
    std::uint32_t number = 0;  // of a copy, product or piece of tensor work
    std::uint64_t job = 0;     // of a job
    bool only_reads = false;   // of a job: the reading half of a bulk copy
  };
  /// What a warp has issued that is known.
  struct Issued {
    std::uint32_t copies = 0, tensor = 0;
    std::uint64_t tensor_group = 0;  // counts its commits
  };

  void note_jobs();
  void note_job(PendingJob& job);
  void end_job(const Piece& piece);
  bool attach_commit(unsigned warp, std::optional<std::uint32_t> mbarrier);
  void tell(AsyncRecord& work, std::optional<std::uint32_t> mbarrier) const;
  void note_copies(const Warp& warp);
  void note_tensor_work(const Warp& warp);
  void note_products(const Warp& warp);
  void note_landed();
  AsyncRecord& add(std::vector<Piece>& list, const AsyncRecord& wanted, std::uint64_t number,
                   Piece piece);
  template <typename Visit>
  void for_each_piece(Visit visit) {
    for (std::vector<Piece>* list : {&jobs_, &copies_, &tensor_, &products_})
      for (Piece& piece : *list) visit(piece);
  }
  void complete(const Piece& piece);
  /// Completes the pieces that are no longer pending.
  template <typename IsPending>
  void complete_others(std::vector<Piece>& pieces, IsPending is_pending);
  void close(std::uint32_t record);

  RecorderContext& context_;
  WatchedMbarriers& mbarriers_;
  std::vector<Issued> issued_;  // by warp
  std::uint64_t last_job_ = 0;
  std::vector<Piece> jobs_, copies_, tensor_, products_;
  std::unordered_map<std::uint64_t, std::uint32_t> open_;  // records that may grow, by key
};

}  // namespace ww::sim
