// SPDX-License-Identifier: Apache-2.0
// From a table of places back to a tile layout. If any tile layout has exactly these places, `fit`
// finds it: peel the longest run from the innermost end that is linear in every block, then look at
// the table thinned by that run, and so on. The result is canonical, and unique.
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"
#include "layout/image.h"
#include "layout/layout.h"

namespace ww::layout {

/// One column per axis, all of the same length n ≥ 1; entry x is the value of element x.
struct Column {
  Axis axis;
  std::span<const std::int64_t> values;
};

/// The shard and offset with these values, or NotATile naming the first element that breaks the
/// run.
Result<TileLayout> fit(std::span<const Column> columns);

/// The layout with these places, replicas included: every element must have the same set of
/// displacements from its smallest place. Adds `fit` for the shard and a sum of runs for the
/// replica.
Result<TileLayout> fit_image(const Image& image);

}  // namespace ww::layout
