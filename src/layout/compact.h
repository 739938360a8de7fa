// SPDX-License-Identifier: Apache-2.0
// Layouts put together from iters of which some may have one value only, as in tiles of one column.
#pragma once

#include <initializer_list>
#include <utility>

#include "layout/layout.h"

namespace ww::layout {

/// Without the iters that take one value only.
inline Result<Layout> compact(std::initializer_list<Iter> iters) {
  Iters shard;
  for (const Iter& each : iters)
    if (each.extent != 1) shard.push_back(each);
  return TileLayout::make(std::move(shard));
}

}  // namespace ww::layout
