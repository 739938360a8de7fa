// SPDX-License-Identifier: Apache-2.0
// Moves of names from storage to storage: the region that a copy reads, registers and scratch memory
// of the code's own, and the region that it writes. A move fails when right code would not make it: it
// reads what was never written, leaves a region, races with another thread, or reaches the wrong CTA.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "lower/proof/names.h"
#include "lower/proof/scratch_order.h"
#include "lower/proof/walk.h"

namespace ww::lower {

/// Names that registers or scratch memory of the code's own hold, by thread and granule.
class KeptNames {
 public:
  static constexpr Name kUnwritten = -5;

  /// Storage of so many granules.
  explicit KeptNames(std::int64_t granules) : granules_(granules) {}

  void clear() {
    for (std::vector<Name>& row : rows_) row.clear();
  }
  /// False: outside the storage.
  bool put(std::size_t thread, std::int64_t granule, Name name) {
    if (granule < 0 || granule >= granules_) return false;
    if (thread >= rows_.size()) rows_.resize(thread + 1);
    std::vector<Name>& row = rows_[thread];
    const auto at = static_cast<std::size_t>(granule);
    if (at >= row.size()) row.resize(at + 1, kUnwritten);
    row[at] = name;
    return true;
  }
  /// Or kUnwritten.
  [[nodiscard]] Name at(std::size_t thread, std::int64_t granule) const {
    if (granule < 0 || thread >= rows_.size()) return kUnwritten;
    const std::vector<Name>& row = rows_[thread];
    const auto at = static_cast<std::size_t>(granule);
    return at < row.size() ? row[at] : kUnwritten;
  }

 private:
  std::int64_t granules_;
  std::vector<std::vector<Name>> rows_;
};

class NameMoves {
 public:
  /// Names of granules in `src` go to `dst`: what the call reads and writes. `order` is told of each
  /// access to scratch memory. All must outlive this.
  NameMoves(const Call& call, const Granules& src, Granules& dst, int granule, ScratchOrder& order);

  /// Storage of the code's own, with nothing in it.
  void keep(ir::BufferId storage);

  /// So many bits from one place to another.
  Try<void> move(const PointerValue& to, std::size_t to_thread, std::int64_t to_bit,
                 const PointerValue& from, std::size_t from_thread, std::int64_t from_bit,
                 std::int64_t bits);
  /// The way between two storages, to move many granules.
  struct Way {
    Granules::Table source, target, writers;
    bool is_direct;         // from operand to operand
    bool is_source_shared;  // by all threads
    bool is_target_shared;
    /// Moves a granule; false where that is for `move` to do, or to refuse.
    [[gnu::always_inline]] bool has_moved(std::size_t to_thread, std::int64_t written,
                                          std::size_t from_thread, std::int64_t read) const {
      const Name* const from = source.find(from_thread, read);
      Name* const to = target.find(to_thread, written);
      if (!is_direct || from == nullptr || to == nullptr) return false;
      if (is_source_shared && *from == kNobody) return false;
      if (is_target_shared) {
        Name& writer = *writers.find(0, written);
        if (writer >= 0 && writer != static_cast<Name>(to_thread)) return false;
        writer = static_cast<Name>(to_thread);
      }
      *to = *from;
      return true;
    }
  };
  Try<Way> way(const PointerValue& to, const PointerValue& from);
  /// The same in each thread that executes, from its own place to its own.
  Try<void> move_each(const PointerValue& to, const PointerValue& from, std::int64_t bits,
                      const Mask& mask);
  /// What a thread reads there.
  Try<std::vector<Name>> names_at(const PointerValue& from, std::size_t thread, std::int64_t bit,
                                  std::int64_t bits);
  Try<void> put_names(const PointerValue& to, std::size_t thread, std::int64_t bit,
                      const std::vector<Name>& names);
  /// One name to so many bits.
  Try<void> fill(const PointerValue& to, std::size_t to_thread, std::int64_t to_bit,
                 std::int64_t bits, Name name);

 private:
  /// A storage as moves see it.
  struct Side {
    ir::BufferId storage = {};
    bool is_remote = false;
    KeptNames* kept = nullptr;  // none: that of an operand
    bool is_scratch = false;    // kept, and the same for all threads

    [[nodiscard]] bool is_of(const PointerValue& at) const {
      return at.storage == storage && at.is_remote == is_remote;
    }
  };
  /// What a pointer leads to, as a source or a target of moves.
  Try<const Side*> source_of(const PointerValue& from);
  Try<const Side*> target_of(const PointerValue& to);
  Try<const Side*> side_of(const PointerValue& at, std::size_t operand);
  /// What is there, or kUnwritten: nothing that may be read.
  [[nodiscard]] Name name_in(const Side& from, std::size_t thread, std::int64_t granule) const;
  /// False: it may not be written there.
  bool has_put(const Side& to, std::size_t thread, std::int64_t granule, Name name);
  Try<void> move_granules(const Side& to, std::size_t to_thread, std::int64_t target,
                          const Side& from, std::size_t from_thread, std::int64_t granule,
                          std::int64_t bits);
  Try<Name> read_name(const Side& from, std::size_t thread, std::int64_t granule);
  Try<void> put_name(const Side& to, std::size_t thread, std::int64_t granule, Name name);
  [[nodiscard]] Unexpected<Unproven> misplaced(const Side& to, std::size_t thread,
                                               std::int64_t granule);

  const Call& call_;
  const Granules& src_;
  Granules& dst_;
  int granule_;
  ScratchOrder& order_;
  std::optional<std::size_t> remote_;       // operand in another CTA: 0 the target, 1 the source
  Granules writers_;                        // in memory: the thread that has written each granule
  std::map<ir::BufferId, KeptNames> kept_;  // scratch memory is thread 0's
  std::vector<Name> moving_;                // on the way from one place to another
  Side source_, target_;                    // of the last move: most are like the one before
};

}  // namespace ww::lower
