// SPDX-License-Identifier: Apache-2.0
#include "sim/checks/grid_races.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/checks/race_checks.h"
#include "sim/run/unit.h"

namespace ww::sim {
namespace {

// Clock of a write that has not landed: nothing can be ordered behind it.
constexpr std::uint32_t kNoClock = ~std::uint32_t{0};
// Own accesses that are looked at to be dropped.
constexpr unsigned kMaxPruned = 64;

// Whether whatever races with an access like `old` races with one like `now`.
bool is_as_strict(const Manner& now, const Home& at, const Manner& old, const Home& was) {
  if (!now.is_strong) return true;
  if (!old.is_strong || now.bytes != old.bytes || now.scope > old.scope) return false;
  return now.scope == Scope::Gpu || scope_of(at, was) <= now.scope;
}

// Words from the first lane to the next; 1 where there is none, or it is not behind the first.
std::uint32_t stride_of(const std::uint64_t* address, Mask lanes) {
  const unsigned first = first_lane(lanes);
  const Mask others = lanes & (lanes - 1);
  if (others == 0) return 1;
  const unsigned next = first_lane(others);
  const std::uint64_t apart = address[next] - address[first];
  const std::uint64_t stride = apart / 4 / (next - first);
  return address[next] > address[first] && stride >= 1 && stride < (1U << 24U)
             ? static_cast<std::uint32_t>(stride)
             : 1;
}

}  // namespace

// --- accesses ------------------------------------------------------------------------------------

void GridRaces::collect_garbage() {
  sets_.collect_garbage([&](auto&& visit) {
    for (const auto& [number, page] : pages_) {
      for (WordAccesses& cell : *page) {
        if (cell.latest.stamp != kSplit) visit(cell);
      }
    }
    for (auto& [word, cells] : parts_) std::ranges::for_each(cells, visit);
  });
}

void GridRaces::touch(Warp& warp, const Order& order, const std::uint64_t* address, Mask lanes,
                      unsigned bytes, Touched how, const Manner& manner) {
  if (sets_.is_full()) collect_garbage();
  const unsigned unit_warp = warp.unit_warp();
  AccessStamp stamp{.unit = order.unit,
                    .clock = how == Touched::AsyncBegin ? kNoClock : order.now(unit_warp),
                    .op = warp.current,
                    .warp = unit_warp,
                    .stride = stride_of(address, lanes),
                    .manner = manner,
                    .reads = is_read(how) || how == Touched::Atomic,
                    .writes = !is_read(how)};
  stamp.manner.is_volatile = false;
  Step step{
      .warp = warp, .order = order, .bytes = bytes, .how = how, .stamp = sets_.number_of(stamp)};
  if (bytes % 4 == 0 && address[first_lane(lanes)] % 4 == 0) {
    touch_words(step, address, lanes);
    return;
  }
  for_each_lane(lanes, [&](unsigned l) {
    step.lane = l;
    step.address = address[l];
    const std::uint64_t end = address[l] + bytes;
    for (std::uint64_t at = address[l]; at < end;) {
      step.word = at / 4;
      const std::uint64_t stop = std::min(end, step.word * 4 + 4);
      touch_parts(step, cell_of(step.word), static_cast<unsigned>(at % 4),
                  static_cast<unsigned>((stop - 1) % 4));
      at = stop;
    }
  });
}

// Whole words. Most of them are like the one before.
void GridRaces::touch_words(Step& step, const std::uint64_t* address, Mask lanes) {
  const std::uint32_t stride = sets_.stamp(step.stamp).stride;
  Memory memory;
  for_each_lane(lanes, [&](unsigned l) {
    step.lane = l;
    step.address = address[l];
    const std::uint64_t first = address[l] / 4;
    for (std::uint64_t word = first; word < first + step.bytes / 4; ++word) {
      WordAccesses& cell = cell_of(word);
      const Mask turned = std::rotr(lane_bit(l), turn_of(word, stride));
      if (turned == memory.turned && cell == memory.before) {
        cell = memory.after;
        continue;
      }
      step.word = word;
      is_special_ = cell.latest.stamp == kSplit;
      const WordAccesses before = cell;
      touch_parts(step, cell, 0, 3);
      memory = {before, cell, is_special_ ? 0 : turned};
    }
  });
}

void GridRaces::touch_parts(const Step& step, WordAccesses& cell, unsigned first, unsigned last) {
  const bool is_whole = first == 0 && last == 3;
  if (is_whole && cell.latest.stamp != kSplit) {
    touch_cell(step, cell);
    return;
  }
  std::array<WordAccesses, 4>& parts = parts_[step.word];
  if (cell.latest.stamp != kSplit) {
    parts.fill(cell);
    cell.latest.stamp = kSplit;
  }
  for (unsigned b = first; b <= last; ++b) touch_cell(step, parts[b]);
}

void GridRaces::touch_cell(const Step& step, WordAccesses& cell) {
  AccessEntry& latest = cell.latest;
  const int turn = turn_of(step.word, sets_.stamp(step.stamp).stride);
  const AccessEntry mine{step.stamp, std::rotr(lane_bit(step.lane), turn)};
  if (latest.stamp == 0) {
    latest = mine;
    return;
  }
  if (latest.stamp == step.stamp) {
    if ((latest.turned & mine.turned) != 0) return;
    if (step.order.has_lone(step.warp.unit_warp())) check(step, cell);
    latest.turned |= mine.turned;
    return;
  }
  if (step.how != Touched::AsyncWrite) check(step, cell);
  if (step.how == Touched::ReadNc) check_written(step, cell);
  const AccessStamp& now = sets_.stamp(step.stamp);
  if (now.writes && !now.manner.is_strong) {
    cell = {.latest = mine};  // what is not ordered before it has been reported
    return;
  }
  const AccessStamp& old = sets_.stamp(latest.stamp);
  const bool is_same_warp = old.unit == now.unit && old.warp == now.warp && old.clock == now.clock;
  if (is_same_warp && old.stride != now.stride) is_special_ = true;
  const bool is_same_thread =
      is_same_warp && sets_.lanes_of(latest, step.word) == lane_bit(step.lane);
  if (is_same_thread && (old.writes || !now.writes) &&
      is_as_strict(old.manner, {}, now.manner, {})) {
    return;
  }
  const bool drops_latest = replaces(step, latest);
  std::uint32_t rest = prune(step, cell.rest);
  if (!drops_latest) rest = sets_.number_of(rest, latest);
  cell.latest = mine;
  cell.rest = rest;
}

// Drops accesses of the same unit that the new one replaces, as far as they are the latest ones.
std::uint32_t GridRaces::prune(const Step& step, std::uint32_t rest) {
  kept_.clear();
  std::uint32_t at = rest;
  bool drops = false;
  for (unsigned i = 0; at != 0 && i < kMaxPruned; ++i, at = sets_.set(at).rest) {
    const AccessEntry& entry = sets_.set(at).entry;
    if (sets_.stamp(entry).unit != step.order.unit) break;
    if (replaces(step, entry)) {
      drops = true;
    } else {
      kept_.push_back(entry);
    }
  }
  if (!drops) return rest;
  for (std::size_t i = kept_.size(); i-- > 0;) at = sets_.number_of(at, kept_[i]);
  return at;
}

// Whether a later access that races with the entry would race with this one.
bool GridRaces::replaces(const Step& step, const AccessEntry& entry) const {
  const AccessStamp& now = sets_.stamp(step.stamp);
  const AccessStamp& old = sets_.stamp(entry);
  if (old.writes && !now.writes) return false;
  Home was{.unit = old.unit};
  if (old.unit == now.unit) was = step.order.home_of(old.warp);
  if (!is_as_strict(now.manner, step.order.home_of(now.warp), old.manner, was)) return false;
  return unordered(step, entry) == 0;
}

Mask GridRaces::unordered(const Step& step, const AccessEntry& entry) const {
  const AccessStamp& now = sets_.stamp(step.stamp);
  const AccessStamp& old = sets_.stamp(entry);
  const Mask lanes = sets_.lanes_of(entry, step.word);
  if (old.unit != now.unit) {
    return step.order.unordered_from(now.warp, step.lane, old.unit, old.warp, lanes, old.clock,
                                     is_special_);
  }
  if (step.order.knows(now.warp, old.warp, old.clock)) return 0;
  const bool is_alike =
      step.order.lanes_know_alike(now.warp) && (now.warp != old.warp || now.stride == old.stride);
  if (!is_alike) is_special_ = true;
  Mask bad = 0;
  for_each_lane(lanes, [&](unsigned l) {
    if (!step.order.ordered(now.warp, step.lane, old.warp, l, old.clock)) bad |= lane_bit(l);
  });
  return bad;
}

// --- races ---------------------------------------------------------------------------------------

// A weak access does not race with strong writes whose value its own thread has seen there by a
// strong access: to one location writes have one order, which a thread keeps to. So the last of
// several blocks may reset the counter that told it so.
void GridRaces::check_weak(const Step& step, const WordAccesses& cell) const {
  const AccessStamp& now = sets_.stamp(step.stamp);
  bool has_seen = false;
  is_special_ = true;
  sets_.for_each(cell, [&](const AccessEntry& entry) {
    const AccessStamp& old = sets_.stamp(entry);
    if (has_seen && old.manner.is_strong && old.writes) return true;
    has_seen =
        has_seen || (old.manner.is_strong && old.reads && old.unit == now.unit &&
                     old.warp == now.warp && has_lane(sets_.lanes_of(entry, step.word), step.lane));
    check_entry(step, entry);
    return true;
  });
}

void GridRaces::check(const Step& step, const WordAccesses& cell) const {
  const AccessStamp& now = sets_.stamp(step.stamp);
  const bool has_strong =
      sets_.stamp(cell.latest.stamp).manner.is_strong || sets_.set(cell.rest).is_strong;
  if (has_strong && !now.manner.is_strong) {
    check_weak(step, cell);
    return;
  }
  check_entry(step, cell.latest);
  if (cell.rest == 0) return;
  const auto walk = [&](std::uint32_t AccessSet::*link) {
    for (std::uint32_t at = sets_.set(cell.rest).*link; at != 0;
         at = sets_.set(sets_.set(at).rest).*link)
      check_entry(step, sets_.set(at).entry);
  };
  const AccessSet& all = sets_.set(cell.rest);
  const bool is_usual = now.manner.is_strong && now.manner.scope == Scope::Gpu &&
                        (!all.is_strong || all.bytes == now.manner.bytes);
  if (is_usual) {  // strong accesses of the usual manner do not race with it
    walk(&AccessSet::weak);
    walk(&AccessSet::narrow);
  } else if (!now.writes) {
    walk(&AccessSet::write);
  } else {
    for (std::uint32_t at = cell.rest; at != 0; at = sets_.set(at).rest)
      check_entry(step, sets_.set(at).entry);
  }
}

void GridRaces::check_entry(const Step& step, const AccessEntry& entry) const {
  const AccessStamp& now = sets_.stamp(step.stamp);
  const AccessStamp& old = sets_.stamp(entry);
  if (old.unit == now.unit || (!old.writes && !now.writes)) return;
  const Agreement why = agreement(now.manner, old.manner, Scope::Gpu);
  if (why == Agreement::Agree) return;
  const Mask lanes = unordered(step, entry);
  if (lanes != 0) report(step, entry, lanes, why);
}

// The non-coherent cache need not see what the kernel writes, ordered or not.
void GridRaces::check_written(const Step& step, const WordAccesses& cell) const {
  sets_.for_each(cell, [&](const AccessEntry& entry) {
    const AccessStamp& old = sets_.stamp(entry);
    if (!old.writes) return true;
    is_special_ = true;
    report_stale(
        step.warp, step.lane, step.address, step.bytes,
        step.warp.unit->party(old.op, old.unit, old.warp, sets_.lanes_of(entry, step.word)));
    return false;
  });
}

void GridRaces::report(const Step& step, const AccessEntry& entry, Mask lanes,
                       Agreement why) const {
  is_special_ = true;
  const AccessStamp& old = sets_.stamp(entry);
  Unit& unit = *step.warp.unit;
  if (!step.warp.is_new(Check::Race, old.op)) return;
  step.warp.report_at(
      Check::Race, lane_bit(step.lane), step.address,
      fmt::format("{} {} that another block has {}, with nothing to order the two{}",
                  verb_of(step.how), place_text(unit, step.address, step.bytes),
                  old.writes ? "written" : "read",
                  why_not_strong(why, sets_.stamp(step.stamp).manner, old.manner)),
      unit.party(old.op, old.unit, old.warp, lanes));
}

}  // namespace ww::sim
