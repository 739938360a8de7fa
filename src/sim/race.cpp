// SPDX-License-Identifier: Apache-2.0
#include "sim/race.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/tensor_memory.h"
#include "sim/unit.h"

namespace ww::sim {

void RaceTracker::reset() {
  for (auto& [number, page] : pages_) spare_.push_back(std::move(page));
  pages_.clear();
  last_number_ = ~std::uint64_t{0};
  bytes_.clear();
  keep_up();
}

// Cells of an older epoch are out of date, and so are their lists.
void RaceTracker::keep_up() {
  if (epoch_ == order_.epoch()) return;
  epoch_ = order_.epoch();
  readers_.clear();
  free_reader_ = 0;
}

// In tensor memory fences order what barriers without release and acquire would not.
bool RaceTracker::is_ordered(const Step& step, unsigned other, unsigned other_lane,
                             std::uint32_t clock) const {
  if (order_.ordered(current_warp_, step.lane, other, other_lane, clock)) return true;
  return step.address >= kTensorWindow && step.address < kGlobalStart &&
         order_.fenced_in_tensor(current_warp_, other, clock);
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
                        unsigned bytes, Touched how, bool strong) {
  if (region.space == Space::Local || region.space == Space::Param ||
      region.space == Space::Const) {
    return;
  }
  current_warp_ = warp.unit_warp();
  keep_up();
  if (bytes % 4 == 0 && address[first_lane(lanes)] % 4 == 0) {
    touch_words(warp, address, lanes, bytes, how, strong);
    return;
  }
  for_each_lane(lanes, [&](unsigned l) {
    const Step step{warp, address[l], bytes, l, how, strong};
    const std::uint64_t end = address[l] + bytes;
    for (std::uint64_t at = address[l]; at < end;) {
      const std::uint64_t word = at / 4;
      const std::uint64_t stop = std::min(end, word * 4 + 4);
      touch_word(step, word, static_cast<unsigned>(at % 4), static_cast<unsigned>((stop - 1) % 4));
      at = stop;
    }
  });
}

void RaceTracker::touch_tensor(Warp& warp, const std::uint32_t* cell, Mask lanes, Touched how) {
  current_warp_ = warp.unit_warp();
  keep_up();
  std::uint64_t address[kLanes];
  const std::uint64_t window = kTensorWindow + (std::uint64_t{warp.cta->rank} << kRankShift);
  for_each_lane(lanes, [&](unsigned l) { address[l] = window + std::uint64_t{cell[l]} * 4; });
  touch_words(warp, address, lanes, 4, how, false);
}

// Whole words. What is plain to see is done here; the rest goes the long way.
void RaceTracker::touch_words(Warp& warp, const std::uint64_t* address, Mask lanes, unsigned bytes,
                              Touched how, bool strong) {
  const bool is_read = how == Touched::Read;
  const bool is_noted = !strong && address[first_lane(lanes)] >= kGlobalStart;
  const std::uint32_t op = warp.this_op();
  for_each_lane(lanes, [&](unsigned l) {
    const std::uint64_t first = address[l] / 4;
    for (std::uint64_t word = first; word < first + bytes / 4; ++word) {
      Page& page = page_of(word);
      const auto slot = static_cast<unsigned>(word % kPageWords);
      if (is_noted) {
        BlockRaces::Accesses& to = page.accesses;
        std::uint32_t& by = is_read ? to.read[slot] : to.wrote[slot];
        if (by == 0) by = op + 1;
        (is_read ? to.read_bytes : to.wrote_bytes)[slot] = 15;
      }
      if (touch_quickly(page.cells[slot], current_warp_ * kLanes + l + 1, op, is_read, strong))
        continue;
      touch_word({warp, address[l], bytes, l, how, strong}, word, 0, 3);
    }
  });
}

bool RaceTracker::touch_quickly(Cell& cell, std::uint32_t thread, std::uint32_t op, bool is_read,
                                bool strong) {
  const std::uint32_t now = order_.now(current_warp_);
  const Mask bit = lane_bit((thread - 1) % kLanes);
  if (cell.epoch != epoch_) {
    cell = Cell{};
    cell.epoch = epoch_;
  } else {
    if (cell.is_split || (cell.writer != 0 && cell.writer != thread)) return false;
    const bool mine =
        cell.read_lanes == 0 || (cell.read_warp == current_warp_ && cell.read_clock == now);
    if (is_read ? !mine : !mine || cell.more != 0 || (cell.read_lanes & ~bit) != 0) return false;
  }
  if (is_read) {
    if (strong) return true;
    cell.read_op = op;
    cell.read_warp = static_cast<std::uint16_t>(current_warp_);
    cell.read_clock = now;
    cell.read_lanes |= bit;
  } else {
    cell.writer = thread;
    cell.write_clock = now;
    cell.write_op = op;
    cell.strong_write = strong;
    cell.read_lanes = 0;
  }
  return true;
}

void RaceTracker::touch_word(const Step& step, std::uint64_t word, unsigned first, unsigned last) {
  Page& page = page_of(word);
  const unsigned slot = static_cast<unsigned>(word % kPageWords);
  Cell& cell = page.cells[slot];
  if (cell.epoch != epoch_) {
    cell = Cell{};
    cell.epoch = epoch_;
  }
  const bool whole = first == 0 && last == 3;
  if (!whole && !step.strong && word >= kGlobalStart / 4) {
    const auto mask = static_cast<std::uint8_t>(((2U << last) - 1) & ~((1U << first) - 1));
    const bool is_read = step.how == Touched::Read;
    std::uint32_t& op = is_read ? page.accesses.read[slot] : page.accesses.wrote[slot];
    if (op == 0) op = step.warp.this_op() + 1;
    (is_read ? page.accesses.read_bytes : page.accesses.wrote_bytes)[slot] |= mask;
  }
  if (whole && !cell.is_split) {
    touch_cell(step, cell);
    return;
  }
  std::array<Cell, 4>& parts = bytes_[word];
  if (!cell.is_split) {
    cell.is_split = true;
    parts.fill(cell);
    for (Cell& part : parts) part.more = 0;  // a list has one owner
    parts[0].more = cell.more;
  }
  for (unsigned b = first; b <= last; ++b) {
    if (parts[b].epoch != epoch_) {
      parts[b] = Cell{};
      parts[b].epoch = epoch_;
    }
    touch_cell(step, parts[b]);
  }
}

void RaceTracker::touch_cell(const Step& step, Cell& cell) {
  // What may race with an asynchronous write was looked at when it was issued; here it lands.
  const bool lands = step.how == Touched::AsyncWrite;
  if (cell.writer != 0 && !lands && !(step.strong && cell.strong_write)) {
    const unsigned thread = cell.writer - 1;
    const unsigned other = thread / kLanes;
    const unsigned other_lane = thread % kLanes;
    // Lanes that write one place in one instruction: one of them wins, as the program may want.
    const bool together = other == current_warp_ && cell.write_op == step.warp.this_op() &&
                          cell.write_clock == order_.now(current_warp_);
    if (!together && !is_ordered(step, other, other_lane, cell.write_clock)) {
      report(step, "written", cell.write_op, other, lane_bit(other_lane));
    }
  }
  if (step.how == Touched::Read) {
    if (!step.strong) read_cell(step, cell);
  } else {
    write_cell(step, cell);
  }
}

void RaceTracker::read_cell(const Step& step, Cell& cell) {
  const std::uint32_t now = order_.now(current_warp_);
  cell.read_op = step.warp.this_op();
  const auto add = [&](std::uint32_t& clock, Mask& lanes) {
    lanes = (clock == now ? lanes : 0) | lane_bit(step.lane);
    clock = now;
  };
  const bool mine = cell.read_lanes == 0 || cell.read_warp == current_warp_;
  if (mine || order_.knows(current_warp_, cell.read_warp, cell.read_clock)) {
    if (!mine) cell.read_clock = 0;
    cell.read_warp = static_cast<std::uint16_t>(current_warp_);
    add(cell.read_clock, cell.read_lanes);
    return;
  }
  for (std::uint32_t i = cell.more; i != 0; i = readers_[i - 1].next) {
    if (readers_[i - 1].warp != current_warp_) continue;
    add(readers_[i - 1].clock, readers_[i - 1].lanes);
    return;
  }
  const Reader reader{cell.more, now, lane_bit(step.lane),
                      static_cast<std::uint16_t>(current_warp_)};
  if (free_reader_ != 0) {
    cell.more = free_reader_;
    free_reader_ = readers_[cell.more - 1].next;
    readers_[cell.more - 1] = reader;
  } else {
    readers_.push_back(reader);
    cell.more = static_cast<std::uint32_t>(readers_.size());
  }
}

// The nodes of the list can be used again.
void RaceTracker::drop_readers(Cell& cell) {
  while (cell.more != 0) {
    Reader& node = readers_[cell.more - 1];
    const std::uint32_t next = node.next;
    node.next = free_reader_;
    free_reader_ = cell.more;
    cell.more = next;
  }
  cell.read_lanes = 0;
}

void RaceTracker::check_readers(const Step& step, const Cell& cell) {
  const auto check = [&](unsigned warp, Mask lanes, std::uint32_t clock) {
    if (warp != current_warp_) {
      if (!is_ordered(step, warp, 0, clock)) report(step, "read", cell.read_op, warp, lanes);
      return;
    }
    if (order_.lanes_know(warp, clock)) return;
    // Lanes that read and write one place in one instruction (an atomic, an exchange) are fine.
    if (cell.read_op == step.warp.this_op() && clock == order_.now(warp)) return;
    Mask bad = 0;
    for_each_lane(lanes & ~lane_bit(step.lane), [&](unsigned l) {
      if (!order_.ordered(warp, step.lane, warp, l, clock)) bad |= lane_bit(l);
    });
    if (bad != 0) report(step, "read", cell.read_op, warp, bad);
  };
  check(cell.read_warp, cell.read_lanes, cell.read_clock);
  for (std::uint32_t i = cell.more; i != 0; i = readers_[i - 1].next) {
    const Reader& reader = readers_[i - 1];
    check(reader.warp, reader.lanes, reader.clock);
  }
}

void RaceTracker::write_cell(const Step& step, Cell& cell) {
  if (cell.read_lanes != 0 && step.how != Touched::AsyncWrite) check_readers(step, cell);
  cell.writer = current_warp_ * kLanes + step.lane + 1;
  cell.write_clock = order_.now(current_warp_);
  cell.write_op = step.warp.this_op();
  cell.strong_write = step.strong;
  drop_readers(cell);
}

std::string place_text(std::uint64_t address, unsigned bytes) {
  const std::uint64_t within = address & ((1U << kRankShift) - 1);
  if (address >= kTensorWindow && address < kGlobalStart)
    return fmt::format("lane {}, column {} of tensor memory", within / 4 / kTensorColumns,
                       within / 4 % kTensorColumns);
  const bool is_shared = address < kLocalWindow;
  return fmt::format("{} bytes of {} memory at 0x{:x}", bytes, is_shared ? "shared" : "global",
                     is_shared ? within : address);
}

void RaceTracker::report(const Step& step, const char* what, std::uint32_t other_op,
                         unsigned other_warp, Mask other_lanes) const {
  Unit& unit = *step.warp.unit;
  if (unit.findings.count_up(Check::Race, step.warp.this_op(), other_op, 1)) return;
  const auto per_cta = static_cast<unsigned>(unit.ctas[0]->warps.size());
  const Cta& cta = *unit.ctas[other_warp / per_cta];
  const char* verb = step.how == Touched::Read   ? "reads"
                     : step.how == Touched::Free ? "frees"
                                                 : "writes";
  step.warp.report_at(Check::Race, lane_bit(step.lane), step.address,
                      fmt::format("{} {} that another thread has {}, with nothing to order the two",
                                  verb, place_text(step.address, step.bytes), what),
                      Party{other_op, cta.linear, other_warp % per_cta, other_lanes});
}

// --- between units -------------------------------------------------------------------------------

void RaceTracker::hand_over(BlockRaces& all, std::uint64_t unit) {
  if (order_.is_synced()) return;
  for (const auto& [number, page] : pages_) {
    if (number * kPageWords * 4 >= kGlobalStart) all.note(number, unit, page->accesses);
  }
}

void BlockRaces::note(std::uint64_t number, std::uint64_t unit, const Accesses& accesses) {
  Part& part = parts_[number % parts_.size()];
  const std::lock_guard lock(part.mutex);
  auto& page = part.words[number];
  if (page == nullptr) page = std::make_unique<Page>();
  for (unsigned i = 0; i < kPageWords; ++i) {
    const std::uint32_t wrote = accesses.wrote[i];
    const std::uint32_t read = accesses.read[i];
    const bool in_parts = (wrote != 0 && accesses.wrote_bytes[i] != 15) ||
                          (read != 0 && accesses.read_bytes[i] != 15);
    if (in_parts) {
      note_bytes(part, number * kPageWords + i, unit, wrote, accesses.wrote_bytes[i], read,
                 accesses.read_bytes[i]);
      continue;
    }
    if (wrote != 0) (*page)[i].writes.add((unit << 32U) | (wrote - 1));
    if (read != 0) (*page)[i].reads.add((unit << 32U) | (read - 1));
  }
}

void BlockRaces::note_bytes(Part& part, std::uint64_t word, std::uint64_t unit, std::uint32_t wrote,
                            unsigned wrote_bytes, std::uint32_t read, unsigned read_bytes) {
  for (unsigned b = 0; b < 4; ++b) {
    const bool writes = wrote != 0 && ((wrote_bytes >> b) & 1U) != 0;
    const bool reads = read != 0 && ((read_bytes >> b) & 1U) != 0;
    if (!writes && !reads) continue;
    Entry& entry = part.bytes[word * 4 + b];
    if (writes) entry.writes.add((unit << 32U) | (wrote - 1));
    if (reads) entry.reads.add((unit << 32U) | (read - 1));
  }
}

std::optional<BlockRaces::Conflict> BlockRaces::conflict_of(const Entry& entry,
                                                            std::uint64_t address) {
  const auto unit = [](std::uint64_t access) { return access >> 32U; };
  if (entry.writes.empty()) return std::nullopt;
  if (unit(entry.writes.first) != unit(entry.writes.last)) {
    return Conflict{address, entry.writes.first, entry.writes.last, true};
  }
  if (entry.reads.empty()) return std::nullopt;
  if (unit(entry.reads.first) != unit(entry.writes.first)) {
    return Conflict{address, entry.writes.first, entry.reads.first, false};
  }
  if (unit(entry.reads.last) != unit(entry.writes.first)) {
    return Conflict{address, entry.writes.first, entry.reads.last, false};
  }
  return std::nullopt;
}

void BlockRaces::find_conflicts(const Part& part, std::vector<Conflict>& conflicts) {
  for (const auto& [number, page] : part.words) {
    for (unsigned i = 0; i < kPageWords; ++i) {
      const std::uint64_t word = number * kPageWords + i;
      if (const auto found = conflict_of((*page)[i], word * 4)) conflicts.push_back(*found);
    }
  }
  for (const auto& [address, entry] : part.bytes) {
    Entry both = entry;
    const auto page = part.words.find(address / 4 / kPageWords);
    if (page != part.words.end()) {
      const Entry& word = (*page->second)[address / 4 % kPageWords];
      for (const auto& [to, from] :
           {std::pair(&both.writes, &word.writes), std::pair(&both.reads, &word.reads)}) {
        if (from->empty()) continue;
        to->add(from->first);
        to->add(from->last);
      }
    }
    if (const auto found = conflict_of(both, address)) conflicts.push_back(*found);
  }
}

void BlockRaces::report(Findings& findings, const RunContext& context) const {
  std::vector<Conflict> conflicts;
  for (const Part& part : parts_) find_conflicts(part, conflicts);
  std::sort(conflicts.begin(), conflicts.end(),
            [](const Conflict& a, const Conflict& b) { return a.address < b.address; });
  const std::uint64_t size = context.cluster.count();
  for (const Conflict& c : conflicts) {
    const Party later{static_cast<std::uint32_t>(c.later), (c.later >> 32U) * size, 0, 0};
    const Party earlier{static_cast<std::uint32_t>(c.earlier), (c.earlier >> 32U) * size, 0, 0};
    findings.add({.check = Check::Race,
                  .who = later,
                  .other = earlier,
                  .text = fmt::format("{} global memory at 0x{:x} that another block writes, with "
                                      "nothing to order the two",
                                      c.is_write_write ? "writes" : "reads", c.address),
                  .address = c.address,
                  .has_address = true});
  }
}

}  // namespace ww::sim
