// SPDX-License-Identifier: Apache-2.0
#include "sim/race.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

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
  strong_.clear();
  free_reader_ = free_strong_ = 0;
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
                        unsigned bytes, Touched how, const Manner& manner) {
  if (region.space == Space::Local || region.space == Space::Param ||
      region.space == Space::Const) {
    return;
  }
  current_warp_ = warp.unit_warp();
  keep_up();
  if (bytes % 4 == 0 && address[first_lane(lanes)] % 4 == 0) {
    touch_words(warp, address, lanes, bytes, how, manner);
  } else {
    for_each_lane(lanes, [&](unsigned l) {
      const Step step{warp, address[l], bytes, l, how, manner};
      const std::uint64_t end = address[l] + bytes;
      for (std::uint64_t at = address[l]; at < end;) {
        const std::uint64_t word = at / 4;
        const std::uint64_t stop = std::min(end, word * 4 + 4);
        touch_word(step, word, static_cast<unsigned>(at % 4),
                   static_cast<unsigned>((stop - 1) % 4));
        at = stop;
      }
    });
  }
  if (grid_ != nullptr && region.space == Space::Global)
    grid_->touch(warp, order_, address, lanes, bytes, how, manner);
}

void RaceTracker::touch_tensor(Warp& warp, const std::uint32_t* cell, Mask lanes, Touched how) {
  current_warp_ = warp.unit_warp();
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
  for_each_lane(lanes, [&](unsigned l) {
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
        if (touch_quickly(page.cells[slot], current_warp_ * kLanes + l + 1, op, reads)) continue;
      }
      touch_word({warp, address[l], bytes, l, how, manner}, word, 0, 3);
    }
  });
}

