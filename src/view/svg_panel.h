// SPDX-License-Identifier: Apache-2.0
// One grid of a picture: coloured cells with labels, index ticks on two sides, thick lines between
// regions and, where regions are bands of rows or columns, their names along the edge.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "view/grid.h"
#include "view/label_plan.h"
#include "view/labels.h"
#include "view/layout_view.h"
#include "view/paint.h"
#include "view/svg_writer.h"

namespace ww::view {

/// What all panels of a picture share. View and paint must outlive it.
struct PanelStyle {
  const LayoutView* view = nullptr;
  const Paint* paint = nullptr;
  Grid grid;
  Labels labels;
  LabelPlan plan = {};
  double cell = 16;
};

/// Room around the cells of a panel, in pixels.
struct Margins {
  double left = 0, top = 0, right = 0, bottom = 0;
};

/// Enough room for the ticks and band names of every slab.
Margins panel_margins(const PanelStyle& style);

/// Draws slab number `slab` with the upper left corner of its cells at (x, y).
void draw_panel(SvgWriter& out, const PanelStyle& style, std::int64_t slab, double x, double y);

}  // namespace ww::view
