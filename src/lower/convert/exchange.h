// SPDX-License-Identifier: Apache-2.0
// How the lanes of a warp exchange registers by few shuffles, for layouts that are linear over the
// bits of lanes and registers.
//
// A shuffle gives each lane one register of another lane, the same one of all that ask there. So
//
//     1. each lane puts its registers into an order that depends on the lane (conditional swaps),
//     2. in every round it gives one of them, and gets one from lane T(l) ^ c of the round,
//     3. and puts what it got into order.
//
// Item r of the destination in lane l comes from item r' in lane l', where (r', l') = M(r, l) ^ m.
// Round i is to fill item i ^ D(l). Then lane l asks lane T(l) ^ …, T(l) = M's lane for (D(l), l),
// and D is chosen such that lanes that ask the same lane want the same item of it; where T is the
// identity, rounds without a lane to ask are mere moves. For a transposition of a bit of the lane
// with one of the register, half of them are. Items of less than 32 bits whose lanes agree share a
// round.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lower/convert/items.h"

namespace ww::lower {

// --- bits ----------------------------------------------------------------------------------------

// Maps of whole numbers that are linear over their bits: the image of a ^ b is the image of a ^ that
// of b. Layouts of power-of-two tiles are such maps.

using BitVector = std::uint32_t;

/// By what each bit becomes.
struct BitMap {
  std::vector<BitVector> columns;

  [[nodiscard]] BitVector operator()(BitVector x) const;
  [[nodiscard]] bool is_identity() const;
};

// --- exchanges -----------------------------------------------------------------------------------

/// Item k becomes item k ^ by in lanes that have an odd number of the bits of `lanes`.
struct LaneSwap {
  BitVector lanes = 0, by = 0;
};

/// What is given and got as one register. By position in it: an item of the source after the swaps
/// before, and of the destination before the swaps behind.
struct ExchangeRound {
  std::vector<std::int64_t> given, got;
  BitVector asked = 0;  // added to T(l)
};

/// Registers that are exchanged among themselves. Items are counted in the order of `dst` and `src`,
/// which are the first items of words in the tables.
struct WordExchange {
  std::vector<std::int64_t> dst, src;
  std::vector<bool> used;  // threads of the unit that get something
  std::vector<LaneSwap> before, behind;
  BitMap asks;  // T
  std::vector<ExchangeRound> rounds;

  /// Is nothing asked of another lane in this round?
  [[nodiscard]] bool is_own(const ExchangeRound& round) const {
    return asks.is_identity() && round.asked == 0;
  }
};

/// All of them; declines what crosses warps, and what is not linear.
Match<std::vector<WordExchange>> find_exchanges(const Call& call, const CopyItems& items);

}  // namespace ww::lower
