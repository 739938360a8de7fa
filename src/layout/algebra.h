// SPDX-License-Identifier: Apache-2.0
// Layouts as functions: composition, inverse, complement, division.
//
// A layout whose places lie on one axis only is a function from numbers to numbers and can feed
// another layout. Everything here is exact: a structural rule answers where it applies, an
// enumeration with `fit` where it does not, and a refusal names the element or place that makes the
// answer impossible.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "layout/layout.h"

namespace ww::layout {

/// compose(a, b)(x) = a(b(x)). b must place on a single axis (any), within [0, a.size()). Replicas
/// of b become replicas of the result where a moves all of them alike, else NotATile. When a is
/// swizzled so is the result.
Result<Layout> compose(const Layout& a, const Layout& b);

/// The box of places an inverse is defined on: axis, first value, number of values.
struct BoxSide {
  Axis axis;
  std::int64_t first = 0;
  std::int64_t extent = 1;
};

struct Inverse {
  Layout map;  // over the box, row-major in the order of `box`; value on m: flat index
  std::vector<BoxSide> box;
};

/// From place to element: for the places of `layout` in row-major order over their box, the flat
/// index held there. The axis order is device axes, thread axes (widest unit first), unknown ones,
/// then memory axes in the order of the axis table; `order` overrides it and must name all axes.
/// Fails with NotInjective (two elements in one place) or NotOnto (a hole), or NotATile. Replicas
/// become digits of stride 0.
Result<Inverse> inverse(const Layout& layout, std::span<const Axis> order = {});

/// A layout over what `layout` leaves free in the box given by `extents` (pairs axis, extent;
/// places from 0): for C = complement(L), the places of L plus those of C are the box, each once.
/// Innermost gaps last. Fails when strides do not nest or the box does not fit.
Result<Layout> complement(const Layout& layout, std::span<const BoxSide> extents);

/// X with compose(X, divisor) = layout: "the same elements, named by where `divisor` puts them".
/// The divisor must reach every number in [0, its span); where it is not injective `layout` must
/// agree.
Result<Layout> right_divide(const Layout& layout, const Layout& divisor);

/// compose(layout, (complement(tiler), tiler)): the elements that `tiler` selects become the inner
/// dimension, their repetitions over the whole layout the outer one; shape (rest, tiler.size()).
Result<Layout> divide(const Layout& layout, const Layout& tiler);

}  // namespace ww::layout
