// SPDX-License-Identifier: Apache-2.0
// Races of one unit: what an access finds at a cell, and what findings say of it.
#include <fmt/format.h>

#include <algorithm>

#include "sim/checks/race.h"
#include "sim/memory/tensor_memory.h"
#include "sim/order/async_fences.h"
#include "sim/run/unit.h"

namespace ww::sim {

// In tensor memory fences order what barriers without release and acquire would not; and a warp
// works there as one.
bool RaceTracker::is_ordered(const Step& step, unsigned other, unsigned other_lane,
                             std::uint32_t clock) const {
  if (order_.ordered(current_warp_, step.lane, other, other_lane, clock)) return true;
  return step.address >= kTensorWindow && step.address < kGlobalStart &&
         (other == current_warp_ || fenced_in_tensor(order_, current_warp_, other, clock));
}

Mask RaceTracker::unordered(const Step& step, unsigned other, Mask lanes,
                            std::uint32_t clock) const {
  Mask bad = 0;
  for_each_lane(lanes, [&](unsigned l) {
    if (!is_ordered(step, other, l, clock)) bad |= lane_bit(l);
  });
  return bad;
}

void RaceTracker::check_writer(const Step& step, const WordState& cell) {
  const unsigned other = (cell.writer - 1) / kLanes;
  const unsigned lane = (cell.writer - 1) % kLanes;
  // Lanes that write one place in one instruction: one of them wins, as the program may want.
  const bool together = other == current_warp_ && cell.write_op == step.warp.this_op() &&
                        cell.write_clock == order_.now(current_warp_);
  if (together || is_ordered(step, other, lane, cell.write_clock)) return;
  report(step, "written", cell.write_op, other, lane_bit(lane));
}

void RaceTracker::check_readers(const Step& step, const WordState& cell) {
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
std::uint32_t RaceTracker::seen_by(const Step& step, const WordState& cell) const {
  std::uint32_t seen = 0;
  for (std::uint32_t i = cell.strong; i != 0; i = strong_[i - 1].next) {
    const StrongUse& use = strong_[i - 1];
    if (use.reads && use.warp == current_warp_ && has_lane(use.lanes, step.lane))
      seen = std::max(seen, use.number);
  }
  return seen;
}

void RaceTracker::check_strong(const Step& step, const WordState& cell) {
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

void RaceTracker::report(const Step& step, const char* what, std::uint32_t other_op,
                         unsigned other_warp, Mask other_lanes, const std::string& why) const {
  Unit& unit = *step.warp.unit;
  if (!step.warp.is_new(Check::Race, other_op)) return;
  step.warp.report_at(
      Check::Race, lane_bit(step.lane), step.address,
      fmt::format("{} {} that another thread has {}, with nothing to order the two{}",
                  verb_of(step.how), place_text(step.address, step.bytes), what, why),
      unit.party(other_op, other_warp, other_lanes));
}

// --- texts --------------------------------------------------------------------------------------

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
  if (!warp.is_new(Check::Race, writer.op)) return;
  warp.report_at(Check::Race, lane_bit(lane), address,
                 fmt::format("reads {} with `.nc`, which need not see what the kernel writes, "
                             "whatever orders the two; `ld.global` does",
                             place_text(address, bytes)),
                 writer);
}

}  // namespace ww::sim
