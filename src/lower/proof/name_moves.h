// SPDX-License-Identifier: Apache-2.0
// Moves of names from storage to storage: the region that a copy reads, registers and scratch memory
// of the code's own, and the region that it writes. A move fails when right code would not make it: it
// reads what was never written, leaves a region, races with another thread, or reaches the wrong CTA.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ir/settings.h"
#include "ir/shared_size.h"
#include "lower/proof/names.h"
#include "lower/proof/scratch_order.h"
#include "lower/proof/walk.h"
#include "lower/reach.h"

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

/// Who has read each element of a memory, and may still do so.
class OpenReads {
 public:
  /// Barriers since order the threads of groups of this size.
  OpenReads(int bits, std::int64_t ordered) : bits_(bits), ordered_(ordered) {}

  void read(std::int64_t bit, std::size_t thread) {
    by_[granule_at(bit, bits_)].add(static_cast<std::int64_t>(thread));
  }
  [[nodiscard]] bool may_write(std::int64_t bit, std::size_t thread) const {
    const auto found = by_.find(granule_at(bit, bits_));
    if (found == by_.end()) return true;
    const std::int64_t group = static_cast<std::int64_t>(thread) / ordered_;
    return found->second.first / ordered_ == group && found->second.last / ordered_ == group;
  }

 private:
  int bits_;  // of an element
  std::int64_t ordered_;
  std::unordered_map<std::int64_t, ThreadRange> by_;
};

class NameMoves {
 public:
  /// Names of granules in `src` go to `dst`: what the call reads and writes. `order` is told of each
  /// access to scratch memory. All must outlive this.
  NameMoves(const Call& call, const Granules& src, Granules& dst, int granule, ScratchOrder& order)
      : call_(call),
        src_(src),
        dst_(dst),
        granule_(granule),
        order_(order),
        remote_(ir::remote_operand(call.f(), call.tile)),
        writers_(dst.is_private() ? Granules(1, granule, {}) : dst.blank()) {
    for (const ScratchBuffer& each : call.context.scratch) keep(each.buffer);
    if (call.workspace) keep(call.workspace->buffer);
  }

  /// Storage of the code's own, with nothing in it.
  void keep(ir::BufferId storage) {
    if (const auto kept = kept_.find(storage); kept != kept_.end()) return kept->second.clear();
    const ir::Function& f = call_.f();
    const std::int64_t bits = ir::storage_bytes(f, f[storage]).value_or(0) * 8;
    kept_.emplace(storage, bits / granule_);
    source_ = target_ = {};  // what was an operand's may be its own now
  }
  /// Both operands are in this storage: all reads come before all writes, with a barrier between them.
  void work_in_place(ir::BufferId storage) { in_place_ = storage; }
  /// Reads of the source are noted there, or writes to the destination checked.
  void watch(OpenReads* reads) { reads_ = reads; }
  void note_barrier() { has_open_reads_ = false; }

