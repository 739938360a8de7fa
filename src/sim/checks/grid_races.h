// SPDX-License-Identifier: Apache-2.0
// Races between units that can synchronise through global memory. Such kernels run on one thread of
// the host, so that the accesses of all units come here one after the other, each with the clock of
// its warp (order.h). For every word the accesses are kept that a later one may still race with; an
// access drops earlier ones that are ordered before it and that race with nothing it does not race
// with itself.
//
// Most words have the same few accesses, so these sets are made once and shared: a word holds its
// latest access and the number of the set of earlier ones. Which lanes it was is counted from the
// word's place, so that lanes next to each other at words next to each other leave the same behind
// in all of them; what was decided for one such word holds for the next.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "sim/checks/number_table.h"
#include "sim/lanes.h"
#include "sim/order/manner.h"
#include "sim/order/order.h"

namespace ww::sim {

class Warp;

class GridRaces {
 public:
  /// Accesses of a warp's lanes to global memory: notes them, reports races with other units.
  void touch(Warp& warp, const Order& order, const std::uint64_t* address, Mask lanes,
             unsigned bytes, Touched how, const Manner& manner);
  /// How much memory it takes, about.
  [[nodiscard]] std::uint64_t bytes() const {
    return pages_.size() * sizeof(Page) + parts_.size() * 4 * sizeof(WordAccesses) +
           stamps_.size() * (sizeof(Stamp) + 16) + sets_.size() * (sizeof(Set) + 16);
  }

 private:
  /// What the lanes of one instruction did.
  struct Stamp {
    std::uint64_t unit = 0;
    std::uint32_t clock = 0, op = 0;
    unsigned warp = 0;         // of the unit
    std::uint32_t stride = 1;  // words from lane to lane, if lanes go in step; else any number
    Manner manner{};
    bool reads = false, writes = false;
    friend bool operator==(const Stamp&, const Stamp&) = default;
  };
  /// Lanes that made an access of one stamp.
  struct Entry {
    std::uint32_t stamp = 0;  // index into stamps_; 0: none
    Mask turned = 0;          // the lanes, turned by the word's place: see turn_of
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  /// An entry and those before it, with what spares looking through all of them.
  struct Set {
    std::uint32_t rest = 0;  // index into sets_; 0: nothing
    Entry entry{};
    std::uint32_t write = 0, weak = 0;  // the nearest set, this one or in `rest`, whose entry is so
    std::uint32_t narrow = 0;           // ... strong for less than the GPU
    bool is_strong = false;             // whether any is
    std::uint8_t bytes = 0;             // of all strong entries; kMixed: they differ
  };
  struct WordAccesses {
    Entry latest{};
    std::uint32_t rest = 0;  // index into sets_
    friend bool operator==(const WordAccesses&, const WordAccesses&) = default;
  };
  static constexpr unsigned kPageWords = 256;
  static constexpr std::uint8_t kMixed = 0xFF;
  static constexpr std::uint32_t kSplit = ~std::uint32_t{0};  // stamp of words kept byte by byte
  using Page = std::array<WordAccesses, kPageWords>;
  /// The access that is looked at.
  struct Step {
    Warp& warp;
    const Order& order;
    std::uint64_t address = 0;
    unsigned bytes = 0, lane = 0;
    Touched how{};
    std::uint32_t stamp = 0;
    std::uint64_t word = 0;
  };
  /// What the access did to the word before: an equal one becomes the same, if nothing about it
  /// was a matter of single lanes.
  struct Memory {
    WordAccesses before{}, after{};
    Mask turned = 0;  // 0: nothing is remembered
  };

  WordAccesses& cell_of(std::uint64_t word);
  static int turn_of(std::uint64_t word, std::uint32_t stride) {
    return static_cast<int>((stride == 1 ? word : word / stride) % kLanes);
  }
  [[nodiscard]] Mask lanes_of(const Step& step, const Entry& entry) const {
    return std::rotl(entry.turned, turn_of(step.word, stamps_[entry.stamp].stride));
  }
  static std::size_t hash_of(const Stamp& s);
  static std::size_t hash_of(std::uint32_t rest, const Entry& entry);
  std::uint32_t stamp_of(const Stamp& stamp);
  std::uint32_t set_of(std::uint32_t rest, const Entry& entry);
  void touch_words(Step& step, const std::uint64_t* address, Mask lanes);
  void touch_parts(const Step& step, WordAccesses& cell, unsigned first, unsigned last);
  void touch_cell(const Step& step, WordAccesses& cell);
  void check(const Step& step, const WordAccesses& cell) const;
  void check_weak(const Step& step, const WordAccesses& cell) const;
  void check_entry(const Step& step, const Entry& entry) const;
  /// Calls visit(Entry) for the latest access and the earlier ones, until it gives false.
  template <typename Visit>
  void for_each(const WordAccesses& cell, Visit&& visit) const;
  void check_written(const Step& step, const WordAccesses& cell) const;
  [[nodiscard]] Mask unordered(const Step& step, const Entry& entry) const;
  [[nodiscard]] bool replaces(const Step& step, const Entry& entry) const;
  std::uint32_t prune(const Step& step, std::uint32_t rest);
  void report(const Step& step, const Entry& entry, Mask lanes, Agreement why) const;
  void collect_garbage();

  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
  std::uint64_t last_number_ = ~std::uint64_t{0};
  Page* last_page_ = nullptr;
  std::unordered_map<std::uint64_t, std::array<WordAccesses, 4>> parts_;
  std::vector<Stamp> stamps_ = std::vector<Stamp>(1);
  std::vector<Set> sets_ = std::vector<Set>(1);
  NumberTable stamp_index_, set_index_;
  std::array<std::uint32_t, 256> recent_{};  // stamps by op: most accesses have the one before
  /// Whether the access at hand was reported, or decided by which lanes there are.
  mutable bool is_special_ = false;
  std::size_t collect_at_ = std::size_t{1} << 20U;
  std::vector<Entry> kept_;  // scratch
};

}  // namespace ww::sim
