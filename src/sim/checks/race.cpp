// SPDX-License-Identifier: Apache-2.0
#include "sim/checks/race.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "sim/memory/tensor_memory.h"
#include "sim/run/unit.h"

namespace ww::sim {
namespace {

// Of the same unit, accesses that are looked at to be dropped.
constexpr unsigned kMaxPruned = 256;

std::uint8_t byte_mask(unsigned first, unsigned last) {
  return static_cast<std::uint8_t>(((2U << last) - 1) & ~((1U << first) - 1));
}

// Log2 of the words from the first lane to the next, or of those of a lane where these are more; of
// one lane alone, so many that its words are alike.
std::uint32_t shift_of(const std::uint64_t* address, Mask lanes, unsigned bytes) {
  constexpr std::uint32_t kFar = 24;
  const auto log2 = [](std::uint64_t words) {
    const bool is_power = (words & (words - 1)) == 0 && words != 0;
    return is_power ? static_cast<std::uint32_t>(std::countr_zero(words)) : 0;
  };
  const unsigned first = first_lane(lanes);
  const Mask others = lanes & (lanes - 1);
  if (others == 0) return kFar;
  const unsigned next = first_lane(others);
  const std::uint64_t apart = (address[next] - address[first]) / 4;
  const std::uint32_t shift = next == first + 1 ? log2(apart) : 0;
  return shift < kFar ? std::max(shift, log2(bytes / 4)) : 0;
}

// How many lanes from the first one on are in the mask, each that many bytes behind the one before.
unsigned lanes_in_step(const std::uint64_t* address, Mask lanes, std::uint64_t bytes) {
  if (lanes == kAllLanes && address[1] - address[0] == bytes) {
    // Without a branch, and so in vectors.
    std::uint64_t wrong = 0;
    for (unsigned l = 0; l < kLanes; ++l) wrong |= address[l] ^ (address[0] + l * bytes);
    if (wrong == 0) return kLanes;
  }
  const unsigned first = first_lane(lanes);
  const auto end = first + static_cast<unsigned>(std::countr_one(lanes >> first));
  unsigned l = first + 1;
  while (l < end && address[l] - address[l - 1] == bytes) ++l;
  return l - first;
}

// Whether whatever races with an access like `old` races with one like `now`.
bool is_as_strict(const Manner& now, const Home& at, const Manner& old, const Home& was) {
  if (!now.is_strong || !old.is_strong) return !now.is_strong && !old.is_strong;
  if (now.bytes != old.bytes || now.scope > old.scope) return false;
  return now.scope == Scope::Gpu || scope_of(at, was) <= now.scope;
}

// Cells from one on, so many apart, that are like this one: where they end. (This and the next are functions
// of their own so that all stays in registers.)
[[gnu::noinline]] unsigned end_of_like(const WordAccesses* cells, unsigned slot, unsigned end,
                                       unsigned apart, WordAccesses like) {
  while (slot < end && cells[slot] == like) slot += apart;
  return slot;
}
[[gnu::noinline]] void fill_cells(WordAccesses* cells, unsigned slot, unsigned end, unsigned apart,
                                  WordAccesses value) {
  for (; slot < end; slot += apart) cells[slot] = value;
}

// Accesses of one warp and kind.
bool is_like(const AccessStamp& a, const AccessStamp& b) {
  return a.is_of(b) && a.manner == b.manner && a.reads == b.reads && a.writes == b.writes;
}

}  // namespace

// --- accesses ------------------------------------------------------------------------------------

RaceStep Shadow::step_of(Warp& warp, const Order& order, const std::uint64_t* address, Mask lanes,
                         unsigned bytes, Touched how, const Manner& manner) {
  const unsigned unit_warp = warp.unit_warp();
  return {.warp = warp,
          .order = order,
          .sets = sets_,
          .how = how,
          .by = {.unit = order.unit,
                 .clock = order.now(unit_warp),
                 .op = warp.current,
                 .warp = unit_warp,
                 .shift = shift_of(address, lanes, bytes),
                 .manner = manner,
                 .reads = is_read(how) || how == Touched::Atomic,
                 .writes = !is_read(how),
                 .lasts = how == Touched::AsyncBegin},
          .bytes = bytes};
}

void Shadow::touch(RaceStep& step, const std::uint64_t* address, Mask lanes) {
  if (sets_.is_full()) {
    sets_.collect_garbage(pages_.size() * kPageWords, [&](auto&& visit) { for_each_cell(visit); });
    changes_.fill({});
    pages_.drop_spare();  // they have the old numbers
  }
  step.stamp = sets_.number_of(step.by);
  if (step.bytes % 4 == 0 && address[first_lane(lanes)] % 4 == 0) {
    touch_words(step, address, lanes);
  } else {
    touch_bytes(step, address, lanes);
  }
}

template <typename Visit>
void Shadow::for_each_cell(const Visit& visit) {
  for (const auto& [number, page] : pages_) {
    std::ranges::for_each(page->cells, visit);
    page->known_repeats = 0;
    if (page->parts == nullptr) continue;
    for (Parts& parts : *page->parts) std::ranges::for_each(parts, visit);
  }
}

Shadow::Page& Shadow::page_of(const RaceStep& step, std::uint64_t word) {
  Page& page = pages_.at(word / kPageWords);
  if (step.is_noted && page.accesses == nullptr) {
    page.accesses = std::make_unique<BlockRaces::Accesses>();
    ++noted_pages_;
  }
  return page;
}

// Words of an access that are touched alike: one that lanes next to each other read together, those
// of a lane, or one or more of each lane from one on, at equal distances.
struct Shadow::Run {
  unsigned lane = 0;        // the first one
  Mask together = 0;        // those that read one word; 0: each has its own
  unsigned per_lane = 0;    // log2 of the words of each lane
  unsigned apart = 0;       // log2 of the words from one to the next
  std::uint64_t start = 0;  // the first lane's address
};

// Whole words.
void Shadow::touch_words(RaceStep& step, const std::uint64_t* address, Mask lanes) {
  constexpr unsigned kAny = 31;  // of a lane by itself
  const unsigned words = step.bytes / 4;
  const std::uint64_t stride = std::uint64_t{1} << step.by.shift;
  const bool is_plain_read = step.how == Touched::Read && !step.by.manner.is_strong;
  bool is_own_tried = false;
  while (lanes != 0) {
    Run run{.lane = first_lane(lanes), .per_lane = kAny, .start = address[first_lane(lanes)]};
    std::uint64_t word = run.start / 4;
    unsigned count = is_plain_read ? lanes_in_step(address, lanes, 0) : 1;
    std::uint64_t left = words;
    if (count > 1) {
      run.together = (kAllLanes >> (kLanes - count)) << run.lane;
    } else if ((words == 1 || words == stride) && word % words == 0) {
      count = lanes_in_step(address, lanes, 4 * stride);
      left *= count;
      run.apart = words == 1 ? step.by.shift : 0;
      if (count > 1) run.per_lane = words == 1 ? 0 : step.by.shift;
    }
    lanes &= ~((kAllLanes >> (kLanes - count)) << run.lane);
    // Lanes are turned alike at all words of a run in a page.
    const bool is_even = words <= stride && word % words == 0;
    while (left != 0) {
      const std::uint64_t here = ((kPageWords - 1 - word % kPageWords) >> run.apart) + 1;
      const auto now = static_cast<unsigned>(is_even ? std::min(left, here) : 1);
      touch_run(step, run, word, now);
      word += std::uint64_t{now} << run.apart;
      left -= now;
    }
    if (count == 1 && lanes != 0 && !std::exchange(is_own_tried, true))
      lanes = touch_own(step, address, lanes);
  }
}

// Words of a run, in one page. Most are like the one before: an equal one becomes the same.
void Shadow::touch_run(RaceStep& step, const Run& run, std::uint64_t word, unsigned count) {
  Page& page = page_of(step, word);
  const auto first = static_cast<unsigned>(word % kPageWords);
  const unsigned apart = 1U << run.apart;
  const unsigned end = first + count * apart;
  const auto go_to = [&](unsigned slot) {
    step.word = word + slot - first;
    const auto number = static_cast<unsigned>((step.word - run.start / 4) >> run.apart);
    const unsigned lanes = number >> run.per_lane;
    step.lane = run.lane + lanes;
    step.address = run.start + (std::uint64_t{4 * lanes} << run.per_lane << run.apart);
    return run.together != 0 ? run.together : lane_bit(step.lane);
  };
  const bool is_weak = !step.by.manner.is_strong && step.how != Touched::ReadNc;
  for (unsigned slot = first; !is_weak && step.is_noted && slot < end; slot += apart) {
    go_to(slot);
    note_for_units(step, page, slot, kWholeWord);
  }
  const auto note_weak = [&, is_noted = is_weak && step.is_noted](unsigned slot) {
    if (is_noted) page.accesses->note(slot, kWholeWord, !step.by.writes, step.by.op);
  };
  const AccessEntry mine{step.stamp, turned(go_to(first), word, step.by.shift)};
  const Repeat repeat{mine, static_cast<std::uint16_t>(first), static_cast<std::uint16_t>(end),
                      static_cast<std::uint16_t>(apart)};
  const auto kept_at = mine.stamp % page.repeats.size();
  if ((page.known_repeats >> kept_at & 1U) != 0 && page.repeats[kept_at] == repeat) return;
  bool is_changed = !is_weak;
  for (unsigned slot = first; slot < end;) {
    const WordAccesses before = page.cells[slot];
    Change& known = change_of(before, mine);
    if (!(known.before == before && known.by == mine)) {
      const Mask lanes = go_to(slot);
      step.is_special = false;
      note_weak(slot);
      if (is_split(before)) {
        touch_parts(step, page, kWholeWord, lanes);
      } else {
        touch_cell(step, page.cells[slot], mine, lanes);
      }
      if (step.is_special) {
        is_changed = true;
        slot += apart;
        continue;
      }
      known = {before, page.cells[slot], mine};
      is_changed = is_changed || known.after != before;
      slot += apart;
    }
    const unsigned like = slot;
    slot = end_of_like(page.cells.data(), slot, end, apart, before);
    if (known.after == before) continue;  // and so this was noted before
    is_changed = is_changed || slot != like;
    for (unsigned at = like; step.is_noted && at < slot; at += apart) note_weak(at);
    fill_cells(page.cells.data(), like, slot, apart, known.after);
  }
  if (is_changed) {
    page.known_repeats = 0;
  } else {
    page.repeats[kept_at] = repeat;
    page.known_repeats = static_cast<std::uint8_t>(page.known_repeats | 1U << kept_at);
  }
}

// Weak accesses to words that have seen no other thread than the one that comes now, in lanes that
// go in no order. Returns the lanes of which that does not hold.
Mask Shadow::touch_own(RaceStep& step, const std::uint64_t* address, Mask lanes) {
  const unsigned words = step.bytes / 4;
  if (step.by.manner.is_strong || step.how == Touched::ReadNc || words > 4) return lanes;
  Mask others = 0;
  Page* page = nullptr;
  std::uint64_t start = ~std::uint64_t{0};  // the page's first word
  // What became of the word before, but for the lane. At first no word is like it.
  WordAccesses before{.rest = WordAccesses::kSplit}, after{};
  for_each_lane(lanes, [&](unsigned l) {
    const std::uint64_t word = address[l] / 4;
    if (word - start > kPageWords - words) {
      page = &page_of(step, word);
      page->known_repeats = 0;
      start = word - word % kPageWords;
    }
    const auto slot = static_cast<unsigned>(word - start);
    const AccessEntry mine{step.stamp, turned(lane_bit(l), word, step.by.shift)};
    const unsigned place = first_lane(mine.turned);
    const auto with_lane = [&](WordAccesses cell) {
      if (cell.write != 0) cell.write |= place;
      if (cell.latest.stamp != 0) cell.latest.turned = mine.turned;
      return cell;
    };
    bool is_own = words <= 1U << step.by.shift && word % words == 0 && slot + words <= kPageWords;
    for (unsigned w = slot; is_own && w < slot + words; ++w) {
      WordAccesses& cell = page->cells[w];
      if (step.is_noted) page->accesses->note(w, kWholeWord, !step.by.writes, step.by.op);
      if (sets_.has_none(cell)) cell = {};
      if (cell == with_lane(before)) {
        cell = with_lane(after);
        continue;
      }
      const WordAccesses old = cell;
      is_own = old.rest == 0 && (old.latest.stamp == 0 || old.latest.turned == mine.turned) &&
               touch_plainly(step, cell, mine);
      if (!is_own) break;
      before = {.write = old.write & ~(kLanes - 1), .latest = {old.latest.stamp, 0}};
      after = {.write = cell.write & ~(kLanes - 1), .latest = {cell.latest.stamp, 0}};
    }
    if (!is_own) others |= lane_bit(l);
  });
  return others;
}

// Parts of words.
void Shadow::touch_bytes(RaceStep& step, const std::uint64_t* address, Mask lanes) {
  Page* page = nullptr;
  std::uint64_t number = 0;
  for_each_lane(lanes, [&](unsigned l) {
    step.lane = l;
    step.address = address[l];
    const std::uint64_t end = address[l] + step.bytes;
    for (std::uint64_t at = address[l]; at < end;) {
      step.word = at / 4;
      const std::uint64_t stop = std::min(end, step.word * 4 + 4);
      const std::uint8_t which =
          byte_mask(static_cast<unsigned>(at % 4), static_cast<unsigned>((stop - 1) % 4));
      at = stop;
      if (page == nullptr || number != step.word / kPageWords) {
        number = step.word / kPageWords;
        page = &page_of(step, step.word);
        page->known_repeats = 0;
      }
      const auto slot = static_cast<unsigned>(step.word % kPageWords);
      if (step.is_noted) note_for_units(step, *page, slot, which);
      WordAccesses& cell = page->cells[slot];
      if (which != kWholeWord || is_split(cell)) {
        touch_parts(step, *page, which, lane_bit(l));
      } else {
        touch_cell(step, cell, {step.stamp, turned(lane_bit(l), step.word, step.by.shift)},
                   lane_bit(l));
      }
    }
  });
}

// What was decided for words that had these accesses.
Shadow::Change& Shadow::change_of(const WordAccesses& before, const AccessEntry& by) {
  constexpr std::uint64_t kMix = 0x9E37'79B9'7F4A'7C15U;
  const auto both = [](std::uint32_t a, std::uint32_t b) { return (std::uint64_t{a} << 32U) | b; };
  const std::uint64_t old =
      both(before.write, before.rest) * kMix ^ both(before.latest.turned, before.latest.stamp);
  return changes_[((old * kMix) ^ both(by.turned, by.stamp)) * kMix >> (64U - kChangeBits)];
}

// Where units have no order, nothing of what one of them does may be forgotten.
void Shadow::note_for_units(RaceStep& step, Page& page, unsigned slot, std::uint8_t which) {
  BlockRaces::Accesses& accesses = *page.accesses;
  if (step.how == Touched::ReadNc) {
    const std::uint32_t writer = accesses.writer_of(slot, which);
    if (writer != 0) report_stale(step, {writer - 1, step.warp.cta->linear, 0, 0});
  }
  if (!step.by.manner.is_strong) {
    accesses.note(slot, which, is_read(step.how), step.by.op);
  } else if (step.by.writes) {
    accesses.note_strong_write(slot, which, step.by.manner, step.by.op);
  }
}

// The bytes of a word; splits it if it had one cell.
void Shadow::touch_parts(RaceStep& step, Page& page, std::uint8_t which, Mask lanes) {
  step.is_special = true;
  const auto slot = static_cast<unsigned>(step.word % kPageWords);
  WordAccesses& cell = page.cells[slot];
  if (page.parts == nullptr) {
    page.parts = std::make_unique<std::array<Parts, kPageWords>>();
    ++split_pages_;
  }
  Parts& parts = (*page.parts)[slot];
  if (!is_split(cell)) {
    parts.fill(cell);
    cell = {.rest = WordAccesses::kSplit, .latest = {step.stamp, 0}};
  }
  const AccessEntry mine{step.stamp, turned(lanes, step.word, step.by.shift)};
  WordAccesses before{.rest = WordAccesses::kSplit}, after{};  // of the byte before; at first none
  for (unsigned b = 0; b < 4; ++b) {
    if (((which >> b) & 1U) == 0) continue;
    WordAccesses& part = parts[b];
    if (part == before) {
      part = after;
      continue;
    }
    const WordAccesses old = part;
    if (sets_.has_none(part)) part = {};
    if (touch_plainly(step, part, mine)) {
      before = old;
      after = part;
    } else {
      touch_cell(step, part, mine, lanes);
    }
  }
}

void Shadow::touch_cell(RaceStep& step, WordAccesses& cell, const AccessEntry& mine, Mask lanes) {
  if (sets_.has_none(cell)) cell = {};
  if (touch_plainly(step, cell, mine)) return;
  // What may race with an asynchronous write was looked at when it was issued; here it lands.
  if (step.how != Touched::AsyncWrite && !is_settled(step, cell)) {
    const unsigned first = step.lane;
    const bool is_alone = step.order.has_lone(step.by.warp);
    for_each_lane(lanes, [&](unsigned l) {
      step.lane = l;
      step.is_again = !is_alone && (l != first || cell.latest.stamp == step.stamp);
      check_races(step, cell);
    });
    step.lane = first;
    step.is_again = false;
  }
  if (step.how == Touched::ReadNc && !step.is_noted) check_stale(step, cell);
  if (step.by.writes && !step.by.manner.is_strong) {
    cell.set_written(mine);  // what is not ordered before it has been reported
  } else {
    note(step, cell, lanes);
  }
}

// Weak accesses to words that have seen no other warp since the last one that ordered them, and no
// writes of other lanes: nothing to compare with. false: something is otherwise.
bool Shadow::touch_plainly(const RaceStep& step, WordAccesses& cell,
                           const AccessEntry& mine) const {
  const AccessStamp& now = step.by;
  if (now.manner.is_strong || step.how == Touched::ReadNc) return false;
  if (cell.write != 0) {
    const AccessStamp& write = sets_.stamp(cell.written());
    const bool is_own =
        write.is_of(now) && write.shift == now.shift && cell.written().turned == mine.turned;
    if (!is_own) return false;
  }
  if (cell.latest.stamp != 0) {
    const AccessStamp& latest = sets_.stamp(cell.latest);
    const bool is_own = cell.rest == 0 && latest.is_of(now) && !latest.manner.is_strong &&
                        latest.shift == now.shift;
    if (!is_own) return false;
    if (now.writes ? cell.latest.turned != mine.turned : latest.clock != now.clock) return false;
  }
  if (now.writes) {
    cell.set_written(mine);
  } else {
    cell.latest = {mine.stamp, cell.latest.turned | mine.turned};
  }
  return true;
}

// Whether a weak read races with nothing, whichever lane of the warp makes it.
bool Shadow::is_settled(const RaceStep& step, const WordAccesses& cell) const {
  if (step.by.writes || step.by.manner.is_strong || sets_.set(cell.rest).strong != 0) return false;
  if (cell.latest.stamp != 0 && sets_.stamp(cell.latest).manner.is_strong) return false;
  if (cell.write == 0) return true;
  const AccessStamp& write = sets_.stamp(cell.written());
  return write.unit == step.by.unit && step.order.knows(step.by.warp, write.warp, write.clock);
}

// What is left of an earlier access behind the step of these lanes, which take over what others of
// their warp did at the same time.
Mask Shadow::left_of(RaceStep& step, const AccessEntry& entry, Mask& lanes) const {
  const AccessStamp& now = step.by;
  const AccessStamp& old = sets_.stamp(entry);
  const Mask was = sets_.lanes_of(entry, step.word);
  if (is_like(old, now)) {
    if (old.shift != now.shift) step.is_special = true;
    if (old.clock == now.clock) lanes |= was;
    return old.clock == now.clock || step.order.lanes_know(now.warp, old.clock) ? 0 : was & ~lanes;
  }
  if (old.writes && !now.writes) return was;
  const bool is_near = old.unit == now.unit;
  const Home home = is_near ? step.order.home_of(old.warp) : Home{.unit = old.unit};
  if (!is_as_strict(now.manner, step.order.home_of(now.warp), old.manner, home)) return was;
  const bool is_known =
      is_near ? step.order.knows(now.warp, old.warp, old.clock) : unordered(step, entry) == 0;
  return is_known ? 0 : was;
}

// Adds a read or a strong access. It replaces earlier ones of its own lanes, and those of others
// that its lanes know of: who is ordered behind it is ordered behind them.
void Shadow::note(RaceStep& step, WordAccesses& cell, Mask lanes) {
  const Mask fresh = lanes;
  const auto add_to = [&](std::uint32_t rest) {
    cell.latest = {step.stamp, turned(lanes, step.word, step.by.shift)};
    cell.rest = rest;
  };
  if (cell.latest.stamp == 0) return add_to(0);
  kept_.clear();
  const Mask latest = sets_.lanes_of(cell.latest, step.word);
  bool drops = false;
  const auto look_at = [&](const AccessEntry& entry, Mask was) {
    const Mask left = left_of(step, entry, lanes);
    if (left == was) return kept_.push_back(entry);
    drops = true;
    if (left == 0) return;
    kept_.push_back({entry.stamp, turned(left, step.word, sets_.stamp(entry).shift)});
  };
  look_at(cell.latest, latest);
  // Where the latest was of these lanes, too, it has dropped what they drop.
  if (lanes == latest && kept_.empty()) return add_to(cell.rest);
  std::uint32_t at = cell.rest;
  for (unsigned i = 0; at != 0 && i < kMaxPruned; ++i, at = sets_.set(at).rest) {
    const AccessEntry& entry = sets_.set(at).entry;
    const AccessStamp& old = sets_.stamp(entry);
    if (old.unit != step.by.unit) break;
    const Mask was = sets_.lanes_of(entry, step.word);
    // Weak reads are as good as those after them.
    if (is_like(old, step.by) && old.clock == step.by.clock && !old.manner.is_strong &&
        (fresh & ~was) == 0)
      return;
    look_at(entry, was);
  }
  if (!drops) return add_to(sets_.number_of(cell.rest, cell.latest));
  for (std::size_t i = kept_.size(); i-- > 0;) at = sets_.number_of(at, kept_[i]);
  add_to(at);
}

void Shadow::check(RaceStep& step) {
  WordAccesses last{};  // of the word before, whose write has been looked at
  Mask last_lanes = 0;
  for (step.word = step.address / 4; step.word < (step.address + step.bytes) / 4; ++step.word) {
    const Page* page = pages_.find(step.word / kPageWords);
    if (page == nullptr) return;
    const auto slot = static_cast<unsigned>(step.word % kPageWords);
    const WordAccesses& cell = page->cells[slot];
    if (is_split(cell)) {
      for (const WordAccesses& part : (*page->parts)[slot]) check_races(step, part);
      continue;
    }
    const Mask lanes = sets_.has(cell.written()) ? sets_.lanes_of(cell.written(), step.word) : 0;
    if (cell == last && lanes == last_lanes) continue;
    check_races(step, cell);
    last = cell;
    last_lanes = lanes;
  }
}

// --- units ---------------------------------------------------------------------------------------

void Shadow::reset() {
  for (const auto& [number, page] : pages_)
    if (page->accesses != nullptr) *page->accesses = {};
  pages_.recycle();
  sets_.forget();
}

void Shadow::hand_over(BlockRaces& all, std::uint64_t unit) const {
  for (const auto& [number, page] : pages_) {
    const bool is_global = number * kPageWords * 4 >= kGlobalStart;
    if (is_global && page->accesses != nullptr) all.note(number, unit, *page->accesses);
  }
}

std::uint64_t Shadow::bytes() const {
  return pages_.size() * sizeof(Page) + noted_pages_ * sizeof(BlockRaces::Accesses) +
         split_pages_ * kPageWords * sizeof(Parts) + sets_.bytes();
}

Shadow& RaceTracker::own() {
  if (epoch_ != order_.epoch) shadow_.forget();
  epoch_ = order_.epoch;
  return shadow_;
}

namespace {
constexpr unsigned kVectorBytes = 32;  // the most of a lane of an instruction; an engine moves rows
}  // namespace

void RaceTracker::touch(Warp& warp, const Region& region, const std::uint64_t* address, Mask lanes,
                        unsigned bytes, Touched how, const Manner& manner,
                        const StoredBytes* stored) {
  if (region.space == Space::Local || region.space == Space::Param ||
      region.space == Space::Const) {
    return;
  }
  if (bytes > kVectorBytes)
    warp.unit->counters.add_moved(std::uint64_t{bytes} * count_lanes(lanes));
  const bool is_global = region.space == Space::Global;
  if (is_global && grid_ != nullptr && !is_read(how) && how != Touched::Atomic)
    warp.unit->context.grid->writers.note(warp.unit->party(warp.current, warp.unit_warp(), lanes),
                                          address, bytes);
  Shadow& shadow = is_global && grid_ != nullptr ? *grid_ : own();
  RaceStep step = shadow.step_of(warp, order_, address, lanes, bytes, how, manner);
  step.region = &region;
  step.is_noted = is_global && grid_ == nullptr;
  if (warp.unit->context.options->allows_rewrites) step.stored = stored;
  shadow.touch(step, address, lanes);
}

void RaceTracker::check_read(Warp& warp, const std::uint64_t* address, Mask lanes, unsigned bytes) {
  warp.unit->counters.add_moved(std::uint64_t{bytes} * count_lanes(lanes));
  Shadow& shadow = own();
  RaceStep step = shadow.step_of(warp, order_, address, lanes, bytes, Touched::Read, {});
  for_each_lane(lanes, [&](unsigned l) {
    step.lane = l;
    step.address = address[l];
    shadow.check(step);
  });
}

void RaceTracker::touch_tensor(Warp& warp, unsigned rank, const std::uint32_t* cell, Mask lanes,
                               Touched how) {
  std::uint64_t address[kLanes];
  for_each_lane(lanes, [&](unsigned l) { address[l] = address_of_cell(rank, cell[l]); });
  Shadow& shadow = own();
  RaceStep step = shadow.step_of(warp, order_, address, lanes, 4, how, {});
  shadow.touch(step, address, lanes);
}

}  // namespace ww::sim
