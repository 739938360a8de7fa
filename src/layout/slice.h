// SPDX-License-Identifier: Apache-2.0
// Slicing: the layout of a rectangular region. For y in the region's extents,
// slice(L, S, region)(y) = L(y + begin), thread axes, replicas and swizzle included.
#pragma once

#include <span>

#include "base/result.h"
#include "layout/layout.h"
#include "layout/threads.h"

namespace ww::layout {

/// One dimension of a region: `extent` elements from `begin`, which may be symbolic. kUnknownExtent
/// from 0 keeps the whole of a first dimension that is itself unknown.
struct Slice1 {
  Expr begin;
  std::int64_t extent = 1;
};

/// The layout of the region. Tried in turn: iter by iter, each dimension enumerated alone, the
/// region enumerated as a whole; with Machine::Cuda each of these again on fused thread axes. A
/// refusal of a constant slice therefore means that no tile layout (with this swizzle) expresses
/// the region. A symbolic begin must provably stay inside the shape and carry between no digits,
/// else Unprovable.
Result<Layout> slice(const Layout& layout, std::span<const std::int64_t> shape,
                     std::span<const Slice1> region, Machine machine = Machine::None);

}  // namespace ww::layout
