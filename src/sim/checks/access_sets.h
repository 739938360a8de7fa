// SPDX-License-Identifier: Apache-2.0
// The accesses to a word that a later one may race with: the last weak write, and the others since.
// Most words have the same few accesses as their neighbours, so sets of accesses are made once and
// shared. Lanes are counted from the word's position, so that neighbouring lanes at neighbouring
// words leave the same entry in all of them.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/lanes.h"
#include "sim/order/manner.h"

namespace ww::sim {

/// The access of the lanes of one instruction.
struct AccessStamp {
  std::uint64_t unit = 0;
  std::uint32_t clock = 0, op = 0;
  unsigned warp = 0;        // of the unit
  std::uint32_t shift = 0;  // log2 of the words from lane to lane, if they go so; else any number
  Manner manner{};
  bool reads = false, writes = false;
  bool lasts = false;  // no other unit can be ordered behind it, as it has not landed
  friend bool operator==(const AccessStamp&, const AccessStamp&) = default;

  [[nodiscard]] bool is_of(const AccessStamp& other) const {
    return warp == other.warp && unit == other.unit;
  }
};

/// The lanes, turned by the place of the word; and turned back.
inline Mask turned(Mask lanes, std::uint64_t word, std::uint32_t shift) {
  return std::rotr(lanes, static_cast<int>((word >> shift) % kLanes));
}
inline Mask turned_back(Mask lanes, std::uint64_t word, std::uint32_t shift) {
  return std::rotl(lanes, static_cast<int>((word >> shift) % kLanes));
}

/// Lanes that made an access of one stamp.
struct AccessEntry {
  std::uint32_t stamp = 0;  // of AccessSets
  Mask turned = 0;          // the lanes, turned by the word's place
  friend bool operator==(const AccessEntry&, const AccessEntry&) = default;
};

/// An entry and those before it, with what spares looking through all of them. Weak writes are in
/// no set: they make earlier accesses irrelevant.
struct AccessSet {
  std::uint32_t rest = 0;  // another set; 0: nothing
  AccessEntry entry{};
  /// The nearest set, this one or in `rest`, whose entry is a weak read, strong, or strong for less
  /// than the GPU.
  std::uint32_t weak = 0, strong = 0, narrow = 0;
  std::uint8_t bytes = 0;  // of all strong entries; kMixed: they differ
  static constexpr std::uint8_t kMixed = 0xFF;
};

struct WordAccesses {
  static constexpr unsigned kLaneBits = 5;
  static constexpr std::uint32_t kSplit = ~std::uint32_t{0};  // as `rest`: its bytes have their own

  std::uint32_t write = 0;  // the last weak one: its stamp, and below it its turned lane
  std::uint32_t rest = 0;   // a set: those between the write and the latest
  AccessEntry latest{};     // but for weak writes
  friend bool operator==(const WordAccesses& a, const WordAccesses& b) {
    using Halves = std::array<std::uint64_t, 2>;
    const auto x = std::bit_cast<Halves>(a), y = std::bit_cast<Halves>(b);
    return x[0] == y[0] && x[1] == y[1];
  }

  [[nodiscard]] AccessEntry written() const {
    return {write >> kLaneBits, lane_bit(write % kLanes)};
  }
  void set_written(const AccessEntry& by) {
    *this = {.write = by.stamp << kLaneBits | first_lane(by.turned)};
  }
};

/// All stamps and sets, by number.
class AccessSets {
 public:
  /// Whether there is such an access, and it has not been forgotten.
  [[nodiscard]] bool has(const AccessEntry& e) const { return e.stamp > forgotten_; }
  [[nodiscard]] bool has_none(const WordAccesses& cell) const {
    return !has(cell.latest) && !has(cell.written());
  }
  [[nodiscard]] const AccessStamp& stamp(const AccessEntry& e) const {
    return stamps_[e.stamp - forgotten_];
  }
  [[nodiscard]] const AccessSet& set(std::uint32_t number) const { return sets_[number]; }
  /// The number of a stamp or set that is like this, made if there is none.
  std::uint32_t number_of(const AccessStamp& stamp) {
    std::uint32_t& recent = recent_[(stamp.op + kSpread * stamp.warp + stamp.unit) % kRecent];
    if (recent <= forgotten_ || !(stamps_[recent - forgotten_] == stamp)) {
      recent = forgotten_ + static_cast<std::uint32_t>(stamps_.size());
      stamps_.push_back(stamp);
    }
    return recent;
  }
  std::uint32_t number_of(std::uint32_t rest, const AccessEntry& entry);

