// SPDX-License-Identifier: Apache-2.0
// A copy between registers of different threads, cut into *items*: elements, or the
// widest pieces of at most 32 bits that stay together. Two float16 that are side by side in both layouts are one item of 32
// bits; where their ways part, each is an item of 16.
#pragma once

#include <cstdint>
#include <vector>

#include "lower/as_index.h"
#include "lower/copy/problem.h"

namespace ww::lower {

inline constexpr std::int64_t kLanesPerWarp = 32;
inline constexpr std::int32_t kNoItem = -1;  // as in RegisterMap

/// The items of one side: what thread u has at the `k`-th place; places are counted in items.
using ItemTable = RegisterMap;

struct CopyItems {
  int bits = 32;                 // of an item
  std::int64_t per_word = 1;     // items that are moved as one register: 32 bits, or a single item
  ItemTable dst = {}, src = {};  // every holder of an item, on both sides
};

/// Of a copy with registers on both sides; declines elements of less than a byte that part.
Match<CopyItems> copy_items(const Call& call, const CopyProblem& problem);

}  // namespace ww::lower
