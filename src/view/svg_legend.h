// SPDX-License-Identifier: Apache-2.0
// The legend of a picture: swatches with their values. Beside the grid, rows stand under each
// other; below a wide grid, rows without names follow each other in a strip.
#pragma once

#include "view/paint.h"
#include "view/svg_writer.h"

namespace ww::view {

struct Size {
  double width = 0, height = 0;
};

/// The room a legend takes, beside or below the grid.
Size legend_size(const Legend& legend, bool is_below);

/// Draws it with its upper left corner at (x, y).
void draw_legend(SvgWriter& out, const Legend& legend, bool is_below, double x, double y);

}  // namespace ww::view