bool RaceTracker::touch_quickly(Cell& cell, std::uint32_t thread, std::uint32_t op, bool reads) {
  const std::uint32_t now = order_.now(current_warp_);
  const Mask bit = lane_bit((thread - 1) % kLanes);
  if (cell.epoch != epoch_) {
    cell = Cell{};
    cell.epoch = epoch_;
  } else {
    if (cell.is_split || cell.strong != 0 || (cell.writer != 0 && cell.writer != thread))
      return false;
    const bool mine =
        cell.read_lanes == 0 || (cell.read_warp == current_warp_ && cell.read_clock == now);
    if (reads ? !mine : !mine || cell.more != 0 || (cell.read_lanes & ~bit) != 0) return false;
  }
  if (reads) {
    cell.read_op = op;
    cell.read_warp = static_cast<std::uint16_t>(current_warp_);
    cell.read_clock = now;
    cell.read_lanes |= bit;
  } else {
    cell.writer = thread;
    cell.write_clock = now;
    cell.write_op = op;
    cell.read_lanes = 0;
  }
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
RaceTracker::Cell RaceTracker::copy_of(const Cell& cell) {
  Cell copy = cell;
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

void RaceTracker::split(Cell& cell, std::array<Cell, 4>& parts) {
  for (unsigned b = 1; b < 4; ++b) parts[b] = copy_of(cell);
  parts[0] = cell;
  cell.is_split = true;
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
  if (grid_ == nullptr && word >= kGlobalStart / 4) {
    const auto mask = static_cast<std::uint8_t>(((2U << last) - 1) & ~((1U << first) - 1));
    if (step.how == Touched::ReadNc) check_stale(step, page, slot, mask);
    note_for_units(step, page, slot, mask);
  }
  if (whole && !cell.is_split) {
    touch_cell(step, cell);
    return;
  }
  std::array<Cell, 4>& parts = bytes_[word];
  if (!cell.is_split) split(cell, parts);
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
  if (!lands) {
    if (cell.writer != 0) check_writer(step, cell);
    if (cell.strong != 0) check_strong(step, cell);
    if (cell.read_lanes != 0 && !is_read(step.how)) check_readers(step, cell);
  }
  if (step.manner.is_strong) {
    note_strong(step, cell);
  } else if (is_read(step.how)) {
    read_cell(step, cell);
  } else {
    write_cell(step, cell);
  }
}

// --- what is kept of a cell ----------------------------------------------------------------------

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

void RaceTracker::write_cell(const Step& step, Cell& cell) {
  cell.writer = current_warp_ * kLanes + step.lane + 1;
  cell.write_clock = order_.now(current_warp_);
  cell.write_op = step.warp.this_op();
  drop_uses(cell);
}

// Strong accesses are kept one for each warp and kind: the latest.
void RaceTracker::note_strong(const Step& step, Cell& cell) {
  const std::uint32_t now = order_.now(current_warp_);
  const bool writes = !is_read(step.how);
  const bool reads = !writes || step.how == Touched::Atomic;
  for (std::uint32_t i = cell.strong; i != 0; i = strong_[i - 1].next) {
    StrongUse& use = strong_[i - 1];
    if (use.warp != current_warp_ || use.writes != writes || use.reads != reads ||
        !(use.manner == step.manner)) {
      continue;
    }
    use.lanes = (use.clock == now ? use.lanes : 0) | lane_bit(step.lane);
    use.clock = now;
    use.op = step.warp.this_op();
    use.number = ++strong_number_;
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
void RaceTracker::drop_uses(Cell& cell) {
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

// --- races ---------------------------------------------------------------------------------------

Mask RaceTracker::unordered(const Step& step, unsigned other, Mask lanes,
                            std::uint32_t clock) const {
  Mask bad = 0;
  for_each_lane(lanes, [&](unsigned l) {
    if (!is_ordered(step, other, l, clock)) bad |= lane_bit(l);
  });
  return bad;
}

void RaceTracker::check_writer(const Step& step, const Cell& cell) {
  const unsigned other = (cell.writer - 1) / kLanes;
  const unsigned lane = (cell.writer - 1) % kLanes;
  // Lanes that write one place in one instruction: one of them wins, as the program may want.
  const bool together = other == current_warp_ && cell.write_op == step.warp.this_op() &&
                        cell.write_clock == order_.now(current_warp_);
  if (together || is_ordered(step, other, lane, cell.write_clock)) return;
  report(step, "written", cell.write_op, other, lane_bit(lane));
}

void RaceTracker::check_readers(const Step& step, const Cell& cell) {
  const auto check = [&](unsigned warp, Mask lanes, std::uint32_t clock) {
    if (order_.knows(current_warp_, warp, clock)) return;
    if (warp == current_warp_) {
      if (order_.lanes_know(warp, clock)) return;
      // Lanes that read and write one place in one instruction (an atomic, an exchange) are fine.
      if (cell.read_op == step.warp.this_op() && clock == order_.now(warp)) return;
    }
    const Mask bad = unordered(step, warp, lanes, clock);
    if (bad != 0) report(step, "read", cell.read_op, warp, bad);
  };
  check(cell.read_warp, cell.read_lanes, cell.read_clock);
  for (std::uint32_t i = cell.more; i != 0; i = readers_[i - 1].next) {
    const Reader& reader = readers_[i - 1];
    check(reader.warp, reader.lanes, reader.clock);
  }
}

// Up to which strong access a thread has seen the others' writes: to one location these have one
// order, which the thread keeps to.
std::uint32_t RaceTracker::seen_by(const Step& step, const Cell& cell) const {
  std::uint32_t seen = 0;
  for (std::uint32_t i = cell.strong; i != 0; i = strong_[i - 1].next) {
    const StrongUse& use = strong_[i - 1];
    if (use.reads && use.warp == current_warp_ && has_lane(use.lanes, step.lane))
      seen = std::max(seen, use.number);
  }
  return seen;
}

void RaceTracker::check_strong(const Step& step, const Cell& cell) {
  const Home home = order_.home_of(current_warp_);
  const std::uint32_t seen = step.manner.is_strong ? 0 : seen_by(step, cell);
  for (std::uint32_t i = cell.strong; i != 0; i = strong_[i - 1].next) {
    const StrongUse& use = strong_[i - 1];
    if (!use.writes && is_read(step.how)) continue;
    if (use.writes && use.number < seen) continue;
    const Agreement why =
        agreement(use.manner, step.manner, scope_of(home, order_.home_of(use.warp)));
    if (why == Agreement::Agree) {
      check_step(step, use);
      continue;
    }
    if (order_.knows(current_warp_, use.warp, use.clock)) continue;
    const Mask bad = unordered(step, use.warp, use.lanes, use.clock);
    if (bad == 0) continue;
    report(step, use.writes ? "written" : "read", use.op, use.warp, bad,
           why_not_strong(why, step.manner, use.manner));
  }
}

// Volatile accesses do not race, and lanes may spin on what others of their warp write. But lanes
// that go together and take it that they do so in step have been wrong since lanes are scheduled
// one by one.
void RaceTracker::check_step(const Step& step, const StrongUse& use) {
  if (!step.manner.is_volatile || !use.manner.is_volatile || use.warp != current_warp_ ||
      step.address >= kLocalWindow) {
    return;
  }
  if (use.op == step.warp.this_op() && use.clock == order_.now(current_warp_)) return;
  const Mask bad =
      unordered(step, use.warp, use.lanes & step.warp.active & ~lane_bit(step.lane), use.clock);
  if (bad == 0) return;
  report(step, use.writes ? "written" : "read", use.op, use.warp, bad,
         "; both are volatile, but lanes of a warp need not run in step: `bar.warp.sync` orders "
         "them");
}

void RaceTracker::check_stale(const Step& step, const Page& page, unsigned slot,
                              std::uint8_t mask) const {
  const BlockRaces::Accesses& by = page.accesses;
  const BlockRaces::Strong* strong = by.strong.get();
  std::uint32_t op = 0;
  if (by.wrote[slot] != 0 && (by.wrote_bytes[slot] & mask) != 0) op = by.wrote[slot];
  if (op == 0 && strong != nullptr && (strong->bytes[slot] & mask) != 0) op = strong->op[slot];
  if (op == 0) return;
  report_stale(step.warp, step.lane, step.address, step.bytes,
               Party{op - 1, step.warp.cta->linear, 0, 0});
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

const char* verb_of(Touched how) {
  return is_read(how) ? "reads" : how == Touched::Free ? "frees" : "writes";
}

std::string why_not_strong(Agreement why, const Manner& a, const Manner& b) {
  switch (why) {
    case Agreement::Agree:
    case Agreement::Weak:
      return "";
    case Agreement::Scopes: {
      const bool is_cta = std::min(a.scope, b.scope) == Scope::Cta;
      return fmt::format("; both are strong, but scope `.{}` does not include the other thread",
                         is_cta ? "cta" : "cluster");
    }
    case Agreement::Sizes:
      return a.bytes == b.bytes
                 ? "; both are strong, but of different sizes"
                 : fmt::format("; both are strong, but of different sizes, {} and {} bytes",
                               a.bytes, b.bytes);
  }
  return "";
}

void report_stale(Warp& warp, unsigned lane, std::uint64_t address, unsigned bytes,
                  const Party& writer) {
  if (warp.unit->findings.count_up(Check::Race, warp.this_op(), writer.op, 1)) return;
  warp.report_at(Check::Race, lane_bit(lane), address,
                 fmt::format("reads {} with `.nc`, which need not see what the kernel writes, "
                             "whatever orders the two; `ld.global` does",
                             place_text(address, bytes)),
                 writer);
}

void RaceTracker::report(const Step& step, const char* what, std::uint32_t other_op,
                         unsigned other_warp, Mask other_lanes, const std::string& why) const {
  Unit& unit = *step.warp.unit;
  if (unit.findings.count_up(Check::Race, step.warp.this_op(), other_op, 1)) return;
  step.warp.report_at(
      Check::Race, lane_bit(step.lane), step.address,
      fmt::format("{} {} that another thread has {}, with nothing to order the two{}",
                  verb_of(step.how), place_text(step.address, step.bytes), what, why),
      Party{other_op, unit.linear_of(unit.index, other_warp), unit.index_in_cta(other_warp),
            other_lanes});
}

// --- between units -------------------------------------------------------------------------------

void RaceTracker::hand_over(BlockRaces& all, std::uint64_t unit) {
  if (grid_ != nullptr) return;
  for (const auto& [number, page] : pages_) {
    if (number * kPageWords * 4 >= kGlobalStart) all.note(number, unit, page->accesses);
  }
}

}  // namespace ww::sim
