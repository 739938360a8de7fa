// SPDX-License-Identifier: Apache-2.0
// Applying a layout: from a logical element to its places.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/result.h"
#include "layout/layout.h"

namespace ww::layout {

/// A value on an axis.
struct AxisValue {
  Axis axis;
  std::int64_t value = 0;
  friend bool operator==(const AxisValue&, const AxisValue&) = default;
};

/// A place: a value per axis of the layout, sorted by axis name (same order as TileLayout::axes()).
using Place = SmallVec<AxisValue, 4>;

/// Row-major flat index of `coordinate` in `shape`. Refuses a wrong rank or a coordinate out of
/// range; a `?` first extent is unbounded.
Result<std::int64_t> flatten(std::span<const std::int64_t> coordinate,
                             std::span<const std::int64_t> shape);
/// The coordinate of a flat index. `flat` must be in range.
Shape unflatten(std::int64_t flat, std::span<const std::int64_t> shape);

/// Digits of a flat index over the shard iters, outermost first. The outermost digit is not
/// reduced, so an index past the end continues along the first iter.
Shape split_digits(const TileLayout& layout, std::int64_t flat);

/// The place of element `flat` at replica 0. Refuses a negative index, a symbolic offset.
Result<Place> apply(const Layout& layout, std::int64_t flat);
/// The same by coordinate in a shape the layout admits.
Result<Place> apply(const Layout& layout, std::span<const std::int64_t> coordinate,
                    std::span<const std::int64_t> shape);
/// The same from one digit per shard iter.
Result<Place> apply_digits(const Layout& layout, std::span<const std::int64_t> digits);

/// All places of an element: replicas enumerated, coinciding places once, sorted.
Result<std::vector<Place>> apply_all(const Layout& layout, std::int64_t flat);

/// A symbolic place: an expression per axis. For a swizzled layout the value on `m` is the address
/// *before* the swizzle (see layout/swizzle.h for the swizzled address as an expression).
struct SymbolicPlace {
  std::vector<std::pair<Axis, Expr>> values;  // sorted by axis name
  [[nodiscard]] Expr on(Axis axis) const;
};

/// Applies to a symbolic coordinate in an admitted shape (`?` allowed for the first extent). Each
/// coordinate must provably lie in its extent; each digit must be affine (layout/expr.h).
Result<SymbolicPlace> apply_symbolic(const Layout& layout, std::span<const Expr> coordinate,
                                     std::span<const std::int64_t> shape);

/// Digits of a coordinate over the iters of `group(layout, shape)`, one list for all dimensions.
Result<Shape> digits_in_shape(const Layout& layout, std::span<const std::int64_t> coordinate,
                              std::span<const std::int64_t> shape);

/// Fails unless `shape` has as many elements as the layout.
Result<void> require_admitted(const TileLayout& layout, std::span<const std::int64_t> shape);

}  // namespace ww::layout
