// SPDX-License-Identifier: Apache-2.0
// Names of the elements of a region and the places where they stand, for lower/proof/proof.h.
//
// Memory is cut into granules of an element (or less, when the code moves less). Each granule of a
// region has a name: element number times granules of an element, plus which of them. Several
// elements that lie side by side may share a granule, and then a name.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "lower/proof/values.h"

namespace ww::lower {

using Name = std::int32_t;
inline constexpr Name kNobody = -1;
inline constexpr Name kZero = -3;  // not an element, but zero bits
inline constexpr Name kFill = -4;  // not an element, but the value that fills up

inline constexpr std::size_t kTensorLanes = 128;

/// Where a name is: a thread's registers, a lane of tensor memory, or memory; and the granule
/// there.
struct Spot {
  std::int64_t granule;
  std::uint32_t row;
  Name name;
};

/// The granule that a bit is in.
[[gnu::always_inline]] inline std::int64_t granule_at(std::int64_t bit, int granule_bits) {
  const auto size = static_cast<unsigned>(granule_bits);
  if ((size & (size - 1)) == 0) return bit >> std::countr_zero(size);
  const std::int64_t whole = bit / granule_bits;
  return bit < whole * granule_bits ? whole - 1 : whole;
}

/// The names in one storage: a row for memory, one per thread for registers, one per lane for
/// tensor memory. Only the granules that the region can have are kept, as a table when they lie
/// close together.
class Granules {
 public:
  Granules(std::size_t rows, int bits, std::span<const Spot> spots, bool is_tensor = false)
      : rows_(rows), bits_(bits), is_tensor_(is_tensor) {
    first_ = spots.empty() ? 0 : spots[0].granule;
    std::int64_t last = first_;
    for (const Spot& spot : spots) {
      first_ = std::min(first_, spot.granule);
      last = std::max(last, spot.granule);
    }
    width_ = last - first_ + 1;
    is_table_ = width_ * static_cast<std::int64_t>(rows) <
                static_cast<std::int64_t>(16 * spots.size()) + 4096;
    if (is_table_) table_.assign(static_cast<std::size_t>(width_) * rows, kNobody);
    for (const Spot& spot : spots) {
      const std::size_t i = index(spot.row, spot.granule);
      Name& name = is_table_ ? table_[i] : sparse_.try_emplace(i, kNobody).first->second;
      if (name == kNobody)
        name = spot.name;
      else if (name != spot.name)
        aliases_[spot.name] = name;
    }
  }

  /// Elements that stand where another one does are known by the name of the first.
  [[nodiscard]] Name known_as(Name name) const {
    const auto found = aliases_.find(name);
    return found == aliases_.end() ? name : found->second;
  }
  [[nodiscard]] bool has_aliases() const { return !aliases_.empty(); }
  void rename(const Granules& by) {
    for (Name& name : table_) name = by.known_as(name);
    for (auto& [i, name] : sparse_) name = by.known_as(name);
  }

  /// `by` is meant to be where these names are.
  void replace(const std::vector<bool>& which, Name by) {
    const auto replace = [&](Name& name) {
      if (name >= 0 && which[static_cast<std::size_t>(name)]) name = by;
    };
    for (Name& name : table_) replace(name);
    for (auto& [i, name] : sparse_) replace(name);
  }
  /// Nothing is meant to be where these names are.
  void leave_out(const std::vector<bool>& which) {
    replace(which, kNobody);
    std::erase_if(sparse_, [](const auto& entry) { return entry.second == kNobody; });
  }
  /// Nothing is meant to be anywhere.
  void clear() {
    std::fill(table_.begin(), table_.end(), kNobody);
    sparse_.clear();
  }
  void replace_all(Name by) {
    for (Name& name : table_) name = name == kNobody ? name : by;
    for (auto& [i, name] : sparse_) name = by;
  }

  /// The same granules, nothing in them yet.
  [[nodiscard]] Granules blank() const {
    Granules out(rows_, bits_, {}, is_tensor_);
    out.first_ = first_;
    out.width_ = width_;
    out.is_table_ = is_table_;
    out.table_.assign(table_.size(), kUntouched);
    return out;
  }

  /// All of it lies so many granules further on.
  void move(std::int64_t by) { first_ += by; }

  /// The table, to reach many names: that of a granule is at `row * step + granule - first`.
  struct Table {
    Name* names;
    std::int64_t first;
    std::uint64_t width;
    std::size_t step;  // from a thread's row to the next; 0: all have one
    [[nodiscard, gnu::always_inline]] Name* find(std::size_t thread, std::int64_t granule) const {
      const auto at = static_cast<std::uint64_t>(granule - first);
      return at < width ? names + thread * step + at : nullptr;
    }
  };
  /// Without names where there is none.
  [[nodiscard]] Table table() {
    return {table_.data(), first_, is_table_ ? static_cast<std::uint64_t>(width_) : 0,
            is_private() ? static_cast<std::size_t>(width_) : 0};
  }
  [[nodiscard]] Table table() const { return const_cast<Granules*>(this)->table(); }

