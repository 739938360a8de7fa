// SPDX-License-Identifier: Apache-2.0
// Races: two threads at the same bytes, at least one of them writing, and nothing that orders the
// two (order.h). For each word of four bytes the last write and the reads since then are kept;
// where threads of one word differ in their bytes, byte by byte. Blocks that share no cluster are
// ordered by nothing but what happens at the same global address (see `cross`), so two of them at
// one word are a race.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "sim/findings.h"
#include "sim/lanes.h"
#include "sim/memory.h"
#include "sim/order.h"

namespace ww::sim {

class Warp;

/// AsyncWrite: the landing of what was noted as a Write when it was issued. Free: the end of an
/// allocation, which must come after every access like a write.
enum class Touched : std::uint8_t { Read, Write, Atomic, AsyncWrite, Free };

struct RunContext;

/// Words of global memory that more than one unit touched. Units hand over what they did when they
/// end, in any order; what is kept of them (the first and the last by number) and so what is
/// reported does not depend on it.
class BlockRaces {
 public:
  static constexpr unsigned kPageWords = 128;
  /// The plain accesses of a unit to a page: ops plus one (0: none), and which bytes of each word.
  struct Accesses {
    std::array<std::uint32_t, kPageWords> wrote{}, read{};
    std::array<std::uint8_t, kPageWords> wrote_bytes{}, read_bytes{};
  };
  /// May be called from several threads at once.
  void note(std::uint64_t page, std::uint64_t unit, const Accesses& accesses);
  void report(Findings& findings, const RunContext& context) const;

 private:
  /// Unit in the upper half, op in the lower.
  struct Span {
    std::uint64_t first = ~std::uint64_t{0}, last = 0;
    void add(std::uint64_t access) {
      first = access < first ? access : first;
      last = access > last ? access : last;
    }
    [[nodiscard]] bool empty() const { return first > last; }
  };
  struct Entry {
    Span writes, reads;
  };
  using Page = std::array<Entry, kPageWords>;
  struct Conflict {
    std::uint64_t address, earlier, later;
    bool is_write_write;
  };
  // Pages are spread over parts, each with its lock.
  struct Part {
    std::mutex mutex;
    std::unordered_map<std::uint64_t, std::unique_ptr<Page>> words;
    std::unordered_map<std::uint64_t, Entry> bytes;  // of words that are touched in parts
  };
  static void note_bytes(Part& part, std::uint64_t word, std::uint64_t unit, std::uint32_t wrote,
                         unsigned wrote_bytes, std::uint32_t read, unsigned read_bytes);
  static std::optional<Conflict> conflict_of(const Entry& entry, std::uint64_t address);
  static void find_conflicts(const Part& part, std::vector<Conflict>& conflicts);

  std::array<Part, 64> parts_;
};

/// "4 bytes of shared memory at 0x80", "lane 3, column 0 of tensor memory".
std::string place_text(std::uint64_t address, unsigned bytes);

class RaceTracker {
 public:
  explicit RaceTracker(const Order& order) : order_(order) {}
  void reset();

  /// Accesses of a warp's lanes: notes them, reports races with earlier ones. `strong`: volatile,
  /// relaxed and the like, which do not race with each other.
  void touch(Warp& warp, const Region& region, const std::uint64_t* address, Mask lanes,
             unsigned bytes, Touched how, bool strong);
  /// The same for cells of the tensor memory of the warp's CTA: lane times columns plus column, for
  /// each lane of the warp.
  void touch_tensor(Warp& warp, const std::uint32_t* cell, Mask lanes, Touched how);

  /// How much memory it takes, about.
  [[nodiscard]] std::uint64_t bytes() const {
    return (pages_.size() + spare_.size()) * sizeof(Page) + readers_.size() * sizeof(Reader) +
           bytes_.size() * 5 * sizeof(Cell);
  }
  /// Tells what this unit did to global memory, for races between units.
  void hand_over(BlockRaces& all, std::uint64_t unit);

 private:
  /// The last write and the reads since, of four bytes or of one. Several warps' reads make a list.
  struct Cell {
    std::uint32_t epoch = 0;   // older than the tracker's: nothing of it counts any more
    std::uint32_t writer = 0;  // thread of the unit plus one; 0: nobody
    std::uint32_t write_clock = 0, write_op = 0;
    std::uint32_t read_op = 0, read_clock = 0;
    Mask read_lanes = 0;
    std::uint32_t more = 0;  // of readers_, plus one
    std::uint16_t read_warp = 0;
    bool strong_write = false;
    bool is_split = false;  // the bytes have cells of their own
  };
  struct Reader {
    std::uint32_t next = 0;
    std::uint32_t clock = 0;
    Mask lanes = 0;
    std::uint16_t warp = 0;
  };
  static constexpr unsigned kPageWords = BlockRaces::kPageWords;
  struct Page {
    std::array<Cell, kPageWords> cells;
    BlockRaces::Accesses accesses;  // for other units; only of global memory
  };
  /// One lane's access, taken apart into cells.
  struct Step {
    Warp& warp;
    std::uint64_t address;
    unsigned bytes;
    unsigned lane;
    Touched how;
    bool strong;
  };

  Page& page_of(std::uint64_t word);
  Page& new_page(std::uint64_t number);
  void touch_words(Warp& warp, const std::uint64_t* address, Mask lanes, unsigned bytes,
                   Touched how, bool strong);
  bool touch_quickly(Cell& cell, std::uint32_t thread, std::uint32_t op, bool is_read, bool strong);
  void drop_readers(Cell& cell);
  void touch_word(const Step& step, std::uint64_t word, unsigned first, unsigned last);
  void touch_cell(const Step& step, Cell& cell);
  void read_cell(const Step& step, Cell& cell);
  void write_cell(const Step& step, Cell& cell);
  void check_readers(const Step& step, const Cell& cell);
  void keep_up();
  [[nodiscard]] bool is_ordered(const Step& step, unsigned other, unsigned other_lane,
                                std::uint32_t clock) const;
  void report(const Step& step, const char* what, std::uint32_t other_op, unsigned other_warp,
              Mask other_lanes) const;

  const Order& order_;
  std::uint32_t epoch_ = 0;  // of the order, when something was last touched
  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
  std::uint64_t last_number_ = ~std::uint64_t{0};
  Page* last_page_ = nullptr;
  std::unordered_map<std::uint64_t, std::array<Cell, 4>> bytes_;
  std::vector<Reader> readers_;
  std::uint32_t free_reader_ = 0;             // a list, as Cell::more
  std::vector<std::unique_ptr<Page>> spare_;  // pages of earlier units
  unsigned current_warp_ = 0;
};

}  // namespace ww::sim
