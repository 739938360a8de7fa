// SPDX-License-Identifier: Apache-2.0
#include "sim/checks/race.h"

#include <algorithm>

#include "sim/checks/race_checks.h"
#include "sim/run/unit.h"

namespace ww::sim {
namespace {

std::uint8_t byte_mask(unsigned first, unsigned last) {
  return static_cast<std::uint8_t>(((2U << last) - 1) & ~((1U << first) - 1));
}

// A weak access of a warp, ready to be compared with what a cell has.
struct QuickAccess {
  const Accessor& by;
  CellUses& uses;
  std::uint32_t op, epoch;
  std::uint32_t clock = by.clock, warp = by.warp;
};

// No thread has written the word since all threads met, or only the lane that reads it.
inline bool read_quickly(RaceCell& cell, Mask lanes, const QuickAccess& by) {
  if (cell.epoch != by.epoch) {
    cell = RaceCell{.epoch = by.epoch,
                    .read_op = by.op,
                    .read_clock = by.clock,
                    .read_lanes = lanes,
                    .read_warp = static_cast<std::uint16_t>(by.warp)};
    return true;
  }
  if (cell.is_split || cell.strong != 0) return false;
  if (cell.writer != 0) {
    const std::uint32_t thread = cell.writer - 1;
    if (thread / kLanes != by.warp || lane_bit(thread % kLanes) != lanes) return false;
  }
  note_read(by.uses, cell, by.by, lanes, by.op);
  return true;
}

// The same, and no other thread has read it.
inline bool write_quickly(RaceCell& cell, unsigned lane, const QuickAccess& by) {
  const std::uint32_t thread = by.warp * kLanes + lane + 1;
  if (cell.epoch != by.epoch) {
    cell =
        RaceCell{.epoch = by.epoch, .writer = thread, .write_clock = by.clock, .write_op = by.op};
    return true;
  }
  if (cell.is_split || cell.strong != 0 || (cell.writer != 0 && cell.writer != thread))
    return false;
  const bool is_mine =
      cell.read_lanes == 0 || (cell.read_warp == by.warp && cell.read_clock == by.clock);
  if (!is_mine || cell.more != 0 || (cell.read_lanes & ~lane_bit(lane)) != 0) return false;
  cell.writer = thread;
  cell.write_clock = by.clock;
  cell.write_op = by.op;
  cell.read_lanes = 0;
  return true;
}

}  // namespace

void RaceTracker::reset() {
  for (const auto& [number, page] : pages_) page->accesses = {};
  pages_.recycle();
  keep_up();
}

// Cells of an older epoch are out of date, and so are their lists.
void RaceTracker::keep_up() {
  if (epoch_ == by_.order->epoch) return;
  epoch_ = by_.order->epoch;
  uses_.readers.clear();
  uses_.strong.clear();
}

// What a cell would have of the accesses of a word's owner.
RaceCell RaceTracker::owned_cell(const Page& page, unsigned slot) const {
  const auto owner = static_cast<std::uint32_t>(page.owner[slot]);
  const std::uint64_t wrote = page.wrote[slot];
  const std::uint64_t read = page.read[slot];
  RaceCell cell{.epoch = epoch_};
  if (wrote != 0) {
    cell.writer = owner;
    cell.write_clock = static_cast<std::uint32_t>(wrote >> 32U);
    cell.write_op = static_cast<std::uint32_t>(wrote) - 1;
  }
  if (read != 0) {
    cell.read_op = static_cast<std::uint32_t>(read) - 1;
    cell.read_clock = static_cast<std::uint32_t>(read >> 32U);
    cell.read_lanes = lane_bit((owner - 1) % kLanes);
    cell.read_warp = static_cast<std::uint16_t>((owner - 1) / kLanes);
  }
  return cell;
}

// The cell of a word, which has no owner from now on.
RaceCell& RaceTracker::cell_of(Page& page, unsigned slot) {
  if (page.cells == nullptr) {
    page.cells = std::make_unique<std::array<RaceCell, kPageWords>>();
    ++cell_pages_;
  }
  RaceCell& cell = (*page.cells)[slot];
  const std::uint64_t owner = page.owner[slot];
  const std::uint64_t shared = std::uint64_t{epoch_} << 32U;
  if (owner == shared) return cell;
  cell = is_current(owner) ? owned_cell(page, slot) : RaceCell{.epoch = epoch_};
  page.owner[slot] = shared;
  return cell;
}

void RaceTracker::begin(const Warp& warp) {
  by_.warp = warp.unit_warp();
  by_.clock = by_.order->now(by_.warp);
  keep_up();
}

// --- accesses ------------------------------------------------------------------------------------

void RaceTracker::touch(Warp& warp, const Region& region, const std::uint64_t* address, Mask lanes,
                        unsigned bytes, Touched how, const Manner& manner,
                        const StoredBytes* stored) {
  if (region.space == Space::Local || region.space == Space::Param ||
      region.space == Space::Const) {
    return;
  }
  begin(warp);
  region_ = &region;
  stored_ = warp.unit->context.options->allows_rewrites ? stored : nullptr;
  if (bytes % 4 == 0 && address[first_lane(lanes)] % 4 == 0) {
    touch_words(warp, address, lanes, bytes, how, manner);
  } else {
    touch_bytes(warp, address, lanes, bytes, how, manner);
  }
  if (grid_ != nullptr && region.space == Space::Global)
    grid_->touch(warp, *by_.order, address, lanes, bytes, how, manner);
}

void RaceTracker::check_read(Warp& warp, const std::uint64_t* address, Mask lanes, unsigned bytes) {
  begin(warp);
  for_each_lane(lanes, [&](unsigned l) {
    const RaceStep step{warp, by_, address[l], bytes, l, Touched::Read, {}};
    std::uint64_t last_owner = 0;  // of the word before, whose write has been looked at
    std::uint64_t last_write = 0;
    for (std::uint64_t word = address[l] / 4; word < (address[l] + bytes) / 4; ++word) {
      Page* page = pages_.find(word / kPageWords);
      if (page == nullptr) return;
      const auto slot = static_cast<unsigned>(word % kPageWords);
      const std::uint64_t owner = page->owner[slot];
      if (!is_current(owner)) continue;
      if (static_cast<std::uint32_t>(owner) == 0) {
        check_cell(step, *page, slot);
        continue;
      }
      const std::uint64_t write = page->wrote[slot];
      if (write == 0 || (owner == last_owner && write == last_write)) continue;
      check_races(step, uses_, owned_cell(*page, slot));
      last_owner = owner;
      last_write = write;
    }
  });
}

// The cell of a word that has no owner, or its parts.
void RaceTracker::check_cell(const RaceStep& step, const Page& page, unsigned slot) const {
  const RaceCell& cell = (*page.cells)[slot];
  if (!cell.is_split) return check_races(step, uses_, cell);
  for (const RaceCell& part : (*page.parts)[slot]) {
    if (part.epoch == epoch_) check_races(step, uses_, part);
  }
}

void RaceTracker::touch_tensor(Warp& warp, unsigned rank, const std::uint32_t* cell, Mask lanes,
                               Touched how) {
  begin(warp);
  std::uint64_t address[kLanes];
  for_each_lane(lanes, [&](unsigned l) { address[l] = address_of_cell(rank, cell[l]); });
  region_ = nullptr;
  stored_ = nullptr;
  touch_words(warp, address, lanes, 4, how, {});
}

// Whole words. What is plain to see is done here; the rest goes the long way.
void RaceTracker::touch_words(Warp& warp, const std::uint64_t* address, Mask lanes, unsigned bytes,
                              Touched how, const Manner& manner) {
  const auto slowly = [&](Mask who, std::uint64_t word) {
    for_each_lane(who, [&](unsigned lane) {
      touch_word({warp, by_, address[lane], bytes, lane, how, manner, stored_, region_}, word, 0,
                 3);
    });
  };
  const bool is_noted = grid_ == nullptr && address[first_lane(lanes)] >= kGlobalStart;
  if (manner.is_strong || how == Touched::ReadNc) {
    for_each_lane(lanes, [&](unsigned l) {
      for (unsigned w = 0; w < bytes / 4; ++w) slowly(lane_bit(l), address[l] / 4 + w);
    });
  } else if (is_read(how)) {
    is_noted ? touch_plainly<true, true>(address, lanes, bytes, warp.current, slowly)
             : touch_plainly<true, false>(address, lanes, bytes, warp.current, slowly);
  } else {
    is_noted ? touch_plainly<false, true>(address, lanes, bytes, warp.current, slowly)
             : touch_plainly<false, false>(address, lanes, bytes, warp.current, slowly);
  }
}

// Weak accesses of a whole warp to words of one page that have their owners already: the usual case
// in a loop. false: something is otherwise, and nothing was done.
template <bool kReads, bool kNoted, unsigned kWords>
bool RaceTracker::touch_all_own(const std::uint64_t* address, std::uint32_t op) {
  constexpr std::uint64_t kPageBytes = std::uint64_t{4} * kPageWords;
  const std::uint64_t start = address[0] / kPageBytes * kPageBytes;
  std::uint64_t differences = 0;
  for (unsigned l = 0; l < kLanes; ++l) differences |= address[l] ^ start;
  // If accesses are aligned, none begins in a page and ends in the next.
  if (differences >= kPageBytes || differences % (std::uint64_t{4} * kWords) != 0) return false;
  Page& page = pages_.at(start / kPageBytes);
  const std::uint64_t self = (std::uint64_t{epoch_} << 32U) | (by_.warp * kLanes + 1);
  std::uint32_t first[kLanes];
  for (unsigned l = 0; l < kLanes; ++l)
    first[l] = static_cast<std::uint32_t>(address[l] - start) / 4;
  const auto for_words = [&](const auto& visit) {
#pragma GCC unroll 8
    for (unsigned l = 0; l < kLanes; ++l)
#pragma GCC unroll 4
      for (unsigned w = 0; w < kWords; ++w) visit(std::size_t{first[l]} + w, l);
  };
  std::uint64_t strange = 0;
  for_words([&](std::size_t at, unsigned l) { strange |= page.owner[at] ^ (self + l); });
  if (strange != 0) return false;
  const std::uint64_t now = (std::uint64_t{by_.clock} << 32U) | (op + 1);
  if constexpr (kNoted) {
    auto& noted = kReads ? page.accesses.read : page.accesses.wrote;
    for_words([&](std::size_t at, unsigned) { noted[at].note(BlockRaces::kWholeWord, op); });
  }
  if constexpr (kReads) {
    for_words([&](std::size_t at, unsigned) { page.read[at] = now; });
  } else {
    for_words([&](std::size_t at, unsigned) {
      page.wrote[at] = now;
      page.read[at] = 0;
    });
  }
  return true;
}

// Weak accesses to words that have seen no other thread than the one that comes now: nothing to
// compare with. Most words of most kernels. Returns the lanes that have other words.
template <bool kReads, bool kNoted, unsigned kWords>
Mask RaceTracker::touch_own(const std::uint64_t* address, Mask lanes, std::uint32_t op) {
  if (lanes == kAllLanes && touch_all_own<kReads, kNoted, kWords>(address, op)) return 0;
  const std::uint64_t epoch = epoch_;
  const std::uint64_t self = (epoch << 32U) | (by_.warp * kLanes + 1);
  const std::uint64_t now = (std::uint64_t{by_.clock} << 32U) | (op + 1);
  Page* page = nullptr;
  std::uint64_t start = ~std::uint64_t{0};  // the page's first word
  Mask others = 0;
  const auto touch_lane = [&](unsigned l) {
    const std::uint64_t first = address[l] / 4;
    if (first - start > kPageWords - kWords) {
      page = &pages_.at(first / kPageWords);
      start = first - first % kPageWords;
    }
    const auto slot = static_cast<unsigned>(first - start);
    bool is_own = slot + kWords <= kPageWords;
    for (unsigned w = 0; w < kWords && is_own; ++w) {
      const std::uint64_t owner = page->owner[slot + w];
      is_own = owner == self + l || owner >> 32U != epoch;
    }
    if (!is_own) {
      others |= lane_bit(l);
      return;
    }
    for (unsigned w = slot; w < slot + kWords; ++w) {
      if constexpr (kNoted) page->accesses.note(w, BlockRaces::kWholeWord, kReads, op);
      if constexpr (kReads) {
        if (page->owner[w] != self + l) page->wrote[w] = 0;
        page->read[w] = now;
      } else {
        page->wrote[w] = now;
        page->read[w] = 0;
      }
      page->owner[w] = self + l;
    }
  };
  if (lanes == kAllLanes) {
    for (unsigned l = 0; l < kLanes; ++l) touch_lane(l);
  } else {
    for_each_lane(lanes, touch_lane);
  }
  return others;
}

// Weak accesses. `slowly` gets the lanes and words that are not plain to see.
template <bool kReads, bool kNoted, typename Slowly>
void RaceTracker::touch_plainly(const std::uint64_t* address, Mask lanes, unsigned bytes,
                                std::uint32_t op, const Slowly& slowly) {
  const QuickAccess quick{.by = by_, .uses = uses_, .op = op, .epoch = epoch_};
  if (bytes == 4) lanes = touch_own<kReads, kNoted, 1>(address, lanes, op);
  if (bytes == 8) lanes = touch_own<kReads, kNoted, 2>(address, lanes, op);
  if (bytes == 16) lanes = touch_own<kReads, kNoted, 4>(address, lanes, op);
  Page* page = nullptr;
  std::uint64_t page_start = ~std::uint64_t{0};  // its first word
  while (lanes != 0) {
    const unsigned l = first_lane(lanes);
    Mask same = lane_bit(l);
    if (kReads && bytes == 4) {  // lanes next to each other often read one word
      for (unsigned next = l + 1; next < kLanes && has_lane(lanes, next); ++next) {
        if (address[next] != address[l]) break;
        same |= lane_bit(next);
      }
    }
    lanes &= ~same;
    const std::uint64_t first = address[l] / 4;
    for (std::uint64_t word = first; word < first + bytes / 4; ++word) {
      if (word - page_start >= kPageWords) {
        page = &pages_.at(word / kPageWords);
        page_start = word - word % kPageWords;
      }
      const auto slot = static_cast<unsigned>(word - page_start);
      if constexpr (kNoted) page->accesses.note(slot, BlockRaces::kWholeWord, kReads, op);
      RaceCell& cell = cell_of(*page, slot);
      if (kReads ? read_quickly(cell, same, quick) : write_quickly(cell, l, quick)) continue;
      slowly(same, word);
    }
  }
}

// Parts of words.
void RaceTracker::touch_bytes(Warp& warp, const std::uint64_t* address, Mask lanes, unsigned bytes,
                              Touched how, const Manner& manner) {
  const bool reads = is_read(how);
  const bool is_noted = grid_ == nullptr && address[first_lane(lanes)] >= kGlobalStart;
  const bool is_plain = !manner.is_strong && how != Touched::ReadNc;
  const std::uint32_t op = warp.current;
  const QuickAccess quick{.by = by_, .uses = uses_, .op = op, .epoch = epoch_};
  for_each_lane(lanes, [&](unsigned l) {
    const RaceStep step{warp, by_, address[l], bytes, l, how, manner, stored_, region_};
    const std::uint64_t end = address[l] + bytes;
    for (std::uint64_t at = address[l]; at < end;) {
      const std::uint64_t word = at / 4;
      const std::uint64_t stop = std::min(end, word * 4 + 4);
      const auto first = static_cast<unsigned>(at % 4);
      const auto last = static_cast<unsigned>((stop - 1) % 4);
      at = stop;
      if (!is_plain || (first == 0 && last == 3)) {
        touch_word(step, word, first, last);
        continue;
      }
      Page& page = pages_.at(word / kPageWords);
      const auto slot = static_cast<unsigned>(word % kPageWords);
      if (is_noted) page.accesses.note(slot, byte_mask(first, last), reads, op);
      Parts& parts = parts_of(page, slot);
      for (unsigned b = first; b <= last; ++b) {
        if (reads ? read_quickly(parts[b], lane_bit(l), quick) : write_quickly(parts[b], l, quick))
          continue;
        touch_cell(step, parts[b]);
      }
    }
  });
}

// The cells of the bytes of a word; makes them if it had only one.
RaceTracker::Parts& RaceTracker::parts_of(Page& page, unsigned slot) {
  if (page.parts == nullptr) {
    page.parts = std::make_unique<std::array<Parts, kPageWords>>();
    ++split_pages_;
  }
  Parts& parts = (*page.parts)[slot];
  const bool is_new = !is_current(page.owner[slot]);  // and the parts are as old as it was
  RaceCell& cell = cell_of(page, slot);
  if (!is_new && !cell.is_split) {
    for (unsigned b = 1; b < 4; ++b) parts[b] = copy_of(uses_, cell);
    parts[0] = cell;
  }
  cell.is_split = true;
  return parts;
}

void RaceTracker::touch_word(const RaceStep& step, std::uint64_t word, unsigned first,
                             unsigned last) {
  Page& page = pages_.at(word / kPageWords);
  const auto slot = static_cast<unsigned>(word % kPageWords);
  RaceCell& cell = cell_of(page, slot);
  if (grid_ == nullptr && word >= kGlobalStart / 4) {
    const std::uint8_t mask = byte_mask(first, last);
    const std::uint32_t writer = page.accesses.writer_of(slot, mask);
    if (step.how == Touched::ReadNc && writer != 0)
      report_stale(step.warp, step.lane, step.address, step.bytes,
                   Party{writer - 1, step.warp.cta->linear, 0, 0});
    if (!step.manner.is_strong) {
      page.accesses.note(slot, mask, is_read(step.how), step.warp.current);
    } else if (!is_read(step.how)) {
      page.accesses.note_strong_write(slot, mask, step.manner, step.warp.current);
    }
  }
  if (first == 0 && last == 3 && !cell.is_split) {
    touch_cell(step, cell);
    return;
  }
  Parts& parts = parts_of(page, slot);
  for (unsigned b = first; b <= last; ++b) {
    if (parts[b].epoch != epoch_) parts[b] = RaceCell{.epoch = epoch_};
    touch_cell(step, parts[b]);
  }
}

void RaceTracker::touch_cell(const RaceStep& step, RaceCell& cell) {
  // What may race with an asynchronous write was looked at when it was issued; here it lands.
  if (step.how != Touched::AsyncWrite) check_races(step, uses_, cell);
  const std::uint32_t op = step.warp.current;
  if (step.manner.is_strong) {
    note_strong(uses_, cell, by_, step.lane, op, step.how, step.manner);
  } else if (is_read(step.how)) {
    note_read(uses_, cell, by_, lane_bit(step.lane), op);
  } else {
    note_write(uses_, cell, by_, step.lane, op);
  }
}

// --- between units -------------------------------------------------------------------------------

void RaceTracker::hand_over(BlockRaces& all, std::uint64_t unit) {
  if (grid_ != nullptr) return;
  for (const auto& [number, page] : pages_) {
    if (number * kPageWords * 4 >= kGlobalStart) all.note(number, unit, page->accesses);
  }
}

}  // namespace ww::sim
