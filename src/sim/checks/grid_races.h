// SPDX-License-Identifier: Apache-2.0
// Races between units that can synchronise through global memory. Such kernels run on one host
// thread, so the accesses of all units arrive here in sequence, each with the clock of its warp
// (order.h). For every word this keeps the accesses that a later one may still race with; an access
// drops earlier ones that are ordered before it and race with nothing that it does not race with
// itself. Where the accesses to the next word are the same, what was decided for one holds for the
// other (access_sets.h).
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sim/checks/access_sets.h"
#include "sim/checks/page_table.h"
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
    return pages_.size() * sizeof(Page) + parts_.size() * 4 * sizeof(WordAccesses) + sets_.bytes();
  }

 private:
  static constexpr unsigned kPageWords = 256;
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

  void collect_garbage();
  void touch_words(Step& step, const std::uint64_t* address, Mask lanes);
  void touch_parts(const Step& step, WordAccesses& cell, unsigned first, unsigned last);
  void touch_cell(const Step& step, WordAccesses& cell);
  std::uint32_t prune(const Step& step, std::uint32_t rest);
  [[nodiscard]] bool replaces(const Step& step, const AccessEntry& entry) const;
  [[nodiscard]] Mask unordered(const Step& step, const AccessEntry& entry) const;
  void check(const Step& step, const WordAccesses& cell) const;
  void check_weak(const Step& step, const WordAccesses& cell) const;
  void check_entry(const Step& step, const AccessEntry& entry) const;
  void check_written(const Step& step, const WordAccesses& cell) const;
  void report(const Step& step, const AccessEntry& entry, Mask lanes, Agreement why) const;
  WordAccesses& cell_of(std::uint64_t word) {
    return pages_.at(word / kPageWords)[word % kPageWords];
  }

  AccessSets sets_;
  PageTable<Page> pages_;
  std::unordered_map<std::uint64_t, std::array<WordAccesses, 4>> parts_;
  /// Whether the current access was reported, or the set of lanes decided it.
  mutable bool is_special_ = false;
  std::vector<AccessEntry> kept_;  // scratch
};

}  // namespace ww::sim
