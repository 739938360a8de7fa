// SPDX-License-Identifier: Apache-2.0
// Moves of names between the region that a copy reads, registers and scratch memory of the code's
// own, and the region that it writes: stores, shuffles and what puts registers together.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "isa/fragment.h"
#include "lower/proof/names.h"
#include "lower/proof/scalars.h"
#include "lower/proof/scratch_order.h"
#include "lower/proof/walk.h"

namespace ww::lower {

/// What arrives instead of what is not copied: its value, as in lower/proof/scalars.h, and name.
struct Fill {
  scalars::Scalar value = 0;
  Name name = kZero;
};

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

class NameMoves : public ProofWalk {
 public:
  /// Names of granules in `src` go to `dst`.
  NameMoves(const Call& call, ProofValues& values, const Granules& src, Granules& dst, Fill fill,
            int granule, std::int64_t first_thread);

 protected:
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
  /// Zeros, or the fill value.
  Try<void> fill(const PointerValue& to, std::size_t to_thread, std::int64_t to_bit,
                 std::int64_t bits, Name name);

  Try<void> allocate(const ir::Stmt& s) override;
  Try<void> store(const ir::Stmt& s, const Mask& mask) override;
  Try<void> matrix(const ir::PtxCall& call, bool is_load, const Mask& mask);
  Try<void> permute_bytes(const ir::PtxCall& call, const Mask& mask);
  Try<void> transpose(const ir::PtxCall& call, const Mask& mask);

  const Granules& src_;
  Granules& dst_;
  Fill fill_;
  int granule_;
  ir::BufferId src_storage_, dst_storage_;
  std::optional<std::size_t> remote_;  // operand in another CTA: 0 the destination, 1 the source
  ScratchOrder scratch_;

 private:
  /// A storage as moves see it.
  struct Side {
    ir::BufferId storage = {};
    bool is_remote = false;
    KeptNames* kept = nullptr;  // none: that of an operand
    bool is_scratch = false;    // kept, and the same for all threads
  };
  /// What a pointer leads to, as a source or a target of moves.
  Try<const Side*> source_of(const PointerValue& from);
  Try<const Side*> target_of(const PointerValue& to);
  Try<const Side*> side_of(const PointerValue& at, ir::BufferId operand, bool is_target);
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
  [[nodiscard]] Try<Name> name_of(scalars::Scalar value) const;
  /// An operand is reached where it is: in the own CTA, or in the other.
  [[nodiscard]] Try<void> check_cta(const PointerValue& at, std::size_t operand) const;
  void keep(ir::BufferId storage);
  /// `stored` goes to `to`, as many bits as the elements have.
  Try<void> store_value(const PointerValue& to, int bits, ir::ExprId stored, const Mask& mask);
  Try<void> store_shuffled(const PointerValue& to, int bits, ir::ExprId stored, const Mask& mask);
  Try<void> matrix_of_warp(const isa::Fragment& fragment,
                           const std::vector<PointerValue>& registers, const PointerValue& rows,
                           std::size_t first, bool is_load);
  Try<void> move_all(const PointerValue& to, const PointerValue& from, std::int64_t bits,
                     const Mask& mask, const std::vector<std::size_t>& givers);

  Granules writers_;                          // in memory: the thread that has written each granule
  std::map<ir::BufferId, KeptNames> kept_;    // scratch memory is thread 0's
  std::vector<Name> moving_;                  // on the way from one place to another
  const ir::PtxCall* last_matrix_ = nullptr;  // the last matrix copy, and what it moves
  std::vector<isa::Fragment> fragments_;
  Side source_, target_;  // of the last move: most are like the one before
};

}  // namespace ww::lower
