// SPDX-License-Identifier: Apache-2.0
// Sets of accesses of several units to a word of global memory. Most words have the same few
// accesses, so these sets are made once and shared: a word holds its latest access and the number
// of the set of earlier ones. Lanes are counted from the word's position, so that neighbouring
// lanes at neighbouring words leave the same entry in all of them.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/checks/number_table.h"
#include "sim/lanes.h"
#include "sim/order/manner.h"

namespace ww::sim {

/// The access of the lanes of one instruction.
struct AccessStamp {
  std::uint64_t unit = 0;
  std::uint32_t clock = 0, op = 0;
  unsigned warp = 0;         // of the unit
  std::uint32_t stride = 1;  // words from lane to lane, if lanes go in step; else any number
  Manner manner{};
  bool reads = false, writes = false;
  friend bool operator==(const AccessStamp&, const AccessStamp&) = default;
};

/// Lanes that made an access of one stamp.
struct AccessEntry {
  std::uint32_t stamp = 0;  // of AccessSets; 0: none
  Mask turned = 0;          // the lanes, turned by the word's place: see turn_of
  friend bool operator==(const AccessEntry&, const AccessEntry&) = default;
};

/// How far lanes of that stride are turned at a word.
inline int turn_of(std::uint64_t word, std::uint32_t stride) {
  return static_cast<int>((stride == 1 ? word : word / stride) % kLanes);
}

/// An entry and those before it, with what spares looking through all of them.
struct AccessSet {
  std::uint32_t rest = 0;  // another set; 0: nothing
  AccessEntry entry{};
  std::uint32_t write = 0, weak = 0;  // the nearest set, this one or in `rest`, whose entry is so
  std::uint32_t narrow = 0;           // ... strong for less than the GPU
  bool is_strong = false;             // whether any is
  std::uint8_t bytes = 0;             // of all strong entries; kMixed: they differ
  static constexpr std::uint8_t kMixed = 0xFF;
};

struct WordAccesses {
  AccessEntry latest{};
  std::uint32_t rest = 0;  // a set
  friend bool operator==(const WordAccesses&, const WordAccesses&) = default;
};

/// All stamps and sets, by number.
class AccessSets {
 public:
  [[nodiscard]] const AccessStamp& stamp(std::uint32_t number) const { return stamps_[number]; }
  [[nodiscard]] const AccessStamp& stamp(const AccessEntry& e) const { return stamps_[e.stamp]; }
  [[nodiscard]] const AccessSet& set(std::uint32_t number) const { return sets_[number]; }
  /// The number of a stamp or set that is like this, made if there is none.
  std::uint32_t number_of(const AccessStamp& stamp);
  std::uint32_t number_of(std::uint32_t rest, const AccessEntry& entry);

  /// The lanes of an entry at that word.
  [[nodiscard]] Mask lanes_of(const AccessEntry& entry, std::uint64_t word) const {
    return std::rotl(entry.turned, turn_of(word, stamp(entry).stride));
  }
  /// Calls visit(entry) for the latest access and the earlier ones, until it gives false.
  template <typename Visit>
  void for_each(const WordAccesses& cell, Visit&& visit) const {
    if (!visit(cell.latest)) return;
    for (std::uint32_t at = cell.rest; at != 0; at = sets_[at].rest) {
      if (!visit(sets_[at].entry)) return;
    }
  }

  /// Whether there are so many that it is time to collect.
  [[nodiscard]] bool is_full() const { return sets_.size() + stamps_.size() > collect_at_; }
  /// Forgets what no cell refers to any more, and numbers the others anew. for_each_cell(visit)
  /// calls visit(WordAccesses&) for all there are.
  template <typename ForEachCell>
  void collect_garbage(const ForEachCell& for_each_cell) {
    Renumbering to{std::vector<std::uint32_t>(stamps_.size()),
                   std::vector<std::uint32_t>(sets_.size())};
    for_each_cell([&](const WordAccesses& cell) { mark(cell, to); });
    keep_marked(to);
    for_each_cell([&](WordAccesses& cell) {
      cell.latest.stamp = to.stamps[cell.latest.stamp];
      cell.rest = to.sets[cell.rest];
    });
  }
  /// How much memory it takes, about.
  [[nodiscard]] std::uint64_t bytes() const {
    return stamps_.size() * (sizeof(AccessStamp) + 16) + sets_.size() * (sizeof(AccessSet) + 16);
  }

 private:
  /// By old number: not 0 if it is kept, and then the new number.
  struct Renumbering {
    std::vector<std::uint32_t> stamps, sets;
  };
  void mark(const WordAccesses& cell, Renumbering& to) const;
  void keep_marked(Renumbering& to);

  std::vector<AccessStamp> stamps_ = std::vector<AccessStamp>(1);
  std::vector<AccessSet> sets_ = std::vector<AccessSet>(1);
  NumberTable stamp_index_, set_index_;
  std::array<std::uint32_t, 256> recent_{};  // stamps by op: most accesses have the one before
  std::size_t collect_at_ = std::size_t{1} << 20U;
};

}  // namespace ww::sim
