// SPDX-License-Identifier: Apache-2.0
// Other views of the same tile: dimensions permuted, threads dropped, elements packed, broadcast.
#pragma once

#include <span>

#include "base/result.h"
#include "layout/layout.h"

namespace ww::layout {

/// Shard iters in the order p[0], p[1], …; p must be a permutation of all iters.
Result<Layout> permute_iters(const Layout& layout, std::span<const std::int64_t> p);
/// Dimensions of `shape` in the order p[0], p[1], …: the layout of the transposed tile.
Result<Layout> permute_dims(const Layout& layout, std::span<const std::int64_t> shape,
                            std::span<const std::int64_t> p);

/// What one thread sees: thread and device axes deleted from shard, replica and offset. Fails on an
/// axis of unknown kind.
Result<Layout> storage(const Layout& layout);

/// Each element becomes n smaller ones, consecutive on `axis`: L'(n·x + k)[axis] = n·L(x)[axis] +
/// k. Shard, replica and offset on that axis scale; other axes do not. A swizzle needs n a power of
/// two.
Result<Layout> unpack(const Layout& layout, std::int64_t n, Axis axis = {});
/// The inverse: n consecutive elements become one. Fails unless they are consecutive and aligned.
Result<Layout> pack(const Layout& layout, std::int64_t n, Axis axis = {});

/// Inserts a digit of extent n that does not move the element, before iter `position`; negative
/// positions count from the end, -1 appends.
Result<Layout> broadcast(const Layout& layout, std::int64_t n, std::int64_t position = -1,
                         Axis axis = {});

}  // namespace ww::layout
