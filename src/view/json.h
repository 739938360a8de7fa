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
#pragma once

#include <cstdint>

#include "base/result.h"
#include "json/json.h"
#include "view/layout_view.h"

namespace ww::view {

/// No more places than this are written.
inline constexpr std::int64_t kMaxJsonPlaces = std::int64_t{1} << 20;

/// Refuses (TooLarge) more than kMaxJsonPlaces places.
Result<Json> to_json(const LayoutView& view);

// Its parts.
Json place_json(const layout::Place& place);
Json extents_json(const layout::ImageFacts& facts);

}  // namespace ww::view
