// SPDX-License-Identifier: Apache-2.0
// Races: two threads at the same bytes, at least one of them writing, and nothing that orders them
// (race_checks.h). For each word of four bytes, a shadow keeps the accesses that a later one may
// race with (access_sets.h), or for each of its bytes, if threads access different bytes. An access
// drops earlier ones that are ordered before it and race with nothing that it does not race with
// itself. What was decided for a word holds for others that have the same accesses.
//
// A unit has a shadow of its own. Units that can synchronise through global memory run on one host
// thread and share a shadow of that memory. Units of all other kernels have nothing that could
// order them, so two of them at one word are a race (BlockRaces).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "sim/checks/access_sets.h"
#include "sim/checks/block_races.h"
#include "sim/checks/page_table.h"
#include "sim/checks/race_checks.h"
#include "sim/lanes.h"
#include "sim/memory/memory.h"
#include "sim/order/manner.h"
#include "sim/order/order.h"

namespace ww::sim {

class Warp;

class Shadow {
 public:
  /// The access that a warp makes now.
  [[nodiscard]] RaceStep step_of(Warp& warp, const Order& order, const std::uint64_t* address,
                                 Mask lanes, unsigned bytes, Touched how, const Manner& manner);
  /// Lanes make the access: notes it, reports races with earlier ones.
  void touch(RaceStep& step, const std::uint64_t* address, Mask lanes);
  /// The lane is to make the access some time later: reports races with what was written before.
  void check(RaceStep& step);

  /// All that was is ordered before all that comes.
  void forget() { sets_.forget(); }
  /// Another unit has the memory.
  void reset();
  void hand_over(BlockRaces& all, std::uint64_t unit) const;
  /// How much memory it takes, about.
  [[nodiscard]] std::uint64_t bytes() const;

 private:
  static constexpr unsigned kPageWords = BlockRaces::kPageWords;
  static constexpr std::uint8_t kWholeWord = BlockRaces::kWholeWord;
  using Parts = std::array<WordAccesses, 4>;  // the bytes of a word
  /// A weak access to words of a page that left them as they were.
  struct Repeat {
    AccessEntry by{};
    std::uint16_t first = 0, end = 0, apart = 0;
    friend bool operator==(const Repeat&, const Repeat&) = default;
  };
  struct Page {
    std::array<WordAccesses, kPageWords> cells{};
    std::array<Repeat, 8> repeats{};                       // by stamp
    std::uint8_t known_repeats = 0;                        // those since a cell changed last
    std::unique_ptr<std::array<Parts, kPageWords>> parts;  // of words that are split
    std::unique_ptr<BlockRaces::Accesses> accesses;        // for other units
  };

  struct Run;
  /// What an access made of a word, if that was no matter of single lanes. It makes the same of all
  /// words with these accesses.
  struct Change {
    WordAccesses before{}, after{};
    AccessEntry by{};
  };
  static constexpr unsigned kChangeBits = 9;

  template <typename Visit>
  void for_each_cell(const Visit& visit);
  Page& page_of(const RaceStep& step, std::uint64_t word);
  void touch_words(RaceStep& step, const std::uint64_t* address, Mask lanes);
  void touch_run(RaceStep& step, const Run& run, std::uint64_t word, unsigned count);
  Mask touch_own(RaceStep& step, const std::uint64_t* address, Mask lanes);
  void touch_bytes(RaceStep& step, const std::uint64_t* address, Mask lanes);
  [[nodiscard]] Change& change_of(const WordAccesses& before, const AccessEntry& by);
  static void note_for_units(RaceStep& step, Page& page, unsigned slot, std::uint8_t which);
  void touch_parts(RaceStep& step, Page& page, std::uint8_t which, Mask lanes);
  void touch_cell(RaceStep& step, WordAccesses& cell, const AccessEntry& mine, Mask lanes);
  bool touch_plainly(const RaceStep& step, WordAccesses& cell, const AccessEntry& mine) const;
  [[nodiscard]] bool is_settled(const RaceStep& step, const WordAccesses& cell) const;
  void note(RaceStep& step, WordAccesses& cell, Mask lanes);
  Mask left_of(RaceStep& step, const AccessEntry& entry, Mask& lanes) const;
  [[nodiscard]] bool is_split(const WordAccesses& cell) const {
    return cell.rest == WordAccesses::kSplit && sets_.has(cell.latest);
  }

  AccessSets sets_;
  PageTable<Page> pages_;
  std::uint64_t split_pages_ = 0;  // that have parts
  std::uint64_t noted_pages_ = 0;  // that have accesses for other units
  std::vector<AccessEntry> kept_;  // scratch
  std::array<Change, std::size_t{1} << kChangeBits> changes_{};  // the latest ones, by hash
};

/// The races of one unit.
class RaceTracker {
 public:
  /// `grid`: null where units cannot synchronise through global memory.
  RaceTracker(const Order& order, Shadow* grid) : order_(order), grid_(grid) {}
  void reset() { shadow_.reset(); }

  /// Accesses of a warp's lanes: notes them, reports races with earlier ones. `stored`: of a store
  /// that may write what is there already, if the run allows that; else null.
  void touch(Warp& warp, const Region& region, const std::uint64_t* address, Mask lanes,
             unsigned bytes, Touched how, const Manner& manner,
             const StoredBytes* stored = nullptr);
  /// The lanes read these bytes, at a multiple of 4, some time later: reports races with what was
  /// written before. What is written from now on is not compared with it.
  void check_read(Warp& warp, const std::uint64_t* address, Mask lanes, unsigned bytes);
  /// The same for cells of the tensor memory of the CTA of that rank: lane times columns plus column,
  /// for each lane of the warp.
  void touch_tensor(Warp& warp, unsigned rank, const std::uint32_t* cell, Mask lanes, Touched how);

  /// How much memory it takes, about.
  [[nodiscard]] std::uint64_t bytes() const { return shadow_.bytes(); }
  /// Tells what this unit did to global memory, for races between units.
  void hand_over(BlockRaces& all, std::uint64_t unit) const { shadow_.hand_over(all, unit); }

 private:
  Shadow& own();

  const Order& order_;
  Shadow* grid_;
  Shadow shadow_;
  std::uint32_t epoch_ = 0;  // of the order, when something was last touched
};

}  // namespace ww::sim
