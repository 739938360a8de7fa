// SPDX-License-Identifier: Apache-2.0
#include "sim/checks/race_checks.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/memory/tensor_memory.h"
#include "sim/order/async_fences.h"
#include "sim/run/unit.h"

namespace ww::sim {
namespace {

void report(const RaceStep& step, const char* what, std::uint32_t other_op, unsigned other_warp,
            Mask other_lanes, const std::string& why = {}) {
  if (!step.warp.is_new(Check::Race, other_op)) return;
  step.warp.report_at(
      Check::Race, lane_bit(step.lane), step.address,
      fmt::format("{} {} that another thread has {}, with nothing to order the two{}",
                  verb_of(step.how), place_text(*step.warp.unit, step.address, step.bytes), what,
                  why),
      step.warp.unit->party(other_op, other_warp, other_lanes));
}

// In tensor memory fences order what barriers without release and acquire would not; and a warp
// works there as one.
bool is_ordered(const RaceStep& step, unsigned other, unsigned other_lane, std::uint32_t clock) {
  if (step.by.order->ordered(step.by.warp, step.lane, other, other_lane, clock)) return true;
  return is_in_tensor(step.address) &&
         (other == step.by.warp || fenced_in_tensor(*step.by.order, step.by.warp, other, clock));
}

Mask unordered(const RaceStep& step, unsigned other, Mask lanes, std::uint32_t clock) {
  Mask bad = 0;
  for_each_lane(lanes, [&](unsigned l) {
    if (!is_ordered(step, other, l, clock)) bad |= lane_bit(l);
  });
  return bad;
}

void check_writer(const RaceStep& step, const RaceCell& cell) {
  const unsigned other = (cell.writer - 1) / kLanes;
  const unsigned lane = (cell.writer - 1) % kLanes;
  // Lanes that write one place in one instruction: one of them wins, as the program may want.
  const bool together = other == step.by.warp && cell.write_op == step.warp.current &&
                        cell.write_clock == step.by.clock;
  if (together || is_ordered(step, other, lane, cell.write_clock)) return;
  if (step.stored != nullptr && step.stored->are_there(*step.region, step.address, step.lane))
    return;
  report(step, "written", cell.write_op, other, lane_bit(lane));
}

void check_readers(const RaceStep& step, const CellUses& uses, const RaceCell& cell) {
  const auto check = [&](unsigned warp, Mask lanes, std::uint32_t clock, std::uint32_t op) {
    if (step.by.order->knows(step.by.warp, warp, clock)) return;
    if (warp == step.by.warp) {
      if (step.by.order->lanes_know(warp, clock)) return;
      // Lanes that read and write one place in one instruction (an atomic, an exchange) are fine.
      if (op == step.warp.current && clock == step.by.clock) return;
    }
    const Mask bad = unordered(step, warp, lanes, clock);
    if (bad != 0) report(step, "read", op, warp, bad);
  };
  check(cell.read_warp, cell.read_lanes, cell.read_clock, cell.read_op);
  for (std::uint32_t i = cell.more; i != 0; i = uses.readers[i].next) {
    const CellReader& reader = uses.readers[i];
    check(reader.warp, reader.lanes, reader.clock, reader.op);
  }
}

// Up to which strong access a thread has seen the others' writes: to one location these have one
// order, which the thread keeps to.
std::uint32_t seen_by(const RaceStep& step, const CellUses& uses, const RaceCell& cell) {
  std::uint32_t seen = 0;
  for (std::uint32_t i = cell.strong; i != 0; i = uses.strong[i].next) {
    const StrongUse& use = uses.strong[i];
    if (use.reads && use.warp == step.by.warp && has_lane(use.lanes, step.lane))
      seen = std::max(seen, use.number);
  }
  return seen;
}

// Volatile accesses do not race, and lanes may spin on what others of their warp write. But lanes
// that go together and take it that they do so in step have been wrong since lanes are scheduled
// one by one.
void check_step(const RaceStep& step, const StrongUse& use) {
  if (!step.manner.is_volatile || !use.manner.is_volatile || use.warp != step.by.warp ||
      step.address >= kLocalWindow) {
    return;
  }
  if (use.op == step.warp.current && use.clock == step.by.clock) return;
  const Mask bad =
      unordered(step, use.warp, use.lanes & step.warp.active & ~lane_bit(step.lane), use.clock);
  if (bad == 0) return;
  report(step, use.writes ? "written" : "read", use.op, use.warp, bad,
         "; both are volatile, but lanes of a warp need not run in step: `bar.warp.sync` orders "
         "them");
}

void check_strong(const RaceStep& step, const CellUses& uses, const RaceCell& cell) {
  const Home home = step.by.order->home_of(step.by.warp);
  const std::uint32_t seen = step.manner.is_strong ? 0 : seen_by(step, uses, cell);
  for (std::uint32_t i = cell.strong; i != 0; i = uses.strong[i].next) {
    const StrongUse& use = uses.strong[i];
    if (!use.writes && is_read(step.how)) continue;
    if (use.writes && use.number < seen) continue;
    const Agreement why =
        agreement(use.manner, step.manner, scope_of(home, step.by.order->home_of(use.warp)));
    if (why == Agreement::Agree) {
      check_step(step, use);
      continue;
    }
    if (step.by.order->knows(step.by.warp, use.warp, use.clock)) continue;
    const Mask bad = unordered(step, use.warp, use.lanes, use.clock);
    if (bad == 0) continue;
    report(step, use.writes ? "written" : "read", use.op, use.warp, bad,
           why_not_strong(why, step.manner, use.manner));
  }
}

}  // namespace

void check_races(const RaceStep& step, const CellUses& uses, const RaceCell& cell) {
  if (cell.writer != 0) check_writer(step, cell);
  if (cell.strong != 0) check_strong(step, uses, cell);
  if (cell.read_lanes != 0 && !is_read(step.how)) check_readers(step, uses, cell);
}

// --- texts --------------------------------------------------------------------------------------

std::string place_text(const Unit& unit, std::uint64_t address, unsigned bytes) {
  if (is_in_tensor(address)) return tensor_text(address);
  if (address < kLocalWindow)
    return fmt::format("{} bytes of shared memory at {}", bytes, shared_text(unit, address));
  return fmt::format("{} bytes of global memory at 0x{:x}", bytes, address);
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
                             place_text(*warp.unit, address, bytes)),
                 writer);
}

}  // namespace ww::sim