  /// So many bits from one place to another.
  Try<void> move(const PointerValue& to, std::size_t to_thread, std::int64_t to_bit,
                 const PointerValue& from, std::size_t from_thread, std::int64_t from_bit,
                 std::int64_t bits) {
    if (!source_.is_of(from) || in_place_.valid()) WW_TRY_VOID(source_of(from));
    if (!target_.is_of(to) || in_place_.valid()) WW_TRY_VOID(target_of(to));
    const std::int64_t read = granule_at(from_bit, granule_);
    const std::int64_t written = granule_at(to_bit, granule_);
    if (bits == granule_) {  // most often
      const Name name = name_in(source_, from_thread, read);
      if (name != KeptNames::kUnwritten && has_put(target_, to_thread, written, name)) return {};
    }
    return move_granules(target_, to_thread, written, source_, from_thread, read, bits);
  }
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
  Try<Way> way(const PointerValue& to, const PointerValue& from) {
    const Side& source = *WW_TRY(source_of(from));
    const Side& target = *WW_TRY(target_of(to));
    return Way{.source = src_.table(),
               .target = dst_.table(),
               .writers = writers_.table(),
               .is_direct = reads_ == nullptr && source.kept == nullptr && target.kept == nullptr,
               .is_source_shared = !src_.is_private(),
               .is_target_shared = !dst_.is_private()};
  }
  /// The same in each thread that executes, from its own place to its own.
  Try<void> move_each(const PointerValue& to, const PointerValue& from, std::int64_t bits,
                      const Mask& mask) {
    if (std::find(mask.begin(), mask.end(), true) == mask.end()) return {};
    const Way direct = WW_TRY(way(to, from));
    const Side &source = source_, &target = target_;
    const PerUnit::Reader from_bit(from.bit), to_bit(to.bit);
    for (std::size_t t = 0; t < mask.size(); ++t) {
      if (!mask[t]) continue;
      const std::int64_t read = granule_at(from_bit[t], granule_);
      const std::int64_t written = granule_at(to_bit[t], granule_);
      if (bits == granule_) {  // most often
        if (direct.has_moved(t, written, t, read)) continue;
        const Name name = name_in(source, t, read);
        if (name != KeptNames::kUnwritten && has_put(target, t, written, name)) continue;
      }
      WW_TRY_VOID(move_granules(target, t, written, source, t, read, bits));
    }
    return {};
  }
  /// What a thread reads there.
  Try<std::vector<Name>> names_at(const PointerValue& from, std::size_t thread, std::int64_t bit,
                                  std::int64_t bits) {
    const Side& source = *WW_TRY(source_of(from));
    std::int64_t granule = granule_at(bit, granule_);
    std::vector<Name> out;
    for (std::int64_t i = 0; i * granule_ < bits; ++i)
      out.push_back(WW_TRY(read_name(source, thread, granule++)));
    return out;
  }
  Try<void> put_names(const PointerValue& to, std::size_t thread, std::int64_t bit,
                      const std::vector<Name>& names) {
    const Side& target = *WW_TRY(target_of(to));
    std::int64_t granule = granule_at(bit, granule_);
    for (const Name name : names) WW_TRY_VOID(put_name(target, thread, granule++, name));
    return {};
  }
  /// One name to so many bits.
  Try<void> fill(const PointerValue& to, std::size_t to_thread, std::int64_t to_bit,
                 std::int64_t bits, Name name) {
    const Side& target = *WW_TRY(target_of(to));
    std::int64_t granule = granule_at(to_bit, granule_);
    for (std::int64_t bit = 0; bit < bits; bit += granule_, ++granule)
      if (!has_put(target, to_thread, granule, name))
        WW_TRY_VOID(put_name(target, to_thread, granule, name));
    return {};
  }

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
  Try<const Side*> source_of(const PointerValue& from) {
    if (from.storage == in_place_) WW_TRY_VOID(note_access(false));
    if (source_.is_of(from)) return &source_;
    return side_of(from, 1);
  }
  Try<const Side*> target_of(const PointerValue& to) {
    if (to.storage == in_place_) WW_TRY_VOID(note_access(true));
    if (target_.is_of(to)) return &target_;
    return side_of(to, 0);
  }
  // An operand is reached where it is: in the own CTA, or in the other.
  Try<const Side*> side_of(const PointerValue& at, std::size_t operand) {
    const ir::Function& f = call_.f();
    const auto kept = kept_.find(at.storage);
    const bool is_kept = kept != kept_.end();
    if (!is_kept && at.storage != ir::storage_of(f, call_.region(operand).buffer))
      return wrong("a move {} `{}`", operand == 0 ? "to" : "from", f[at.storage].name);
    const bool is_meant = remote_ == operand;
    if (!is_kept && at.is_remote != is_meant)
      return wrong("`{}` of {} CTA is reached, expected that of {}", f[at.storage].name,
                   at.is_remote ? "the other" : "the own", is_meant ? "the other" : "the own");
    Side& out = operand == 0 ? target_ : source_;
    out = {at.storage, at.is_remote, is_kept ? &kept->second : nullptr,
           order_.is_scratch(at.storage)};
    return &out;
  }
  Try<void> note_access(bool writes) {
    if (!writes && has_written_) return wrong("elements are read behind the first that is written");
    if (writes && has_open_reads_)
      return wrong("no barrier stands between the elements that are read and written");
    (writes ? has_written_ : has_open_reads_) = true;
    return {};
  }

