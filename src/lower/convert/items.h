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
inline constexpr std::int32_t kNoItem = -1;

/// The items of one side: what thread u has at the `k`-th place, or kNoItem.
struct ItemTable {
  std::int64_t first = 0;  // place of k = 0 in the storage, in items
  std::int64_t count = 0;
  std::int64_t threads = 1;
  std::vector<std::int32_t> cells = {};  // by k·threads + u

  [[nodiscard]] std::int32_t at(std::int64_t k, std::int64_t u) const {
    return cells[as_index(k * threads + u)];
  }
};

struct CopyItems {
  int bits = 32;                 // of an item
  std::int64_t per_word = 1;     // items that are moved as one register: 32 bits, or a single item
  ItemTable dst = {}, src = {};  // every holder of an item, on both sides
};

/// Of a copy with registers on both sides; declines elements of less than a byte that part.
Match<CopyItems> copy_items(const Call& call, const CopyProblem& problem);

}  // namespace ww::lower
