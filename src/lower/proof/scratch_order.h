// SPDX-License-Identifier: Apache-2.0
// Whether barriers stand between threads that use scratch memory (lower/scratch.h). Where the code
// begins, all of it counts as just read: by an earlier call, or by the round before. Calls of a cluster
// use the memory of all its CTAs: accesses of two CTAs are ordered by barriers of the cluster, and by
// what one sends to the other and that waits for. Each CTA has a clock of what it knows of the others:
// how many barriers of each are behind it. What is sent brings the sender's clock; who waits for it
// knows that, and so do all threads of the CTA behind their next barrier.
#pragma once

#include <algorithm>
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
#include "lower/scratch.h"

namespace ww::lower {

class ScratchOrder {
 public:
  /// An mbarrier in the memory of some CTA.
  struct MbarrierPlace {
    ir::BufferId storage = {};
    std::int64_t bit = 0;
  };
  ScratchOrder(const Call& call, ProofValues& values, std::int64_t first_thread)
      : call_(call), values_(values), first_thread_(first_thread) {
    const std::size_t ctas =
        call.is_of_cluster() ? static_cast<std::size_t>(call.cluster_ctas()) : std::size_t{1};
    known_.assign(ctas, Clock(ctas, 0));
    awaited_ = known_;
  }

  [[nodiscard]] bool is_scratch(ir::BufferId storage) const {
    return find_scratch(call_, storage) != nullptr;
  }
  /// A thread of the unit reads or writes at that bit of a buffer, in the memory of a CTA.
  Try<void> read(ir::BufferId storage, std::int64_t bit, std::size_t thread, std::size_t cta = 0) {
    Cell& at = *WW_TRY(cell(storage, bit, thread, cta));
    const bool is_sent = at.mbarrier.storage.valid();
    if (is_sent && !mbarrier_at(at.mbarrier, cta).waited.contains(thread))
      return wrong("thread {} of the unit reads what thread {} sends, and does not wait for it",
                   thread, at.writer);
    if (!is_sent && is_open(at.written, cta_of(at.writer), thread) && at.writer != thread)
      return wrong("thread {} of the unit reads what thread {} writes, without a barrier between",
                   thread, at.writer);
    at.has_readers = at.read == barriers_ && (at.has_readers || at.reader != thread);
    at.read = barriers_;
    at.reader = thread;
    return {};
  }
  Try<void> write(ir::BufferId storage, std::int64_t bit, std::size_t thread, std::size_t cta = 0) {
    Cell& at = *WW_TRY(cell(storage, bit, thread, cta));
    if (is_open(at.written, cta_of(at.writer), thread) && at.writer != thread)
      return wrong(
          "threads {} and {} of the unit write at the same place, without a barrier between",
          at.writer, thread);
    if (is_open(at.read, cta, thread) && (at.has_readers || at.reader != thread))
      return wrong("thread {} of the unit writes what others may still read: no barrier is between",
                   thread);
    at.written = barriers_;
    at.writer = thread;
    return {};
  }
  /// A thread sends something to a place in the memory of a CTA, with bytes that its mbarrier counts.
  Try<void> send(ir::BufferId storage, std::int64_t bit, std::size_t thread, std::size_t cta,
                 MbarrierPlace mbarrier, std::int64_t bytes) {
    if (!is_mbarrier(mbarrier)) return wrong("thread {} of the unit signals no mbarrier", thread);
    WW_TRY_VOID(write(storage, bit, thread, cta));
    (*WW_TRY(cell(storage, bit, thread, cta))).mbarrier = mbarrier;
    Mbarrier& at = mbarrier_at(mbarrier, cta);
    at.waited.clear();  // for the phase before
    at.sent += bytes;
    Clock own = known_[cta_of(thread)];
    own[cta_of(thread)] = barriers_;
    at.clock.resize(own.size());
    join(at.clock, own);
    return {};
  }
  /// A thread arrives at the mbarrier of its CTA, and says how many bytes to wait for.
  Try<void> expect(MbarrierPlace mbarrier, std::size_t thread, std::int64_t bytes) {
    if (!is_mbarrier(mbarrier))
      return wrong("thread {} of the unit arrives at no mbarrier", thread);
    Mbarrier& at = mbarrier_at(mbarrier, cta_of(thread));
    ++at.arrivals;
    at.expected += bytes;
    return {};
  }
  /// A thread waits there until it has all of them: for the end of the phase that has this parity.
  Try<void> wait(MbarrierPlace mbarrier, std::size_t thread, std::int64_t parity) {
    if (!is_mbarrier(mbarrier)) return wrong("thread {} of the unit waits at no mbarrier", thread);
    Mbarrier& at = mbarrier_at(mbarrier, cta_of(thread));
    const bool has_ended = at.phases > 0 && at.arrivals == 0 && at.sent == 0;
    if (!has_ended) WW_TRY_VOID(end_phase(at, thread));
    const std::int64_t last = (at.phases - 1) % 2;
    if (parity != last)
      return wrong("thread {} of the unit waits for parity {} of an mbarrier, the phase has {}",
                   thread, parity, last);
    at.waited.insert(thread);
    join(awaited_[cta_of(thread)], at.ended);
    return {};
  }
  [[nodiscard]] bool has_mbarriers() const { return !mbarriers_.empty(); }
  /// What is wrong in the end: a CTA gets something and does not wait for it, so that it may have ended.
  [[nodiscard]] std::string what_is_left() const {
    for (const auto& [where, at] : mbarriers_)
      if (at.sent != 0)
        return fmt::format("CTA {} of the cluster gets {} bytes and does not wait for them",
                           std::get<2>(where), at.sent);
    return {};
  }
  /// A barrier: of this unit, and all its threads come.
  Try<void> barrier(const ir::Expr& call, const Mask& mask) {
    const auto come = std::count(mask.begin(), mask.end(), true);
    if (come != std::ssize(mask))
      return wrong("{} of {} threads come to a barrier", come, mask.size());
    const bool is_group = call_.tile.scope == ir::Unit::Warpgroup;
    const bool is_warp = call_.tile.scope == ir::Unit::Warp;
    const bool meets_cluster = call.callee == ir::Intrinsic::ClusterSync && call_.is_of_cluster();
    if (!meets_cluster && call.callee != (is_group  ? ir::Intrinsic::WarpgroupSync
                                          : is_warp ? ir::Intrinsic::WarpSync
                                                    : ir::Intrinsic::CtaSync))
      return wrong("the barrier is of another unit than the {}", ir::name_of(call_.tile.scope));
    if (is_group) {
      const std::int64_t id = WW_TRY(values_.uniform(call.args[0]));
      const std::int64_t own = kFirstBarrier + first_thread_ / call_.unit_threads();
      if (id != own) return wrong("the warpgroup waits at barrier {}, its own is {}", id, own);
    }
    ++barriers_;
    for (std::size_t cta = 0; cta < known_.size(); ++cta) {
      join(known_[cta], awaited_[cta]);
      if (meets_cluster) known_[cta].assign(known_.size(), barriers_);
    }
    return {};
  }

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
  [[nodiscard]] bool is_mbarrier(MbarrierPlace place) const {
    const ScratchBuffer* row = find_scratch(call_, place.storage);
    return row != nullptr && row->is_mbarrier && place.bit % row->bits == 0 && place.bit >= 0 &&
           place.bit / row->bits < row->elements;
  }
  Mbarrier& mbarrier_at(MbarrierPlace place, std::size_t cta) {
    return mbarriers_[{place.storage.index, place.bit, cta}];
  }
  /// With one arrival, and all that is expected.
  static Try<void> end_phase(Mbarrier& at, std::size_t thread) {
    if (at.arrivals != 1)
      return wrong(
          "thread {} of the unit waits at an mbarrier at which {} threads arrive, expected 1",
          thread, at.arrivals);
    if (at.expected != at.sent)
      return wrong("thread {} of the unit waits for {} bytes, and {} are sent", thread, at.expected,
                   at.sent);
    ++at.phases;
    at.arrivals = at.expected = at.sent = 0;
    at.ended = std::exchange(at.clock, {});
    return {};
  }
  static void join(Clock& into, const Clock& from) {
    for (std::size_t i = 0; i < from.size(); ++i) into[i] = std::max(into[i], from[i]);
  }
  /// Where a cell is: buffer, CTA, bit.
  using Where = std::tuple<std::uint32_t, std::size_t, std::int64_t>;
  // Inside the buffer, and an element of this unit.
  Try<Cell*> cell(ir::BufferId storage, std::int64_t bit, std::size_t thread, std::size_t cta) {
    const ScratchBuffer& row = *find_scratch(call_, storage);
    if (row.is_mbarrier) return wrong("thread {} of the unit uses an mbarrier as memory", thread);
    bit -= row.first_bit;
    const std::int64_t element = bit / row.bits;
    const bool is_part = row.bits <= 64 && bit % row.bits != 0;  // wider ones are used in parts
    if (bit < 0 || is_part || element >= row.elements)
      return wrong("thread {} of the unit uses byte {} of scratch memory, of {}", thread, bit / 8,
                   row.elements * row.bits / 8);
    const std::int64_t units = scratch_units(call_), own = first_thread_ / call_.unit_threads();
    const std::int64_t owner = row.piece != 0 ? element / row.piece : element % units;
    if (row.unit != call_.tile.scope || (units > 1 && owner != own))
      return wrong("thread {} of the unit uses scratch memory of another unit", thread);
    Cell before;
    if (row.is_settled) before.read = kNever;
    return &cells_.try_emplace({storage.index, cta, bit}, before).first->second;
  }
  /// Is what a CTA does, or has done, at that time not ordered before what a thread does now?
  [[nodiscard]] bool is_open(std::int64_t time, std::size_t cta, std::size_t thread) const {
    const std::size_t own = cta_of(thread);
    return time >= (cta == own ? barriers_ : known_[own][cta]);
  }
  [[nodiscard]] std::size_t cta_of(std::size_t thread) const {
    return call_.is_of_cluster() ? thread / static_cast<std::size_t>(call_.context.launch.threads())
                                 : 0;
  }

  const Call& call_;
  ProofValues& values_;
  std::int64_t first_thread_;
  std::int64_t barriers_ = 0;
  std::vector<Clock> known_, awaited_;  // by CTA: to all of its threads, to the waiting ones
  std::map<Where, Cell> cells_;
  std::map<std::tuple<std::uint32_t, std::int64_t, std::size_t>, Mbarrier> mbarriers_;
};

}  // namespace ww::lower