  /// Where the name of a granule is kept; nullptr when the region has no such granule.
  [[gnu::always_inline]] Name* place(std::size_t row, std::int64_t granule) {
    if (!is_inside(granule)) return nullptr;
    const std::size_t i = index(row, granule);
    return is_table_ ? &table_[i] : sparse_place(i);
  }
  [[nodiscard, gnu::always_inline]] Name at(std::size_t row, std::int64_t granule) const {
    if (!is_inside(granule)) return kNobody;
    const std::size_t i = index(row, granule);
    return is_table_ ? table_[i] : sparse_at(i);
  }
  /// The granules of a row that have a name.
  template <typename Visit>
  void for_each_in(std::size_t row, Visit&& visit) const {
    if (is_table_) {
      for (std::int64_t granule = first_; granule < first_ + width_; ++granule)
        if (const Name name = table_[index(row, granule)]; name >= 0) visit(granule, name);
      return;
    }
    const auto width = static_cast<std::size_t>(width_);
    for (const auto& [i, name] : sparse_)
      if (i / width == row && name >= 0) visit(static_cast<std::int64_t>(i % width) + first_, name);
  }
  [[nodiscard]] bool is_private() const { return rows_ > 1; }
  [[nodiscard, gnu::always_inline]] std::size_t row_of(std::size_t thread) const {
    return rows_ > 1 ? thread : 0;
  }

  /// What differs from the names that are meant to be here.
  [[nodiscard]] std::string difference(const Granules& meant) const {
    for (std::size_t i = 0; i < table_.size(); ++i)
      if (!is_right(meant.table_[i], table_[i]))
        return meant.difference_at(i, meant.table_[i], table_[i]);
    for (const auto& [i, name] : sparse_) {
      const auto found = meant.sparse_.find(i);
      const Name wanted = found == meant.sparse_.end() ? kNobody : found->second;
      if (std::string d = meant.difference_at(i, wanted, name); !d.empty()) return d;
    }
    for (const auto& [i, name] : meant.sparse_)
      if (!sparse_.contains(i)) return meant.difference_at(i, name, kUntouched);
    return {};
  }

 private:
  static constexpr Name kUntouched = -2;

  // The proofs of copies ask these for every granule that a thread moves.
  [[nodiscard, gnu::always_inline]] bool is_inside(std::int64_t granule) const {
    return granule >= first_ && granule - first_ < width_;
  }
  [[nodiscard]] Name sparse_at(std::size_t i) const {
    const auto found = sparse_.find(i);
    return found == sparse_.end() ? kNobody : found->second;
  }
  Name* sparse_place(std::size_t i) { return &sparse_.try_emplace(i, kNobody).first->second; }
  [[nodiscard, gnu::always_inline]] std::size_t index(std::size_t row, std::int64_t granule) const {
    return row * static_cast<std::size_t>(width_) + static_cast<std::size_t>(granule - first_);
  }
  static bool is_right(Name wanted, Name got) {
    return wanted == got || (wanted == kNobody && got == kUntouched);
  }
  [[nodiscard]] std::string difference_at(std::size_t i, Name wanted, Name got) const {
    if (is_right(wanted, got)) return {};
    const std::size_t row = i / static_cast<std::size_t>(width_);
    const std::int64_t byte =
        (static_cast<std::int64_t>(i % static_cast<std::size_t>(width_)) + first_) * bits_ / 8;
    const std::string where =
        is_tensor_     ? fmt::format("byte {} of lane {} of tensor memory", byte, row)
        : is_private() ? fmt::format("byte {} of the registers of thread {} of the unit", byte, row)
                       : fmt::format("byte {}", byte);
    if (got == kUntouched) return where + " is not written";
    if (wanted == kNobody) return where + " is written and must not be";
    return fmt::format("{} gets {}, expected {}", where, text_of(got), text_of(wanted));
  }
  static std::string text_of(Name name) {
    if (name == kZero) return "zero";
    return name == kFill ? "the fill value" : fmt::format("granule {} of the source", name);
  }

  std::size_t rows_;
  int bits_;
  bool is_tensor_;
  std::int64_t first_ = 0, width_ = 1;
  bool is_table_ = true;
  std::vector<Name> table_;
  std::unordered_map<std::size_t, Name> sparse_;
  std::unordered_map<Name, Name> aliases_;
};

/// The names in the region of one operand of a call, for the unit that begins with thread
/// `first_thread`: from its layout applied to coordinates. Nothing when the sampled values put the
/// region outside its buffer.
struct RegionNames {
  std::int64_t elements = 0;
  Granules granules;
  std::vector<bool> outside{};  // by name: beyond the end of the buffer; empty: none is
};
/// `may_leave`: the region may leave its buffer.
Try<std::optional<RegionNames>> names_of(const Call& call, ProofValues& values,
                                         const ir::Region& region, int granule_bits,
                                         std::int64_t first_thread, bool may_leave = false);
/// Does the region leave its buffer? Chooses the values that `names_of` would choose.
Try<std::optional<bool>> leaves_buffer(const Call& call, ProofValues& values,
                                       const ir::Region& region, bool may_leave);

/// Which element of a region of extents `from` goes into an element of one of extents `into`: the one of
/// the same number where the extents other than 1 agree, otherwise the one at the same coordinates from
/// the right, those of an extent 1 being 0.
class Stretch {
 public:
  Stretch(const std::vector<std::int64_t>& into, const std::vector<std::int64_t>& from);
  [[nodiscard]] std::int64_t operator()(std::int64_t x) const;

 private:
  struct Digit {
    std::int64_t extent, scale;
  };
  bool is_alike_ = false;
  std::vector<Digit> steps_;  // from the last dimension on
};

}  // namespace ww::lower
