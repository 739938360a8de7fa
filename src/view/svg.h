// SPDX-License-Identifier: Apache-2.0
// A layout as an SVG picture for a paper or a page: one coloured cell per element (colours:
// view/paint.h), its place written inside where there is room (view/paint.h), indices along
// the edges, the notation as title, the facts below it, and a legend. One dimension is wrapped into
// rows; from three on there is a panel per slab.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "view/layout_view.h"

namespace ww::view {

/// Larger pictures are refused: elements in all, elements along one side, panels.
inline constexpr std::int64_t kMaxSvgElements = 256 * 256;
inline constexpr std::int64_t kMaxSvgSide = 1024;
inline constexpr std::int64_t kMaxSvgPanels = 256;

/// The SVG 1.1 document: no scripts, no style sheet, the same bytes for the same view. Refuses
/// (TooLarge) a picture beyond the bounds above. The elements lie in the given grid, or by the view's
/// shape.
Result<std::string> to_svg(const LayoutView& view, const std::optional<Grid>& given = {});

}  // namespace ww::view
