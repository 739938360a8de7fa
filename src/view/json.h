// SPDX-License-Identifier: Apache-2.0
// A layout as JSON for other programs; docs/reference/layout.md describes it with an example. Keys,
// in this order:
//
//   "layout"        the notation
//   "shape"         logical extents
//   "size"          number of elements
//   "kind"          "registers", "shared", "tensor_memory" or "generic"
//   "axes"          axis names, sorted
//   "copies"        different places per element
//   "injective"     no place holds two elements
//   "collision"     null, or {"first": coordinate, "second": coordinate, "place": {axis: value}}
//   "places"        different places in all
//   "box"           places in the smallest box around them
//   "coverage"      places / box
//   "onto"          places == box
//   "extents"       {axis: {"min": n, "max": n, "distinct": n}}
//   "element_bits"  only when the caller gave a width
//   "map"           per element, row-major: its places, sorted, each {axis: value} with every axis
//   "banks"         like "map", each {"byte": n, "line": n, "bank": n}; only when the caller gave
//                   a width and the layout is "shared" with addresses that are not negative
//
// The text depends on the view alone: same view, same bytes.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "view/layout_view.h"

namespace ww::view {

/// No more places than this are written.
inline constexpr std::int64_t kMaxJsonPlaces = std::int64_t{1} << 20;

/// The JSON text: one key per line, one element of the map per line, a line break at the end.
/// Refuses (TooLarge) more than kMaxJsonPlaces places.
Result<std::string> to_json(const LayoutView& view);

}  // namespace ww::view
