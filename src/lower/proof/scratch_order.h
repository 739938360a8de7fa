// SPDX-License-Identifier: Apache-2.0
// Whether barriers stand between threads that use scratch memory (lower/scratch.h). Where the code
// begins, all of it counts as just read: by an earlier call, or by the round before. Calls of a cluster
// use the memory of all its CTAs: accesses of two CTAs are ordered by barriers of the cluster, and by
// what one sends to the other and that waits for. Each CTA has a clock of what it knows of the others:
// how many barriers of each are behind it. What is sent brings the sender's clock; who waits for it
// knows that, and so do all threads of the CTA behind their next barrier.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "lower/call.h"
#include "lower/proof/unproven.h"
#include "lower/proof/walk.h"

namespace ww::lower {

class ScratchOrder {
 public:
  /// An mbarrier in the memory of some CTA.
  struct MbarrierPlace {
    ir::BufferId storage = {};
    std::int64_t bit = 0;
  };
  ScratchOrder(const Call& call, ProofValues& values, std::int64_t first_thread);

  [[nodiscard]] bool is_scratch(ir::BufferId storage) const;
  /// A thread of the unit reads or writes at that bit of a buffer, in the memory of a CTA.
  Try<void> read(ir::BufferId storage, std::int64_t bit, std::size_t thread, std::size_t cta = 0);
  Try<void> write(ir::BufferId storage, std::int64_t bit, std::size_t thread, std::size_t cta = 0);
  /// A thread sends something to a place in the memory of a CTA, with bytes that its mbarrier counts.
  Try<void> send(ir::BufferId storage, std::int64_t bit, std::size_t thread, std::size_t cta,
                 MbarrierPlace mbarrier, std::int64_t bytes);
  /// A thread arrives at the mbarrier of its CTA, and says how many bytes to wait for.
  Try<void> expect(MbarrierPlace mbarrier, std::size_t thread, std::int64_t bytes);
  /// A thread waits there until it has all of them: for the end of the phase that has this parity.
  Try<void> wait(MbarrierPlace mbarrier, std::size_t thread, std::int64_t parity);
  [[nodiscard]] bool has_mbarriers() const { return !mbarriers_.empty(); }
  /// What is wrong in the end: a CTA gets something and does not wait for it, so that it may have ended.
  [[nodiscard]] std::string what_is_left() const;
  /// A barrier: of this unit, and all its threads come.
  Try<void> barrier(const ir::Expr& call, const Mask& mask);

 private:
  static constexpr std::int64_t kNever = -1;
  struct Cell {
    std::int64_t written = kNever;  // after how many barriers
    std::int64_t read = 0;
    std::size_t writer = 0;
    std::size_t reader = 0;
    bool has_readers = true;      // several, or of another call
    MbarrierPlace mbarrier = {};  // that counts what was sent here
  };
  /// By CTA: how many of its barriers are known to be behind.
  using Clock = std::vector<std::int64_t>;
  struct Mbarrier {
    std::int64_t arrivals = 0, expected = 0, sent = 0;  // of the phase
    std::int64_t phases = 0;                            // that have ended
    std::set<std::size_t> waited = {};                  // threads, for the last one
    Clock clock = {}, ended = {};  // of what was sent: in the phase, in the last
  };
  [[nodiscard]] bool is_mbarrier(MbarrierPlace place) const;
  Mbarrier& mbarrier_at(MbarrierPlace place, std::size_t cta) {
    return mbarriers_[{place.storage.index, place.bit, cta}];
  }
  /// With one arrival, and all that is expected.
  static Try<void> end_phase(Mbarrier& at, std::size_t thread);
  static void join(Clock& into, const Clock& from);
  /// Where a cell is: buffer, CTA, bit.
  using Where = std::tuple<std::uint32_t, std::size_t, std::int64_t>;
  Try<Cell*> cell(ir::BufferId storage, std::int64_t bit, std::size_t thread, std::size_t cta);
  /// Is what a CTA does, or has done, at that time not ordered before what a thread does now?
  [[nodiscard]] bool is_open(std::int64_t time, std::size_t cta, std::size_t thread) const;
  [[nodiscard]] std::size_t cta_of(std::size_t thread) const;

  const Call& call_;
  ProofValues& values_;
  std::int64_t first_thread_;
  std::int64_t barriers_ = 0;
  std::vector<Clock> known_, awaited_;  // by CTA: to all of its threads, to the waiting ones
  std::map<Where, Cell> cells_;
  std::map<std::tuple<std::uint32_t, std::int64_t, std::size_t>, Mbarrier> mbarriers_;
};

}  // namespace ww::lower
