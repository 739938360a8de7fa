// SPDX-License-Identifier: Apache-2.0
// Tiling: repeating an inner layout over an outer grid, and recognising it.
//
// With x_d = o_d · inner_shape_d + i_d and f(a) = the inner layout's span on axis a (1 if its shard
// does not use a; where places are negative, the distance from the lowest to the highest, plus one,
// so that tiles never overlap), the tiled layout T places
//
//     T(x)[a] = f(a) · D_outer(o)[a] + O_outer[a] + R_outer[a] + L_inner(i)[a].
//
// The outer's offset and replica are places as they stand, not multiples of a tile; `scale_places`
// takes them as multiples of f, too. "Sharding" is tiling with an outer on thread axes.
#pragma once

#include <span>

#include "base/result.h"
#include "layout/layout.h"
#include "layout/threads.h"

namespace ww::layout {

struct TileOptions {
  bool scale_places = false;  // multiply the outer's offset and replica by f as well
};

/// Tiles `inner` (over inner_shape) by `outer` (over outer_shape, same rank). Canonical result. The
/// inner may be swizzled, the outer not.
Result<Layout> tile(const Layout& inner, std::span<const std::int64_t> inner_shape,
                    const Layout& outer, std::span<const std::int64_t> outer_shape,
                    TileOptions options = {});

/// Tiles by a row-major outer so that `from` becomes `to`; each entry of `to` must be a multiple.
Result<Layout> tile_to(const Layout& inner, std::span<const std::int64_t> to,
                       std::span<const std::int64_t> from);

/// The outer for which tile(inner, outer) has the places of `tiled`, or why there is none. Verified
/// before it is returned. With Machine::Cuda thread axes of `tiled` are split to meet those of
/// `inner`.
Result<Layout> outer_of_tile(const Layout& tiled, std::span<const std::int64_t> tiled_shape,
                             const Layout& inner, std::span<const std::int64_t> inner_shape,
                             Machine machine = Machine::None);

/// The inner for which tile(inner, outer) has the places of `tiled`, or why there is none.
/// Verified.
Result<Layout> inner_of_tile(const Layout& tiled, std::span<const std::int64_t> tiled_shape,
                             const Layout& outer, std::span<const std::int64_t> outer_shape,
                             Machine machine = Machine::None);

}  // namespace ww::layout
