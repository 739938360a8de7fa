// SPDX-License-Identifier: Apache-2.0
// Shapes of regions: their elements, and how one shape is stretched or folded onto another.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "layout/layout.h"

namespace ww::eval {

/// Row-major numbers, in the whole shape, of the elements of a region, in the region's row-major
/// order.
std::vector<std::int64_t> flat_indices(std::span<const std::int64_t> shape,
                                       std::span<const std::int64_t> mins,
                                       std::span<const std::int64_t> extents, std::size_t count);

/// Which of those elements are outside the whole shape.
std::vector<bool> outside_of(std::span<const std::int64_t> shape,
                             std::span<const std::int64_t> mins,
                             std::span<const std::int64_t> extents, std::size_t count);

/// The extents other than 1.
layout::Shape squeezed(std::span<const std::int64_t> extents);

/// For each element of `like` the element of `from` that stands for it: the same one where the
/// shapes agree without their unit extents, otherwise aligned at the last dimension, unit extents
/// stretched. Nothing when the shapes do not go together.
std::optional<std::vector<std::size_t>> broadcast_map(std::span<const std::int64_t> like,
                                                      std::span<const std::int64_t> from);

/// For each element of a shape the number of the element that it is folded into when `axes` vanish
/// (negative ones count from the end). Nothing when an axis does not exist.
struct Folding {
  std::vector<std::size_t> into;
  std::size_t count = 1;
};
std::optional<Folding> folding(std::span<const std::int64_t> extents,
                               std::span<const std::int64_t> axes);

}  // namespace ww::eval
