// SPDX-License-Identifier: Apache-2.0
// Races: two threads at the same bytes, at least one of them writing, and nothing that orders the
// two (order.h), unless both are strong accesses that suit each other (manner.h). For each word of
// four bytes the last weak write, the weak reads since then and the strong accesses since then are
// kept; where threads of one word differ in their bytes, byte by byte.
//
// Units that can synchronise through global memory are looked at in GridRaces. Those of all other
// kernels have nothing that could order them, so two of them at one word are a race (BlockRaces).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "sim/checks/block_races.h"
#include "sim/checks/findings.h"
#include "sim/checks/grid_races.h"
#include "sim/lanes.h"
#include "sim/memory/memory.h"
#include "sim/order/manner.h"
#include "sim/order/order.h"

namespace ww::sim {

class Warp;

/// "4 bytes of shared memory at 0x80", "lane 3, column 0 of tensor memory".
std::string place_text(std::uint64_t address, unsigned bytes);
/// "reads", "writes", "frees".
const char* verb_of(Touched how);
/// ": both are strong, and …" where two strong accesses race all the same; else empty.
std::string why_not_strong(Agreement why, const Manner& a, const Manner& b);
/// A lane reads, through the non-coherent cache, what the kernel has written.
void report_stale(Warp& warp, unsigned lane, std::uint64_t address, unsigned bytes,
                  const Party& writer);

class RaceTracker {
 public:
  /// `grid`: null where units cannot synchronise through global memory.
  RaceTracker(const Order& order, GridRaces* grid) : order_(order), grid_(grid) {}
  void reset();

  /// Accesses of a warp's lanes: notes them, reports races with earlier ones.
  void touch(Warp& warp, const Region& region, const std::uint64_t* address, Mask lanes,
             unsigned bytes, Touched how, const Manner& manner);
  /// The same for cells of the tensor memory of the warp's CTA: lane times columns plus column, for
  /// each lane of the warp.
  void touch_tensor(Warp& warp, const std::uint32_t* cell, Mask lanes, Touched how);

  /// How much memory it takes, about.
  [[nodiscard]] std::uint64_t bytes() const {
    return (pages_.size() + spare_.size()) * sizeof(Page) + readers_.size() * sizeof(Reader) +
           strong_.size() * sizeof(StrongUse) + split_pages_ * sizeof(Parts) * kPageWords;
  }
  /// Tells what this unit did to global memory, for races between units.
  void hand_over(BlockRaces& all, std::uint64_t unit);

 private:
  /// The last weak write and what was done since, to four bytes or to one. Several warps' reads
  /// make a list.
  struct WordState {
    std::uint32_t epoch = 0;   // older than the tracker's: nothing of it counts any more
    std::uint32_t writer = 0;  // thread of the unit plus one; 0: none
    std::uint32_t write_clock = 0, write_op = 0;
    std::uint32_t read_op = 0, read_clock = 0;
    Mask read_lanes = 0;
    std::uint32_t more = 0;    // of readers_, plus one
    std::uint32_t strong = 0;  // of strong_, plus one
    std::uint16_t read_warp = 0;
    bool is_split = false;     // the bytes have cells of their own
    bool has_earlier = false;  // in the list are reads of lanes of `read_warp`, too
  };
  struct Reader {
    std::uint32_t next = 0;
    std::uint32_t clock = 0;
    Mask lanes = 0;  // 0: none, any more
    std::uint16_t warp = 0;
    bool has_earlier = false;  // in the list are earlier reads of lanes of the warp, too
  };
  /// A strong access.
  struct StrongUse {
    std::uint32_t next = 0;
    std::uint32_t clock = 0, op = 0;
    Mask lanes = 0;
    std::uint32_t number = 0;  // in the order of their happening
    std::uint16_t warp = 0;
    bool reads = false, writes = false;
    Manner manner{};
  };
  static constexpr unsigned kPageWords = BlockRaces::kPageWords;
  using Parts = std::array<WordState, 4>;  // the bytes of a word
  struct Page {
    std::array<WordState, kPageWords> cells;
    std::unique_ptr<std::array<Parts, kPageWords>> parts;  // of words that are split
    BlockRaces::Accesses accesses;                         // for other units; only of global memory
  };
  /// One lane's access, taken apart into cells.
  struct Step {
    Warp& warp;
    std::uint64_t address;
    unsigned bytes;
    unsigned lane;
    Touched how;
    Manner manner;
  };

  Page& page_of(std::uint64_t word);
  Page& new_page(std::uint64_t number);
  void touch_words(Warp& warp, const std::uint64_t* address, Mask lanes, unsigned bytes,
                   Touched how, const Manner& manner);
  void touch_bytes(Warp& warp, const std::uint64_t* address, Mask lanes, unsigned bytes,
                   Touched how, const Manner& manner);
  bool read_quickly(WordState& cell, Mask lanes, std::uint32_t op);
  bool write_quickly(WordState& cell, unsigned lane, std::uint32_t op);
  void drop_uses(WordState& cell);
  WordState copy_of(const WordState& cell);
  Parts& parts_of(Page& page, unsigned slot);
  void split(WordState& cell, Parts& parts);
  void note_for_units(const Step& step, Page& page, unsigned slot, std::uint8_t mask);
  void touch_word(const Step& step, std::uint64_t word, unsigned first, unsigned last);
  void touch_cell(const Step& step, WordState& cell);
  void note_read(WordState& cell, Mask by, std::uint32_t op);
  void add_reader(WordState& cell, const Reader& reader);
  void note_in_list(WordState& cell, Mask by);
  void write_cell(const Step& step, WordState& cell);
  void note_strong(const Step& step, WordState& cell);
  void check_writer(const Step& step, const WordState& cell);
  void check_readers(const Step& step, const WordState& cell);
  void check_strong(const Step& step, const WordState& cell);
  void check_step(const Step& step, const StrongUse& use);
  [[nodiscard]] std::uint32_t seen_by(const Step& step, const WordState& cell) const;
  void check_stale(const Step& step, const Page& page, unsigned slot, std::uint8_t mask) const;
  void keep_up();
  [[nodiscard]] bool is_ordered(const Step& step, unsigned other, unsigned other_lane,
                                std::uint32_t clock) const;
  [[nodiscard]] Mask unordered(const Step& step, unsigned other, Mask lanes,
                               std::uint32_t clock) const;
  void report(const Step& step, const char* what, std::uint32_t other_op, unsigned other_warp,
              Mask other_lanes, const std::string& why = {}) const;

  const Order& order_;
  GridRaces* grid_;
  std::uint32_t epoch_ = 0;  // of the order, when something was last touched
  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
  std::uint64_t last_number_ = ~std::uint64_t{0};
  Page* last_page_ = nullptr;
  std::uint64_t split_pages_ = 0;  // that have parts
  std::vector<Reader> readers_;
  std::vector<StrongUse> strong_;
  std::uint32_t strong_number_ = 0;
  std::uint32_t free_reader_ = 0;             // a list, as WordState::more
  std::uint32_t free_strong_ = 0;             // a list, as WordState::strong
  std::vector<std::unique_ptr<Page>> spare_;  // pages of earlier units
  unsigned current_warp_ = 0;
  std::uint32_t now_ = 0;  // its clock
};

}  // namespace ww::sim
