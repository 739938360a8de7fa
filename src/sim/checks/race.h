// SPDX-License-Identifier: Apache-2.0
// Races: two threads at the same bytes, at least one of them writing, and nothing that orders the
// two (order.h), unless both are strong accesses of matching scope and size (manner.h). The tracker
// keeps the accesses to each word of four bytes: in short form while it has one owner, then as in
// race_cell.h; byte by byte if threads access different bytes of one word.
//
// Units that can synchronise through global memory are looked at in GridRaces. Those of all other
// kernels have nothing that could order them, so two of them at one word are a race (BlockRaces).
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "sim/checks/block_races.h"
#include "sim/checks/grid_races.h"
#include "sim/checks/page_table.h"
#include "sim/checks/race_cell.h"
#include "sim/lanes.h"
#include "sim/memory/memory.h"
#include "sim/order/manner.h"
#include "sim/order/order.h"

namespace ww::sim {

class Warp;
struct RaceStep;

/// The value of a coming store, for the rule that rewriting a value does not race with the write
/// that put it there.
class StoredBytes {
 public:
  /// `are_there(region, address, lane)` tells whether the bytes of that lane's store are at its
  /// address already. It must outlive this object.
  template <typename Test>
  explicit StoredBytes(const Test& are_there)
      : test_(&are_there),
        call_([](const void* test, const Region& region, std::uint64_t address, unsigned lane) {
          return (*static_cast<const Test*>(test))(region, address, lane);
        }) {}
  [[nodiscard]] bool are_there(const Region& region, std::uint64_t address, unsigned lane) const {
    return call_(test_, region, address, lane);
  }

 private:
  const void* test_;
  bool (*call_)(const void*, const Region&, std::uint64_t, unsigned);
};

class RaceTracker {
 public:
  /// `grid`: null where units cannot synchronise through global memory.
  RaceTracker(const Order& order, GridRaces* grid) : by_{.order = &order}, grid_(grid) {}
  void reset();

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
  [[nodiscard]] std::uint64_t bytes() const {
    return pages_.size() * sizeof(Page) + uses_.readers.bytes() + uses_.strong.bytes() +
           (cell_pages_ * sizeof(RaceCell) + split_pages_ * sizeof(Parts)) * kPageWords;
  }
  /// Tells what this unit did to global memory, for races between units.
  void hand_over(BlockRaces& all, std::uint64_t unit);

 private:
  static constexpr unsigned kPageWords = BlockRaces::kPageWords;
  using Parts = std::array<RaceCell, 4>;  // the bytes of a word
  /// Most words see weak accesses of a single thread between two barriers. All that is kept of such
  /// a word is its owner, and the owner's last write and its last read since.
  struct Page {
    std::array<std::uint64_t, kPageWords> owner{};  // thread plus one, epoch above; 0: has a cell
    std::array<std::uint64_t, kPageWords> wrote{}, read{};    // op plus one, clock above; 0: none
    std::unique_ptr<std::array<RaceCell, kPageWords>> cells;  // of words that have no owner
    std::unique_ptr<std::array<Parts, kPageWords>> parts;     // of words that are split
    BlockRaces::Accesses accesses;  // for other units; only of global memory
  };

  void keep_up();
  void begin(const Warp& warp);
  void touch_words(Warp& warp, const std::uint64_t* address, Mask lanes, unsigned bytes,
                   Touched how, const Manner& manner);
  void touch_bytes(Warp& warp, const std::uint64_t* address, Mask lanes, unsigned bytes,
                   Touched how, const Manner& manner);
  template <bool kReads, bool kNoted, unsigned kWords>
  bool touch_all_own(const std::uint64_t* address, std::uint32_t op);
  template <bool kReads, bool kNoted, unsigned kWords>
  Mask touch_own(const std::uint64_t* address, Mask lanes, std::uint32_t op);
  template <bool kReads, bool kNoted, typename Slowly>
  void touch_plainly(const std::uint64_t* address, Mask lanes, unsigned bytes, std::uint32_t op,
                     const Slowly& slowly);
  void touch_word(const RaceStep& step, std::uint64_t word, unsigned first, unsigned last);
  void touch_cell(const RaceStep& step, RaceCell& cell);
  [[nodiscard]] bool is_current(std::uint64_t owner) const { return owner >> 32U == epoch_; }
  [[nodiscard]] RaceCell owned_cell(const Page& page, unsigned slot) const;
  RaceCell& cell_of(Page& page, unsigned slot);
  Parts& parts_of(Page& page, unsigned slot);
  void check_cell(const RaceStep& step, const Page& page, unsigned slot) const;

  Accessor by_;
  GridRaces* grid_;
  const Region* region_ = nullptr;       // of the current access
  const StoredBytes* stored_ = nullptr;  // the same
  std::uint32_t epoch_ = 0;              // of the order, when something was last touched
  PageTable<Page> pages_;
  std::uint64_t cell_pages_ = 0;   // that have cells
  std::uint64_t split_pages_ = 0;  // that have parts
  CellUses uses_;
};

}  // namespace ww::sim
