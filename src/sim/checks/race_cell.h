// SPDX-License-Identifier: Apache-2.0
// The recorded accesses of one unit to a word, or to a byte: the last weak write, and the weak
// reads and the strong accesses since then.
#pragma once

#include <cstdint>

#include "sim/checks/list_pool.h"
#include "sim/lanes.h"
#include "sim/order/manner.h"
#include "sim/order/order.h"

namespace ww::sim {

/// The first reading warp has its place here, further ones make a list.
struct RaceCell {
  std::uint32_t epoch = 0;   // older than the order's: nothing of it counts any more
  std::uint32_t writer = 0;  // thread of the unit plus one; 0: none
  std::uint32_t write_clock = 0, write_op = 0;
  std::uint32_t read_op = 0, read_clock = 0;
  Mask read_lanes = 0;
  std::uint32_t more = 0;    // of CellUses::readers
  std::uint32_t strong = 0;  // of CellUses::strong
  std::uint16_t read_warp = 0;
  bool is_split = false;     // each byte has its own cell
  bool has_earlier = false;  // in the list are reads of lanes of `read_warp`, too
};

/// Weak reads of a warp.
struct CellReader {
  std::uint32_t next = 0;
  std::uint32_t clock = 0, op = 0;
  Mask lanes = 0;  // 0: none, any more
  std::uint16_t warp = 0;
  bool has_earlier = false;  // in the list are earlier reads of lanes of the warp, too
};

/// A strong access.
struct StrongUse {
  std::uint32_t next = 0;
  std::uint32_t clock = 0, op = 0;
  Mask lanes = 0;
  std::uint32_t number = 0;  // in the order of their happening
  std::uint16_t warp = 0;
  bool reads = false, writes = false;
  Manner manner{};
};

/// The warp that makes accesses now, and its clock.
struct Accessor {
  const Order* order = nullptr;
  unsigned warp = 0;  // of the unit
  std::uint32_t clock = 0;
};

/// The lists of all cells.
struct CellUses {
  ListPool<CellReader> readers;
  ListPool<StrongUse> strong;
  std::uint32_t strong_number = 0;  // of the latest
};

/// Weak reads of lanes where the cell has others.
void note_further_read(CellUses& uses, RaceCell& cell, const Accessor& by, Mask lanes,
                       std::uint32_t op);
/// Weak reads of lanes. Most are the first ones, or go with those before.
inline void note_read(CellUses& uses, RaceCell& cell, const Accessor& by, Mask lanes,
                      std::uint32_t op) {
  const bool is_same =
      cell.read_lanes == 0 || (cell.read_warp == by.warp && cell.read_clock == by.clock);
  if (!is_same || cell.has_earlier) {
    note_further_read(uses, cell, by, lanes, op);
    return;
  }
  cell.read_op = op;
  cell.read_lanes |= lanes;
  cell.read_clock = by.clock;
  cell.read_warp = static_cast<std::uint16_t>(by.warp);
}
/// A weak write of a lane, after which earlier accesses do not matter.
void note_write(CellUses& uses, RaceCell& cell, const Accessor& by, unsigned lane,
                std::uint32_t op);
void note_strong(CellUses& uses, RaceCell& cell, const Accessor& by, unsigned lane,
                 std::uint32_t op, Touched how, const Manner& manner);
/// The same with its own lists.
RaceCell copy_of(CellUses& uses, const RaceCell& cell);

}  // namespace ww::sim