  /// The lanes of an entry at that word.
  [[nodiscard]] Mask lanes_of(const AccessEntry& entry, std::uint64_t word) const {
    return turned_back(entry.turned, word, stamp(entry).shift);
  }
  /// Calls visit(entry) for the latest access, whatever it is, and for the earlier ones of a chain.
  template <typename Visit>
  void for_each(const WordAccesses& cell, std::uint32_t AccessSet::*chain, Visit&& visit) const {
    visit(cell.latest);
    for (std::uint32_t at = sets_[cell.rest].*chain; at != 0; at = sets_[sets_[at].rest].*chain)
      visit(sets_[at].entry);
  }

  /// All that was is ordered before all that comes.
  void forget();
  /// Whether there are so many that it is time to collect.
  [[nodiscard]] bool is_full() const {
    return sets_.size() + stamps_.size() > collect_at_ || forgotten_ + stamps_.size() > kMaxStamps;
  }
  /// Drops what none of that many cells refers to any more, and numbers the others anew.
  /// for_each_cell(visit) calls visit(WordAccesses&) for all there are.
  template <typename ForEachCell>
  void collect_garbage(std::size_t cells, const ForEachCell& for_each_cell) {
    Renumbering to{std::vector<std::uint32_t>(stamps_.size()),
                   std::vector<std::uint32_t>(sets_.size())};
    for_each_cell([&](const WordAccesses& cell) { mark(cell, to); });
    const std::uint32_t forgotten = forgotten_;
    keep_marked(to, cells);
    for_each_cell([&](WordAccesses& cell) {
      const auto renumber = [&](std::uint32_t stamp) {
        return stamp > forgotten ? to.stamps[stamp - forgotten] : 0;
      };
      const AccessEntry written = cell.written();
      const bool is_split = cell.rest == WordAccesses::kSplit;
      cell.latest.stamp = renumber(cell.latest.stamp);
      if (!is_split) cell.rest = cell.latest.stamp == 0 ? 0 : to.sets[cell.rest];
      cell.write = renumber(written.stamp) << WordAccesses::kLaneBits | cell.write % kLanes;
      if (has_none(cell)) cell = {};
    });
  }
  /// How much memory it takes, about.
  [[nodiscard]] std::uint64_t bytes() const {
    return stamps_.size() * sizeof(AccessStamp) + sets_.size() * (sizeof(AccessSet) + 16);
  }

 private:
  /// By old number: not 0 if it is kept, and then the new number.
  struct Renumbering {
    std::vector<std::uint32_t> stamps, sets;
  };
  std::uint32_t& slot_of(std::uint32_t rest, const AccessEntry& entry);
  void mark(const WordAccesses& cell, Renumbering& to) const;
  void keep_marked(Renumbering& to, std::size_t cells);

  static constexpr std::size_t kRecent = 1024, kSpread = 37;
  static constexpr std::size_t kCollectAt = std::size_t{1} << 14U;
  static constexpr std::uint32_t kMaxStamps = (1U << 27U) - 2;  // fit above a lane

  std::vector<AccessStamp> stamps_ = std::vector<AccessStamp>(1);  // from number forgotten_ on
  std::vector<AccessSet> sets_ = std::vector<AccessSet>(1);
  std::vector<std::uint32_t> index_;             // of sets by hash; a power of two, 0: free
  std::array<std::uint32_t, kRecent> recent_{};  // stamps: most accesses have the one before
  std::uint32_t forgotten_ = 0;
  std::size_t collect_at_ = kCollectAt;
};

}  // namespace ww::sim
