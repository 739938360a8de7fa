// SPDX-License-Identifier: Apache-2.0
// Grouping: refining the shard so that its iters fall into one run per dimension of a shape. After
// it, dimension d of the shape owns the iters [seps[d], seps[d+1]).
#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "layout/layout.h"

namespace ww::layout {

using Seps = SmallVec<std::int32_t, 8>;

struct Grouped {
  Layout layout;
  Seps seps;  // rank + 1 entries, from 0 to the number of shard iters

  /// The iters of dimension d.
  [[nodiscard]] std::span<const Iter> dim(std::size_t d) const;
};

/// Splits iters at the shape's boundaries. Tries the iters as written first, then the canonical
/// ones, and that is complete: it fails only if the layout is not a sum of per-dimension functions
/// over this shape. Places, replica, offset and swizzle are unchanged. The first extent may be `?`
/// where the layout's is.
Result<Grouped> group(const Layout& layout, std::span<const std::int64_t> shape);

struct GroupedMany {
  Layout layout;
  std::vector<Seps> seps;  // one list per shape
};

/// The coarsest refinement that all shapes group at once. Unit extents in shapes become unit iters.
/// Fails when two shapes' boundaries do not divide one another.
Result<GroupedMany> group_many(const Layout& layout, std::span<const Shape> shapes);

}  // namespace ww::layout