  // What a thread reads there, or kUnwritten: not what lies beside the source, though its registers may be
  // read; and no register of the code's own before it is written. Scratch memory is left to `read_name`.
  [[nodiscard, gnu::always_inline]] Name name_in(const Side& from, std::size_t thread,
                                                 std::int64_t granule) const {
    if (from.is_scratch) return KeptNames::kUnwritten;
    if (from.kept != nullptr) return from.kept->at(thread, granule);
    if (reads_ != nullptr && !src_.is_private()) reads_->read(granule * granule_, thread);
    const Name name = src_.at(src_.row_of(thread), granule);
    return name == kNobody && !src_.is_private() ? KeptNames::kUnwritten : name;
  }
  // False: it may not be written there. Two threads that write the same bytes are in a race, even when they
  // write the same. Scratch memory is left to `put_name`.
  [[gnu::always_inline]] bool has_put(const Side& to, std::size_t thread, std::int64_t granule,
                                      Name name) {
    if (to.is_scratch) return false;
    if (to.kept != nullptr) return to.kept->put(thread, granule, name);
    Name* const at = dst_.place(dst_.row_of(thread), granule);
    if (at == nullptr) return false;
    if (!dst_.is_private()) {
      if (reads_ != nullptr && !reads_->may_write(granule * granule_, thread)) return false;
      Name& writer = *writers_.place(0, granule);
      if (writer >= 0 && writer != static_cast<Name>(thread)) return false;
      writer = static_cast<Name>(thread);
    }
    *at = name;
    return true;
  }
  // All is read before anything is written.
  Try<void> move_granules(const Side& to, std::size_t to_thread, std::int64_t target,
                          const Side& from, std::size_t from_thread, std::int64_t granule,
                          std::int64_t bits) {
    const bool is_apart = from.kept != to.kept || from.kept == nullptr;  // operands are two tables
    for (; is_apart && bits > granule_; bits -= granule_) {
      Name name = name_in(from, from_thread, granule);
      if (name == KeptNames::kUnwritten) name = WW_TRY(read_name(from, from_thread, granule));
      if (!has_put(to, to_thread, target, name)) WW_TRY_VOID(put_name(to, to_thread, target, name));
      ++granule;
      ++target;
    }
    moving_.clear();
    for (std::int64_t bit = 0; bit < bits; bit += granule_, ++granule) {
      const Name name = name_in(from, from_thread, granule);
      moving_.push_back(
          name != KeptNames::kUnwritten ? name : WW_TRY(read_name(from, from_thread, granule)));
    }
    for (const Name name : moving_) {
      if (!has_put(to, to_thread, target, name)) WW_TRY_VOID(put_name(to, to_thread, target, name));
      ++target;
    }
    return {};
  }
  Try<Name> read_name(const Side& from, std::size_t thread, std::int64_t granule) {
    if (from.is_scratch) WW_TRY_VOID(order_.read(from.storage, granule * granule_, thread));
    const Name name = from.is_scratch ? from.kept->at(0, granule) : name_in(from, thread, granule);
    if (name != KeptNames::kUnwritten) return name;
    return wrong("byte {} is read, outside the source", granule * granule_ / 8);
  }
  Try<void> put_name(const Side& to, std::size_t thread, std::int64_t granule, Name name) {
    if (to.is_scratch) WW_TRY_VOID(order_.write(to.storage, granule * granule_, thread));
    const bool is_put =
        to.is_scratch ? to.kept->put(0, granule, name) : has_put(to, thread, granule, name);
    return is_put ? Try<void>() : misplaced(to, thread, granule);
  }
  // Why a granule may not be written there.
  [[nodiscard]] Unexpected<Unproven> misplaced(const Side& to, std::size_t thread,
                                               std::int64_t granule) {
    const std::int64_t byte = granule * granule_ / 8;
    if (to.kept != nullptr)
      return wrong("byte {} of `{}` is written, outside it", byte, call_.f()[to.storage].name);
    if (dst_.place(dst_.row_of(thread), granule) == nullptr)
      return wrong("byte {} is written, outside the destination", byte);
    if (reads_ != nullptr && !reads_->may_write(granule * granule_, thread))
      return wrong("thread {} of the unit writes byte {}, which others may still read", thread,
                   byte);
    return wrong("byte {} is written by threads {} and {} of the unit", byte,
                 *writers_.place(0, granule), thread);
  }

  const Call& call_;
  const Granules& src_;
  Granules& dst_;
  int granule_;
  ScratchOrder& order_;
  std::optional<std::size_t> remote_;       // operand in another CTA: 0 the target, 1 the source
  Granules writers_;                        // in memory: the thread that has written each granule
  std::map<ir::BufferId, KeptNames> kept_;  // scratch memory is thread 0's
  OpenReads* reads_ = nullptr;              // none: nobody asks
  ir::BufferId in_place_;                   // the storage of both operands; none: they are apart
  bool has_open_reads_ = false, has_written_ = false;  // there
  std::vector<Name> moving_;                           // on the way from one place to another
  Side source_, target_;  // of the last move: most are like the one before
};

}  // namespace ww::lower
