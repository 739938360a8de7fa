// SPDX-License-Identifier: Apache-2.0
// Which threads of a unit hold the elements of a tile, or reach for them in memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ir/function.h"

namespace ww::lower {

/// The first and the last thread of the unit that have to do with an element; -1: none has.
struct ThreadRange {
  std::int64_t first = -1, last = -1;

  void add(std::int64_t thread) {
    first = first < 0 ? thread : std::min(first, thread);
    last = std::max(last, thread);
  }
  void add(const ThreadRange& other) {
    if (other.first < 0) return;
    add(other.first);
    add(other.last);
  }
  /// The smallest unit that has all of them.
  [[nodiscard]] ir::Unit unit() const {
    return first == last               ? ir::Unit::Thread
           : first / 32 == last / 32   ? ir::Unit::Warp
           : first / 128 == last / 128 ? ir::Unit::Warpgroup
                                       : ir::Unit::Cta;
  }
};

/// By element of a tile; empty: not known.
using Reach = std::vector<ThreadRange>;

}  // namespace ww::lower
