// SPDX-License-Identifier: Apache-2.0
#include "sim/checks/race_cell.h"

namespace ww::sim {
namespace {

// A read where the cell's own place is another warp's.
void note_in_list(CellUses& uses, RaceCell& cell, const Accessor& by, Mask lanes,
                  std::uint32_t op) {
  CellReader* place = nullptr;
  bool has_earlier = false;
  for (std::uint32_t i = cell.more; i != 0; i = uses.readers[i].next) {
    CellReader& reader = uses.readers[i];
    if (reader.warp != by.warp) continue;
    if (reader.clock == by.clock) {
      place = &reader;
      if (!reader.has_earlier) break;
      continue;
    }
    reader.lanes &= ~lanes;
    if (by.order->lanes_know(by.warp, reader.clock)) reader.lanes = 0;
    has_earlier = has_earlier || reader.lanes != 0;
    if (reader.lanes == 0 && place == nullptr) place = &reader;
  }
  if (place == nullptr) {
    uses.readers.add(cell.more, {.clock = by.clock,
                                 .op = op,
                                 .lanes = lanes,
                                 .warp = static_cast<std::uint16_t>(by.warp),
                                 .has_earlier = has_earlier});
    return;
  }
  place->lanes |= lanes;
  place->clock = by.clock;
  place->op = op;
  place->has_earlier = has_earlier;
}

}  // namespace

// A read replaces earlier ones of its own lanes, and those of others that its lanes know of: who is
// ordered behind it is ordered behind them.
void note_further_read(CellUses& uses, RaceCell& cell, const Accessor& by, Mask lanes,
                       std::uint32_t op) {
  const bool is_mine = cell.read_lanes == 0 || cell.read_warp == by.warp;
  const bool is_now = is_mine && cell.read_clock == by.clock;
  if (!is_mine && !by.order->knows(by.warp, cell.read_warp, cell.read_clock)) {
    note_in_list(uses, cell, by, lanes, op);
    return;
  }
  const Mask earlier = is_mine && !is_now ? cell.read_lanes & ~lanes : 0;
  const std::uint32_t before = cell.read_clock, op_before = cell.read_op;
  CellReader* spare = nullptr;
  cell.has_earlier = is_mine && cell.has_earlier;
  for (std::uint32_t i = cell.has_earlier ? cell.more : 0; i != 0; i = uses.readers[i].next) {
    CellReader& reader = uses.readers[i];
    if (reader.warp != by.warp) continue;
    reader.lanes &= ~(lanes | earlier);
    if (reader.lanes == 0) spare = &reader;
  }
  cell.read_lanes = (is_now ? cell.read_lanes : 0) | lanes;
  cell.read_clock = by.clock;
  cell.read_op = op;
  cell.read_warp = static_cast<std::uint16_t>(by.warp);
  if (earlier == 0 || by.order->lanes_know(by.warp, before)) return;
  cell.has_earlier = true;
  if (spare != nullptr) {
    spare->clock = before;
    spare->op = op_before;
    spare->lanes = earlier;
  } else {
    uses.readers.add(cell.more,
                     {.clock = before, .op = op_before, .lanes = earlier, .warp = cell.read_warp});
  }
}

void note_write(CellUses& uses, RaceCell& cell, const Accessor& by, unsigned lane,
                std::uint32_t op) {
  cell.writer = by.warp * kLanes + lane + 1;
  cell.write_clock = by.clock;
  cell.write_op = op;
  uses.readers.drop(cell.more);
  uses.strong.drop(cell.strong);
  cell.read_lanes = 0;
}

// Strong accesses are kept one for each warp and kind: the latest, and those of lanes that the
// latest ones know nothing of.
void note_strong(CellUses& uses, RaceCell& cell, const Accessor& by, unsigned lane,
                 std::uint32_t op, Touched how, const Manner& manner) {
  const bool writes = !is_read(how);
  const bool reads = !writes || how == Touched::Atomic;
  StrongUse* latest = nullptr;
  for (std::uint32_t i = cell.strong; i != 0; i = uses.strong[i].next) {
    StrongUse& use = uses.strong[i];
    if (use.warp != by.warp || use.writes != writes || use.reads != reads ||
        !(use.manner == manner)) {
      continue;
    }
    if (use.clock != by.clock) {
      use.lanes &= ~lane_bit(lane);
      if (use.lanes != 0 && !by.order->lanes_know(by.warp, use.clock)) continue;
      use.lanes = 0;
    }
    if (latest == nullptr || use.clock == by.clock) latest = &use;
  }
  if (latest == nullptr) {
    uses.strong.add(cell.strong, {.warp = static_cast<std::uint16_t>(by.warp),
                                  .reads = reads,
                                  .writes = writes,
                                  .manner = manner});
    latest = &uses.strong[cell.strong];
  }
  latest->lanes |= lane_bit(lane);
  latest->clock = by.clock;
  latest->op = op;
  latest->number = ++uses.strong_number;
}

RaceCell copy_of(CellUses& uses, const RaceCell& cell) {
  RaceCell copy = cell;
  copy.more = uses.readers.copy(cell.more);
  copy.strong = uses.strong.copy(cell.strong);
  return copy;
}

}  // namespace ww::sim
