// SPDX-License-Identifier: Apache-2.0
#include "sim/checks/race.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/run/unit.h"

namespace ww::sim {
namespace {

std::uint8_t byte_mask(unsigned first, unsigned last) {
  return static_cast<std::uint8_t>(((2U << last) - 1) & ~((1U << first) - 1));
}

}  // namespace

void RaceTracker::reset() {
  for (auto& [number, page] : pages_) spare_.push_back(std::move(page));
  pages_.clear();
  last_number_ = ~std::uint64_t{0};
  keep_up();
}

// Cells of an older epoch are out of date, and so are their lists.
void RaceTracker::keep_up() {
  if (epoch_ == order_.epoch) return;
  epoch_ = order_.epoch;
  readers_.clear();
  strong_.clear();
  free_reader_ = free_strong_ = 0;
}

// --- accesses ------------------------------------------------------------------------------------

RaceTracker::Page& RaceTracker::page_of(std::uint64_t word) {
  const std::uint64_t number = word / kPageWords;
  return number == last_number_ ? *last_page_ : new_page(number);
}

RaceTracker::Page& RaceTracker::new_page(std::uint64_t number) {
  auto& page = pages_[number];
  if (page == nullptr && !spare_.empty()) {
    page = std::move(spare_.back());
    spare_.pop_back();
    page->accesses = {};
  }
  if (page == nullptr) page = std::make_unique<Page>();
  last_number_ = number;
  last_page_ = page.get();
  return *page;
}

void RaceTracker::touch(Warp& warp, const Region& region, const std::uint64_t* address, Mask lanes,
                        unsigned bytes, Touched how, const Manner& manner) {
  if (region.space == Space::Local || region.space == Space::Param ||
      region.space == Space::Const) {
    return;
  }
  current_warp_ = warp.unit_warp();
  now_ = order_.now(current_warp_);
  keep_up();
  if (bytes % 4 == 0 && address[first_lane(lanes)] % 4 == 0) {
    touch_words(warp, address, lanes, bytes, how, manner);
  } else {
    touch_bytes(warp, address, lanes, bytes, how, manner);
  }
  if (grid_ != nullptr && region.space == Space::Global)
    grid_->touch(warp, order_, address, lanes, bytes, how, manner);
}

void RaceTracker::touch_tensor(Warp& warp, const std::uint32_t* cell, Mask lanes, Touched how) {
  current_warp_ = warp.unit_warp();
  now_ = order_.now(current_warp_);
  keep_up();
  std::uint64_t address[kLanes];
  const std::uint64_t window = kTensorWindow + (std::uint64_t{warp.cta->rank} << kRankShift);
  for_each_lane(lanes, [&](unsigned l) { address[l] = window + std::uint64_t{cell[l]} * 4; });
  touch_words(warp, address, lanes, 4, how, {});
}

// Whole words. What is plain to see is done here; the rest goes the long way.
void RaceTracker::touch_words(Warp& warp, const std::uint64_t* address, Mask lanes, unsigned bytes,
                              Touched how, const Manner& manner) {
  const bool reads = is_read(how);
  const bool is_noted = grid_ == nullptr && address[first_lane(lanes)] >= kGlobalStart;
  const bool is_plain = !manner.is_strong && how != Touched::ReadNc;
  const std::uint32_t op = warp.this_op();
  while (lanes != 0) {
    const unsigned l = first_lane(lanes);
    Mask same = lane_bit(l);
    if (reads && bytes == 4) {  // lanes next to each other often read one word
      for (unsigned next = l + 1; next < kLanes && has_lane(lanes, next); ++next) {
        if (address[next] != address[l]) break;
        same |= lane_bit(next);
      }
    }
    lanes &= ~same;
    const std::uint64_t first = address[l] / 4;
    for (std::uint64_t word = first; word < first + bytes / 4; ++word) {
      if (is_plain) {
        Page& page = page_of(word);
        const auto slot = static_cast<unsigned>(word % kPageWords);
        if (is_noted) {
          BlockRaces::Accesses& to = page.accesses;
          std::uint32_t& by = reads ? to.read[slot] : to.wrote[slot];
          if (by == 0) by = op + 1;
          (reads ? to.read_bytes : to.wrote_bytes)[slot] = 15;
        }
        WordState& cell = page.cells[slot];
        if (reads ? read_quickly(cell, same, op) : write_quickly(cell, l, op)) continue;
      }
      for_each_lane(same, [&](unsigned lane) {
        touch_word({warp, address[lane], bytes, lane, how, manner}, word, 0, 3);
      });
    }
  }
}

// Parts of words.
void RaceTracker::touch_bytes(Warp& warp, const std::uint64_t* address, Mask lanes, unsigned bytes,
                              Touched how, const Manner& manner) {
  const bool reads = is_read(how);
  const bool is_noted = grid_ == nullptr && address[first_lane(lanes)] >= kGlobalStart;
  const bool is_plain = !manner.is_strong && how != Touched::ReadNc;
  const std::uint32_t op = warp.this_op();
  for_each_lane(lanes, [&](unsigned l) {
    const Step step{warp, address[l], bytes, l, how, manner};
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
      Page& page = page_of(word);
      const auto slot = static_cast<unsigned>(word % kPageWords);
      if (is_noted) {
        BlockRaces::Accesses& to = page.accesses;
        std::uint32_t& by = reads ? to.read[slot] : to.wrote[slot];
        if (by == 0) by = op + 1;
        (reads ? to.read_bytes : to.wrote_bytes)[slot] |= byte_mask(first, last);
      }
      Parts& parts = parts_of(page, slot);
      for (unsigned b = first; b <= last; ++b) {
        if (reads ? read_quickly(parts[b], lane_bit(l), op) : write_quickly(parts[b], l, op))
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
  WordState& cell = page.cells[slot];
  if (cell.epoch != epoch_) {
    cell = WordState{.epoch = epoch_, .is_split = true};  // and the parts are as old as it was
  } else if (!cell.is_split) {
    split(cell, parts);
  }
  return parts;
}

// No thread has written the word since all threads met, or only the lane that reads it.
bool RaceTracker::read_quickly(WordState& cell, Mask lanes, std::uint32_t op) {
  if (cell.epoch != epoch_) {
    cell = WordState{.epoch = epoch_,
                     .read_op = op,
                     .read_clock = now_,
                     .read_lanes = lanes,
                     .read_warp = static_cast<std::uint16_t>(current_warp_)};
    return true;
  }
  if (cell.is_split || cell.strong != 0) {
    return false;
  }
  if (cell.writer != 0) {
    const bool is_mine = (cell.writer - 1) / kLanes == current_warp_ &&
                         lane_bit((cell.writer - 1) % kLanes) == lanes;
    if (!is_mine) return false;
  }
  note_read(cell, lanes, op);
  return true;
}

// The same, and no other thread has read it.
bool RaceTracker::write_quickly(WordState& cell, unsigned lane, std::uint32_t op) {
  const std::uint32_t thread = current_warp_ * kLanes + lane + 1;
  if (cell.epoch != epoch_) {
    cell = WordState{.epoch = epoch_, .writer = thread, .write_clock = now_, .write_op = op};
    return true;
  }
  if (cell.is_split || cell.strong != 0 || (cell.writer != 0 && cell.writer != thread))
    return false;
  const bool is_mine =
      cell.read_lanes == 0 || (cell.read_warp == current_warp_ && cell.read_clock == now_);
  if (!is_mine || cell.more != 0 || (cell.read_lanes & ~lane_bit(lane)) != 0) return false;
  cell.writer = thread;
  cell.write_clock = now_;
  cell.write_op = op;
  cell.read_lanes = 0;
  return true;
}

// For races with other units, where nothing orders units: what this one does to the bytes.
void RaceTracker::note_for_units(const Step& step, Page& page, unsigned slot, std::uint8_t mask) {
  BlockRaces::Accesses& to = page.accesses;
  const std::uint32_t op = step.warp.this_op() + 1;
  if (!step.manner.is_strong) {
    std::uint32_t& by = is_read(step.how) ? to.read[slot] : to.wrote[slot];
    if (by == 0) by = op;
    (is_read(step.how) ? to.read_bytes : to.wrote_bytes)[slot] |= mask;
    return;
  }
  if (is_read(step.how)) return;
  if (to.strong == nullptr) to.strong = std::make_unique<BlockRaces::Strong>();
  BlockRaces::Strong& strong = *to.strong;
  if (strong.op[slot] == 0) {
    strong.op[slot] = op;
    strong.manner[slot] = step.manner;
  } else {
    const Agreement same = agreement(strong.manner[slot], step.manner, Scope::Cta);
    strong.is_mixed[slot] = strong.is_mixed[slot] || same != Agreement::Agree;
    strong.manner[slot].scope = std::min(strong.manner[slot].scope, step.manner.scope);
  }
  strong.bytes[slot] |= mask;
}

// The lists of a cell have one owner.
RaceTracker::WordState RaceTracker::copy_of(const WordState& cell) {
  WordState copy = cell;
  copy.more = copy.strong = 0;
  for (std::uint32_t i = cell.more; i != 0; i = readers_[i - 1].next) {
    Reader reader = readers_[i - 1];
    reader.next = std::exchange(copy.more, static_cast<std::uint32_t>(readers_.size()) + 1);
    readers_.push_back(reader);
  }
  for (std::uint32_t i = cell.strong; i != 0; i = strong_[i - 1].next) {
    StrongUse use = strong_[i - 1];
    use.next = std::exchange(copy.strong, static_cast<std::uint32_t>(strong_.size()) + 1);
    strong_.push_back(use);
  }
  return copy;
}

void RaceTracker::split(WordState& cell, Parts& parts) {
  for (unsigned b = 1; b < 4; ++b) parts[b] = copy_of(cell);
  parts[0] = cell;
  cell.is_split = true;
}

void RaceTracker::touch_word(const Step& step, std::uint64_t word, unsigned first, unsigned last) {
  Page& page = page_of(word);
  const unsigned slot = static_cast<unsigned>(word % kPageWords);
  WordState& cell = page.cells[slot];
  if (cell.epoch != epoch_) {
    cell = WordState{};
    cell.epoch = epoch_;
  }
  const bool whole = first == 0 && last == 3;
  if (grid_ == nullptr && word >= kGlobalStart / 4) {
    const std::uint8_t mask = byte_mask(first, last);
    if (step.how == Touched::ReadNc) check_stale(step, page, slot, mask);
    note_for_units(step, page, slot, mask);
  }
  if (whole && !cell.is_split) {
    touch_cell(step, cell);
    return;
  }
  Parts& parts = parts_of(page, slot);
  for (unsigned b = first; b <= last; ++b) {
    if (parts[b].epoch != epoch_) {
      parts[b] = WordState{};
      parts[b].epoch = epoch_;
    }
    touch_cell(step, parts[b]);
  }
}

void RaceTracker::touch_cell(const Step& step, WordState& cell) {
  // What may race with an asynchronous write was looked at when it was issued; here it lands.
  const bool lands = step.how == Touched::AsyncWrite;
  if (!lands) {
    if (cell.writer != 0) check_writer(step, cell);
    if (cell.strong != 0) check_strong(step, cell);
    if (cell.read_lanes != 0 && !is_read(step.how)) check_readers(step, cell);
  }
  if (step.manner.is_strong) {
    note_strong(step, cell);
  } else if (is_read(step.how)) {
    note_read(cell, lane_bit(step.lane), step.warp.this_op());
  } else {
    write_cell(step, cell);
  }
}

// --- what is kept of a cell ----------------------------------------------------------------------

// A read replaces earlier ones of its own lanes, and those of others that its lanes know of: who is
// ordered behind it is ordered behind them.
void RaceTracker::note_read(WordState& cell, Mask by, std::uint32_t op) {
  cell.read_op = op;
  const bool is_mine = cell.read_lanes == 0 || cell.read_warp == current_warp_;
  const bool is_now = is_mine && cell.read_clock == now_;
  if (is_now && cell.read_lanes != 0 && !cell.has_earlier) {
    cell.read_lanes |= by;
    return;
  }
  if (!is_mine && !order_.knows(current_warp_, cell.read_warp, cell.read_clock)) {
    note_in_list(cell, by);
    return;
  }
  const Mask earlier = is_mine && !is_now ? cell.read_lanes & ~by : 0;
  const std::uint32_t before = cell.read_clock;
  Reader* spare = nullptr;
  cell.has_earlier = is_mine && cell.has_earlier;
  for (std::uint32_t i = cell.has_earlier ? cell.more : 0; i != 0; i = readers_[i - 1].next) {
    Reader& reader = readers_[i - 1];
    if (reader.warp != current_warp_) continue;
    reader.lanes &= ~(by | earlier);
    if (reader.lanes == 0) spare = &reader;
  }
  cell.read_lanes = (is_now ? cell.read_lanes : 0) | by;
  cell.read_clock = now_;
  cell.read_warp = static_cast<std::uint16_t>(current_warp_);
  if (earlier == 0 || order_.lanes_know(current_warp_, before)) return;
  cell.has_earlier = true;
  if (spare != nullptr) {
    spare->clock = before;
    spare->lanes = earlier;
  } else {
    add_reader(cell, {.clock = before, .lanes = earlier, .warp = cell.read_warp});
  }
}

// The same where the first place is another warp's.
void RaceTracker::note_in_list(WordState& cell, Mask by) {
  Reader* place = nullptr;
  bool has_earlier = false;
  for (std::uint32_t i = cell.more; i != 0; i = readers_[i - 1].next) {
    Reader& reader = readers_[i - 1];
    if (reader.warp != current_warp_) continue;
    if (reader.clock == now_) {
      place = &reader;
      if (!reader.has_earlier) break;
      continue;
    }
    reader.lanes &= ~by;
    if (order_.lanes_know(current_warp_, reader.clock)) reader.lanes = 0;
    has_earlier = has_earlier || reader.lanes != 0;
    if (reader.lanes == 0 && place == nullptr) place = &reader;
  }
  if (place == nullptr) {
    add_reader(cell, {.clock = now_,
                      .lanes = by,
                      .warp = static_cast<std::uint16_t>(current_warp_),
                      .has_earlier = has_earlier});
    return;
  }
  place->lanes |= by;
  place->clock = now_;
  place->has_earlier = has_earlier;
}

void RaceTracker::add_reader(WordState& cell, const Reader& reader) {
  std::uint32_t at = free_reader_;
  if (at != 0) {
    free_reader_ = readers_[at - 1].next;
    readers_[at - 1] = reader;
  } else {
    readers_.push_back(reader);
    at = static_cast<std::uint32_t>(readers_.size());
  }
  readers_[at - 1].next = std::exchange(cell.more, at);
}

void RaceTracker::write_cell(const Step& step, WordState& cell) {
  cell.writer = current_warp_ * kLanes + step.lane + 1;
  cell.write_clock = order_.now(current_warp_);
  cell.write_op = step.warp.this_op();
  drop_uses(cell);
}

// Strong accesses are kept one for each warp and kind: the latest, and those of lanes that the
// latest ones know nothing of.
void RaceTracker::note_strong(const Step& step, WordState& cell) {
  const std::uint32_t now = order_.now(current_warp_);
  const bool writes = !is_read(step.how);
  const bool reads = !writes || step.how == Touched::Atomic;
  StrongUse* latest = nullptr;
  for (std::uint32_t i = cell.strong; i != 0; i = strong_[i - 1].next) {
    StrongUse& use = strong_[i - 1];
    if (use.warp != current_warp_ || use.writes != writes || use.reads != reads ||
        !(use.manner == step.manner)) {
      continue;
    }
    if (use.clock != now) {
      use.lanes &= ~lane_bit(step.lane);
      if (use.lanes != 0 && !order_.lanes_know(current_warp_, use.clock)) continue;
      use.lanes = 0;
    }
    if (latest == nullptr || use.clock == now) latest = &use;
  }
  if (latest != nullptr) {
    latest->lanes |= lane_bit(step.lane);
    latest->clock = now;
    latest->op = step.warp.this_op();
    latest->number = ++strong_number_;
    return;
  }
  const StrongUse use{.next = cell.strong,
                      .clock = now,
                      .op = step.warp.this_op(),
                      .lanes = lane_bit(step.lane),
                      .number = ++strong_number_,
                      .warp = static_cast<std::uint16_t>(current_warp_),
                      .reads = reads,
                      .writes = writes,
                      .manner = step.manner};
  if (free_strong_ != 0) {
    cell.strong = free_strong_;
    free_strong_ = strong_[cell.strong - 1].next;
    strong_[cell.strong - 1] = use;
  } else {
    strong_.push_back(use);
    cell.strong = static_cast<std::uint32_t>(strong_.size());
  }
}

// The nodes of the lists can be used again.
void RaceTracker::drop_uses(WordState& cell) {
  while (cell.more != 0) {
    Reader& node = readers_[cell.more - 1];
    const std::uint32_t next = std::exchange(node.next, free_reader_);
    free_reader_ = std::exchange(cell.more, next);
  }
  while (cell.strong != 0) {
    StrongUse& node = strong_[cell.strong - 1];
    const std::uint32_t next = std::exchange(node.next, free_strong_);
    free_strong_ = std::exchange(cell.strong, next);
  }
  cell.read_lanes = 0;
}

// --- between units -------------------------------------------------------------------------------

void RaceTracker::hand_over(BlockRaces& all, std::uint64_t unit) {
  if (grid_ != nullptr) return;
  for (const auto& [number, page] : pages_) {
    if (number * kPageWords * 4 >= kGlobalStart) all.note(number, unit, page->accesses);
  }
}

}  // namespace ww::sim
